import CGStreamer
import DepthKernels
import GstBridge

/// Caps and allocation.
extension DepthCloudElement {
    /// What depth caps say.
    struct DepthStream {
        let format: DepthFormat
        let caps: CapsRef
    }

    func check(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthCloud.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        }
    }

    func take(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthCloud.PadRole) throws(CapsRefusal) {
        switch role {
        case .depth:
            depth = DepthStream(format: try DepthFormat(caps, maxPixels: maxPixels), caps: CapsRef(sharing: caps))
            renegotiate()
        case .video: video.setFormat(try videoInfo(caps, maxPixels: maxPixels), self)
        }
    }

    var isNegotiated: Bool { painter != nil }

    func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .depth): answerDepthCaps(query, on: pad) || parent()
        case (GST_QUERY_ACCEPT_CAPS, .depth): acceptsDepth(query) || parent()
        default: parent()
        }
    }

    /// Offers upstream the rates that downstream takes. The size of the picture is nothing to the depth.
    private func answerDepthCaps(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad) -> Bool {
        guard let downstream = gst_pad_peer_query_caps(sourcePad, nil) else { return false }
        defer { gst_caps_unref(downstream) }
        guard let template = gst_pad_get_pad_template_caps(pad.pad) else { return false }
        defer { gst_caps_unref(template) }
        guard let limited = template.limited(by: downstream, in: ["framerate"]) else { return false }
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
        negotiationFault = nil
        guard let possible = gst_caps_from_string(possibleCaps(depth)) else { throw .failed(outOfMemory) }
        defer { gst_caps_unref(possible) }
        guard let common = gst_caps_intersect_full(possible, downstream, GST_CAPS_INTERSECT_FIRST) else {
            throw .failed(outOfMemory)
        }
        defer { gst_caps_unref(common) }
        guard gst_caps_is_empty(common) == 0 else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)  // `negotiationFailed` says why
        }
        guard let result = fixated(common, depth.format) else { throw .failed(outOfMemory) }
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
        let rate = depth.caps.pointer.fraction("framerate") ?? (0, 1)
        let side = "[ 1, \(MatteRenderer.largestSide) ]"
        return VideoFormat.caps(of: DepthCloud.formats, width: side, height: side, rate: "\(rate.0)/\(rate.1)")
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
