import CCameras
import DepthKernels
import Synchronization

/// A RealSense camera, or a recording of one. One thread at a time.
///
/// librealsense's pipeline hands out a set whenever a stream has a new frame, with the last frame of the other, unless the two
/// were seen to be synchronized. So a frame that was there before is left out, and the new ones are paired by their times. These
/// are librealsense's frame timestamps: the middle of the exposure where the camera's metadata tell it.
final class RealSenseCamera: Camera {
    let info: CameraInfo
    private let library: RealSenseLibrary
    /// Kept for as long as the camera: the pipeline uses it.
    private let context: LibraryObject
    private let pipeline: LibraryObject
    private let choice: CameraChoice
    private var run: Run?
    /// The exposure as it was before this camera was started, for its stop.
    private var exposureBefore: [(sensor: LibraryObject, option: CInt, value: Float)] = []

    /// Waits of 100 ms, on a machine that is busy.
    private static let waitsAfterStop = 4

    private var functions: dm_realsense_functions { library.functions }
    private var isRecording: Bool { !choice.recording.isEmpty }

    /// The objects that exist from start to stop.
    private struct Run {
        let streams: CameraStreams
        let device: LibraryObject
        let align: Align?
        var pairing: FramePairing<CameraFrame>
        /// The numbers of the last frames.
        var lastVideo: UInt64?
        var lastDepth: UInt64?
        /// The clocks by which the last frames are timed, as librealsense counts its timestamp domains; nil where it does not tell.
        var videoClock: CInt?
        var depthClock: CInt?
        var areClocksTwo: Bool { videoClock != nil && depthClock != nil && videoClock != depthClock }
        /// Nil for a camera.
        var playback: RealSensePlayback?
        /// Waits without a frame since a recording's player stopped.
        var emptyWaits = 0

        init(streams: CameraStreams, device: LibraryObject, align: Align?, isRecording: Bool) {
            self.streams = streams
            self.device = device
            self.align = align
            pairing = FramePairing(video: streams.video, depth: streams.depth, isRecording: isRecording)
        }
    }

    private struct Align {
        let functions: dm_realsense_alignment
        let block: LibraryObject
        let queue: LibraryObject
    }

    init(
        _ library: RealSenseLibrary, _ context: LibraryObject, _ pipeline: LibraryObject, _ choice: CameraChoice,
        _ info: CameraInfo
    ) {
        self.library = library
        self.context = context
        self.pipeline = pipeline
        self.choice = choice
        self.info = info
    }

    deinit { stop() }

