import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

extension DepthCloudElement {
    func setCaps(_ caps: CapsPointer, on role: DepthCloud.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth:
            inputs.depth = try DepthStream(caps, maxPixels: maxPixels)
            markReconfigure()
        case .video:
            inputs.video.setFormat(try videoInfo(caps, maxPixels: maxPixels), self)
        }
    }

    func sinkQuery(_ query: QueryPointer, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        // Only the frame rate is downstream's: the output's size does not depend on the depth map's.
        case (GST_QUERY_CAPS, leader): query.answer(pad.pad, limitedBy: sourcePad, in: ["framerate"]) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth): acceptsDepth(query) || parent()
        default: parent()
        }
    }

    func updateSrcCaps(downstream: CapsPointer) throws(FlowStop) -> CapsPointer? {
        guard let depth = inputs.depth else { return nil }
        state.negotiationFault = nil
        let common = OwnedCaps(taking: try accepted(of: possibleCaps(depth), downstream))
        guard let result = fixated(common.pointer, depth.format) else { throw .failed(noMemoryForCaps) }
        do throws(CapsRefusal) {
            let output = try StreamFormat(videoInfo(result, maxPixels: maxPixels))
            guard let made = CloudPainter(output) else {
                throw CapsRefusal("\(output.format.name) is not an RGB format of four bytes a pixel")
            }
            state.painter = made
            navigation.setSize(width: made.output.width, height: made.output.height)
        } catch {
            state.negotiationFault = ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION),
                "Downstream asks for a picture that cannot be made: \(error.reason).",
                details: result.text)
            gst_caps_unref(result)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        Self.log(GST_LEVEL_DEBUG, self) { "depth \(depth.caps.pointer.text), output \(result.text)" }
        return result
    }

    /// The caps that the element can output: every format and size, at the depth's rate.
    private func possibleCaps(_ depth: DepthStream) -> String {
        let side = "[ 1, \(VideoPicture.largestSide) ]"
        return VideoFormat.caps(
            of: DepthCloud.formats, width: side, height: side, rate: "\(depth.rate.0)/\(depth.rate.1)")
            + ", pixel-aspect-ratio=(fraction)1/1"
    }

    /// Fixates the first structure of some caps to the size nearest to the depth map's. If one side is fixed, the other
    /// keeps the map's aspect ratio.
    private func fixated(_ caps: CapsPointer, _ format: DepthFormat) -> CapsPointer? {
        guard let result = gst_caps_copy_nth(caps, 0) else { return nil }
        if let structure = gst_caps_get_structure(result, 0) {
            let (width, height) = (format.layout.width, format.layout.height)
            let wantedHeight = side(structure, "width").map { shared($0, height, width) } ?? height
            gst_structure_fixate_field_nearest_int(structure, "height", gint(clamping: wantedHeight))
            let wantedWidth = side(structure, "height").map { shared($0, width, height) } ?? width
            gst_structure_fixate_field_nearest_int(structure, "width", gint(clamping: wantedWidth))
        }
        return result.fixated()
    }

    /// Returns the value of a side that is fixed; nil otherwise.
    private func side(_ structure: StructurePointer, _ name: String) -> Int? {
        var value: gint = 0
        return gst_structure_get_int(structure, name, &value) != 0 ? Int(value) : nil
    }

    /// Returns `length` · `part` / `whole`, rounded to nearest, at least 1.
    private func shared(_ length: Int, _ part: Int, _ whole: Int) -> Int {
        max((length &* part &+ whole / 2) / max(whole, 1), 1)
    }

    func negotiationFailed() {
        guard let depth = inputs.depth else { return }
        state.painter = nil
        let notAccepted = ElementError(
            .core(GST_CORE_ERROR_NEGOTIATION),
            "Downstream does not accept the point cloud's video format. Put videoconvert after this element.",
            details: possibleCaps(depth))
        post(state.negotiationFault ?? notAccepted)
    }
}
