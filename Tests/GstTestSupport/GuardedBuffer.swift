package import CGStreamer
package import GstBridge

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A buffer whose memory ends at a page that nobody may touch: one byte read or written past the end ends the process.
/// There is such a page before it too, which a buffer of whole pages begins behind.
///
/// - Parameter memories: the bytes of each of the buffer's memories.
package func guardedBuffer(memories: [[UInt8]]) -> BufferRef {
    guard let buffer = gst_buffer_new() else { preconditionFailure("no memory for a buffer") }
    for bytes in memories { gst_buffer_append_memory(buffer, guardedMemory(bytes)) }
    return BufferRef(taking: buffer)
}

package func guardedBuffer(_ bytes: [UInt8]) -> BufferRef { guardedBuffer(memories: [bytes]) }

func guardedMemory(_ bytes: [UInt8]) -> UnsafeMutablePointer<GstMemory>? {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let room = (bytes.count + page - 1) / page * page
    guard let start = mmap(nil, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        start != MAP_FAILED, room == 0 || mprotect(start + page, room, PROT_READ | PROT_WRITE) == 0
    else { preconditionFailure("no memory for a guarded buffer") }
    let data = start + page + (room - bytes.count)
    bytes.withUnsafeBytes { if let source = $0.baseAddress { memcpy(data, source, bytes.count) } }
    let pages = Unmanaged.passRetained(Pages(start: start, length: room + 2 * page)).toOpaque()
    return gst_memory_new_wrapped(
        GstMemoryFlags(rawValue: 0), data, gsize(bytes.count), 0, gsize(bytes.count), pages
    ) { pages in
        if let pages { Unmanaged<Pages>.fromOpaque(pages).release() }
    }
}

private final class Pages {
    private let start: UnsafeMutableRawPointer
    private let length: Int

    init(start: UnsafeMutableRawPointer, length: Int) {
        self.start = start
        self.length = length
    }

    deinit { munmap(start, length) }
}

extension BufferRef {
    /// A copy of all of the buffer's bytes.
    package var bytes: [UInt8] {
        let count = Int(gst_buffer_get_size(pointer))
        return [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            filled = Int(gst_buffer_extract(pointer, 0, target.baseAddress, gsize(count)))
        }
    }

    /// When the buffer is due and for how long, in nanoseconds.
    package var timing: Timing {
        get { Timing(start: pointer.pointee.pts, duration: pointer.pointee.duration) }
        set {
            pointer.pointee.pts = newValue.start
            pointer.pointee.duration = newValue.duration
        }
    }

    package struct Timing: Equatable {
        package var start: GstClockTime
        package var duration: GstClockTime

        package init(start: GstClockTime, duration: GstClockTime) {
            self.start = start
            self.duration = duration
        }
    }

    package var flags: GstBufferFlags { GstBufferFlags(rawValue: pointer.pointee.mini_object.flags) }

    /// Leaves the box of a face on the buffer, as a detector would.
    package func addRegion(_ x: UInt32, _ y: UInt32, _ width: UInt32, _ height: UInt32, type: String = "face") {
        gst_buffer_add_video_region_of_interest_meta(pointer, type, x, y, width, height)
    }
}
