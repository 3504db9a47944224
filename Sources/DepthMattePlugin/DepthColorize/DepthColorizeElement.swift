import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// One `depthcolorize` instance. Its reference pad is `depth`.
///
/// Threads: see `ReferencePadAggregator`. `State` is used by the source pad's streaming thread only, or while that
/// thread is stopped.
final class DepthColorizeElement: DepthLedElement {
    static let log = LogCategory(name: DepthColorize.factory, description: "Depth in colors")

    let instance: ElementPointer
    let table = Properties(DepthColorizeProperties.all, initial: DepthColorizeSettings())
    let streams = Streams()
    let probe = DepthProbe()
    private let pointer = PointerTracker()

    /// Streaming thread, or while that is stopped. `stop` replaces it.
    var state = State()

    final class State {
        let inputs = DepthLedInputs()
        /// Nil before the output is negotiated.
        var painter: ColorPainter?
        /// Copies of the last map, which a click reads after upstream got its buffer back.
        let copies = DepthCopies()
        var reserve = ScratchReserve()
    }

    var inputs: DepthLedInputs { state.inputs }
    var frames: OutputFrames? { state.painter?.frames }

    init(_ instance: ElementPointer) {
        self.instance = instance
        addReferencePad()
    }

    // MARK: A frame

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: DepthColorizeSettings) throws(FlowStop) {
        let hadVideo = inputs.video.format != nil
        try advanceVideo(to: moment, mayWait: mayWait)
        // Without video the output has the depth map's size again, from the next frame on.
        if hadVideo && inputs.video.format == nil { markReconfigure() }
    }

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthColorizeSettings
    ) throws(FlowStop) -> Bool {
        guard let painter = state.painter, let depth = inputs.depth else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        var settings = settings
        settings.depth.resolve(by: depth.format, on: painter.output.info)
        warnOfScale(settings.depth.scale, of: depth.format)
        let map = DepthFrame(buffer: inputs.map(of: frame.pointer), format: depth.format, reading: settings.depth)
        let bytes = KernelMemory.colors(depth: .init(depth.format.layout), canvas: .init(painter.output.layout))
        try drawWithoutFallback("picture") { () throws(FrameFault) in try state.reserve.hold(bytes) }
        let canvas = try newCanvas(painter, for: map, of: frame.pointer)
        let mix = try drawVideo(on: canvas.pointer, painter, at: moment, settings)
        do throws(FrameFault) {
            try painter.draw(map, settings, mix: mix, on: canvas.pointer)
        } catch {
            report(error, of: depthMapName, "nothing of it is shown")
            try drawWithoutFallback("picture") { () throws(FrameFault) in
                try painter.drawNothing(settings, mix: mix, on: canvas.pointer)
            }
        }
        probe.show(state.copies.copy(of: map), width: painter.output.width, height: painter.output.height)
        writeProbe(on: canvas.pointer, painter)
        Self.log(GST_LEVEL_LOG, self) {
            "map at \(moment.time.map(String.init) ?? "no time"): \(mix == nil ? "alone" : "over the video")"
        }
        frame = canvas
        return true
    }

    /// Returns a canvas with the frame's timestamps and the map's metas, without metas that name positions if those change.
    private func newCanvas(
        _ painter: ColorPainter, for map: DepthFrame, of frame: BufferPointer
    ) throws(FlowStop) -> OwnedBuffer {
        let canvas = try drawWithoutFallback("picture") { () throws(FrameFault) in
            try painter.frames.undrawn(stampedLike: map.buffer)
        }
        canvas.pointer.takeTimes(of: frame)
        if !map.liesPixelOnPixel(videoWidth: painter.output.width, videoHeight: painter.output.height) {
            canvas.pointer.removePlacedMetas()
        }
        return canvas
    }

    /// Draws the video frame of the moment, if there is one and `mix` leaves any of it visible.
    ///
    /// - Returns: the opacity of the colors over it; nil if no video was drawn.
    private func drawVideo(
        on canvas: BufferPointer, _ painter: ColorPainter, at moment: Moment, _ settings: DepthColorizeSettings
    ) throws(FlowStop) -> Double? {
        guard settings.mix < 1, let info = inputs.video.format, let choice = videoChoice(at: moment, settings) else {
            return nil
        }
        do throws(FrameFault) {
            try painter.draw(choice.buffer, info, on: canvas)
            return settings.mix
        } catch {
            report(error, of: videoFrameName, "the colors are shown alone")
            return nil
        }
    }

    // MARK: The probe

    /// Positions in the output are positions in the video if there is one, else in the depth map, so events go there.
    func navigationEvent(_ event: EventPointer) -> Bool {
        let isUsed = use(event)
        return pushUpstream(event, on: streams.pads[DepthColorize.PadRole.video] != nil ? .video : .depth) || isUsed
    }

    private func use(_ event: EventPointer) -> Bool {
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

    /// Returns the depth at a position in the output; nil before the first picture.
    private func answer(at place: Gesture.Place) -> DepthProbe.Answer? {
        probe.answer(at: place) { place, _, _ in place }
    }

    /// Writes the depth under the pointer, while a button is held there.
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
        inputs.video.reset()
        probe.forget()
    }

    func stop() {
        state = State()
        probe.forget()
        pointer.letGo()
        probe.letGo()
        stopStreams()
    }
}
