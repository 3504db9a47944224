import CGStreamer
import GstBridge
import Synchronization

/// Flushes and seeks under way. Any thread.
final class FlushRecord: Sendable {
    /// Pads that were flushed and have no segment since, by address; each with the ends of flushes that are under way.
    private let padsWithoutSegment = Mutex<[UInt: Int]>([:])
    private let turns = Mutex(Turns())
    private let forwardedStops = Atomic(0)

    private struct Turns {
        /// Threads that are inside a flush or a seek that flushes, once for each.
        var threads: [UInt] = []
        var isSeeking = false
        /// The last seek that came meanwhile.
        var waiting: EventRef?

        var isOver: Bool { threads.isEmpty && !isSeeking }
    }

    typealias Pad = UnsafeMutablePointer<GstAggregatorPad>

    // MARK: Segments

    /// A flush comes to a pad, and takes its segment away. Returns when no gap of the pad is being handled any more.
    func noteFlush(of pad: Pad) { padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 0] += 0 } }

    /// A segment holds on the pad, unless a flush is just taking it away.
    func noteSegment(of pad: Pad) {
        padsWithoutSegment.withLock { if $0[UInt(bitPattern: pad)] == 0 { $0[UInt(bitPattern: pad)] = nil } }
    }

    /// Handles a gap that was queued on the pad; nil where a flush has come since, which may be taking the segment away
    /// that GstAggregator (1.22) reads without a check.
    ///
    /// - Parameter body: must not come back here: a gap is only put in its place in the queue.
    func handleGap(of pad: Pad, _ body: () -> Bool) -> Bool? {
        padsWithoutSegment.withLock { $0[UInt(bitPattern: pad)] == nil ? body() : nil }
    }

    /// Runs what ends a flush of the pad, and may forward that end.
    func end<Result>(on pad: Pad, _ body: () -> Result) -> Result {
        padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 0] += 1 }
        forwardedStops.add(1, ordering: .relaxed)
        defer {
            forwardedStops.subtract(1, ordering: .relaxed)
            padsWithoutSegment.withLock { $0[UInt(bitPattern: pad), default: 1] -= 1 }
        }
        return run(body)
    }

    /// Whether the end of a flush that came from upstream is being forwarded.
    var isForwardingStop: Bool { forwardedStops.load(ordering: .relaxed) > 0 }

    // MARK: Turns

    /// Runs what flushes, on the calling thread. GStreamer comes back from it: no lock is held.
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

    /// Begins a seek that flushes, unless another is under way, or this thread is inside a flush: GstAggregator holds locks
    /// then, and cannot do two at once. In that case the seek is kept, in place of an earlier one, for `takeWaiting`.
    func beginSeek(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        let thread = UInt(bitPattern: g_thread_self())
        nonisolated(unsafe) let event = event  // kept or not, it stays the caller's
        return turns.withLock { turns in
            guard turns.isSeeking || turns.threads.contains(thread) else {
                turns.isSeeking = true
                return true
            }
            turns.waiting = EventRef(taking: gst_event_ref(event))
            return false
        }
    }

    func endSeek() { turns.withLock { $0.isSeeking = false } }

    /// The seek that waits, once its turn has come.
    func takeWaiting() -> EventRef? {
        turns.withLock { turns in
            guard turns.isOver else { return nil }
            defer { turns.waiting = nil }
            return turns.waiting
        }
    }
}
