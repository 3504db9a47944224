import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// One `depthmatte`.
///
/// Threads. Properties are set on any thread and copied once a frame. Everything under "Streaming state" is touched by
/// the source pad's streaming thread alone, or while that is stopped. A flush arrives on an upstream thread and leaves
/// only a mark, which the streaming thread obeys. No lock is held while another is taken, but for `segmentsHold` and
/// `padGuard`, which say themselves what they are held over.
final class DepthMatteElement: Aggregator {
    static let log = LogCategory(name: DepthMatte.factory, description: "Matting of video by its depth")

    let instance: UnsafeMutablePointer<GstElement>
    let table = Properties(DepthMatteProperties.all, initial: DepthMatteSettings())
    let backgroundFile: BackgroundFile
    let wasFlushed = Atomic(false)
    let lateness = Lateness()
    /// Held where GstAggregator reads a pad's segment without a lock of its own, and where a flush takes the segment
    /// away, until downstream has heard of it. Taken before any lock of GStreamer's. Who answers a flush by flushing this
    /// element from the same thread waits for ever.
    let segmentsHold = Mutex(())
    let playGate = PlayGate()
    let padGuard = PadGuard()
    /// Why caps were refused last, so that it is said once. Written by upstream threads.
    let lastRefusal = Mutex<String?>(nil)
    /// Written by the streaming thread, read by any.
    let statistics = Mutex(Statistics())

    // MARK: Streaming state

    /// What the video's caps say; nil until they came.
    var input: (format: StreamFormat, caps: CapsRef)?
    /// What the agreed output is; nil until there is one.
    var compositor: Compositor?
    /// What of our own keeps the output from being agreed.
    var negotiationFault: ElementError?
    var inputs = DepthMatteInputs()
    let maker = MatteMaker()
    let background = Background()
    var warnings = WarningGate()
    /// Counts the video frames, to tell them apart.
    var frameNumber: UInt64 = 0
    var hasSentFrame = false
    /// The next frame that leaves does not continue the last: it is the first, or frames were dropped before it.
    var isInterrupted = true
    /// The seqnum of the video's segment; nil until that came.
    var videoSeqnum: UInt32?
    /// What the video said before the first frame of its segment, to be sent with that.
    var laterEvents: [EventRef] = []
    /// The latency that the pipeline was last told of; nil while there was none.
    var knownLatency: GstClockTime?
    /// A video frame without a timestamp, known by its address, and when it was first seen at the head of its pad.
    var untimedHead: (frame: BufferPointer, arrival: GstClockTime)?

    var properties: any PropertyAccess { table }

    init(_ instance: UnsafeMutablePointer<GstElement>) {
        self.instance = instance
        backgroundFile = BackgroundFile { [table] in table.current.background }
        _ = addAlwaysPad(DepthMatte.PadRole.video.description)
    }

    func propertyChanged(_ name: String) {
        switch name {
        case "background":
            backgroundFile.replace(for: self)
        case "background-mode":
            // The output may gain or lose its alpha channel, and the video's format with it.
            renegotiate()
            askUpstreamToReconfigure()
        default: break
        }
    }

    // MARK: Start

    func start() throws(ElementError) {
        statistics.withLock { $0 = Statistics() }
        lastRefusal.withLock { $0 = nil }
        if let video = videoPad { prepareSeqnum(video.pad) }
        try backgroundFile.start(for: self, maxPixels: maxPixels)
    }

    func changeState(
        _ transition: GstStateChange, parent: () -> GstStateChangeReturn
    ) -> GstStateChangeReturn {
        switch transition {
        case GST_STATE_CHANGE_READY_TO_PAUSED: playGate.state = .paused
        case GST_STATE_CHANGE_PAUSED_TO_PLAYING: playGate.state = .playing
        case GST_STATE_CHANGE_PLAYING_TO_PAUSED: playGate.state = .paused
        case GST_STATE_CHANGE_PAUSED_TO_READY:
            playGate.state = .stopping
            backgroundFile.interrupt()
        default: break
        }
        return parent()
    }

    func makePad(_ template: UnsafeMutablePointer<GstPadTemplate>, name: String?) -> Pad? {
        guard let role = DepthMatte.PadRole(template), role != .video, sinkPad(role.name) == nil else { return nil }
        return newPad(template, name: role.description)
    }

    // MARK: Data

    func clip(
        _ buffer: UnsafeMutablePointer<GstBuffer>, on pad: Pad
    ) -> UnsafeMutablePointer<GstBuffer>? {
        guard buffer.pointee.pts != noClockTime else { return buffer }
        var segment = segment(of: pad)
        guard segment.format == GST_FORMAT_TIME else { return buffer }  // none has come
        let end = buffer.pointee.duration == noClockTime ? noClockTime : buffer.pointee.pts &+ buffer.pointee.duration
        guard gst_segment_clip(&segment, GST_FORMAT_TIME, buffer.pointee.pts, end, nil, nil) == 0 else { return buffer }
        unref(buffer)
        return nil
    }

