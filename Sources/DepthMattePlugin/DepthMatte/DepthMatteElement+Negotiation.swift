import CGStreamer
import DepthKernels
import GstBridge

/// Caps and allocation.
extension DepthMatteElement {
    func answerAtOnce(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad) -> Bool? {
        // Caps or none: GstAggregator would not answer before there are any. And where a flush overtakes a query that
        // waits, 1.22's answers it after it is gone.
        query.pointee.type == GST_QUERY_ALLOCATION ? proposeAllocation(query, on: pad) : nil
    }

    func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        switch (query.pointee.type, role(of: pad)) {
        case (GST_QUERY_CAPS, .video):
            answerVideoCaps(query)
            return true
        case (GST_QUERY_ACCEPT_CAPS, .depth):
            // Depth caps of a wrong format are let in here and refused as an event, where a reason can be given.
            var caps: UnsafeMutablePointer<GstCaps>?
            gst_query_parse_accept_caps(query, &caps)
            guard let caps, ["video/x-raw", "video/x-depth"].contains(caps.mediaType) else { return parent() }
            gst_query_set_accept_caps_result(query, 1)
            return true
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
        if wantsAlpha && !made.hasStraightAlpha, warnings.admits("alpha") {
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
        guard let compositor else { return true }
        compositor.downstreamReadsMetas =
            gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
        compositor.pool = FramePool(query, compositor.output.layout)
        return true
    }

    func proposeAllocation(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad) -> Bool {
        gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
        return true
    }
}
