import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// One `depthcloud` instance. Its reference pad is `depth`.
///
/// Threads: see `ReferencePadAggregator`. `State` is used by the source pad's streaming thread only, or while that
/// thread is stopped.
final class DepthCloudElement: DepthLedElement {
    static let log = LogCategory(name: DepthCloud.factory, description: "Depth as a cloud of points")

    let instance: ElementPointer
    let table = Properties(DepthCloudProperties.all, initial: DepthCloudSettings())
    let streams = Streams()
    let navigation = CloudNavigation()
    private let pointer = PointerTracker()
    private let snapshot = CloudSnapshot()

    /// Streaming thread, or while that is stopped. `stop` replaces it.
    var state = State()

    final class State {
        let inputs = DepthLedInputs()
        /// Nil before the output is negotiated.
        var painter: CloudPainter?
        /// An error of this element that made the last negotiation fail; nil where downstream refused.
        var negotiationFault: ElementError?
        /// The last drawn map, for a snapshot at the end of the stream; `videoMoment` is nil if the palette colored it.
        var lastMap: (map: DepthFrame, videoMoment: Moment?)?
        let copies = DepthCopies()
        var reserve = ScratchReserve()
    }

    var inputs: DepthLedInputs { state.inputs }
    var frames: OutputFrames? { state.painter?.frames }

    init(_ instance: ElementPointer) {
        self.instance = instance
        addReferencePad()
    }

    // MARK: Start and properties

    func start() throws(ElementError) {
        snapshot.setStopping(false)
        startStreams()
    }

    func propertyChanged(_ name: String) {
        switch name {
        case "background-color": logTransparentColor(name, table.current.backgroundColor)
        case "depth-ts-offset": timeShiftChanged()
        default: break
        }
    }

    // MARK: Navigation

    /// Changes the view, which shows in the next frame. Keys and commands are forwarded upstream; pointer events are not,
    /// because positions in the output mean nothing there.
    func navigationEvent(_ event: EventPointer) -> Bool {
        // The time of arrival, because sinks do not stamp their events.
        let now = UInt64(clamping: g_get_monotonic_time()) &* 1000
        let action = pointer.gesture(event).flatMap { PointerEvent($0, time: now) }
        if let action { apply(action) }
        switch Gesture(event) {
        case nil: return handleOther(event)
        case .keyPress, .keyRelease: return pushUpstream(event, on: leader) || action != nil
        case .press, .release, .move, .scroll:
            gst_event_unref(event)
            return true
        }
    }

    private func handleOther(_ event: EventPointer) -> Bool {
        // Matched by name: the event is new in GStreamer 1.26, and older headers lack its type.
        guard let structure = gst_event_get_structure(event),
            let kind = gst_structure_get_string(structure, "event"), strcmp(kind, "mouse-double-click") == 0
        else { return pushUpstream(event, on: leader) }
        apply(.doubleClick)
        gst_event_unref(event)
        return true
    }

    private func apply(_ action: PointerEvent) {
        for property in navigation.apply(action, table) { notify(property) }
    }

    // MARK: A frame

    func aggregateFrame(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthCloudSettings
    ) throws(FlowStop) -> Bool {
        guard let painter = state.painter, let depth = inputs.depth else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let bytes = painter.mostMemory(depth: depth.format.layout, settings)
        try drawWithoutFallback("picture") { () throws(FrameFault) in try state.reserve.hold(bytes) }
        let map = inputs.map(of: frame.pointer)
        let canvas = try newCanvas(painter, for: map)
        canvas.pointer.takeTimes(of: frame.pointer)
        let settings = settings.resolved(by: depth.format)
        warnOfScale(settings.depth.scale, of: depth.format)
        let scene = CloudPainter.Scene(
            map: DepthFrame(buffer: map, format: depth.format, reading: settings.depth),
            video: videoFrame(at: moment, settings), settings: settings,
            view: navigation.view(settings, at: streamTime(of: frame.pointer)))
        let shown = try draw(scene, painter, on: canvas.pointer)
        if let shown {
            keep(shown, at: moment)
            if settings.snapshot && snapshot.isFree { takeSnapshot(shown) }
        }
        frame = canvas
        return true
    }

    private func newCanvas(_ painter: CloudPainter, for frame: BufferPointer) throws(FlowStop) -> OwnedBuffer {
        let canvas = try drawWithoutFallback("picture") { () throws(FrameFault) in
            try painter.frames.undrawn(stampedLike: frame)
        }
        canvas.pointer.removePlacedMetas()
        return canvas
    }

    /// Returns the video frame of the moment; nil where there is none, or `colors=palette`.
    private func videoFrame(
        at moment: Moment, _ settings: DepthCloudSettings
    ) -> (buffer: BufferPointer, info: GstVideoInfo)? {
        guard settings.colors == .auto, let info = inputs.video.format,
            let choice = videoChoice(at: moment, settings)
        else { return nil }
        return (choice.buffer, info)
    }

