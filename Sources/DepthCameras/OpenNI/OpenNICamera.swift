import CCameras
import DepthKernels

/// A camera that OpenNI reads, or a recording of one. One thread at a time.
///
/// Frames are copied: OpenNI's own memory goes with the stream that they came from.
final class OpenNICamera: Camera {
    private typealias Constant = OpenNILibrary.Constant

    let info: CameraInfo
    private let session: OpenNISession
    /// Nil for a recording that was stopped: it is opened anew, to play from its start.
    private var device: OpenNIDevice?
    private let choice: CameraChoice
    /// True for a camera whose unplugging the list of devices shows.
    private let isListed: Bool
    private var run: Run?

    private var library: OpenNILibrary { session.library }
    private var isRecording: Bool { !choice.recording.isEmpty }

    /// What exists from start to stop.
    private struct Run {
        let streams: [Stream]
        var pairing: FramePairing<CameraFrame>
    }

    deinit { stop() }

    /// - Parameter uri: of a camera, or the path of a recording.
    init(_ session: OpenNISession, uri: String, _ choice: CameraChoice) throws(CameraError) {
        let device = try OpenNIDevice(session, uri: uri)
        (self.session, self.device, self.choice) = (session, device, choice)
        isListed = choice.recording.isEmpty && (try? session.devices().contains { $0.uri == uri }) ?? false
        var facts = dm_openni_device()
        let isKnown = session.library.describeDevice(device.handle, &facts) == Constant.ok
        info = CameraInfo(
            name: isKnown ? facts.fullName : "OpenNI", serial: uri, driver: OpenNIDriver.name,
            videoModes: device.modes(Constant.color).compactMap { CameraMode($0) }.inOrder,
            depthModes: device.modes(Constant.depth).compactMap { CameraMode($0) }.inOrder)
    }

