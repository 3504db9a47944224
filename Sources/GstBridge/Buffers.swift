package import CGStreamer
import CGStreamerShims
package import DepthKernels

/// One reference to a buffer, given back when its only owner is done.
///
/// Holds a buffer on its way through an element without an allocation of its own.
package struct OwnedBuffer: ~Copyable {
    package let pointer: BufferPointer

    /// Takes over a reference that the caller owns.
    package init(taking pointer: BufferPointer) { self.pointer = pointer }

    /// The same, where there is one.
    package init?(taking pointer: BufferPointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    /// A reference of its own, beside the caller's.
    package init(sharing pointer: BufferPointer) {
        ref(pointer)
        self.pointer = pointer
    }

    deinit { unref(pointer) }

    /// Hands the reference on to a callee that takes it.
    package consuming func surrender() -> BufferPointer {
        let pointer = pointer
        discard self
        return pointer
    }
}

/// One reference to caps, given back when its only owner is done.
package struct OwnedCaps: ~Copyable {
    package let pointer: CapsPointer

    /// Takes over a reference that the caller owns.
    package init(taking pointer: CapsPointer) { self.pointer = pointer }

    /// The same, where there is one.
    package init?(taking pointer: CapsPointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { gst_caps_unref(pointer) }
}

/// A buffer, caps or an event that several places keep, given back when the last of them is done.
package final class Ref<Object> {
    package let pointer: UnsafeMutablePointer<Object>
    private var isOwned = true

    /// Takes over a reference that the caller owns.
    package init(taking pointer: UnsafeMutablePointer<Object>) { self.pointer = pointer }

    /// A reference of its own, beside the caller's.
    package init(sharing pointer: UnsafeMutablePointer<Object>) {
        ref(pointer)
        self.pointer = pointer
    }

    deinit { if isOwned { unref(pointer) } }

    /// Hands the reference on to a callee that takes it.
    package func surrender() -> UnsafeMutablePointer<Object> {
        isOwned = false
        return pointer
    }

    /// A reference for a callee that takes it.
    package func shared() -> UnsafeMutablePointer<Object> {
        ref(pointer)
        return pointer
    }
}

package typealias BufferRef = Ref<GstBuffer>
package typealias CapsRef = Ref<GstCaps>
package typealias EventRef = Ref<GstEvent>

extension BufferRef {
    /// Shares what had one owner.
    package convenience init(_ buffer: consuming OwnedBuffer) { self.init(taking: buffer.surrender()) }

    /// The buffer where nobody else holds it, or a copy that shares its memory; nil where there is no memory.
    package var writable: BufferRef? {
        if gst_mini_object_is_writable(pointer.cast(to: GstMiniObject.self)) != 0 { return self }
        return gst_buffer_copy(pointer).map { BufferRef(taking: $0) }
    }
}

extension EventRef: @unchecked Sendable {  // guard: the event is only read, and counted by GStreamer
    /// True for events that stay in force for later streams of the pad, as tags do.
    package var isSticky: Bool { pointer.pointee.type.rawValue & GST_EVENT_TYPE_STICKY.rawValue != 0 }

    package var isSegmentDone: Bool { pointer.pointee.type == GST_EVENT_SEGMENT_DONE }
}

extension BufferPointer {
    /// Says that the buffer does not continue what came before it. The buffer must be the caller's alone.
    package func markDiscontinuity() { pointee.mini_object.flags |= GST_BUFFER_FLAG_DISCONT.rawValue }

    /// True where nobody else can see the buffer or its memory.
    package var isExclusive: Bool {
        gst_mini_object_is_writable(cast(to: GstMiniObject.self)) != 0 && gst_buffer_is_all_memory_writable(self) != 0
            && !refersToOtherMemory
    }

    /// True where a meta, as GstParentBufferMeta, ties the buffer to another one, which would leave with it and whose memory
    /// it may show.
    private var refersToOtherMemory: Bool {
        var state: gpointer?
        while let meta = gst_buffer_iterate_meta(self, &state) {
            guard let api = meta.pointee.info?.pointee.api else { continue }
            if gst_meta_api_type_has_tag(api, memoryReferenceTag) != 0 { return true }
        }
        return false
    }

    /// True where the buffer uses each of its memories completely. Memory of a file or a device is passed to other processes
    /// as a whole, also where the buffer is only a part of it.
    var hasWholeMemories: Bool {
        (0..<gst_buffer_n_memory(self)).allSatisfy { index in
            guard let memory = gst_buffer_peek_memory(self, index) else { return false }
            if gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) != 0 { return true }
            var (offset, whole): (gsize, gsize) = (0, 0)
            return gst_memory_get_sizes(memory, &offset, &whole) == whole && offset == 0
        }
    }

    /// Zeroes all bytes; false where they cannot be written, which gst_buffer_memset takes for granted. The buffer must be
    /// the caller's alone.
    func clear() -> Bool {
        (0..<gst_buffer_n_memory(self)).allSatisfy { index in
            var map = GstMapInfo()
            guard gst_buffer_map_range(self, index, 1, &map, GST_MAP_WRITE) != 0 else { return false }
            defer { gst_buffer_unmap(self, &map) }
            map.data?.initialize(repeating: 0, count: Int(clamping: map.size))
            return true
        }
    }

    /// All bytes are in one piece of the processor's own memory: to map it costs nothing, each time.
    package var isPlainMemory: Bool {
        guard gst_buffer_n_memory(self) == 1, let memory = gst_buffer_peek_memory(self, 0) else { return false }
        return gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM) != 0
    }

    /// The buffer stands for data that is not there.
    package var isGap: Bool {
        pointee.mini_object.flags & GST_BUFFER_FLAG_GAP.rawValue != 0 && gst_buffer_get_size(self) == 0
    }
}

