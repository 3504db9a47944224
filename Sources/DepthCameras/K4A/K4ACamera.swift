import CCameras
import DepthKernels

/// The frames of a camera or a recording, from start to stop, in pairs by their times.
///
/// The library's own pairs are not taken: a camera whose frames of one exposure are told by their timestamps is as good, and the
/// pictures of a recording may have been exposed apart.
private struct K4AFrames {
    let streams: CameraStreams
    private let library: K4ALibrary
    private var pairing: FramePairing<CameraFrame>

    /// - Parameter calibrate: fills the calibration, and returns the library's status.
    init(
        _ library: K4ALibrary, _ settings: CameraSettings,
        calibrate: (UnsafeMutablePointer<dm_k4a_calibration>) -> K4ALibrary.Status
    ) {
        self.library = library
        var raw = dm_k4a_calibration()
        let isKnown = settings.depth != nil && calibrate(&raw) == K4AConstant.ok
        streams = CameraStreams(
            video: settings.video, depth: settings.depth,
            calibration: isKnown ? raw.calibration(hasColor: settings.video != nil) : nil, isAligned: false,
            depthUnit: 0.001)
        pairing = FramePairing(video: settings.video, depth: settings.depth)
    }

    /// - Parameter capture: its ownership is taken.
    mutating func add(_ capture: K4ALibrary.Handle) {
        defer { library.releaseCapture(capture) }
        if let mode = streams.video, let image = library.colorImage(capture) {
            pairing.add(library.frame(image, mode), isDepth: false)
        }
        if let mode = streams.depth, let image = library.depthImage(capture) {
            pairing.add(library.frame(image, mode), isDepth: true)
        }
    }

    mutating func next(isLast: Bool) -> CameraFrames? { pairing.nextFrames(isLast: isLast) }
}

/// An Azure Kinect. One thread at a time.
final class K4ACamera: Camera {
    let info: CameraInfo
    private let library: K4ALibrary
    /// Nil once it gave no more frames.
    private var device: K4ADevice?
    private var frames: K4AFrames?

    init(_ device: K4ADevice, _ info: CameraInfo) { (library, self.device, self.info) = (device.library, device, info) }

    deinit { stop() }

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        try settings.check(changeable: [.exposure], K4ADriver.self)
        guard let device = device ?? K4ADevice.find(info.serial, library).device else { throw Self.unplugged }
        self.device = device
        let (video, depth) = (settings.video, settings.depth)
        if let video, let depth, video.rate != depth.rate {
            let rates = "\(video.rate.numerator) and \(depth.rate.numerator)"
            throw .setting("An Azure Kinect has one rate: video and depth cannot have \(rates)")
        }
        var configuration = dm_k4a_configuration()
        configuration.color_format = K4AConstant.bgra
        configuration.color_resolution = K4AConstant.colorSizes.number(of: video)
        configuration.depth_mode = K4AConstant.depthSizes.number(of: depth)
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
        let frames = K4AFrames(library, settings) {
            library.deviceCalibration(device.handle, configuration.depth_mode, configuration.color_resolution, $0)
        }
        self.frames = frames
        return frames.streams
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard let handle = device?.handle, frames != nil else { throw .failed("The camera was not started.") }
        let deadline = deadline(milliseconds: milliseconds)
        while true {
            if let pair = frames?.next(isLast: false) { return pair }
            let left = Int32(clamping: (deadline - monotonicTime()) / 1_000_000)
            if left <= 0 { return nil }
            var capture: K4ALibrary.Handle?
            let status = library.deviceCapture(handle, &capture, left)
            if let capture, status == K4AConstant.ok {
                frames?.add(capture)
            } else if status == K4AConstant.timeOut {
                // A frame that waited for so long has no partner.
                return frames?.next(isLast: true)
            } else {
                throw lost()
            }
        }
    }

    private static let unplugged = CameraError.unplugged("The Azure Kinect is not there any more.")

    /// Closes the camera, and looks for it among those that are plugged in. While it is open it cannot be told from one that
    /// somebody else has.
    private func lost() -> CameraError {
        stop()
        device = nil
        return K4ADevice.find(info.serial, library).device == nil
            ? Self.unplugged : .failed("The Azure Kinect gives no more frames.")
    }

    func stop() {
        guard let device, frames != nil else { return }
        frames = nil
        library.stopCameras(device.handle)
    }
}

/// A recording of `k4arecorder`. One thread at a time.
final class K4ARecording: Camera {
    let info: CameraInfo
    private let library: K4ALibrary
    private let functions: dm_k4a_playback_functions
    private let handle: K4ALibrary.Handle
    private let choice: CameraChoice
    private var frames: K4AFrames?
    private var hasEnded = false
    /// False before the first frames behind the start.
    private var hasFrames = false

    init(_ library: K4ALibrary, _ functions: dm_k4a_playback_functions, _ choice: CameraChoice) throws(CameraError) {
        var handle: K4ALibrary.Handle?
        var facts = dm_k4a_recording()
        guard functions.open(choice.recording, &handle) == K4AConstant.ok, let handle else {
            throw .recording("It is no recording of k4arecorder, or it is damaged.")
        }
        let isKnown = functions.configuration(handle, &facts) == K4AConstant.ok
        func mode(_ has: Bool, _ sizes: [K4AConstant.Size], _ number: Int32, _ format: CameraFormat) -> CameraMode? {
            isKnown && has ? sizes.mode(number, rate: facts.rate, format) : nil
        }
        let video = mode(facts.has_color, K4AConstant.colorSizes, facts.color_resolution, .bgra)
        let depth = mode(facts.has_depth, K4AConstant.depthSizes, facts.depth_mode, .gray16)
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
        let frames = K4AFrames(library, settings) { functions.calibration(handle, $0) }
        self.frames = frames
        (hasEnded, hasFrames) = (false, false)
        return frames.streams
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard frames != nil else { throw .failed("The recording was not started.") }
        while true {
            if let pair = frames?.next(isLast: hasEnded) {
                hasFrames = true
                return pair
            }
            if hasEnded {
                guard choice.isLooped, hasFrames, functions.seek(handle, 0, 0) == K4AConstant.ok else { throw .ended }
                (hasEnded, hasFrames) = (false, false)
            }
            var capture: K4ALibrary.Handle?
            let status = functions.nextCapture(handle, &capture)
            if let capture, status == K4AConstant.ok {
                frames?.add(capture)
            } else if status == K4AConstant.end {
                hasEnded = true
            } else {
                throw .failed("The recording is damaged.")
            }
        }
    }

    func stop() { frames = nil }
}
