import CGStreamer
import DepthCameras
import GstBridge

/// One camera, on a thread of its own: nothing else calls this camera.
///
/// The thread knows this object and not the element. Where the library hangs, the element drops the session and is free; the
/// thread ends when the library returns.
final class CaptureSession: Sendable {
    typealias Role = DepthCamSrc.PadRole

    struct Options: Sendable {
        /// Nil tries all drivers.
        var driver: (any CameraDriver.Type)?
        var library: String?
        var choice = CameraChoice()
        /// Microseconds without a frame after which the camera counts as silent; nil waits for ever.
        var silence: Int64?
        /// True to wait for a camera that was unplugged.
        var waitsForReturn = false

        var drivers: [any CameraDriver.Type] {
            driver.map { [$0] }
                ?? cameraDrivers.filter { choice.recording.isEmpty || $0.plays(recording: choice.recording) }
        }

        /// A recording waits for its reader, a camera does not.
        var isLive: Bool { choice.recording.isEmpty }
    }

    /// A frame with its place in time.
    struct Frame: @unchecked Sendable {  // guard: the buffer is the frame's alone
        let buffer: BufferRef
        /// Nanoseconds of the host's monotonic clock; of a recording, since its first frame. Frames of one exposure have the same
        /// time; those of two exposures never do.
        let time: Int64
        /// True where frames were lost before it.
        var isAfterLoss: Bool
        /// The newest depth map, with a video frame while nobody takes frames of the depth pad.
        var depth: Map?

        struct Map {
            let buffer: BufferRef
            let time: Int64
        }
    }

    enum Phase: Sendable {
        case opening
        case open(CameraInfo)
        case streaming(CameraInfo, CameraStreams)
        case ended
        case failed(CameraError)
        case closed

        var isOpening: Bool { if case .opening = self { true } else { false } }
        var isStreaming: Bool { if case .streaming = self { true } else { false } }
        /// True where no more frames come until the streams are asked for again.
        var isOver: Bool {
            switch self {
            case .opening, .open, .streaming: false
            case .ended, .failed, .closed: true
            }
        }
    }

    /// Counts since the start, for the property `stats`. Plain numbers, as copies of them leave the lock.
    struct Counts: Sendable {
        var video: UInt64 = 0
        var depth: UInt64 = 0
        /// Frames that the camera's own numbers show as lost, that were faulty, or that nobody took in time.
        var lost: UInt64 = 0
        var reconnects: UInt64 = 0
        var clockJumps = 0
        var drift = 0.0
        var clockError: Int64?
        /// The longest time from exposure to arrival, in nanoseconds.
        var longestDelay: Int64 = 0

        mutating func add(_ report: Counts) {
            lost &+= report.lost
            clockJumps = report.clockJumps
            drift = report.drift
            clockError = report.clockError
            longestDelay = max(longestDelay, report.longestDelay)
        }
    }

    /// News from the session that the element tells the application.
    enum News: Sendable {
        case unplugged(CameraError)
        case returned
    }

    fileprivate struct Shared {
        var phase = Phase.opening
        /// Nil before the camera is open.
        var info: CameraInfo?
        var streams: CameraStreams?
        var isWanted = true
        /// True while an unplugged camera is waited for.
        var isAwaited = false
        /// The wanted streams; nil to stop.
        var request: CameraSettings?
        /// Changes with each request, so that frames of an earlier one are not taken for its own.
        var generation = 0
        var queues: [[Frame]] = [[], []]
        var newestMap: Frame.Map?
        var linked = [true, true]
        var interrupted = [false, false]
        var isFlowing = false
        var isEnding = false
        var counts = Counts()
        var news: [News] = []
    }

    /// Frames of each pad that wait for its thread. More of a camera's would only be older.
    static let queueLength = 4
    /// Milliseconds that the thread gives the camera for a frame before it looks at requests.
    private static let patience = 100
    /// Microseconds between two attempts to open a camera that was unplugged.
    private static let retryInterval: Int64 = 500_000
    /// Frames of a recording that may wait on one pad while the other has room: a muxer takes some of one first.
    fileprivate static let longestQueue = 64

    let options: Options
    private let shared = Monitor(Shared())

