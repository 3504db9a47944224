import CGStreamer
import GstBridge

/// Where the frames that leave come from, and how they must lie in memory.
///
/// Streaming thread only.
final class OutputFrames {
    let layout: FrameLayout
    /// Nil before the allocation query, and if no pool can be made.
    private var pool: FramePool?
    /// True if downstream supports GstVideoMeta, so that planes may have any offset and stride.
    private(set) var downstreamReadsMetas = false

    init(_ layout: FrameLayout) { self.layout = layout }

    /// Takes over the result of an allocation query.
    func decide(_ query: QueryPointer) {
        downstreamReadsMetas = gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
        pool = FramePool(query, layout)
    }

    /// Returns a frame with the timestamps, flags and metas of another. Its pixels are any, as those of an earlier output frame:
    /// all of them are to be drawn.
    func undrawn(stampedLike original: BufferPointer) throws(FrameFault) -> OwnedBuffer {
        if let pooled = pool?.buffer(stampedLike: original) { return pooled }
        return try newBuffer(size: layout.size, stampedLike: original)
    }

    /// Returns true if downstream can read the frame with its offsets and strides.
    func areReadable(_ frame: BufferPointer) -> Bool { downstreamReadsMetas || layout.isDefault(for: frame) }
}
