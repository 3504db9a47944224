import CGStreamer
import DepthKernels
import GstBridge

/// Brings pictures to the output's format and size, by the property `background-fit`.
///
/// The last result is kept until something that it depends on changes. Streaming thread only.
final class PictureFitter {
    private var made: (key: FrameKey, frame: BufferRef)?
    private var converter: (key: ConverterKey, target: FrameLayout, converter: PictureConverter)?
    /// The last converted picture of a stream, and the last that was drawn with more than the frame shows. Their memory is used
    /// again for the next one.
    private var lastConverted: BufferRef?
    private var lastDrawn: BufferRef?
    private let flattener = Flattener()

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
        lastDrawn = nil
        flattener.reset()
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
        let color = request.colorBelow
        let still = try picture.converted(
            to: .of(deep, width: Int(picture.info.width), height: Int(picture.info.height)))
        try withFrame(changing: still.buffer.pointer, FrameLayout(still.info)) { planes throws(FrameFault) in
            flatten(argb64: try planes.first(), over: rgbaBytes(argb: color))
        }
        let (from, into) = request.rectangles(of: still.info)
        let (drawn, shown) = request.drawing(into)
        let fitted = try still.converted(
            to: .of(deep, width: drawn.width, height: drawn.height), from: from, into: into.moved(by: shown),
            border: color)
        return try fitted.converted(to: request.format.info, from: shown).buffer
    }

    /// Scales and converts one picture of a stream with one GstVideoConverter.
    private func fitMoving(_ original: Picture, _ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        made = nil
        var picture = original
        if original.info.finfo.pointee.hasAlpha {
            guard let format = flattener.format(of: original.info) else { return try fitStill(original, request) }
            let flat = try flattener.flattened(original.buffer.pointer, format, over: request.colorBelow)
            if let flat { picture = Picture(flat, original.info) }
        }
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
        let key = ConverterKey(
            source: picture.info, target: request.format.info, from: from, into: into, border: request.colorBelow)
        let (drawn, shown) = request.drawing(into)
        let isWhole = drawn == Rectangle(width: request.format.width, height: request.format.height)
        if converter?.key != key {
            let canvas = isWhole ? request.format : request.format.sized(drawn.width, drawn.height)
            guard let canvas else { throw .outOfMemory(bytes: drawn.width &* drawn.height) }
            let made = try PictureConverter(
                key.source, to: canvas.info, from: from, into: into.moved(by: shown), border: key.border)
            converter = (key, canvas.layout, made)
        }
        let output = try reuse(&lastConverted, ofSize: request.format.layout.size)
        guard let (_, canvas, converter) = converter else { return output }
        if isWhole {
            try converter.convert(picture.buffer.pointer, into: output.pointer)
            return output
        }
        let larger = try reuse(&lastDrawn, ofSize: canvas.size)
        try converter.convert(picture.buffer.pointer, into: larger.pointer)
        try withFrame(reading: larger.pointer, canvas) { source throws(FrameFault) in
            try withFrame(changing: output.pointer, request.format.layout) { target in
                copy(source, from: (shown.x, shown.y), to: target, layout: request.format.format.layout)
            }
        }
        return output
    }
}

/// Returns a frame's memory if nothing else references it, else new memory, which takes its place.
func reuse(_ frame: inout BufferRef?, ofSize size: Int) throws(FrameFault) -> BufferRef {
    let isFree = isKnownUniquelyReferenced(&frame)
    if isFree, let frame, gst_buffer_get_size(frame.pointer) == gsize(clamping: size) { return frame }
    frame = nil
    let fresh = try newSharedBuffer(size: size)
    frame = fresh
    return fresh
}

/// Lays pictures with an alpha channel over a color, in their own format.
final class Flattener {
    private var blender: (format: StreamFormat, blender: Blender)?
    private let colors = ColorFrames()
    private var last: BufferRef?

    func reset() { (blender, last) = (nil, nil) }

    /// Returns nil for a format that the elements do not work on.
    func format(of info: GstVideoInfo) -> StreamFormat? {
        if let blender, isSame(blender.format.info, info) { return blender.format }
        return try? StreamFormat(info)
    }

    /// Returns the picture over the color; nil where nothing of it is transparent.
    func flattened(
        _ picture: BufferPointer, _ format: StreamFormat, over argb: UInt32
    ) throws(FrameFault) -> BufferRef? {
        guard let own = format.format.alphaChannel else { return nil }
        return try withFrame(reading: picture, format.layout) { source throws(FrameFault) -> BufferRef? in
            if own.isOpaque(source, width: format.width) { return nil }
            let (color, flat) = (try colors.frame(format, argb: argb), try reuse(&last, ofSize: format.layout.size))
            let isDrawn = try withFrame(changing: flat.pointer, format.layout) { target throws(FrameFault) in
                copy(source, to: target)
                return try withFrame(reading: color.pointer, format.layout) { color in
                    blender(format).lay(target, over: color, own: own)
                }
            }
            guard isDrawn else { throw undrawnCanvas }
            return flat
        }
    }

    private func blender(_ format: StreamFormat) -> Blender {
        if let blender, blender.format.isSame(as: format) { return blender.blender }
        let made = Blender(layout: format.format.layout, width: format.width, height: format.height)
        blender = (format, made)
        return made
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
    /// `background-color`, on which a picture with alpha lies; opaque where the frame cannot be otherwise.
    fileprivate var colorBelow: UInt32 {
        settings.backgroundColor | (format.format.alphaChannel == nil ? 0xff00_0000 : 0)
    }

    /// The part of a picture that is drawn, and its place in the frame.
    fileprivate func rectangles(of picture: GstVideoInfo) -> (from: Rectangle<Int>, into: Rectangle<Int>) {
        settings.backgroundFit.rectangles(
            sourceWidth: Int(picture.width), sourceHeight: Int(picture.height), targetWidth: format.width,
            targetHeight: format.height, pixelAspect: picture.pixelAspect / format.info.pixelAspect)
    }

    /// The canvas that a rectangle is drawn on where it reaches beyond the frame, and the frame's place on it, at whole samples of
    /// the colors.
    fileprivate func drawing(_ into: Rectangle<Int>) -> (canvas: Rectangle<Int>, shown: Rectangle<Int>) {
        let (x, y) = ((max(-into.x, 0) + 1) & ~1, (max(-into.y, 0) + 1) & ~1)
        return (
            Rectangle(width: format.width + 2 * x, height: format.height + 2 * y),
            Rectangle(x: x, y: y, width: format.width, height: format.height)
        )
    }
}

extension Rectangle<Int> {
    fileprivate func moved(by other: Rectangle<Int>) -> Rectangle<Int> {
        Rectangle(x: x + other.x, y: y + other.y, width: width, height: height)
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
