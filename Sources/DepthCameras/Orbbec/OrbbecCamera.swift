import CCameras
import DepthKernels

/// An Orbbec camera, or a recording of one. One thread at a time.
///
/// The library's pairs are not taken: they hold frames back, and are of different moments where depth takes longer to deliver or
/// the sensors run free. Each frame comes by itself, and they are paired by their timestamps, the middle of the exposure.
final class OrbbecCamera: Camera {
    private typealias Constant = OrbbecConstant

    let info: CameraInfo
    /// The same as the list of devices has it: with its serial number.
    let listing: CameraInfo
    private let session: OrbbecSession
    private let device: LibraryObject
    private let pipeline: LibraryObject
    private let choice: CameraChoice
    private var run: Run?

    /// Milliseconds that the first depth map may take.
    private static let startTime = 3000
    /// Milliseconds that the last frames of a recording may take.
    private static let decodingTime = 200

    private var functions: OrbbecLibrary { session.functions }
    private var isRecording: Bool { !choice.recording.isEmpty }
    /// True for a camera whose unplugging the list of devices shows.
    private var isListed: Bool { !isRecording && choice.serial.isEmpty }

    /// What exists from start to stop.
    private struct Run {
        var streams: CameraStreams
        var pairing: FramePairing<CameraFrame>
        /// True where a recording has no more frames.
        var hasEnded = false
    }

    /// A stream that the camera offers.
    private typealias Offer = (profile: LibraryObject, mode: CameraMode)

    /// - Parameter choice: a recording, or the address of a camera, or nothing for a camera of the list.
    init(
        _ session: OrbbecSession, _ device: LibraryObject, _ choice: CameraChoice
    ) throws(CameraError) {
        (self.session, self.device, self.choice) = (session, device, choice)
        let functions = session.functions
        let facts = try functions.make(functions.deleteInfo) { functions.deviceInfo(device.pointer, $0) }
        let isRemote = choice.recording.isEmpty && !choice.serial.isEmpty
        let pipeline = try functions.make(functions.deletePipeline) { functions.createPipeline(device.pointer, $0) }
        self.pipeline = pipeline
        func modes(_ sensor: CInt) -> [CameraMode] {
            // A camera without the sensor gives an error.
            ((try? Self.offers(functions, pipeline, sensor)) ?? []).map(\.mode).inOrder
        }
        listing = CameraInfo(
            name: try functions.text { functions.infoName(facts.pointer, $0) },
            serial: try functions.text { functions.infoSerial(facts.pointer, $0) }, driver: OrbbecDriver.name,
            videoModes: modes(Constant.color), depthModes: modes(Constant.depth))
        var info = listing
        // No search finds a camera that was opened by its address.
        if isRemote { info.serial = choice.serial }
        self.info = info
    }

    deinit { stop() }

    private static func offers(
        _ functions: OrbbecLibrary, _ pipeline: LibraryObject, _ sensor: CInt
    ) throws(CameraError) -> [Offer] {
        let list = try functions.make(functions.deleteProfiles) { functions.profiles(pipeline.pointer, sensor, $0) }
        var offers: [Offer] = []
        for place in 0..<(try functions.call { functions.profileCount(list.pointer, $0) }) {
            let profile = try functions.make(functions.deleteProfile) {
                functions.profile(list.pointer, CInt(clamping: place), $0)
            }
            guard let mode = try functions.mode(profile, isDepth: sensor == Constant.depth) else { continue }
            offers.append((profile, mode))
        }
        return offers
    }

    // MARK: Start and stop