    // MARK: Start and stop

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        try session.thread.run { () throws(CameraError) in try self.makeStreams(settings) }
    }

    private func makeStreams(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        // OpenNI does not tell the unit of an exposure.
        if !isRecording { try settings.check(changeable: [], OpenNIDriver.self) }
        let device = if let device { device } else { try OpenNIDevice(session, uri: info.serial) }
        self.device = device
        var streams = CameraStreams(
            video: settings.video, depth: settings.depth, calibration: nil, isAligned: false, depthUnit: 0.001)
        if isRecording {
            // As fast as frames are taken. Either property may be missing.
            _ = device.set(Constant.playbackSpeed, -1 as Float)
            _ = device.set(Constant.playbackRepeat, choice.isLooped ? 1 : 0 as CInt)
        } else {
            // Before the streams: some cameras refuse it later.
            streams.isAligned = register(device, settings)
        }
        let video = try settings.video.map { mode throws(CameraError) in try makeStream(device, mode, Constant.color) }
        let depth = try settings.depth.map { mode throws(CameraError) in try makeStream(device, mode, Constant.depth) }
        if let depth {
            streams.depthUnit = depth.unit
            streams.calibration = optics(streams.isAligned ? video ?? depth : depth).map {
                Calibration(depth: $0, depthUnit: depth.unit)
            }
        }
        run = Run(
            streams: [depth, video].compactMap { $0 },
            pairing: FramePairing(video: settings.video, depth: settings.depth, isRecording: isRecording))
        for stream in run?.streams ?? [] {
            do throws(CameraError) {
                try library.check(library.startStream(stream.handle), "The \(stream.name) stream cannot be started")
            } catch {
                stop()
                throw error
            }
        }
        return streams
    }

    func stop() {
        guard let run else { return }
        // All before the first is destroyed: the thread that plays a recording looks for streams that run, without a lock.
        session.thread.run { [library] in
            for stream in run.streams { library.stopStream(stream.handle) }
        }
        self.run = nil
        if isRecording { device = nil }
    }

    /// Switches the registration of depth to video, which cameras have for maps of the video's size.
    ///
    /// - Returns: true where it is on.
    private func register(_ device: OpenNIDevice, _ settings: CameraSettings) -> Bool {
        guard library.supportsRegistration(device.handle, Constant.depthToColor) != 0 else { return false }
        let isWanted =
            settings.isAligned && settings.video?.width == settings.depth?.width
            && settings.video?.height == settings.depth?.height
        let status = device.set(Constant.registration, isWanted ? Constant.depthToColor : 0)
        return isWanted && status == Constant.ok
    }

    private func makeStream(_ device: OpenNIDevice, _ wanted: CameraMode, _ sensor: CInt) throws(CameraError) -> Stream
    {
        guard let mode = device.modes(sensor).first(where: { CameraMode($0) == wanted }) else {
            throw .failed("The camera has no mode of \(wanted.width)x\(wanted.height) in \(wanted.format.rawValue).")
        }
        var handle: OpenNILibrary.Handle?
        try library.check(
            library.createStream(device.handle, sensor, &handle),
            "The \(sensor == Constant.depth ? "depth" : "video") stream cannot be opened")
        guard let handle else { throw .failed("OpenNI gave no stream.") }
        let stream = Stream(device, handle, wanted, unit: Constant.unit(mode.format))
        if isRecording {
            if !choice.isLooped { stream.framesLeft = max(Int(stream.property(Constant.frameCount, 0 as CInt)), 0) }
        } else {
            try library.check(
                library.set(Constant.mode, mode, of: handle, by: library.setStreamProperty),
                "The \(stream.name) mode was refused")
            // Most cameras send a mirror image unless they are told not to; those that cannot refuse.
            _ = library.set(Constant.mirroring, 0 as CInt, of: handle, by: library.setStreamProperty)
        }
        return stream
    }

    /// The optics of a stream by its fields of view; nil where it does not tell them.
    private func optics(_ stream: Stream) -> CameraIntrinsics? {
        func focalLength(_ samples: Int, _ property: CInt) -> Double? {
            let radians = Double(stream.property(property, 0 as Float))
            guard radians > 0.1, radians < 3 else { return nil }
            return DepthKernels.focalLength(lines: samples, fieldOfView: radians * 180 / .pi)
        }
        let (width, height) = (stream.mode.width, stream.mode.height)
        guard let fx = focalLength(width, Constant.horizontalField),
            let fy = focalLength(height, Constant.verticalField)
        else { return nil }
        return CameraIntrinsics(
            width: width, height: height, fx: fx, fy: fy, cx: Double(width - 1) / 2, cy: Double(height - 1) / 2)
    }

    // MARK: Frames

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        try session.thread.run { () throws(CameraError) in try self.wait(milliseconds) }
    }

    private func wait(_ milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard run != nil else { throw .failed("The camera was not started.") }
        let deadline = deadline(milliseconds: milliseconds)
        while let streams = run?.streams.filter({ $0.framesLeft != 0 }) {
            if let frames = run?.pairing.nextFrames(isLast: streams.isEmpty) { return frames }
            if streams.isEmpty { throw .ended }
            let left = CInt(clamping: (deadline - monotonicTime()) / 1_000_000)
            if left <= 0 { return nil }
            let handles = streams.map { Optional($0.handle) }
            var index: CInt = 0
            let status = library.wait(handles, CInt(handles.count), &index, left)
            if status == Constant.timeOut {
                if isListed, try !session.devices().contains(where: { $0.uri == info.serial }) {
                    throw .unplugged("OpenNI lists \(info.serial) no more.")
                }
                // A frame that waited for so long has no partner.
                return run?.pairing.nextFrames(isLast: true)
            }
            try library.check(status, "The camera cannot be read")
            guard streams.indices.contains(Int(index)) else { throw .failed("OpenNI names no stream of the camera.") }
            try read(streams[Int(index)])
        }
        return nil
    }

    private func read(_ stream: Stream) throws(CameraError) {
        var address: dm_openni_frame_pointer?
        try library.check(library.readFrame(stream.handle, &address), "A \(stream.name) frame cannot be read")
        guard let address else { return }
        defer { library.releaseFrame(address) }
        if let left = stream.framesLeft { stream.framesLeft = left - 1 }
        if let frame = stream.copy(address.pointee) { run?.pairing.add(frame, isDepth: stream.isDepth) }
    }

    /// A stream of the device.
    private final class Stream {
        let handle: OpenNILibrary.Handle
        let mode: CameraMode
        /// Metres per count of depth.
        let unit: Double
        /// Frames of a recording that are still to come; nil for a camera, and for a recording that starts again.
        var framesLeft: Int?
        /// Open for as long as the stream.
        private let device: OpenNIDevice
        private let pool: FramePool

        var isDepth: Bool { mode.format == .gray16 }
        var name: String { isDepth ? "depth" : "video" }

        init(_ device: OpenNIDevice, _ handle: OpenNILibrary.Handle, _ mode: CameraMode, unit: Double) {
            (self.device, self.handle, self.mode, self.unit) = (device, handle, mode, unit)
            pool = FramePool(size: mode.width * mode.height * mode.format.bytesPerPixel)
        }

        deinit {
            device.session.thread.run { [library = device.library, handle] in library.destroyStream(handle) }
        }

        /// A property, or the value that stands for it where there is none.
        func property<Value: BitwiseCopyable>(_ number: CInt, _ value: Value) -> Value {
            var (result, size) = (value, CInt(MemoryLayout<Value>.size))
            return device.library.streamProperty(handle, number, &result, &size) == Constant.ok ? result : value
        }

        /// A frame of ours; without bytes where OpenNI's has another size, nil where too many are in use.
        func copy(_ frame: dm_openni_frame) -> CameraFrame? {
            let length = mode.width * mode.format.bytesPerPixel
            let stride = frame.stride > 0 ? Int(frame.stride) : length
            let isWhole =
                Int(frame.width) == mode.width && Int(frame.height) == mode.height && stride >= length
                && Int(frame.size) >= stride * (mode.height - 1) + length
            guard let buffer = pool.take() else { return nil }
            if isWhole, let data = frame.data {
                for row in 0..<mode.height {
                    (buffer.address + row * length).copyMemory(from: data + row * stride, byteCount: length)
                }
            }
            let bytes = UnsafeRawBufferPointer(
                start: buffer.address, count: isWhole && frame.data != nil ? pool.size : 0)
            return CameraFrame(
                bytes: bytes, stride: length, time: Int64(clamping: frame.time &* 1000),
                number: frame.number > 0 ? UInt64(frame.number) : nil, release: { [pool] in pool.giveBack(buffer) })
        }
    }
}

extension CameraMode {
    /// Nil for a format that no frame of ours has, and for what is no size or rate.
    fileprivate init?(_ mode: dm_openni_mode) {
        guard let format = OpenNILibrary.Constant.format(mode.format), (1...32768).contains(mode.width),
            (1...32768).contains(mode.height), (1...1000).contains(mode.rate)
        else { return nil }
        self.init(width: Int(mode.width), height: Int(mode.height), rate: (Int(mode.rate), 1), format: format)
    }
}
