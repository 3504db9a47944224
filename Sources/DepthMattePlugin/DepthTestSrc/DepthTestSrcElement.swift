import CGStreamer
import DepthAggregator
import DepthKernels
import DepthScene
import GstBridge

/// One `depthtestsrc` instance.
///
/// Threads. Each pad has a thread that draws and pushes its frames. State that they share with each other and with the
/// application is in `shared`; no function of a GstPad is called while that is locked. A stream's own state belongs to its
/// thread, or to the holder of the pad's stream lock.
final class DepthTestSrcElement: PushSource {
    static let log = LogCategory(name: DepthTestSrc.factory, description: "Synthetic depth camera")

    let instance: ElementPointer
    let table = Properties(DepthTestSrc.properties, initial: DepthTestSrcSettings())
    let shared = Monitor(Shared())
    private(set) var streams: [TestStream] = []
    /// Draws the depth maps that are attached to the video. Used as the video's stream is.
    private var attachment: TestStream?

    struct Shared {
        var isPlaying = false
        /// True during a flush or a stop, when no thread may wait for the clock.
        var isInterrupted = false
        /// True after the application sent EOS.
        var isEnding = false
        /// The number of changes from PLAYING to PAUSED, after each of which a live source continues from the present.
        var pauses = 0
        var timeline = Timeline(seqnum: gst_util_seqnum_next())
        var lastSeek: guint32 = 0
        /// The clock waits under way, so that they can be unscheduled.
        var waits: [DepthTestSrc.PadRole: ClockWait] = [:]
        var links = SourceLinks<DepthTestSrc.PadRole>()
    }

    init(_ instance: ElementPointer) {
        self.instance = instance
        streams = addStreams { TestStream($0, pad: $1) }
        attachment = streams.first { $0.role == .depth }.map { TestStream(.depth, pad: $0.pad) }
    }

    var properties: any PropertyAccess { table }
    var isLive: Bool { table.current.isLive }

    func withLinks<Result: Sendable>(_ body: (inout SourceLinks<DepthTestSrc.PadRole>) -> Result) -> Result {
        shared.withLock { body(&$0.links) }
    }

    // MARK: Start and stop

    func prepare() {
        for stream in streams + [attachment].compactMap(\.self) { stream.reset() }
        shared.withLock { $0 = Shared() }
    }

    func play() { shared.withLock { $0.isPlaying = true } }

    func pause() {
        interrupt {
            $0.isPlaying = false
            $0.pauses += 1
        }
    }

    /// Changes the shared state, and ends every wait for the clock.
    func interrupt(_ change: (inout Shared) -> Void) {
        shared.withLock {
            change(&$0)
            for wait in $0.waits.values { gst_clock_id_unschedule(wait.id) }
        }
    }

    func interrupt(_ stream: TestStream, _ isInterrupted: Bool) { interrupt { $0.isInterrupted = isInterrupted } }

    func endAll() {
        interrupt { $0.isEnding = true }
        let finished = streams.filter { stream in
            shared.withLock { $0.timeline.finished.contains(stream.role) }
        }
        for stream in finished { start(stream) }
    }

    // MARK: Sending

    func sendNext(_ stream: TestStream) throws(FlowStop) {
        guard stream.pad.isLinked else { throw .refused(GST_FLOW_NOT_LINKED) }
        if gst_pad_check_reconfigure(stream.pad) != 0 || stream.format == nil { try negotiate(stream) }
        let settings = table.current
        beginSegment(stream)
        try sendFrame(stream, settings)
    }

    private func sendFrame(_ stream: TestStream, _ settings: DepthTestSrcSettings) throws(FlowStop) {
        guard let format = stream.format else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        if settings.isLive { try waitForTurn(stream, format) }
        let start = TestStream.time(ofFrame: stream.frame, rate: format.rate)
        let endOfAll = endOfSegment(settings)
        if start >= endOfAll || shared.withLock({ $0.isEnding }) { throw .endOfStream }
        gst_object_sync_values(object, start)
        let end = TestStream.time(ofFrame: stream.frame &+ 1, rate: format.rate)
        if stream.isDropped(stream.frame, settings) { return skip(stream, from: start, to: end, endOfAll) }
        let buffer = try draw(stream, format, at: start, settings)
        buffer.pointer.pointee.pts = start
        buffer.pointer.pointee.duration = end == noClockTime ? noClockTime : end &- start
        buffer.pointer.pointee.offset = guint64(stream.frame)
        buffer.pointer.pointee.offset_end = guint64(stream.frame &+ 1)
        try attachDepth(to: buffer.pointer, stream, format, settings)
        let isAfterGap = stream.isDropped(stream.frame &- 1, settings)
        if stream.isInterrupted || isAfterGap { buffer.pointer.markDiscontinuity() }
        guard moves(stream, to: min(end, endOfAll)) else { return }
        stream.isInterrupted = false
        stream.frame &+= 1
        let result = gst_pad_push(stream.pad, buffer.surrender())
        guard result == GST_FLOW_OK else { throw .refused(result) }
    }

    /// Replaces a frame by a GAP event, so that aggregators and sinks do not wait for it.
    private func skip(_ stream: TestStream, from start: GstClockTime, to end: GstClockTime, _ endOfAll: GstClockTime) {
        guard moves(stream, to: min(end, endOfAll)) else { return }
        stream.frame &+= 1
        guard let seqnum = stream.segmentSeqnum else { return }
        stream.push(gst_event_new_gap(start, end == noClockTime ? noClockTime : end &- start), seqnum: seqnum)
    }

