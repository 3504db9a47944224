import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge
import Synchronization

/// One `depthmatte` instance. Its reference pad is `video`.
///
/// Threads: see `ReferencePadAggregator`. `State` is used by the source pad's streaming thread only, or while that
/// thread is stopped.
///
/// The frame function is in `DepthMatteElement+Frame.swift`, caps are in `+Negotiation`, views in `+Views`.
final class DepthMatteElement: ReferencePadAggregator {
    static let log = LogCategory(name: DepthMatte.factory, description: "Matting of video by its depth")

    let instance: ElementPointer
    let table = Properties(DepthMatteProperties.all, initial: DepthMatteSettings())
    let streams = Streams()
    let backgroundFile: BackgroundFile
    let roomFile: BackgroundFile
    let probe = DepthProbe()
    let pointer = PointerTracker()
    let thermal = ThermalWatch()
    /// Written by the streaming thread, read by any thread.
    let statistics = Mutex(Statistics())

    /// What the next frame is to do to the memory of the room. Written by any thread, taken by the streaming thread.
    let roomRequest = Mutex<RoomRequest?>(nil)

    /// The addition of depth-sync=measured to depth-ts-offset, in nanoseconds. Written by the streaming thread.
    let measuredTimeOffset = Atomic<Int64>(0)

    /// An action signal.
    enum RoomRequest: String, CaseIterable {
        case captureRoom = "capture-room"
        case forgetRoom = "forget-room"
    }

    /// Streaming thread, or while that is stopped. `stop` replaces it.
    var state = State()

    final class State {
        /// The video's format; nil before its first caps.
        var input: (format: StreamFormat, caps: CapsRef)?
        /// Nil before the output is negotiated.
        var compositor: Compositor?
        /// An error of this element that made the last negotiation fail; nil where downstream refused.
        var negotiationFault: ElementError?
        var inputs = DepthMatteInputs()
        var maker = MatteMaker()
        var reserve = ScratchReserve()
        /// Copies of the last map, which a click reads after the camera got its buffer back.
        let copies = DepthCopies()
        let backdrops = BackdropSelector()
        /// The picture of `room-picture` that was last taken for the room, and the format that it was taken in.
        var room: (picture: Picture, format: StreamFormat)?
        /// The settings for which `warnOfCutoff` warned last.
        var complainedOf: MatteSettings?
        /// The corrections and warnings that the measured lag and offset of depth brought.
        var sync = SyncState()
        /// Frames since the start for which no depth map was near enough; nil once there was one.
        var unpairedFrames: Int? = 0
        /// True while frames without depth are known to the user.
        var hasWarnedOfMissingDepth = false
    }

    init(_ instance: ElementPointer) {
        self.instance = instance
        backgroundFile = BackgroundFile { [table] in
            let settings = table.current
            return settings.background.map { .init(name: $0, allowsRemote: settings.allowsRemote) }
        }
        roomFile = BackgroundFile(isOptional: true) { [table] in
            table.current.roomPicture.map { .init(name: $0, allowsRemote: false) }
        }
        addReferencePad()
    }

    // MARK: Properties

    func propertyChanged(_ name: String) {
        switch name {
        case "background":
            backgroundFile.replace(for: self)
        case "background-color":
            logTransparentColor(name, table.current.backgroundColor)
        case "background-mode":
            // The output may gain or lose its alpha channel, and the video's format with it.
            markReconfigure()
            askUpstreamToReconfigure()
        case "depth-ts-offset": timeShiftChanged()
        case "room-picture": roomFile.replace(for: self)
        case "thermal":
            thermal.setWanted(table.current.thermal != .ignore, for: self)
        default: break
        }
    }

    func perform(_ action: String) { roomRequest.withLock { $0 = RoomRequest(rawValue: action) } }

    func takeRoomRequest() -> RoomRequest? {
        roomRequest.withLock { request in
            defer { request = nil }
            return request
        }
    }

    func structure(_ property: String) -> StructurePointer? { statistics.withLock { $0 }.structure() }

    // MARK: Start

    func start() throws(ElementError) {
        startStreams()
        statistics.withLock { $0 = Statistics() }
        try backgroundFile.start(for: self, maxPixels: maxPixels)
        try roomFile.start(for: self, maxPixels: maxPixels)
        thermal.start(table.current.thermal != .ignore, for: self)
    }

    // MARK: Statistics

    func frameDropped() { statistics.withLock { $0.count(.dropped, workTime: 0) } }

    /// Counts one frame, and posts the message "stats" when it is due, and "presence" when somebody comes or leaves.
    func updateStatistics(
        _ outcome: Statistics.Outcome, at time: RunningTime?, since start: gint64, interval: GstClockTime
    ) {
        let work = UInt64(clamping: g_get_monotonic_time() &- start) &* 1000
        let report = state.maker.report
        let (hasChanged, message) = statistics.withLock { statistics -> (Bool, Statistics?) in
            let hasChanged = statistics.report.isPresent != report.isPresent
            statistics.count(outcome, workTime: work)
            statistics.report = report
            return (hasChanged, statistics.isMessageDue(at: time, interval: interval) ? statistics : nil)
        }
        if hasChanged, let structure = gst_structure_new_empty("presence") {
            structure.set("present", to: report.isPresent)
            post(gst_message_new_element(object, structure))
        }
        if let structure = message?.structure() { post(gst_message_new_element(object, structure)) }
    }

    // MARK: Flush and stop

    /// The background has no part in the matte.
    func streamRestarted(_ role: DepthMatte.PadRole) {
        switch role {
        case .background: break
        case .video, .depth: state.maker.forgetPast()
        case .face, .segmentation: state.maker.forgetMatte()
        }
    }

    func resetInputs() {
        state.inputs.reset()
        state.maker.reset()
        probe.forget()
    }

    func unlock() {
        backgroundFile.interrupt()
        roomFile.interrupt()
    }

    func stop() {
        thermal.stop()
        backgroundFile.stop()
        roomFile.stop()
        state = State()
        measuredTimeOffset.store(0, ordering: .relaxed)
        roomRequest.withLock { $0 = nil }
        probe.forget()
        pointer.letGo()
        probe.letGo()
        stopStreams()
    }
}
