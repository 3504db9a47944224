import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// Compose: draws the view that the property `view` chooses.
///
/// To add a view: a case of `MatteView` with its blurb, a case in `compose` (does the view show pixels of the video?), and
/// one in `drawView`.
extension DepthMatteElement {
    /// The layers of one output picture.
    struct Layers {
        /// Nil where everything is background.
        var matte: FinishedMatte?
        /// Nil where the frame has no depth.
        var depth: DepthFrame?
        /// Nil in views that show no background.
        var backdrop: Backdrop?
    }

    /// Replaces the video frame with the output picture.
    func compose(_ frame: inout OwnedBuffer, _ layers: Layers, _ job: Job) throws(FrameFault) {
        switch job.settings.view {
        case .composite, .quad: try job.compositor.makeCanvas(of: &frame)
        // These show no pixel of the video, so their canvas never held any. (`pass` outputs the original.)
        case .original, .depth, .matte: try job.compositor.makeNewCanvas(of: &frame)
        }
        try drawView(on: &frame, layers, job)
        if job.settings.view != .original { try attach(layers.matte, to: frame, job) }
    }

    /// Applies `attach-matte`.
    private func attach(_ matte: FinishedMatte?, to frame: borrowing OwnedBuffer, _ job: Job) throws(FrameFault) {
        guard job.settings.attachesMatte else { return }
        try job.compositor.matteMeta().attach(matte?.alpha, to: frame.pointer)
        guard matte != nil, let head = state.maker.report.head else { return }
        let picture = job.compositor.output
        let region = frame.pointer.addRegion("head", head.box, width: picture.width, height: picture.height)
        if let region { Analytics.library?.add(region.pointee, confidence: head.confidence, to: frame.pointer) }
    }

    /// Draws the view on a canvas in the output's layout.
    private func drawView(on canvas: inout OwnedBuffer, _ layers: Layers, _ job: Job) throws(FrameFault) {
        switch job.settings.view {
        case .composite: try composite(canvas.pointer, layers, job)
        // Of view=original only faulty frames are drawn here; nothing of them is shown.
        case .matte, .original:
            try job.compositor.drawMatte(canvas.pointer, matte: layers.matte)
        case .depth:
            let format = job.compositor.output
            try job.compositor.depthView.draw(
                layers.depth, on: canvas.pointer,
                area: Rectangle(x: 0, y: 0, width: format.width, height: format.height))
        case .quad:
            let picture = try job.compositor.newCanvas(for: canvas.pointer)
            picture.pointer.removePlacedMetas()
            try job.compositor.quadView.draw(
                on: picture.pointer, video: canvas.pointer, depth: layers.depth, matte: layers.matte,
                compositor: job.compositor, marks: layers.matte == nil ? QuadView.Marks() : marks(job)
            ) { copy throws(FrameFault) in
                try composite(copy, layers, job)
            }
            canvas = picture
        }
        try writeProbe(on: canvas.pointer, job)
    }

    /// Blends the person over the backdrop.
    private func composite(_ canvas: BufferPointer, _ layers: Layers, _ job: Job) throws(FrameFault) {
        // An effect shows the room as it is seen over the color: what is keyed out of the video has other colors underneath.
        let flat: BufferRef? =
            if case .effect = layers.backdrop {
                try job.compositor.flattener.flattened(
                    canvas, job.compositor.output, over: job.settings.backgroundColor)
            } else { nil }
        let background =
            switch layers.backdrop {
            case .picture(let picture): picture
            case .effect(let effect):
                try effect.picture(
                    EffectScene(
                        video: flat?.pointer ?? canvas, format: job.compositor.output, matte: layers.matte,
                        depth: layers.depth.map { ($0, focus(job.settings.matte)) }, settings: job.settings))
            case nil: throw .contradiction("a view that shows a background has none")
            }
        try job.compositor.composite(canvas, matte: layers.matte, background: background, edge: job.settings.edge)
    }

