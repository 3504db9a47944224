package import CGStreamer
import CGStreamerShims
import GstBridge
import Synchronization

/// A decoded picture and its format.
package final class Picture {
    let buffer: BufferRef
    package let info: GstVideoInfo

    init(_ buffer: BufferRef, _ info: GstVideoInfo) {
        self.buffer = buffer
        self.info = info
    }

    /// Takes the picture of a decoder's sample; nil if the sample has none.
    fileprivate init?(sample: OpaquePointer) {
        var info = GstVideoInfo()
        guard let buffer = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample),
            gst_video_info_from_caps(&info, caps) != 0
        else { return nil }
        self.buffer = BufferRef(sharing: buffer)
        self.info = info
    }

    var isInterlaced: Bool { info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE }
}

/// Decodes the pictures of a file in a GStreamer pipeline of its own.
///
/// One thread pulls pictures; any thread may stop it.
final class BackgroundDecoder: @unchecked Sendable {  // guard: the pulling thread, or own locks
    /// The file's content, as its first bytes say.
    enum Content {
        /// A still, or the images of an animation.
        case pictures(PictureHeader, [PicturePiece])
        /// Any other file, in which GStreamer looks for a video stream.
        case stream
    }

    /// The result of a wait for a picture.
    enum Outcome {
        case picture(Picture, stamp: RunningTime?, duration: RunningTime?)
        /// No picture yet.
        case nothing
        case end
        /// Decoding failed, with the decoder's reason. It may work again after `rewind`.
        case fault(String)
        /// The file is refused for good, with the reason.
        case refused(String)
    }

    private let pipeline: ElementPointer
    private let sink: UnsafeMutablePointer<GstAppSink>
    private let decoderGuard: DecoderGuard
    private let feed: PieceFeed?
    private let isStopped = Atomic(false)
    private var picturesThisRound = 0
    /// The decoder's error since the last `rewind`.
    private var fault: String?

    /// Nanoseconds of one wait for a picture: short, so that an interruption is noticed soon.
    private static let waitStep: GstClockTime = 20_000_000
    /// Timeout for stopping, in microseconds.
    private static let timeToStop: Int64 = 500_000

