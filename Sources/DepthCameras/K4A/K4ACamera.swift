import CCameras
import DepthKernels

/// What a camera and a recording share: the frames of captures, which come in pairs by their times.
///
/// The library's own pairs are not taken: a camera whose frames of one exposure are told by their timestamps is as good, and the
/// pictures of a recording may have been exposed apart.
private struct K4AFrames {
    let library: K4ALibrary
    let streams: CameraStreams
    private var pairing: FramePairing<CameraFrame>

    init(_ library: K4ALibrary, _ streams: CameraStreams) {
        (self.library, self.streams) = (library, streams)
        pairing = FramePairing(of: streams)
    }

    /// - Parameter capture: its ownership is taken.
    mutating func add(_ capture: K4ALibrary.Handle) {
        defer { library.releaseCapture(capture) }
        if let mode = streams.video, let image = library.colorImage(capture) {
            let frame = library.frame(image, mode)
            _ = pairing.addVideo(frame, time: frame.time)
        }
        if let mode = streams.depth, let image = library.depthImage(capture) {
            let frame = library.frame(image, mode)
            _ = pairing.addDepth(frame, time: frame.time)
        }
    }

    mutating func next(isLast: Bool) -> CameraFrames? {
        pairing.next(isLast: isLast).map { CameraFrames(video: $0.video, depth: $0.depth) }
    }
}

/// An Azure Kinect. One thread at a time.
final class K4ACamera: Camera {
    let info: CameraInfo
    private let device: K4ADevice
    private var frames: K4AFrames?

    private var library: K4ALibrary { device.library }

    init(_ device: K4ADevice, _ info: CameraInfo) { (self.device, self.info) = (device, info) }

    deinit { stop() }

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        let (video, depth) = (settings.video, settings.depth)
        if let video, let depth, video.rate != depth.rate {
            let rates = "\(video.rate.numerator) and \(depth.rate.numerator)"
            throw .setting("An Azure Kinect has one rate: video and depth cannot have \(rates)")
        }
        var configuration = dm_k4a_configuration()
        configuration.color_format = K4AConstant.bgra
        configuration.color_resolution = number(of: video, in: K4AConstant.colorSizes.map { ($0.0, $0.1) })
        configuration.depth_mode = number(of: depth, in: K4AConstant.depthSizes.map { ($0.0, $0.1) })
        let rate = (video ?? depth)?.rate.numerator
        configuration.rate = CInt(K4AConstant.rates.firstIndex { $0 == rate } ?? 0)
        if let exposure = settings.exposure {
            let status = library.setColorControl(
                device.handle, K4AConstant.exposure, K4AConstant.manual, Int32(clamping: exposure))
            guard status == K4AConstant.ok else {
                throw .setting("The camera refuses an exposure of \(exposure) microseconds")
            }
        }
        guard library.startCameras(device.handle, &configuration) == K4AConstant.ok else {
            let needs = "Its library makes depth by OpenGL: it needs a display and a graphics processor."
            throw .failed("The Azure Kinect cannot be started. \(needs)")
        }
        var raw = dm_k4a_calibration()
        let status = library.deviceCalibration(
            device.handle, configuration.depth_mode, configuration.color_resolution, &raw)
        let streams = CameraStreams(
            video: video, depth: depth,
            calibration: status == K4AConstant.ok && depth != nil ? raw.calibration(hasColor: video != nil) : nil,
            isAligned: false, depthUnit: 0.001)
        frames = K4AFrames(library, streams)
        return streams
    }

    /// The number of a mode's size in a list of the library's; 0, which is off, for none.
    private func number(of mode: CameraMode?, in sizes: [(Int, Int)]) -> CInt {
        CInt(sizes.firstIndex { $0.0 == mode?.width && $0.1 == mode?.height } ?? 0)
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard frames != nil else { throw .failed("The camera was not started.") }
        let deadline = monotonicTime() + Int64(min(max(milliseconds, 0), 3_600_000)) * 1_000_000
        while true {
            if let pair = frames?.next(isLast: false) { return pair }
            let left = Int32(clamping: (deadline - monotonicTime()) / 1_000_000)
            if left <= 0 { return nil }
            var capture: K4ALibrary.Handle?
            let status = library.deviceCapture(device.handle, &capture, left)
            if let capture, status == K4AConstant.ok {
                frames?.add(capture)
            } else if status == K4AConstant.timeOut {
                // A frame that waited for so long has no partner.
                return frames?.next(isLast: true)
            } else {
                throw library.deviceCount() == 0
                    ? .unplugged("The Azure Kinect is not there any more.")
                    : .failed("The Azure Kinect gives no more frames.")
            }
        }
    }

    func stop() {
        guard frames != nil else { return }
        frames = nil
        library.stopCameras(device.handle)
    }
}

