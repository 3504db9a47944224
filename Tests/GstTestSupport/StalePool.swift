package import CGStreamer
import GstBridge

/// Offers downstream's own pool in every ALLOCATION query: one whose buffers hold old bytes whenever they are taken, as
/// memory does that is used again.
///
/// - Parameters:
///   - filler: the old bytes.
///   - alignment: padding about the picture that the pool is to have; nil for none.
package func offerStalePool(
    in query: UnsafeMutablePointer<GstQuery>, filler: UInt8, alignment: GstVideoAlignment? = nil
) {
    var caps: UnsafeMutablePointer<GstCaps>?
    var info = GstVideoInfo()
    gst_query_parse_allocation(query, &caps, nil)
    guard let caps, gst_video_info_from_caps(&info, caps) != 0,
        let object = g_object_new_with_properties(poolType, 0, nil, nil)
    else { preconditionFailure("no video caps in the query") }
    let raw = UnsafeMutableRawPointer(object)
    gst_object_ref_sink(raw)
    defer { gst_object_unref(raw) }
    g_object_set_qdata(object, fillerKey, UnsafeMutableRawPointer(bitPattern: UInt(filler)))
    let pool = raw.assumingMemoryBound(to: GstBufferPool.self)
    let size = guint(info.size)
    if let alignment { precondition(pool.align(caps, size: size, alignment: alignment), "the pool cannot be padded") }
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_pool(query, pool, size, 0, 0)
}

extension Recorder.Frame {
    /// True where the frame is one of a pool of `offerStalePool`.
    package var isOfStalePool: Bool {
        withExtendedLifetime(buffer) {
            guard let pool = buffer.pointer.pointee.pool else { return false }
            return g_type_check_instance_is_a(
                UnsafeMutableRawPointer(pool).assumingMemoryBound(to: GTypeInstance.self), poolType) != 0
        }
    }
}

private let fillerKey = g_quark_from_static_string("depthmatte-test-filler")

private let poolType = registerClass(
    "StalePool", deriving: gst_video_buffer_pool_get_type(),
    { classPointer, _ in
        classPointer?.assumingMemoryBound(to: GstBufferPoolClass.self).pointee.acquire_buffer = {
            pool, buffer, parameters in
            let parent = g_type_class_peek(gst_video_buffer_pool_get_type())?
                .assumingMemoryBound(to: GstBufferPoolClass.self)
            let result = parent?.pointee.acquire_buffer?(pool, buffer, parameters) ?? GST_FLOW_ERROR
            if result == GST_FLOW_OK, let pool, let taken = buffer?.pointee {
                let object = UnsafeMutableRawPointer(pool).assumingMemoryBound(to: GObject.self)
                let filler = UInt8(truncatingIfNeeded: UInt(bitPattern: g_object_get_qdata(object, fillerKey)))
                gst_buffer_memset(taken, 0, filler, gst_buffer_get_size(taken))
            }
            return result
        }
    })