    /// Starts the thread; nil where the system gives no more.
    init?(_ options: Options) {
        self.options = options
        guard onThread("depthcamsrc", { [self] in run() }) else { return nil }
    }

    // MARK: The element's side; any thread

    /// Waits until the camera is open.
    ///
    /// - Returns: nil after the time.
    func waitUntilOpen(microseconds: Int64) -> Phase? {
        _ = shared.wait(microseconds: microseconds) { !$0.phase.isOpening }
        return shared.withLock { $0.phase.isOpening ? nil : $0.phase }
    }

    /// The camera; nil before it is open.
    var info: CameraInfo? { shared.withLock { $0.info } }

    /// The error that ended the session; nil where there was none.
    var failure: CameraError? { shared.withLock { if case .failed(let error) = $0.phase { error } else { nil } } }

    var isEnding: Bool { shared.withLock { $0.isEnding } }

    /// The streams as they were started last; nil before.
    var lastStreams: CameraStreams? { shared.withLock { $0.streams } }

    /// The settings that were asked for last; nil after `stop`.
    var request: CameraSettings? { shared.withLock { $0.request } }

    var counts: Counts { shared.withLock { $0.counts } }

    /// Asks for streams, unless the other pad has asked for the same. They start some time later.
    func start(_ settings: CameraSettings) {
        shared.withLock {
            if $0.request == settings { return }
            $0.ask(for: settings)
            // Streams of an earlier request may still run, or have ended.
            $0.reopen()
        }
    }

    /// Waits until the streams run.
    ///
    /// - Returns: the phase reached, nil after the time or where the pad was interrupted; and the number of the last request.
    func waitUntilStreaming(_ role: Role, microseconds: Int64) -> (phase: Phase?, generation: Int) {
        _ = shared.wait(microseconds: microseconds) {
            $0.interrupted[role.index] || $0.isEnding || $0.phase.isStreaming || $0.phase.isOver
        }
        return shared.withLock { shared in
            let isReached = !shared.interrupted[role.index] && (shared.phase.isStreaming || shared.phase.isOver)
            return (isReached ? shared.phase : nil, shared.generation)
        }
    }

    /// Asks the thread to stop the streams, and waits for it.
    func stop(microseconds: Int64) {
        shared.withLock { $0.ask(for: nil) }
        _ = shared.wait(microseconds: microseconds) { !$0.phase.isStreaming || $0.isAwaited }
        // A recording that has ended is made ready, so that the next start plays it again.
        shared.withLock { if case .ended = $0.phase { $0.reopen() } }
    }

    /// Asks the thread to end, and waits for it; false where the library has not returned in time.
    func close(microseconds: Int64) -> Bool {
        shared.withLock {
            $0.isWanted = false
            $0.request = nil
        }
        return shared.wait(microseconds: microseconds) { if case .closed = $0.phase { true } else { false } }
    }

    /// Lets the pads' threads take frames, or keeps them waiting. A camera's frames of the time between are old by then.
    func setFlowing(_ isFlowing: Bool) {
        shared.withLock {
            if isFlowing && !$0.isFlowing && options.isLive { $0.queues = [[], []] }
            $0.isFlowing = isFlowing
        }
    }

    /// - Parameter isLinked: false where nobody takes the pad's frames. Those that wait would be old when somebody does.
    func setLinked(_ role: Role, _ isLinked: Bool) {
        shared.withLock {
            $0.linked[role.index] = isLinked
            if !isLinked { $0.queues[role.index] = [] }
        }
    }

    /// Gets ready for another start.
    func prepare() { shared.withLock { ($0.isEnding, $0.counts) = (false, Counts()) } }

    func end() { shared.withLock { $0.isEnding = true } }

    func setInterrupted(_ role: Role, _ isInterrupted: Bool) {
        shared.withLock { $0.interrupted[role.index] = isInterrupted }
    }

    enum Item: Sendable {
        case frame(Frame)
        case news(News)
        case ended
        case failed(CameraError)
        /// The pad is to do nothing, or to look at its state again.
        case interrupted
        /// The streams were started anew, and may have other formats.
        case restarted
    }