    /// Draws a scene, in the palette's colors if the video is faulty.
    ///
    /// - Returns: the scene that was drawn; nil if the depth map is faulty and nothing was.
    private func draw(
        _ scene: CloudPainter.Scene, _ painter: CloudPainter, on canvas: BufferPointer
    ) throws(FlowStop) -> CloudPainter.Scene? {
        do throws(FrameFault) {
            try painter.draw(scene, on: canvas)
            return scene
        } catch {
            guard scene.video != nil, scene.map.isReadable else {
                report(error, of: depthMapName, "nothing of it is shown")
                return try drawNothing(scene, painter, on: canvas)
            }
            report(error, of: videoFrameName, "the palette gives the colors")
            return try draw(scene.withoutVideo, painter, on: canvas)
        }
    }

    private func drawNothing(
        _ scene: CloudPainter.Scene, _ painter: CloudPainter, on canvas: BufferPointer
    ) throws(FlowStop) -> CloudPainter.Scene? {
        try drawWithoutFallback("picture") { () throws(FrameFault) in
            try painter.drawNothing(scene.settings, on: canvas)
        }
        return nil
    }

    /// The stream time of a frame, for `auto-pan`; 0 where it has none.
    private func streamTime(of frame: BufferPointer) -> GstClockTime {
        var segment = outputSegment
        guard segment.format == GST_FORMAT_TIME, frame.pointee.pts != noClockTime else { return 0 }
        let time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, frame.pointee.pts)
        return time == noClockTime ? 0 : time
    }

    // MARK: Snapshot

    /// Keeps a copy of the map for a snapshot that is requested before the stream ends, if a location is set.
    private func keep(_ scene: CloudPainter.Scene, at moment: Moment) {
        let isWanted = scene.settings.location?.isEmpty == false
        state.lastMap =
            isWanted ? state.copies.copy(of: scene.map).map { ($0, scene.video == nil ? nil : moment) } : nil
    }

    /// The last map with the current settings; nil where there is none.
    private var lastScene: CloudPainter.Scene? {
        guard let lastMap = state.lastMap else { return nil }
        let settings = table.current.resolved(by: lastMap.map.format)
        return CloudPainter.Scene(
            map: lastMap.map, video: lastMap.videoMoment.flatMap { videoFrame(at: $0, settings) }, settings: settings,
            view: settings.view)
    }

    /// Takes the request for a snapshot and resets the property `snapshot`, atomically: a request made after this is
    /// another one.
    ///
    /// - Returns: the location, empty if none is set; nil if no snapshot is requested.
    private func takeRequest() -> String? {
        var wish: (exists: Bool, location: String?) = (false, nil)
        table.update { settings in
            wish = (settings.snapshot, settings.location)
            settings.snapshot = false
        }
        guard wish.exists else { return nil }
        notify("snapshot")
        return wish.location ?? ""
    }

    /// Starts to write the requested snapshot, if there is one.
    ///
    /// - Precondition: no other snapshot is being written.
    private func takeSnapshot(_ scene: CloudPainter.Scene?) {
        guard let path = takeRequest() else { return }
        guard !path.isEmpty else {
            return warn(ElementError(.settings, "No snapshot is written: the property location is not set."))
        }
        guard let scene, let painter = state.painter else {
            return warn(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_FAILED),
                    "The snapshot \(path) was not written: no depth map arrived."))
        }
        do throws(FrameFault) {
            snapshot.begin(try painter.file(scene), to: path, for: self)
        } catch {
            report(error, of: depthMapName, "no snapshot is written")
        }
    }

    /// Writes a snapshot that is still requested, of the last map, before EOS is sent. Later requests are refused: an
    /// application that answers each message with a request would never reach EOS.
    func drain() {
        for scene in [lastScene, nil] {
            guard snapshot.finish() else {
                return warn(
                    ElementError(
                        .resource(GST_RESOURCE_ERROR_WRITE),
                        "A snapshot is still being written, to a slow disk: it is whole when it has its name."))
            }
            takeSnapshot(scene)
        }
    }

    // MARK: Stop

    func unlock() { snapshot.setStopping(true) }

    func streamRestarted(_ role: DepthLedPad) { if role == .depth { state.lastMap = nil } }

    func resetInputs() {
        inputs.video.reset()
        state.lastMap = nil
    }

    func stop() {
        drain()
        pointer.letGo()
        navigation.reset()
        state = State()
        stopStreams()
    }
}

extension CloudPainter.Scene {
    fileprivate var withoutVideo: CloudPainter.Scene {
        CloudPainter.Scene(map: map, video: nil, settings: settings, view: view)
    }
}
