import CGStreamer
import DepthKernels
import GstBridge

/// The inks with which things are drawn on a picture of one format.
struct InkPot {
    let white: Ink
    let black: Ink
    let green: Ink
    let amber: Ink
    let red: Ink

    /// - Returns: nil where there is no memory, or no way to convert a colour to the format.
    init?(_ format: StreamFormat) {
        guard let white = InkPot.ink(0xffff_ffff, format), let black = InkPot.ink(0xff00_0000, format),
            let green = InkPot.ink(0xff30_ff60, format), let amber = InkPot.ink(0xffff_c800, format),
            let red = InkPot.ink(0xffff_3838, format)
        else { return nil }
        (self.white, self.black, self.green, self.amber, self.red) = (white, black, green, amber, red)
    }

    /// Writes a distance beside a place of a picture, in pixels.
    func write(
        _ metres: Double?, at place: Gesture.Place, on canvas: BufferPointer, _ format: StreamFormat
    ) throws(FrameFault) {
        try withFrame(changing: canvas, format.layout) { planes throws(FrameFault) in
            guard
                let painter = Painter(
                    planes, layout: format.format.layout, width: format.width, height: format.height)
            else { throw .wrongShape }
            DigitText(centimetresOf: metres, scale: DigitText.scale(forHeight: format.height))
                .draw(on: painter, besideX: Int(place.x), y: Int(place.y), light: white, dark: black)
        }
    }

    /// Converts a small picture of the colour, and reads it off there.
    private static func ink(_ color: UInt32, _ format: StreamFormat) -> Ink? {
        let side = 16
        let whole = PixelRect(x: 0, y: 0, width: side, height: side)
        var source = GstVideoInfo()
        var target = GstVideoInfo()
        guard gst_video_info_set_format(&source, GST_VIDEO_FORMAT_RGBA, guint(side), guint(side)) != 0,
            gst_video_info_set_format(&target, format.format.format, guint(side), guint(side)) != 0
        else { return nil }
        target.colorimetry = format.info.colorimetry
        target.chroma_site = format.info.chroma_site
        guard let picture = newBuffer(size: Int(clamping: source.size)),
            let converted = newBuffer(size: Int(clamping: target.size)),
            let converter = PictureConverter(source, to: target, from: whole, into: whole, border: nil)
        else { return nil }
        do throws(FrameFault) {
            try withFrame(changing: picture.pointer, FrameLayout(source)) { planes in
                if let plane = planes[0] { fill(plane, with: rgbaBytes(argb: color)) }
            }
            try converter.convert(picture.pointer, into: converted.pointer)
            return try withFrame(reading: converted.pointer, FrameLayout(target)) { planes in
                Ink(firstPixelOf: planes, layout: format.format.layout)
            }
        } catch {
            return nil
        }
    }
}
