import CGStreamer
import DepthKernels
import GstBridge

/// One frame: its depth, its matte, what is behind it, and what leaves.
extension DepthMatteElement {
    /// What one frame is made with, besides its pixels.
    struct Job {
        let settings: DepthMatteSettings
        let compositor: Compositor
        let moment: Moment
    }

    func follow(to moment: Moment, mayWait: Bool, _ settings: DepthMatteSettings) throws(FlowStop) {
        inputs.refresh(self)
        try inputs.advance(in: self, to: moment, mayWait: mayWait)
        if moment.number == 0 { noteWhatIsMissing(settings) }
    }

    func draw(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthMatteSettings
    ) throws(FlowStop) -> Bool {
        guard let compositor else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let startOfWork = g_get_monotonic_time()
        let outcome = try compose(&frame, Job(settings: settings, compositor: compositor, moment: moment))
        Self.log.trace(self) { "frame at \(moment.time.map(String.init) ?? "no time"): \(outcome), \(maker.report)" }
        account(outcome, at: moment.time, since: startOfWork, interval: settings.statsInterval)
        return outcome != .dropped
    }

    /// Makes the video frame the picture that leaves; what became of it is `dropped` where nothing is to leave.
    private func compose(_ frame: inout OwnedBuffer, _ job: Job) throws(FlowStop) -> Statistics.Outcome {
        let behind = job.settings.view == .composite ? try backgroundFrame(job) : nil
        do throws(FrameFault) {
            if job.settings.view == .original { return try pass(&frame, job) }
            let pairing = inputs.depth.pairing(
                at: job.moment, maxSkew: job.settings.maxSkew, holdTime: job.settings.holdTime)
            guard let choice = pairing.choice else { return try withoutDepth(&frame, behind, job) }
            let matte = try matte(choice.buffer, frame.pointer, job)
            try draw(on: &frame, matte, behind, job)
            return matte == nil ? .covered : pairing.outcome(at: job.moment.time)
        } catch {
            report(error)
            try cover(&frame, behind, job)
            return .covered
        }
    }

    /// The frame's matte; nil where everything is background.
    private func matte(
        _ depth: BufferPointer, _ video: BufferPointer, _ job: Job
    ) throws(FrameFault) -> MatteRenderer? {
        guard let format = inputs.depth.format else { return nil }
        let (width, height) = (job.compositor.input.width, job.compositor.input.height)
        let faces = inputs.faces(on: video, width: width, height: height, types: job.settings.faceTypes ?? "")
        let scene = MatteMaker.Scene(
            depth: depth, format: format, faces: faces, videoWidth: width, videoHeight: height, time: job.moment.time)
        return try maker.matte(scene, job.settings)
    }

    /// A frame for which there is no depth.
    private func withoutDepth(
        _ frame: inout OwnedBuffer, _ behind: BufferRef?, _ job: Job
    ) throws(FrameFault) -> Statistics.Outcome {
        switch job.settings.onMissingDepth {
        case .cover:
            try draw(on: &frame, nil, behind, job)
            return .covered
        case .pass: return try pass(&frame, job)
        case .drop: return .dropped
        }
    }

    private func pass(_ frame: inout OwnedBuffer, _ job: Job) throws(FrameFault) -> Statistics.Outcome {
        try job.compositor.makeCanvas(of: &frame)
        try job.compositor.finish(&frame)
        return .passed
    }

    private func draw(
        on frame: inout OwnedBuffer, _ matte: MatteRenderer?, _ behind: BufferRef?, _ job: Job
    ) throws(FrameFault) {
        try job.compositor.makeCanvas(of: &frame)
        if let behind {
            try job.compositor.composite(frame.pointer, matte: matte, background: behind)
        } else {
            try job.compositor.drawMatte(frame.pointer, matte: matte)
        }
        try job.compositor.finish(&frame)
    }

    /// What a faulty frame becomes: fresh memory, on which there is no person.
    private func cover(_ frame: inout OwnedBuffer, _ behind: BufferRef?, _ job: Job) throws(FlowStop) {
        do throws(FrameFault) {
            frame = try job.compositor.blankCanvas(for: frame.pointer)
            try draw(on: &frame, nil, behind, job)
        } catch {
            throw .failed(outOfMemory)
        }
    }

    // MARK: Background

    private func backgroundFrame(_ job: Job) throws(FlowStop) -> BufferRef {
        var request = Background.Request(
            format: job.compositor.output, color: job.settings.backgroundColor, fit: job.settings.backgroundFit,
            source: job.compositor.hasStraightAlpha ? .transparent : source(job))
        if let frame = background.frame(request) { return frame }
        report(.notMappable, of: "background")
        request.source = .color
        guard let plain = background.frame(request) else { throw .failed(outOfMemory) }
        return plain
    }

    private func source(_ job: Job) -> Background.Source {
        switch job.settings.backgroundMode {
        case .auto where inputs.background.isThere, .stream: inputs.backgroundPicture().map { .moving($0) } ?? .color
        case .auto, .image: fileSource(job)
        case .color, .transparent: .color
        }
    }

    private func fileSource(_ job: Job) -> Background.Source {
        guard let reader = backgroundFile.reader else { return .color }
        if let still = reader.still { return .still(still) }
        return .moving(reader.picture(at: job.moment.time ?? 0, block: !job.moment.isLive))
    }
}
