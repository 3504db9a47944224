import CGStreamer
import DepthKernels
import GstBridge

/// The colors of marks and digits that are drawn over a picture, as pixels of its format.
struct OverlayColors {
    let white: StoredColor
    let black: StoredColor
    let green: StoredColor
    let amber: StoredColor
    let red: StoredColor

    init(_ format: StreamFormat) throws(FrameFault) {
        white = try OverlayColors.stored(0xffff_ffff, format)
        black = try OverlayColors.stored(0xff00_0000, format)
        green = try OverlayColors.stored(0xff30_ff60, format)
        amber = try OverlayColors.stored(0xffff_c800, format)
        red = try OverlayColors.stored(0xffff_3838, format)
    }

    /// Writes a distance in metres beside a place in pixels; `--` for nil.
    func write(
        _ metres: Double?, at place: Gesture.Place, on canvas: BufferPointer, _ format: StreamFormat
    ) throws(FrameFault) {
        try withFrame(changing: canvas, format.layout) { planes throws(FrameFault) in
            let painter = try painter(planes, format)
            DigitText(centimetresOf: metres, scale: DigitText.scale(forHeight: format.height))
                .draw(on: painter, besideX: Int(place.x), y: Int(place.y), light: white, dark: black)
        }
    }

    /// Converts a small picture of the color, and reads its first pixel.
    private static func stored(_ color: UInt32, _ format: StreamFormat) throws(FrameFault) -> StoredColor {
        let side = 16
        let source = try GstVideoInfo.of(GST_VIDEO_FORMAT_RGBA, width: side, height: side)
        var target = try GstVideoInfo.of(format.format.format, width: side, height: side)
        target.colorimetry = format.info.colorimetry
        target.chroma_site = format.info.chroma_site
        let picture = try newBuffer(size: Int(clamping: source.size))
        let converted = try newBuffer(size: Int(clamping: target.size))
        let converter = try PictureConverter(source, to: target)
        try withFrame(changing: picture.pointer, FrameLayout(source)) { planes throws(FrameFault) in
            fill(try planes.first(), with: rgbaBytes(argb: color))
        }
        try converter.convert(picture.pointer, into: converted.pointer)
        return try withFrame(reading: converted.pointer, FrameLayout(target)) { planes throws(FrameFault) in
            guard let stored = StoredColor(firstPixelOf: planes, layout: format.format.layout) else {
                throw .contradiction("no pixel can be read from a picture of the format")
            }
            return stored
        }
    }
}

func painter(_ planes: Planes<MutablePlane>, _ format: StreamFormat) throws(FrameFault) -> Painter {
    guard let painter = Painter(planes, layout: format.format.layout, width: format.width, height: format.height)
    else { throw .contradiction("the planes to be painted on are not those of the format") }
    return painter
}
