import CGStreamer
import GstBridge

/// How a stream ends.
extension DepthTestSrcElement {
    func end(_ stream: TestStream, because stop: FlowStop) {
        gst_pad_pause_task(stream.pad)
        switch stop {
        case .refused(GST_FLOW_FLUSHING), .needData: break
        case .endOfStream, .refused(GST_FLOW_EOS): sendEnd(stream)
        case .refused(GST_FLOW_NOT_LINKED): noteUnlinked(stream)
        case .refused(let reason): fail(stream, streamError(reason))
        case .notNegotiated(let error), .failed(let error): fail(stream, error)
        }
    }

    private func sendEnd(_ stream: TestStream) {
        let (segment, seqnum) = shared.withLock { ($0.segment, $0.seqnum) }
        guard segment.flags.rawValue & GST_SEGMENT_FLAG_SEGMENT.rawValue != 0 else {
            let event = gst_event_new_eos()
            gst_event_set_seqnum(event, seqnum)
            gst_pad_push_event(stream.pad, event)
            return
        }
        let position = gint64(clamping: segment.stop == noClockTime ? segment.position : segment.stop)
        let event = gst_event_new_segment_done(GST_FORMAT_TIME, position)
        gst_event_set_seqnum(event, seqnum)
        gst_pad_push_event(stream.pad, event)
        let isLast = shared.withLock { shared in
            shared.segmentsDone.insert(stream.role)
            return shared.segmentsDone.union(shared.unlinked).count == streams.count
        }
        guard isLast, let message = gst_message_new_segment_done(object, GST_FORMAT_TIME, position) else { return }
        gst_message_set_seqnum(message, seqnum)
        gst_element_post_message(instance, message)
    }

    /// A pad that nobody listens to is no fault, unless there is no other.
    private func noteUnlinked(_ stream: TestStream) {
        let isAlone = shared.withLock { shared in
            shared.unlinked.insert(stream.role)
            return shared.unlinked.count == streams.count
        }
        if isAlone { post(streamError(GST_FLOW_NOT_LINKED)) }
    }

    private func fail(_ stream: TestStream, _ error: ElementError) {
        post(error)
        gst_pad_push_event(stream.pad, gst_event_new_eos())
    }

    private func streamError(_ reason: GstFlowReturn) -> ElementError {
        ElementError(
            .stream(GST_STREAM_ERROR_FAILED), "Internal data stream error.",
            details: "streaming stopped, reason \(String(cString: gst_flow_get_name(reason)))")
    }
}
