import CGStreamer
import GstBridge
import Synchronization

/// Keeps a `decodebin` from decoding pictures over the limit, and from reading anything but its input file.
///
/// Decoders allocate before they announce the picture's size, and GLib aborts the program when memory runs out. So the
/// size is checked before a decoder gets its data, and only codecs are admitted for which that is possible.
///
/// GStreamer calls this on decoding threads.
final class DecoderGuard: Sendable {
    private struct State {
        /// The reason why no more data reaches a decoder.
        var refusal: String?
        /// The pad whose stream is decoded, as an address to compare with.
        var stream: UInt?
        /// The reason why no stream is decoded.
        var hint: String?
        var hasSound = false
        var hasPictures = false
    }

    private let state = Mutex(State())
    private let maxPixels: Int

    /// Guards a `decodebin` in a pipeline that has not started.
    ///
    /// - Parameter maxPixels: larger pictures are refused.
    init(_ decodebin: ElementPointer, in pipeline: ElementPointer, maxPixels: Int) {
        self.maxPixels = maxPixels
        connect(decodebin, "autoplug-select", unsafeBitCast(selectElement, to: GCallback.self), self)
        connect(pipeline, "deep-element-added", unsafeBitCast(elementAdded, to: GCallback.self), self)
    }

    /// The reason why the file is refused; nil while it is not.
    var refusal: String? { state.withLock { $0.refusal } }

    /// The reason why the file has nothing to decode, if it is known.
    var hint: String? {
        state.withLock { state in
            guard state.stream == nil else { return nil }
            return state.hint ?? (state.hasSound && !state.hasPictures ? "there is no video in it" : nil)
        }
    }

    private func refuse(_ reason: String) { state.withLock { $0.refusal = $0.refusal ?? reason } }

    // MARK: Elements

    /// Answers decodebin's signal `autoplug-select`: may an element of this factory follow a pad?
    fileprivate func choose(_ factory: OpaquePointer, for caps: CapsPointer, behind pad: PadPointer) -> AutoplugChoice {
        let klass = ElementClass(factory)
        guard klass.readsOnlyItsInput else {
            state.withLock { $0.hint = "it refers to other files or to the network, which are not read" }
            return .skip
        }
        if klass.isDemuxer { return factory.isOfLibav ? .skip : .attempt }
        guard klass.isParser || klass.isDecoder else { return .skip }
        let kind = caps.mediaType
        guard caps.arePictures else { return .expose }  // not linked to anything
        guard SizeOrigin(caps) != nil else {
            state.withLock { $0.hint = "\(kind) is not read; \(readableKinds)" }
            return .skip
        }
        if kind == "video/x-vp9" && caps.hasAlphaStream {
            // Nothing tells the size of its second stream, which no parser reads.
            state.withLock { $0.hint = "VP9 with an alpha channel is not read; VP8 with one is" }
            return .skip
        }
        let stream = UInt(bitPattern: pad)
        return state.withLock { state in
            guard state.stream == nil || state.stream == stream else { return .expose }  // shows one stream
            state.stream = stream
            return .attempt
        }
    }

    /// Adds probes to the pads of an element that decodebin added.
    fileprivate func watch(_ element: ElementPointer) {
        let klass = gst_element_get_factory(element).map { ElementClass($0) } ?? ElementClass()
        if element.isSource {
            // Locked in NULL, where a source opens nothing.
            gst_element_set_locked_state(element, 1)
            refuse("it refers to another file or to the network, which is not read")
        }
        let watch = ElementWatch(self, klass)
        connect(element, "pad-added", unsafeBitCast(padAdded, to: GCallback.self), watch)
        gst_element_foreach_pad(
            element,
            { _, pad, data in
                if let pad { lent(data, as: ElementWatch.self)?.watch(pad) }
                return 1
            }, Unmanaged.passUnretained(watch).toOpaque())
    }

    // MARK: Data

