import CGStreamer
import DepthKernels
import GstBridge

/// The backdrop of the person: frames in the video's own format and size, ready to be blended.
///
/// A still, or a color, is converted once and kept until something that it depends on changes. A stream's picture that is
/// in the right form already is taken as it is, without a copy. Streaming thread only.
final class Background {
    /// The properties and the picture that a frame is made of.
    struct Request {
        let format: StreamFormat
        let color: UInt32
        let fit: PictureFit
        var source: Source
    }

    enum Source {
        case color
        /// Fully transparent, with the color beneath.
        case transparent
        /// A picture that stays.
        case still(Picture)
        /// A picture of a stream, replaced soon.
        case moving(Picture)
    }

    private var made: (request: Request, frame: BufferRef)?
    private var converter: (key: ConverterKey, converter: PictureConverter)?
    /// The last picture of a stream, converted: its memory serves the next one.
    private var lastConverted: BufferRef?

    /// A frame in the request's format, unchanged for as long as the caller keeps it.
    func frame(_ request: Request) throws(FrameFault) -> BufferRef {
        if let made, made.request.makesSameFrame(as: request) { return made.frame }
        if case .moving = request.source {} else { lastConverted = nil }
        let frame =
            switch request.source {
            case .color, .transparent: try colored(request)
            case .still(let picture): try still(picture, request)
            case .moving(let picture): try moving(picture, request)
            }
        made = (request, frame)
        return frame
    }

    /// Forgets every picture.
    func reset() {
        made = nil
        converter = nil
        lastConverted = nil
    }

    // MARK: The kinds of background

    private func colored(_ request: Request) throws(FrameFault) -> BufferRef {
        let isTransparent = if case .transparent = request.source { true } else { false }
        let color = isTransparent ? request.color & 0x00ff_ffff : request.color
        // A few rows are converted, and the first of them is repeated: this is done while a frame waits.
        guard let few = request.format.cut(toRows: 4) else { throw .contradiction("rows of the format have no format") }
        let strip = try Picture.blank(GST_VIDEO_FORMAT_RGBA, width: few.width, height: few.height)
        try withFrame(changing: strip.buffer.pointer, FrameLayout(strip.info)) { planes throws(FrameFault) in
            fill(try planes.first(), with: rgbaBytes(argb: color))
        }
        let row = try strip.converted(to: few.info).buffer
        let frame = try newSharedBuffer(size: request.format.layout.size)
        try withFrame(reading: row.pointer, few.layout) { row throws(FrameFault) in
            try withFrame(changing: frame.pointer, request.format.layout) { repeatFirstRow(of: row, over: $0) }
        }
        return frame
    }

    /// Fits a still in ARGB, then converts it.
    ///
    /// Transparent stills are laid over the color first, or the hidden colors of clear pixels would show at edges.
    /// The pixels have 16 bits for each component because GstVideoConverter rounds the weights of its 8-bit filters to
    /// 1/64, which draws lines on a plain still. ARGB64, because it reads other formats of 16 bits from the wrong column
    /// where a part is cut out. Its default is a cubic filter (Mitchell and Netravali, 1988) that grows as wide as the
    /// still is shrunk, up to 128 samples, so fine patterns turn grey and leave no moire.
    private func still(_ picture: Picture, _ request: Request) throws(FrameFault) -> BufferRef {
        let deep = GST_VIDEO_FORMAT_ARGB64
        let still = try picture.converted(
            to: .of(deep, width: Int(picture.info.width), height: Int(picture.info.height)))
        try withFrame(changing: still.buffer.pointer, FrameLayout(still.info)) { planes throws(FrameFault) in
            flatten(argb64: try planes.first(), over: rgbaBytes(argb: request.color))
        }
        let (from, into) = request.rectangles(of: still.info)
        let fitted = try still.converted(
            to: .of(deep, width: request.format.width, height: request.format.height), from: from, into: into,
            border: request.color)
        return try fitted.converted(to: request.format.info).buffer
    }

