package import CGStreamer
package import GstBridge

/// A buffer of `size` bytes that nobody can map, as memory on a device that is gone.
package func unmappableBuffer(size: Int) -> BufferRef {
    let allocator = unmappableAllocator()
    defer { gst_object_unref(allocator) }
    guard let buffer = gst_buffer_new_allocate(allocator, gsize(size), nil) else {
        preconditionFailure("no memory for a buffer")
    }
    return BufferRef(taking: buffer)
}

/// Makes memory that nobody can map. The caller owns it.
package func unmappableAllocator() -> UnsafeMutablePointer<GstAllocator> { makeAllocator(of: allocatorType) }

private let allocatorType = registerClass(
    "Unmappable", deriving: gst_allocator_get_type(),
    { classPointer, _ in
        let table = classPointer?.assumingMemoryBound(to: GstAllocatorClass.self)
        table?.pointee.alloc = { allocator, size, _ in
            let memory = UnsafeMutablePointer<GstMemory>.allocate(capacity: 1)
            gst_memory_init(memory, GstMemoryFlags(rawValue: 0), allocator, nil, size, 0, 0, size)
            return memory
        }
        table?.pointee.free = { _, memory in memory?.deallocate() }
    },
    { instance, _ in
        guard let instance else { return }
        let allocator = UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstAllocator.self)
        allocator.pointee.mem_map = { _, _, _ in nil }
    })
