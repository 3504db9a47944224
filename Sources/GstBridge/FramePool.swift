import CGStreamer

/// The frames of one format that leave: from the pool that downstream offers, from one of ours, or allocated one by one.
///
/// Streaming thread only.
package final class OutputFrames {
    private let layout: FrameLayout
    /// Nil before the allocation query, and if no pool can be made.
    private var pool: PoolPointer?
    /// True if downstream supports GstVideoMeta, so that planes may have any offset and stride.
    private var downstreamReadsMetas = false

    package init(_ layout: FrameLayout) { self.layout = layout }

    deinit { stop(pool) }

    /// Agrees on a pool while allocation is decided, and takes it out of the query: it is ours to start and stop.
    package func decide(_ query: QueryPointer) {
        let old = pool
        defer { stop(old) }
        pool = nil
        var caps: CapsPointer?
        gst_query_parse_allocation(query, &caps, nil)
        downstreamReadsMetas = gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
        guard let caps else { return }
        let request = PoolRequest(caps: caps, readsMetas: downstreamReadsMetas, query: query)
        pool = request.offered(layout.size) ?? request.own(layout.size)
        guard pool != nil else { return }
        while gst_query_get_n_allocation_pools(query) > 0 { gst_query_remove_nth_allocation_pool(query, 0) }
    }

    /// Returns a frame with the timestamps, flags and metas of another. Its pixels are any, as those of an earlier output frame:
    /// all of them are to be drawn.
    package func undrawn(stampedLike original: BufferPointer) throws(FrameFault) -> OwnedBuffer {
        if let pooled = pooled() {
            stamp(pooled.pointer, like: original)
            return pooled
        }
        let fresh = try newBuffer(size: layout.size)
        stamp(fresh.pointer, like: original)
        return fresh
    }

    /// Returns true if downstream can read the frame with its offsets and strides.
    package func areReadable(_ frame: BufferPointer) -> Bool { downstreamReadsMetas || layout.isDefault(for: frame) }

    /// A buffer of the pool; nil where it has none that can be drawn on, or none to spare, for which this does not wait: a stop
    /// must never hang on a buffer that somebody keeps.
    private func pooled() -> OwnedBuffer? {
        guard let pool else { return nil }
        var parameters = GstBufferPoolAcquireParams()
        parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
        var buffer: BufferPointer?
        guard gst_buffer_pool_acquire_buffer(pool, &buffer, &parameters) == GST_FLOW_OK, let buffer else { return nil }
        let result = OwnedBuffer(taking: buffer)
        // A pool may have its own mind about where planes lie, which only a reader of metas can follow.
        guard areReadable(buffer), isCleared(buffer) else { return nil }
        return result
    }

    /// Zeroes what will not be drawn on: it reaches whoever reads the memory as it is. False where that cannot be mapped.
    private func isCleared(_ buffer: BufferPointer) -> Bool {
        if buffer.isPlainMemory && layout.fillsAll(of: buffer) { return true }
        return (try? layout.clearAround(buffer)) ?? false || buffer.clear()
    }
}

private func stop(_ pool: PoolPointer?) {
    guard let pool else { return }
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(pool)
}

/// Buffers of one size for pictures of the element's own, used again when the last holder has dropped them.
///
/// Streaming thread only.
package final class PicturePool {
    private let size: Int
    private let pool: PoolPointer?

    /// - Parameter size: of a buffer, in bytes.
    package init(size: Int) {
        self.size = size
        pool = PicturePool.started(size)
    }

    deinit { stop(pool) }

    private static func started(_ size: Int) -> PoolPointer? {
        guard let pool = gst_buffer_pool_new(), let configuration = gst_buffer_pool_get_config(pool) else { return nil }
        var parameters = lineAligned
        gst_buffer_pool_config_set_params(configuration, nil, guint(clamping: size), 0, 0)
        gst_buffer_pool_config_set_allocator(configuration, nil, &parameters)
        if gst_buffer_pool_set_config(pool, configuration) != 0, gst_buffer_pool_set_active(pool, 1) != 0 {
            return pool
        }
        gst_object_unref(pool)
        return nil
    }

    /// A buffer with any content.
    package func buffer() throws(FrameFault) -> OwnedBuffer {
        var buffer: BufferPointer?
        if let pool, gst_buffer_pool_acquire_buffer(pool, &buffer, nil) == GST_FLOW_OK, let buffer {
            return OwnedBuffer(taking: buffer)
        }
        return try newBuffer(size: size)
    }

    /// A buffer with zeros around the picture.
    package func buffer(_ layout: FrameLayout) throws(FrameFault) -> OwnedBuffer {
        let buffer = try buffer()
        if !layout.fillsAll(of: buffer.pointer) { _ = try layout.clearAround(buffer.pointer) }
        return buffer
    }
}

