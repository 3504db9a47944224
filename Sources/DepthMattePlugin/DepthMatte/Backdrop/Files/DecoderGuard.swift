import CGStreamer
import GstBridge
import Synchronization

/// Keeps a `decodebin` from allocating pictures over the limit, and from reading anything but the file before it.
///
/// Decoders allocate before they say how large their pictures are, and GLib ends the program where there is no memory.
/// So the size of a picture is checked before a decoder gets its data, and only codings are admitted for which that can
/// be done.
///
/// GStreamer calls this from the threads that decode.
final class DecoderGuard: Sendable {
    private struct State {
        /// The reason why nothing of the file goes on to a decoder any more.
        var refusal: String?
        /// The address of the pad whose stream is decoded; only compared.
        var stream: UInt?
        /// The reason why no stream is.
        var hint: String?
        var hasSound = false
        var hasPictures = false
    }

    private let state = Mutex(State())
    private let maxPixels: Int

    /// Watches over `decodebin`, which is in `pipeline` and has not started.
    ///
    /// - Parameter maxPixels: larger pictures are refused.
    init(
        _ decodebin: UnsafeMutablePointer<GstElement>, in pipeline: UnsafeMutablePointer<GstElement>, maxPixels: Int
    ) {
        self.maxPixels = maxPixels
        connect(decodebin, "autoplug-select", unsafeBitCast(selectElement, to: GCallback.self), self)
        connect(pipeline, "deep-element-added", unsafeBitCast(elementAdded, to: GCallback.self), self)
    }

    /// The reason why the file is not decoded; nil while it is.
    var refusal: String? { state.withLock { $0.refusal } }

    /// The reason why there is nothing to decode in the file, as far as it is known.
    var hint: String? {
        state.withLock { state in
            guard state.stream == nil else { return nil }
            return state.hint ?? (state.hasSound && !state.hasPictures ? "there is no video in it" : nil)
        }
    }

    private func refuse(_ reason: String) { state.withLock { $0.refusal = $0.refusal ?? reason } }

    // MARK: Elements

    /// Answers decodebin's question whether an element is to be put behind a pad.
    fileprivate func choose(
        _ factory: OpaquePointer, for caps: UnsafeMutablePointer<GstCaps>, behind pad: UnsafeMutablePointer<GstPad>
    ) -> AutoplugChoice {
        let klass = ElementClass(factory)
        guard klass.readsOnlyItsInput else {
            state.withLock { $0.hint = "it refers to other files or to the network, which are not read" }
            return .skip
        }
        if klass.isDemuxer { return factory.isOfLibav ? .skip : .attempt }
        guard klass.isParser || klass.isDecoder else { return .skip }
        let kind = caps.mediaType
        guard caps.arePictures else { return .expose }  // nobody listens to it
        guard SizeOrigin(caps) != nil else {
            state.withLock { $0.hint = "\(kind) is not read" }
            return .skip
        }
        let stream = UInt(bitPattern: pad)
        return state.withLock { state in
            guard state.stream == nil || state.stream == stream else { return .expose }  // one picture is shown
            state.stream = stream
            return .attempt
        }
    }

    /// Watches what passes the pads of an element that decodebin uses.
    fileprivate func watch(_ element: UnsafeMutablePointer<GstElement>) {
        let klass = gst_element_get_factory(element).map { ElementClass($0) } ?? ElementClass()
        if element.isSource {
            // It stays in the state NULL, in which a source opens nothing.
            gst_element_set_locked_state(element, 1)
            refuse("it refers to another file or to the network, which is not read")
        }
        let watch = ElementWatch(self, klass)
        connect(element, "pad-added", unsafeBitCast(padAdded, to: GCallback.self), watch)
        gst_element_foreach_pad(
            element,
            { _, pad, data in
                if let pad, let data { Unmanaged<ElementWatch>.fromOpaque(data).takeUnretainedValue().watch(pad) }
                return 1
            }, Unmanaged.passUnretained(watch).toOpaque())
    }

