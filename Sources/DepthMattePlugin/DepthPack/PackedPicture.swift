import CGStreamer
import DepthKernels
import GstBridge

/// A picture that holds video and its depth: its format, and the places of both.
struct PackedPicture {
    let format: StreamFormat
    let halves: (color: Rectangle<Int>, depth: Rectangle<Int>)
    let colors: VideoColors
    let matrix: LumaMatrix

    /// - Throws: a sentence where a picture of this size has no two halves.
    init(_ format: StreamFormat, _ layout: PackedLayout) throws(CapsRefusal) {
        guard let halves = layout.halves(format.width, format.height), let colors = format.colors else {
            throw CapsRefusal("a picture of \(format.width)x\(format.height) has no two halves with even sides")
        }
        var (red, blue) = (0.299, 0.114)
        gst_video_color_matrix_get_Kr_Kb(format.info.colorimetry.matrix, &red, &blue)
        let isLimited = format.info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255
        matrix = LumaMatrix(red: red, blue: blue, isLimited: isLimited)
        (self.format, self.halves, self.colors) = (format, halves, colors)
    }

    /// The size of a half.
    var width: Int { halves.color.width }
    var height: Int { halves.color.height }
}
