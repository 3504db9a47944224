import CGStreamer
import DepthKernels
import GstBridge

/// One `depthcloud`, led by its depth.
///
/// Threads: see `FollowingElement`. Everything under "Streaming state" is touched by the source pad's streaming thread
/// alone, or while that is stopped.
final class DepthCloudElement: FollowingElement {
    static let log = LogCategory(name: DepthCloud.factory, description: "Depth as a cloud of points")

    let instance: UnsafeMutablePointer<GstElement>
    let table = Properties(DepthCloudProperties.all, initial: DepthCloudSettings())
    let pace = Pace()
    let hands = CloudHands()
    private let pointer = PointerTracker()
    private let snapshot = CloudSnapshot()

    // MARK: Streaming state

    /// What the depth's caps say; nil until they came.
    var depth: DepthStream?
    /// The video as it is followed.
    var video = RequestInput<GstVideoInfo>(DepthCloud.PadRole.video)
    /// What the agreed output is; nil until there is one.
    var painter: CloudPainter?
    /// What of our own keeps the output from being agreed.
    var negotiationFault: ElementError?
    /// The map that was drawn last, and when it was in the video's colours.
    private var lastMap: (map: DepthFrame, videoMoment: Moment?)?
    private let copies = DepthCopies()

    init(_ instance: UnsafeMutablePointer<GstElement>) {
        self.instance = instance
        addLeadingPad()
    }

    // MARK: Hands

    /// The view changes at once, and shows in the next frame. Keys and commands go on to whoever makes the depth; a
    /// place in the picture means nothing there.
    func navigate(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        // The time at which it came: sinks give their events none.
        let now = UInt64(clamping: g_get_monotonic_time()) &* 1000
        let action = pointer.gesture(event).flatMap { PointerEvent($0, time: now) }
        if let action { take(action) }
        switch Gesture(event) {
        case nil: return takeOther(event)
        case .keyPress, .keyRelease: return pushUpstream(event, on: .leading) || action != nil
        case .press, .release, .move, .scroll:
            gst_event_unref(event)
            return true
        }
    }

    private func takeOther(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
        // By its name: sinks older than GStreamer 1.26 do not send it, and its headers do not know it.
        guard let structure = gst_event_get_structure(event),
            let kind = gst_structure_get_string(structure, "event"), strcmp(kind, "mouse-double-click") == 0
        else { return pushUpstream(event, on: .leading) }
        take(.doubleClick)
        gst_event_unref(event)
        return true
    }

    private func take(_ action: PointerEvent) {
        for property in hands.take(action, table) { notify(property) }
    }

    // MARK: A frame

    func follow(to moment: Moment, mayWait: Bool, _ settings: DepthCloudSettings) throws(FlowStop) {
        video.refresh(self)
        if mayWait && video.isEmpty(in: self, at: moment) { throw .needData }
        try video.advance(in: self, to: moment, mayWait: mayWait)
    }

    func partner(_ role: DepthCloud.PadRole, at moment: Moment, _ settings: DepthCloudSettings) -> BufferPointer? {
        role == .video
            ? video.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice?.buffer : nil
    }

    func draw(
        _ frame: inout OwnedBuffer, at moment: Moment, _ settings: DepthCloudSettings
    ) throws(FlowStop) -> Bool {
        guard let painter, let depth else { throw .refused(GST_FLOW_NOT_NEGOTIATED) }
        let canvas = try blankCanvas(painter, for: frame.pointer)
        let scene = CloudPainter.Scene(
            depth: frame.pointer, format: depth.format, video: videoFrame(at: moment, settings), settings: settings,
            view: hands.view(settings, at: streamTime(of: frame.pointer)))
        let shown = try draw(scene, painter, on: canvas.pointer)
        if let shown {
            keep(shown, at: moment)
            if settings.snapshot && snapshot.isFree { takeSnapshot(shown) }
        }
        frame = canvas
        return true
    }

    private func blankCanvas(_ painter: CloudPainter, for frame: BufferPointer) throws(FlowStop) -> OwnedBuffer {
        let canvas = try drawingLast("picture") { () throws(FrameFault) in
            try painter.frames.blank(stampedLike: frame)
        }
        canvas.pointer.removePlacedMetas()
        return canvas
    }

    /// The video frame that goes with the moment, where there is one and it is asked for.
    private func videoFrame(
        at moment: Moment, _ settings: DepthCloudSettings
    ) -> (buffer: BufferPointer, info: GstVideoInfo)? {
        guard settings.colors == .auto, let info = video.format,
            let choice = video.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice
        else { return nil }
        return (choice.buffer, info)
    }