    private func draw(
        _ stream: TestStream, _ format: TestStream.Format, at start: GstClockTime, _ settings: DepthTestSrcSettings
    ) throws(FlowStop) -> OwnedBuffer {
        try drawWithoutFallback("\(stream.role.rawValue) frame") { () throws(FrameFault) in
            try stream.draw(format, at: start, settings)
        }
    }

    /// Attaches the depth map of a video frame to its buffer, where nobody takes it from the depth pad.
    private func attachDepth(
        to buffer: BufferPointer, _ video: TestStream, _ format: TestStream.Format, _ settings: DepthTestSrcSettings
    ) throws(FlowStop) {
        guard settings.attachDepth, video.role == .video, let depth = attachment, !depth.pad.isLinked,
            !depth.isDropped(video.frame, settings)
        else { return }
        if depth.format.map({ $0.rate != format.rate }) ?? true {
            let fixed = depth.fixedCaps(near: depth.role.preferredSize, rate: format.rate)
            guard let caps = OwnedCaps(taking: fixed) else { return }
            addCalibration(to: caps.pointer)
            guard depth.setFormat(caps.pointer) else { return }
            depth.attachedCaps = CapsRef(sharing: caps.pointer)
        }
        guard let depthFormat = depth.format, let caps = depth.attachedCaps else { return }
        depth.frame = video.frame
        let map = try draw(depth, depthFormat, at: buffer.pointee.pts, settings)
        map.pointer.pointee.pts = buffer.pointee.pts
        map.pointer.pointee.duration = buffer.pointee.duration
        attachedDepth.attach(map.pointer, caps.pointer, to: buffer)
    }

    /// Sets the stream's position; false if a seek has started another segment.
    private func moves(_ stream: TestStream, to time: GstClockTime) -> Bool {
        shared.withLock { shared in
            guard shared.timeline.seqnum == stream.segmentSeqnum else { return false }
            if time != noClockTime { shared.timeline.move(stream.role, to: time) }
            return true
        }
    }

    /// The end of all streams, in nanoseconds of stream time: the segment's stop, or the end of the last of `num-buffers`
    /// video frames; GST_CLOCK_TIME_NONE for no end.
    func endOfSegment(_ settings: DepthTestSrcSettings) -> GstClockTime {
        min(shared.withLock { $0.timeline.segment.stop }, length(settings) ?? noClockTime)
    }

    /// The duration of `num-buffers` video frames, in nanoseconds; nil for no end.
    func length(_ settings: DepthTestSrcSettings) -> GstClockTime? {
        guard settings.numBuffers >= 0 else { return nil }
        return TestStream.time(ofFrame: UInt64(settings.numBuffers), rate: videoRate)
    }

    /// The video's frame rate: the negotiated one, or the one that negotiation will choose.
    private var videoRate: FrameRate {
        withVideoCaps { $0.fraction("framerate") }.map { (gint(clamping: $0.0), gint(clamping: $0.1)) }
            ?? DepthTestSrc.preferredRate
    }

    private func withVideoCaps<Result>(_ body: (CapsPointer) -> Result?) -> Result? {
        guard let video = streams.first(where: { $0.role == .video }),
            let caps = OwnedCaps(
                taking: gst_pad_get_current_caps(video.pad) ?? video.fixedCaps(near: video.role.preferredSize))
        else { return nil }
        return body(caps.pointer)
    }

    // MARK: Events and caps

    private func negotiate(_ stream: TestStream) throws(FlowStop) {
        sendStreamStart(stream)
        guard let owned = OwnedCaps(taking: stream.fixedCaps(near: preferredSize(stream))) else {
            throw .refused(GST_FLOW_NOT_NEGOTIATED)
        }
        let caps = owned.pointer
        if stream.role == .depth { addCalibration(to: caps) }
        Self.log(GST_LEVEL_DEBUG, self) { "\(stream.role.rawValue) caps: \(caps.text)" }
        if stream.format != nil, let current = OwnedCaps(taking: gst_pad_get_current_caps(stream.pad)),
            gst_caps_is_equal(current.pointer, caps) != 0
        {
            return
        }
        guard stream.setFormat(caps), gst_pad_push_event(stream.pad, gst_event_new_caps(caps)) != 0 else {
            throw stream.pad.refusal
        }
    }

    /// Says what the lens is where it is not the one that elements assume.
    private func addCalibration(to caps: CapsPointer) {
        let lens = table.current.lens
        guard lens != Scene.layoutLens, let (width, height) = caps.size else { return }
        let (fx, fy) = SceneRenderer.focalLengths(lens: lens, width: width, height: height)
        let camera = CameraIntrinsics(
            width: width, height: height, fx: fx, fy: fy, cx: Double(width - 1) / 2, cy: Double(height - 1) / 2)
        StreamCalibration(calibration: Calibration(depth: camera)).write(to: caps)
    }

    /// The size near which the stream's caps are fixated: the role's own; for the matte, that of the video.
    private func preferredSize(_ stream: TestStream) -> (width: gint, height: gint) {
        guard stream.role == .matte, let size = withVideoCaps({ $0.size }) else { return stream.role.preferredSize }
        return (gint(clamping: size.width), gint(clamping: size.height))
    }

    /// Pushes the current segment, unless the stream has already.
    private func beginSegment(_ stream: TestStream) {
        let timeline = shared.withLock { $0.timeline }
        guard stream.segmentSeqnum != timeline.seqnum else { return }
        var segment = timeline.segment
        stream.push(gst_event_new_segment(&segment), seqnum: timeline.seqnum)
        stream.begin(timeline)
    }
}
