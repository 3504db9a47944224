import CGStreamer
import GstBridge

/// The end of a stream.
extension DepthTestSrcElement {
    func end(_ stream: TestStream, because stop: FlowStop) {
        gst_pad_pause_task(stream.pad)
        switch stop {
        case .refused(GST_FLOW_FLUSHING), .needData: break
        case .endOfStream: finish(stream, at: endOfSegment(table.current))
        case .refused(GST_FLOW_EOS): finish(stream, at: noClockTime)
        case .refused(GST_FLOW_NOT_LINKED): noteUnlinked(stream)
        case .refused(let reason): fail(stream, streamError(reason))
        case .notNegotiated(let error), .failed(let error): fail(stream, error)
        }
    }

    /// Ends the stream, or its segment, unless a seek has started another segment meanwhile.
    ///
    /// - Parameter end: the end in nanoseconds of stream time; GST_CLOCK_TIME_NONE = the end of the last frame.
    private func finish(_ stream: TestStream, at end: GstClockTime) {
        // Only plain values leave the lock, because other streams change the timeline's sets meanwhile.
        let last = shared.withLock { shared -> (isEnd: Bool, seqnum: guint32, span: ClosedRange<GstClockTime>)? in
            guard shared.timeline.seqnum == stream.segmentSeqnum else { return nil }
            if end != noClockTime && !shared.isEnding { shared.timeline.move(stream.role, to: end) }
            shared.timeline.finish(stream.role, isForGood: shared.isEnding)
            let timeline = shared.timeline
            let start = timeline.segment.position
            return (
                timeline.ended.contains(stream.role), timeline.seqnum,
                start...max(start, timeline.position(of: stream.role))
            )
        }
        guard let last else { return start(stream) }
        if last.isEnd {
            push(gst_event_new_eos(), last.seqnum, on: stream)
        } else {
            let (start, end) = (last.span.lowerBound, last.span.upperBound)
            // A sink without any frame prerolls on the gap.
            if stream.isInterrupted { push(gst_event_new_gap(start, end &- start), last.seqnum, on: stream) }
            push(gst_event_new_segment_done(GST_FORMAT_TIME, gint64(clamping: end)), last.seqnum, on: stream)
            announceEnd()
        }
    }

    /// An unlinked pad is no error, unless all pads are unlinked.
    private func noteUnlinked(_ stream: TestStream) {
        let isAlone = shared.withLock { shared in
            shared.unlinked.insert(stream.role)
            return shared.unlinked.count == streams.count
        }
        // The RECONFIGURE event came too early to start it.
        if stream.pad.isLinkedAnew { return revive(stream.pad) }
        if isAlone { post(streamError(GST_FLOW_NOT_LINKED)) }
        announceEnd()
    }

    private func fail(_ stream: TestStream, _ error: ElementError) {
        let seqnum = shared.withLock { shared in
            shared.timeline.finish(stream.role, isForGood: true)
            return shared.timeline.seqnum
        }
        post(error)
        push(gst_event_new_eos(), seqnum, on: stream)
    }

    private func streamError(_ reason: GstFlowReturn) -> ElementError {
        ElementError(
            .stream(GST_STREAM_ERROR_FAILED), "Internal data stream error.",
            details: "streaming stopped, reason \(String(cString: gst_flow_get_name(reason)))")
    }
}
