import CGStreamer
import DepthAggregator
import DepthCameras
import DepthKernels
import GstBridge
import Synchronization

/// One `depthcamsrc` instance.
///
/// Threads. `CaptureSession` has a thread that calls the camera's library. Each pad has a thread that takes frames from the session
/// and pushes them; a `CameraStream` belongs to its pad's thread, or to others while that is stopped. What they share is in
/// `shared`; no function of GStreamer is called while that is locked.
final class DepthCamSrcElement: PushSource {
    static let log = LogCategory(name: DepthCamSrc.factory, description: "Depth camera")

    let instance: ElementPointer
    let table = Properties(DepthCamSrc.properties, initial: DepthCamSrcSettings())
    let shared = Mutex(Shared())
    private(set) var streams: [CameraStream] = []
    /// The maps that are attached to the video. Used as the video's stream is.
    private(set) var attachment: CameraStream?

    struct Shared {
        /// The open camera or recording: made on the way to READY, closed on the way to NULL.
        var session: CaptureSession?
        /// True once a pad's thread has asked the session for streams.
        var isRequested = false
        /// True once an error was posted.
        var hasFailed = false
        /// True where the depth of the streams that were asked for has to have the color camera's view.
        var isAligned = false
        var links = SourceLinks<DepthCamSrc.PadRole>()
        /// The pipeline's clock less the host's monotonic clock, in nanoseconds.
        var clockOffset: Int64?
        /// Running times of the last exposures, so that both pads give one exposure one timestamp.
        var stamps: [(time: Int64, stamp: Int64)] = []
        /// The latency that the pipeline was told, in nanoseconds.
        var latency: GstClockTime = 0
        var depthLag = DepthLag()
    }

    /// By how much the depth of a camera was measured to be late.
    struct DepthLag {
        /// Its driver, name and serial number; nil for one that is not known again.
        var camera: String?
        var nanoseconds: Int64 = 0
        /// When it was measured, in microseconds of the monotonic clock; nil before.
        var changed: Int64?
    }

    /// Microseconds that a stop waits for the camera's library, twice at most: going to READY and to NULL.
    private static let stopPatience: Int64 = 200_000

    /// Microseconds that a state change waits for a camera to open, where frames are waited for without an end.
    private static let openPatience: Int64 = 5_000_000

    init(_ instance: ElementPointer) {
        self.instance = instance
        streams = addStreams { CameraStream($0, pad: $1) }
        attachment = streams.first { $0.role == .depth }.map { CameraStream(.depth, pad: $0.pad) }
    }

    var properties: any PropertyAccess { table }
    var session: CaptureSession? { shared.withLock { $0.session } }
    var isLive: Bool { session?.options.isLive ?? (table.current.location ?? "").isEmpty }

    func withLinks<Result: Sendable>(_ body: (inout SourceLinks<DepthCamSrc.PadRole>) -> Result) -> Result {
        shared.withLock { body(&$0.links) }
    }

    // MARK: Start and stop

    func changeState(_ transition: GstStateChange, parent: () -> GstStateChangeReturn) -> GstStateChangeReturn {
        if transition == GST_STATE_CHANGE_NULL_TO_READY,
            !succeeds({ () throws(ElementError) in try open() })
        {
            return GST_STATE_CHANGE_FAILURE
        }
        let result = changeStreams(transition, parent)
        switch transition {
        case GST_STATE_CHANGE_NULL_TO_READY where result == GST_STATE_CHANGE_FAILURE: close()
        case GST_STATE_CHANGE_PAUSED_TO_READY: session?.stop(microseconds: DepthCamSrcElement.stopPatience)
        case GST_STATE_CHANGE_READY_TO_NULL: close()
        default: break
        }
        return result
    }

    /// Opens the camera or the recording, so that the caps are known.
    private func open() throws(ElementError) {
        let options = CaptureSession.Options(table.current)
        guard let session = CaptureSession(options) else {
            throw ElementError(.resource(GST_RESOURCE_ERROR_FAILED), "The system gives no thread for the camera.")
        }
        shared.withLock { $0.session = session }
        let patience = options.silence ?? DepthCamSrcElement.openPatience
        switch session.waitUntilOpen(microseconds: patience) {
        case .open(let info)?:
            let camera = info.serial.isEmpty ? nil : "\(info.driver) \(info.name) \(info.serial)"
            shared.withLock { shared in
                if camera == nil || shared.depthLag.camera != camera { shared.depthLag = DepthLag(camera: camera) }
            }
            Self.log(GST_LEVEL_INFO, self) { "opened \(info.name), serial \(info.serial), driver \(info.driver)" }
            return
        case .failed(let error)?:
            close()
            throw options.elementError(error)
        case .opening?, .streaming?, .ended?, .closed?, nil:
            close()
            throw ElementError(
                .resource(GST_RESOURCE_ERROR_OPEN_READ),
                "The camera did not open within \(patience / 1000) ms (property timeout).")
        }
    }