    // MARK: Data

    /// Returns true if a stream of those caps may go on.
    ///
    /// - Parameter isDecoderNext: true if a decoder gets them. Its pictures have to be of a known size.
    fileprivate func admits(_ caps: UnsafeMutablePointer<GstCaps>, isDecoderNext: Bool) -> Bool {
        state.withLock { state in
            state.hasSound = state.hasSound || caps.mediaType.hasPrefix("audio/")
            state.hasPictures = state.hasPictures || caps.arePictures
        }
        let pixels = caps.pixels
        if let pixels { refuseIfTooLarge(pixels) }
        if isDecoderNext {
            switch SizeOrigin(caps) {
            case .header(let coding): caps.withCodecData { readPixels($0, coding) }
            case .parser where pixels == nil:
                refuse(
                    "no parser tells the size of its \(caps.mediaType) pictures; GStreamer's bad plugins have parsers")
            case .container where pixels == nil, nil:
                refuse("the size of its \(caps.mediaType) pictures is not known before they are decoded")
            case .container, .parser: break
            }
        }
        return refusal == nil
    }

    /// Returns true if a decoder may get a buffer.
    fileprivate func admits(_ buffer: BufferPointer, _ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
        guard case .header(let coding) = SizeOrigin(caps) else { return refusal == nil }
        let pixels = readPixels(buffer, coding)
        // A still without a size is passed over. (A frame of a video without one is as large as the one before it.)
        return refusal == nil && !(coding == .still && pixels == nil)
    }

    @discardableResult
    private func readPixels(_ buffer: BufferPointer, _ coding: CodedPicture) -> Int? {
        var map = GstMapInfo()
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
        defer { gst_buffer_unmap(buffer, &map) }
        let pixels = coding.pixels(ByteReader(UnsafeRawBufferPointer(start: map.data, count: Int(map.size))))
        if let pixels { refuseIfTooLarge(pixels) }
        return pixels
    }

    private func refuseIfTooLarge(_ pixels: Int) {
        if pixels > maxPixels { refuse(tooManyPixels(pixels, limit: maxPixels)) }
    }
}

/// The reason for which a picture of that size is refused.
func tooManyPixels(_ pixels: Int, limit: Int) -> String {
    "it has \(pixels) pixels, over the limit of \(limit) (property max-pixels)"
}

/// The origin of the size by which a decoder of a coding allocates.
private enum SizeOrigin {
    /// The size in the stream. A parser before the decoder puts it into the caps, unless they have the container's.
    case parser
    /// The size in the container: the stream has none.
    case container
    /// The size in the header of a picture. No parser reads it.
    case header(CodedPicture)

    /// - Returns: nil for codings that are not admitted.
    init?(_ caps: UnsafeMutablePointer<GstCaps>) {
        switch caps.mediaType {
        case "video/x-av1", "video/x-h263", "video/x-h264", "video/x-h265", "video/x-vp9": self = .parser
        case "video/x-divx": self = caps.integer("divxversion") == 3 ? .container : .parser
        case "video/mpeg": self = caps.integer("mpegversion") == 4 ? .parser : .header(.mpegVideo)
        case "video/x-cinepak", "video/x-dv", "video/x-ffv", "video/x-gst-av-ffvhuff", "video/x-huffyuv",
            "video/x-msmpeg", "video/x-msvideocodec", "video/x-rle":
            self = .container
        case "image/bmp", "image/jpeg", "image/png", "image/tiff", "image/webp": self = .header(.still)
        case "image/gst-libav-gif": self = .header(.gif)
        case "video/x-prores": self = .header(.proRes)
        case "video/x-theora": self = .header(.theora)
        case "video/x-vp8": self = .header(.vp8)
        default: return nil
        }
    }

    var isParser: Bool { if case .parser = self { true } else { false } }
}

/// The kind of an element, by its factory.
private struct ElementClass {
    var isDemuxer = false
    var isParser = false
    var isDecoder = false
    /// It opens no file or connection of its own.
    var readsOnlyItsInput = true

