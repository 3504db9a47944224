import CGStreamer
import GstBridge

extension DepthTestSrcElement {
    func srcEvent(_ event: EventPointer, on pad: Pad, parent: EventHandler) -> Bool {
        switch event.pointee.type {
        case GST_EVENT_SEEK:
            defer { gst_event_unref(event) }
            return seek(event)
        case GST_EVENT_QOS, GST_EVENT_LATENCY:
            gst_event_unref(event)
            return true
        default:
            return parent(event)
        }
    }

    /// Seeks all streams. The same seek may arrive on every pad; only the first counts.
    ///
    /// With a flush, all streams stop and restart. Without one, each starts the new segment before its next frame, so a
    /// stream that is blocked downstream holds up neither the seek nor the other streams.
    private func seek(_ event: EventPointer) -> Bool {
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
        for stream in streams { stream.push(gst_event_new_flush_start(), seqnum: timeline.seqnum) }
        interrupt { $0.isInterrupted = true }
        for stream in streams { gst_pad_pause_task(stream.pad) }
        withAllStreamLocks(streams[...]) {
            shared.withLock { $0.startAnew(timeline) }
            for stream in streams { stream.push(gst_event_new_flush_stop(1), seqnum: timeline.seqnum) }
        }
    }

    private func withAllStreamLocks(_ rest: ArraySlice<TestStream>, _ body: () -> Void) {
        guard let first = rest.first else { return body() }
        first.pad.withStreamLock { withAllStreamLocks(rest.dropFirst(), body) }
    }

    /// Posts SEGMENT_START for a segment seek.
    private func announce(_ timeline: Timeline) {
        guard timeline.isStartDue else { return }
        let start = gint64(clamping: timeline.segment.position)
        post(gst_message_new_segment_start(object, GST_FORMAT_TIME, start), seqnum: timeline.seqnum)
        shared.withLock { if $0.timeline.seqnum == timeline.seqnum { $0.timeline.noteStart() } }
        announceEnd()
    }

    /// Posts SEGMENT_DONE for a segment seek when all streams are done.
    func announceEnd() {
        let done = shared.withLock { $0.timeline.takeEnd(without: $0.links.unlinked) ? $0.timeline : nil }
        guard let done else { return }
        post(
            gst_message_new_segment_done(object, GST_FORMAT_TIME, gint64(clamping: done.position)), seqnum: done.seqnum)
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

    /// Restarts after a flush. An EOS of the application is over once all streams have sent it.
    fileprivate mutating func startAnew(_ next: Timeline) {
        if timeline.isOver(without: links.unlinked) { isEnding = false }
        timeline = next
        isInterrupted = false
    }
}