/// Takes one more reference of a buffer, caps or an event: GStreamer's functions for each are inline casts.
package func ref<Object>(_ object: UnsafeMutablePointer<Object>) {
    gst_mini_object_ref(object.cast(to: GstMiniObject.self))
}

/// Gives back one reference.
package func unref<Object>(_ object: UnsafeMutablePointer<Object>) {
    gst_mini_object_unref(object.cast(to: GstMiniObject.self))
}

/// Asks for memory that begins with a line of the processor's cache, as a camera's or a decoder's does: what is read and
/// written by whole lines and vectors then needs no more of them than there are.
package var lineAligned: GstAllocationParams {
    var parameters = GstAllocationParams()
    gst_allocation_params_init(&parameters)
    parameters.align = 63
    return parameters
}

/// A zeroed buffer of `size` bytes.
package func newBuffer(size: Int) throws(FrameFault) -> OwnedBuffer {
    var parameters = lineAligned
    guard let made = gst_buffer_new_allocate(nil, gsize(clamping: size), &parameters) else {
        throw .outOfMemory(bytes: size)
    }
    let buffer = OwnedBuffer(taking: made)
    if !buffer.pointer.clear() { throw .notMappable }
    return buffer
}

/// A zeroed buffer of `size` bytes, to be kept by several.
package func newSharedBuffer(size: Int) throws(FrameFault) -> BufferRef { BufferRef(try newBuffer(size: size)) }

/// Gives a buffer the timestamps, flags and metas of another, less the metas that describe its memory.
func stamp(_ buffer: BufferPointer, like original: BufferPointer) {
    buffer.takeTimes(of: original)
    // With GST_BUFFER_COPY_META and GST_BUFFER_COPY_DEEP that does this too, but crashes where it logs a meta that refers to
    // other memory (GStreamer 1.22).
    var copy = GstMetaTransformCopy(region: 0, offset: 0, size: gst_buffer_get_size(original))
    var state: gpointer?
    while let meta = gst_buffer_iterate_meta(original, &state) {
        guard let info = meta.pointee.info?.pointee, gst_meta_api_type_has_tag(info.api, memoryTag) == 0,
            gst_meta_api_type_has_tag(info.api, memoryReferenceTag) == 0
        else { continue }
        _ = info.transform_func?(buffer, meta, original, copyTransform, &copy)
    }
}

// GST_META_TAG_MEMORY_STR and GST_META_TAG_MEMORY_REFERENCE_STR: the quarks themselves are mutable globals in C.
private let memoryTag = g_quark_from_static_string("memory")
let copyTransform = g_quark_from_static_string("gst-copy")  // _gst_meta_transform_copy
private let memoryReferenceTag = g_quark_from_static_string("memory-reference")

/// Nanoseconds on the pipeline's clock since it started, negative before its start.
package typealias RunningTime = Int64

extension Aggregator {
    /// The pad's segment as it is now.
    package func segment(of pad: Pad) -> GstSegment { pad.withSegment { $0 } }

    /// When a buffer at the head of `pad` is due; nil where it has no timestamp.
    ///
    /// - Parameter shift: nanoseconds that are added to the timestamp.
    package func runningTime(of buffer: BufferPointer, on pad: Pad, shift: Int64 = 0) -> RunningTime? {
        let stamp = buffer.pointee.pts
        guard stamp != noClockTime else { return nil }
        let segment = segment(of: pad)
        return runningTime(of: stamp, in: segment).map { $0 &+ running(shift, in: segment) }
    }

    private func runningTime(of stamp: GstClockTime, in segment: GstSegment) -> RunningTime? {
        var segment = segment
        guard segment.format == GST_FORMAT_TIME else { return nil }
        var time: guint64 = 0
        switch gst_segment_to_running_time_full(&segment, GST_FORMAT_TIME, stamp, &time) {
        case 1: return RunningTime(clamping: time)
        case -1: return -RunningTime(clamping: time)
        default: return nil
        }
    }

    /// A difference of timestamps in running time: less where the segment plays faster, and backwards its opposite.
    private func running(_ difference: Int64, in segment: GstSegment) -> Int64 {
        segment.rate == 1 ? difference : Int64(exactly: (Double(difference) / segment.rate).rounded()) ?? 0
    }

