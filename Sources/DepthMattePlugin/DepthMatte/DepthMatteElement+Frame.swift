import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge
import Synchronization

/// One frame, step by step: collect the inputs, match depth to the video, make the matte, compose the picture, finish.
extension DepthMatteElement {
    /// The inputs of one frame besides its pixels.
    struct Job {
        let settings: DepthMatteSettings
        let compositor: Compositor
        let moment: Moment
    }

    // MARK: Collect

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: DepthMatteSettings) throws(FlowStop) {
        state.inputs.refresh(self)
        do throws(FlowStop) {
            try state.inputs.advance(in: self, to: moment, mayWait: mayWait)
        } catch {
            // The probe alone may still hold the map it shows: a copy gives the camera its buffer back during the wait.
            probe.copyDepth(by: state.copies)
            throw error
        }
        if moment.number == 0 && !moment.isGap { warnOfMissingInputs(settings) }
    }

    func timeShift(of role: DepthMatte.PadRole, _ settings: DepthMatteSettings) -> Int64 {
        role == .depth ? settings.depthTimeOffset &+ measuredTimeOffset.load(ordering: .relaxed) : 0
    }

    func selectedBuffer(_ role: DepthMatte.PadRole, at moment: Moment, _ settings: DepthMatteSettings) -> BufferPointer?
    {
        switch role {
        case .video: nil
        case .depth:
            state.inputs.depth.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice?
                .buffer
        case .face: state.inputs.face.currentChoice?.buffer
        case .background: state.inputs.background.currentChoice?.buffer
        case .segmentation: state.inputs.segmentation(at: moment)?.buffer
        }
    }

    // MARK: The whole frame

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthMatteSettings
    ) throws(FlowStop) -> Bool {
        guard let compositor = state.compositor else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let startOfWork = g_get_monotonic_time()
        try takeAttachedDepth(of: frame.pointer, at: moment, settings)
        var settings = settings
        applySync(to: &settings)
        settings.depth.resolve(by: state.inputs.depth.format, on: compositor.input.info)
        warnOfScale(settings.depth.scale, of: state.inputs.depth.format)
        let job = Job(settings: settings, compositor: compositor, moment: moment)
        try reserveMemory(job)
        let backdrop = try backdrop(job)
        let outcome: Statistics.Outcome
        do throws(FrameFault) {
            outcome = try render(&frame, backdrop, job)
        } catch {
            let map = match(job).choice.flatMap { depthFrame($0.buffer, job) }
            let isOfVideo = map?.isReadable ?? true
            report(error, of: isOfVideo ? videoFrameName : depthMapName, "the background is shown instead")
            try cover(&frame, job)
            outcome = .covered
        }
        attachedDepth.detach(from: frame.pointer)  // the room's shape is not for others
        finish(outcome, job, since: startOfWork)
        return outcome != .dropped
    }

    /// Takes the depth map that is attached to the frame, where there is no depth pad.
    private func takeAttachedDepth(
        of frame: BufferPointer, at moment: Moment, _ settings: DepthMatteSettings
    ) throws(FlowStop) {
        if try state.inputs.takeAttachedDepth(of: frame, at: moment, maxPixels: maxPixels) {
            state.maker.forgetPast()
            state.inputs.depth.format.map(warnIfUnregistered)
        }
        try checkDepthIsThere(settings)
    }

    /// Asks for the memory that kernels may need, before any of them runs.
    private func reserveMemory(_ job: Job) throws(FlowStop) {
        let bytes = MatteMaker.mostMemory(
            depth: state.inputs.depth.format?.layout, video: job.compositor.input.layout, job.settings)
        try drawWithoutFallback("frame") { () throws(FrameFault) in try state.reserve.hold(bytes) }
    }

    /// Turns the video frame into the output picture.
    ///
    /// - Returns: the frame's outcome; `dropped` means that nothing is sent.
    private func render(
        _ frame: inout OwnedBuffer, _ backdrop: Backdrop?, _ job: Job
    ) throws(FrameFault) -> Statistics.Outcome {
        let pairing = match(job)
        let format = job.compositor.input
        probe.show(pairing.choice.flatMap { depthFrame($0.buffer, job) }, width: format.width, height: format.height)
        if job.settings.view == .original { return try pass(&frame, job) }
        guard let depth = pairing.choice else {
            warnIfNeverPaired(pairing, job.settings)
            return try renderWithoutDepth(&frame, backdrop, job)
        }
        state.unpairedFrames = nil
        let earlier = reusableMatte(job)
        let matte: FinishedMatte? = if let earlier { earlier.matte } else { try makeMatte(depth, frame.pointer, job) }
        try compose(&frame, Layers(matte: matte, depth: depthFrame(depth.buffer, job), backdrop: backdrop), job)
        if let earlier { return .reused(skew: earlier.skew) }
        return matte == nil ? .covered : pairing.outcome(at: job.moment.time)
    }

    // MARK: Match

    private func match(_ job: Job) -> Pairing {
        state.inputs.depth.pairing(at: job.moment, maxSkew: job.settings.maxSkew, holdTime: job.settings.holdTime)
    }

    private func depthFrame(_ depth: BufferPointer, _ job: Job) -> DepthFrame? {
        state.inputs.depth.format.map { DepthFrame(buffer: depth, format: $0, reading: job.settings.depth) }
    }

    /// Applies `on-missing-depth`.
    private func renderWithoutDepth(
        _ frame: inout OwnedBuffer, _ backdrop: Backdrop?, _ job: Job
    ) throws(FrameFault) -> Statistics.Outcome {
        switch job.settings.onMissingDepth {
        case .cover:
            try compose(&frame, Layers(matte: nil, depth: nil, backdrop: backdrop), job)
            return .covered
        case .pass: return try pass(&frame, job)
        case .drop: return .dropped
        }
    }

    private func pass(_ frame: inout OwnedBuffer, _ job: Job) throws(FrameFault) -> Statistics.Outcome {
        try job.compositor.makeCanvas(of: &frame)
        try writeProbe(on: frame.pointer, job)
        return .passed
    }

    // MARK: Matte

    /// Makes the frame's matte; nil where everything is background.
    private func makeMatte(
        _ depth: Pairing.Choice, _ video: BufferPointer, _ job: Job
    ) throws(FrameFault) -> FinishedMatte? {
        guard let map = depthFrame(depth.buffer, job) else { return nil }
        let videoFormat = job.compositor.input
        let detections = state.inputs.detections(
            on: video, width: videoFormat.width, height: videoFormat.height, job.settings.matte.anchor)
        let scene = MatteMaker.Scene(
            depth: map, depthTime: depth.time, video: video, videoFormat: videoFormat, detections: detections,
            segmentation: segmentation(of: video, job), room: roomPicture(job), moment: job.moment)
        switch takeRoomRequest() {
        case .captureRoom: state.maker.captureRoom()
        case .forgetRoom: state.maker.forgetRoom()
        case nil: break
        }
        let matte = try state.maker.matte(scene, job.settings)
        warnOfCutoff(job.settings.matte)
        warnOfRefusedCapture(job.settings.matte)
        followSync(job)
        if let fault = state.maker.segmentationFault {
            report(fault, of: "picture on the segmentation pad", "the matte is made without it")
        }
        return matte
    }

    /// Returns what networks found in the frame: the picture on the segmentation pad, else the masks on the buffers.
    private func segmentation(of video: BufferPointer, _ job: Job) -> (buffer: BufferPointer, layout: FrameLayout)? {
        if let picture = state.inputs.segmentation(at: job.moment) { return picture }
        guard job.settings.matte.method == .fusion, job.settings.matte.segmentationWeight > 0 else { return nil }
        let format = job.compositor.input
        do throws(FrameFault) {
            return try state.inputs.attachedSegmentation(
                on: video, width: format.width, height: format.height, at: job.moment)
        } catch {
            report(error, of: "mask on a buffer", "the matte is made without it")
            return nil
        }
    }

    /// Returns the picture of `room-picture` in the video's format, once for each that is loaded, and again for another format and when
    /// the room is remembered again.
    private func roomPicture(_ job: Job) -> BufferRef? {
        let (settings, format) = (job.settings.matte, job.compositor.input)
        guard settings.room != .off, settings.method == .fusion else {
            state.room = nil
            return nil
        }
        guard let picture = roomFile.reader?.picture(at: 0, block: false) else { return nil }
        if let room = state.room, room.picture === picture, room.format.isSame(as: format) { return nil }
        state.room = (picture, format)
        guard picture.info.width == format.info.width, picture.info.height == format.info.height else {
            warnOfRoomPicture(picture, format)
            return nil
        }
        do throws(FrameFault) {
            return try picture.converted(to: format.info).buffer
        } catch {
            report(error, of: "picture of room-picture", "it is not remembered as the room")
            return nil
        }
    }

    /// Returns the previous frame's matte if `thermal=degrade` asks this frame to use it and it still fits; nil otherwise.
    private func reusableMatte(_ job: Job) -> MatteMaker.Earlier? {
        guard job.settings.thermal == .degrade, thermal.state >= .serious, !job.moment.number.isMultiple(of: 2) else {
            return nil
        }
        return state.maker.matteBefore(job.moment, job.settings)
    }

    // MARK: Finish

    private func finish(_ outcome: Statistics.Outcome, _ job: Job, since startOfWork: gint64) {
        let time = job.moment.time
        Self.log(GST_LEVEL_LOG, self) {
            "frame at \(time.map(String.init) ?? "no time"): \(outcome), \(state.maker.report)"
        }
        updateStatistics(outcome, at: time, since: startOfWork, interval: job.settings.statsInterval)
    }
}
