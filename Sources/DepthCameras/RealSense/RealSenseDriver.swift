import CCameras

/// RealSense cameras, by librealsense2 from version 2.50 on.
package final class RealSenseDriver: CameraDriver {
    package static let name = "realsense"
    package static let cameras = "RealSense cameras"
    package static let libraries = ["librealsense2.so.2", "librealsense2.so", "librealsense2.dylib"]
    package static let installation =
        "Install librealsense2 by its maker's packages, or the Python package pyrealsense2, whose module the property "
        + "library can name."

    package static func plays(recording path: String) -> Bool { path.hasEnding(".bag", ".db3") }

    /// The oldest version with every function that is used.
    private static let leastVersion: CInt = 25000

    private let library: RealSenseLibrary
    private let context: LibraryObject

    private var functions: dm_realsense_functions { library.functions }

    package init(library: String?) throws(CameraError) {
        if let library { try RealSenseDriver.loadPython(for: library) }
        let loaded = try DynamicLibrary(anyOf: library.map { [$0] } ?? RealSenseDriver.libraries)
        self.library = try RealSenseLibrary(loaded)
        let functions = self.library.functions
        let version = try functions.call { functions.apiVersion($0) }
        guard version >= RealSenseDriver.leastVersion else {
            throw .libraryUnsuitable(
                "\(loaded.name) has version \(version / 10000).\(version / 100 % 100), 2.50 is needed")
        }
        context = try functions.make(functions.deleteContext) { functions.createContext(version, $0) }
    }

    /// The Python package's module carries librealsense, but needs the interpreter's library, which its name tells:
    /// `pyrealsense2.cpython-311-x86_64-linux-gnu.so` needs libpython3.11.
    private static func loadPython(for library: String) throws(CameraError) {
        guard let version = library.suffix(behind: "cpython-3") else { return }
        let minor = version.prefix { $0.isNumber }
        _ = try DynamicLibrary(
            anyOf: ["libpython3.\(minor).so.1.0", "libpython3.\(minor).so", "libpython3.\(minor).dylib"],
            sharesSymbols: true, for: "for the module of pyrealsense2")
    }

    package func list() throws(CameraError) -> [CameraInfo] {
        let list = try functions.make(functions.deleteDeviceList) { functions.queryDevices(context.pointer, $0) }
        let count = try functions.call { functions.deviceCount(list.pointer, $0) }
        var cameras: [CameraInfo] = []
        for number in 0..<max(0, count) {
            let device = try functions.make(functions.deleteDevice) { functions.createDevice(list.pointer, number, $0) }
            cameras.append(try info(of: device))
        }
        return cameras
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        let pipeline = try functions.make(functions.deletePipeline) { functions.createPipeline(context.pointer, $0) }
        guard choice.recording.isEmpty else {
            do throws(CameraError) {
                let info = try recordingInfo(choice, pipeline)
                return RealSenseCamera(library, context, pipeline, choice, info)
            } catch .failed(let reason) {
                throw .recording(reason)
            }
        }
        let cameras = try list()
        guard let info = cameras.first(where: { choice.serial.isEmpty || $0.serial == choice.serial }) else {
            throw .noCamera(
                choice.serial.isEmpty
                    ? "no RealSense camera is plugged in" : "none has the serial number \(choice.serial)")
        }
        var found = choice
        found.serial = info.serial
        return RealSenseCamera(library, context, pipeline, found, info)
    }

    private func recordingInfo(_ choice: CameraChoice, _ pipeline: LibraryObject) throws(CameraError) -> CameraInfo {
        let playback = try library.playback.get()
        let config = try functions.make(functions.deleteConfig) { functions.createConfig($0) }
        try functions.call { playback.enableRecording(config.pointer, choice.recording, 0, $0) }
        let profile = try functions.make(functions.deletePipelineProfile) {
            functions.resolveConfig(config.pointer, pipeline.pointer, $0)
        }
        let device = try functions.make(functions.deleteDevice) { functions.profileDevice(profile.pointer, $0) }
        return try info(of: device)
    }

    // MARK: What a device offers

    private func info(of device: LibraryObject) throws(CameraError) -> CameraInfo {
        var modes: (video: [CameraMode], depth: [CameraMode]) = ([], [])
        let sensors = try functions.make(functions.deleteSensorList) { functions.querySensors(device.pointer, $0) }
        for number in 0..<max(0, try functions.call { functions.sensorCount(sensors.pointer, $0) }) {
            let sensor = try functions.make(functions.deleteSensor) {
                functions.createSensor(sensors.pointer, number, $0)
            }
            for profile in try functions.profiles(of: sensor) {
                switch profile.stream {
                case RealSenseConstant.streamDepth where profile.mode.format == .gray16:
                    modes.depth.append(profile.mode)
                case RealSenseConstant.streamColor where profile.mode.format != .gray16:
                    modes.video.append(profile.mode)
                default: break
                }
            }
        }
        return CameraInfo(
            name: try text(device, RealSenseConstant.infoName) ?? "RealSense",
            serial: try text(device, RealSenseConstant.infoSerial) ?? "", driver: RealSenseDriver.name,
            videoModes: modes.video.inOrder, depthModes: modes.depth.inOrder)
    }

    private func text(_ device: LibraryObject, _ info: CInt) throws(CameraError) -> String? {
        guard try functions.call({ functions.supportsDeviceInfo(device.pointer, info, $0) }) != 0 else { return nil }
        return try functions.call { functions.deviceInfo(device.pointer, info, $0) }.map { String(cString: $0) }
    }
}

/// A stream of the camera as librealsense describes it.
typealias RealSenseProfile = (stream: CInt, mode: CameraMode)

extension dm_realsense_functions {
    /// The streams of a sensor that are pictures in a format that we know.
    func profiles(of sensor: LibraryObject) throws(CameraError) -> [RealSenseProfile] {
        let list = try make(deleteStreamProfiles) { streamProfiles(sensor.pointer, $0) }
        var profiles: [RealSenseProfile] = []
        for number in 0..<max(0, try call { streamProfileCount(list.pointer, $0) }) {
            let pointer = try call { streamProfile(list.pointer, number, $0) }
            if let profile = try profile(pointer) { profiles.append(profile) }
        }
        return profiles
    }

    /// Reads a stream profile; nil for one that is no picture, or of a format that we do not know.
    func profile(_ pointer: OpaquePointer?) throws(CameraError) -> RealSenseProfile? {
        var (stream, number, index, id, rate): (CInt, CInt, CInt, CInt, CInt) = (0, 0, 0, 0, 0)
        try call { streamProfileData(pointer, &stream, &number, &index, &id, &rate, $0) }
        guard let format = Self.format(stream, number), rate > 0 else { return nil }
        var (width, height): (CInt, CInt) = (0, 0)
        try call { videoResolution(pointer, &width, &height, $0) }
        guard (1...32768).contains(width), (1...32768).contains(height) else { return nil }
        return (stream, CameraMode(width: Int(width), height: Int(height), rate: (Int(rate), 1), format: format))
    }

    private static func format(_ stream: CInt, _ number: CInt) -> CameraFormat? {
        if stream == RealSenseConstant.streamDepth { return number == RealSenseConstant.formatZ16 ? .gray16 : nil }
        guard stream == RealSenseConstant.streamColor else { return nil }
        return RealSenseConstant.colorFormats.first { $0.number == number }?.format
    }
}
