import CGStreamer
import DepthKernels
import GstBridge

/// One frame: its depth, its matte, what is behind it, and what leaves.
extension DepthMatteElement {
    /// The picture for one video frame; nil where nothing is to leave.
    func compose(
        _ video: BufferRef, at time: RunningTime?, _ settings: DepthMatteSettings, _ compositor: Compositor,
        isLive: Bool
    ) throws(FlowStop) -> BufferRef? {
        let behind = try backgroundFrame(at: time, settings, compositor, isLive: isLive)
        do throws(FrameFault) {
            if settings.view == .original { return try finished(compositor.canvas(for: video), compositor) }
            guard let entry = pairing(at: time, settings).entry else {
                return try withoutDepth(video, settings, behind, compositor)
            }
            let matte = try matte(entry, video, at: time, settings)
            return try draw(compositor.canvas(for: video), matte, settings, behind, compositor)
        } catch {
            report(error)
            return try cover(video, settings, behind, compositor)
        }
    }

    private func pairing(at time: RunningTime?, _ settings: DepthMatteSettings) -> Pairing {
        guard let depth = inputs.depth else { return .missing }
        return Pairing(
            depth.followed, at: time, maxSkew: RunningTime(clamping: settings.maxSkew),
            holdTime: RunningTime(clamping: settings.holdTime))
    }

    private func matte(
        _ entry: FollowedInput.Entry, _ video: BufferRef, at time: RunningTime?, _ settings: DepthMatteSettings
    ) throws(FrameFault) -> Plane? {
        guard let format = inputs.depth?.format, let input else { return nil }
        let faces = inputs.faces(
            on: video, width: input.format.width, height: input.format.height, types: settings.faceTypes ?? "")
        let scene = MatteMaker.Scene(
            depth: entry.buffer, format: format, faces: faces, videoWidth: input.format.width,
            videoHeight: input.format.height, time: time)
        return try maker.matte(scene, settings)
    }

    /// A frame for which there is no depth.
    private func withoutDepth(
        _ video: BufferRef, _ settings: DepthMatteSettings, _ behind: BufferRef, _ compositor: Compositor
    ) throws(FrameFault) -> BufferRef? {
        switch settings.onMissingDepth {
        case .cover: try draw(compositor.canvas(for: video), nil, settings, behind, compositor)
        case .pass: try finished(compositor.canvas(for: video), compositor)
        case .drop: nil
        }
    }

    private func draw(
        _ canvas: BufferRef, _ matte: Plane?, _ settings: DepthMatteSettings, _ behind: BufferRef,
        _ compositor: Compositor
    ) throws(FrameFault) -> BufferRef {
        switch settings.view {
        case .matte: try compositor.drawMatte(canvas, matte: matte)
        case .composite, .original: try compositor.composite(canvas, matte: matte, background: behind)
        }
        return try finished(canvas, compositor)
    }

    /// The background alone, on fresh memory: what a faulty frame becomes.
    private func cover(
        _ video: BufferRef, _ settings: DepthMatteSettings, _ behind: BufferRef, _ compositor: Compositor
    ) throws(FlowStop) -> BufferRef {
        do throws(FrameFault) {
            return try draw(compositor.blankCanvas(for: video), nil, settings, behind, compositor)
        } catch {
            throw .failed(outOfMemory)
        }
    }

    private func finished(_ canvas: BufferRef, _ compositor: Compositor) throws(FrameFault) -> BufferRef {
        downstreamReadsMetas ? canvas : try compositor.repacked(canvas)
    }

    // MARK: Background

    private func backgroundFrame(
        at time: RunningTime?, _ settings: DepthMatteSettings, _ compositor: Compositor, isLive: Bool
    ) throws(FlowStop) -> BufferRef {
        var request = Background.Request(
            format: compositor.output, color: settings.backgroundColor, fit: settings.backgroundFit,
            source: compositor.hasStraightAlpha
                ? .transparent : source(settings.backgroundMode, at: time, isLive: isLive))
        if let frame = background.frame(request) { return frame }
        report(.notMappable, of: "background")
        request.source = .color
        guard let plain = background.frame(request) else { throw .failed(outOfMemory) }
        return plain
    }

    private func source(_ mode: BackgroundMode, at time: RunningTime?, isLive: Bool) -> Background.Source {
        switch mode {
        case .auto where inputs.background != nil, .stream:
            inputs.backgroundPicture.map { .moving(Picture($0.buffer, $0.info)) } ?? .color
        case .auto, .image: fileSource(at: time, isLive: isLive)
        case .color, .transparent: .color
        }
    }

    private func fileSource(at time: RunningTime?, isLive: Bool) -> Background.Source {
        guard let reader = backgroundFile.reader else { return .color }
        if let still = reader.still { return .still(still) }
        return .moving(reader.picture(at: time ?? 0, block: !isLive))
    }
}
