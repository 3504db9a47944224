import CGStreamer
import DepthKernels
import GstBridge

/// `background-mode=color`: a frame of `background-color`. It also stands in for a mode that has nothing to show.
final class ColorBackdrop: BackdropMode {
    static let nick = "color"
    static let blurb = "The color of property background-color"

    private let frames = ColorFrames()

    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? { .picture(try frame(request)) }

    func frame(_ request: BackdropRequest) throws(FrameFault) -> BufferRef {
        try frames.frame(request.format, argb: request.settings.backgroundColor)
    }
}

/// Makes frames of one color, and keeps the last.
final class ColorFrames {
    private var last: (format: StreamFormat, argb: UInt32, frame: BufferRef)?

    func frame(_ format: StreamFormat, argb: UInt32) throws(FrameFault) -> BufferRef {
        if let last, last.argb == argb, last.format.isSame(as: format) { return last.frame }
        let frame = try newFrame(format, argb: argb)
        last = (format, argb, frame)
        return frame
    }

    /// Converts four rows and repeats the first of them: a frame waits for this, and converting all rows takes longer.
    private func newFrame(_ format: StreamFormat, argb: UInt32) throws(FrameFault) -> BufferRef {
        guard let strip = format.cut(toRows: 4) else { throw .contradiction("rows of the format have no format") }
        let rgba = try Picture.blank(GST_VIDEO_FORMAT_RGBA, width: strip.width, height: strip.height)
        try withFrame(changing: rgba.buffer.pointer, FrameLayout(rgba.info)) { planes throws(FrameFault) in
            fill(try planes.first(), with: rgbaBytes(argb: argb))
        }
        let row = try rgba.converted(to: strip.info).buffer
        let frame = try newSharedBuffer(size: format.layout.size)
        try withFrame(reading: row.pointer, strip.layout) { row throws(FrameFault) in
            try withFrame(changing: frame.pointer, format.layout) { repeatFirstRow(of: row, over: $0) }
        }
        return frame
    }
}

/// Returns a color property's value, 0xAARRGGBB, as the bytes of an RGBA pixel.
func rgbaBytes(argb: UInt32) -> SIMD4<UInt8> {
    SIMD4(
        UInt8(truncatingIfNeeded: argb >> 16), UInt8(truncatingIfNeeded: argb >> 8), UInt8(truncatingIfNeeded: argb),
        UInt8(truncatingIfNeeded: argb >> 24))
}