    /// Notes what a stream is, and returns true if it may pass.
    ///
    /// - Parameter isDecoderNext: true if a decoder gets it; then the size of its pictures has to be known.
    fileprivate func admits(_ caps: CapsPointer, isDecoderNext: Bool) -> Bool {
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

    /// Returns true if a buffer may pass to a decoder.
    fileprivate func admits(_ buffer: BufferPointer, _ caps: CapsPointer) -> Bool {
        guard case .header(let coding) = SizeOrigin(caps) else { return refusal == nil }
        let pixels = readPixels(buffer, coding)
        // A still without a size is dropped. (A video frame without one has the size of the previous frame.)
        return refusal == nil && !(coding == .still && pixels == nil)
    }

    @discardableResult
    private func readPixels(_ buffer: BufferPointer, _ coding: CodedPicture) -> Int? {
        var map = GstMapInfo()
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return nil }
        defer { gst_buffer_unmap(buffer, &map) }
        let bytes = ByteReader(UnsafeRawBufferPointer(start: map.data, count: Int(clamping: map.size)))
        let pixels = coding.pixels(bytes)
        if coding == .still, let fault = bytes.pngFault { refuse(fault) }
        if let pixels { refuseIfTooLarge(pixels) }
        return pixels
    }

    private func refuseIfTooLarge(_ pixels: Int) {
        if pixels > maxPixels { refuse(tooManyPixels(pixels, limit: maxPixels)) }
    }
}

/// Returns the reason for refusing a picture of that size.
func tooManyPixels(_ pixels: Int, limit: Int) -> String {
    "it has \(pixels) pixels, over the limit of \(limit) (property max-pixels)"
}

/// The kinds of files that `SizeOrigin` admits, as a clause for errors.
let readableKinds =
    "readable are PNG, JPEG, GIF, BMP, TIFF and WebP pictures, and AV1, H.263, H.264, H.265, VP8, VP9, MPEG, ProRes, "
    + "Theora, DV, Cinepak, FFV1 and HuffYUV video"

/// The place from which the size of a codec's pictures is known before they are decoded.
private enum SizeOrigin {
    /// The stream. A parser before the decoder writes the size to the caps, unless they have the container's.
    case parser
    /// The container, because the stream has no size.
    case container
    /// The header of each picture, which no parser reads.
    case header(CodedPicture)

