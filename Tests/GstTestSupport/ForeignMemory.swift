import CGStreamer
package import GstBridge

/// A buffer in memory that is not the system's own, as that of a file or a device, and is handed to other processes whole.
///
/// - Parameters:
///   - before: bytes of the memory before the buffer's.
///   - behind: bytes of the memory behind them.
package func foreignBuffer(_ bytes: [UInt8], before: Int = 0, behind: Int = 0) -> BufferRef {
    let allocator = makeAllocator(of: allocatorType)
    guard let buffer = gst_buffer_new() else { preconditionFailure("no memory for a buffer") }
    let size = before + bytes.count + behind
    let block = UnsafeMutableRawPointer.allocate(byteCount: headerSize + size, alignment: 64)
    block.initializeMemory(as: UInt8.self, repeating: 0, count: headerSize + size)
    bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(start: block + headerSize + before, count: $0.count).copyMemory(from: $0)
    }
    let memory = block.assumingMemoryBound(to: GstMemory.self)
    gst_memory_init(
        memory, GstMemoryFlags(rawValue: 0), allocator, nil, gsize(size), 0, gsize(before), gsize(bytes.count))
    gst_object_unref(allocator)
    gst_buffer_append_memory(buffer, memory)
    return BufferRef(taking: buffer)
}

extension BufferPointer {
    /// True where the buffer's first memory is one of `foreignBuffer`.
    package var isForeign: Bool {
        guard let allocator = gst_buffer_peek_memory(self, 0)?.pointee.allocator else { return false }
        return UnsafeMutableRawPointer(allocator).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class?.pointee
            .g_type == allocatorType
    }
}

/// Bytes between a memory's description and what is in it.
private let headerSize = (MemoryLayout<GstMemory>.size + 63) / 64 * 64

private let allocatorType = registerClass(
    "Foreign", deriving: gst_allocator_get_type(),
    { classPointer, _ in
        classPointer?.assumingMemoryBound(to: GstAllocatorClass.self).pointee.free = { _, memory in
            UnsafeMutableRawPointer(memory)?.deallocate()
        }
    },
    { instance, _ in
        guard let instance else { return }
        let allocator = UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstAllocator.self)
        allocator.pointee.mem_map = { memory, _, _ in memory.map { UnsafeMutableRawPointer($0) + headerSize } }
        allocator.pointee.mem_unmap = { _ in }
    })
