import CGStreamer
import DepthKernels
import GstBridge

/// Takes video and depth out of the halves of a picture. Made when caps are decided.
///
/// Streaming thread only.
final class Unpacker {
    let description: DepthVideoTag
    let picture: PackedPicture
    let frames: OutputFrames
    let maps: OutputFrames
    /// Bytes that the kernels may come to need.
    var kernelMemory: Int { KernelMemory.colors(depth: .init(map), canvas: .init(picture.format.layout)) }
    private let video: StreamFormat
    private let map: FrameLayout
    private var reader = CodedDepthReader()

    /// - Throws: a sentence where a picture of this size has no two halves.
    init(_ input: StreamFormat, _ description: DepthVideoTag) throws(CapsRefusal) {
        picture = try PackedPicture(input, description.layout)
        guard let video = input.sized(picture.width, picture.height),
            let map = try? GstVideoInfo.of(GST_VIDEO_FORMAT_GRAY16_LE, width: picture.width, height: picture.height)
        else { throw CapsRefusal("a half has no size that GStreamer knows") }
        (self.video, self.description, self.map) = (video, description, FrameLayout(map))
        frames = OutputFrames(video.layout)
        maps = OutputFrames(self.map)
    }

    /// The caps of one half, whose ownership passes to the caller.
    func caps(isDepth: Bool, like input: CapsPointer) -> CapsPointer? {
        let rate = input.fraction("framerate") ?? (0, 1)
        guard !isDepth else {
            return gst_caps_from_string(
                "video/x-raw, format=(string)GRAY16_LE, width=(int)\(picture.width), height=(int)\(picture.height), "
                    + "framerate=(fraction)\(rate.0)/\(rate.1)")
        }
        guard let caps = gst_caps_copy(input), let structure = gst_caps_get_structure(caps, 0) else { return nil }
        structure.set("width", toInt: picture.width)
        structure.set("height", toInt: picture.height)
        return caps
    }

    /// The color half.
    ///
    /// - Parameter isShared: true where it may be the input's own memory, which downstream must be able to read; else it is a copy.
    func video(of buffer: BufferPointer, isShared: Bool) throws(FrameFault) -> OwnedBuffer {
        let (place, pixels) = (picture.halves.color, picture.format.format.layout)
        if isShared, let part = try picture.format.layout.part(of: buffer, place, pixels, video.info),
            frames.areReadable(part.pointer)
        {
            return part
        }
        let frame = try frames.undrawn(stampedLike: buffer)
        frame.pointer.removePlacedMetas()
        try withFrame(reading: buffer, picture.format.layout) { source throws(FrameFault) in
            try withFrame(changing: frame.pointer, video.layout) { target in
                copy(source, from: (place.x, place.y), to: target, layout: pixels)
            }
        }
        return frame
    }

    /// The depth half, in millimetres.
    func depth(of buffer: BufferPointer, _ edges: CodedEdges) throws(FrameFault) -> OwnedBuffer {
        let result = try maps.undrawn(stampedLike: buffer)
        result.pointer.removePlacedMetas()
        try withFrame(reading: buffer, picture.format.layout) { source throws(FrameFault) in
            try withFrame(changing: result.pointer, map) { target throws(FrameFault) in
                let isRead = reader.read(
                    source, picture.halves.depth, picture.colors, description.coding, description.span, picture.matrix,
                    edges, into: try target.first())
                guard isRead else { throw .contradiction("the picture is smaller than its format") }
            }
        }
        return result
    }
}
