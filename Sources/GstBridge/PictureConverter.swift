package import CGStreamer
package import DepthKernels

/// Converts frames from one raw format and size to another, with GstVideoConverter.
///
/// Used by one thread at a time.
package final class PictureConverter {
    private let converter: OpaquePointer
    private var source: GstVideoInfo
    private var target: GstVideoInfo
    private let sourceLayout: FrameLayout
    private let targetLayout: FrameLayout
    /// The rectangle whose pixels are drawn with their bytes in reverse order, to be swapped afterwards; nil for none.
    private let turned: Rectangle<Int>?
    /// The area of the alpha plane that is set to 255 after the conversion, because GstVideoConverter leaves it half
    /// transparent; nil for none.
    private let opaque: Rectangle<Int>?

    /// Takes `from` out of each source frame to `into` in the target; the rest of the target gets the border's color.
    ///
    /// - Parameters:
    ///   - from: nil takes the whole source.
    ///   - into: nil fills the whole target.
    ///   - border: 0xAARRGGBB; nil leaves the rest of the target as it is.
    /// - Throws: `noConversion` where GstVideoConverter has no way between the two formats.
    package init(
        _ source: GstVideoInfo, to target: GstVideoInfo, from: Rectangle<Int>? = nil, into: Rectangle<Int>? = nil,
        border: UInt32? = nil
    ) throws(FrameFault) {
        self.source = source
        self.target = target
        sourceLayout = FrameLayout(source)
        targetLayout = FrameLayout(target)
        // GstVideoConverter insists that these agree, though it changes neither.
        self.source.fps_n = target.fps_n
        self.source.fps_d = target.fps_d
        self.source.interlace_mode = target.interlace_mode
        let whole = Rectangle(width: targetLayout.width, height: targetLayout.height)
        let from = from ?? Rectangle(width: sourceLayout.width, height: sourceLayout.height)
        let into = into ?? whole
        // GstVideoConverter draws nothing into one row of its internal formats (ARGB, AYUV). So the picture is drawn in the
        // format with reversed bytes, which are swapped afterwards.
        let reversed = into.height == 1 ? reversedFormat(target.finfo.pointee.format) : nil
        if let reversed { self.target.finfo = gst_video_format_get_info(reversed) }
        turned = reversed.map { _ in border == nil ? into : whole }
        if targetLayout.planes.count == 4 && !source.finfo.pointee.hasAlpha {
            // It begins at whole samples of the colors, which two by two pixels share.
            opaque = Rectangle(x: into.x & ~1, y: into.y & ~1, width: into.width, height: into.height)
        } else {
            opaque = nil
        }
        let border = border.map { target.finfo.pointee.isGray ? grayBorder($0, target.colorimetry) : $0 }
        var choices = [
            "src-x=\(from.x)", "src-y=\(from.y)", "src-width=\(from.width)", "src-height=\(from.height)",
            "dest-x=\(into.x)", "dest-y=\(into.y)", "dest-width=\(into.width)", "dest-height=\(into.height)",
            "border-argb=(uint)\(border ?? 0)", "fill-border=\(border != nil)",
        ]
        if Self.isBeyondFastScaling(self.source, self.target, [from.width, into.width]) {
            // It looks for no fast way where colors are quantized, and quantizes none by this method.
            let method = String(cString: g_type_name(gst_video_dither_method_get_type()))
            choices += ["dither-method=(\(method))none", "dither-quantization=(uint)2"]
        }
        let text = "options" + choices.map { ", GstVideoConverter.\($0)" }.joined()
        guard let options = gst_structure_from_string(text, nil) else {
            throw .contradiction("\(text) is no structure")
        }
        guard let converter = gst_video_converter_new(&self.source, &self.target, options) else {
            throw .noConversion(from: source.formatName, to: target.formatName)
        }
        self.converter = converter
    }

    deinit { gst_video_converter_free(converter) }

    /// True for pictures on which the fast way of GstVideoConverter fails: it scales Y, U and V of a packed 4:2:2 format by one
    /// filter, which it cannot make where half a width has other weights than the whole, and goes on without any. It then
    /// reads beyond the lines (`gst_video_scaler_combine_packed_YUV`, GStreamer 1.22).
    private static func isBeyondFastScaling(_ source: GstVideoInfo, _ target: GstVideoInfo, _ widths: [Int]) -> Bool {
        source.finfo.pointee.isPacked422 && source.finfo.pointee.format == target.finfo.pointee.format
            && widths.contains { $0 % 2 != 0 || $0 < 16 }
    }

    /// Converts one frame. The target must be writable and of the target's size.
    package func convert(_ input: BufferPointer, into output: BufferPointer) throws(FrameFault) {
        try withFrame(reading: input, sourceLayout) { source throws(FrameFault) in
            try withFrame(changing: output, targetLayout) { target throws(FrameFault) in
                var from = frame(source, self.source)
                var into = frame(target.readOnly, self.target)
                gst_video_converter_frame(converter, &from, &into)
                if let turned { reversePixels(of: try target.first(), in: turned) }
                if let opaque, let alpha = target[3] {
                    for y in opaque.y..<(opaque.y + opaque.height) {
                        (alpha.row(y) + opaque.x).initializeMemory(as: UInt8.self, repeating: 255, count: opaque.width)
                    }
                }
            }
        }
    }

    /// Turns round the bytes of the pixels in an area of a plane of 4-byte pixels.
    private func reversePixels(of plane: MutablePlane, in area: Rectangle<Int>) {
        for y in area.y..<(area.y + area.height) {
            for x in area.x..<(area.x + area.width) {
                let pixel = plane.row(y).loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)
                plane.row(y).storeBytes(of: pixel.byteSwapped, toByteOffset: 4 * x, as: UInt32.self)
            }
        }
    }

    /// The planes in the form that GstVideoConverter reads. Not by gst_video_frame_map, which trusts the meta and maps
    /// no more than the memory that holds a plane's first byte.
    private func frame(_ planes: Planes<Plane>, _ info: GstVideoInfo) -> GstVideoFrame {
        var frame = GstVideoFrame()
        frame.info = info
        if let plane = planes[0] { (frame.data.0, frame.info.stride.0) = pointer(plane) }
        if let plane = planes[1] { (frame.data.1, frame.info.stride.1) = pointer(plane) }
        if let plane = planes[2] { (frame.data.2, frame.info.stride.2) = pointer(plane) }
        if let plane = planes[3] { (frame.data.3, frame.info.stride.3) = pointer(plane) }
        return frame
    }

    private func pointer(_ plane: Plane) -> (gpointer, gint) {
        (UnsafeMutableRawPointer(mutating: plane.base), gint(clamping: plane.stride))
    }
}

