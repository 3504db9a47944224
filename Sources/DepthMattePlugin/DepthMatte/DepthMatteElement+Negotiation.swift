import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

extension DepthMatteElement {
    func acceptCaps(_ caps: CapsPointer, on role: DepthMatte.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: try checkIsAccepted(caps, StreamFormat(videoInfo(caps, maxPixels: maxPixels)))
        case .face, .background, .segmentation: _ = try videoInfo(caps, maxPixels: maxPixels)
        }
    }

    /// Refuses video whose output format downstream does not accept.
    private func checkIsAccepted(_ caps: CapsPointer, _ format: StreamFormat) throws(CapsRefusal) {
        guard let downstream = OwnedCaps(taking: VideoNegotiation.downstreamCaps(of: sourcePad)) else { return }
        guard
            VideoNegotiation.outputFormat(
                for: caps, format.format, downstream: downstream.pointer, transparent: wantsAlpha) == nil
        else { return }
        throw notAccepted(format)
    }

    private var wantsAlpha: Bool { table.current.backgroundMode.mode.wantsAlpha }

    private func notAccepted(_ format: StreamFormat) -> CapsRefusal {
        if wantsAlpha && format.format.withAlpha == nil && VideoNegotiation.takesAlpha(downstreamOf: sourcePad) {
            return CapsRefusal(
                "downstream does not accept \(format.format.name), and this format has no variant with an alpha "
                    + "channel; put videoconvert before this element")
        }
        return CapsRefusal(
            "downstream does not accept this video format; put videoconvert and videoscale after this element")
    }

    func setCaps(_ caps: CapsPointer, on role: DepthMatte.PadRole) throws(CapsRefusal) {
        switch role {
        case .video:
            let info = try videoInfo(caps, maxPixels: maxPixels)
            noteInterlacing(info, of: "The video", "both fields of a frame get the same matte")
            state.input = (try StreamFormat(info), CapsRef(sharing: caps))
            markReconfigure()
        case .depth:
            warnIfReferencePadIsUnlinked()
            let format = try DepthFormat(caps, maxPixels: maxPixels)
            warnIfUnregistered(format)
            state.inputs.setDepthFormat(format, self)
        case .face, .background, .segmentation:
            let info = try videoInfo(caps, maxPixels: maxPixels)
            if role == .background {
                noteInterlacing(info, of: "The background pad's video", "its fields are shown as one picture")
            }
            state.inputs.setPictureInfo(info, role, self)
        }
    }

    private func noteInterlacing(_ info: GstVideoInfo, of stream: String, _ effect: String) {
        guard info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE,
            streams.state.warnings.admits("\(stream) interlaced")
        else { return }
        warn(interlaced(stream, effect))
    }

    /// The output format is the video's, so upstream has to change it.
    func downstreamReconfigured() { askUpstreamToReconfigure() }

    var isNegotiated: Bool { state.compositor != nil }

    func sinkQuery(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .video):
            answerVideoCaps(query)
            return true
        case (GST_QUERY_ACCEPT_CAPS, .video):
            return acceptsVideo(query, on: pad) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth):
            return acceptsDepth(query) || parent()
        default:
            return parent()
        }
    }

    private func answerVideoCaps(_ query: QueryPointer) {
        var filter: CapsPointer?
        gst_query_parse_caps(query, &filter)
        guard
            let result = VideoNegotiation.videoCaps(for: filter, downstreamOf: sourcePad, transparent: wantsAlpha)
        else { return }
        gst_query_set_caps_result(query, result)
        gst_caps_unref(result)
    }

    /// Accepts all caps that the template allows. Caps that downstream does not accept are refused when they arrive as an
    /// event, because only then can an error give the reason.
    ///
    /// - Returns: false if the query was not answered.
    private func acceptsVideo(_ query: QueryPointer, on pad: Pad) -> Bool {
        var caps: CapsPointer?
        gst_query_parse_accept_caps(query, &caps)
        guard let caps, let template = OwnedCaps(taking: gst_pad_get_pad_template_caps(pad.pad)),
            gst_caps_can_intersect(caps, template.pointer) != 0
        else { return false }
        gst_query_set_accept_caps_result(query, 1)
        return true
    }

    func updateSrcCaps(downstream: CapsPointer) throws(FlowStop) -> CapsPointer? {
        guard let input = state.input else { return nil }
        state.negotiationFault = nil
        let wantsAlpha = wantsAlpha
        let video = input.format.format
        guard
            let output = VideoNegotiation.outputFormat(
                for: input.caps.pointer, video, downstream: downstream, transparent: wantsAlpha)
        else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }  // `negotiationFailed` says why
        guard let result = input.caps.pointer.withFormat(output.name) else {
            state.negotiationFault = noMemoryForCaps
            throw .refused(GST_FLOW_ERROR)
        }
        let made = Compositor(input.format, transparent: wantsAlpha && output.format == video.withAlpha)
        if wantsAlpha && !made.hasStraightAlpha { warnOfMissingAlpha(video) }
        state.compositor = made
        Self.log(GST_LEVEL_DEBUG, self) { "video \(input.caps.pointer.text), output \(output.name)" }
        return result
    }

    private func warnOfMissingAlpha(_ format: VideoFormat) {
        guard streams.state.warnings.admits("alpha") else { return }
        let sentence =
            if !VideoNegotiation.takesAlpha(downstreamOf: sourcePad) {
                "Downstream accepts no format with an alpha channel: background-color is shown instead of transparency. "
                    + "Put what accepts RGBA, BGRA, ARGB, ABGR, AYUV or A420 after this element, as pngenc and compositor do."
            } else if let sibling = format.withAlpha.flatMap(VideoFormat.of) {
                "Downstream accepts \(format.name) but not \(sibling.name): background-color is shown instead of "
                    + "transparency. Put videoconvert after this element."
            } else {
                "\(format.name) video has no variant with an alpha channel: background-color is shown instead. "
                    + "Put videoconvert before this element."
            }
        warn(ElementError(.stream(GST_STREAM_ERROR_FORMAT), sentence))
    }

    func negotiationFailed() {
        guard let input = state.input else { return }
        state.compositor = nil
        post(
            state.negotiationFault
                ?? ElementError(
                    .core(GST_CORE_ERROR_NEGOTIATION), "On the video pad: \(notAccepted(input.format).reason).",
                    details: input.caps.pointer.text))
    }

    func decideAllocation(_ query: QueryPointer) -> Bool {
        state.compositor?.frames.decide(query)
        return true
    }
}

/// Returns a warning that pictures are interlaced.
///
/// - Parameter effect: the consequence, as a clause.
func interlaced(_ pictures: String, _ effect: String) -> ElementError {
    ElementError(.stream(GST_STREAM_ERROR_FORMAT), "\(pictures) is interlaced: \(effect). Deinterlace it first.")
}
