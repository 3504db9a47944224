package import CGStreamer

/// Registers a GObject class of the tests' own, with the parent's size.
package func registerClass(
    _ name: String, deriving parent: GType, _ initializeClass: GClassInitFunc,
    _ initializeInstance: GInstanceInitFunc? = nil
) -> GType {
    var query = GTypeQuery()
    g_type_query(parent, &query)
    return g_type_register_static_simple(
        parent, "DepthMatteTest\(name)", query.class_size, initializeClass, query.instance_size, initializeInstance,
        GTypeFlags(rawValue: 0))
}

/// Makes an allocator of a class of the tests' own. The caller owns it.
func makeAllocator(of type: GType) -> UnsafeMutablePointer<GstAllocator> {
    guard let allocator = UnsafeMutableRawPointer(g_object_new_with_properties(type, 0, nil, nil)) else {
        preconditionFailure("no memory for an allocator")
    }
    gst_object_ref_sink(allocator)
    return allocator.assumingMemoryBound(to: GstAllocator.self)
}

extension GstVideoAlignment {
    /// Padding about the picture, in pixels, and the alignment of each row, in bytes.
    package init(top: guint = 0, left: guint = 0, bottom: guint = 0, right: guint = 0, rowAlignment: guint) {
        self.init()
        (padding_top, padding_left, padding_bottom, padding_right) = (top, left, bottom, right)
        let mask = rowAlignment - 1
        stride_align = (mask, mask, mask, mask)
    }
}

extension UnsafeMutablePointer<GstBufferPool> {
    /// Makes the pool's pictures have an alignment.
    ///
    /// - Returns: whether the pool takes it.
    package func align(
        _ caps: UnsafeMutablePointer<GstCaps>, size: guint, least: guint = 0, most: guint = 0,
        alignment: GstVideoAlignment
    ) -> Bool {
        guard let configuration = gst_buffer_pool_get_config(self) else { return false }
        gst_buffer_pool_config_set_params(configuration, caps, size, least, most)
        for option in ["GstBufferPoolOptionVideoMeta", "GstBufferPoolOptionVideoAlignment"] {
            gst_buffer_pool_config_add_option(configuration, option)
        }
        var alignment = alignment
        gst_buffer_pool_config_set_video_alignment(configuration, &alignment)
        return gst_buffer_pool_set_config(self, configuration) != 0
    }
}