    func prepare() {
        for stream in streams + [attachment].compactMap(\.self) { stream.reset() }
        let links = SourceLinks<DepthCamSrc.PadRole>()
        shared.withLock { $0 = Shared(session: $0.session, links: links, depthLag: $0.depthLag) }
        session?.prepare()
        if !isLive { session?.setFlowing(true) }
    }

    func play() { session?.setFlowing(true) }

    func pause() { if isLive { session?.setFlowing(false) } }

    private func close() {
        let session = shared.withLock { shared in
            defer { shared.session = nil }
            return shared.session
        }
        guard let session, !session.close(microseconds: DepthCamSrcElement.stopPatience) else { return }
        Self.log(GST_LEVEL_WARNING, self) { "the camera's library does not return; its thread is left alone" }
    }

    func interrupt(_ stream: CameraStream, _ isInterrupted: Bool) {
        session?.setInterrupted(stream.role, isInterrupted)
    }

    func endAll() { session?.end() }

    // MARK: Sending

    func sendNext(_ stream: CameraStream) throws(FlowStop) {
        guard let session else { throw .refused(GST_FLOW_FLUSHING) }
        do throws(FlowStop) {
            let isLinked = stream.pad.isLinked
            session.setLinked(stream.role, isLinked)
            // The pad's own thread may not have run yet.
            if let attachment, !attachment.pad.isLinked { session.setLinked(.depth, false) }
            guard isLinked else { throw .refused(GST_FLOW_NOT_LINKED) }
            shared.withLock { _ = $0.links.unlinked.remove(stream.role) }
            sendStreamStart(stream)
            let (camera, generation) = try startedStreams(stream, session)
            if gst_pad_check_reconfigure(stream.pad) != 0 || stream.format == nil || stream.generation != generation {
                // Where the camera starts anew with other modes, the next step waits for it.
                guard try negotiate(stream, camera) else { return }
                stream.generation = generation
            }
            try sendNext(stream, session)
        } catch .refused(GST_FLOW_NOT_LINKED) {
            session.setLinked(stream.role, false)
            stream.isInterrupted = true
            throw .refused(GST_FLOW_NOT_LINKED)
        }
    }