    /// - Parameters:
    ///   - bytes: the file.
    ///   - maxPixels: larger pictures are refused.
    /// - Throws: an error that names the GStreamer elements that are missing.
    init(_ bytes: ByteReader, path: String, _ content: Content, maxPixels: Int) throws(ElementError) {
        // videoflip, if installed, turns what the camera was turned.
        let upright = hasFactory("videoflip") ? "videoflip name=upright \(content.direction) !" : ""
        let description =
            "\(content.source) ! decodebin name=decoder ! videoconvert ! \(upright) "
            + "appsink name=sink caps=video/x-raw sync=false max-buffers=3 enable-last-sample=false"
        guard let pipeline = gst_parse_launch(description, nil) else {
            throw ElementError(
                .core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's decodebin, videoconvert or appsink is missing.")
        }
        gst_object_ref_sink(pipeline)
        let bin = pipeline.cast(to: GstBin.self)
        let named = ["source", "decoder", "sink"].map { (name: String) in gst_bin_get_by_name(bin, name) }
        guard let source = named[0], let decodebin = named[1], let sink = named[2] else {
            for element in named { if let element { gst_object_unref(element) } }
            gst_object_unref(pipeline)
            throw ElementError(
                .core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's filesrc, appsrc, decodebin or appsink is missing.")
        }
        switch content {
        case .pictures(_, let pieces): feed = PieceFeed(pieces, of: bytes, through: source)
        case .stream:
            feed = nil
            setLocation(of: source, path)
            gst_bin_get_by_name(bin, "upright").map(followTags)
        }
        decoderGuard = DecoderGuard(decodebin, in: pipeline, maxPixels: maxPixels)
        gst_object_unref(source)
        gst_object_unref(decodebin)
        self.pipeline = pipeline
        self.sink = sink.cast(to: GstAppSink.self)
    }

    deinit {
        stop()
        gst_object_unref(sink)
        gst_object_unref(pipeline)
    }

    func start() {
        if gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE {
            noteMessages()
            fault = fault ?? "it cannot be opened"
        }
        feed?.push()
    }

    /// Stops decoding and releases all memory. Any thread.
    ///
    /// - Parameter waiting: true to wait until the pipeline has stopped, for at most `timeToStop`.
    func stop(waiting: Bool = true) {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        let last = PipelineEnd(pipeline)
        // A thread of its own, because gst_deinit waits for those of gst_element_call_async and a faulty decoder may never
        // return.
        guard onThread("depthmatte-decoder", { last.reach() }) else { return last.reach() }
        if waiting { last.wait(microseconds: BackgroundDecoder.timeToStop) }
    }

    // MARK: Pictures

    /// The reason why the file is refused; nil while it is not.
    var refusal: String? { decoderGuard.refusal }

    /// The reason why the file has nothing to decode, if it is known.
    var hint: String? { decoderGuard.hint }

    /// Returns the next picture.
    ///
    /// - Parameter block: true to wait for it, for at most `waitStep`.
    func next(block: Bool) -> Outcome {
        if let refusal { return .refused(refusal) }
        let sample = gst_app_sink_try_pull_sample(sink, block ? BackgroundDecoder.waitStep : 0)
        noteMessages()  // on each call, so that messages do not accumulate on the bus
        if let sample {
            defer { gst_sample_unref(sample) }
            guard let picture = Picture(sample: sample) else {
                return .fault("it contains something other than pictures")
            }
            defer { picturesThisRound += 1 }
            guard let feed else { return .picture(picture, stamp: picture.stamp, duration: picture.duration) }
            return .picture(picture, stamp: nil, duration: feed.duration(picturesThisRound))
        }
        if let refusal { return .refused(refusal) }
        if let fault { return .fault(hint ?? fault) }
        return gst_app_sink_is_eos(sink) != 0 ? .end : .nothing
    }

    /// Seeks to the start of the file; false if that fails.
    func rewind() -> Bool {
        fault = nil
        picturesThisRound = 0
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        guard gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, 0) != 0 else { return false }
        feed?.push()
        return true
    }

    private func noteMessages() {
        guard let bus = gst_element_get_bus(pipeline) else { return }
        defer { gst_object_unref(UnsafeMutableRawPointer(bus)) }
        while let message = gst_bus_pop(bus) {
            if message.pointee.type == GST_MESSAGE_ERROR { fault = fault ?? errorText(message) }
            gst_mini_object_unref(message.cast(to: GstMiniObject.self))
        }
    }
}

/// The shutdown of a pipeline, which may block.
private final class PipelineEnd: @unchecked Sendable {  // guard: GStreamer locks the pipeline's state
    private let pipeline: ElementPointer
    private let isReached = Monitor(false)

    init(_ pipeline: ElementPointer) {
        gst_object_ref(pipeline)
        self.pipeline = pipeline
    }

    deinit { gst_object_unref(pipeline) }

    func reach() {
        gst_element_set_state(pipeline, GST_STATE_NULL)
        isReached.withLock { $0 = true }
    }

    func wait(microseconds: Int64) { _ = isReached.wait(microseconds: microseconds) { $0 } }
}

extension BackgroundDecoder.Content {
    /// The source element of the launch line. Each picture of a picture file is one buffer, because most decoders need it
    /// whole, and gst-libav's GIF demuxer never sends EOS.
    fileprivate var source: String {
        switch self {
        case .stream: "filesrc name=source"
        case .pictures(let header, _) where header.kind == .gif: Self.pieces + "image/gst-libav-gif,parsed=true"
        case .pictures(let header, _): Self.pieces + "image/\(header.kind)"
        }
    }

    /// The property of `videoflip`. Streams carry a tag.
    fileprivate var direction: String {
        if case .pictures(let header, _) = self { "video-direction=\(header.orientation.videoDirection)" } else { "" }
    }

    private static let pieces = "appsrc name=source format=time stream-type=seekable max-bytes=0 caps="
}

/// Makes a `videoflip`, whose ownership is taken, follow the tag image-orientation. Its own `video-direction=auto` does not, in GStreamer
/// 1.22.
private func followTags(_ videoflip: ElementPointer) {
    defer { gst_object_unref(videoflip) }
    guard let pad = gst_element_get_static_pad(videoflip, "sink") else { return }
    defer { gst_object_unref(pad) }
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        { pad, info, _ in
            var (tags, method): (UnsafeMutablePointer<GstTagList>?, GstVideoOrientationMethod) = (nil, .init(0))
            guard let pad, let info, let event = gst_pad_probe_info_get_event(info),
                event.pointee.type == GST_EVENT_TAG, let videoflip = gst_pad_get_parent_element(pad)
            else { return GST_PAD_PROBE_OK }
            defer { gst_object_unref(videoflip) }
            gst_event_parse_tag(event, &tags)
            if let tags, gst_video_orientation_from_tag(tags, &method) != 0 {
                gst_util_set_object_arg(videoflip.cast(to: GObject.self), "video-direction", "\(method.rawValue)")
            }
            return GST_PAD_PROBE_OK
        }, nil, nil)
}