    func nextTime() -> GstClockTime {
        guard let video = videoPad, let head = headWhileLocked(of: video.pad) else { return noClockTime }
        guard let time = runningTime(of: head.pointer, on: video.pad) else { return arrival(of: head.pointer) }
        return GstClockTime(clamping: time)
    }

    /// When a frame without a timestamp was first seen: it waits for its depth from then on.
    private func arrival(of frame: BufferPointer) -> GstClockTime {
        if let untimedHead, untimedHead.frame == frame { return untimedHead.arrival }
        let now = gst_element_get_current_running_time(instance)
        if now != noClockTime { untimedHead = (frame, now) }
        return now
    }

    /// Whether the pipeline is live; tells it where its latency is another than the one it was told of, as when a
    /// slower source has joined.
    private func followLatency() -> Bool {
        let latency = gst_aggregator_get_latency(aggregator)
        guard latency != noClockTime else { return false }
        if let knownLatency, knownLatency != latency {
            gst_element_post_message(instance, gst_message_new_latency(object))
        }
        knownLatency = latency
        return true
    }

    func aggregate(timedOut: Bool) throws(FlowStop) {
        if wasFlushed.exchange(false, ordering: .acquiring) {
            Self.log.debug(self) { "flushed: earlier depth, faces and backgrounds are forgotten" }
            inputs.reset()
            hasSentFrame = false
            isInterrupted = true
            laterEvents.removeAll { !$0.isSticky }
            untimedHead = nil
        }
        guard let video = videoPad else { throw .endOfStream }
        guard let head = head(of: video.pad) else {
            if hasEnded(video.pad) { throw .endOfStream }
            throw .needData
        }
        if head.pointer.isGap { return passGap(video.pad) }
        guard let compositor else {
            if input != nil { throw .refused(GST_FLOW_NOT_NEGOTIATED) }  // and why has been said
            throw .notNegotiated(ElementError(.core(GST_CORE_ERROR_NEGOTIATION), "Video came before its caps."))
        }
        syncControllers(to: head.pointer.pointee.pts, on: video.pad)
        let settings = table.current
        let time = runningTime(of: head.pointer, on: video.pad)
        let span = runningSpan(of: head.pointer, on: video.pad)
        let isLive = followLatency()
        if isLive && !playGate.waitUntilPlaying() { throw .needData }
        inputs.refresh(self)
        try inputs.advance(in: self, to: time, frame: frameNumber, mayWait: !timedOut, isLive: isLive)
        frameNumber &+= 1
        if frameNumber == 1 { noteWhatIsMissing(settings) }
        var frame = try takeFrame(head, video.pad)
        if let span, lateness.isTooLate(endingAt: span.upperBound) { return drop(frame, at: time) }
        let job = Job(settings: settings, compositor: compositor, time: time, isLive: isLive)
        let startOfWork = g_get_monotonic_time()
        let outcome = try compose(&frame, job)
        Self.log.trace(self) { "frame at \(time.map(String.init) ?? "no time"): \(outcome), \(maker.report)" }
        account(outcome, at: time, since: startOfWork, interval: settings.statsInterval)
        if outcome == .dropped { isInterrupted = true } else { try send(frame) }
    }