    init() {}

    init(_ factory: OpaquePointer) {
        guard let text = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS) else { return }
        let words = Set(String(cString: text).split(separator: "/"))
        isDemuxer = words.contains("Demuxer")
        isParser = words.contains("Parser")
        isDecoder = words.contains("Decoder")
        readsOnlyItsInput = words.isDisjoint(with: ["Adaptive", "Network", "RTP", "Source", "Src"])
    }
}

/// GStreamer's GstAutoplugSelectResult, which no header declares.
private enum AutoplugChoice: gint {
    case attempt, expose, skip
}

/// The probes on the pads of one element.
private final class ElementWatch: Sendable {
    let decoderGuard: DecoderGuard
    let klass: ElementClass

    init(_ decoderGuard: DecoderGuard, _ klass: ElementClass) {
        self.decoderGuard = decoderGuard
        self.klass = klass
    }

    func watch(_ pad: UnsafeMutablePointer<GstPad>) {
        let isSink = pad.pointee.direction == GST_PAD_SINK
        if isSink && !klass.isDecoder { return }
        let types = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
        gst_pad_add_probe(
            pad, GstPadProbeType(rawValue: types),
            { pad, info, data in
                guard let pad, let info, let data else { return GST_PAD_PROBE_OK }
                return Unmanaged<ElementWatch>.fromOpaque(data).takeUnretainedValue().inspect(info, on: pad)
            }, Unmanaged.passRetained(self).toOpaque(),
            { data in if let data { Unmanaged<ElementWatch>.fromOpaque(data).release() } })
    }

    private func inspect(
        _ info: UnsafeMutablePointer<GstPadProbeInfo>, on pad: UnsafeMutablePointer<GstPad>
    ) -> GstPadProbeReturn {
        let isDecoderNext = pad.pointee.direction == GST_PAD_SINK
        let isAdmitted =
            if info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 {
                admits(gst_pad_probe_info_get_buffer(info), on: pad, isDecoderNext: isDecoderNext)
            } else {
                admits(gst_pad_probe_info_get_event(info), in: info, isDecoderNext: isDecoderNext)
            }
        return isAdmitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }

    private func admits(_ buffer: BufferPointer?, on pad: UnsafeMutablePointer<GstPad>, isDecoderNext: Bool) -> Bool {
        guard isDecoderNext else { return decoderGuard.refusal == nil }
        guard let buffer, let caps = gst_pad_get_current_caps(pad) else { return false }
        defer { gst_caps_unref(caps) }
        return decoderGuard.admits(buffer, caps)
    }

    private func admits(
        _ event: UnsafeMutablePointer<GstEvent>?, in info: UnsafeMutablePointer<GstPadProbeInfo>, isDecoderNext: Bool
    ) -> Bool {
        guard let event, event.pointee.type == GST_EVENT_CAPS else { return true }
        var isAdmitted = true
        withCaps(of: event) { caps in
            isAdmitted = decoderGuard.admits(caps, isDecoderNext: isDecoderNext)
            if isAdmitted, klass.isDemuxer, SizeOrigin(caps)?.isParser == true {
                info.replaceCaps(with: caps.withoutSize)
            }
        }
        return isAdmitted
    }
}

// MARK: - GStreamer's types

extension OpaquePointer {
    /// True for a factory of gst-libav, whose demuxers never come to the end of a file with FFmpeg 5.
    fileprivate var isOfLibav: Bool {
        gst_plugin_feature_get_plugin_name(self).map { String(cString: $0) } == "libav"
    }
}

extension UnsafeMutablePointer<GstElement> {
    /// True if it, or an element in it, gets data from elsewhere than its pads.
    fileprivate var isSource: Bool {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self).pointee.flags
            & GST_ELEMENT_FLAG_SOURCE.rawValue != 0
    }
}

