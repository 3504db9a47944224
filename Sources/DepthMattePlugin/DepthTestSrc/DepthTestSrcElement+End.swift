import CGStreamer
import GstBridge

extension DepthTestSrcElement {
    func finish(_ stream: TestStream, isRefused: Bool) {
        finish(stream, at: isRefused ? noClockTime : endOfSegment(table.current))
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
            stream.push(gst_event_new_eos(), seqnum: last.seqnum)
        } else {
            let (start, end) = (last.span.lowerBound, last.span.upperBound)
            // A sink without any frame prerolls on the gap.
            if stream.isInterrupted { stream.push(gst_event_new_gap(start, end &- start), seqnum: last.seqnum) }
            stream.push(gst_event_new_segment_done(GST_FORMAT_TIME, gint64(clamping: end)), seqnum: last.seqnum)
            announceEnd()
        }
    }

    func streamUnlinked(_ stream: TestStream) { announceEnd() }

    func fail(_ stream: TestStream, _ error: ElementError) {
        let seqnum = shared.withLock { shared in
            shared.timeline.finish(stream.role, isForGood: true)
            return shared.timeline.seqnum
        }
        post(error)
        stream.push(gst_event_new_eos(), seqnum: seqnum)
    }
}