    /// Replaces a faulty frame: the view of a frame without a person, on new memory. The backdrop is a picture or a color,
    /// because there is no video for an effect.
    func cover(_ frame: inout OwnedBuffer, _ job: Job) throws(FlowStop) {
        let backdrop = job.settings.view.showsBackground ? Backdrop.picture(try backdropPicture(job)) : nil
        let layers = Layers(matte: nil, depth: nil, backdrop: backdrop)
        frame = try drawWithoutFallback("frame") { () throws(FrameFault) in
            var canvas = try job.compositor.newCanvas(for: frame.pointer)
            if job.settings.view == .quad {
                canvas.pointer.removePlacedMetas()
                try composite(canvas.pointer, layers, job)
            } else {
                try drawView(on: &canvas, layers, job)
            }
            try attach(nil, to: canvas, job)
            return canvas
        }
    }

    // MARK: Backdrop

    /// Returns the frame's backdrop; nil for views that show no background.
    func backdrop(_ job: Job) throws(FlowStop) -> Backdrop? {
        guard job.settings.view.showsBackground else { return nil }
        let request = backdropRequest(job)
        do throws(FrameFault) {
            if let backdrop = try state.backdrops.backdrop(request) { return backdrop }
        } catch {
            let isOfPad = request.padPicture != nil && !(job.settings.backgroundMode.mode is ImageBackdrop.Type)
            report(
                error, of: isOfPad ? "frame on the background pad" : "background", "background-color is shown instead")
        }
        return .picture(try colorFrame(request))
    }

    /// Returns the frame's backdrop if it is a picture, else a frame of the color.
    private func backdropPicture(_ job: Job) throws(FlowStop) -> BufferRef {
        if case .picture(let picture) = try backdrop(job) { return picture }
        return try colorFrame(backdropRequest(job))
    }

    private func colorFrame(_ request: BackdropRequest) throws(FlowStop) -> BufferRef {
        try drawWithoutFallback("background") { () throws(FrameFault) in try state.backdrops.colorFrame(request) }
    }

    private func backdropRequest(_ job: Job) -> BackdropRequest {
        BackdropRequest(
            settings: job.settings, format: job.compositor.output, hasAlpha: job.compositor.hasStraightAlpha,
            moment: job.moment, hasPad: state.inputs.background.exists, padPicture: state.inputs.backgroundPicture(),
            file: backgroundFile, element: self)
    }

    // MARK: Marks and probe

    /// The person's distance, by which the blur grows: the anchor's, or the cutoff where nothing is anchored.
    private func focus(_ settings: MatteSettings) -> RoomDistance.Focus {
        guard settings.mask == .cutoff else { return RoomDistance.Focus(distance: 1 / settings.focus, cutoff: 0) }
        let report = state.maker.report
        return RoomDistance.Focus(
            distance: report.anchorDistance > 0 ? report.anchorDistance : report.cutoff, cutoff: report.cutoff)
    }

    /// The face, anchor and cutoff of the last matte, as the quad view draws them.
    private func marks(_ job: Job) -> QuadView.Marks {
        let settings = job.settings
        guard settings.matte.mask == .cutoff else {
            let focus = settings.matte.focus
            return QuadView.Marks(cutoff: focus > 0 ? 1 / focus : nil)
        }
        let report = state.maker.report
        var marks = QuadView.Marks(face: report.face, cutoff: report.cutoff, sync: report.sync)
        if let face = marks.face {
            marks.anchor = (face.x + face.width / 2, face.y + face.height / 2)
        } else if settings.matte.anchor.mode == .point {
            let (format, anchor) = (job.compositor.output, settings.matte.anchor)
            marks.anchor = (anchor.x * Double(format.width), anchor.y * Double(format.height))
        }
        return marks
    }

    /// Writes the depth under the pointer, while a button is held there.
    func writeProbe(on canvas: BufferPointer, _ job: Job) throws(FrameFault) {
        guard job.settings.navigation != .none, let place = probe.held, let answer = answer(at: place, job.settings)
        else { return }
        try job.compositor.write(answer.metres, at: place, on: canvas)
    }
}
