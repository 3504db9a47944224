package import CGStreamer

/// Buffers for the frames of one format: from the pool that downstream offers, or one of ours.
///
/// Streaming thread only.
package final class FramePool {
    private let pool: UnsafeMutablePointer<GstBufferPool>
    /// Rows are padded, and what stands in the padding reaches whoever reads the memory as it is.
    private let hasPadding: Bool

    /// Agrees on a pool while allocation is decided, and takes it out of the query: it is ours to start and stop.
    ///
    /// - Returns: nil where no pool can be had; then frames are allocated one by one.
    package init?(_ query: UnsafeMutablePointer<GstQuery>, _ layout: FrameLayout) {
        var caps: UnsafeMutablePointer<GstCaps>?
        gst_query_parse_allocation(query, &caps, nil)
        guard let caps else { return nil }
        let readsMetas = gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
        let request = PoolRequest(caps: caps, readsMetas: readsMetas, query: query)
        guard let pool = request.offered(layout.size) ?? request.own(layout.size) else { return nil }
        self.pool = pool
        hasPadding = layout.planes.contains { $0.stride != $0.rowBytes } || readsMetas
        while gst_query_get_n_allocation_pools(query) > 0 { gst_query_remove_nth_allocation_pool(query, 0) }
    }

    deinit {
        gst_buffer_pool_set_active(pool, 0)
        gst_object_unref(pool)
    }

    /// A buffer with the timestamps, flags and metas of another; nil where the pool has none to spare, for which this
    /// does not wait: a stop must never hang on a buffer that somebody keeps.
    package func buffer(stampedLike original: BufferPointer) -> OwnedBuffer? {
        var parameters = GstBufferPoolAcquireParams()
        parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
        var buffer: BufferPointer?
        guard gst_buffer_pool_acquire_buffer(pool, &buffer, &parameters) == GST_FLOW_OK, let buffer else { return nil }
        let result = OwnedBuffer(taking: buffer)
        if hasPadding { gst_buffer_memset(buffer, 0, 0, gst_buffer_get_size(buffer)) }
        stamp(buffer, like: original)
        return result
    }
}

/// What an ALLOCATION query says of pools.
private struct PoolRequest {
    let caps: UnsafeMutablePointer<GstCaps>
    let readsMetas: Bool
    let query: UnsafeMutablePointer<GstQuery>

    /// The first pool that downstream offers, started.
    func offered(_ size: Int) -> UnsafeMutablePointer<GstBufferPool>? {
        guard gst_query_get_n_allocation_pools(query) > 0 else { return nil }
        var pool: UnsafeMutablePointer<GstBufferPool>?
        var bytes: guint = 0
        var least: guint = 0
        var most: guint = 0
        gst_query_parse_nth_allocation_pool(query, 0, &pool, &bytes, &least, &most)
        guard let pool else { return nil }
        return started(pool, bytes: max(bytes, guint(clamping: size)), least: least, most: most)
    }

    func own(_ size: Int) -> UnsafeMutablePointer<GstBufferPool>? {
        guard let pool = gst_video_buffer_pool_new() else { return nil }
        return started(pool, bytes: guint(clamping: size), least: 0, most: 0)
    }

    /// Configures and starts the pool, or gives it back.
    private func started(
        _ pool: UnsafeMutablePointer<GstBufferPool>, bytes: guint, least: guint, most: guint
    ) -> UnsafeMutablePointer<GstBufferPool>? {
        guard let configuration = gst_buffer_pool_get_config(pool) else { return nil }
        gst_buffer_pool_config_set_params(configuration, caps, bytes, least, most)
        if readsMetas && gst_buffer_pool_has_option(pool, "GstBufferPoolOptionVideoMeta") != 0 {
            gst_buffer_pool_config_add_option(configuration, "GstBufferPoolOptionVideoMeta")
        }
        guard gst_buffer_pool_set_config(pool, configuration) != 0, gst_buffer_pool_set_active(pool, 1) != 0 else {
            gst_object_unref(pool)
            return nil
        }
        return pool
    }
}
