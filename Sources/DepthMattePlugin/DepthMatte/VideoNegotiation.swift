import CGStreamer
import GstBridge

/// Which caps the `video` pad may offer.
enum VideoNegotiation {
    /// What upstream may send so that downstream gets what it takes: the same caps, or with `transparent` the caps
    /// whose format has a sibling with alpha that downstream takes. Ownership passes to the caller.
    static func videoCaps(
        downstreamOf sourcePad: UnsafeMutablePointer<GstPad>, transparent: Bool
    ) -> UnsafeMutablePointer<GstCaps>? {
        guard let template = gst_pad_get_pad_template_caps(sourcePad) else { return nil }
        defer { gst_caps_unref(template) }
        guard let downstream = gst_pad_peer_query_caps(sourcePad, template) else { return nil }
        defer { gst_caps_unref(downstream) }
        guard let allowed = gst_caps_intersect_full(downstream, template, GST_CAPS_INTERSECT_FIRST) else { return nil }
        guard transparent else { return allowed }
        defer { gst_caps_unref(allowed) }
        return withoutAlpha(allowed)
    }

    /// For each format, the allowed caps of its sibling with alpha, renamed to it.
    private static func withoutAlpha(_ allowed: UnsafeMutablePointer<GstCaps>) -> UnsafeMutablePointer<GstCaps>? {
        guard var result = gst_caps_new_empty() else { return nil }
        for format in VideoFormat.all {
            guard let sibling = format.withAlpha.flatMap(VideoFormat.of),
                let only = gst_caps_from_string("video/x-raw, format=(string)\(sibling.name)")
            else { continue }
            defer { gst_caps_unref(only) }
            guard let matching = gst_caps_intersect(allowed, only) else { continue }
            defer { gst_caps_unref(matching) }
            if gst_caps_is_empty(matching) != 0 { continue }
            result = gst_caps_merge(result, matching.withFormat(format.name))
        }
        return result
    }
}