    /// Waits for the next item of a pad.
    ///
    /// - Parameter generation: the number of the request whose frames the pad expects.
    func next(_ role: Role, generation: Int) -> Item {
        shared.wait(until: {
            $0.interrupted[role.index] || $0.isEnding || !$0.news.isEmpty || $0.generation != generation
                || $0.isFlowing && (!$0.queues[role.index].isEmpty || $0.phase.isOver)
        }) { shared -> Item in
            if shared.interrupted[role.index] { return .interrupted }
            if !shared.news.isEmpty { return .news(shared.news.removeFirst()) }
            if shared.isEnding { return .ended }
            if shared.generation != generation { return .restarted }
            if !shared.queues[role.index].isEmpty { return .frame(shared.queues[role.index].removeFirst()) }
            switch shared.phase {
            case .ended: return .ended
            case .failed(let error): return .failed(error)
            case .opening, .open, .streaming, .closed: return .interrupted
            }
        }
    }

    // MARK: The thread

    private func run() {
        do throws(CameraError) {
            try serve(try open())
        } catch {
            setPhase(.failed(error))
            shared.wait(until: { !$0.isWanted }) { _ in }
        }
        setPhase(.closed)
    }

    /// Captures as requested, until the session is to end.
    private func serve(_ first: any Camera) throws(CameraError) {
        var camera = first
        let info = camera.info
        shared.withLock {
            $0.info = info
            $0.phase = .open(info)
        }
        var done: Int?
        while let request = nextRequest(after: done) {
            done = request.generation
            do throws(CameraError) {
                try capture(camera, request)
            } catch .ended {
                shared.withLock { if $0.generation == request.generation { $0.phase = .ended } }
            } catch .unplugged(let reason) where options.waitsForReturn {
                shared.withLock { $0.isAwaited = true }
                tell(.unplugged(.unplugged(reason)))
                guard let returned = reopen(camera.info) else { return }
                camera = returned
                shared.withLock {
                    $0.isAwaited = false
                    $0.info = returned.info
                    $0.counts.reconnects &+= 1
                    // It may be another camera: its streams are chosen anew, and no map of the old one is shown.
                    if $0.generation == request.generation {
                        $0.ask(for: nil)
                        $0.reopen()
                    }
                }
                tell(.returned)
                done = nil
            }
        }
    }

    private func setPhase(_ phase: Phase) { shared.withLock { $0.phase = phase } }

    private func tell(_ news: News) { shared.withLock { $0.news.append(news) } }

    private struct Request: Sendable {
        let settings: CameraSettings
        let generation: Int
    }

    /// Waits for a request that is not done yet; nil where the session is to end.
    private func nextRequest(after done: Int?) -> Request? {
        shared.wait(until: { !$0.isWanted || $0.request != nil && $0.generation != done }) { shared -> Request? in
            guard shared.isWanted, let settings = shared.request else { return nil }
            return Request(settings: settings, generation: shared.generation)
        }
    }

    /// Opens the camera by the first driver that can. The error is that of the driver that came closest: a camera that is
    /// busy says more than a library that is missing. Where no driver found one, the error says what each of them said: a
    /// camera may be plugged in that only the missing library knows.
    private func open() throws(CameraError) -> any Camera {
        let (drivers, recording) = (options.drivers, options.choice.recording)
        if let advice = advice(onRecording: recording, isKnown: !drivers.isEmpty) { throw .recording(advice) }
        var closest: CameraError?
        var reasons: [String] = []
        for driver in drivers {
            do throws(CameraError) {
                return try driver.init(library: options.library).open(options.choice)
            } catch {
                switch error {
                case .libraryMissing:
                    reasons.append("For \(driver.cameras) a library is missing. \(driver.installation)")
                case .noCamera(let reason), .libraryUnsuitable(let reason): reasons.append(reason.asSentence)
                default: break
                }
                if error.weight > closest?.weight ?? -1 { closest = error }
            }
        }
        if case .noCamera? = closest { throw .noCamera(reasons.joined(separator: " ")) }
        throw closest ?? .noCamera("")
    }