    // MARK: Start and stop

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        do throws(CameraError) {
            let config = try config(settings)
            let resolved = try functions.make(functions.deletePipelineProfile) {
                functions.resolveConfig(config.pointer, pipeline.pointer, $0)
            }
            let device = try functions.make(functions.deleteDevice) { functions.profileDevice(resolved.pointer, $0) }
            if isRecording {
                // Before the start, so that no frame is skipped. The pipeline starts one sensor after the other, and the player
                // reads as soon as one runs, and drops the frames of those that do not run yet. So it waits until all do.
                let playback = try library.playback.get()
                try functions.call { playback.setRealTime(device.pointer, 0, $0) }
                try functions.call { playback.pausePlayback(device.pointer, $0) }
            }
            let profile = try functions.make(functions.deletePipelineProfile) {
                functions.startPipeline(pipeline.pointer, config.pointer, $0)
            }
            do throws(CameraError) {
                var run = try run(profile, device, settings)
                if isRecording { run.playback = try RealSensePlayback(resuming: device, library) }
                self.run = run
                return run.streams
            } catch {
                _ = try? functions.call { functions.stopPipeline(pipeline.pointer, $0) }
                throw error
            }
        } catch .failed(let reason) {
            throw isRecording ? .recording(reason) : reason.saysBusy ? .busy(reason) : .failed(reason)
        }
    }

    private func config(_ settings: CameraSettings) throws(CameraError) -> LibraryObject {
        let config = try functions.make(functions.deleteConfig) { functions.createConfig($0) }
        if isRecording {
            let playback = try library.playback.get()
            try functions.call {
                playback.enableRecording(config.pointer, choice.recording, choice.isLooped ? 1 : 0, $0)
            }
        } else {
            try functions.call { functions.enableDevice(config.pointer, choice.serial, $0) }
        }
        for (stream, mode) in [
            (RealSenseConstant.streamColor, settings.video), (RealSenseConstant.streamDepth, settings.depth),
        ] {
            guard let mode else { continue }
            let format =
                RealSenseConstant.colorFormats.first { $0.format == mode.format }?.number ?? RealSenseConstant.formatZ16
            try functions.call {
                functions.enableStream(
                    config.pointer, stream, -1, CInt(clamping: mode.width), CInt(clamping: mode.height), format,
                    CInt(clamping: mode.rate.numerator / max(1, mode.rate.denominator)), $0)
            }
        }
        return config
    }

    private func run(
        _ profile: LibraryObject, _ device: LibraryObject, _ settings: CameraSettings
    ) throws(CameraError) -> Run {
        let unit = try configureSensors(of: device, settings)
        // Where the library cannot, the element registers the depth.
        let isWanted = settings.isAligned && settings.video != nil && settings.depth != nil
        let alignment = isWanted ? try? library.alignment.get() : nil
        var streams = CameraStreams(
            video: settings.video, depth: settings.depth, calibration: try calibration(profile),
            isAligned: alignment != nil, depthUnit: unit)
        streams.calibration?.depthUnit = unit
        guard let alignment else { return Run(streams: streams, device: device, align: nil, isRecording: isRecording) }
        let align = Align(
            functions: alignment,
            block: try functions.make(alignment.deleteProcessing) {
                alignment.createAlign(RealSenseConstant.streamColor, $0)
            }, queue: try functions.make(alignment.deleteQueue) { alignment.createQueue(1, $0) })
        try functions.call { alignment.startProcessing(align.block.pointer, align.queue.pointer, $0) }
        if let video = settings.video {
            streams.depth?.width = video.width
            streams.depth?.height = video.height
        }
        if let color = streams.calibration?.color {
            streams.calibration = Calibration(depth: color, depthUnit: unit)
        }
        return Run(streams: streams, device: device, align: align, isRecording: isRecording)
    }

    /// Applies the settings to the sensors that know them.
    ///
    /// - Returns: metres per count of depth.
    private func configureSensors(of device: LibraryObject, _ settings: CameraSettings) throws(CameraError) -> Double {
        var unit = 0.001
        var changeable: Set<CameraSettings.Name> = []
        let sensors = try functions.make(functions.deleteSensorList) { functions.querySensors(device.pointer, $0) }
        for number in 0..<max(0, try functions.call { functions.sensorCount(sensors.pointer, $0) }) {
            let sensor = try functions.make(functions.deleteSensor) {
                functions.createSensor(sensors.pointer, number, $0)
            }
            let isDepth = try functions.call {
                functions.isSensorExtendable(sensor.pointer, RealSenseConstant.extensionDepthSensor, $0)
            }
            if isDepth != 0 {
                let scale = Double(try functions.call { functions.depthScale(sensor.pointer, $0) })
                if scale > 0 && scale < 1 { unit = scale.roundedUnit }
            }
            if !isRecording { try configure(sensor, isDepth: isDepth != 0, settings, &changeable) }
        }
        if !isRecording { try settings.check(changeable: changeable, RealSenseDriver.self) }
        return unit
    }

    /// Sets what the user asked for, and nothing else: the camera keeps what other programs have set.
    ///
    /// - Parameter done: what was set is added.
    private func configure(
        _ sensor: LibraryObject, isDepth: Bool, _ settings: CameraSettings, _ done: inout Set<CameraSettings.Name>
    ) throws(CameraError) {
        if isDepth, let emitter = settings.emitter,
            try set(sensor, RealSenseConstant.optionEmitter, emitter ? 1 : 0)
        {
            done.insert(.emitter)
        }
        if isDepth, !settings.preset.isEmpty, try setPreset(sensor, settings.preset) { done.insert(.preset) }
        // A D405 has its color from the depth sensor.
        if let exposure = settings.exposure,
            try functions.profiles(of: sensor).contains(where: { $0.stream == RealSenseConstant.streamColor }),
            try setExposure(sensor, microseconds: exposure, unit: isDepth ? 1 : 100)
        {
            done.insert(.exposure)
        }
    }

    /// The range of an option; nil where the sensor does not have it.
    private func range(of option: CInt, _ sensor: LibraryObject) throws(CameraError) -> ClosedRange<Float>? {
        let options = try library.options.get()
        guard try functions.call({ options.supportsOption(sensor.pointer, option, $0) }) != 0 else { return nil }
        var (least, most, step, standard): (Float, Float, Float, Float) = (0, 0, 0, 0)
        try functions.call { options.optionRange(sensor.pointer, option, &least, &most, &step, &standard, $0) }
        return least <= most ? least...most : nil
    }

    /// Sets an option.
    ///
    /// - Returns: false where the sensor does not have it.
    @discardableResult
    private func set(_ sensor: LibraryObject, _ option: CInt, _ value: Float) throws(CameraError) -> Bool {
        guard try range(of: option, sensor) != nil else { return false }
        let options = try library.options.get()
        try functions.call { options.setOption(sensor.pointer, option, value, $0) }
        return true
    }

    /// Sets the exposure by hand.
    ///
    /// - Parameter unit: microseconds in a count of the sensor's option. A color sensor counts as UVC does, 100; a depth sensor 1.
    /// - Returns: false where the sensor has no such option.
    private func setExposure(_ sensor: LibraryObject, microseconds: Int, unit: Float) throws(CameraError) -> Bool {
        guard let range = try range(of: RealSenseConstant.optionExposure, sensor) else { return false }
        let counts = Float(microseconds) / unit
        guard range.contains(counts) else {
            func text(_ counts: Float) -> String { Int(exactly: (counts * unit).rounded()).map(String.init) ?? "?" }
            throw .setting(
                "exposure=\(microseconds) is out of the camera's range of \(text(range.lowerBound)) to "
                    + "\(text(range.upperBound)) microseconds")
        }
        let options = try library.options.get()
        for (option, value) in [
            (RealSenseConstant.optionAutoExposure, 0), (RealSenseConstant.optionExposure, counts.rounded()),
        ] {
            guard try self.range(of: option, sensor) != nil else { continue }
            if let before = try? functions.call({ options.option?(sensor.pointer, option, $0) }) {
                exposureBefore.append((sensor, option, before))
            }
            try functions.call { options.setOption(sensor.pointer, option, value, $0) }
        }
        return true
    }

    /// - Returns: false where the sensor has no presets.
    private func setPreset(_ sensor: LibraryObject, _ name: String) throws(CameraError) -> Bool {
        let option = RealSenseConstant.optionPreset
        guard let range = try range(of: option, sensor) else { return false }
        let options = try library.options.get()
        var (names, values): ([String], [Float]) = ([], [])
        for value in stride(from: max(range.lowerBound, 0), through: min(range.upperBound, 100), by: 1) {
            let text = try functions.call { options.optionValueDescription(sensor.pointer, option, value, $0) }
            guard let text else { continue }
            names.append(String(cString: text))
            values.append(value)
        }
        return try set(sensor, option, values[try names.place(ofPreset: name)])
    }

    func stop() {
        for (sensor, option, value) in exposureBefore.reversed() { _ = try? set(sensor, option, value) }
        exposureBefore = []
        guard let run else { return }
        self.run = nil
        // A pipeline that is stopped drops frames. So the player's thread is free, and that which resumes it, which `run` joins,
        // ends.
        withExtendedLifetime(run) {
            _ = try? functions.call { functions.stopPipeline(pipeline.pointer, $0) }
        }
    }

    // MARK: Calibration

    /// The optics of the streams that were started; nil where librealsense does not know them.
    private func calibration(_ profile: LibraryObject) throws(CameraError) -> Calibration? {
        let list = try functions.make(functions.deleteStreamProfiles) { functions.profileStreams(profile.pointer, $0) }
        var pointers: [CInt: OpaquePointer] = [:]
        for number in 0..<max(0, try functions.call { functions.streamProfileCount(list.pointer, $0) }) {
            let pointer = try functions.call { functions.streamProfile(list.pointer, number, $0) }
            if let pointer, let profile = try functions.profile(pointer) { pointers[profile.stream] = pointer }
        }
        guard let depth = pointers[RealSenseConstant.streamDepth], let optics = intrinsics(depth) else { return nil }
        guard let color = pointers[RealSenseConstant.streamColor], let colorOptics = intrinsics(color),
            let pose = pose(from: depth, to: color)
        else { return Calibration(depth: optics) }
        return Calibration(depth: optics, color: colorOptics, depthToColor: pose)
    }

    private func intrinsics(_ profile: OpaquePointer) -> CameraIntrinsics? {
        var raw = dm_realsense_intrinsics()
        guard (try? functions.call { functions.videoIntrinsics?(profile, &raw, $0) }) != nil else { return nil }
        return raw.intrinsics
    }

    private func pose(from depth: OpaquePointer, to color: OpaquePointer) -> CameraPose? {
        var raw = dm_camera_pose()
        guard (try? functions.call { functions.extrinsics?(depth, color, &raw, $0) }) != nil else { return nil }
        return raw.pose(isTransposed: true, unitsPerMetre: 1)
    }

    // MARK: Frames

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        let end = deadline(milliseconds: milliseconds)
        while let run {
            if let frames = self.run?.pairing.nextFrames(isLast: false) { return frames }
            if monotonicTime() > end { return nil }
            var set: OpaquePointer?
            let exists = try functions.call {
                functions.waitForFrames(pipeline.pointer, &set, CUnsignedInt(clamping: milliseconds), $0)
            }
            guard exists != 0, let set else {
                // A frame that waited for so long has no partner.
                if let frames = self.run?.pairing.nextFrames(isLast: true) { return frames }
                if let playback = run.playback { try checkPlayback(playback, of: run.device) }
                return nil
            }
            self.run?.emptyWaits = 0
            add(try parts(of: LibraryObject(set) { [functions] in functions.releaseFrame($0) }, run))
        }
        return nil
    }

    /// Throws where the recording is over, or does not play.
    ///
    /// The player stops when it has read the last frame, which may be on its way to the queue for some time yet.
    private func checkPlayback(_ playback: RealSensePlayback, of device: LibraryObject) throws(CameraError) {
        if case .failed(let reason)? = playback.error { throw .recording(reason) }
        let player = try library.playback.get()
        let status = try functions.call { player.playbackStatus(device.pointer, $0) }
        guard status == RealSenseConstant.playbackStopped else { return }
        run?.emptyWaits += 1
        if let waits = run?.emptyWaits, waits >= RealSenseCamera.waitsAfterStop { throw .ended }
    }

    /// Adds the new frames of a set. A set without any comes from a looped recording of one frame: then all its frames are
    /// added.
    private func add(_ frames: CameraFrames) {
        let isVideoNew = frames.video.map { $0.number != run?.lastVideo } ?? false
        let isDepthNew = frames.depth.map { $0.number != run?.lastDepth } ?? false
        let isRepetition = choice.isLooped && !isVideoNew && !isDepthNew
        let areClocksTwo = run?.areClocksTwo ?? false
        if let video = frames.video, isVideoNew || isRepetition {
            run?.lastVideo = video.number
            run?.pairing.add(video, isDepth: false, areClocksTwo: areClocksTwo)
        }
        if let depth = frames.depth, isDepthNew || isRepetition {
            run?.lastDepth = depth.number
            run?.pairing.add(depth, isDepth: true, areClocksTwo: areClocksTwo)
        }
    }

    /// The same frames with the depth as the color camera sees it; nil where librealsense gives none.
    private func aligned(_ frames: LibraryObject, _ align: Align) throws(CameraError) -> LibraryObject? {
        // Processing takes a reference of its own; ours goes with `frames`.
        try functions.call { align.functions.addReference(frames.pointer, $0) }
        try functions.call { align.functions.processFrame(align.block.pointer, frames.pointer, $0) }
        var result: OpaquePointer?
        let exists = try functions.call { align.functions.pollQueue(align.queue.pointer, &result, $0) }
        guard exists != 0, let result else { return nil }
        return LibraryObject(result) { [functions] in functions.releaseFrame($0) }
    }

    /// The frames of a set. Where the depth is to be aligned, none is better than one that is not: without a picture, and now and
    /// then with one, librealsense has the set as it was.
    private func parts(of set: LibraryObject, _ run: Run) throws(CameraError) -> CameraFrames {
        var frames: LibraryObject? = set
        if let align = run.align { frames = try aligned(set, align) }
        var parts = CameraFrames()
        let source = frames ?? set
        for number in 0..<max(0, try functions.call { functions.embeddedFrameCount(source.pointer, $0) }) {
            let frame = try functions.make(functions.releaseFrame) {
                functions.extractFrame(source.pointer, number, $0)
            }
            let pointer = try functions.call { functions.frameProfile(frame.pointer, $0) }
            switch try functions.profile(pointer)?.stream {
            case RealSenseConstant.streamColor:
                parts.video = try self.frame(frame, run.streams.video)
                self.run?.videoClock = try clock(of: frame)
            case RealSenseConstant.streamDepth:
                parts.depth = try self.frame(frame, run.streams.depth)
                self.run?.depthClock = try clock(of: frame)
            default: break
            }
        }
        if run.align != nil, parts.video == nil || frames == nil { parts.depth = nil }
        return parts
    }

    private func clock(of frame: LibraryObject) throws(CameraError) -> CInt? {
        guard let clock = functions.frameClock else { return nil }
        return try functions.call { clock(frame.pointer, $0) }
    }

    /// A frame of ours; without bytes where librealsense's has another size than the stream.
    private func frame(_ object: LibraryObject, _ mode: CameraMode?) throws(CameraError) -> CameraFrame? {
        guard let mode else { return nil }
        let pointer = object.pointer
        let data = try functions.call { functions.frameData(pointer, $0) }
        let size = try functions.call { functions.frameSize(pointer, $0) }
        let width = try functions.call { functions.frameWidth(pointer, $0) }
        let height = try functions.call { functions.frameHeight(pointer, $0) }
        let isWhole = Int(width) == mode.width && Int(height) == mode.height
        let milliseconds = try functions.call { functions.frameTime(pointer, $0) }
        return CameraFrame(
            bytes: UnsafeRawBufferPointer(start: data, count: data == nil || !isWhole ? 0 : Int(max(0, size))),
            stride: Int(try functions.call { functions.frameStride(pointer, $0) }),
            time: Int64(exactly: (milliseconds * 1e6).rounded()) ?? 0,
            number: try functions.call { functions.frameNumber(pointer, $0) },
            release: { withExtendedLifetime(object) {} })
    }
}

