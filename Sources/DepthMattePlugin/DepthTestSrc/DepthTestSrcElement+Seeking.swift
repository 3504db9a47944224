import CGStreamer
import GstBridge

/// Seeking, and what downstream may ask.
extension DepthTestSrcElement {
    func handleUpstream(
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
        if wasUnlinked && gst_pad_is_active(pad) != 0 { _ = startTask(pad) }
    }

    /// Moves all streams at once. The same seek arrives on each pad that its sender knows; only the first counts.
    private func seek(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        var request = SeekRequest()
        gst_event_parse_seek(
            event, &request.rate, &request.format, &request.flags, &request.startType, &request.start,
            &request.stopType, &request.stop)
        let seqnum = gst_event_get_seqnum(event)
        guard !table.current.isLive, request.format == GST_FORMAT_TIME, request.rate > 0 else { return false }
        let isRepeated = shared.withLock { shared in
            defer { shared.seqnum = seqnum }
            return shared.seqnum == seqnum
        }
        if isRepeated { return true }
        let isFlushing = request.flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0
        halt(flushing: isFlushing, seqnum)
        withAllStreamLocks(streams[...]) {
            shared.withLock { $0.apply(request) }
            resume(flushing: isFlushing, seqnum)
        }
        return true
    }

    private func halt(flushing: Bool, _ seqnum: guint32) {
        if flushing {
            for stream in streams {
                let event = gst_event_new_flush_start()
                gst_event_set_seqnum(event, seqnum)
                gst_pad_push_event(stream.pad, event)
            }
            interrupt { $0.isInterrupted = true }
        }
        for stream in streams { gst_pad_pause_task(stream.pad) }
    }

    private func withAllStreamLocks(_ rest: ArraySlice<TestStream>, _ body: () -> Void) {
        guard let first = rest.first else { return body() }
        first.pad.withStreamLock { withAllStreamLocks(rest.dropFirst(), body) }
    }

    private func resume(flushing: Bool, _ seqnum: guint32) {
        let start = shared.withLock { shared in
            shared.isInterrupted = false
            shared.segmentsDone = []
            return shared.segment.position
        }
        for stream in streams {
            if flushing, let event = gst_event_new_flush_stop(1) {
                gst_event_set_seqnum(event, seqnum)
                gst_pad_push_event(stream.pad, event)
            }
            stream.needsSegment = true
            stream.isInterrupted = true
            let rate = stream.format?.rate ?? DepthTestSrc.preferredRate
            stream.frame = TestStream.firstFrame(atOrAfter: start, rate: rate)
            _ = startTask(stream.pad)
        }
    }

    fileprivate struct SeekRequest {
        var rate = 1.0
        var format = GST_FORMAT_TIME
        var flags = GST_SEEK_FLAG_NONE
        var startType = GST_SEEK_TYPE_NONE
        var start: gint64 = 0
        var stopType = GST_SEEK_TYPE_NONE
        var stop: gint64 = 0
    }

    func answerDownstream(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, parent: () -> Bool) -> Bool {
        let settings = table.current
        switch query.pointee.type {
        case GST_QUERY_LATENCY:
            gst_query_set_latency(query, gboolean(settings.isLive), 0, noClockTime)
            return true
        case GST_QUERY_SEEKING:
            var format = GST_FORMAT_TIME
            gst_query_parse_seeking(query, &format, nil, nil, nil)
            let isSeekable = format == GST_FORMAT_TIME && !settings.isLive
            gst_query_set_seeking(
                query, format, gboolean(isSeekable), 0, length(settings).map { gint64(clamping: $0) } ?? -1)
            return true
        case GST_QUERY_DURATION:
            var format = GST_FORMAT_TIME
            gst_query_parse_duration(query, &format, nil)
            guard format == GST_FORMAT_TIME, let length = length(settings) else { return false }
            gst_query_set_duration(query, format, gint64(clamping: length))
            return true
        default:
            return parent()
        }
    }
}

extension DepthTestSrcElement.Shared {
    fileprivate mutating func apply(_ request: DepthTestSrcElement.SeekRequest) {
        var hasChanged: gboolean = 0
        gst_segment_do_seek(
            &segment, request.rate, request.format, request.flags, request.startType,
            guint64(bitPattern: request.start), request.stopType, guint64(bitPattern: request.stop), &hasChanged)
    }
}