/// A recording of `k4arecorder`. One thread at a time.
final class K4ARecording: Camera {
    let info: CameraInfo
    private let library: K4ALibrary
    private let functions: K4APlaybackLibrary
    private let handle: K4ALibrary.Handle
    private let choice: CameraChoice
    private var frames: K4AFrames?
    private var hasEnded = false
    /// False before the first capture behind the start.
    private var hasCaptures = false

    init(_ library: K4ALibrary, _ functions: K4APlaybackLibrary, _ choice: CameraChoice) throws(CameraError) {
        var handle: K4ALibrary.Handle?
        var facts = dm_k4a_recording()
        guard functions.open(choice.recording, &handle) == K4AConstant.ok, let handle else {
            throw .recording("It is no recording of k4arecorder, or it is damaged.")
        }
        let isKnown = functions.configuration(handle, &facts) == K4AConstant.ok
        let video = isKnown && facts.has_color ? K4AConstant.colorMode(facts.color_resolution, facts.rate) : nil
        let depth = isKnown && facts.has_depth ? K4AConstant.depthMode(facts.depth_mode, facts.rate) : nil
        guard video != nil || depth != nil else {
            functions.close(handle)
            throw .recording("It has neither the color nor the depth of an Azure Kinect.")
        }
        info = CameraInfo(
            name: K4ADriver.cameras, serial: choice.recording, driver: K4ADriver.name,
            videoModes: [video].compactMap { $0 }, depthModes: [depth].compactMap { $0 })
        (self.library, self.functions, self.handle, self.choice) = (library, functions, handle, choice)
    }

    deinit { functions.close(handle) }

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        let rewinds = functions.seek(handle, 0, 0) == K4AConstant.ok
        // MJPEG, NV12 and YUY2 are decoded by the library.
        let converts = settings.video == nil || functions.setConversion(handle, K4AConstant.bgra) == K4AConstant.ok
        guard rewinds, converts else { throw .failed("The recording cannot be played from its start as BGRA.") }
        var raw = dm_k4a_calibration()
        let isKnown = settings.depth != nil && functions.calibration(handle, &raw) == K4AConstant.ok
        let streams = CameraStreams(
            video: settings.video, depth: settings.depth,
            calibration: isKnown ? raw.calibration(hasColor: settings.video != nil) : nil, isAligned: false,
            depthUnit: 0.001)
        frames = K4AFrames(library, streams)
        (hasEnded, hasCaptures) = (false, false)
        return streams
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard frames != nil else { throw .failed("The recording was not started.") }
        while true {
            if let pair = frames?.next(isLast: hasEnded) { return pair }
            if hasEnded {
                guard choice.isLooped, hasCaptures, functions.seek(handle, 0, 0) == K4AConstant.ok else { throw .ended }
                (hasEnded, hasCaptures) = (false, false)
            }
            var capture: K4ALibrary.Handle?
            let status = functions.nextCapture(handle, &capture)
            if let capture, status == K4AConstant.ok {
                frames?.add(capture)
                hasCaptures = true
            } else if status == K4AConstant.end {
                hasEnded = true
            } else {
                throw .failed("The recording is damaged.")
            }
        }
    }

    func stop() { frames = nil }
}
