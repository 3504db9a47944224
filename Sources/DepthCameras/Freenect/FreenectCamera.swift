import CCameras

/// A Kinect v1.
final class FreenectCamera: Camera {
    let info: CameraInfo
    private let context: FreenectContext
    private let device: FreenectLibrary.Handle
    private let receiver: FreenectReceiver
    /// The streams that were started.
    private var started: [dm_freenect_stream] = []
    private var isExposureAutomatic = true

    private var library: FreenectLibrary { context.library }

    init(context: FreenectContext, device: FreenectLibrary.Handle, info: CameraInfo) {
        self.context = context
        self.device = device
        self.info = info
        receiver = FreenectReceiver(library: context.library)
        receiver.connect(device)
    }

    deinit {
        stop()
        receiver.disconnect(device)
        _ = library.functions.closeDevice(device)
    }

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        guard settings.video != nil || settings.depth != nil else { throw .failed("No stream was asked for.") }
        // From version 0.6 on the library can set the exposure.
        let canExpose = library.functions.setFlag != nil && library.functions.setExposure != nil
        try settings.check(changeable: canExpose ? [.exposure] : [], FreenectDriver.self)
        let video = try settings.video.map { mode throws(CameraError) in try videoMode(mode) }
        let depth = try settings.depth.map { mode throws(CameraError) in
            try depthMode(mode, isAligned: settings.isAligned, video: settings.video)
        }
        let streams = CameraStreams(
            video: video.map { CameraMode($0, .rgb) }, depth: depth.map { CameraMode($0, .gray16) },
            calibration: nil, isAligned: depth?.format == FreenectLibrary.DepthFormat.registered, depthUnit: 0.001)

        context.forgetMessages()
        if let video { try check(library.video.setMode(device, video), "The video mode was refused") }
        if let depth { try check(library.depth.setMode(device, depth), "The depth mode was refused") }
        let isDepthRaw = depth?.format == FreenectLibrary.DepthFormat.raw
        guard receiver.start(device, video: streams.video, depth: streams.depth, isDepthRaw: isDepthRaw) else {
            throw .failed("libfreenect refused a buffer.")
        }
        do {
            if depth != nil { try start(library.depth, "The depth stream cannot be started") }
            if video != nil { try start(library.video, "The video stream cannot be started") }
        } catch {
            stop()
            throw error
        }
        if video != nil { setExposure(settings.exposure) }
        return withCalibration(streams)
    }

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard !started.isEmpty else { throw .failed("The camera was not started.") }
        let deadline = deadline(milliseconds: milliseconds)
        while true {
            if let frames = receiver.next(isLast: false) { return frames }
            try processEvents(until: deadline)
            if monotonicTime() >= deadline { return receiver.next(isLast: false) }
        }
    }

    func stop() {
        receiver.stop()
        for stream in started { _ = stream.stop(device) }
        started = []
    }

    private func processEvents(until deadline: Int64) throws(CameraError) {
        var left = dm_timeval(max(deadline - monotonicTime(), 0))
        context.forgetMessages()
        let result = library.functions.processEvents(context.handle, &left)
        switch result {
        case 0..., FreenectLibrary.USBError.timeout, FreenectLibrary.USBError.interrupted: return
        case FreenectLibrary.USBError.failed:
            // libfreenect returns this once a device is gone.
            guard case .failed(let sentence) = context.fault(result, "libfreenect lost the device") else {
                throw .unplugged("libfreenect lost the device.")
            }
            throw .unplugged(sentence)
        default: throw context.fault(result, "The Kinect cannot be read")
        }
    }

    private func check(_ result: Int32, _ sentence: String) throws(CameraError) {
        if result < 0 { throw context.fault(result, sentence) }
    }

    private func start(_ stream: dm_freenect_stream, _ sentence: String) throws(CameraError) {
        context.forgetMessages()
        try check(stream.start(device), sentence)
        started.append(stream)
    }

    private func videoMode(_ wanted: CameraMode) throws(CameraError) -> FreenectLibrary.Mode {
        guard wanted.format == .rgb,
            let mode = find(wanted, in: library.video.modes(FreenectLibrary.VideoFormat.rgb), bytesPerPixel: 3)
        else {
            throw .failed("The Kinect has no video of \(wanted.width)x\(wanted.height) in \(wanted.format.rawValue).")
        }
        return mode
    }

    private func depthMode(
        _ wanted: CameraMode, isAligned: Bool, video: CameraMode?
    ) throws(CameraError) -> FreenectLibrary.Mode {
        // The library registers to the picture of 640x480, which shows less than the one of 1280x1024.
        var formats: [Int32] = [FreenectLibrary.DepthFormat.millimetres, FreenectLibrary.DepthFormat.raw]
        if isAligned, video.map({ $0.width == 640 && $0.height == 480 }) ?? true {
            formats.insert(FreenectLibrary.DepthFormat.registered, at: 0)
        }
        for format in formats where wanted.format == .gray16 {
            if let mode = find(wanted, in: library.depth.modes(format), bytesPerPixel: 2) { return mode }
        }
        throw .failed("The Kinect has no depth of \(wanted.width)x\(wanted.height) in \(wanted.format.rawValue).")
    }

    private func find(
        _ wanted: CameraMode, in modes: [FreenectLibrary.Mode], bytesPerPixel: Int
    ) -> FreenectLibrary.Mode? {
        modes.first { mode in
            Int(mode.width) == wanted.width && Int(mode.height) == wanted.height
                && Int(mode.bytes) == wanted.width * wanted.height * bytesPerPixel
        }
    }

    /// Sets the exposure while it is asked for, and then switches back to the automatic one.
    private func setExposure(_ microseconds: Int?) {
        if (microseconds == nil) != isExposureAutomatic {
            isExposureAutomatic = microseconds == nil
            _ = library.functions.setFlag?(device, FreenectLibrary.automaticExposure, isExposureAutomatic ? 1 : 0)
        }
        if let microseconds { _ = library.functions.setExposure?(device, Int32(clamping: microseconds)) }
    }

    private func withCalibration(_ streams: CameraStreams) -> CameraStreams {
        var streams = streams
        var optics = KinectOptics()
        if let copy = library.functions.copyRegistration, let destroy = library.functions.destroyRegistration {
            var registration = copy(device)
            optics = KinectOptics(registration.zero_plane_info)
            _ = destroy(&registration)
        }
        if streams.depth != nil {
            streams.calibration = optics.calibration(isRegistered: streams.isAligned, video: streams.video)
        }
        return streams
    }
}