/// The pools that an ALLOCATION query offers.
private struct PoolRequest {
    let caps: CapsPointer
    let readsMetas: Bool
    let query: QueryPointer

    /// The first pool that downstream offers, started.
    func offered(_ size: Int) -> PoolPointer? {
        guard gst_query_get_n_allocation_pools(query) > 0 else { return nil }
        var pool: PoolPointer?
        var bytes: guint = 0
        var least: guint = 0
        var most: guint = 0
        gst_query_parse_nth_allocation_pool(query, 0, &pool, &bytes, &least, &most)
        guard let pool else { return nil }
        return started(pool, bytes: max(bytes, guint(clamping: size)), least: least, most: most)
    }

    func own(_ size: Int) -> PoolPointer? {
        guard let pool = gst_video_buffer_pool_new() else { return nil }
        return started(pool, bytes: guint(clamping: size), least: 0, most: 0, alignment: lineAligned.align)
    }

    /// Configures and starts the pool, or gives it back.
    private func started(
        _ pool: PoolPointer, bytes: guint, least: guint, most: guint,
        alignment: gsize = 0
    ) -> PoolPointer? {
        guard let configuration = gst_buffer_pool_get_config(pool) else { return nil }
        gst_buffer_pool_config_set_params(configuration, caps, bytes, least, most)
        addMemoryWishes(to: configuration, alignment)
        if readsMetas && gst_buffer_pool_has_option(pool, "GstBufferPoolOptionVideoMeta") != 0 {
            gst_buffer_pool_config_add_option(configuration, "GstBufferPoolOptionVideoMeta")
        }
        let isConfigured =
            gst_buffer_pool_set_config(pool, configuration) != 0 || takesItsOwnCounts(pool, bytes, least, most)
        guard isConfigured, gst_buffer_pool_set_active(pool, 1) != 0 else {
            gst_object_unref(pool)
            return nil
        }
        return pool
    }

    /// The allocator, alignment and padding that downstream asks for.
    ///
    /// - Parameter alignment: the least alignment, less one.
    private func addMemoryWishes(to configuration: StructurePointer, _ alignment: gsize) {
        let isAsked = gst_query_get_n_allocation_params(query) > 0
        guard isAsked || alignment > 0 else { return }
        var allocator: UnsafeMutablePointer<GstAllocator>?
        var parameters = GstAllocationParams()
        gst_allocation_params_init(&parameters)
        if isAsked { gst_query_parse_nth_allocation_param(query, 0, &allocator, &parameters) }
        parameters.align |= alignment
        defer { if let allocator { gst_object_unref(allocator) } }
        // Memory that only its maker can allocate is the business of the maker's own pool.
        let isOrdinary = allocator.map { $0.pointee.object.flags & GST_ALLOCATOR_FLAG_CUSTOM_ALLOC.rawValue == 0 }
        guard isOrdinary ?? true else { return }
        gst_buffer_pool_config_set_allocator(configuration, allocator, &parameters)
    }

    /// A pool that cannot do just what was asked has changed its configuration to what it can do: more or fewer
    /// buffers are as good.
    private func takesItsOwnCounts(_ pool: PoolPointer, _ bytes: guint, _ least: guint, _ most: guint) -> Bool {
        guard let changed = gst_buffer_pool_get_config(pool) else { return false }
        guard gst_buffer_pool_config_validate_params(changed, caps, bytes, least, most) != 0 else {
            gst_structure_free(changed)
            return false
        }
        return gst_buffer_pool_set_config(pool, changed) != 0
    }
}
