import CGStreamer
import CGStreamerShims
import GstBridge

/// A decoded picture and what its bytes mean.
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
}

/// Reads a still, an animation or a video with GStreamer's own decoders, in a pipeline of its own.
///
/// Made on whatever thread loads; after that one thread asks for pictures. `interrupt` and `close` may come from any.
final class BackgroundReader: @unchecked Sendable {  // guard: handed over whole, then used by one thread; see above
    private let pipeline: UnsafeMutablePointer<GstElement>
    private let sink: UnsafeMutablePointer<GstAppSink>
    private let path: String
    private let interrupted = CancelFlag()
    private let isCancelled: CancelFlag

    /// The picture that holds now, and the one after it with the time at which it takes over.
    private var current: Picture
    private var next: (picture: Picture, time: RunningTime)?
    /// Running time of the video at which the file's first frame stands, this time round.
    private var origin: RunningTime?
    /// The time last asked for.
    private var lastTime: RunningTime?
    /// Where the file's last frame ends, on the file's own clock.
    private var fileEnd: RunningTime = 0
    /// Length of the rounds already shown.
    private var roundsBefore: RunningTime = 0
    private var framesThisRound = 0

    /// How long a file may take to show its first picture.
    private static let patience: RunningTime = 10_000_000_000
    /// How far the video's clock may run ahead of the file's before the file is not expected to catch up.
    private static let longestJump: RunningTime = 5_000_000_000
    /// By how much a frame may come early: containers round their timestamps, many to milliseconds.
    private static let rounding: RunningTime = 1_000_000
    /// How long one look at the decoder lasts, so that an interruption is noticed soon.
    private static let glance: GstClockTime = 20_000_000

    /// Opens the file and waits for its first picture.
    ///
    /// - Parameters:
    ///   - location: a path or a `file:` URI of a regular file.
    ///   - maxPixels: larger pictures are refused.
    ///   - isCancelled: set by another thread when nobody wants the file any more.
    /// - Throws: an error that names the file and the reason.
    init(location: String, maxPixels: Int, isCancelled: CancelFlag) throws(ElementError) {
        self.isCancelled = isCancelled
        path = try BackgroundReader.regularFile(location, maxPixels: maxPixels)
        (pipeline, sink) = try BackgroundReader.decoder(path)
        let deadline = g_get_monotonic_time() &+ gint64(BackgroundReader.patience / 1000)
        do throws(ElementError) {
            guard gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE else {
                throw BackgroundReader.unreadable(path, BackgroundReader.busError(pipeline) ?? "it cannot be opened")
            }
            current = try BackgroundReader.firstPicture(pipeline, sink, path, until: deadline, isCancelled)
        } catch {
            BackgroundReader.dispose(pipeline, sink, mayWait: !isCancelled.isSet)
            throw error
        }
        next = pullNext(block: true, until: deadline)
    }

    deinit { BackgroundReader.dispose(pipeline, sink) }

    /// The file has one picture only.
    var still: Picture? { next == nil && fileEnd == 0 ? current : nil }

    /// Makes a waiting `picture` return soon, and keeps later ones from waiting.
    func interrupt() { interrupted.set(true) }

    /// Gives back the decoder. The picture at hand stays; no other will come. Any thread.
    func close() {
        interrupt()
        gst_element_set_state(pipeline, GST_STATE_NULL)
    }

    /// The picture that holds at the video's running time; the file starts at the first time asked for, and loops.
    ///
    /// - Parameter block: whether to wait for the decoder, so that the answer does not depend on its speed.
    func picture(at time: RunningTime, block: Bool) -> Picture {
        var start = origin ?? time
        if let lastTime, time < lastTime { start &+= time &- lastTime }  // the video was sought back: go on from here
        origin = start
        lastTime = time
        if let next, time &- start &- next.time > BackgroundReader.longestJump {
            origin = time &- next.time  // the video's clock jumped ahead: go on from here
        }
        while let upcoming = next ?? pullNext(block: block), let origin {
            next = upcoming
            guard upcoming.time <= time &- origin &+ BackgroundReader.rounding else { break }
            current = upcoming.picture
            next = nil
        }
        return current
    }

    // MARK: Decoding

    /// The next frame with its time since the first frame of the first round; nil at the end of a still, or where
    /// none is ready.
    ///
    /// - Parameter until: the moment, on the monotonic clock in microseconds, at which waiting ends.
    private func pullNext(block: Bool, until: gint64 = .max) -> (picture: Picture, time: RunningTime)? {
        repeat {
            // Looked at each time, or the messages of a long video would pile up on the decoder's bus.
            if BackgroundReader.busError(pipeline) != nil { return nil }
            if let sample = gst_app_sink_try_pull_sample(sink, block ? BackgroundReader.glance : 0) {
                defer { gst_sample_unref(sample) }
                return Picture(sample: sample).map { ($0, stamp($0)) }
            }
            if gst_app_sink_is_eos(sink) != 0 { return rewind() ? pullNext(block: block, until: until) : nil }
        } while block && !interrupted.isSet && !isCancelled.isSet && g_get_monotonic_time() < until
        return nil
    }

    private func stamp(_ picture: Picture) -> RunningTime {
        let buffer = picture.buffer.pointer.pointee
        let start = buffer.pts == noClockTime ? fileEnd : RunningTime(clamping: buffer.pts)
        let length = buffer.duration == noClockTime ? 40_000_000 : RunningTime(clamping: buffer.duration)
        fileEnd = start &+ length
        framesThisRound += 1
        return roundsBefore &+ start
    }

