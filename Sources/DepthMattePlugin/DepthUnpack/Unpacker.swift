import CGStreamer
import DepthKernels
import GstBridge

/// Takes video and depth out of the halves of a picture. Made when caps are decided.
///
/// Streaming thread only.
final class Unpacker {
    let description: DepthVideoTag
    let frames: OutputFrames
    let maps: OutputFrames
    /// The size of a half.
    let width: Int
    let height: Int
    /// Bytes that the kernels may come to need.
    var kernelMemory: Int { KernelMemory.colors(depth: .init(map), canvas: .init(input.layout)) }
    private let input: StreamFormat
    private let video: StreamFormat
    private let map: FrameLayout
    private let halves: (color: Rectangle<Int>, depth: Rectangle<Int>)
    private let colors: VideoColors
    private let matrix: LumaMatrix
    private var reader = CodedDepthReader()

    /// - Throws: a sentence where a picture of this size has no two halves.
    init(_ input: StreamFormat, _ description: DepthVideoTag) throws(CapsRefusal) {
        guard let halves = description.layout.halves(input.width, input.height), let colors = input.colors,
            let video = input.sized(halves.color.width, halves.color.height),
            let map = try? GstVideoInfo.of(
                GST_VIDEO_FORMAT_GRAY16_LE, width: halves.depth.width, height: halves.depth.height)
        else { throw CapsRefusal(oddHalf(input.width, input.height)) }
        (self.input, self.video, self.description, self.halves, self.colors) = (
            input, video, description, halves, colors
        )
        (width, height) = (halves.color.width, halves.color.height)
        self.map = FrameLayout(map)
        matrix = LumaMatrix(input.info)
        frames = OutputFrames(video.layout)
        maps = OutputFrames(self.map)
    }

    /// The caps of one half, whose ownership passes to the caller.
    func caps(isDepth: Bool, like input: CapsPointer) -> CapsPointer? {
        let rate = input.fraction("framerate") ?? (0, 1)
        guard !isDepth else {
            return gst_caps_from_string(
                "video/x-raw, format=(string)GRAY16_LE, width=(int)\(width), height=(int)\(height), "
                    + "framerate=(fraction)\(rate.0)/\(rate.1)")
        }
        guard let caps = gst_caps_copy(input), let structure = gst_caps_get_structure(caps, 0) else { return nil }
        structure.set("width", toInt: width)
        structure.set("height", toInt: height)
        return caps
    }

    /// The color half.
    ///
    /// - Parameter isShared: true where it may be the input's own memory, which downstream must be able to read; else it is a copy.
    func video(of buffer: BufferPointer, isShared: Bool) throws(FrameFault) -> OwnedBuffer {
        if isShared, let part = try input.layout.part(of: buffer, halves.color, input.format.layout, video.info),
            frames.areReadable(part.pointer)
        {
            return part
        }
        let frame = try frames.undrawn(stampedLike: buffer)
        frame.pointer.removePlacedMetas()
        try withFrame(reading: buffer, input.layout) { source throws(FrameFault) in
            try withFrame(changing: frame.pointer, video.layout) { target in
                copy(source, from: (halves.color.x, halves.color.y), to: target, layout: input.format.layout)
            }
        }
        return frame
    }

    /// The depth half, in millimetres.
    func depth(of buffer: BufferPointer, _ edges: CodedEdges) throws(FrameFault) -> OwnedBuffer {
        let result = try maps.undrawn(stampedLike: buffer)
        result.pointer.removePlacedMetas()
        try withFrame(reading: buffer, input.layout) { source throws(FrameFault) in
            try withFrame(changing: result.pointer, map) { target throws(FrameFault) in
                let isRead = reader.read(
                    source, halves.depth, colors, description.coding, description.span, matrix, edges,
                    into: try target.first())
                guard isRead else { throw .contradiction("the picture is smaller than its format") }
            }
        }
        return result
    }
}
