import CGStreamer
package import GstBridge
import Synchronization

/// Seeks, which go to all inputs.
///
/// GstAggregator (1.22 to 1.28) flushes downstream and stops its streaming thread before it forwards a seek. If an input
/// refuses the seek, or is not linked, the thread is never restarted. So seeks that cannot succeed are refused beforehand,
/// and the stream is resumed after one that upstream refused.
extension ReferencePadAggregator {
    /// The output is seekable where every input is.
    package func answerSeeking(_ query: QueryPointer) -> Bool {
        guard let reference = referencePad, gst_pad_peer_query(reference.pad.pad, query) != 0 else { return false }
        var (format, isSeekable, start, stop) = (GST_FORMAT_UNDEFINED, gboolean(0), gint64(0), gint64(0))
        gst_query_parse_seeking(query, &format, &isSeekable, &start, &stop)
        let leader = leader
        let isFollowed = format == GST_FORMAT_TIME && inputs.allSatisfy { $0.role == leader || $0.input.maySeek }
        if isSeekable != 0 && !isFollowed { gst_query_set_seeking(query, format, 0, start, stop) }
        return true
    }

    /// Takes the event.
    package func seek(_ event: EventPointer, parent: EventHandler) -> Bool {
        if let refusal = refusal(of: event) {
            Self.log(GST_LEVEL_INFO, self) { "a seek is refused \(refusal)" }
            gst_event_unref(event)
            return false
        }
        let (seqnum, isFlushing) = (event.pointee.seqnum, hasFlushFlag(event))
        let answer = streams.lastSeek.withLock { $0.seqnum == seqnum ? $0.isTaken : nil }
        guard answer == nil, !isFlushing || streams.flushes.beginSeek(event) else {
            gst_event_unref(event)
            return answer ?? true
        }
        streams.lastSeek.withLock { $0 = (seqnum, true) }
        let isTaken = isFlushing ? flushAndSeek(event, parent) : seekWithoutFlush(event)
        streams.lastSeek.withLock { if $0.seqnum == seqnum { $0.isTaken = isTaken } }
        return isTaken
    }

    private func flushAndSeek(_ event: EventPointer, _ parent: EventHandler) -> Bool {
        defer { seekWaiting() }
        defer { streams.flushes.endSeek() }
        return streams.playGate.withoutWaiting { streams.flushes.run { seekFlushing(event, parent) } }
    }

    /// Sends the seek that arrived during a flush or another seek, from another thread: on this one the sender of the flush
    /// may still be handling it.
    package func seekWaiting() {
        guard streams.flushes.hasWaiting else { return }
        gst_element_call_async(
            instance,
            { element, flushes in
                guard let element, let source = gst_element_get_static_pad(element, "src") else { return }
                lent(flushes, as: FlushRecord.self)?.sendWaiting(to: source)
                gst_object_unref(source)
            }, owned(streams.flushes), releaseOwned)
    }

    // MARK: Before it

    package func isSeekInTime(_ event: EventPointer) -> Bool {
        var format = GST_FORMAT_UNDEFINED
        gst_event_parse_seek(event, nil, &format, nil, nil, nil, nil, nil)
        return format == GST_FORMAT_TIME
    }

    private func hasFlushFlag(_ seek: EventPointer) -> Bool {
        var flags = GST_SEEK_FLAG_NONE
        gst_event_parse_seek(seek, nil, nil, &flags, nil, nil, nil, nil)
        return flags.rawValue & GST_SEEK_FLAG_FLUSH.rawValue != 0
    }

    /// Why a seek is refused, as a clause; nil where it may succeed.
    private func refusal(of seek: EventPointer) -> String? {
        if !isSeekInTime(seek) { return "that is not in time" }
        if !hasRange(seek) { return "whose range ends before its start" }
        return inputs.first { !$0.input.maySeek }.map { "that the \($0.role) pad's input cannot follow" }
    }

    /// False where the seek leaves nothing to play, of which GstSegment makes a CRITICAL. A seek that says nothing of the
    /// stop keeps the last one, as `gst_element_seek_simple` after a seek to a range does.
    private func hasRange(_ seek: EventPointer) -> Bool {
        var (startType, start, stopType, stop) = (GST_SEEK_TYPE_NONE, gint64(0), GST_SEEK_TYPE_NONE, gint64(0))
        gst_event_parse_seek(seek, nil, nil, nil, &startType, &start, &stopType, &stop)
        let segment = outputSegment
        guard let first = edge(startType, start, before: segment.start),
            let last = edge(stopType, stop, before: segment.stop)
        else { return true }
        return first <= last
    }

