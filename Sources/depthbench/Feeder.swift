import CGStreamer
import GstBridge

/// State that the threads around one element share.
struct Progress {
    /// When each frame of the round arrived behind the element, in nanoseconds.
    var arrivals: [UInt64] = []
    /// How many of them make up the round.
    var expected = 0
    var isRoundOver: Bool { arrivals.count >= expected }
    /// Frames of all rounds that arrived.
    var total = 0
    /// Feeders are woken when so many frames more have arrived.
    var batch = Int.max
    /// The element has stopped.
    var isOver = false
    /// The address of the pool that the video comes from which may be drawn on; nil while that is not known.
    var pool: Int?
    /// Frames so far that left in other memory.
    var copies = 0
    /// The first error.
    var fault: String?
}

/// Pushes frames into one pad of the element, on a thread of its own, as many as it is told to.
///
/// It keeps some frames ahead of what has left, so that the element need not wake it for every frame: to wake a sleeping
/// processor can take as long as a twentieth of the element's work.
final class Feeder {
    private let pad: UnsafeMutablePointer<GstPad>
    private let target: UnsafeMutablePointer<GstPad>
    private let frames: FrameRing
    private let orders = Monitor(Orders())
    private let progress: Monitor<Progress>
    /// Frames that may be under way.
    private let lead: Int
    private var thread: UnsafeMutablePointer<GThread>?

    private struct Orders {
        var frames = 0
        var isOver = false
    }

    /// A thread whose pad is linked to `target`, which this takes over.
    init(
        _ target: UnsafeMutablePointer<GstPad>, caps: String, _ frames: FrameRing, lead: Int,
        _ progress: Monitor<Progress>
    ) throws {
        guard let pad = gst_pad_new("feeder", GST_PAD_SRC), let caps = gst_caps_from_string(caps) else {
            throw Failure.cannot("there is no pad for \(caps)")
        }
        (self.pad, self.target, self.frames, self.lead, self.progress) = (pad, target, frames, lead, progress)
        gst_object_ref_sink(pad)
        gst_pad_set_query_function_full(pad, answerNotLive, nil, nil)
        guard gst_pad_set_active(pad, 1) != 0,
            gst_pad_link_full(pad, target, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
        else { throw Failure.cannot("a pad cannot be linked") }
        var segment = GstSegment()
        gst_segment_init(&segment, GST_FORMAT_TIME)
        // They go with the first frame.
        for event in [
            gst_event_new_stream_start("depthbench"), gst_event_new_caps(caps), gst_event_new_segment(&segment),
        ] {
            gst_pad_store_sticky_event(pad, event)
            gst_event_unref(event)
        }
        gst_caps_unref(caps)
        thread = g_thread_new(
            "feeder",
            { data in
                if let data { Unmanaged<Feeder>.fromOpaque(data).takeUnretainedValue().work() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends the thread; the element must have stopped, so that no push blocks.
    func finish() {
        frames.stop()
        orders.withLock { $0.isOver = true }
        g_thread_join(thread)
        gst_pad_set_active(pad, 0)
        gst_pad_unlink(pad, target)
        gst_object_unref(target)
        gst_object_unref(pad)
    }

    /// Lets the thread push so many frames.
    func feed(_ count: Int) { orders.withLock { $0.frames += count } }

    // MARK: The thread

    private func work() {
        let duration: GstClockTime = 33_333_333
        var number = 0
        while let count = nextOrder() {
            for _ in 0..<count {
                guard isWanted(number), let buffer = frames.next() else { return }
                buffer.pointee.pts = GstClockTime(number) * duration
                buffer.pointee.duration = duration
                number += 1
                let flow = gst_pad_push(pad, buffer)
                if flow != GST_FLOW_OK {
                    let fault = "a frame was refused: \(String(cString: gst_flow_get_name(flow)))"
                    return progress.withLock { $0.fault = $0.fault ?? fault }
                }
            }
        }
    }

    private func nextOrder() -> Int? {
        orders.wait(until: { $0.frames > 0 || $0.isOver }) { orders in
            defer { orders.frames = 0 }
            return orders.isOver ? nil : orders.frames
        }
    }

    /// Waits until a frame is not too far ahead; false when all is over.
    private func isWanted(_ number: Int) -> Bool {
        progress.wait(until: { [lead] in number - $0.total < lead || $0.isOver || $0.fault != nil }) {
            !$0.isOver && $0.fault == nil
        }
    }
}

private let answerNotLive: GstPadQueryFunction = { pad, parent, query in
    guard let query, query.pointee.type == GST_QUERY_LATENCY else { return gst_pad_query_default(pad, parent, query) }
    gst_query_set_latency(query, 0, 0, noClockTime)
    return 1
}

// MARK: - Where the frames come from

/// A ring of buffers that were filled before.
final class FrameRing {
    let count: Int
    /// Has the buffers that nobody else holds: each comes back when the last element lets go of it. Nil where buffers stay here
    /// too, and so may not be written to: each goes out as another buffer with the same memory.
    let pool: UnsafeMutablePointer<GstBufferPool>?
    private var kept: [BufferRef] = []
    private var turn = 0

    init(count: Int, size: Int, isWritable: Bool = false, fill: FrameFill) throws {
        self.count = count
        pool = isWritable ? gst_buffer_pool_new() : nil
        let buffers = try isWritable ? poolBuffers(size: size) : keptBuffers(size: size)
        for (number, buffer) in buffers.enumerated() {
            var map = GstMapInfo()
            guard gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 else { continue }
            fill(number, UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
            gst_buffer_unmap(buffer, &map)
        }
        if isWritable { for buffer in buffers { unref(buffer) } }
    }

    private func poolBuffers(size: Int) throws -> [BufferPointer] {
        let configuration = gst_buffer_pool_get_config(pool)
        gst_buffer_pool_config_set_params(configuration, nil, guint(size), guint(count), guint(count))
        var parameters = lineAligned
        gst_buffer_pool_config_set_allocator(configuration, nil, &parameters)
        guard gst_buffer_pool_set_config(pool, configuration) != 0, gst_buffer_pool_set_active(pool, 1) != 0 else {
            throw Failure.cannot("there is no memory for \(count) frames")
        }
        return (0..<count).compactMap { _ in next() }
    }

    private func keptBuffers(size: Int) throws -> [BufferPointer] {
        kept = try (0..<count).map { _ in try newSharedBuffer(size: size) }
        return kept.map(\.pointer)
    }

    deinit {
        guard let pool else { return }
        gst_buffer_pool_set_active(pool, 0)
        gst_object_unref(pool)
    }

    /// A buffer that the caller owns, and may stamp; nil when it is over.
    func next() -> BufferPointer? {
        guard let pool else {
            defer { turn = (turn + 1) % count }
            return gst_buffer_copy_region(kept[turn].pointer, GST_BUFFER_COPY_MEMORY, 0, gsize.max)
        }
        var buffer: BufferPointer?
        return gst_buffer_pool_acquire_buffer(pool, &buffer, nil) == GST_FLOW_OK ? buffer : nil
    }

    /// Ends a wait for a buffer.
    func stop() { if let pool { gst_buffer_pool_set_flushing(pool, 1) } }
}
