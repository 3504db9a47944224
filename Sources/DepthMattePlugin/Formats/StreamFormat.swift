package import CGStreamer
import DepthKernels
package import GstBridge

/// The format of a video stream with its derived tables. Made when caps are negotiated, and replaced as a whole.
package struct StreamFormat {
    let info: GstVideoInfo
    package let layout: FrameLayout
    let format: VideoFormat
    /// The positions of a pixel's color components.
    let colors: VideoColors?
    let width: Int
    let height: Int

    package init(_ info: GstVideoInfo) throws(CapsRefusal) {
        guard let format = VideoFormat.of(info.finfo.pointee.format) else {
            throw CapsRefusal("\(String(cString: info.finfo.pointee.name)) is not supported")
        }
        self.info = info
        self.format = format
        layout = FrameLayout(info)
        colors = VideoColors(info)
        width = Int(info.width)
        height = Int(info.height)
    }

    /// The same picture with an alpha channel; nil where the format has no such sibling.
    package var withAlpha: StreamFormat? { format.withAlpha.flatMap { like($0, width, height) } }

    /// The first rows of the picture, as a format of their own.
    package func cut(toRows rows: Int) -> StreamFormat? { sized(width, min(height, rows)) }

    /// The same format in another size.
    func sized(_ width: Int, _ height: Int) -> StreamFormat? { like(format.format, width, height) }

    private func like(_ format: GstVideoFormat, _ width: Int, _ height: Int) -> StreamFormat? {
        guard var info = try? GstVideoInfo.of(format, width: width, height: height) else { return nil }
        info.colorimetry = self.info.colorimetry
        info.chroma_site = self.info.chroma_site
        info.par_n = self.info.par_n
        info.par_d = self.info.par_d
        info.fps_n = self.info.fps_n
        info.fps_d = self.info.fps_d
        return try? StreamFormat(info)
    }

    /// The stored luma of each gray from 0 to 255.
    var grays: GrayTable {
        format.family == .yuv && info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255 ? .videoRange : .fullRange
    }

    func isSame(as other: StreamFormat) -> Bool { GstBridge.isSame(info, other.info) }
}