    /// Starts the file again; false for a file of one picture, and for one that showed nothing in its last round.
    private func rewind() -> Bool {
        guard framesThisRound > 0 else { return false }
        framesThisRound = 0
        roundsBefore &+= fileEnd
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        return gst_element_seek_simple(pipeline, GST_FORMAT_TIME, flags, 0) != 0
    }

    // MARK: Opening

    /// The path of a location that names a regular file. Devices and FIFOs would hang the loader.
    private static func regularFile(_ location: String, maxPixels: Int) throws(ElementError) -> String {
        var path = location
        if location.hasPrefix("file:") {
            guard let converted = takeString(g_filename_from_uri(location, nil, nil)) else {
                throw unreadable(location, "the URI is malformed")
            }
            path = converted
        } else if location.contains("://") {
            throw unreadable(location, "only local files are read; save it to disk first")
        }
        guard g_file_test(path, G_FILE_TEST_EXISTS) != 0 else {
            throw ElementError(
                .resource(GST_RESOURCE_ERROR_NOT_FOUND), "The background \"\(path)\" does not exist.")
        }
        guard g_file_test(path, G_FILE_TEST_IS_REGULAR) != 0 else {
            let isFolder = g_file_test(path, G_FILE_TEST_IS_DIR) != 0
            throw unreadable(path, isFolder ? "it is a directory" : "it is not a regular file")
        }
        let header = PictureHeader(path: path)
        if header.isTruncated { throw unreadable(path, "the file ends before the picture does") }
        if header.pixels > maxPixels {
            throw unreadable(
                path, "it has \(header.pixels) pixels, over the limit of \(maxPixels) (property max-pixels)")
        }
        return path
    }

    private static func unreadable(_ path: String, _ reason: String) -> ElementError {
        ElementError(
            .resource(GST_RESOURCE_ERROR_OPEN_READ), "The background \"\(path)\" cannot be read: \(reason).")
    }

    private static func decoder(
        _ path: String
    ) throws(ElementError) -> (UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstAppSink>) {
        // Cameras note in the file how they were held; videoflip turns the picture upright where it is installed.
        let upright = hasFactory("videoflip") ? "videoflip method=automatic !" : ""
        let description =
            "filesrc name=file ! decodebin ! videoconvert ! \(upright) "
            + "appsink name=sink caps=video/x-raw sync=false max-buffers=3 enable-last-sample=false"
        guard let pipeline = gst_parse_launch(description, nil) else {
            throw ElementError(
                .core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's decodebin, videoconvert or appsink is missing.")
        }
        gst_object_ref_sink(pipeline)
        let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
        guard let file = gst_bin_get_by_name(bin, "file"), let sink = gst_bin_get_by_name(bin, "sink") else {
            gst_object_unref(pipeline)
            throw ElementError(.core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's filesrc or appsink is missing.")
        }
        var location = GValue()
        g_value_init(&location, GSTSHIMS_TYPE_STRING)
        g_value_set_string(&location, path)
        g_object_set_property(
            UnsafeMutableRawPointer(file).assumingMemoryBound(to: GObject.self), "location", &location)
        g_value_unset(&location)
        gst_object_unref(file)
        return (pipeline, UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self))
    }

    private static func hasFactory(_ name: String) -> Bool {
        guard let factory = gst_element_factory_find(name) else { return false }
        gst_object_unref(UnsafeMutableRawPointer(factory))
        return true
    }

    private static func firstPicture(
        _ pipeline: UnsafeMutablePointer<GstElement>, _ sink: UnsafeMutablePointer<GstAppSink>, _ path: String,
        until deadline: gint64, _ isCancelled: CancelFlag
    ) throws(ElementError) -> Picture {
        while g_get_monotonic_time() < deadline && !isCancelled.isSet {
            if let sample = gst_app_sink_try_pull_sample(sink, glance) {
                defer { gst_sample_unref(sample) }
                guard let picture = Picture(sample: sample) else { break }
                return picture
            }
            if let reason = busError(pipeline) { throw unreadable(path, reason) }
            if gst_app_sink_is_eos(sink) != 0 { throw unreadable(path, "there is no whole picture in it") }
        }
        throw unreadable(path, "no picture came out of it in \(patience / 1_000_000_000) seconds")
    }

    /// The decoder's own words for what went wrong, if anything did since the last look.
    private static func busError(_ pipeline: UnsafeMutablePointer<GstElement>) -> String? {
        guard let bus = gst_element_get_bus(pipeline) else { return nil }
        defer { gst_object_unref(UnsafeMutableRawPointer(bus)) }
        var words: String?
        while let message = gst_bus_pop(bus) {
            defer {
                gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
            }
            if message.pointee.type == GST_MESSAGE_ERROR { words = words ?? errorText(message) }
        }
        return words
    }

    private static func errorText(_ message: UnsafeMutablePointer<GstMessage>) -> String {
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        guard let error else { return "it cannot be decoded" }
        defer { g_error_free(error) }
        var words = String(cString: error.pointee.message)
        while words.last == "." { words.removeLast() }
        return words
    }

    /// Gives up the decoder.
    ///
    /// - Parameter mayWait: whether to wait until it has ended. One in the middle of a large picture takes its time;
    ///   where that is not to be waited for, a thread of GStreamer's does.
    private static func dispose(
        _ pipeline: UnsafeMutablePointer<GstElement>, _ sink: UnsafeMutablePointer<GstAppSink>, mayWait: Bool = true
    ) {
        gst_object_unref(sink)
        if mayWait {
            gst_element_set_state(pipeline, GST_STATE_NULL)
        } else {
            gst_element_call_async(
                pipeline, { pipeline, _ in gst_element_set_state(pipeline, GST_STATE_NULL) }, nil, nil)
        }
        gst_object_unref(pipeline)
    }
}