    /// Scales and converts one frame of a stream with GstVideoConverter, which does both in one go; where there is nothing
    /// to be done, the frame itself.
    private func moving(_ picture: Picture, _ request: Request) throws(FrameFault) -> BufferRef {
        if request.format.hasSamePixels(as: picture.info) && picture.buffer.pointer.isPlainMemory {
            lastConverted = nil
            try withFrame(reading: picture.buffer.pointer, request.format.layout) { _ in }
            return picture.buffer
        }
        let (from, into) = request.rectangles(of: picture.info)
        // GstVideoConverter 1.22 cuts a part of v210, RGBA64 and a dozen like them from a wrong column, partly beyond their
        // memory: all those have a pixel stride of 0 or 8.
        if from.x > 0, [0, 8].contains(picture.info.finfo.pointee.pixel_stride.0) {
            return try still(picture, request)
        }
        let output = try memory(ofSize: request.format.layout.size)
        let key = ConverterKey(
            source: picture.info, target: request.format.info, from: from, into: into, border: request.color)
        if converter?.key != key {
            let fresh = try PictureConverter(
                key.source, to: key.target, from: from, into: into, border: request.color)
            converter = (key, fresh)
        }
        try converter?.converter.convert(picture.buffer.pointer, into: output.pointer)
        return output
    }

    /// The last converted picture's memory, if nobody else looks at it any more, or new memory.
    private func memory(ofSize size: Int) throws(FrameFault) -> BufferRef {
        // Any other frame stays known: should this picture turn out to be faulty, it may be the color that is shown again.
        if let frame = made?.frame, frame === lastConverted { made = nil }
        let isFree = isKnownUniquelyReferenced(&lastConverted)
        if isFree, let lastConverted, gst_buffer_get_size(lastConverted.pointer) == gsize(size) { return lastConverted }
        lastConverted = nil
        let fresh = try newSharedBuffer(size: size)
        lastConverted = fresh
        return fresh
    }
}

extension Picture {
    fileprivate static func blank(_ format: GstVideoFormat, width: Int, height: Int) throws(FrameFault) -> Picture {
        let info = try GstVideoInfo.of(format, width: width, height: height)
        return Picture(try newSharedBuffer(size: Int(clamping: info.size)), info)
    }

    /// A part of the picture, in a place of a new one; all of it and everywhere if nothing else is said.
    fileprivate func converted(
        to target: GstVideoInfo, from: Rectangle<Int>? = nil, into: Rectangle<Int>? = nil, border: UInt32? = nil
    ) throws(FrameFault) -> Picture {
        let output = try newSharedBuffer(size: Int(clamping: target.size))
        try PictureConverter(info, to: target, from: from, into: into, border: border)
            .convert(buffer.pointer, into: output.pointer)
        return Picture(output, target)
    }
}

extension Background.Request {
    /// Returns true if a frame made for this request serves the other one too.
    fileprivate func makesSameFrame(as other: Background.Request) -> Bool {
        format.isSame(as: other.format) && color == other.color && fit == other.fit && source.isSame(as: other.source)
    }

    /// The part of a picture that is shown, and its place in the frame.
    fileprivate func rectangles(of picture: GstVideoInfo) -> (from: Rectangle<Int>, into: Rectangle<Int>) {
        fit.rectangles(
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

extension Background.Source {
    fileprivate func isSame(as other: Background.Source) -> Bool {
        switch (self, other) {
        case (.color, .color), (.transparent, .transparent): true
        case (.still(let one), .still(let two)), (.moving(let one), .moving(let two)): one.buffer === two.buffer
        default: false
        }
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

/// A color property's value as the bytes of an RGBA pixel.
func rgbaBytes(argb: UInt32) -> SIMD4<UInt8> {
    SIMD4(
        UInt8(truncatingIfNeeded: argb >> 16), UInt8(truncatingIfNeeded: argb >> 8), UInt8(truncatingIfNeeded: argb),
        UInt8(truncatingIfNeeded: argb >> 24))
}