    func start(_ settings: CameraSettings) throws(CameraError) -> CameraStreams {
        stop()
        if !isRecording { try configure(settings) }
        let config = try functions.make(functions.deleteConfig) { functions.createConfig($0) }
        let video = try enable(settings.video, Constant.color, config)
        let depth = try enable(settings.depth, Constant.depth, config)
        try functions.call { functions.setAggregation(config.pointer, Constant.aggregateNothing, $0) }
        try functions.call { functions.disableSync(pipeline.pointer, $0) }
        // Else a recording plays as soon as one stream is started, and the first frames of the other are lost.
        if isRecording { try functions.call { functions.pause(device.pointer, $0) } }
        try functions.call { functions.startPipeline(pipeline.pointer, config.pointer, $0) }
        var streams = CameraStreams(
            video: settings.video, depth: settings.depth, calibration: depth.flatMap { calibration($0, video) },
            isAligned: false, depthUnit: 0)
        run = Run(
            streams: streams,
            pairing: FramePairing(video: settings.video, depth: settings.depth, isPatient: isRecording))
        do throws(CameraError) {
            if isRecording { try functions.call { functions.resume(device.pointer, $0) } }
            // Only frames tell the unit of the depth.
            let end = deadline(milliseconds: Self.startTime)
            while settings.depth != nil, run?.streams.depthUnit == 0 {
                guard try receive(until: end) else {
                    try checkPresence()
                    throw .failed("The camera sends no depth.")
                }
            }
        } catch {
            stop()
            throw error
        }
        streams.depthUnit = run?.streams.depthUnit ?? 0
        streams.calibration?.depthUnit = streams.depthUnit
        run?.streams = streams
        return streams
    }

    func stop() {
        guard run != nil else { return }
        run = nil
        _ = try? functions.call { functions.stopPipeline(pipeline.pointer, $0) }
    }

    private func enable(
        _ mode: CameraMode?, _ sensor: CInt, _ config: LibraryObject
    ) throws(CameraError) -> LibraryObject? {
        guard let mode else { return nil }
        guard let offer = try Self.offers(functions, pipeline, sensor).first(where: { $0.mode == mode }) else {
            throw .failed("The camera has no mode of \(mode.width)x\(mode.height) in \(mode.format.rawValue).")
        }
        try functions.call { functions.enableStream(config.pointer, offer.profile.pointer, $0) }
        return offer.profile
    }

    /// Sets what the user asked for, and nothing else. The library does not tell the unit of an exposure.
    private func configure(_ settings: CameraSettings) throws(CameraError) {
        try settings.check(changeable: [.emitter, .preset], OrbbecDriver.self)
        if !settings.preset.isEmpty { try loadPreset(settings.preset) }
        // After the preset, which may switch the projector.
        if let emitter = settings.emitter, try !setEmitter(emitter) {
            try settings.check(changeable: [.preset], OrbbecDriver.self)
        }
    }

    /// - Returns: false where the camera has no switch of its projector.
    private func setEmitter(_ isOn: Bool) throws(CameraError) -> Bool {
        func has(_ property: CInt) throws(CameraError) -> Bool {
            try functions.call { functions.canSet(device.pointer, property, Constant.mayWrite, $0) }
        }
        if try has(Constant.laserControl) {
            try functions.call { functions.setInt(device.pointer, Constant.laserControl, isOn ? 1 : 0, $0) }
        } else if try has(Constant.laser) {
            try functions.call { functions.setBool(device.pointer, Constant.laser, isOn, $0) }
        } else {
            return false
        }
        return true
    }

    private func loadPreset(_ preset: String) throws(CameraError) {
        let list = try functions.make(functions.deletePresets) { functions.presets(device.pointer, $0) }
        var names: [String] = []
        for place in 0..<(try functions.call { functions.presetCount(list.pointer, $0) }) {
            names.append(try functions.text { functions.presetName(list.pointer, place, $0) })
        }
        let name = names[try names.place(ofPreset: preset)]
        try functions.call { functions.loadPreset(device.pointer, name, $0) }
    }

    /// Nil where the library does not tell the optics.
    private func calibration(_ depth: LibraryObject, _ video: LibraryObject?) -> Calibration? {
        guard let optics = lens(depth) else { return nil }
        guard let video else { return Calibration(depth: optics) }
        let pose = try? functions.call { functions.profilePose(depth.pointer, video.pointer, $0) }.pose()
        guard let color = lens(video), let pose else { return nil }
        return Calibration(depth: optics, color: color, depthToColor: pose)
    }

