import CGStreamer
import DepthAggregator
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

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: DepthMatteSettings) throws(FlowStop) {
        inputs.refresh(self)
        try inputs.advance(in: self, to: moment, mayWait: mayWait)
        if moment.number == 0 && !moment.isGap { noteWhatIsMissing(settings) }
    }

    func selectedBuffer(_ role: DepthMatte.PadRole, at moment: Moment, _ settings: DepthMatteSettings) -> BufferPointer?
    {
        switch role {
        case .video: nil
        case .depth:
            inputs.depth.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice?.buffer
        case .face: inputs.face.currentChoice?.buffer
        case .background: inputs.background.currentChoice?.buffer
        case .segmentation: inputs.segmentation(at: moment)?.buffer
        }
    }

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthMatteSettings
    ) throws(FlowStop) -> Bool {
        guard let compositor else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let startOfWork = g_get_monotonic_time()
        let outcome = try compose(&frame, Job(settings: settings, compositor: compositor, moment: moment))
        Self.log.trace(self) { "frame at \(moment.time.map(String.init) ?? "no time"): \(outcome), \(maker.report)" }
        account(outcome, at: moment.time, since: startOfWork, interval: settings.statsInterval)
        return outcome != .dropped
    }

    /// What shows where the person is not.
    private enum Behind {
        case picture(BufferRef)
        /// The video itself, changed.
        case room(RoomPicture.Effect)
    }

    /// Makes the video frame the picture that leaves; what became of it is `dropped` where nothing is to leave.
    private func compose(_ frame: inout OwnedBuffer, _ job: Job) throws(FlowStop) -> Statistics.Outcome {
        let behind = try behind(job)
        do throws(FrameFault) {
            let pairing = inputs.depth.pairing(
                at: job.moment, maxSkew: job.settings.maxSkew, holdTime: job.settings.holdTime)
            let format = job.compositor.input
            probe.show(
                pairing.choice.flatMap { depthFrame($0.buffer, job) }, width: format.width, height: format.height)
            if job.settings.view == .original { return try pass(&frame, job) }
            guard let choice = pairing.choice else { return try withoutDepth(&frame, behind, job) }
            let spared = sparedMatte(job)
            let matte: Matte? =
                if let spared { spared.matte } else { try matte(choice, frame.pointer, job) }
            try draw(on: &frame, matte, depthFrame(choice.buffer, job), behind, job)
            if let spared { return .reused(skew: spared.skew) }
            return matte == nil ? .covered : pairing.outcome(at: job.moment.time)
        } catch {
            report(error, of: "frame", "the background covers it")
            try cover(&frame, job)
            return .covered
        }
    }

    private func depthFrame(_ depth: BufferPointer, _ job: Job) -> DepthFrame? {
        inputs.depth.format.map { DepthFrame(buffer: depth, format: $0, reading: job.settings.depth) }
    }

    /// The frame's matte; nil where everything is background.
    private func matte(
        _ depth: Pairing.Choice, _ video: BufferPointer, _ job: Job
    ) throws(FrameFault) -> Matte? {
        guard let format = inputs.depth.format else { return nil }
        let videoFormat = job.compositor.input
        let faces = inputs.faces(
            on: video, width: videoFormat.width, height: videoFormat.height,
            types: job.settings.matte.anchor.faceTypes ?? "")
        let scene = MatteMaker.Scene(
            depth: depth.buffer, depthTime: depth.time, depthFormat: format, video: video, videoFormat: videoFormat,
            faces: faces, segmentation: inputs.segmentation(at: job.moment), moment: job.moment)
        let matte = try maker.matte(scene, job.settings)
        if let fault = maker.segmentationFault { report(fault, of: "segmentation", "the matte is made without it") }
        return matte
    }

    /// The matte of the frame before, where the machine is so hot that this one is to make do with it, and can.
    private func sparedMatte(_ job: Job) -> MatteMaker.Earlier? {
        guard job.settings.thermal == .degrade, thermal.state >= .serious, !job.moment.number.isMultiple(of: 2) else {
            return nil
        }
        return maker.matteBefore(job.moment, job.settings)
    }

    /// A frame for which there is no depth.
    private func withoutDepth(
        _ frame: inout OwnedBuffer, _ behind: Behind?, _ job: Job
    ) throws(FrameFault) -> Statistics.Outcome {
        switch job.settings.onMissingDepth {
        case .cover:
            try draw(on: &frame, nil, nil, behind, job)
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

    /// - Parameters:
    ///   - matte: nil where everything is background.
    ///   - depth: nil where there is none.
    ///   - behind: nil for views that show no background.
    private func draw(
        on frame: inout OwnedBuffer, _ matte: Matte?, _ depth: DepthFrame?, _ behind: Behind?, _ job: Job
    ) throws(FrameFault) {
        if job.settings.view == .matte, let matte {
            frame = try job.compositor.matteFrame(of: frame.pointer, matte: matte)
            return try writeProbe(on: frame.pointer, job)
        }
        switch job.settings.view {
        case .composite, .quad: try job.compositor.makeCanvas(of: &frame)
        // Nothing of the video is to be seen in these, so their canvas never held any of it. (The original has none: it
        // leaves as it came.)
        case .original, .depth, .matte: try job.compositor.makeBlankCanvas(of: &frame)
        }
        try draw(onCanvas: &frame, matte, depth, behind, job)
    }

    /// The same on what is a canvas already, in the output's layout.
    private func draw(
        onCanvas frame: inout OwnedBuffer, _ matte: Matte?, _ depth: DepthFrame?, _ behind: Behind?, _ job: Job
    ) throws(FrameFault) {
        switch job.settings.view {
        case .composite: try composite(frame.pointer, matte, depth, behind, job)
        // The original itself goes another way; here it is a faulty frame, of which nothing is shown.
        case .matte, .original:
            try job.compositor.drawMatte(frame.pointer, matte: nil, over: frame.pointer, job.compositor.output)
        case .depth:
            let format = job.compositor.output
            try job.compositor.depthView.draw(
                depth, on: frame.pointer, area: Rectangle(x: 0, y: 0, width: format.width, height: format.height))
        case .quad:
            let picture = try job.compositor.blankCanvas(for: frame.pointer)
            picture.pointer.removePlacedMetas()
            try job.compositor.quadView.draw(
                on: picture.pointer, video: frame.pointer, depth: depth, matte: matte, compositor: job.compositor,
                marks: matte == nil ? QuadView.Marks() : marks(job)
            ) { canvas throws(FrameFault) in
                try composite(canvas, matte, depth, behind, job)
            }
            frame = picture
        }
        try writeProbe(on: frame.pointer, job)
    }

    /// The depth under the pointer, while a button is held there.
    private func writeProbe(on canvas: BufferPointer, _ job: Job) throws(FrameFault) {
        guard job.settings.navigation != .none, let place = probe.held, let answer = answer(at: place, job.settings)
        else { return }
        try job.compositor.write(answer.metres, at: place, on: canvas)
    }

    private func composite(
        _ canvas: BufferPointer, _ matte: Matte?, _ depth: DepthFrame?, _ behind: Behind?, _ job: Job
    ) throws(FrameFault) {
        let background =
            switch behind {
            case .picture(let picture): picture
            case .room(let effect):
                try room.picture(
                    of: canvas, effect, matte: matte,
                    depth: depth.map { RoomPicture.Depth(frame: $0, focus: focus(job.settings.matte)) },
                    format: job.compositor.output)
            case nil: throw .contradiction("a view that shows a background has none")
            }
        try job.compositor.composite(canvas, matte: matte, background: background, edge: job.settings.edge)
    }

    /// Where the person of the last matte is; the cutoff where they have no distance of their own.
    private func focus(_ settings: MatteSettings) -> RoomDistance.Focus {
        guard settings.mask == .cutoff else { return RoomDistance.Focus(distance: 1 / settings.focus, cutoff: 0) }
        let report = maker.report
        return RoomDistance.Focus(
            distance: report.anchorDistance > 0 ? report.anchorDistance : report.cutoff, cutoff: report.cutoff)
    }

    /// What the last matte was made by.
    private func marks(_ job: Job) -> QuadView.Marks {
        let settings = job.settings
        guard settings.matte.mask == .cutoff else {
            let focus = settings.matte.focus
            return QuadView.Marks(cutoff: focus > 0 ? 1 / focus : nil)
        }
        var marks = QuadView.Marks(face: maker.report.face, cutoff: maker.report.cutoff)
        if let face = marks.face {
            marks.anchor = (face.x + face.width / 2, face.y + face.height / 2)
        } else if settings.matte.anchor.mode == .point {
            let (format, anchor) = (job.compositor.output, settings.matte.anchor)
            marks.anchor = (anchor.x * Double(format.width), anchor.y * Double(format.height))
        }
        return marks
    }

    /// What a faulty frame becomes: fresh memory, on which there is no person, before a picture or a colour. There is no
    /// room to be changed either.
    private func cover(_ frame: inout OwnedBuffer, _ job: Job) throws(FlowStop) {
        let behind = job.settings.view.showsBackground ? try Behind.picture(backgroundFrame(job)) : nil
        frame = try drawingLast("frame") { () throws(FrameFault) in
            var canvas = try job.compositor.blankCanvas(for: frame.pointer)
            if job.settings.view == .quad {
                canvas.pointer.removePlacedMetas()
                try composite(canvas.pointer, nil, nil, behind, job)
            } else {
                try draw(onCanvas: &canvas, nil, nil, behind, job)
            }
            return canvas
        }
    }

    // MARK: Background

    private func behind(_ job: Job) throws(FlowStop) -> Behind? {
        guard job.settings.view.showsBackground else { return nil }
        return switch job.settings.backgroundMode {
        case .blur where !job.compositor.hasStraightAlpha:
            .room(
                .blur(sigma: job.settings.backgroundBlur, depth: job.settings.backgroundBlurDepth))
        case .comic where !job.compositor.hasStraightAlpha: .room(.comic)
        default: .picture(try backgroundFrame(job))
        }
    }

    private func backgroundFrame(_ job: Job) throws(FlowStop) -> BufferRef {
        var request = Background.Request(
            format: job.compositor.output, color: job.settings.backgroundColor, fit: job.settings.backgroundFit,
            source: job.compositor.hasStraightAlpha ? .transparent : source(job))
        do throws(FrameFault) {
            return try background.frame(request)
        } catch {
            report(error, of: "background", "its colour stands in for it")
        }
        request.source = .color
        return try drawingLast("background") { () throws(FrameFault) in try background.frame(request) }
    }

    private func source(_ job: Job) -> Background.Source {
        switch job.settings.backgroundMode {
        case .auto where inputs.background.isThere, .stream: inputs.backgroundPicture().map { .moving($0) } ?? .color
        case .auto, .image: fileSource(job)
        case .color, .transparent, .blur, .comic: .color
        }
    }

    private func fileSource(_ job: Job) -> Background.Source {
        guard let reader = backgroundFile.reader else { return .color }
        if let fault = reader.takeFault() { warn(fault) }
        if let still = reader.still { return .still(still) }
        return .moving(reader.picture(at: job.moment.time ?? 0, block: !job.moment.isLive))
    }
}
