import CGStreamer
import DepthKernels
import GstBridge

/// Draws video and its depth map into the halves of one picture. Made when caps are negotiated.
///
/// Streaming thread only.
final class Packer {
    let picture: PackedPicture
    let layout: PackedLayout
    let frames: OutputFrames
    private let converter: PictureConverter
    private var writer = CodedDepthWriter()

    /// - Throws: a sentence where a picture of this size has no two halves.
    init(_ video: GstVideoInfo, to output: StreamFormat, _ layout: PackedLayout) throws(CapsRefusal) {
        picture = try PackedPicture(output, layout)
        do throws(FrameFault) {
            converter = try PictureConverter(video, to: output.info, into: picture.halves.color)
        } catch {
            throw CapsRefusal("\(error)")
        }
        self.layout = layout
        frames = OutputFrames(output.layout)
    }

    /// Draws the color half.
    func draw(_ video: BufferPointer, on canvas: BufferPointer) throws(FrameFault) {
        try converter.convert(video, into: canvas)
    }

    func drawBlack(on canvas: BufferPointer) throws(FrameFault) {
        try withFrame(changing: canvas, picture.format.layout) { planes in
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
            let placement = depth.placement(videoWidth: picture.width, videoHeight: picture.height)
            try write((image, depth.reading.scale, placement), coding, span, on: canvas)
        }
    }

    private func write(
        _ depth: CodedDepthWriter.Map?, _ coding: DepthCoding, _ span: DepthSpan, on canvas: BufferPointer
    ) throws(FrameFault) {
        try withFrame(changing: canvas, picture.format.layout) { planes throws(FrameFault) in
            guard writer.write(depth, coding, span, picture.matrix, into: planes, picture.halves.depth, picture.colors)
            else {
                throw .contradiction("the picture is smaller than its format")
            }
        }
    }
}
