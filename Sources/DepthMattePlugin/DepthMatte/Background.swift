import CGStreamer
import DepthKernels
import GstBridge

/// What lies behind the person: frames in the video's own format and size, ready to be blended.
///
/// A still, or a colour, is converted once and kept until something that it depends on changes. A stream's picture that is
/// in the right form already is taken as it is, without a copy. Streaming thread only.
final class Background {
    /// What a frame is asked for.
    struct Request {
        let format: StreamFormat
        let color: UInt32
        let fit: PictureFit
        var source: Source
    }

    enum Source {
        case color
        /// Fully transparent, with the colour beneath.
        case transparent
        /// A picture that stays.
        case still(Picture)
        /// A picture of a stream, replaced soon.
        case moving(Picture)
    }

    private var made: (request: Request, frame: BufferRef)?
    private var converter: (key: ConverterKey, converter: PictureConverter)?
    /// What the last picture of a stream was converted to: memory for the next one.
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
        let strip = Request(format: few, color: request.color, fit: request.fit, source: request.source)
        let row = try converted(try canvas(strip, color: color), strip)
        let frame = try newSharedBuffer(size: request.format.layout.size)
        try withFrame(reading: row.pointer, few.layout) { row throws(FrameFault) in
            try withFrame(changing: frame.pointer, request.format.layout) { repeatFirstRow(of: row, over: $0) }
        }
        return frame
    }

    /// Fits a still in RGBA, by the filters that suit stills, then converts it once.
    private func still(_ picture: Picture, _ request: Request) throws(FrameFault) -> BufferRef {
        let rgba = try GstVideoInfo.of(
            GST_VIDEO_FORMAT_RGBA, width: Int(picture.info.width), height: Int(picture.info.height))
        let source = try upright(picture, to: rgba)
        let target = try canvas(request, color: request.color)
        let (sourceLayout, targetLayout) = (FrameLayout(rgba), FrameLayout(try canvasInfo(request)))
        try withFrame(changing: source.pointer, sourceLayout) { sourcePlanes throws(FrameFault) in
            try withFrame(changing: target.pointer, targetLayout) { targetPlanes throws(FrameFault) in
                let from = try sourcePlanes.first()
                flatten(rgba: from, over: rgbaBytes(argb: request.color))
                let isFitted = fitPicture(
                    source: from.readOnly, sourceWidth: sourceLayout.width, sourceHeight: sourceLayout.height,
                    into: try targetPlanes.first(), width: request.format.width, height: request.format.height,
                    fit: request.fit, border: rgbaBytes(argb: request.color))
                if !isFitted { throw .contradiction("a still has other planes than its format") }
            }
        }
        return try converted(target, request)
    }

    /// Scales and converts one frame of a stream with GstVideoConverter, which does both in one go; where there is nothing
    /// to be done, the frame itself.
    private func moving(_ picture: Picture, _ request: Request) throws(FrameFault) -> BufferRef {
        if request.format.hasSamePixels(as: picture.info) && picture.buffer.pointer.isPlainMemory {
            lastConverted = nil
            try withFrame(reading: picture.buffer.pointer, request.format.layout) { _ in }
            return picture.buffer
        }
        let (from, into) = request.fit.rectangles(
            sourceWidth: Int(picture.info.width), sourceHeight: Int(picture.info.height),
            targetWidth: request.format.width, targetHeight: request.format.height)
        let output = try memory(ofSize: request.format.layout.size)
        try convert(picture.buffer, picture.info, from: from, to: output, into: into, request)
        return output
    }

    /// The last converted picture's memory, if nobody else looks at it any more, or new memory.
    private func memory(ofSize size: Int) throws(FrameFault) -> BufferRef {
        // Any other frame stays known: should this picture turn out to be faulty, it may be the colour that is shown again.
        if let frame = made?.frame, frame === lastConverted { made = nil }
        let isFree = isKnownUniquelyReferenced(&lastConverted)
        if isFree, let lastConverted, gst_buffer_get_size(lastConverted.pointer) == gsize(size) { return lastConverted }
        lastConverted = nil
        let fresh = try newSharedBuffer(size: size)
        lastConverted = fresh
        return fresh
    }

    // MARK: Conversions

    /// What is fitted and coloured before it is converted: RGBA of the frame's size.
    private func canvasInfo(_ request: Request) throws(FrameFault) -> GstVideoInfo {
        try GstVideoInfo.of(GST_VIDEO_FORMAT_RGBA, width: request.format.width, height: request.format.height)
    }

    /// Such a canvas of one colour.
    private func canvas(_ request: Request, color: UInt32) throws(FrameFault) -> BufferRef {
        let info = try canvasInfo(request)
        let buffer = try newSharedBuffer(size: Int(clamping: info.size))
        try withFrame(changing: buffer.pointer, FrameLayout(info)) { planes throws(FrameFault) in
            fill(try planes.first(), with: rgbaBytes(argb: color))
        }
        return buffer
    }

    /// A canvas in the video's format.
    private func converted(_ canvas: BufferRef, _ request: Request) throws(FrameFault) -> BufferRef {
        let whole = PixelRect(x: 0, y: 0, width: request.format.width, height: request.format.height)
        let output = try newSharedBuffer(size: request.format.layout.size)
        try convert(canvas, try canvasInfo(request), from: whole, to: output, into: whole, request)
        return output
    }

    /// The picture in RGBA, at its own size.
    private func upright(_ picture: Picture, to rgba: GstVideoInfo) throws(FrameFault) -> BufferRef {
        let whole = PixelRect(x: 0, y: 0, width: Int(rgba.width), height: Int(rgba.height))
        let converter = try PictureConverter(picture.info, to: rgba, from: whole, into: whole, border: 0)
        let output = try newSharedBuffer(size: Int(clamping: rgba.size))
        try converter.convert(picture.buffer.pointer, into: output.pointer)
        return output
    }

    private func convert(
        _ input: BufferRef, _ info: GstVideoInfo, from: PixelRect, to output: BufferRef, into: PixelRect,
        _ request: Request
    ) throws(FrameFault) {
        let key = ConverterKey(source: info, target: request.format.info, from: from, into: into, border: request.color)
        if let converter, converter.key == key {
            return try converter.converter.convert(input.pointer, into: output.pointer)
        }
        let fresh = try PictureConverter(info, to: request.format.info, from: from, into: into, border: request.color)
        converter = (key, fresh)
        try fresh.convert(input.pointer, into: output.pointer)
    }
}