/// Pushes the pictures of a file into an `appsrc`, again after each rewind.
private final class PieceFeed {
    private let source: UnsafeMutablePointer<GstAppSrc>
    private let pieces: [(buffer: BufferRef, duration: RunningTime?)]

    init(_ pieces: [PicturePiece], of bytes: ByteReader, through source: ElementPointer) {
        gst_object_ref(source)
        self.source = source.cast(to: GstAppSrc.self)
        self.pieces = pieces.compactMap { piece in bytes.buffer(piece.bytes).map { ($0, piece.duration) } }
        // Accepts every seek: all go to the start, and `push` follows.
        let agree: @convention(c) (UnsafeMutableRawPointer?, guint64, UnsafeMutableRawPointer?) -> gboolean = {
            _, _, _ in 1
        }
        let callback = unsafeBitCast(agree, to: GCallback.self)
        g_signal_connect_data(source, "seek-data", callback, nil, nil, GConnectFlags(rawValue: 0))
    }

    deinit { gst_object_unref(source) }

    /// Pushes all pictures and EOS.
    func push() {
        for piece in pieces {
            ref(piece.buffer.pointer)
            gst_app_src_push_buffer(source, piece.buffer.pointer)
        }
        gst_app_src_end_of_stream(source)
    }

    /// Returns the duration of a picture, if the file contains it.
    func duration(_ index: Int) -> RunningTime? { pieces.indices.contains(index) ? pieces[index].duration : nil }
}

extension ByteReader {
    fileprivate func buffer(_ range: Range<Int>) -> BufferRef? {
        guard let buffer = try? newSharedBuffer(size: range.count) else { return nil }
        var map = GstMapInfo()
        guard gst_buffer_map(buffer.pointer, &map, GST_MAP_WRITE) != 0 else { return nil }
        defer { gst_buffer_unmap(buffer.pointer, &map) }
        let memory = UnsafeMutableRawBufferPointer(start: map.data, count: min(Int(clamping: map.size), range.count))
        return read(from: range.lowerBound, into: memory) ? buffer : nil
    }
}

extension Picture {
    /// The picture's timestamp and duration in the file, in nanoseconds.
    fileprivate var stamp: RunningTime? { RunningTime(validating: buffer.pointer.pointee.pts) }
    fileprivate var duration: RunningTime? { RunningTime(validating: buffer.pointer.pointee.duration) }
}

extension RunningTime {
    fileprivate init?(validating time: GstClockTime) {
        guard time != noClockTime else { return nil }
        self.init(clamping: time)
    }
}

private func errorText(_ message: UnsafeMutablePointer<GstMessage>) -> String {
    var error: UnsafeMutablePointer<GError>?
    var details: UnsafeMutablePointer<gchar>?
    gst_message_parse_error(message, &error, &details)
    defer { g_free(details) }
    // A source says no more where what it sends is refused.
    if let details, g_strstr_len(details, -1, "streaming stopped") != nil {
        g_clear_error(&error)
        return "no decoder takes what is in it; \(readableKinds)"
    }
    let unknownTypes = [
        GST_STREAM_ERROR_TYPE_NOT_FOUND, GST_STREAM_ERROR_WRONG_TYPE, GST_STREAM_ERROR_CODEC_NOT_FOUND,
        GST_STREAM_ERROR_DEMUX,
    ]
    let isUnknown =
        unknownTypes.contains { g_error_matches(error, gst_stream_error_quark(), gint($0.rawValue)) != 0 }
        || g_error_matches(error, gst_core_error_quark(), gint(GST_CORE_ERROR_MISSING_PLUGIN.rawValue)) != 0
    let text = takeText(error) ?? "it cannot be decoded"
    return isUnknown ? "\(text) (\(readableKinds))" : text
}

private func hasFactory(_ name: String) -> Bool {
    gst_registry_check_feature_version(gst_registry_get(), name, 0, 0, 0) != 0
}

/// Sets the property `location` of a `filesrc` or `filesink`.
func setLocation(of file: ElementPointer, _ path: String) {
    var location = GValue()
    g_value_init(&location, GSTSHIMS_TYPE_STRING)
    g_value_set_string(&location, path)
    g_object_set_property(file.cast(to: GObject.self), "location", &location)
    g_value_unset(&location)
}
