import CGStreamer
import DepthKernels
import GstBridge

/// Caps and allocation.
extension DepthColorizeElement {
    /// What depth caps say.
    struct DepthStream {
        let format: DepthFormat
        let caps: CapsRef
    }

    func check(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthColorize.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        }
    }

    func take(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthColorize.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth:
            depth = DepthStream(format: try DepthFormat(caps, maxPixels: maxPixels), caps: CapsRef(sharing: caps))
        case .video: video.setFormat(try videoInfo(caps, maxPixels: maxPixels), self)
        }
        renegotiate()
    }

    var isNegotiated: Bool { painter != nil }

    func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .some(let role)): answerCaps(query, on: pad, role) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth): acceptsDepth(query) || parent()
        default: parent()
        }
    }

    /// Offers upstream what downstream can take of it: the picture has the rate of the depth, and the size of the video,
    /// or the depth's where there is no video pad.
    private func answerCaps(
        _ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, _ role: DepthColorize.PadRole
    ) -> Bool {
        guard let downstream = gst_pad_peer_query_caps(sourcePad, nil) else { return false }
        defer { gst_caps_unref(downstream) }
        guard let template = gst_pad_get_pad_template_caps(pad.pad) else { return false }
        defer { gst_caps_unref(template) }
        let hasVideo = sinkPad(DepthColorize.PadRole.video.name) != nil
        let fields =
            switch role {
            case .video: ["width", "height"]
            case .depth: hasVideo ? ["framerate"] : ["width", "height", "framerate"]
            }
        guard let limited = template.limited(by: downstream, in: fields) else { return false }
        defer { gst_caps_unref(limited) }
        var filter: UnsafeMutablePointer<GstCaps>?
        gst_query_parse_caps(query, &filter)
        let filtered = filter.map { gst_caps_intersect_full($0, limited, GST_CAPS_INTERSECT_FIRST) }
        defer { if let filtered { gst_caps_unref(filtered) } }
        gst_query_set_caps_result(query, filtered ?? limited)
        return true
    }

    func outputCaps(
        downstream: UnsafeMutablePointer<GstCaps>
    ) throws(FlowStop) -> UnsafeMutablePointer<GstCaps>? {
        guard let depth else { return nil }
        guard let possible = gst_caps_from_string(possibleCaps(depth)) else { throw .failed(outOfMemory) }
        defer { gst_caps_unref(possible) }
        guard let common = gst_caps_intersect_full(possible, downstream, GST_CAPS_INTERSECT_FIRST) else {
            throw .failed(outOfMemory)
        }
        guard gst_caps_is_empty(common) == 0, let result = gst_caps_fixate(common) else {
            if gst_caps_is_empty(common) != 0 { gst_caps_unref(common) }
            throw .refused(GST_FLOW_NOT_NEGOTIATED)  // `negotiationFailed` says why
        }
        guard let format = try? StreamFormat(videoInfo(result, maxPixels: .max)), let made = ColorPainter(format) else {
            gst_caps_unref(result)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        painter = made
        Self.log.debug(self) { "depth \(depth.caps.pointer.text), output \(result.text)" }
        return result
    }

    /// What can leave: every format, in the one size and rate that the streams give it.
    private func possibleCaps(_ depth: DepthStream) -> String {
        var (width, height) = (depth.format.layout.width, depth.format.layout.height)
        var aspect = depth.caps.pointer.fraction("pixel-aspect-ratio") ?? (1, 1)
        let rate = depth.caps.pointer.fraction("framerate") ?? (0, 1)
        if let video = video.format {
            (width, height) = (Int(video.width), Int(video.height))
            aspect = (Int(video.par_n), Int(video.par_d))
        }
        return VideoFormat.caps(
            of: DepthColorize.formats, width: "\(width)", height: "\(height)", rate: "\(rate.0)/\(rate.1)")
            + ", pixel-aspect-ratio=(fraction)\(aspect.0)/\(aspect.1)"
    }

    func negotiationFailed() {
        guard let depth else { return }
        painter = nil
        post(
            ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "What follows does not take the coloured picture. Put videoconvert and videoscale behind this element.",
                details: possibleCaps(depth)))
    }

    func decideAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
        painter?.frames.decide(query)
        return true
    }
}
