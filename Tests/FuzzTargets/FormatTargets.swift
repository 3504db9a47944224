import CGStreamer
import CGStreamerShims
import DepthKernels
import DepthMattePlugin
import GstBridge
import GstTestSupport

/// Fixed caps with fields of any type: they are refused with a reason, or describe pictures within the limit.
func fuzzCaps(_ input: inout FuzzInput) {
    loadElements()
    let limit = 1 << 20
    let caps = anyCaps(&input)
    defer { gst_caps_unref(caps) }
    guard gst_caps_is_fixed(caps) != 0 else { return }
    _ = try? StreamCalibration(caps)
    if let depth = try? DepthFormat(caps, maxPixels: limit) { check(depth.layout, limit) }
    if let info = try? videoInfo(caps, maxPixels: limit), let format = try? StreamFormat(info) {
        check(format.layout, limit)
        _ = format.withAlpha
        _ = format.cut(toRows: input.number(0...20))
    }
}

private func check(_ layout: FrameLayout, _ limit: Int) {
    promise(layout.width > 0 && layout.height > 0 && layout.width * layout.height <= limit, "\(layout)")
    promise(layout.planes.allSatisfy { $0.stride >= $0.rowBytes && $0.rows > 0 && $0.offset >= 0 }, "\(layout)")
}

/// Frames whose meta and memories say anything: refused, or every byte that the planes name is there.
func fuzzLayout(_ input: inout FuzzInput) {
    loadElements()
    let format = input.choice(VideoFormat.all)
    let caps = gst_caps_from_string(
        VideoShape(format.name, input.number(1...33), input.number(1...17)).caps)
    guard let caps else { return }
    defer { gst_caps_unref(caps) }
    guard let info = try? videoInfo(caps, maxPixels: 1 << 20) else { broken("these caps are plain") }
    let layout = FrameLayout(info)
    let buffer = anyBuffer(&input, size: layout.size)
    addMeta(to: buffer.pointer, format.format, layout, &input)
    let sum = try? withFrame(reading: buffer.pointer, layout) { planes in
        (0..<planes.count).reduce(0) { sum, index in
            guard let plane = planes[index] else { return sum }
            return (0..<plane.rows).reduce(sum) { $0 &+ plane.row($1).sum(plane.rowBytes) }
        }
    }
    if sum != nil, input.flag() {
        _ = try? layout.clearAround(buffer.pointer)
        _ = try? withFrame(changing: buffer.pointer, layout) { layout.clearSpareLuma($0) }
    }
    _ = layout.isDefault(for: buffer.pointer)
    _ = layout.fillsAll(of: buffer.pointer)
}

extension UnsafeRawPointer {
    fileprivate func sum(_ count: Int) -> Int {
        UnsafeRawBufferPointer(start: self, count: count).reduce(0) { $0 &+ Int($1) }
    }
}

// MARK: - Parts of streams

/// A buffer of that size, or of another, in one memory or several.
func anyBuffer(_ input: inout FuzzInput, size: Int) -> BufferRef {
    let size = input.seldom() ? input.choice([0, 1, size - 1, size + 1, size / 2]) : size
    let bytes = input.pattern(max(size, 0))
    let cuts =
        input.seldom(bits: 2) ? (0..<input.number(1...3)).map { _ in input.number(0...bytes.count) }.sorted() : []
    let ends = cuts + [bytes.count]
    return exactBuffer(zip([0] + cuts, ends).map { Array(bytes[$0..<$1]) })
}

/// A meta that is true, or lies.
func addMeta(
    to buffer: BufferPointer, _ format: GstVideoFormat, _ layout: FrameLayout, _ input: inout FuzzInput
) {
    guard input.flag() else { return }
    var offsets = (0..<4).map { $0 < layout.planes.count ? gsize(layout.planes[$0].offset) : 0 }
    var strides = (0..<4).map { $0 < layout.planes.count ? gint(clamping: layout.planes[$0].stride) : 0 }
    for _ in 0..<input.number(0...3) {
        let plane = input.number(0...3)
        if input.flag() {
            offsets[plane] = input.flag() ? gsize(input.word()) : gsize(input.number(0...layout.size))
        } else {
            strides[plane] = input.flag() ? gint(truncatingIfNeeded: input.word(4)) : gint(input.number(0...300))
        }
    }
    let lie = input.seldom()
    gst_buffer_add_video_meta_full(
        buffer, GST_VIDEO_FRAME_FLAG_NONE, lie ? input.choice(VideoFormat.all).format : format,
        guint(lie ? input.number(1...40) : layout.width), guint(lie ? input.number(1...40) : layout.height),
        guint(lie ? input.number(0...4) : layout.planes.count), &offsets, &strides)
}

/// Caps of fields that may have any type.
func anyCaps(_ input: inout FuzzInput) -> UnsafeMutablePointer<GstCaps> {
    let media = input.choice(["video/x-raw", "video/x-depth", "image/png", "video/x-raw"])
    guard let structure = gst_structure_new_empty(media), let caps = gst_caps_new_empty() else {
        broken("no memory for caps")
    }
    let names = [
        "format", "width", "height", "framerate", "pixel-aspect-ratio", "interlace-mode", "colorimetry", "chroma-site",
        "depth-unit", "calibration", "multiview-mode", "views", "field-order", "max-framerate",
    ]
    for name in names.prefix(4) where !input.seldom() { setField(name, of: structure, &input) }
    for _ in 0..<input.number(0...4) { setField(input.choice(names), of: structure, &input) }
    gst_caps_append_structure(caps, structure)
    return caps
}

private func setField(
    _ name: String, of structure: UnsafeMutablePointer<GstStructure>, _ input: inout FuzzInput
) {
    let words = [
        "I420", "RGBA", "YUY2", "GRAY8", "GRAY16_LE", "F32LE", "F16LE", "NV12", "interleaved", "progressive", "bt709",
        "1:3:5:1", "jpeg", "mpeg2", "alternate", "left", "{}", "{\"fx\":1}", "",
    ]
    var value = GValue()
    // As a stream says it, or anything.
    let plain = ["format": 3, "width": 0, "height": 0, "framerate": 1, "depth-unit": 2][name] ?? 3
    switch input.seldom(bits: 3) ? input.number(0...3) : plain {
    case 0:
        g_value_init(&value, GSTSHIMS_TYPE_INT)
        g_value_set_int(&value, input.seldom() ? gint(truncatingIfNeeded: input.word(4)) : gint(input.number(1...3000)))
    case 1:
        g_value_init(&value, gst_fraction_get_type())
        // A denominator of 0 is no fraction, as GStreamer says with a critical message.
        gst_value_set_fraction(&value, gint(truncatingIfNeeded: input.word(4)) | 1, gint(input.number(1...65535)))
    case 2:
        g_value_init(&value, GSTSHIMS_TYPE_DOUBLE)
        g_value_set_double(&value, input.double())
    default:
        g_value_init(&value, GSTSHIMS_TYPE_STRING)
        g_value_set_string(&value, input.seldom(bits: 2) ? input.text() : input.choice(words))
    }
    gst_structure_set_value(structure, name, &value)
    g_value_unset(&value)
}