    /// Draws a scene, by the palette where the video is faulty; nil where nothing can be drawn.
    private func draw(
        _ scene: CloudPainter.Scene, _ painter: CloudPainter, on canvas: BufferPointer
    ) throws(FlowStop) -> CloudPainter.Scene? {
        do throws(FrameFault) {
            try painter.draw(scene, on: canvas)
            return scene
        } catch {
            guard scene.video != nil, isReadable(scene) else {
                report(error, of: "depth map", "nothing of it is shown")
                return try drawNothing(scene, painter, on: canvas)
            }
            report(error, of: "video frame", "the palette gives the colours")
            return try draw(scene.withoutVideo, painter, on: canvas)
        }
    }

    private func isReadable(_ scene: CloudPainter.Scene) -> Bool {
        (try? withFrame(reading: scene.depth, scene.format.layout) { _ in }) != nil
    }

    private func drawNothing(
        _ scene: CloudPainter.Scene, _ painter: CloudPainter, on canvas: BufferPointer
    ) throws(FlowStop) -> CloudPainter.Scene? {
        try drawingLast("picture") { () throws(FrameFault) in try painter.drawNothing(scene.settings, on: canvas) }
        return nil
    }

    /// The time of the slow circle; 0 where the frame has none.
    private func streamTime(of frame: BufferPointer) -> GstClockTime {
        var segment = outputSegment
        guard segment.format == GST_FORMAT_TIME, frame.pointee.pts != noClockTime else { return 0 }
        let time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, frame.pointee.pts)
        return time == noClockTime ? 0 : time
    }

    // MARK: A file

    /// Keeps a map for a snapshot that is asked for when no other comes, while there is a place to write one to.
    private func keep(_ scene: CloudPainter.Scene, at moment: Moment) {
        let isWanted = scene.settings.location?.isEmpty == false
        let map = DepthFrame(buffer: scene.depth, format: scene.format, reading: scene.settings.depth)
        lastMap = isWanted ? copies.copy(of: map).map { ($0, scene.video == nil ? nil : moment) } : nil
    }

    /// The last map as it would be drawn now; nil where there is none.
    private var lastScene: CloudPainter.Scene? {
        guard let lastMap else { return nil }
        let settings = table.current
        return CloudPainter.Scene(
            depth: lastMap.map.buffer, format: lastMap.map.format,
            video: lastMap.videoMoment.flatMap { videoFrame(at: $0, settings) }, settings: settings,
            view: settings.view)
    }

    /// Takes up the snapshot that is asked for, as it is now and in one step: it may have been asked for anew while a frame
    /// was drawn, and what is asked for from here on is another one.
    ///
    /// - Returns: where it is to be written, empty where no place is named; nil where none is asked for.
    private func takeWish() -> String? {
        var wish: (isThere: Bool, location: String?) = (false, nil)
        table.update { settings in
            wish = (settings.snapshot, settings.location)
            settings.snapshot = false
        }
        guard wish.isThere else { return nil }
        notify("snapshot")
        return wish.location ?? ""
    }

    /// Begins the file that is asked for, if one is; no other may be in the making.
    private func takeSnapshot(_ scene: CloudPainter.Scene?) {
        guard let path = takeWish() else { return }
        guard !path.isEmpty else {
            return warn(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_SETTINGS), "There is no snapshot without a location to write it to."))
        }
        guard let scene, let painter else {
            return warn(
                ElementError(
                    .resource(GST_RESOURCE_ERROR_FAILED),
                    "The snapshot was not written. \(path): no depth map came for it."))
        }
        do throws(FrameFault) {
            snapshot.begin(try painter.file(scene), to: path, for: self)
        } catch {
            report(error, of: "depth map", "no snapshot is written")
        }
    }

    /// Makes the snapshot that is still asked for, of the last map: no other comes, and each file is announced before the
    /// end. A snapshot asked for meanwhile is not made: an application that answers each one so would never end.
    func finishWork() {
        snapshot.finish()
        takeSnapshot(lastScene)
        snapshot.finish()
        takeSnapshot(nil)
    }

    // MARK: Stop

    func streamRestarted(_ role: DepthLedPad, by event: GstEventType) { if role == .depth { lastMap = nil } }

    func forgetInputs() {
        video.reset()
        lastMap = nil
    }

    func end() {
        finishWork()
        lastMap = nil
        copies.forget()
        pointer.letGo()
        hands.letGo()
        depth = nil
        video = RequestInput(DepthCloud.PadRole.video)
        painter = nil
        negotiationFault = nil
    }
}

extension CloudPainter.Scene {
    fileprivate var withoutVideo: CloudPainter.Scene {
        CloudPainter.Scene(depth: depth, format: format, video: nil, settings: settings, view: view)
    }
}