extension UnsafeMutablePointer<GstCaps> {
    fileprivate func integer(_ field: String) -> Int? {
        var value: gint = 0
        guard let structure = gst_caps_get_structure(self, 0), gst_structure_get_int(structure, field, &value) != 0
        else {
            return nil
        }
        return Int(value)
    }

    fileprivate var arePictures: Bool { ["video/", "image/"].contains { mediaType.hasPrefix($0) } }

    /// Width times height, where they say both.
    fileprivate var pixels: Int? {
        guard let (width, height) = size, width > 0, height > 0 else { return nil }
        return width * height  // of 31 bits each
    }

    /// A copy that does not say how large the pictures are. Ownership passes to the caller.
    fileprivate var withoutSize: UnsafeMutablePointer<GstCaps>? {
        guard let copy = gst_caps_copy(self) else { return nil }
        for index in 0..<gst_caps_get_size(copy) {
            guard let structure = gst_caps_get_structure(copy, index) else { continue }
            gst_structure_remove_field(structure, "width")
            gst_structure_remove_field(structure, "height")
        }
        return copy
    }

    /// Lends what a decoder is to know before the first picture, where there is such.
    fileprivate func withCodecData(_ body: (BufferPointer) -> Void) {
        guard let structure = gst_caps_get_structure(self, 0),
            let value = gst_structure_get_value(structure, "codec_data"),
            g_type_check_value_holds(value, gst_buffer_get_type()) != 0,
            let buffer = g_value_get_boxed(value)
        else { return }
        body(buffer.assumingMemoryBound(to: GstBuffer.self))
    }
}

extension UnsafeMutablePointer<GstPadProbeInfo> {
    /// Puts other caps in the place of the event's, and takes them.
    fileprivate func replaceCaps(with caps: UnsafeMutablePointer<GstCaps>?) {
        guard let caps else { return }
        defer { gst_caps_unref(caps) }
        guard let old = gst_pad_probe_info_get_event(self), let event = gst_event_new_caps(caps) else { return }
        gst_event_set_seqnum(event, gst_event_get_seqnum(old))
        pointee.data = UnsafeMutableRawPointer(event)
        gst_mini_object_unref(UnsafeMutableRawPointer(old).assumingMemoryBound(to: GstMiniObject.self))
    }
}

/// Calls back when an object sends a signal, and keeps `receiver` for as long as it may.
private func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ callback: GCallback, _ receiver: AnyObject)
{
    g_signal_connect_data(
        object, signal, callback, Unmanaged.passRetained(receiver).toOpaque(),
        { data, _ in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }, GConnectFlags(rawValue: 0))
}

private typealias SelectElement =
    @convention(c) (
        UnsafeMutablePointer<GstElement>?, UnsafeMutablePointer<GstPad>?, UnsafeMutablePointer<GstCaps>?,
        OpaquePointer?,
        UnsafeMutableRawPointer?
    ) -> gint

private let selectElement: SelectElement = { _, pad, caps, factory, data in
    guard let pad, let caps, let factory, let data else { return AutoplugChoice.skip.rawValue }
    let decoderGuard = Unmanaged<DecoderGuard>.fromOpaque(data).takeUnretainedValue()
    return decoderGuard.choose(factory, for: caps, behind: pad).rawValue
}

private typealias ElementAdded =
    @convention(c) (
        UnsafeMutablePointer<GstBin>?, UnsafeMutablePointer<GstBin>?, UnsafeMutablePointer<GstElement>?,
        UnsafeMutableRawPointer?
    ) -> Void

private let elementAdded: ElementAdded = { _, _, element, data in
    guard let element, let data else { return }
    Unmanaged<DecoderGuard>.fromOpaque(data).takeUnretainedValue().watch(element)
}

private typealias PadAdded =
    @convention(c) (UnsafeMutablePointer<GstElement>?, UnsafeMutablePointer<GstPad>?, UnsafeMutableRawPointer?) -> Void

private let padAdded: PadAdded = { _, pad, data in
    guard let pad, let data else { return }
    Unmanaged<ElementWatch>.fromOpaque(data).takeUnretainedValue().watch(pad)
}
