package import CGStreamer
package import GstBridge
import Synchronization

/// The upstream side of one sink pad: what a test pushes here leaves, in order, on a thread of its own.
///
/// So a pad that blocks, as an aggregator's does while it waits for another, does not block the test.
package final class Feed {
    package let pad: UnsafeMutablePointer<GstPad>
    package let target: UnsafeMutablePointer<GstPad>
    private let worker = Worker()
    private let outcome = Outcome()
    private let name: String

    /// The results of the pushes; written by the worker.
    private final class Outcome: Sendable {
        let flow = Atomic(GST_FLOW_OK.rawValue)
        let refusedEvents = Atomic(0)
    }

    /// True where the next buffer is the first of its segment.
    private var beginsSegment = false

    /// A pad linked to `target`, which this takes over.
    ///
    /// - Parameter isLive: what it answers when asked for its latency.
    init(_ target: UnsafeMutablePointer<GstPad>, isLive: Bool) {
        guard let pad = gst_pad_new("feed", GST_PAD_SRC) else { preconditionFailure("no memory for a pad") }
        self.pad = pad
        self.target = target
        name =
            takeString(gst_object_get_name(UnsafeMutableRawPointer(target).assumingMemoryBound(to: GstObject.self)))
            ?? ""
        gst_object_ref_sink(pad)
        gst_pad_set_query_function_full(pad, isLive ? answerLive : answerNotLive, nil, nil)
        let isLinked = gst_pad_link_full(pad, target, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
        precondition(isLinked && gst_pad_set_active(pad, 1) != 0, "the pad cannot be linked")
    }

    deinit {
        gst_pad_set_active(pad, 0)
        worker.finish()
        gst_pad_unlink(pad, target)
        gst_object_unref(target)
        gst_object_unref(pad)
    }

    // MARK: Events

    /// The events that every stream begins with.
    ///
    /// - Parameter seqnum: that of the seek behind the segment; nil where there is none.
    package func start(_ caps: String, _ segment: GstSegment = .time(), seqnum: guint32? = nil) {
        push(gst_event_new_stream_start("test/\(name)"))
        setCaps(caps)
        push(segment, seqnum: seqnum)
    }

    package func start(_ shape: VideoShape, _ segment: GstSegment = .time()) { start(shape.caps, segment) }
    package func start(_ shape: DepthShape, _ segment: GstSegment = .time()) { start(shape.caps, segment) }

    package func setCaps(_ text: String) {
        guard let caps = gst_caps_from_string(text) else { preconditionFailure("bad caps: \(text)") }
        push(gst_event_new_caps(caps))
        gst_caps_unref(caps)
    }

    /// - Parameter seqnum: that of the seek behind the segment; nil where there is none.
    package func push(_ segment: GstSegment, seqnum: guint32? = nil) {
        var segment = segment
        beginsSegment = true
        let event = gst_event_new_segment(&segment)
        if let seqnum { gst_event_set_seqnum(event, seqnum) }
        push(event)
    }

    package func gap(at start: GstClockTime, _ duration: GstClockTime = frameDuration) {
        push(gst_event_new_gap(start, duration))
    }

    package func end() { push(gst_event_new_eos()) }

    /// Queues an event, taking it.
    package func push(_ event: UnsafeMutablePointer<GstEvent>?) {
        guard let event else { preconditionFailure("no memory for an event") }
        worker.run { [pad, outcome] in
            if gst_pad_push_event(pad, event) == 0 { outcome.refusedEvents.add(1, ordering: .relaxed) }
        }
    }

    // MARK: Data

    /// Queues a buffer with the given timestamp; nil leaves its times as they are.
    package func push(_ buffer: BufferRef, at start: GstClockTime? = nil, _ duration: GstClockTime = frameDuration) {
        if let start { buffer.timing = BufferRef.Timing(start: start, duration: duration) }
        let pointer = buffer.surrender()
        if beginsSegment { pointer.markDiscontinuity() }  // as every source does
        beginsSegment = false
        worker.run { [pad, outcome] in
            let result = gst_pad_push(pad, pointer)
            if result != GST_FLOW_OK { outcome.flow.store(result.rawValue, ordering: .relaxed) }
        }
    }

    package func push(_ bytes: [UInt8], at start: GstClockTime? = nil, _ duration: GstClockTime = frameDuration) {
        push(guardedBuffer(bytes), at: start, duration)
    }

    /// The first half of a flush: what is queued, here and in the pad, is dropped.
    ///
    /// - Parameter seqnum: that of the seek behind the flush; nil where there is none.
    package func beginFlush(seqnum: guint32? = nil) {
        gst_pad_push_event(pad, flushStart(seqnum))
        settle()
    }

    /// The second half: the stream goes on with a new segment.
    ///
    /// - Parameter seqnum: that of the seek behind the flush; nil where there is none.
    package func endFlush(then segment: GstSegment = .time(), seqnum: guint32? = nil) {
        gst_pad_push_event(pad, flushStop(seqnum))
        outcome.flow.store(GST_FLOW_OK.rawValue, ordering: .relaxed)
        push(segment, seqnum: seqnum)
    }

    // MARK: Results

    /// Waits until everything queued has been taken, and returns the last flow that was not OK.
    @discardableResult
    package func settle() -> GstFlowReturn {
        worker.waitUntilIdle()
        return GstFlowReturn(rawValue: outcome.flow.load(ordering: .relaxed))
    }

    /// As `settle`, and forgets that flow.
    package func takeFlow() -> GstFlowReturn {
        settle()
        return GstFlowReturn(rawValue: outcome.flow.exchange(GST_FLOW_OK.rawValue, ordering: .relaxed))
    }

    /// True where everything queued has been taken, within a bounded while.
    package var hasSettled: Bool {
        settle()
        return worker.isIdle
    }

    /// The same, waiting no longer than so many microseconds.
    package func hasSettled(within patience: guint64) -> Bool {
        worker.waitUntilIdle(patience)
        return worker.isIdle
    }

    /// True where something that was pushed so far was refused.
    package var hasFailed: Bool {
        outcome.flow.load(ordering: .relaxed) != GST_FLOW_OK.rawValue
            || outcome.refusedEvents.load(ordering: .relaxed) > 0
    }

    /// Events that were refused. Caps that are refused show as the flow of the next buffer instead, which `settle` returns.
    package var refusedEvents: Int {
        settle()
        return outcome.refusedEvents.load(ordering: .relaxed)
    }

    /// The caps that the pad would take now.
    package func allowedCaps(filter: String? = nil) -> String {
        let filter = filter.flatMap { gst_caps_from_string($0) }
        defer { if let filter { gst_caps_unref(filter) } }
        guard let caps = gst_pad_peer_query_caps(pad, filter) else { return "" }
        defer { gst_caps_unref(caps) }
        return caps.text
    }
}

/// Nanoseconds of a frame at 30 frames a second.
package let frameDuration: GstClockTime = 33_333_333

/// When frame `number` of a stream begins.
package func time(ofFrame number: Int, perSecond rate: Int = 30) -> GstClockTime {
    GstClockTime(number) * 1_000_000_000 / GstClockTime(rate)
}

package let millisecond: GstClockTime = 1_000_000

extension GstSegment {
    /// A segment in time.
    package static func time(
        rate: Double = 1, start: GstClockTime = 0, stop: GstClockTime = noClockTime, base: GstClockTime = 0
    ) -> GstSegment {
        var segment = GstSegment()
        gst_segment_init(&segment, GST_FORMAT_TIME)
        segment.rate = rate
        segment.start = start
        segment.time = start
        segment.position = start
        segment.stop = stop
        segment.base = base
        return segment
    }
}

private typealias QueryFunction =
    @convention(c) (
        UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstObject>?, UnsafeMutablePointer<GstQuery>?
    ) -> gboolean

private let answerLive: QueryFunction = { pad, parent, query in
    guard let query, query.pointee.type == GST_QUERY_LATENCY else { return gst_pad_query_default(pad, parent, query) }
    gst_query_set_latency(query, 1, 0, noClockTime)
    return 1
}

private let answerNotLive: QueryFunction = { pad, parent, query in
    guard let query, query.pointee.type == GST_QUERY_LATENCY else { return gst_pad_query_default(pad, parent, query) }
    gst_query_set_latency(query, 0, 0, noClockTime)
    return 1
}

/// A thread that does what it is told, in order.
private final class Worker {
    private let jobs: OpaquePointer
    private let done: OpaquePointer
    private let thread: UnsafeMutablePointer<GThread>?
    private var pending = 0

    /// Work that crosses to the thread once; nil ends it.
    private final class Job: @unchecked Sendable {  // guard: handed over through the queue, run once
        let work: (() -> Void)?

        init(_ work: (() -> Void)?) { self.work = work }
    }

    private final class Queues {
        let jobs: OpaquePointer
        let done: OpaquePointer

        init(_ jobs: OpaquePointer, _ done: OpaquePointer) {
            self.jobs = jobs
            self.done = done
        }
    }

    init() {
        jobs = g_async_queue_new()
        done = g_async_queue_new()
        let queues = Unmanaged.passRetained(Queues(jobs, done)).toOpaque()
        thread = g_thread_new(
            "feed",
            { data in
                guard let data else { return nil }
                let queues = Unmanaged<Queues>.fromOpaque(data).takeRetainedValue()
                while let next = g_async_queue_pop(queues.jobs),
                    let work = Unmanaged<Job>.fromOpaque(next).takeRetainedValue().work
                {
                    work()
                    g_async_queue_push(queues.done, UnsafeMutableRawPointer(bitPattern: 1))
                }
                return nil
            }, queues)
    }

    func run(_ work: @escaping () -> Void) {
        pending += 1
        g_async_queue_push(jobs, Unmanaged.passRetained(Job(work)).toOpaque())
    }

    var isIdle: Bool { pending == 0 }

    /// Gives up after a while: what a test then sees tells what is stuck.
    func waitUntilIdle(_ patience: guint64 = patience) {
        while pending > 0, g_async_queue_timeout_pop(done, patience) != nil { pending -= 1 }
    }

    func finish() {
        g_async_queue_push(jobs, Unmanaged.passRetained(Job(nil)).toOpaque())
        g_thread_join(thread)
        g_async_queue_unref(jobs)
        g_async_queue_unref(done)
    }
}

/// Microseconds after which a wait is given up.
let patience: guint64 = 20_000_000

/// The event that begins a flush.
///
/// - Parameter seqnum: that of the seek behind the flush; nil where there is none.
package func flushStart(_ seqnum: guint32? = nil) -> UnsafeMutablePointer<GstEvent>? {
    let event = gst_event_new_flush_start()
    if let event, let seqnum { gst_event_set_seqnum(event, seqnum) }
    return event
}

/// The event that ends a flush, and sets running time back to 0.
///
/// - Parameter seqnum: that of the seek behind the flush; nil where there is none.
package func flushStop(_ seqnum: guint32? = nil) -> UnsafeMutablePointer<GstEvent>? {
    let event = gst_event_new_flush_stop(1)
    if let event, let seqnum { gst_event_set_seqnum(event, seqnum) }
    return event
}