extension Background.Request {
    /// Whether a frame made for this request serves the other one too.
    fileprivate func makesSameFrame(as other: Background.Request) -> Bool {
        format.isSame(as: other.format) && color == other.color && fit == other.fit && source.isSame(as: other.source)
    }
}

extension StreamFormat {
    /// Whether a picture needs no conversion to have this format.
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

/// What a GstVideoConverter was made for.
private struct ConverterKey: Equatable {
    let source: GstVideoInfo
    let target: GstVideoInfo
    let from: PixelRect
    let into: PixelRect
    let border: UInt32

    static func == (one: ConverterKey, two: ConverterKey) -> Bool {
        isSame(one.source, two.source) && isSame(one.target, two.target) && one.from == two.from
            && one.into == two.into && one.border == two.border
    }
}

extension PictureFit {
    /// Which part of the source goes to which part of the target.
    fileprivate func rectangles(
        sourceWidth: Int, sourceHeight: Int, targetWidth: Int, targetHeight: Int
    ) -> (from: PixelRect, into: PixelRect) {
        let source = PixelRect(x: 0, y: 0, width: sourceWidth, height: sourceHeight)
        let target = PixelRect(x: 0, y: 0, width: targetWidth, height: targetHeight)
        switch self {
        case .stretch: return (source, target)
        case .cover: return (source.middle(aspect: target), target)
        case .contain: return (source, target.middle(aspect: source))
        }
    }
}

extension PixelRect {
    /// The largest rectangle in the middle of this one with the other's aspect.
    fileprivate func middle(aspect other: PixelRect) -> PixelRect {
        let scale = min(Double(width) / Double(other.width), Double(height) / Double(other.height))
        let innerWidth = min(width, max(1, Int((Double(other.width) * scale).rounded())))
        let innerHeight = min(height, max(1, Int((Double(other.height) * scale).rounded())))
        return PixelRect(
            x: (width - innerWidth) / 2, y: (height - innerHeight) / 2, width: innerWidth, height: innerHeight)
    }
}

/// A colour property's value as the bytes of an RGBA pixel.
func rgbaBytes(argb: UInt32) -> SIMD4<UInt8> {
    SIMD4(
        UInt8(truncatingIfNeeded: argb >> 16), UInt8(truncatingIfNeeded: argb >> 8), UInt8(truncatingIfNeeded: argb),
        UInt8(truncatingIfNeeded: argb >> 24))
}
