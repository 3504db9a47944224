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
        attach(matte, to: buffer)
        guard let analytics = Analytics.library, analytics.takesMasks else { return }
        let mask = try picture(of: alpha, threshold)
        gst_buffer_add_video_meta(
            mask.pointer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, guint(clamping: layout.width),
            guint(clamping: layout.height))
        analytics.add(mask: mask, width: layout.width, height: layout.height, to: buffer)
    }

    private func attach(_ matte: borrowing OwnedBuffer, to buffer: BufferPointer) {
        guard MatteMeta.isRegistered,
            // A frame that came through another such element has its meta, which tells of another picture.
            let meta = gst_buffer_get_custom_meta(buffer, MatteMeta.name)
                ?? gst_buffer_add_custom_meta(buffer, MatteMeta.name),
            let sample = gst_sample_new(matte.pointer, caps.pointer, nil, nil)
        else { return }
        var value = GValue()
        g_value_init(&value, gst_sample_get_type())
        g_value_take_boxed(&value, UnsafeRawPointer(sample))
        gst_structure_take_value(gst_custom_meta_get_structure(meta), MatteMeta.field, &value)
    }

    /// Returns a buffer that is drawn from the alpha; black without any.
    private func picture(
        of alpha: Plane?, _ draw: (Plane, MutablePlane) -> Void
    ) throws(FrameFault) -> OwnedBuffer {
        let buffer = try pool.buffer()
        if !layout.fillsAll(of: buffer.pointer) { _ = try layout.clearAround(buffer.pointer) }
        try withFrame(changing: buffer.pointer, layout) { planes throws(FrameFault) in
            let target = try planes.first()
            if let alpha { draw(alpha, target) } else { fill(target, with: 0) }
        }
        return buffer
    }

    private static let name = "DepthMatteMeta"
    private static let field = "matte"

    private static let isRegistered: Bool = {
        // GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR and GST_META_TAG_VIDEO_ORIENTATION_STR.
        let tags: [StaticString] = ["video", "size", "orientation"]
        var list: [UnsafePointer<CChar>?] = tags.map { $0.characters } + [nil]
        return gst_meta_register_custom(name, &list, transform, nil, nil) != nil
    }()

    /// Copies the meta with its buffer, and drops it where the picture changes. GStreamer's default copies it always.
    private static let transform: GstCustomMetaTransformFunction = { target, meta, _, kind, data, _ in
        // _gst_meta_transform_copy: the quark itself is a mutable global in C.
        guard kind == g_quark_from_static_string("gst-copy"), let target, let meta,
            data?.assumingMemoryBound(to: GstMetaTransformCopy.self).pointee.region == 0,
            let matte = gst_structure_get_value(gst_custom_meta_get_structure(meta), field),
            let copy = gst_buffer_add_custom_meta(target, name)
        else { return 0 }
        gst_structure_set_value(gst_custom_meta_get_structure(copy), field, matte)
        return 1
    }
}
