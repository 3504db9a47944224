import CFreenect
import DepthKernels
import Synchronization

/// A Kinect v1, or a dump of one. One thread at a time: the library calls back from within its functions only.
///
/// Depth is registered to the 640x480 color picture by the library, from the camera's own tables.
final class FreenectCamera: Camera {
    let info: CameraInfo
    private let context: FreenectContext
    private let device: UnsafeMutableRawPointer
    private let isRecording: Bool
    private let receiver = FreenectReceiver()
    private var isRunning = false

    private var functions: FreenectLibrary { context.functions }

    init(_ context: FreenectContext, _ device: UnsafeMutableRawPointer, _ info: CameraInfo, isRecording: Bool) {
        self.context = context
        self.device = device
        self.info = info
        self.isRecording = isRecording
        receivers.withLock { $0[UInt(bitPattern: device)] = receiver }
        functions.setVideoCallback(device, receiveVideo)
        functions.setDepthCallback(device, receiveDepth)
    }

    deinit {
        stop()
        functions.setDepthCallback(device, nil)
        functions.setVideoCallback(device, nil)
        receivers.withLock { if $0[UInt(bitPattern: device)] === receiver { $0[UInt(bitPattern: device)] = nil } }
        _ = functions.closeDevice(device)
    }

    // MARK: Start and stop

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        let video = settings.video.flatMap { wanted in functions.videoModes.first { $0.mode == wanted } }
        let isAligned = settings.isAligned && video.map { $0.mode.width == 640 } ?? false || isRecording
        let depth = settings.depth.flatMap { _ in
            functions.depthMode(isAligned ? FreenectConstant.depthRegistered : FreenectConstant.depthMillimetres)
        }
        receiver.reset(video: video?.mode, depth: depth?.mode)
        isRunning = true
        do throws(CameraError) {
            if let video {
                try check(functions.setVideoMode(device, video.raw), "set the video mode")
                setExposure(settings.exposure)
                try check(functions.startVideo(device), "start the video")
            }
            if let depth {
                try check(functions.setDepthMode(device, depth.raw), "set the depth mode")
                try check(functions.startDepth(device), "start the depth")
            }
        } catch {
            stop()
            throw error
        }
        return CameraStreams(
            video: video?.mode, depth: depth?.mode, calibration: calibration(isAligned: isAligned),
            isAligned: isAligned,
            depthUnit: 0.001)
    }

    private func check(_ code: CInt, _ action: String) throws(CameraError) {
        if code < 0 { throw .failed("libfreenect cannot \(action), error \(code)") }
    }

    /// The library sets no exposure time: any that is given keeps the camera's present one.
    private func setExposure(_ exposure: Int?) {
        _ = functions.setFlag?(device, FreenectConstant.flagAutoExposure, exposure == nil ? 1 : 0)
    }

    func stop() {
        guard isRunning else { return }
        isRunning = false
        _ = functions.stopVideo(device)
        _ = functions.stopDepth(device)
        receiver.reset(video: nil, depth: nil)
    }

    /// The optics of the depth map. The library knows the infrared camera's, from the camera's memory; the color camera's are
    /// those that OpenNI and ROS use for every Kinect, as nothing in the camera tells them.
    private func calibration(isAligned: Bool) -> Calibration? {
        guard !isAligned else {
            return Calibration(
                depth: CameraIntrinsics(width: 640, height: 480, fx: 525, fy: 525, cx: 319.5, cy: 239.5),
                depthUnit: 0.001)
        }
        guard let cameraToWorld = functions.cameraToWorld else { return nil }
        var (x, y) = (0.0, 0.0)
        // The point at column 640 and row 480 of a plane 1000 mm away; the library's axis is at column 320, row 240.
        cameraToWorld(device, 640, 480, 1000, &x, &y)
        let (fx, fy) = (320 * 1000 / x, 240 * 1000 / y)
        guard fx.isFinite, fy.isFinite, (100...10_000).contains(fx), (100...10_000).contains(fy) else { return nil }
        return Calibration(
            depth: CameraIntrinsics(width: 640, height: 480, fx: fx, fy: fy, cx: 320, cy: 240), depthUnit: 0.001)
    }

    // MARK: Frames

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        let end = monotonicMilliseconds() &+ Int64(milliseconds)
        while isRunning {
            if let frames = receiver.takeReady() { return frames }
            let left = end &- monotonicMilliseconds()
            guard left > 0 else { return nil }
            var timeout = [Int(left) / 1000, Int(left) % 1000 * 1000]
            let code = timeout.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { functions.processEvents(context.pointer, $0) } ?? -1
            }
            guard code >= 0 else {
                if let frames = receiver.takeRest() { return frames }
                throw isRecording ? .ended : .unplugged("libfreenect lost it, error \(code)")
            }
        }
        return nil
    }
}

