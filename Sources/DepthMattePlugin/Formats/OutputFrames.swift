import CGStreamer
import GstBridge

/// Where the frames that leave come from, and how they must lie in memory.
///
/// Streaming thread only.
final class OutputFrames {
    let layout: FrameLayout
    /// Nil until allocation is decided, and where no pool can be had.
    private var pool: FramePool?
    /// Whether downstream finds the planes by GstVideoMeta, wherever they lie.
    private(set) var downstreamReadsMetas = false

    init(_ layout: FrameLayout) { self.layout = layout }

    /// Allocation is decided anew.
    func decide(_ query: UnsafeMutablePointer<GstQuery>) {
        downstreamReadsMetas = gst_query_find_allocation_meta(query, gst_video_meta_api_get_type(), nil) != 0
        pool = FramePool(query, layout)
    }

    /// A frame with the timestamps, flags and metas of another and nothing of its picture.
    func blank(stampedLike original: BufferPointer) throws(FrameFault) -> OwnedBuffer {
        if let pooled = pool?.buffer(stampedLike: original) { return pooled }
        return try newBuffer(size: layout.size, stampedLike: original)
    }

    /// Whether downstream can read the frame as it lies in memory.
    func areReadable(_ frame: BufferPointer) -> Bool { downstreamReadsMetas || layout.isDefault(for: frame) }
}
