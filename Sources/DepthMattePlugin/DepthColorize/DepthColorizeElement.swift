import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// One `depthcolorize`, led by its depth.
///
/// Threads: see `ReferencePadAggregator`. Everything under "Streaming state" is touched by the source pad's streaming thread
/// alone, or while that is stopped.
final class DepthColorizeElement: ReferencePadAggregator {
    static let log = LogCategory(name: DepthColorize.factory, description: "Depth as colours")

    let instance: UnsafeMutablePointer<GstElement>
    let table = Properties(DepthColorizeProperties.all, initial: DepthColorizeSettings())
    let streamState = StreamState()
    let probe = DepthProbe()
    private let pointer = PointerTracker()

    // MARK: Streaming state

    /// What the depth's caps say; nil until they came.
    var depth: DepthStream?
    /// The video as it is followed.
    var video = RequestPadInput<GstVideoInfo>(DepthColorize.PadRole.video)
    /// What the agreed output is; nil until there is one.
    var painter: ColorPainter?
    /// What a click asks about, when the map itself is with its maker again.
    private let shown = DepthCopies()

    init(_ instance: UnsafeMutablePointer<GstElement>) {
        self.instance = instance
        addReferencePad()
    }

    // MARK: A frame

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: DepthColorizeSettings) throws(FlowStop) {
        let hadVideo = video.format != nil
        video.refresh(self)
        // The picture has the depth's size again, from the next frame on.
        if hadVideo && video.format == nil { markReconfigure() }
        if mayWait && video.isEmpty(in: self, at: moment) { throw .needData }
        try video.advance(in: self, to: moment, mayWait: mayWait)
    }

    func selectedBuffer(_ role: DepthColorize.PadRole, at moment: Moment, _ settings: DepthColorizeSettings)
        -> BufferPointer?
    {
        role == .video
            ? video.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice?.buffer : nil
    }

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthColorizeSettings
    ) throws(FlowStop) -> Bool {
        guard let painter, let depth else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let map = DepthFrame(buffer: frame.pointer, format: depth.format, reading: settings.depth)
        let canvas = try blankCanvas(painter, for: map)
        let mix = try drawVideo(on: canvas.pointer, painter, at: moment, settings)
        do throws(FrameFault) {
            try painter.draw(map, settings, mix: mix, on: canvas.pointer)
        } catch {
            report(error, of: "depth map", "nothing of it is shown")
            try drawingLast("picture") { () throws(FrameFault) in
                try painter.drawNothing(settings, mix: mix, on: canvas.pointer)
            }
        }
        probe.show(shown.copy(of: map), width: painter.output.width, height: painter.output.height)
        writeProbe(on: canvas.pointer, painter)
        Self.log.trace(self) {
            "map at \(moment.time.map(String.init) ?? "no time"): \(mix == nil ? "alone" : "over the video")"
        }
        frame = canvas
        return true
    }

    /// A canvas with what is said of the map, but for places in it that are others in the picture.
    private func blankCanvas(_ painter: ColorPainter, for map: DepthFrame) throws(FlowStop) -> OwnedBuffer {
        let canvas = try drawingLast("picture") { () throws(FrameFault) in
            try painter.frames.blank(stampedLike: map.buffer)
        }
        if !map.liesPixelOnPixel(videoWidth: painter.output.width, videoHeight: painter.output.height) {
            canvas.pointer.removePlacedMetas()
        }
        return canvas
    }

    /// Draws the video frame that goes with the moment, where there is one and any of it is to be seen.
    ///
    /// - Returns: how much of the colours is to be seen over it; nil where there is none.
    private func drawVideo(
        on canvas: BufferPointer, _ painter: ColorPainter, at moment: Moment, _ settings: DepthColorizeSettings
    ) throws(FlowStop) -> Double? {
        guard settings.mix < 1, let info = video.format,
            let choice = video.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice
        else { return nil }
        do throws(FrameFault) {
            try painter.draw(choice.buffer, info, on: canvas)
            return settings.mix
        } catch {
            report(error, of: "video frame", "the colours are shown alone")
            return nil
        }
    }

    // MARK: The probe

    /// The picture lies where the video does, if there is one, so a place in it is a place there.
    func navigationEvent(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        let isUsed = use(event)
        return pushUpstream(event, on: sinkPad(DepthColorize.PadRole.video.name) != nil ? .video : .depth) || isUsed
    }

    private func use(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        switch pointer.gesture(event) {
        case .press(button: 1, let place, _):
            probe.hold(place)
            if let answer = answer(at: place) { post(answer) }
            return true
        case .move(let place, _): return probe.move(to: place)
        case .release(button: 1, _, _): return probe.letGo()
        default: return false
        }
    }

    /// The depth at a place of the picture; nil while none has left.
    private func answer(at place: Gesture.Place) -> DepthProbe.Answer? {
        probe.answer(at: place) { place, _, _ in place }
    }

    /// The depth under the pointer, while a button is held there.
    private func writeProbe(on canvas: BufferPointer, _ painter: ColorPainter) {
        guard let place = probe.held, let answer = answer(at: place) else { return }
        do throws(FrameFault) {
            try painter.write(answer.metres, at: place, on: canvas)
        } catch {
            report(error, of: "picture", "no distance is written on it")
        }
    }

    // MARK: Stop

    func resetInputs() {
        video.reset()
        probe.forget()
    }

    func stop() {
        depth = nil
        video = RequestPadInput(DepthColorize.PadRole.video)
        painter = nil
        probe.forget()
        shown.forget()
        pointer.letGo()
        probe.letGo()
        stopStreams()
    }
}
