import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

extension DepthColorizeElement {
    func setCaps(_ caps: CapsPointer, on role: DepthColorize.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth:
            inputs.depth = try DepthStream(caps, maxPixels: maxPixels)
        case .video:
            inputs.video.setFormat(try videoInfo(caps, maxPixels: maxPixels), self)
        }
        markReconfigure()
    }

    func sinkQuery(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .some(let role)):
            query.answer(pad.pad, limitedBy: sourcePad, in: sharedFields(role)) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth): acceptsDepth(query) || parent()
        default: parent()
        }
    }

    /// The caps fields of a pad that the output shares, so that downstream limits them: the depth's frame rate, and the size
    /// of the video, or of the depth where there is no video pad.
    private func sharedFields(_ role: DepthLedPad) -> [String] {
        switch role {
        case .video: leader == .video ? ["width", "height", "framerate"] : ["width", "height"]
        case .depth: streams.pads[DepthLedPad.video] != nil ? ["framerate"] : ["width", "height", "framerate"]
        }
    }

    func updateSrcCaps(downstream: CapsPointer) throws(FlowStop) -> CapsPointer? {
        guard let depth = inputs.depth else { return nil }
        guard let result = try accepted(of: possibleCaps(depth), downstream).fixated() else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        guard let format = try? StreamFormat(videoInfo(result, maxPixels: .max)), let made = ColorPainter(format) else {
            gst_caps_unref(result)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        state.painter = made
        Self.log(GST_LEVEL_DEBUG, self) { "depth \(depth.caps.pointer.text), output \(result.text)" }
        return result
    }

    /// The caps that the element can output: every format, in the size and rate of the input streams.
    private func possibleCaps(_ depth: DepthStream) -> String {
        var (width, height) = (depth.format.layout.width, depth.format.layout.height)
        var aspect = depth.caps.pointer.fraction("pixel-aspect-ratio") ?? (1, 1)
        if let video = inputs.video.format {
            (width, height) = (Int(video.width), Int(video.height))
            aspect = (Int(video.par_n), Int(video.par_d))
        }
        return VideoFormat.caps(
            of: DepthColorize.formats, width: "\(width)", height: "\(height)", rate: "\(depth.rate.0)/\(depth.rate.1)")
            + ", pixel-aspect-ratio=(fraction)\(aspect.0)/\(aspect.1)"
    }

    func negotiationFailed() {
        guard let depth = inputs.depth else { return }
        state.painter = nil
        post(
            ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "Downstream does not accept the colored video's format. Put videoconvert and videoscale after this "
                    + "element.",
                details: possibleCaps(depth)))
    }
}