    /// Asks the camera for streams, unless the other pad has, and waits until they run.
    ///
    /// - Returns: the streams, and the number of the request that they were started by.
    private func startedStreams(
        _ stream: CameraStream, _ session: CaptureSession
    ) throws(FlowStop) -> (CameraStreams, generation: Int) {
        if let error = session.failure { throw .failed(session.options.elementError(error)) }
        let isFirst = shared.withLock { shared in
            defer { shared.isRequested = true }
            return !shared.isRequested
        }
        // There is no request after the return of a camera either.
        if isFirst || session.request == nil { session.start(try chosenSettings(session)) }
        let patience = session.options.silence ?? Int64.max / 2
        let (phase, generation) = session.waitUntilStreaming(stream.role, microseconds: patience)
        switch phase {
        case .streaming(_, let streams)?: return (streams, generation)
        case .ended?:
            guard let streams = session.lastStreams else { throw .endOfStream }
            return (streams, generation)
        case .failed(let error)?: throw .failed(session.options.elementError(error))
        case .opening?, .open?, .closed?: throw .refused(GST_FLOW_FLUSHING)
        case nil:
            if stream.pad.isFlushing { throw .refused(GST_FLOW_FLUSHING) }
            if session.isEnding { throw .endOfStream }
            throw .failed(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_READ),
                    "The camera did not start within \(patience / 1000) ms (property timeout)."))
        }
    }

    private func sendNext(_ stream: CameraStream, _ session: CaptureSession) throws(FlowStop) {
        let settings = table.current
        if settings.numBuffers >= 0 && stream.sent >= UInt64(settings.numBuffers) { throw .endOfStream }
        switch session.next(stream.role, generation: stream.generation) {
        case .frame(let frame): try send(frame, stream, session)
        case .news(.unplugged(let error)): warn(session.options.elementError(error))
        case .news(.returned): Self.log(GST_LEVEL_INFO, self) { "the camera is back" }
        case .ended:
            let counts = session.counts
            let isEmpty = (stream.role == .video ? counts.video : counts.depth) == 0
            throw isEmpty && !session.isEnding ? missing(stream.role, "frame", session) : .endOfStream
        case .failed(let error): throw .failed(session.options.elementError(error))
        case .interrupted: throw .refused(GST_FLOW_FLUSHING)
        case .restarted: return
        }
    }

    private func send(_ frame: CaptureSession.Frame, _ stream: CameraStream, _ session: CaptureSession) throws(FlowStop)
    {
        guard let format = stream.format else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        // Frames from before the start, and from before a pause, have no place in the stream.
        guard let time = timestamp(of: frame.time), case let stamp = stream.role == .depth ? time &- depthLag : time,
            stamp >= 0, stream.lastStamp.map({ stamp > $0 }) ?? true
        else { return }
        guard let buffer = try stream.converted(frame.buffer) else {
            throw .failed(ElementError(.resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT), "Out of memory for a depth map."))
        }
        stream.lastStamp = stamp
        buffer.pointer.pointee.pts = GstClockTime(stamp)
        buffer.pointer.pointee.duration = format.duration
        buffer.pointer.pointee.offset = guint64(stream.sent)
        buffer.pointer.pointee.offset_end = guint64(stream.sent &+ 1)
        // The meta notes the picture's time.
        if stream.role == .video, let map = frame.depth { attach(map, to: buffer.pointer) }
        if frame.isAfterLoss || stream.isInterrupted { buffer.pointer.markDiscontinuity() }
        stream.isInterrupted = false
        gst_object_sync_values(object, GstClockTime(stamp))
        beginSegment(stream)
        updateLatency(session)
        let result = gst_pad_push(stream.pad, buffer.surrender())
        guard result == GST_FLOW_OK else { throw .refused(result) }
        stream.sent &+= 1
    }

    /// Attaches a depth map to a video buffer. One that serves several buffers is converted once.
    private func attach(_ map: CaptureSession.Frame.Map, to buffer: BufferPointer) {
        guard let attachment, let format = attachment.format, let caps = attachment.attachedCaps,
            let stamp = timestamp(of: map.time), stamp >= 0
        else { return }
        if attachment.lastStamp != stamp {
            // Video frames before may show the same map with another time.
            attachment.attachedMap = (try? attachment.converted(map.buffer))?.writable
            attachment.lastStamp = stamp
            attachment.attachedMap?.pointer.pointee.pts = GstClockTime(stamp)
            attachment.attachedMap?.pointer.pointee.duration = format.duration
        }
        if let made = attachment.attachedMap { attachedDepth.attach(made.pointer, caps.pointer, to: buffer) }
    }

    func beginSegment(_ stream: CameraStream) {
        guard stream.needsSegment else { return }
        stream.needsSegment = false
        stream.push(newSegmentInTime())
    }
}

/// The stream of one pad. Used by the pad's thread, or while that is stopped.
final class CameraStream: SourceStream {
    let role: DepthCamSrc.PadRole
    let pad: PadPointer
    var needsStreamStart = true
    var needsSegment = true
    /// True if the next frame is discontinuous.
    var isInterrupted = true
    /// Frames that were pushed.
    var sent: UInt64 = 0
    /// Running time of the last frame.
    var lastStamp: Int64?
    /// The caps of maps that leave with the video, and the last of them.
    var attachedCaps: CapsRef?
    var attachedMap: BufferRef?
    /// Nil before caps.
    private(set) var format: CameraOutput?
    /// The request (`CaptureSession.start`) whose streams the format is of.
    var generation = 0
    private var pool: PicturePool?
    /// Registers the maps, where the camera does not and the property `align` asks for it.
    private var registration: Registration?

    private struct Registration {
        let kernel: DepthRegistration
        let pool: PicturePool
        let input: FrameLayout
        let output: FrameLayout
        /// Metres per count.
        let unit: Double
    }

    init(_ role: DepthCamSrc.PadRole, pad: PadPointer) {
        self.role = role
        self.pad = pad
    }

    func reset() {
        needsStreamStart = true
        needsSegment = true
        isInterrupted = true
        sent = 0
        lastStamp = nil
        format = nil
        pool = nil
        registration = nil
        attachedCaps = nil
        attachedMap = nil
    }

