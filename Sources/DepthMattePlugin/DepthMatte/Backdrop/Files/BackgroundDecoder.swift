import CGStreamer
import CGStreamerShims
import GstBridge
import Synchronization

/// A decoded picture and its format.
final class Picture {
    let buffer: BufferRef
    let info: GstVideoInfo

    init(_ buffer: BufferRef, _ info: GstVideoInfo) {
        self.buffer = buffer
        self.info = info
    }

    /// A picture out of a decoder's sample; nil where the sample holds none.
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

/// Decodes the pictures of a file with GStreamer's own elements, in a pipeline of its own.
///
/// One thread pulls pictures; any may stop it.
final class BackgroundDecoder: @unchecked Sendable {  // guard: what changes is the pulling thread's, or locks itself
    /// The file's content as its first bytes tell it.
    enum Content {
        /// A still, or the images of an animation.
        case pictures(PictureHeader.Kind, [PicturePiece])
        /// Any stream that GStreamer finds in it.
        case stream
    }

    /// The result of a wait for a picture.
    enum Outcome {
        case picture(Picture, stamp: RunningTime?, duration: RunningTime?)
        /// None yet.
        case nothing
        case end
        /// No more come until the file is started again; the decoder's reason.
        case fault(String)
        /// No more come at all.
        case refused(String)
    }

    private let pipeline: UnsafeMutablePointer<GstElement>
    private let sink: UnsafeMutablePointer<GstAppSink>
    private let decoderGuard: DecoderGuard
    private let feed: PieceFeed?
    private let isStopped = Atomic(false)
    private var picturesThisRound = 0
    /// The decoder's reason for stopping in this round.
    private var fault: String?

    /// The length of one wait for a picture: short, so that an interruption is noticed soon.
    private static let glance: GstClockTime = 20_000_000
    /// Microseconds that a decoder has to finish its picture.
    private static let timeToStop: Int64 = 500_000

    /// - Parameters:
    ///   - bytes: the file.
    ///   - maxPixels: larger pictures are refused.
    /// - Throws: an error that names what of GStreamer is missing.
    init(_ bytes: ByteReader, path: String, _ content: Content, maxPixels: Int) throws(ElementError) {
        // Cameras note in the file how they were held; videoflip turns the picture upright where it is installed.
        let upright = hasFactory("videoflip") ? "videoflip method=automatic !" : ""
        let description =
            "\(content.source) ! decodebin name=decoder ! videoconvert ! \(upright) "
            + "appsink name=sink caps=video/x-raw sync=false max-buffers=3 enable-last-sample=false"
        guard let pipeline = gst_parse_launch(description, nil) else {
            throw ElementError(
                .core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's decodebin, videoconvert or appsink is missing.")
        }
        gst_object_ref_sink(pipeline)
        let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
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
        }
        decoderGuard = DecoderGuard(decodebin, in: pipeline, maxPixels: maxPixels)
        gst_object_unref(source)
        gst_object_unref(decodebin)
        self.pipeline = pipeline
        self.sink = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self)
    }

    deinit {
        stop()
        gst_object_unref(sink)
        gst_object_unref(pipeline)
    }

    /// Begins to decode.
    func start() {
        if gst_element_set_state(pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE {
            noteMessages()
            fault = fault ?? "it cannot be opened"
        }
        feed?.push()
    }

    /// Gives back all memory. Any thread; no other picture will come.
    ///
    /// - Parameter waiting: waits for a decoder in the middle of a picture, for a bounded while.
    func stop(waiting: Bool = true) {
        guard !isStopped.exchange(true, ordering: .relaxed) else { return }
        let last = PipelineEnd(pipeline)
        // Not by gst_element_call_async: gst_deinit waits for its threads, and a faulty decoder may never return.
        guard onThread("depthmatte-decoder", { last.reach() }) else { return last.reach() }
        if waiting { last.wait(microseconds: BackgroundDecoder.timeToStop) }
    }

    // MARK: Pictures

    /// The reason why nothing of the file is decoded any more; nil while it is.
    var refusal: String? { decoderGuard.refusal }

    /// The reason why there is nothing to decode in the file, as far as it is known.
    var hint: String? { decoderGuard.hint }

    /// The next picture.
    ///
    /// - Parameter block: waits for it a short while.
    func next(block: Bool) -> Outcome {
        if let refusal { return .refused(refusal) }
        let sample = gst_app_sink_try_pull_sample(sink, block ? BackgroundDecoder.glance : 0)
        noteMessages()  // looked at each time, or those of a long video would pile up on the bus
        if let sample {
            defer { gst_sample_unref(sample) }
            guard let picture = Picture(sample: sample) else { return .fault("it holds something else than pictures") }
            defer { picturesThisRound += 1 }
            guard let feed else { return .picture(picture, stamp: picture.stamp, duration: picture.duration) }
            return .picture(picture, stamp: nil, duration: feed.duration(picturesThisRound))
        }
        if let refusal { return .refused(refusal) }
        if let fault { return .fault(hint ?? fault) }
        return gst_app_sink_is_eos(sink) != 0 ? .end : .nothing
    }

    /// Starts the file again; false where that cannot be done.
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
            gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
        }
    }
}

