import CGStreamer
import DepthKernels
import GstBridge

/// Draws video and its depth map into the halves of one picture. Made when caps are negotiated.
///
/// Streaming thread only.
final class Packer {
    let output: StreamFormat
    let layout: PackedLayout
    let frames: OutputFrames
    /// The size of a half.
    let halfWidth: Int
    let halfHeight: Int
    private let halves: (color: Rectangle<Int>, depth: Rectangle<Int>)
    private let colors: VideoColors
    private let matrix: LumaMatrix
    private let converter: PictureConverter
    private var writer = CodedDepthWriter()

    /// - Throws: a sentence where a picture of this size has no two halves.
    init(_ video: GstVideoInfo, to output: StreamFormat, _ layout: PackedLayout) throws(CapsRefusal) {
        guard let halves = layout.halves(output.width, output.height), let colors = output.colors else {
            throw CapsRefusal(oddHalf(output.width, output.height))
        }
        do throws(FrameFault) {
            converter = try PictureConverter(video, to: output.info, into: halves.color)
        } catch {
            throw CapsRefusal("\(error)")
        }
        (self.output, self.layout, self.halves, self.colors) = (output, layout, halves, colors)
        (halfWidth, halfHeight) = (halves.color.width, halves.color.height)
        matrix = LumaMatrix(output.info)
        frames = OutputFrames(output.layout)
    }

    /// Draws the color half.
    func draw(_ video: BufferPointer, on canvas: BufferPointer) throws(FrameFault) {
        try converter.convert(video, into: canvas)
    }

    func drawBlack(on canvas: BufferPointer) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { planes in
            for index in 0..<planes.count {
                if let plane = planes[index] { fill(plane, with: index == 0 ? 16 : 128) }
            }
        }
    }

    /// Draws the depth half.
    ///
    /// - Parameter depth: nil leaves everything not measured.
    func draw(_ depth: DepthFrame?, _ coding: DepthCoding, _ span: DepthSpan, on canvas: BufferPointer)
        throws(FrameFault)
    {
        guard let depth else { return try write(nil, coding, span, on: canvas) }
        try depth.withImage { image throws(FrameFault) in
            let placement = depth.placement(videoWidth: halfWidth, videoHeight: halfHeight)
            try write((image, depth.reading.scale, placement), coding, span, on: canvas)
        }
    }

    private func write(
        _ depth: CodedDepthWriter.Map?, _ coding: DepthCoding, _ span: DepthSpan, on canvas: BufferPointer
    ) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { planes throws(FrameFault) in
            guard writer.write(depth, coding, span, matrix, into: planes, halves.depth, colors) else {
                throw .contradiction("the picture is smaller than its format")
            }
        }
    }
}

/// The reasons why a video cannot be put into a picture with its depth, and why a picture has no two halves.
func oddSides(_ width: Int, _ height: Int) -> String {
    "\(width)x\(height) has an odd side; scale the video to even width and height"
}
func oddHalf(_ width: Int, _ height: Int) -> String {
    "a picture of \(width)x\(height) has no two halves with even sides"
}

extension LumaMatrix {
    init(_ info: GstVideoInfo) {
        var (red, blue) = (0.299, 0.114)
        gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &red, &blue)
        self.init(red: red, blue: blue, isLimited: info.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255)
    }
}
