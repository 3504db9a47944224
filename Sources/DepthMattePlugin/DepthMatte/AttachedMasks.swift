import CGStreamer
import DepthKernels
import GstBridge

/// The people in the masks that networks put on buffers (GstAnalyticsSegmentationMtd), as one picture of the whole frame.
struct AttachedMasks {
    /// The most pixels of a side of the picture: those of the grid on which it counts.
    private static let longest = 768

    /// Nil where no mask has a person. Nobody else has the buffer.
    private(set) var picture: (buffer: BufferRef, layout: FrameLayout)?

    /// Draws the masks on a buffer.
    ///
    /// - Parameters:
    ///   - width, height: of the buffer's picture, which shows the whole frame, in pixels.
    ///   - detections: which know the labels of people.
    /// - Throws: what is wrong with a mask, or that there is no memory.
    mutating func add(
        _ analytics: Analytics, on buffer: BufferPointer, width: Int, height: Int, _ detections: Detections
    ) throws(FrameFault) {
        try analytics.forEachMask(on: buffer, { detections.isPerson($0) }) { mask, area, people throws(FrameFault) in
            guard let meta = gst_buffer_get_video_meta(mask)?.pointee else { throw .metaDisagrees }
            let layout = try AttachedMasks.layout(Int(meta.width), Int(meta.height))
            if picture == nil {
                let layout = try AttachedMasks.layout(
                    min(width, AttachedMasks.longest), min(height, AttachedMasks.longest))
                picture = (try newSharedBuffer(size: layout.size), layout)
                picture.map { _ = gst_buffer_memset($0.buffer.pointer, 0, unknownLevel, .max) }
            }
            guard let picture else { return }
            try withFrame(reading: mask, layout) { planes throws(FrameFault) in
                let plane = try planes.first()
                try withFrame(changing: picture.buffer.pointer, picture.layout) { canvas throws(FrameFault) in
                    draw(plane, at: area, of: (width, height), people, on: try canvas.first())
                }
            }
        }
    }

    private static func layout(_ width: Int, _ height: Int) throws(FrameFault) -> FrameLayout {
        FrameLayout(try .of(GST_VIDEO_FORMAT_GRAY8, width: width, height: height))
    }
}