/// The player of a recording, resumed on a thread of its own.
///
/// `rs2_playback_device_resume` waits until the player's thread has got to it, 10 s at most. That thread may be waiting until its
/// frames are taken, which the caller does after the start.
private final class RealSensePlayback {
    private let fault: Fault
    private let thread: WorkThread

    private final class Fault: Sendable {
        let error = Mutex<CameraError?>(nil)
    }

    init(resuming device: LibraryObject, _ library: RealSenseLibrary) throws(CameraError) {
        let (fault, functions) = (Fault(), library.functions)
        let playback = try library.playback.get()
        do throws(SystemFault) {
            thread = try WorkThread {
                do throws(CameraError) {
                    try functions.call { playback.resumePlayback(device.pointer, $0) }
                    // What fails on the player's thread is not told.
                    let status = try functions.call { playback.playbackStatus(device.pointer, $0) }
                    if status == RealSenseConstant.playbackPaused { throw .failed("the player does not resume") }
                } catch {
                    fault.error.withLock { $0 = error }
                }
            }
        } catch {
            throw .failed("no thread for the player: \(error.reason)")
        }
        self.fault = fault
    }

    /// The error of the resumption; nil where there was none so far.
    var error: CameraError? { fault.error.withLock { $0 } }
}

extension dm_realsense_intrinsics {
    /// Nil for numbers that are no camera's, and for fisheyes.
    fileprivate var intrinsics: CameraIntrinsics? {
        guard !RealSenseConstant.distortionFisheyes.contains(model) else { return nil }
        let k = coefficients
        return CameraIntrinsics(
            width, height, fx: fx, fy: fy, cx: ppx, cy: ppy, factors: [k.0, k.1, k.2, k.3, k.4],
            isDistorted: model != RealSenseConstant.distortionNone,
            isInverse: model == RealSenseConstant.distortionInverse)
    }
}

extension String {
    /// True where librealsense's words mean that somebody else has the camera.
    fileprivate var saysBusy: Bool {
        let text = lowercased()
        return ["busy", "in use", "errno=16"].contains { text.includes($0) }
    }
}
