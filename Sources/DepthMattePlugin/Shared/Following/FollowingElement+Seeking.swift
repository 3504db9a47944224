import CGStreamer
import GstBridge
import Synchronization

/// Seeks, which go to all inputs.
///
/// GstAggregator (1.22 to 1.28) flushes before it asks: where an input then refuses, or has nothing to flush, its streaming
/// thread stands still for good. So a seek that cannot succeed is refused before that, and after one that failed all the
/// same the stream goes on where it was.
extension FollowingElement {
    /// The output goes where every input can.
    func answerSeeking(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
        guard let leading = leadingPad, gst_pad_peer_query(leading.pad.pad, query) != 0 else { return false }
        var (format, isSeekable, start, stop) = (GST_FORMAT_UNDEFINED, gboolean(0), gint64(0), gint64(0))
        gst_query_parse_seeking(query, &format, &isSeekable, &start, &stop)
        let isFollowed =
            format == GST_FORMAT_TIME && inputThatCannotSeek(of: Role.allCases.filter { !$0.isLeading }) == nil
        if isSeekable != 0 && !isFollowed { gst_query_set_seeking(query, format, 0, start, stop) }
        return true
    }

    /// Takes the event.
    func seek(
        _ event: UnsafeMutablePointer<GstEvent>, parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool {
        guard mayBeSought(event) else {
            gst_event_unref(event)
            return false
        }
        guard isFlushing(event) else { return seekWithoutFlush(event, parent) }
        guard pace.flushes.beginSeek(event) else {
            gst_event_unref(event)
            return true
        }
        defer { seekWaiting() }
        defer { pace.flushes.endSeek() }
        return pace.playGate.withoutWaiting { pace.flushes.run { seekFlushing(event, parent) } }
    }

    /// Sends the seek that came within another, or within a flush, on a thread of GStreamer's: who caused that flush may
    /// still be at work on this one.
    func seekWaiting() {
        guard let event = pace.flushes.takeWaiting() else { return }
        gst_element_call_async(
            instance,
            { element, event in
                guard let element, let event, let source = gst_element_get_static_pad(element, "src") else { return }
                gst_pad_send_event(source, Unmanaged<EventRef>.fromOpaque(event).takeUnretainedValue().shared())
                gst_object_unref(source)
            }, Unmanaged.passRetained(event).toOpaque(),
            { event in if let event { Unmanaged<EventRef>.fromOpaque(event).release() } })
    }

    // MARK: Before it

    func isSeekInTime(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        var format = GST_FORMAT_UNDEFINED
        gst_event_parse_seek(event, nil, &format, nil, nil, nil, nil, nil)
        return format == GST_FORMAT_TIME
    }

    private func isFlushing(_ seek: UnsafeMutablePointer<GstEvent>) -> Bool {
        var flags = GST_SEEK_FLAG_NONE
        gst_event_parse_seek(seek, nil, nil, &flags, nil, nil, nil, nil)
        return flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0
    }

    private func mayBeSought(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        guard isSeekInTime(event) else {
            Self.log.info(self) { "a seek is refused that is not in time" }
            return false
        }
        if let role = inputThatCannotSeek(of: Array(Role.allCases)) {
            Self.log.info(self) { "a seek is refused that the \(role) pad's input cannot follow" }
            return false
        }
        return true
    }

    /// An input that says of itself that it cannot be sought.
    private func inputThatCannotSeek(of roles: [Role]) -> Role? {
        roles.first { role in
            guard let input = sinkPad(role.name) else { return false }
            return !input.pad.pad.peerMaySeek
        }
    }

    // MARK: After it

    private func seekFlushing(
        _ event: UnsafeMutablePointer<GstEvent>, _ parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool {
        let seqnum = event.pointee.seqnum
        let isRepeated = pace.lastSeek.exchange(seqnum, ordering: .relaxed) == seqnum
        if isRepeated { return parent(event) }
        let isDone = keepingTimeWhereRefused { parent(event) }
        if isDone {
            for role in Role.allCases {
                if let pad = sinkPad(role.name), !pad.pad.pad.isLinked { flushInput(pad.pad, seqnum: seqnum) }
            }
        } else {
            goOnAfterRefusedFlush(seqnum)
        }
        return isDone
    }

    /// Lets the flush that GstAggregator ends by itself, as the seek was refused, leave the running time as it was: the
    /// stream goes on in it.
    private func keepingTimeWhereRefused(_ body: () -> Bool) -> Bool {
        let probe = gst_pad_add_probe(
            sourcePad, GST_PAD_PROBE_TYPE_EVENT_FLUSH,
            { _, info, flushes in
                guard let info, let flushes, let data = info.pointee.data else { return GST_PAD_PROBE_OK }
                let event = data.assumingMemoryBound(to: GstEvent.self)
                let isOurs = !Unmanaged<FlushRecord>.fromOpaque(flushes).takeUnretainedValue().isForwardingStop
                guard event.pointee.type == GST_EVENT_FLUSH_STOP, isOurs, let kept = gst_event_new_flush_stop(0) else {
                    return GST_PAD_PROBE_OK
                }
                gst_event_set_seqnum(kept, event.pointee.seqnum)
                gst_event_unref(event)
                info.pointee.data = UnsafeMutableRawPointer(kept)
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(pace.flushes).toOpaque(),
            { flushes in if let flushes { Unmanaged<FlushRecord>.fromOpaque(flushes).release() } })
        defer { gst_pad_remove_probe(sourcePad, probe) }
        return body()
    }

    /// The streaming thread is stopped, and downstream has forgotten the segment.
    private func goOnAfterRefusedFlush(_ seqnum: UInt32) {
        if let leading = leadingPad {
            var segment = segment(of: leading.pad)
            if segment.format == GST_FORMAT_TIME { gst_aggregator_update_segment(aggregator, &segment) }
            setSeqnum(seqnum, on: leading.pad)
        }
        pace.seqnum = seqnum
        pace.hasSentSegment = false
        pace.isInterrupted = true
        restartStreaming()
    }

    /// GstAggregator applies a seek to the output's segment at once, and even one that is refused. The output's segment is
    /// the leading stream's, until that brings another.
    private func seekWithoutFlush(
        _ event: UnsafeMutablePointer<GstEvent>, _ parent: (UnsafeMutablePointer<GstEvent>) -> Bool
    ) -> Bool {
        let before = outputSegment
        let sought = before.sought(by: event)
        defer { restoreOutputSegment(before, after: sought) }
        return parent(event)
    }
}

extension UnsafeMutablePointer<GstPad> {
    /// Whether who feeds the pad can be sought in time, as far as that is said; true where nobody feeds it.
    fileprivate var peerMaySeek: Bool {
        guard let query = gst_query_new_seeking(GST_FORMAT_TIME) else { return true }
        defer { gst_query_unref(query) }
        guard gst_pad_peer_query(self, query) != 0 else { return true }
        var isSeekable: gboolean = 0
        gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
        return isSeekable != 0
    }
}

extension GstSegment {
    /// What a seek in time makes of the segment.
    fileprivate func sought(by event: UnsafeMutablePointer<GstEvent>) -> GstSegment {
        var (rate, format, flags) = (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE)
        var (startType, start, stopType, stop) = (GST_SEEK_TYPE_NONE, gint64(0), GST_SEEK_TYPE_NONE, gint64(0))
        gst_event_parse_seek(event, &rate, &format, &flags, &startType, &start, &stopType, &stop)
        var sought = self
        gst_segment_do_seek(
            &sought, rate, format, flags, startType, guint64(bitPattern: start), stopType, guint64(bitPattern: stop),
            nil)
        return sought
    }
}
