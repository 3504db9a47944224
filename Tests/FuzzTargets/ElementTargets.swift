import CGStreamer
import CGStreamerShims
import DepthMattePlugin
import GstBridge
import GstTestSupport

/// Properties of every element, set to anything and read back: the number stays in its range.
func fuzzProperties(_ input: inout FuzzInput) {
    let element = makeElement(
        input.choice([
            "depthmatte", "depthcolorize", "depthcloud", "depthtestsrc", "depthcamsrc", "depthalign", "depthpack",
            "depthunpack",
        ]))
    for _ in 0..<input.number(1...12) where !input.isEmpty { setAnyProperty(of: element, &input) }
    gst_object_unref(element)
}

/// The text of a preset file, as GStreamer hands it on: names of properties, and values in the form that files have.
func fuzzPreset(_ input: inout FuzzInput) {
    let element = makeElement(
        input.choice(["depthmatte", "depthcolorize", "depthcloud", "depthalign", "depthpack", "depthunpack"]))
    defer { gst_object_unref(element) }
    for _ in 0..<input.number(1...8) where !input.isEmpty {
        let spec = input.choice(properties(of: element))
        // GStreamer's deserializer takes text that is C's and UTF-8.
        let text = input.seldom(bits: 1) ? input.text() : "\(input.double())"
        var value = GValue()
        g_value_init(&value, spec.pointee.value_type)
        let isRead = gst_value_deserialize(&value, text.filter { $0 != "\0" }) != 0
        if isRead, !writesFiles(spec) { g_object_set_property(object(element), spec.pointee.name, &value) }
        g_value_unset(&value)
    }
    check(element)
}

/// Files of pictures, animations and videos: a picture within the limit, or a reason, in bounded time.
func fuzzBackground(_ input: inout FuzzInput) {
    loadElements()
    // GStreamer's own demuxers log criticals for damaged files.
    let fatal = g_log_set_always_fatal(GLogLevelFlags(rawValue: G_LOG_LEVEL_ERROR.rawValue))
    defer { g_log_set_always_fatal(fatal) }
    let path = "\(temporaryFolder)/background"
    write(input.rest(), to: path)
    let limit = 1 << 14
    guard
        let reader = try? BackgroundReader(
            location: path, allowsRemote: false, maxPixels: limit, isCancelled: CancelFlag())
    else {
        return
    }
    for time in [0, 1, 40_000_000, 3_000_000_000] as [RunningTime] {
        let picture = reader.picture(at: time, block: true)
        promise(Int(picture.info.width) * Int(picture.info.height) <= limit, "a picture above the limit")
    }
    reader.close()
}

// MARK: - Properties

func setAnyProperty(of element: UnsafeMutablePointer<GstElement>, _ input: inout FuzzInput) {
    let spec = input.choice(properties(of: element))
    guard !writesFiles(spec) else { return }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    switch g_type_fundamental(spec.pointee.value_type) {
    case GSTSHIMS_TYPE_DOUBLE: g_value_set_double(&value, input.double())
    case GSTSHIMS_TYPE_INT: g_value_set_int(&value, gint(truncatingIfNeeded: input.word(4)))
    case GSTSHIMS_TYPE_UINT: g_value_set_uint(&value, guint(input.word(4)))
    case GSTSHIMS_TYPE_INT64: g_value_set_int64(&value, gint64(truncatingIfNeeded: input.word()))
    case GSTSHIMS_TYPE_UINT64: g_value_set_uint64(&value, guint64(input.flag() ? 0 : input.word()))
    case GSTSHIMS_TYPE_BOOLEAN: g_value_set_boolean(&value, gboolean(input.byte() & 1))
    case GSTSHIMS_TYPE_STRING: g_value_set_string(&value, input.text().filter { $0 != "\0" })
    default:
        guard g_type_is_a(spec.pointee.value_type, g_type_from_name("GEnum")) != 0 else { return }
        g_value_set_enum(&value, gint(input.number(-1...12)))
    }
    g_object_set_property(object(element), spec.pointee.name, &value)
    var again = GValue()
    g_value_init(&again, spec.pointee.value_type)
    defer { g_value_unset(&again) }
    g_object_get_property(object(element), spec.pointee.name, &again)
    let before = text(again)
    promise(
        g_param_value_validate(spec, &again) == 0,
        "\(String(cString: spec.pointee.name)) is out of its range: \(before)")
}

/// Unsets the properties that name files to read.
func forgetFiles(of element: UnsafeMutablePointer<GstElement>) {
    for spec in properties(of: element)
    where ["background", "calibration"].contains(String(cString: spec.pointee.name)) {
        var value = GValue()
        g_value_init(&value, spec.pointee.value_type)
        g_object_set_property(object(element), spec.pointee.name, &value)
        g_value_unset(&value)
    }
}

/// Every property reads as a value in its range.
private func check(_ element: UnsafeMutablePointer<GstElement>) {
    for spec in properties(of: element) {
        var value = GValue()
        g_value_init(&value, spec.pointee.value_type)
        g_object_get_property(object(element), spec.pointee.name, &value)
        promise(
            g_param_value_validate(spec, &value) == 0,
            "\(String(cString: spec.pointee.name)) is out of its range: \(text(value))")
        g_value_unset(&value)
    }
}

/// Properties that name a file to write, or start many threads.
private func writesFiles(_ spec: UnsafeMutablePointer<GParamSpec>) -> Bool {
    ["location", "calibration-location", "snapshot", "max-threads"].contains(String(cString: spec.pointee.name))
}

private func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
}

/// The properties that the element's own class has and that can be set.
private func properties(of element: UnsafeMutablePointer<GstElement>) -> [UnsafeMutablePointer<GParamSpec>] {
    guard let type = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    else { return [] }
    var count: guint = 0
    let list = g_object_class_list_properties(
        UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self), &count)
    defer { g_free(list) }
    return (0..<Int(count)).compactMap { list?[$0] }.filter {
        $0.pointee.owner_type == type.pointee.g_type && $0.pointee.flags.rawValue & G_PARAM_WRITABLE.rawValue != 0
    }
}

private func text(_ value: GValue) -> String {
    var value = value
    if g_type_fundamental(value.g_type) == GSTSHIMS_TYPE_DOUBLE { return "\(g_value_get_double(&value))" }
    return takeString(g_strdup_value_contents(&value)) ?? ""
}