    private func lens(_ profile: LibraryObject) -> CameraIntrinsics? {
        guard let optics = try? functions.call({ functions.profileIntrinsics(profile.pointer, $0) }),
            let distortion = try? functions.call({ functions.profileDistortion(profile.pointer, $0) })
        else { return nil }
        return optics.lens(distortion)
    }

    // MARK: Frames

    func next(timeout milliseconds: Int) throws(CameraError) -> CameraFrames? {
        guard run != nil else { throw .failed("The camera was not started.") }
        let end = deadline(milliseconds: milliseconds)
        while let run {
            if let frames = self.run?.pairing.nextFrames(isLast: run.hasEnded) { return frames }
            if run.hasEnded { try playAgain(run.streams) }
            guard try receive(until: end) else {
                try checkPresence()
                return nil
            }
        }
        return nil
    }

    /// Waits for a frame.
    ///
    /// - Returns: false where none came in time.
    private func receive(until end: Int64) throws(CameraError) -> Bool {
        let left = (end &- monotonicTime()) / 1_000_000
        let set = try functions.find(functions.deleteFrame) {
            functions.waitForFrames(pipeline.pointer, UInt32(clamping: max(left, 0)), $0)
        }
        guard let set else { return false }
        if let mode = run?.streams.video,
            let frame = try functions.find(functions.deleteFrame, { functions.colorFrame(set.pointer, $0) })
        {
            run?.pairing.add(try self.frame(frame, mode), isDepth: false)
        }
        if let mode = run?.streams.depth,
            let frame = try functions.find(functions.deleteFrame, { functions.depthFrame(set.pointer, $0) })
        {
            let unit = (Double(try functions.call { functions.frameUnit(frame.pointer, $0) }) / 1000).roundedUnit
            if run?.streams.depthUnit == 0 { run?.streams.depthUnit = unit }
            guard unit > 0, unit == run?.streams.depthUnit else {
                throw .failed("The camera has changed the unit of its depth to \(unit) m.")
            }
            run?.pairing.add(try self.frame(frame, mode), isDepth: true)
        }
        return true
    }

    /// Converts the library's frame. It has no bytes where its size or format is not the stream's, or some are missing.
    private func frame(_ object: LibraryObject, _ mode: CameraMode) throws(CameraError) -> CameraFrame {
        let pointer = object.pointer
        let data = try functions.call { functions.frameData(pointer, $0) }
        let size = try functions.call { functions.frameSize(pointer, $0) }
        let width = try functions.call { functions.frameWidth(pointer, $0) }
        let height = try functions.call { functions.frameHeight(pointer, $0) }
        let format = OrbbecConstant.formats[try functions.call { functions.frameFormat(pointer, $0) }]
        let stride = mode.width * mode.format.bytesPerPixel
        let isWhole =
            Int(width) == mode.width && Int(height) == mode.height && format == mode.format
            && Int(size) >= stride * mode.height
        return CameraFrame(
            bytes: UnsafeRawBufferPointer(start: data, count: data == nil || !isWhole ? 0 : stride * mode.height),
            stride: stride, time: Int64(clamping: try functions.call { functions.frameTime(pointer, $0) } &* 1000),
            number: try functions.call { functions.frameNumber(pointer, $0) },
            release: { withExtendedLifetime(object) {} })
    }

    /// Looks why no frame came; at the end of a recording fetches its last frames.
    private func checkPresence() throws(CameraError) {
        if isRecording {
            let status = try functions.call { functions.playbackStatus(device.pointer, $0) }
            guard status == Constant.playbackStopped else { return }
            // It stops when it has read the last frames; those are still decoded.
            while try receive(until: deadline(milliseconds: Self.decodingTime)) {}
            run?.hasEnded = true
        } else if isListed, try !session.devices().serials.contains(info.serial) {
            throw .unplugged("\(info.name) \(info.serial) is not there any more.")
        }
    }

    /// Plays a looped recording from its start; throws `ended` for one that plays once.
    private func playAgain(_ streams: CameraStreams) throws(CameraError) {
        guard choice.isLooped else { throw .ended }
        var settings = CameraSettings()
        (settings.video, settings.depth) = (streams.video, streams.depth)
        _ = try start(settings)
    }
}
