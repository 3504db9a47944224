import CGStreamer
import GstBridge

/// Seeking.
extension DepthTestSrcElement {
    func srcEvent(
        _ event: UnsafeMutablePointer<GstEvent>, on pad: Pad, parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool {
        switch event.pointee.type {
        case GST_EVENT_SEEK:
            defer { gst_event_unref(event) }
            return seek(event)
        case GST_EVENT_RECONFIGURE:
            revive(pad)
            return parent(event)
        case GST_EVENT_QOS, GST_EVENT_LATENCY:
            gst_event_unref(event)
            return true
        default:
            return parent(event)
        }
    }

    /// A pad that was linked late starts to send.
    private func revive(_ pad: Pad) {
        guard let stream = stream(of: pad) else { return }
        let wasUnlinked = shared.withLock { $0.unlinked.remove(stream.role) != nil }
        if wasUnlinked { start(stream) }
    }

    /// Moves all streams at once. The same seek arrives on each pad that its sender knows; only the first counts.
    ///
    /// With a flush, all streams are halted and start anew. Without one, each takes up the new segment before its next
    /// frame: a stream that waits for downstream to take a frame holds up neither the seek nor the other streams.
    private func seek(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        let settings = table.current
        guard !settings.isLive, let request = SeekRequest(event) else { return false }
        let length = length(settings)
        switch shared.withLock({ $0.answer(request, length) }) {
        case .refused: return false
        case .repeated: return true
        case .accepted(let timeline):
            if request.isFlushing { flush(to: timeline) }
            announce(timeline)
            for stream in streams { start(stream) }
            return true
        }
    }

    private func flush(to timeline: Timeline) {
        for stream in streams { push(gst_event_new_flush_start(), timeline.seqnum, on: stream) }
        interrupt { $0.isInterrupted = true }
        for stream in streams { gst_pad_pause_task(stream.pad) }
        withAllStreamLocks(streams[...]) {
            shared.withLock { $0.startAnew(timeline) }
            for stream in streams { push(gst_event_new_flush_stop(1), timeline.seqnum, on: stream) }
        }
    }

    private func withAllStreamLocks(_ rest: ArraySlice<TestStream>, _ body: () -> Void) {
        guard let first = rest.first else { return body() }
        first.pad.withStreamLock { withAllStreamLocks(rest.dropFirst(), body) }
    }

    /// Tells the application that a segment of its SEGMENT seek has started.
    private func announce(_ timeline: Timeline) {
        guard timeline.isStartDue,
            let message = gst_message_new_segment_start(
                object, GST_FORMAT_TIME, gint64(clamping: timeline.segment.position))
        else { return }
        gst_message_set_seqnum(message, timeline.seqnum)
        gst_element_post_message(instance, message)
        shared.withLock {
            if $0.timeline.seqnum == timeline.seqnum { $0.timeline.noteStart() }
        }
        announceEnd()
    }

    /// Tells the application that a segment of its SEGMENT seek is done, when all streams are.
    func announceEnd() {
        let done = shared.withLock { $0.timeline.takeEnd(without: $0.unlinked) ? $0.timeline : nil }
        guard let done,
            let message = gst_message_new_segment_done(object, GST_FORMAT_TIME, gint64(clamping: done.position))
        else { return }
        gst_message_set_seqnum(message, done.seqnum)
        gst_element_post_message(instance, message)
    }
}

extension DepthTestSrcElement.Shared {
    fileprivate enum Answer {
        case refused, repeated
        case accepted(Timeline)
    }

    fileprivate mutating func answer(_ seek: SeekRequest, _ length: GstClockTime?) -> Answer {
        if lastSeek == seek.seqnum { return .repeated }
        guard let next = timeline.after(seek, length: length) else { return .refused }
        lastSeek = seek.seqnum
        if !seek.isFlushing { timeline = next }
        return .accepted(next)
    }

    /// After a flush. The application's EOS is done with once all streams have sent it.
    fileprivate mutating func startAnew(_ next: Timeline) {
        if timeline.isOver(without: unlinked) { isEnding = false }
        timeline = next
        isInterrupted = false
    }
}