    /// Waits until the camera is back; nil where the session is to end.
    private func reopen(_ info: CameraInfo) -> (any Camera)? {
        var choice = options.choice
        choice.serial = info.serial
        let driver = cameraDrivers.first { $0.name == info.driver }
        while shared.withLock({ $0.isWanted }) {
            if let camera = try? driver?.init(library: options.library).open(choice) { return camera }
            _ = shared.wait(microseconds: CaptureSession.retryInterval) { !$0.isWanted }
        }
        return nil
    }

    /// Captures until the request changes.
    private func capture(_ camera: any Camera, _ request: Request) throws(CameraError) {
        let streams = try camera.start(request.settings)
        defer { camera.stop() }
        shared.withLock {
            guard $0.generation == request.generation else { return }
            $0.phase = .streaming(camera.info, streams)
            $0.streams = streams
        }
        var intake = FrameIntake(streams, isLive: options.isLive)
        var lastFrame = g_get_monotonic_time()
        while isCurrent(request.generation) {
            if let frames = try camera.next(timeout: CaptureSession.patience) {
                deliver(intake.take(frames), &intake, request.generation)
                // A paused recording waits in `deliver`.
                lastFrame = g_get_monotonic_time()
            } else if let silence = options.silence, g_get_monotonic_time() &- lastFrame > silence {
                throw .failed("it has sent no frame for \(silence / 1000) ms")
            }
        }
        shared.withLock { if $0.isWanted { $0.phase = .open(camera.info) } }
    }

    private func isCurrent(_ generation: Int) -> Bool { shared.withLock { $0.isWanted && $0.generation == generation } }

    /// Puts the frames of an exposure into the queues. A recording waits for room; of a camera the oldest frames are lost.
    private func deliver(_ exposure: FrameIntake.Exposure, _ intake: inout FrameIntake, _ generation: Int) {
        if !options.isLive {
            shared.wait(until: { $0.hasRoom || !$0.isWanted || $0.generation != generation }) { _ in }
        }
        let report = intake.report()
        shared.withLock { shared in
            guard shared.generation == generation else { return }
            shared.counts.add(report)
            // Where the depth pad is linked the maps leave there, not with the video too.
            if shared.linked[Role.depth.index] {
                shared.newestMap = nil
            } else if let depth = exposure.depth {
                shared.newestMap = Frame.Map(buffer: depth.buffer, time: depth.time)
            }
            for role in Role.allCases {
                guard var frame = role == .video ? exposure.video : exposure.depth else { continue }
                if role == .video { frame.depth = shared.newestMap }
                if role == .video { shared.counts.video &+= 1 } else { shared.counts.depth &+= 1 }
                guard shared.linked[role.index] else { continue }
                shared.queues[role.index].append(frame)
                if options.isLive && shared.queues[role.index].count > CaptureSession.queueLength {
                    shared.queues[role.index].removeFirst()
                    shared.queues[role.index][0].isAfterLoss = true
                    // Frames that nobody asks for yet are not lost.
                    if shared.isFlowing { shared.counts.lost &+= 1 }
                }
            }
        }
    }
}

extension CaptureSession.Shared {
    /// - Parameter settings: nil to stop.
    fileprivate mutating func ask(for settings: CameraSettings?) {
        request = settings
        generation &+= 1
        queues = [[], []]
        newestMap = nil
    }

    /// Sets the phase back to `open`, as before the streams were started.
    fileprivate mutating func reopen() {
        guard let info else { return }
        switch phase {
        case .streaming, .ended: phase = .open(info)
        case .opening, .open, .failed, .closed: break
        }
    }

    /// True where another frame of a recording may be queued.
    fileprivate var hasRoom: Bool {
        let lengths = linked.indices.filter { linked[$0] }.map { queues[$0].count }
        guard let shortest = lengths.min(), let longest = lengths.max() else { return true }
        return shortest < CaptureSession.queueLength && longest < CaptureSession.longestQueue
    }
}

extension CameraError {
    /// Larger where a user learns more from it.
    fileprivate var weight: Int {
        switch self {
        case .libraryMissing: 0
        case .libraryUnsuitable: 1
        case .noCamera: 2
        case .busy, .recording, .ended, .unplugged, .setting, .failed: 3
        }
    }
}