    /// An edge of the segment after a seek; nil where there is none, or it counts from the end.
    ///
    /// - Parameter before: the edge of the segment before it.
    private func edge(_ type: GstSeekType, _ time: gint64, before: guint64) -> guint64? {
        switch type {
        case GST_SEEK_TYPE_SET: guint64(exactly: time)
        case GST_SEEK_TYPE_NONE: before == noClockTime ? nil : before
        default: nil
        }
    }

    // MARK: After it

    private func seekFlushing(_ event: EventPointer, _ parent: EventHandler) -> Bool {
        let (seqnum, before, end) = (event.pointee.seqnum, outputSegment, RefusedFlushEnd(streams.flushes))
        let isDone = end.watch(sourcePad) { parent(event) }
        if isDone {
            for (_, input) in inputs where !input.isLinked { flushInput(input.pad, seqnum: seqnum) }
        } else if !end.cameFromUpstream {
            goOnAfterRefusedFlush(seqnum, in: before)
        }
        return isDone
    }

    /// Sends the segment again, which the flush has reset downstream, and restarts the streaming thread.
    ///
    /// - Parameter before: the output's segment before the seek.
    private func goOnAfterRefusedFlush(_ seqnum: UInt32, in before: GstSegment) {
        guard let reference = referencePad else { return }
        var segment = segment(of: reference.pad)
        if segment.format != GST_FORMAT_TIME { segment = before }
        gst_aggregator_update_segment(aggregator, &segment)
        setSeqnum(seqnum, on: reference.pad)
        (streams.state.seqnum, streams.state.flushSeqnum) = (seqnum, seqnum)
        streams.state.hasSentSegment = false
        streams.state.isInterrupted = true
        _ = streams.flushes.startStreaming(restartStreaming)
    }

    /// Forwards a seek to all inputs. GstAggregator does not get it: it would change the output's segment at once, which follows the
    /// next segment event of the reference stream.
    private func seekWithoutFlush(_ event: EventPointer) -> Bool {
        defer { gst_event_unref(event) }
        var (isTaken, isRefused) = (false, false)
        for (_, input) in inputs where input.isLinked {
            if gst_pad_push_event(input.pad.pad, gst_event_ref(event)) != 0 {
                isTaken = true
            } else if input.maySeek {
                isRefused = true
            }
        }
        return isTaken && !isRefused
    }
}

/// Replaces the FLUSH_STOP that GstAggregator sends after a refused seek by one that keeps the running time, in which the
/// stream continues. Where a FLUSH_STOP from upstream has left before, as where a second copy of the seek is refused, it is
/// dropped.
private final class RefusedFlushEnd: Sendable {
    private let flushes: FlushRecord
    private let hasPassed = Atomic(false)

    package init(_ flushes: FlushRecord) { self.flushes = flushes }

    /// A flush from upstream took place, and the stream goes on after it.
    package var cameFromUpstream: Bool { hasPassed.load(ordering: .acquiring) }

    package func watch(_ pad: PadPointer, during body: () -> Bool) -> Bool {
        let probe = gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH,
            { _, info, data in
                guard let info, let end = lent(data, as: RefusedFlushEnd.self),
                    let event = gst_pad_probe_info_get_event(info),
                    event.pointee.type == GST_EVENT_FLUSH_STOP
                else { return GST_PAD_PROBE_OK }
                return end.inspect(event, info)
            }, owned(self), releaseOwned)
        defer { gst_pad_remove_probe(pad, probe) }
        return body()
    }

    private func inspect(_ event: EventPointer, _ info: UnsafeMutablePointer<GstPadProbeInfo>) -> GstPadProbeReturn {
        if flushes.isForwardingStop {
            hasPassed.store(true, ordering: .releasing)
            return GST_PAD_PROBE_OK
        }
        guard !cameFromUpstream else { return GST_PAD_PROBE_DROP }
        guard let kept = gst_event_new_flush_stop(0) else { return GST_PAD_PROBE_OK }
        gst_event_set_seqnum(kept, event.pointee.seqnum)
        gst_event_unref(event)
        info.pointee.data = UnsafeMutableRawPointer(kept)
        return GST_PAD_PROBE_OK
    }
}

extension SinkPad {
    /// False where upstream answers that it is not seekable in time.
    fileprivate var maySeek: Bool {
        guard let query = gst_query_new_seeking(GST_FORMAT_TIME) else { return true }
        defer { gst_query_unref(query) }
        guard gst_pad_peer_query(pad.pad, query) != 0 else { return true }
        var isSeekable: gboolean = 0
        gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
        return isSeekable != 0
    }
}