    /// From when to when a buffer at the head of `pad` is shown; nil where it has no timestamp or no duration.
    ///
    /// A segment's rate stretches it, and one that runs backwards shows the end of the buffer first. It ends where a buffer
    /// with its end as timestamp is due: a rounding of its own would let it reach over that by a nanosecond.
    ///
    /// - Parameter shift: nanoseconds that are added to the timestamp.
    package func runningSpan(of buffer: BufferPointer, on pad: Pad, shift: Int64 = 0) -> Range<RunningTime>? {
        let (stamp, duration) = (buffer.pointee.pts, buffer.pointee.duration)
        guard stamp != noClockTime, duration != noClockTime else { return nil }
        let segment = segment(of: pad)
        let (end, isBeyond) = stamp.addingReportingOverflow(duration)
        guard !isBeyond, let first = runningTime(of: stamp, in: segment), let last = runningTime(of: end, in: segment)
        else { return nil }
        let move = running(shift, in: segment)
        let (start, isEarly) = min(first, last).addingReportingOverflow(move)
        let (stop, isLate) = max(first, last).addingReportingOverflow(move)
        guard !isEarly, !isLate, stop < .max else { return nil }
        // Backwards the timestamp is the last moment, and belongs to the buffer as the first one does forwards.
        return segment.rate < 0 ? start &+ 1..<stop &+ 1 : start..<stop
    }

    /// The buffer at the head of the pad's queue, left there.
    package func head(of pad: Pad) -> OwnedBuffer? {
        OwnedBuffer(taking: padGuard.withLock { gst_aggregator_pad_peek_buffer(pad) })
    }

    /// The same where GstAggregator holds the lock under which it releases pads, as it does while it asks for the next
    /// time.
    package func headWhileLocked(of pad: Pad) -> OwnedBuffer? {
        OwnedBuffer(taking: gst_aggregator_pad_peek_buffer(pad))
    }

    /// True where there is a buffer at the head of the pad's queue.
    package func hasBuffer(_ pad: Pad) -> Bool { padGuard.withLock { gst_aggregator_pad_has_buffer(pad) != 0 } }

    /// Takes the buffer at the head of the pad's queue.
    package func pop(_ pad: Pad) -> OwnedBuffer? {
        OwnedBuffer(taking: padGuard.withLock { gst_aggregator_pad_pop_buffer(pad) })
    }

    package func hasEnded(_ pad: Pad) -> Bool { gst_aggregator_pad_is_eos(pad) != 0 }

    /// True where something upstream, or the application, makes this pipeline live.
    package var isLive: Bool { gst_aggregator_get_latency(aggregator) != noClockTime }
}

/// A lock that the thread that holds it may take again.
package final class RecursiveLock: @unchecked Sendable {  // guard: there is nothing in it but the lock
    private let mutex = UnsafeMutablePointer<GRecMutex>.allocate(capacity: 1)

    package init() { g_rec_mutex_init(mutex) }

    deinit {
        g_rec_mutex_clear(mutex)
        mutex.deallocate()
    }

    package func withLock<Result>(_ body: () -> Result) -> Result {
        g_rec_mutex_lock(mutex)
        defer { g_rec_mutex_unlock(mutex) }
        return body()
    }
}

extension StaticString {
    /// The text as C has it, ended by a zero.
    package var characters: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

extension BufferPointer {
    /// Takes over the timestamps and flags of another buffer.
    package func takeTimes(of original: BufferPointer) {
        let copied = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
        gst_buffer_copy_into(self, original, GstBufferCopyFlags(rawValue: copied), 0, gsize.max)
    }

    /// Removes the metas that speak of places in a picture, as regions of interest do: this is another picture. The
    /// buffer must be the caller's alone.
    package func removePlacedMetas() {
        gst_buffer_foreach_meta(
            self,
            { _, meta, _ in
                guard let meta, let api = meta.pointee?.pointee.info?.pointee.api else { return 1 }
                // Where the picture itself lies in memory is another matter.
                if gst_meta_api_type_has_tag(api, memoryTag) == 0,
                    gst_meta_api_type_has_tag(api, sizeTag) != 0 || gst_meta_api_type_has_tag(api, orientationTag) != 0
                {
                    meta.pointee = nil
                }
                return 1
            }, nil)
    }

    /// Adds a region of interest, as far as it lies in the picture. The buffer must be the caller's alone.
    ///
    /// - Parameter box: in pixels; a fraction of one is cut off.
    @discardableResult
    package func addRegion(
        _ type: StaticString, _ box: Rectangle<Double>, width: Int, height: Int
    ) -> UnsafeMutablePointer<GstVideoRegionOfInterestMeta>? {
        let (x, y) = (floorIndex(box.x, in: 0...width), floorIndex(box.y, in: 0...height))
        return gst_buffer_add_video_region_of_interest_meta(
            self, type.characters, guint(x), guint(y), guint(floorIndex(box.width, in: 0...(width - x))),
            guint(floorIndex(box.height, in: 0...(height - y))))
    }
}

// GST_META_TAG_VIDEO_SIZE_STR and GST_META_TAG_VIDEO_ORIENTATION_STR.
private let sizeTag = g_quark_from_static_string("size")
private let orientationTag = g_quark_from_static_string("orientation")
