import CGStreamer
import DepthKernels
import GstBridge

/// One frame: its depth, its matte, what is behind it, and what leaves.
extension DepthMatteElement {
    /// What one frame is made with, besides its pixels.
    struct Job {
        let settings: DepthMatteSettings
        let compositor: Compositor
        let time: RunningTime?
        let isLive: Bool
    }

    /// The picture for one video frame, nil where nothing is to leave, and what became of it.
    func compose(_ video: BufferRef, _ job: Job) throws(FlowStop) -> (BufferRef?, Statistics.Outcome) {
        let behind = job.settings.view == .composite ? try backgroundFrame(job) : nil
        do throws(FrameFault) {
            if job.settings.view == .original {
                return (try job.compositor.finished(job.compositor.canvas(for: video)), .passed)
            }
            let pairing = pairing(job)
            guard let entry = pairing.entry else { return try withoutDepth(video, behind, job) }
            let matte = try matte(entry, video, job)
            let picture = try draw(job.compositor.canvas(for: video), matte, behind, job)
            return (picture, matte == nil ? .covered : pairing.outcome(at: job.time))
        } catch {
            report(error)
            return (try cover(video, behind, job), .covered)
        }
    }

    private func pairing(_ job: Job) -> Pairing {
        guard let depth = inputs.depth else { return .missing }
        return Pairing(
            depth.followed, at: job.time, maxSkew: RunningTime(clamping: job.settings.maxSkew),
            holdTime: RunningTime(clamping: job.settings.holdTime))
    }

    /// The frame's matte; nil where everything is background.
    private func matte(
        _ entry: FollowedInput.Entry, _ video: BufferRef, _ job: Job
    ) throws(FrameFault) -> Plane? {
        guard let format = inputs.depth?.format else { return nil }
        let (width, height) = (job.compositor.input.width, job.compositor.input.height)
        let faces = inputs.faces(on: video, width: width, height: height, types: job.settings.faceTypes ?? "")
        let scene = MatteMaker.Scene(
            depth: entry.buffer, format: format, faces: faces, videoWidth: width, videoHeight: height, time: job.time)
        return try maker.matte(scene, job.settings)
    }

    /// A frame for which there is no depth.
    private func withoutDepth(
        _ video: BufferRef, _ behind: BufferRef?, _ job: Job
    ) throws(FrameFault) -> (BufferRef?, Statistics.Outcome) {
        switch job.settings.onMissingDepth {
        case .cover: (try draw(job.compositor.canvas(for: video), nil, behind, job), .covered)
        case .pass: (try job.compositor.finished(job.compositor.canvas(for: video)), .passed)
        case .drop: (nil, .dropped)
        }
    }

    private func draw(
        _ canvas: BufferRef, _ matte: Plane?, _ behind: BufferRef?, _ job: Job
    ) throws(FrameFault) -> BufferRef {
        if let behind {
            try job.compositor.composite(canvas, matte: matte, background: behind)
        } else {
            try job.compositor.drawMatte(canvas, matte: matte)
        }
        return try job.compositor.finished(canvas)
    }

    /// What a faulty frame becomes: fresh memory, on which there is no person.
    private func cover(_ video: BufferRef, _ behind: BufferRef?, _ job: Job) throws(FlowStop) -> BufferRef {
        do throws(FrameFault) {
            return try draw(job.compositor.blankCanvas(for: video), nil, behind, job)
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
        case .auto where inputs.background != nil, .stream:
            inputs.backgroundPicture.map { .moving(Picture($0.buffer, $0.info)) } ?? .color
        case .auto, .image: fileSource(job)
        case .color, .transparent: .color
        }
    }

    private func fileSource(_ job: Job) -> Background.Source {
        guard let reader = backgroundFile.reader else { return .color }
        if let still = reader.still { return .still(still) }
        return .moving(reader.picture(at: job.time ?? 0, block: !job.isLive))
    }
}