/// Returns the format with the bytes of each pixel in reverse order; nil for formats other than GstVideoConverter's internal
/// ones.
private func reversedFormat(_ format: GstVideoFormat) -> GstVideoFormat? {
    switch format {
    case GST_VIDEO_FORMAT_ARGB: GST_VIDEO_FORMAT_BGRA
    case GST_VIDEO_FORMAT_AYUV: GST_VIDEO_FORMAT_VUYA
    default: nil
    }
}

/// Returns a border color whose red, green and blue all hold its luma, in the format's range: GstVideoConverter fills the
/// border of a gray format with the red component.
private func grayBorder(_ argb: UInt32, _ colorimetry: GstVideoColorimetry) -> UInt32 {
    var (red, blue) = (0.299, 0.114)
    gst_video_color_matrix_get_Kr_Kb(colorimetry.matrix, &red, &blue)
    let share = { (weight: Double, shift: UInt32) in weight * Double(argb >> shift & 255) }
    var luma = share(red, 16) + share(1 - red - blue, 8) + share(blue, 0)
    if colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235 { luma = 16 + luma * 219 / 255 }
    return argb & 0xff00_0000 | UInt32(luma.rounded()) &* 0x01_0101
}

extension GstVideoFormatInfo {
    package var hasAlpha: Bool { flags.rawValue & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0 }
    /// True for formats that hold two pixels as Y, U, Y and V in any order.
    fileprivate var isPacked422: Bool {
        [GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY, GST_VIDEO_FORMAT_YVYU, GST_VIDEO_FORMAT_VYUY].contains(format)
    }

    fileprivate var isGray: Bool { flags.rawValue & GST_VIDEO_FORMAT_FLAG_GRAY.rawValue != 0 }
}

extension GstVideoInfo {
    /// Pictures of a format and size, in the layout that caps imply.
    package static func of(_ format: GstVideoFormat, width: Int, height: Int) throws(FrameFault) -> GstVideoInfo {
        var info = GstVideoInfo()
        let isSet = gst_video_info_set_format(&info, format, guint(clamping: width), guint(clamping: height)) != 0
        // Where the size of a frame cannot be told in C's numbers, there is no memory for it either.
        if !isSet { throw .outOfMemory(bytes: width &* height) }
        return info
    }

    /// The format as caps name it.
    var formatName: String { String(cString: finfo.pointee.name) }
}

/// True where two descriptions are equal.
package func isSame(_ one: GstVideoInfo, _ two: GstVideoInfo) -> Bool {
    var one = one
    var two = two
    return gst_video_info_is_equal(&one, &two) != 0
}
