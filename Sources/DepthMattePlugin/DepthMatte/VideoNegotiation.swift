import CGStreamer
import GstBridge

/// Caps negotiation of the `video` pad: the caps it accepts, and the output format for each input format.
enum VideoNegotiation {
    /// Answers a caps query of the pad: the caps that upstream may send. The caller owns them.
    ///
    /// They are what downstream accepts. With `transparent`, the formats come first whose variant with alpha downstream
    /// accepts, and if upstream can send one of those it is offered no other, because a converter keeps its input format
    /// wherever it may. If nothing matches, the answer is the template: the caps are refused when they arrive, with a
    /// reason.
    static func videoCaps(
        for filter: CapsPointer?, downstreamOf sourcePad: PadPointer,
        transparent: Bool
    ) -> CapsPointer? {
        guard let template = OwnedCaps(taking: gst_pad_get_pad_template_caps(sourcePad)),
            let allowed = OwnedCaps(taking: downstreamCaps(of: sourcePad)),
            let siblings = transparent ? withoutAlpha(allowed.pointer) : gst_caps_new_empty()
        else { return nil }
        guard let filter, gst_caps_is_any(filter) == 0 else {
            return gst_caps_merge(siblings, gst_caps_ref(allowed.pointer))
        }
        defer { gst_caps_unref(siblings) }
        for offer in [siblings, allowed.pointer, template.pointer] {
            guard let common = gst_caps_intersect_full(filter, offer, GST_CAPS_INTERSECT_FIRST) else { return nil }
            if gst_caps_is_empty(common) == 0 { return common }
            gst_caps_unref(common)
        }
        return gst_caps_new_empty()
    }

    /// Returns the source pad's caps that downstream accepts, in downstream's order. The caller owns them.
    static func downstreamCaps(of sourcePad: PadPointer) -> CapsPointer? {
        guard let template = OwnedCaps(taking: gst_pad_get_pad_template_caps(sourcePad)),
            let downstream = OwnedCaps(taking: gst_pad_peer_query_caps(sourcePad, template.pointer))
        else { return nil }
        return gst_caps_intersect_full(downstream.pointer, template.pointer, GST_CAPS_INTERSECT_FIRST)
    }

    /// Returns the output format for video of some caps: with `transparent` the variant that has an alpha channel, if
    /// downstream accepts it, else the video's own; nil if downstream accepts neither.
    static func outputFormat(
        for video: CapsPointer, _ format: VideoFormat, downstream: CapsPointer,
        transparent: Bool
    ) -> VideoFormat? {
        let sibling = transparent ? format.withAlpha.flatMap(VideoFormat.of) : nil
        return [sibling, format].lazy.compactMap { $0 }.first { candidate in
            guard let caps = OwnedCaps(taking: video.withFormat(candidate.name)) else { return false }
            return gst_caps_can_intersect(caps.pointer, downstream) != 0
        }
    }

    /// True if downstream accepts any format with an alpha channel.
    static func takesAlpha(downstreamOf sourcePad: PadPointer) -> Bool {
        guard let allowed = OwnedCaps(taking: downstreamCaps(of: sourcePad)),
            let siblings = OwnedCaps(taking: withoutAlpha(allowed.pointer))
        else { return false }
        return gst_caps_is_empty(siblings.pointer) == 0
    }

    /// Returns, for each format, the allowed caps of its variant with alpha, with the format renamed to it.
    private static func withoutAlpha(_ allowed: CapsPointer) -> CapsPointer? {
        guard var result = gst_caps_new_empty() else { return nil }
        for format in VideoFormat.all {
            guard let sibling = format.withAlpha.flatMap(VideoFormat.of),
                let only = OwnedCaps(taking: gst_caps_from_string("video/x-raw, format=(string)\(sibling.name)")),
                let matching = OwnedCaps(taking: gst_caps_intersect(allowed, only.pointer)),
                gst_caps_is_empty(matching.pointer) == 0
            else { continue }
            result = gst_caps_merge(result, matching.pointer.withFormat(format.name))
        }
        return result
    }
}
