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

    /// A frame in the request's format, unchanged for as long as the caller keeps it; nil where there is no memory for one
    /// or no way to convert the picture.
    func frame(_ request: Request) -> BufferRef? {
        if let made, made.request.makesSameFrame(as: request) { return made.frame }
        if case .moving = request.source {} else { lastConverted = nil }
        let frame =
            switch request.source {
            case .color, .transparent: colored(request)
            case .still(let picture): still(picture, request)
            case .moving(let picture): moving(picture, request)
            }
        guard let frame else { return nil }
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

    private func colored(_ request: Request) -> BufferRef? {
        let isTransparent = if case .transparent = request.source { true } else { false }
        let color = isTransparent ? request.color & 0x00ff_ffff : request.color
        // A few rows are converted, and the first of them is repeated: this is done while a frame waits.
        guard let few = request.format.cut(toRows: 4) else { return nil }
        let strip = Request(format: few, color: request.color, fit: request.fit, source: request.source)
        guard let row = converted(canvas(strip, color: color), strip),
            let frame = newSharedBuffer(size: request.format.layout.size)
        else { return nil }
        let isFilled =
            try? withFrame(reading: row.pointer, few.layout) { row in
                try? withFrame(changing: frame.pointer, request.format.layout) { frame in
                    repeatFirstRow(of: row, over: frame)
                    return true
                }
            }
        return isFilled == true ? frame : nil
    }

    /// Fits a still in RGBA, by the filters that suit stills, then converts it once.
    private func still(_ picture: Picture, _ request: Request) -> BufferRef? {
        guard let rgba = rgba(width: Int(picture.info.width), height: Int(picture.info.height)),
            let source = upright(picture, to: rgba), let target = canvas(request, color: request.color),
            let canvasInfo = self.rgba(width: request.format.width, height: request.format.height)
        else { return nil }
        let sourceLayout = FrameLayout(rgba)
        let isFitted =
            try? withFrame(changing: source.pointer, sourceLayout) { sourcePlanes in
                try? withFrame(changing: target.pointer, FrameLayout(canvasInfo)) { targetPlanes in
                    guard let from = sourcePlanes[0], let to = targetPlanes[0] else { return false }
                    flatten(rgba: from, over: rgbaBytes(argb: request.color))
                    return fitPicture(
                        source: from.readOnly, sourceWidth: sourceLayout.width, sourceHeight: sourceLayout.height,
                        into: to, width: request.format.width, height: request.format.height, fit: request.fit,
                        border: rgbaBytes(argb: request.color))
                }
            }
        guard isFitted == true else { return nil }
        return converted(target, request)
    }

    /// Scales and converts one frame of a stream with GstVideoConverter, which does both in one go; where there is nothing
    /// to be done, the frame itself.
    private func moving(_ picture: Picture, _ request: Request) -> BufferRef? {
        if request.format.hasSamePixels(as: picture.info) && picture.buffer.pointer.isPlainMemory {
            lastConverted = nil
            let isWhole = try? withFrame(reading: picture.buffer.pointer, request.format.layout) { _ in true }
            return isWhole == true ? picture.buffer : nil
        }
        let (from, into) = request.fit.rectangles(
            sourceWidth: Int(picture.info.width), sourceHeight: Int(picture.info.height),
            targetWidth: request.format.width, targetHeight: request.format.height)
        guard let output = memory(ofSize: request.format.layout.size) else { return nil }
        return convert(picture.buffer, picture.info, from: from, to: output, into: into, request)
    }

    /// The last converted picture's memory, if nobody else looks at it any more, or new memory.
    private func memory(ofSize size: Int) -> BufferRef? {
        // Any other frame stays known: should this picture turn out to be faulty, it may be the colour that is shown again.
        if let frame = made?.frame, frame === lastConverted { made = nil }
        let isFree = isKnownUniquelyReferenced(&lastConverted)
        if !isFree || lastConverted.map({ gst_buffer_get_size($0.pointer) }) != gsize(size) {
            lastConverted = newSharedBuffer(size: size)
        }
        return lastConverted
    }

    // MARK: Conversions

    /// A frame-sized RGBA buffer of one colour.
    private func canvas(_ request: Request, color: UInt32) -> BufferRef? {
        guard let info = rgba(width: request.format.width, height: request.format.height),
            let buffer = newSharedBuffer(size: Int(clamping: info.size))
        else { return nil }
        let isFilled = try? withFrame(changing: buffer.pointer, FrameLayout(info)) { planes in
            guard let plane = planes[0] else { return false }
            fill(plane, with: rgbaBytes(argb: color))
            return true
        }
        return isFilled == true ? buffer : nil
    }

    /// A frame-sized RGBA picture in the video's format.
    private func converted(_ canvas: BufferRef?, _ request: Request) -> BufferRef? {
        let whole = PixelRect(x: 0, y: 0, width: request.format.width, height: request.format.height)
        guard let canvas, let info = rgba(width: whole.width, height: whole.height),
            let output = newSharedBuffer(size: request.format.layout.size)
        else { return nil }
        return convert(canvas, info, from: whole, to: output, into: whole, request)
    }

    /// The picture in RGBA, at its own size.
    private func upright(_ picture: Picture, to rgba: GstVideoInfo) -> BufferRef? {
        let whole = PixelRect(x: 0, y: 0, width: Int(rgba.width), height: Int(rgba.height))
        guard
            let converter = PictureConverter(picture.info, to: rgba, from: whole, into: whole, border: 0),
            let output = newSharedBuffer(size: Int(clamping: rgba.size)),
            (try? converter.convert(picture.buffer.pointer, into: output.pointer)) != nil
        else { return nil }
        return output
    }

    private func convert(
        _ input: BufferRef, _ info: GstVideoInfo, from: PixelRect, to output: BufferRef, into: PixelRect,
        _ request: Request
    ) -> BufferRef? {
        let key = ConverterKey(source: info, target: request.format.info, from: from, into: into, border: request.color)
        if converter?.key != key {
            guard
                let fresh = PictureConverter(
                    info, to: request.format.info, from: from, into: into, border: request.color)
            else { return nil }
            converter = (key, fresh)
        }
        guard let converter, (try? converter.converter.convert(input.pointer, into: output.pointer)) != nil else {
            return nil
        }
        return output
    }

    private func rgba(width: Int, height: Int) -> GstVideoInfo? {
        var info = GstVideoInfo()
        guard gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGBA, guint(width), guint(height)) != 0 else {
            return nil
        }
        return info
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
