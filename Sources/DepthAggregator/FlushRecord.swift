import CGStreamer
import GstBridge
import Synchronization

/// Flushes and seeks in progress, and the pads whose segment a flush has reset. Any thread.
final class FlushRecord: Sendable {
    /// Flushed pads that have received no segment since, by address, each with its number of FLUSH_STOP events in progress.
    private let padsWithoutSegment = Mutex<[UInt: Int]>([:])
    private let turns = Mutex(Turns())
    private let forwardedStops = Atomic(0)
    /// Held while the streaming thread may be started. Recursive: what is downstream may flush from within a flush.
    private let starts = RecursiveLock()
    private let mayStart = Atomic(false)

    private struct Turns {
        /// Threads inside a flush event or a flushing seek, once for each nesting.
        var threads: [UInt] = []
        var isSeeking = false
        /// The newest seek that arrived during a flush or another seek.
        var waiting: EventRef?

        var isOver: Bool { threads.isEmpty && !isSeeking }
    }

    typealias Pad = UnsafeMutablePointer<GstAggregatorPad>

    // MARK: Segments

    /// Notes that a flush resets the pad's segment. Returns once no gap of the pad is being handled.
    func noteFlush(of pad: Pad) { padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 0] += 0 } }

    /// Notes that the pad has a segment again, unless a FLUSH_STOP is resetting it at this moment.
    func noteSegment(of pad: Pad) {
        padsWithoutSegment.withLock { if $0[UInt(bitPattern: pad)] == 0 { $0[UInt(bitPattern: pad)] = nil } }
    }

    /// Forgets a pad that is released: another may get its address.
    func forget(_ pad: Pad) { padsWithoutSegment.withLock { $0[UInt(bitPattern: pad)] = nil } }

    /// Handles a queued GAP event, with flushes of the pad held off: GstAggregator 1.22 clips the gap to the pad's segment
    /// without checking that there is one.
    ///
    /// - Parameter body: queues the gap; must not call back into this object.
    /// - Returns: nil where a flush has reset the segment; then the gap is void.
    func handleGap(of pad: Pad, _ body: () -> Bool) -> Bool? {
        padsWithoutSegment.withLock { $0[UInt(bitPattern: pad)] == nil ? body() : nil }
    }

    /// Handles a FLUSH_STOP event of the pad, which GstAggregator may forward downstream and then start streaming.
    ///
    /// One at a time: of two that arrive together on two pads, GstAggregator 1.22 would forward both.
    ///
    /// - Returns: nil where the element has stopped; then the event is void.
    func end(on pad: Pad, _ body: () -> Bool) -> Bool? {
        padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 0] += 1 }
        forwardedStops.add(1, ordering: .relaxed)
        defer {
            forwardedStops.subtract(1, ordering: .relaxed)
            padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 1] -= 1 }
        }
        return run { startStreaming(body) }
    }

    /// True while a FLUSH_STOP event from upstream may be on its way downstream.
    var isForwardingStop: Bool { forwardedStops.load(ordering: .relaxed) > 0 }

    // MARK: Start and stop

    /// Runs `body`, which starts the streaming thread, unless the element has stopped: GstAggregator would start it all the
    /// same, and it would outlive the element.
    func startStreaming<Result>(_ body: () -> Result) -> Result? {
        starts.withLock { mayStart.load(ordering: .relaxed) ? body() : nil }
    }

    /// Lets flushes start the streaming thread, or forbids it; then none does so any more once this has returned.
    func allowStarts(_ isAllowed: Bool) { starts.withLock { mayStart.store(isAllowed, ordering: .relaxed) } }

    // MARK: Seeks

    /// Handles a flush event or a flushing seek on the calling thread. No lock is held: GStreamer calls back from it.
    func run<Result>(_ body: () -> Result) -> Result {
        let thread = UInt(bitPattern: g_thread_self())
        turns.withLock { $0.threads.append(thread) }
        defer {
            turns.withLock { turns in
                if let index = turns.threads.lastIndex(of: thread) { turns.threads.remove(at: index) }
            }
        }
        return body()
    }

    /// Begins a flushing seek, unless another is in progress or this thread is inside a flush: GstAggregator then holds
    /// locks that the seek takes too, and its seek is not re-entrant. In that case the seek replaces the one kept for
    /// `sendWaiting`.
    ///
    /// - Returns: false where the seek was kept for later.
    func beginSeek(_ event: EventPointer) -> Bool {
        let thread = UInt(bitPattern: g_thread_self())
        nonisolated(unsafe) let event = event  // kept or not, it stays the caller's
        return turns.withLock { turns in
            guard turns.isSeeking || turns.threads.contains(thread) else {
                turns.isSeeking = true
                return true
            }
            turns.waiting = EventRef(sharing: event)
            return false
        }
    }

    func endSeek() { turns.withLock { $0.isSeeking = false } }

    /// True where a seek is kept that `sendWaiting` could send.
    var hasWaiting: Bool { turns.withLock { $0.isOver && $0.waiting != nil } }

    /// Sends the kept seek, once no flush and no seek is in progress. A flushing pad would refuse it: it is kept until the
    /// FLUSH_STOP event, after which this is called again.
    func sendWaiting(to source: PadPointer) {
        while !source.isFlushing, let event = takeWaiting() {
            let isTaken = gst_pad_send_event(source, event.shared()) != 0
            // A flush may have begun just before.
            if !isTaken && source.isFlushing { turns.withLock { if $0.waiting == nil { $0.waiting = event } } }
        }
    }

    /// Drops the kept seek: it was meant for a stream that is over.
    func forgetWaiting() { turns.withLock { $0.waiting = nil } }

    private func takeWaiting() -> EventRef? {
        turns.withLock { turns in
            guard turns.isOver else { return nil }
            defer { turns.waiting = nil }
            return turns.waiting
        }
    }
}
