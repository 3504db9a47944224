import CGStreamer
import DepthKernels
import GstBridge

/// Brings pictures to the output's format and size, by the property `background-fit`.
///
/// The last result is kept until something that it depends on changes. Streaming thread only.
final class PictureFitter {
    private var made: (key: FrameKey, frame: BufferRef)?
    private var converter: (key: ConverterKey, converter: PictureConverter)?
    /// The last converted picture of a stream. Its memory is used again for the next one.
    private var lastConverted: BufferRef?

    /// Returns a picture that stays, in the request's format.
    func still(_ picture: Picture, _ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        let key = FrameKey(picture, isStill: true, request)
        if let made, made.key.makesSameFrame(as: key) { return made.frame }
        lastConverted = nil
        let frame = try fitStill(picture, request)
        made = (key, frame)
        return frame
    }

    /// Returns one picture of a stream, in the request's format: the picture itself where it has that format already.
    func moving(_ picture: Picture, _ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        let key = FrameKey(picture, isStill: false, request)
        if let made, made.key.makesSameFrame(as: key) { return made.frame }
        let frame = try fitMoving(picture, request)
        made = (key, frame)
        return frame
    }

    /// Releases every picture.
    func reset() {
        made = nil
        converter = nil
        lastConverted = nil
    }

    /// Scales a still in ARGB64, then converts it.
    ///
    /// Transparent stills are laid over the color first, or the hidden colors of clear pixels would show at edges.
    /// The pixels have 16 bits for each component because GstVideoConverter rounds the weights of its 8-bit filters to
    /// 1/64, which draws lines on a plain still. ARGB64, because it reads other formats of 16 bits from the wrong column
    /// where a part is cut out. Its default is a cubic filter (Mitchell and Netravali, 1988) that grows as wide as the
    /// still is shrunk, up to 128 samples, so fine patterns turn gray and leave no moire.
    private func fitStill(_ picture: Picture, _ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        let deep = GST_VIDEO_FORMAT_ARGB64
        let color = request.settings.backgroundColor
        let still = try picture.converted(
            to: .of(deep, width: Int(picture.info.width), height: Int(picture.info.height)))
        try withFrame(changing: still.buffer.pointer, FrameLayout(still.info)) { planes throws(FrameFault) in
            flatten(argb64: try planes.first(), over: rgbaBytes(argb: color))
        }
        let (from, into) = request.rectangles(of: still.info)
        let fitted = try still.converted(
            to: .of(deep, width: request.format.width, height: request.format.height), from: from, into: into,
            border: color)
        return try fitted.converted(to: request.format.info).buffer
    }

    /// Scales and converts one picture of a stream with one GstVideoConverter.
    private func fitMoving(_ picture: Picture, _ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        if request.format.hasSamePixels(as: picture.info) && picture.buffer.pointer.isPlainMemory {
            lastConverted = nil
            // Throws for a faulty buffer.
            try withFrame(reading: picture.buffer.pointer, request.format.layout) { _ in }
            return picture.buffer
        }
        let (from, into) = request.rectangles(of: picture.info)
        // GstVideoConverter 1.22 cuts a part of v210, RGBA64 and a dozen like them from a wrong column, partly beyond their
        // memory: all those have a pixel stride of 0 or 8.
        if from.x > 0, [0, 8].contains(picture.info.finfo.pointee.pixel_stride.0) {
            return try fitStill(picture, request)
        }
        let output = try memory(ofSize: request.format.layout.size)
        let key = ConverterKey(
            source: picture.info, target: request.format.info, from: from, into: into,
            border: request.settings.backgroundColor)
        if converter?.key != key {
            let fresh = try PictureConverter(
                key.source, to: key.target, from: from, into: into, border: key.border)
            converter = (key, fresh)
        }
        try converter?.converter.convert(picture.buffer.pointer, into: output.pointer)
        return output
    }

    /// Returns the memory of the last converted picture if nothing else references it, else new memory.
    private func memory(ofSize size: Int) throws(FrameFault) -> BufferRef {
        made = nil
        let isFree = isKnownUniquelyReferenced(&lastConverted)
        if isFree, let lastConverted, gst_buffer_get_size(lastConverted.pointer) == gsize(clamping: size) {
            return lastConverted
        }
        lastConverted = nil
        let fresh = try newSharedBuffer(size: size)
        lastConverted = fresh
        return fresh
    }
}

extension Picture {
    static func blank(_ format: GstVideoFormat, width: Int, height: Int) throws(FrameFault) -> Picture {
        let info = try GstVideoInfo.of(format, width: width, height: height)
        return Picture(try newSharedBuffer(size: Int(clamping: info.size)), info)
    }

    /// Converts the rectangle `from` of the picture into the rectangle `into` of a new one; nil means all of it.
    func converted(
        to target: GstVideoInfo, from: Rectangle<Int>? = nil, into: Rectangle<Int>? = nil, border: UInt32? = nil
    ) throws(FrameFault) -> Picture {
        let output = try newSharedBuffer(size: Int(clamping: target.size))
        try PictureConverter(info, to: target, from: from, into: into, border: border)
            .convert(buffer.pointer, into: output.pointer)
        return Picture(output, target)
    }
}

extension BackdropRequest {
    /// The part of a picture that is shown, and its place in the frame.
    fileprivate func rectangles(of picture: GstVideoInfo) -> (from: Rectangle<Int>, into: Rectangle<Int>) {
        settings.backgroundFit.rectangles(
            sourceWidth: Int(picture.width), sourceHeight: Int(picture.height), targetWidth: format.width,
            targetHeight: format.height)
    }
}

extension StreamFormat {
    /// Returns true if a picture needs no conversion to have this format.
    fileprivate func hasSamePixels(as other: GstVideoInfo) -> Bool {
        var other = other
        // These change no pixel.
        let variable = GST_VIDEO_FLAG_VARIABLE_FPS.rawValue
        other.flags = GstVideoFlags(rawValue: other.flags.rawValue & ~variable | info.flags.rawValue & variable)
        other.fps_n = info.fps_n
        other.fps_d = info.fps_d
        other.par_n = info.par_n
        other.par_d = info.par_d
        other.interlace_mode = info.interlace_mode
        return GstBridge.isSame(info, other)
    }
}

/// Everything that a fitted picture depends on.
private struct FrameKey {
    private let picture: BufferRef
    private let isStill: Bool
    private let format: StreamFormat
    private let color: UInt32
    private let fit: PictureFit

    init(_ picture: Picture, isStill: Bool, _ request: BackdropRequest) {
        self.picture = picture.buffer
        self.isStill = isStill
        (format, color, fit) = (request.format, request.settings.backgroundColor, request.settings.backgroundFit)
    }

    func makesSameFrame(as other: FrameKey) -> Bool {
        picture === other.picture && isStill == other.isStill && format.isSame(as: other.format) && color == other.color
            && fit == other.fit
    }
}

/// The formats, areas and border of a GstVideoConverter.
private struct ConverterKey: Equatable {
    let source: GstVideoInfo
    let target: GstVideoInfo
    let from: Rectangle<Int>
    let into: Rectangle<Int>
    let border: UInt32

    static func == (one: ConverterKey, two: ConverterKey) -> Bool {
        isSame(one.source, two.source) && isSame(one.target, two.target) && one.from == two.from
            && one.into == two.into && one.border == two.border
    }
}