    /// Returns nil for codecs that are not admitted.
    init?(_ caps: CapsPointer) {
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
    /// True if it opens no file or connection of its own.
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

    func watch(_ pad: PadPointer) {
        let isSink = pad.pointee.direction == GST_PAD_SINK
        if isSink && !klass.isDecoder { return }
        let types = GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
        gst_pad_add_probe(
            pad, GstPadProbeType(rawValue: types),
            { pad, info, data in
                guard let pad, let info else { return GST_PAD_PROBE_OK }
                return lent(data, as: ElementWatch.self)?.inspect(info, on: pad) ?? GST_PAD_PROBE_OK
            }, owned(self), releaseOwned)
    }

    private func inspect(_ info: UnsafeMutablePointer<GstPadProbeInfo>, on pad: PadPointer) -> GstPadProbeReturn {
        let isDecoderNext = pad.pointee.direction == GST_PAD_SINK
        let isAdmitted =
            if info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 {
                admits(gst_pad_probe_info_get_buffer(info), on: pad, isDecoderNext: isDecoderNext)
            } else {
                admits(gst_pad_probe_info_get_event(info), in: info, isDecoderNext: isDecoderNext)
            }
        return isAdmitted ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }

    private func admits(_ buffer: BufferPointer?, on pad: PadPointer, isDecoderNext: Bool) -> Bool {
        guard isDecoderNext else { return decoderGuard.refusal == nil }
        guard let buffer, let caps = OwnedCaps(taking: gst_pad_get_current_caps(pad)) else { return false }
        return decoderGuard.admits(buffer, caps.pointer)
    }

    private func admits(
        _ event: EventPointer?, in info: UnsafeMutablePointer<GstPadProbeInfo>, isDecoderNext: Bool
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
    /// True for a factory of gst-libav, whose demuxers never send EOS with FFmpeg 5.
    fileprivate var isOfLibav: Bool { gst_plugin_feature_get_plugin_name(self).map { String(cString: $0) } == "libav" }
}

extension ElementPointer {
    /// True if the element, or one in it, is a source.
    fileprivate var isSource: Bool {
        self.cast(to: GstObject.self).pointee.flags
            & GST_ELEMENT_FLAG_SOURCE.rawValue != 0
    }
}

extension CapsPointer {
    fileprivate func integer(_ field: String) -> Int? {
        var value: gint = 0
        guard let structure = gst_caps_get_structure(self, 0), gst_structure_get_int(structure, field, &value) != 0
        else {
            return nil
        }
        return Int(value)
    }

    fileprivate var arePictures: Bool { ["video/", "image/"].contains { mediaType.hasPrefix($0) } }

    /// True for a stream of colors that has one of alpha beside it.
    fileprivate var hasAlphaStream: Bool {
        var isTrue: gboolean = 0
        guard let structure = gst_caps_get_structure(self, 0) else { return false }
        return gst_structure_get_boolean(structure, "codec-alpha", &isTrue) != 0 && isTrue != 0
    }

    /// Width times height; nil where one is missing.
    fileprivate var pixels: Int? {
        guard let (width, height) = size, width > 0, height > 0 else { return nil }
        return width * height  // of 31 bits each
    }

    /// A copy without width and height, which the caller owns.
    fileprivate var withoutSize: CapsPointer? {
        guard let copy = gst_caps_copy(self) else { return nil }
        for index in 0..<gst_caps_get_size(copy) {
            guard let structure = gst_caps_get_structure(copy, index) else { continue }
            gst_structure_remove_field(structure, "width")
            gst_structure_remove_field(structure, "height")
        }
        return copy
    }

    /// Calls `body` with the field `codec_data`, if there is one.
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
    /// Replaces the event by one with other caps, whose ownership is taken.
    fileprivate func replaceCaps(with caps: CapsPointer?) {
        guard let caps = OwnedCaps(taking: caps), let old = gst_pad_probe_info_get_event(self),
            let event = gst_event_new_caps(caps.pointer)
        else { return }
        gst_event_set_seqnum(event, gst_event_get_seqnum(old))
        pointee.data = UnsafeMutableRawPointer(event)
        gst_mini_object_unref(old.cast(to: GstMiniObject.self))
    }
}

/// Connects to an object's signal. `receiver` is retained until the signal is disconnected.
private func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ callback: GCallback, _ receiver: AnyObject)
{
    g_signal_connect_data(
        object, signal, callback, owned(receiver), { data, _ in releaseOwned(data) }, GConnectFlags(rawValue: 0))
}

private typealias SelectElement =
    @convention(c) (ElementPointer?, PadPointer?, CapsPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> gint

private let selectElement: SelectElement = { _, pad, caps, factory, data in
    guard let pad, let caps, let factory, let decoderGuard = lent(data, as: DecoderGuard.self) else {
        return AutoplugChoice.skip.rawValue
    }
    return decoderGuard.choose(factory, for: caps, behind: pad).rawValue
}

private typealias ElementAdded =
    @convention(c) (
        UnsafeMutablePointer<GstBin>?, UnsafeMutablePointer<GstBin>?, ElementPointer?,
        UnsafeMutableRawPointer?
    ) -> Void

private let elementAdded: ElementAdded = { _, _, element, data in
    if let element { lent(data, as: DecoderGuard.self)?.watch(element) }
}

private typealias PadAdded = @convention(c) (ElementPointer?, PadPointer?, UnsafeMutableRawPointer?) -> Void

private let padAdded: PadAdded = { _, pad, data in
    if let pad { lent(data, as: ElementWatch.self)?.watch(pad) }
}