/// The end of a pipeline, which may take its time.
private final class PipelineEnd: @unchecked Sendable {  // guard: GStreamer locks the pipeline's state
    private let pipeline: UnsafeMutablePointer<GstElement>
    private let isReached = Monitor(false)

    init(_ pipeline: UnsafeMutablePointer<GstElement>) {
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
    /// The start of a launch line. Most decoders take a picture in one piece only, and gst-libav's GIF demuxer never
    /// ends; so each piece of a picture file is one buffer.
    fileprivate var source: String {
        switch self {
        case .stream: "filesrc name=source"
        case .pictures(.gif, _): Self.pieces + "image/gst-libav-gif,parsed=true"
        case .pictures(let kind, _): Self.pieces + "image/\(kind)"
        }
    }

    private static let pieces = "appsrc name=source format=time stream-type=seekable max-bytes=0 caps="
}

/// The pieces of a file on their way into an `appsrc`, as often as they are wanted.
private final class PieceFeed {
    private let source: UnsafeMutablePointer<GstAppSrc>
    private let pieces: [(buffer: BufferRef, duration: RunningTime?)]

    init(_ pieces: [PicturePiece], of bytes: ByteReader, through source: UnsafeMutablePointer<GstElement>) {
        gst_object_ref(source)
        self.source = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self)
        self.pieces = pieces.compactMap { piece in bytes.buffer(piece.bytes).map { ($0, piece.duration) } }
        // Every seek is to the start, and `push` follows it.
        let agree: @convention(c) (UnsafeMutableRawPointer?, guint64, UnsafeMutableRawPointer?) -> gboolean = {
            _, _, _ in 1
        }
        let callback = unsafeBitCast(agree, to: GCallback.self)
        g_signal_connect_data(source, "seek-data", callback, nil, nil, GConnectFlags(rawValue: 0))
    }

    deinit { gst_object_unref(source) }

    /// Hands all pieces on, and the end.
    func push() {
        for piece in pieces {
            ref(piece.buffer.pointer)
            gst_app_src_push_buffer(source, piece.buffer.pointer)
        }
        gst_app_src_end_of_stream(source)
    }

    /// The time for which the picture of a piece is shown, if the file says it.
    func duration(_ index: Int) -> RunningTime? { pieces.indices.contains(index) ? pieces[index].duration : nil }
}

extension ByteReader {
    fileprivate func buffer(_ range: Range<Int>) -> BufferRef? {
        guard let buffer = try? newSharedBuffer(size: range.count) else { return nil }
        var map = GstMapInfo()
        guard gst_buffer_map(buffer.pointer, &map, GST_MAP_WRITE) != 0 else { return nil }
        defer { gst_buffer_unmap(buffer.pointer, &map) }
        let memory = UnsafeMutableRawBufferPointer(start: map.data, count: min(Int(map.size), range.count))
        return read(from: range.lowerBound, into: memory) ? buffer : nil
    }
}

extension Picture {
    /// The time at which it is shown, and for how long, by the file's own clock.
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
    gst_message_parse_error(message, &error, nil)
    return takeText(error) ?? "it cannot be decoded"
}

private func hasFactory(_ name: String) -> Bool {
    gst_registry_check_feature_version(gst_registry_get(), name, 0, 0, 0) != 0
}

private func setLocation(of file: UnsafeMutablePointer<GstElement>, _ path: String) {
    var location = GValue()
    g_value_init(&location, GSTSHIMS_TYPE_STRING)
    g_value_set_string(&location, path)
    g_object_set_property(
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: GObject.self), "location", &location)
    g_value_unset(&location)
}
