import CGStreamer
import DepthKernels
import GstBridge

/// Caps and allocation.
extension DepthMatteElement {
    func check(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthMatte.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        case .face, .background: _ = try videoInfo(caps, maxPixels: maxPixels)
        }
    }

    func take(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthMatte.PadRole) throws(CapsRefusal) {
        switch role {
        case .video:
            let info = try videoInfo(caps, maxPixels: maxPixels)
            noteInterlacing(info)
            input = (try StreamFormat(info), CapsRef(sharing: caps))
            renegotiate()
        case .depth: inputs.setDepthFormat(try DepthFormat(caps, maxPixels: maxPixels), self)
        case .face, .background: inputs.setPictureInfo(try videoInfo(caps, maxPixels: maxPixels), role, self)
        }
    }

    private func noteInterlacing(_ info: GstVideoInfo) {
        guard info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE, pace.warnings.admits("interlaced") else {
            return
        }
        warn(
            ElementError(
                .stream(GST_STREAM_ERROR_FORMAT),
                "The video is interlaced: both fields of a frame get the same matte. Deinterlace it first."))
    }

    /// Our output format is the video's, so downstream's new wishes are for whoever makes the video.
    func downstreamChanged() { askUpstreamToReconfigure() }

    var isNegotiated: Bool { compositor != nil }

    func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .video):
            answerVideoCaps(query)
            return true
        case (GST_QUERY_ACCEPT_CAPS, .depth):
            return acceptsDepth(query) || parent()
        default:
            return parent()
        }
    }

    /// Offers upstream what downstream takes, less what would need an alpha channel that the format cannot have.
    private func answerVideoCaps(_ query: UnsafeMutablePointer<GstQuery>) {
        var filter: UnsafeMutablePointer<GstCaps>?
        gst_query_parse_caps(query, &filter)
        guard
            let offered = VideoNegotiation.videoCaps(
                downstreamOf: sourcePad, transparent: table.current.backgroundMode == .transparent)
        else { return }
        defer { gst_caps_unref(offered) }
        let result =
            if let filter { gst_caps_intersect_full(filter, offered, GST_CAPS_INTERSECT_FIRST) } else {
                gst_caps_ref(offered)
            }
        if gst_caps_is_empty(result) != 0 {
            Self.log.warning(self) {
                "no video format suits downstream"
                    + (table.current.backgroundMode == .transparent ? ", which would have to take alpha" : "")
            }
        }
        gst_query_set_caps_result(query, result)
        gst_caps_unref(result)
    }

    func outputCaps(
        downstream: UnsafeMutablePointer<GstCaps>
    ) throws(FlowStop) -> UnsafeMutablePointer<GstCaps>? {
        guard let input else { return nil }
        let wantsAlpha = table.current.backgroundMode == .transparent
        guard let made = Compositor(input.format, transparent: wantsAlpha) else {
            negotiationFault = outOfMemory
            throw .refused(GST_FLOW_ERROR)
        }
        if wantsAlpha && !made.hasStraightAlpha, pace.warnings.admits("alpha") {
            warn(
                ElementError(
                    .stream(GST_STREAM_ERROR_FORMAT),
                    "\(input.format.format.name) video has no alpha channel to make transparent: "
                        + "the colour is shown instead."))
        }
        guard let result = input.caps.pointer.withFormat(made.output.format.name) else {
            negotiationFault = outOfMemory
            throw .refused(GST_FLOW_ERROR)
        }
        guard gst_caps_can_intersect(result, downstream) != 0 else {
            gst_caps_unref(result)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)  // `negotiationFailed` says why
        }
        negotiationFault = nil
        compositor = made
        Self.log.debug(self) { "video \(input.caps.pointer.text), output \(made.output.format.name)" }
        return result
    }

    func negotiationFailed() {
        guard let input else { return }
        compositor = nil
        let notTaken = ElementError(
            .core(GST_CORE_ERROR_NEGOTIATION),
            "What follows does not take the video as it is. Put videoconvert and videoscale behind this element.",
            details: input.caps.pointer.text)
        post(negotiationFault ?? notTaken)
    }

    func decideAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
        compositor?.frames.decide(query)
        return true
    }
}
