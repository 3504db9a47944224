import CGStreamer
package import GstBridge

/// A buffer of `size` bytes that nobody can map, as memory on a device that is gone.
package func unmappableBuffer(size: Int) -> BufferRef {
    let allocator = UnsafeMutableRawPointer(g_object_new_with_properties(allocatorType, 0, nil, nil))
    guard let allocator, let buffer = gst_buffer_new() else { preconditionFailure("no memory for a buffer") }
    let memory = UnsafeMutablePointer<GstMemory>.allocate(capacity: 1)
    gst_memory_init(
        memory, GstMemoryFlags(rawValue: 0), allocator.assumingMemoryBound(to: GstAllocator.self), nil, gsize(size), 0,
        0,
        gsize(size))
    gst_object_unref(allocator)
    gst_buffer_append_memory(buffer, memory)
    return BufferRef(taking: buffer)
}

private let allocatorType: GType = {
    var query = GTypeQuery()
    g_type_query(gst_allocator_get_type(), &query)
    return g_type_register_static_simple(
        gst_allocator_get_type(), "DepthMatteTestUnmappable", query.class_size,
        { classPointer, _ in
            classPointer?.assumingMemoryBound(to: GstAllocatorClass.self).pointee.free = { _, memory in
                memory?.deallocate()
            }
        },
        query.instance_size,
        { instance, _ in
            guard let instance else { return }
            let allocator = UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GstAllocator.self)
            allocator.pointee.mem_map = { _, _, _ in nil }
        }, GTypeFlags(rawValue: 0))
}()
