import CGStreamer
import GstTestSupport
import Synchronization

/// Elements that take the place of GStreamer's own in a test's process, and do what those must not.
enum StrangeElement: String {
    /// Takes AVI files, and makes data of its own.
    case demuxerWithSource
    /// Takes BMP pictures, and does not return from the first.
    case endlessDecoder

    private var caps: String { self == .demuxerWithSource ? "video/x-msvideo" : "image/bmp" }
    private var klass: String { self == .demuxerWithSource ? "Codec/Demuxer" : "Codec/Decoder/Image" }

    private static let startedSources = Atomic(0)

    /// True where the source of `demuxerWithSource` began to work.
    static var hasSourceStarted: Bool { startedSources.load(ordering: .relaxed) > 0 }

    /// Makes `decodebin` prefer it to any other element.
    func register() {
        let isDemuxer = self == .demuxerWithSource
        let type = registerClass(
            rawValue, deriving: gst_bin_get_type(), isDemuxer ? initializeDemuxer : initializeDecoder,
            isDemuxer ? addSource : addEndlessSink)
        let isRegistered = gst_element_register(nil, rawValue.lowercased(), GST_RANK_PRIMARY.rawValue + 100, type) != 0
        precondition(isRegistered, "\(rawValue) cannot be registered")
    }

    fileprivate func describe(_ elementClass: UnsafeMutablePointer<GstElementClass>) {
        gst_element_class_set_metadata(elementClass, rawValue, klass, "For tests", "The tests")
        guard let caps = gst_caps_from_string(caps) else { preconditionFailure("bad caps") }
        gst_element_class_add_pad_template(
            elementClass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps))
        gst_caps_unref(caps)
        let raw = gst_caps_from_string("video/x-raw")
        gst_element_class_add_pad_template(elementClass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, raw))
        gst_caps_unref(raw)
    }

    fileprivate static func countSource() { startedSources.add(1, ordering: .relaxed) }
}

private let initializeDemuxer: GClassInitFunc = { type, _ in
    guard let type else { return }
    StrangeElement.demuxerWithSource.describe(type.assumingMemoryBound(to: GstElementClass.self))
}

private let initializeDecoder: GClassInitFunc = { type, _ in
    guard let type else { return }
    StrangeElement.endlessDecoder.describe(type.assumingMemoryBound(to: GstElementClass.self))
}

private let addSource: GInstanceInitFunc = { instance, _ in
    guard let instance else { return }
    add("fakesink", pad: "sink", to: instance)
    let source = add("videotestsrc", pad: "src", to: instance)
    guard let pad = gst_element_get_static_pad(source, "src") else { return }
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { _, _, _ in
            StrangeElement.countSource()
            return GST_PAD_PROBE_OK
        }, nil, nil)
    gst_object_unref(pad)
}

private let addEndlessSink: GInstanceInitFunc = { instance, _ in
    guard let instance else { return }
    let identity = add("identity", pad: "sink", to: instance)
    add(identity, pad: "src", to: instance)
    guard let pad = gst_element_get_static_pad(identity, "sink") else { return }
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { _, _, _ in
            while true { g_usleep(1_000_000) }
        }, nil, nil)
    gst_object_unref(pad)
}

@discardableResult
private func add(
    _ factory: String, pad: String, to bin: UnsafeMutablePointer<GTypeInstance>
) -> UnsafeMutablePointer<GstElement> {
    guard let element = gst_element_factory_make(factory, nil) else { preconditionFailure("no \(factory)") }
    gst_bin_add(UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstBin.self), element)
    add(element, pad: pad, to: bin)
    return element
}

/// Shows a child's pad as the bin's own.
private func add(
    _ element: UnsafeMutablePointer<GstElement>, pad name: String, to bin: UnsafeMutablePointer<GTypeInstance>
) {
    guard let pad = gst_element_get_static_pad(element, name) else { preconditionFailure("no pad \(name)") }
    gst_element_add_pad(
        UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstElement.self), gst_ghost_pad_new(name, pad))
    gst_object_unref(pad)
}
