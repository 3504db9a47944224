import CGStreamer
import DepthKernels
import GstBridge

/// Attaches mattes to output buffers (property `attach-matte`).
///
/// The custom meta `DepthMatteMeta` has a structure with the field `matte`: a GstSample of GRAY8 with the size of the video,
/// one byte of alpha a pixel. The meta's tags make elements that change the picture's size or orientation drop it. Where
/// GStreamer has GstAnalyticsSegmentationMtd (1.26), that is added too; it knows regions, not alpha, so its mask is 1 where alpha
/// is at least a half.
///
/// Streaming thread only.
final class MatteMeta {
    private let layout: FrameLayout
    private let info: GstVideoInfo
    private let caps: CapsRef
    private let pool: PicturePool

    /// - Parameters:
    ///   - width, height: of the video, in pixels.
    init(width: Int, height: Int) throws(FrameFault) {
        info = try GstVideoInfo.of(GST_VIDEO_FORMAT_GRAY8, width: width, height: height)
        layout = FrameLayout(info)
        var info = info
        guard let caps = gst_video_info_to_caps(&info) else { throw .outOfMemory(bytes: 0) }
        self.caps = CapsRef(taking: caps)
        pool = PicturePool(size: layout.size)
    }

    /// Attaches a matte to a writable buffer.
    ///
    /// - Parameter alpha: nil where everything is background.
    func attach(_ alpha: Plane?, to buffer: BufferPointer) throws(FrameFault) {
        let matte = try picture(of: alpha, DepthKernels.copy)
        (matte.pointer.pointee.pts, matte.pointer.pointee.duration) = (buffer.pointee.pts, buffer.pointee.duration)
        MatteMeta.meta.attach(matte.pointer, caps.pointer, to: buffer)
        guard let analytics = Analytics.library, analytics.takesMasks else { return }
        let mask = try picture(of: alpha, threshold)
        gst_buffer_add_video_meta(
            mask.pointer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, guint(clamping: layout.width),
            guint(clamping: layout.height))
        analytics.add(mask: mask, width: layout.width, height: layout.height, to: buffer)
    }

    /// Returns a buffer that is drawn from the alpha; black without any.
    private func picture(of alpha: Plane?, _ draw: (Plane, MutablePlane) -> Void) throws(FrameFault) -> OwnedBuffer {
        let buffer = try pool.buffer(layout)
        try withFrame(changing: buffer.pointer, layout) { planes throws(FrameFault) in
            let target = try planes.first()
            if let alpha { draw(alpha, target) } else { fill(target, with: 0) }
        }
        return buffer
    }

    private static let meta = SampleMeta("DepthMatteMeta", field: "matte") { _, _ in false }
}