    /// Lets GstControllers set the properties that they drive.
    private func syncControllers(to stamp: GstClockTime, on pad: Pad) {
        var segment = segment(of: pad)
        guard segment.format == GST_FORMAT_TIME else { return }  // none has come
        let time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, stamp)
        if time != noClockTime { gst_object_sync_values(object, time) }
    }

    /// Takes the head off its pad, so that it is ours alone if it was upstream's alone.
    private func takeFrame(_ peeked: consuming OwnedBuffer, _ pad: Pad) throws(FlowStop) -> OwnedBuffer {
        let expected = peeked.surrender()
        unref(expected)
        // Another buffer is there only after a flush: the depth at hand was not made for it.
        untimedHead = nil
        guard let frame = pop(pad), frame.pointer == expected else { throw .needData }
        return frame
    }

    /// Tells the user of what they most likely forgot: the pictures alone do not say why there is nothing in them.
    private func noteWhatIsMissing(_ settings: DepthMatteSettings) {
        let needsDepth = settings.view != .original && settings.onMissingDepth != .pass
        if !inputs.hasDepth && needsDepth {
            warnOfSettings("There is no depth pad, so every frame counts as without depth. Link a depth stream to it.")
        }
        if settings.backgroundMode == .image && settings.background == nil {
            warnOfSettings("background-mode=image shows the file that background names, and none is named.")
        }
        if settings.backgroundMode == .stream && !inputs.hasBackground {
            warnOfSettings("background-mode=stream shows the background pad, and there is none.")
        }
    }

    private func warnOfSettings(_ sentence: String) {
        warn(ElementError(.resource(GST_RESOURCE_ERROR_SETTINGS), sentence))
    }

    private func drop(_ frame: borrowing OwnedBuffer, at time: RunningTime?) {
        Self.log.debug(self) { "frame at \(time.map(String.init) ?? "no time") comes too late" }
        isInterrupted = true
        let (frames, dropped) = statistics.withLock {
            $0.count(.dropped, workTime: 0)
            return ($0.frames, $0.dropped)
        }
        let stamp = frame.pointer.pointee
        var segment = outputSegment
        let streamTime = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, stamp.pts)
        guard
            let message = gst_message_new_qos(
                object, gboolean(isLive), guint64(clamping: time ?? 0), streamTime, stamp.pts, stamp.duration)
        else { return }
        gst_message_set_qos_stats(
            message, GST_FORMAT_BUFFERS, guint64(frames &- dropped), guint64(dropped))
        gst_element_post_message(instance, message)
    }

    /// Keeps the books, and tells the application when that is due.
    private func account(
        _ outcome: Statistics.Outcome, at time: RunningTime?, since start: gint64, interval: GstClockTime
    ) {
        let work = UInt64(clamping: g_get_monotonic_time() &- start) &* 1000
        let seen = maker.report
        let message = statistics.withLock { statistics -> Statistics? in
            statistics.count(outcome, workTime: work)
            statistics.cutoff = seen.cutoff
            statistics.anchorDepth = seen.anchorDepth
            statistics.coverage = seen.coverage
            statistics.invalidShare = seen.invalidShare
            return statistics.isMessageDue(at: time, interval: interval) ? statistics : nil
        }
        guard let structure = message?.structure(), let posted = gst_message_new_element(object, structure) else {
            return
        }
        gst_element_post_message(instance, posted)
    }

    func structure(_ property: String) -> UnsafeMutablePointer<GstStructure>? {
        statistics.withLock { $0 }.structure()
    }

    private func passGap(_ pad: Pad) {
        untimedHead = nil
        guard let gap = pop(pad), hasSentFrame, gap.pointer.pointee.pts != noClockTime else { return }
        gst_pad_push_event(sourcePad, gst_event_new_gap(gap.pointer.pointee.pts, gap.pointer.pointee.duration))
    }

    private func send(_ picture: consuming OwnedBuffer) throws(FlowStop) {
        let stamp = picture.pointer.pointee
        if isInterrupted { picture.pointer.markDiscontinuity() }
        isInterrupted = false
        hasSentFrame = true
        defer { laterEvents.removeAll(where: \.isHandedOn) }
        try finish(picture.surrender(), after: laterEvents)
        guard stamp.pts != noClockTime else { return }
        let runsForward = outputSegment.rate > 0
        setPosition(stamp.duration == noClockTime || !runsForward ? stamp.pts : stamp.pts &+ stamp.duration)
    }

    // MARK: Stop

    func flush() { inputs.reset() }

    func stop() {
        backgroundFile.stop()
        input = nil
        compositor = nil
        negotiationFault = nil
        inputs = DepthMatteInputs()
        maker.reset()
        background.reset()
        warnings = WarningGate()
        frameNumber = 0
        lateness.reset()
        hasSentFrame = false
        isInterrupted = true
        videoSeqnum = nil
        laterEvents.removeAll()
        knownLatency = nil
        untimedHead = nil
    }

    // MARK: Small services

    var videoPad: SinkPad? { sinkPad(DepthMatte.PadRole.video.name) }

    var maxPixels: Int { Int(table.current.maxPixels) }

    var outOfMemory: ElementError {
        ElementError(.resource(GST_RESOURCE_ERROR_NO_SPACE_LEFT), "There is no memory for another frame.")
    }

    func report(_ fault: FrameFault, of what: String = "frame") {
        Self.log.info(self) { "\(what): \(fault)" }
        guard warnings.admits("\(what) \(fault.cause)") else { return }
        warn(
            ElementError(
                .stream(GST_STREAM_ERROR_FAILED), "A \(what) is faulty; the background covers it.",
                details: fault.description))
    }

    func askUpstreamToReconfigure() {
        guard let video = videoPad else { return }
        gst_pad_push_event(video.pad.pad, gst_event_new_reconfigure())
    }

    func role(of pad: Pad) -> DepthMatte.PadRole? { pad.pad.pointee.padtemplate.flatMap { DepthMatte.PadRole($0) } }
}