/// Takes the library's frames and pairs them.
///
/// A video frame and a depth frame whose times differ by less than half a frame are of one exposure. One that has no partner when the
/// next of its kind comes is handed out alone.
private final class FreenectReceiver: @unchecked Sendable {  // guard: the library calls back on the camera's thread
    private struct Received {
        let bytes: FrameBytes
        let time: Int64
    }

    /// Nanoseconds: half a frame at 30 frames a second.
    private static let tolerance: Int64 = 16_666_667
    /// Frames for a reader that does not come.
    private static let mostReady = 8

    private var videoMode: CameraMode?
    private var depthMode: CameraMode?
    private var video: Received?
    private var depth: Received?
    private var ready: [CameraFrames] = []
    /// The camera's 32-bit ticks, continued where they wrap after 71 s.
    private var lastTicks: UInt32?
    private var ticks: Int64 = 0

    func reset(video: CameraMode?, depth: CameraMode?) {
        (videoMode, depthMode) = (video, depth)
        (self.video, self.depth) = (nil, nil)
        ready = []
        lastTicks = nil
        ticks = 0
    }

    /// The next exposure that is complete.
    func takeReady() -> CameraFrames? { ready.isEmpty ? nil : ready.removeFirst() }

    /// The last frames, which wait for a partner that will not come.
    func takeRest() -> CameraFrames? {
        if video != nil || depth != nil { finish() }
        return takeReady()
    }

    func receiveVideo(_ data: UnsafeRawPointer?, _ ticks: UInt32) {
        guard let mode = videoMode, let received = received(data, mode, ticks) else { return }
        if video != nil { finish() }
        video = received
        if depthMode == nil { finish() } else if let depth { pair(received, depth) }
    }

    func receiveDepth(_ data: UnsafeRawPointer?, _ ticks: UInt32) {
        guard let mode = depthMode, let received = received(data, mode, ticks) else { return }
        if depth != nil { finish() }
        depth = received
        if videoMode == nil { finish() } else if let video { pair(video, received) }
    }

    private func received(_ data: UnsafeRawPointer?, _ mode: CameraMode, _ ticks: UInt32) -> Received? {
        guard let data else { return nil }
        return Received(bytes: FrameBytes(copying: data, mode), time: time(ticks))
    }

    private func time(_ ticks: UInt32) -> Int64 {
        // The two streams are not in order: the difference has a sign.
        self.ticks &+= lastTicks.map { Int64(Int32(bitPattern: ticks &- $0)) } ?? Int64(ticks)
        lastTicks = ticks
        let (seconds, rest) = self.ticks.quotientAndRemainder(dividingBy: FreenectConstant.ticksPerSecond)
        return seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / FreenectConstant.ticksPerSecond
    }

    private func pair(_ one: Received, _ other: Received) {
        let difference = one.time &- other.time
        if difference.magnitude <= FreenectReceiver.tolerance.magnitude {
            finish()
        } else if difference < 0 {
            // The video is the older one: its depth is lost.
            emit(CameraFrames(video: one.bytes.frame(one.time), depth: nil))
            video = nil
        } else {
            emit(CameraFrames(video: nil, depth: other.bytes.frame(other.time)))
            depth = nil
        }
    }

    /// Hands out the frames that wait.
    private func finish() {
        emit(
            CameraFrames(
                video: video.map { $0.bytes.frame($0.time) }, depth: depth.map { $0.bytes.frame($0.time) }))
        (video, depth) = (nil, nil)
    }

    private func emit(_ frames: CameraFrames) {
        if ready.count >= FreenectReceiver.mostReady { ready.removeFirst() }
        ready.append(frames)
    }
}

/// A copy of a frame: the library overwrites its own.
private final class FrameBytes: @unchecked Sendable {  // guard: only read once made
    private let bytes: UnsafeMutableRawBufferPointer
    private let stride: Int

    init(copying data: UnsafeRawPointer, _ mode: CameraMode) {
        stride = mode.width &* mode.format.bytesPerPixel
        bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: stride &* mode.height, alignment: 64)
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: data, count: bytes.count))
    }

    deinit { bytes.deallocate() }

    func frame(_ time: Int64) -> CameraFrame {
        CameraFrame(
            bytes: UnsafeRawBufferPointer(bytes), stride: stride, time: time, number: nil,
            release: { withExtendedLifetime(self) {} })
    }
}

/// The receivers of the devices that are open, by their addresses: the library's callbacks bring nothing else.
private let receivers = Mutex<[UInt: FreenectReceiver]>([:])

private let receiveVideo: FreenectLibrary.FrameCallback = { device, data, ticks in
    receivers.withLock { $0[UInt(bitPattern: device)] }?.receiveVideo(data, ticks)
}

private let receiveDepth: FreenectLibrary.FrameCallback = { device, data, ticks in
    receivers.withLock { $0[UInt(bitPattern: device)] }?.receiveDepth(data, ticks)
}