    /// - Parameters:
    ///   - mode: of the frames that come from the camera.
    ///   - unit: of their depth, in metres per count.
    /// - Throws: where the depth is to be registered and the calibration is no camera's.
    func setFormat(_ format: CameraOutput, from mode: CameraMode, unit: Double) throws(FlowStop) {
        self.format = format
        pool = PicturePool(size: format.size)
        registration = nil
        guard let calibration = format.registration else { return }
        guard let color = calibration.color,
            let kernel = DepthRegistration(
                calibration, width: mode.width, height: mode.height, outputWidth: color.width,
                outputHeight: color.height),
            let input = try? GstVideoInfo.of(GST_VIDEO_FORMAT_GRAY16_LE, width: mode.width, height: mode.height),
            let output = try? GstVideoInfo.of(GST_VIDEO_FORMAT_GRAY16_LE, width: color.width, height: color.height)
        else {
            throw .failed(
                ElementError(.settings, "The camera's calibration cannot register its depth. Set align=none."))
        }
        let layout = FrameLayout(output)
        registration = Registration(
            kernel: kernel, pool: PicturePool(size: layout.size), input: FrameLayout(input), output: layout, unit: unit)
    }

    /// Returns the frame in the view and format in which it leaves; nil where there is no memory.
    func converted(_ frame: BufferRef) throws(FlowStop) -> BufferRef? {
        guard let format, let pool else { return nil }
        return format.converted(try registered(frame), pool)
    }

    private func registered(_ frame: BufferRef) throws(FlowStop) -> BufferRef {
        guard let registration else { return frame }
        let (input, output) = (registration.input, registration.output)
        return try drawWithoutFallback("depth map") { () throws(FrameFault) in
            let made = BufferRef(try registration.pool.buffer(output))
            try withFrame(reading: frame.pointer, input) { source throws(FrameFault) in
                try withFrame(changing: made.pointer, output) { target throws(FrameFault) in
                    guard
                        let image = DepthImage(
                            plane: try source.first(), width: input.width, height: input.height, encoding: .gray16LE),
                        registration.kernel.align(
                            image, scale: DepthScale(unit: registration.unit), into: try target.first())
                    else { throw .contradiction("the depth map is smaller than its format") }
                }
            }
            return made
        }
    }
}

extension CaptureSession.Options {
    init(_ settings: DepthCamSrcSettings) {
        driver = settings.driver.driver
        library = settings.library.flatMap { $0.isEmpty ? nil : $0 }
        choice.serial = settings.serial ?? ""
        let location = settings.location ?? ""
        choice.recording = takeString(g_filename_from_uri(location, nil, nil)) ?? location
        choice.isLooped = settings.loop
        silence = settings.timeout == 0 ? nil : Int64(clamping: settings.timeout / 1000)
        waitsForReturn = settings.onDisconnect == .wait
    }

    /// A camera's error as the application reads it.
    func elementError(_ error: CameraError) -> ElementError {
        let (code, sentence): (GstResourceError, String) =
            switch error {
            case .libraryMissing: (GST_RESOURCE_ERROR_NOT_FOUND, missingLibrary)
            case .libraryUnsuitable: (GST_RESOURCE_ERROR_OPEN_READ, "The library does not suit.")
            case .noCamera: (GST_RESOURCE_ERROR_NOT_FOUND, "No depth camera was found.")
            case .busy: (GST_RESOURCE_ERROR_BUSY, "The camera is in use.")
            case .recording: (GST_RESOURCE_ERROR_OPEN_READ, "The recording \(choice.recording) cannot be read.")
            case .unplugged: (GST_RESOURCE_ERROR_READ, "The camera was unplugged.")
            case .ended: (GST_RESOURCE_ERROR_READ, "The recording ended.")
            case .setting: (GST_RESOURCE_ERROR_SETTINGS, "A property does not suit the camera.")
            case .failed: (GST_RESOURCE_ERROR_READ, "The camera failed.")
            }
        switch error {
        case .libraryMissing(let reasons): return ElementError(.resource(code), sentence, details: reasons)
        case .ended: return ElementError(.resource(code), sentence)
        case .libraryUnsuitable(let reason), .noCamera(let reason), .busy(let reason), .recording(let reason),
            .unplugged(let reason), .setting(let reason), .failed(let reason):
            return ElementError(.resource(code), "\(sentence) \(reason.asSentence)")
        }
    }

    private var missingLibrary: String {
        let cameras = driver.map { $0.cameras } ?? "depth cameras"
        let remedy = driver.map { $0.installation } ?? drivers.map { $0.installation }.joined(separator: " ")
        return "The library for \(cameras) was not found. \(remedy) The property library names one elsewhere."
    }
}

extension String {
    /// The text with a capital letter and a full stop: libraries write both ways.
    var asSentence: String {
        let text = prefix(1).uppercased() + dropFirst()
        return text.hasSuffix(".") ? text : text + "."
    }
}
