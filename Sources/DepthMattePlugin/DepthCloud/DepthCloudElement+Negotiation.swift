import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Caps and allocation.
extension DepthCloudElement {
    func setCaps(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthCloud.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth:
            depth = try DepthStream(caps, maxPixels: maxPixels)
            markReconfigure()
        case .video: video.setFormat(try videoInfo(caps, maxPixels: maxPixels), self)
        }
    }

    var isNegotiated: Bool { painter != nil }

    func sinkQuery(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        // The rates that downstream takes. The size of the picture is nothing to the depth.
        case (GST_QUERY_CAPS, .depth): answerCaps(query, on: pad, limitedIn: ["framerate"]) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth): acceptsDepth(query) || parent()
        default: parent()
        }
    }

    func updateSrcCaps(
        downstream: UnsafeMutablePointer<GstCaps>
    ) throws(FlowStop) -> UnsafeMutablePointer<GstCaps>? {
        guard let depth else { return nil }
        negotiationFault = nil
        let common = try accepted(of: possibleCaps(depth), downstream)
        defer { gst_caps_unref(common) }
        guard let result = fixated(common, depth.format) else { throw .failed(noMemoryForCaps) }
        do throws(CapsRefusal) {
            guard let made = CloudPainter(try StreamFormat(videoInfo(result, maxPixels: maxPixels))) else {
                throw CapsRefusal("pixels are not four bytes")
            }
            painter = made
            hands.setSize(width: made.output.width, height: made.output.height)
        } catch {
            negotiationFault = ElementError(
                .core(GST_CORE_ERROR_NEGOTIATION), "What follows asks for pictures that are not made: \(error.reason).",
                details: result.text)
            gst_caps_unref(result)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        Self.log.debug(self) { "depth \(depth.caps.pointer.text), output \(result.text)" }
        return result
    }

    /// What can leave: every format and size, at the depth's rate.
    private func possibleCaps(_ depth: DepthStream) -> String {
        let side = "[ 1, \(VideoPicture.largestSide) ]"
        return VideoFormat.caps(
            of: DepthCloud.formats, width: side, height: side, rate: "\(depth.rate.0)/\(depth.rate.1)")
            + ", pixel-aspect-ratio=(fraction)1/1"
    }

    /// The first of some caps, as near to the depth's size as they allow; where they fix one side, the other is what
    /// keeps the depth's shape.
    private func fixated(
        _ caps: UnsafeMutablePointer<GstCaps>, _ format: DepthFormat
    ) -> UnsafeMutablePointer<GstCaps>? {
        guard let result = gst_caps_copy_nth(caps, 0) else { return nil }
        if let structure = gst_caps_get_structure(result, 0) {
            let (width, height) = (format.layout.width, format.layout.height)
            let wantedHeight = side(structure, "width").map { shared($0, height, width) } ?? height
            gst_structure_fixate_field_nearest_int(structure, "height", gint(clamping: wantedHeight))
            let wantedWidth = side(structure, "height").map { shared($0, width, height) } ?? width
            gst_structure_fixate_field_nearest_int(structure, "width", gint(clamping: wantedWidth))
        }
        return gst_caps_fixate(result)
    }

    /// A side that has one value.
    private func side(_ structure: UnsafeMutablePointer<GstStructure>, _ name: String) -> Int? {
        var value: gint = 0
        return gst_structure_get_int(structure, name, &value) != 0 ? Int(value) : nil
    }

    /// `length` · `part` / `whole`, at least 1.
    private func shared(_ length: Int, _ part: Int, _ whole: Int) -> Int {
        max((length &* part &+ whole / 2) / max(whole, 1), 1)
    }

    func negotiationFailed() {
        guard let depth else { return }
        painter = nil
        let notTaken = ElementError(
            .core(GST_CORE_ERROR_NEGOTIATION),
            "What follows does not take the picture of the cloud. Put videoconvert behind this element.",
            details: possibleCaps(depth))
        post(negotiationFault ?? notTaken)
    }

    func decideAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
        painter?.frames.decide(query)
        return true
    }
}
