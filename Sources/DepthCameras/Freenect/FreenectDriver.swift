import CCameras

/// Kinect v1, by libfreenect.
///
/// A recording is the folder that `fakenect-record` writes.
package final class FreenectDriver: CameraDriver {
    package static let name = "freenect"
    package static let cameras = "Kinect for Xbox 360, Kinect for Windows v1"
    package static let libraries = [
        "libfreenect.so.0.5", "libfreenect.so.0", "libfreenect.so", "libfreenect.0.dylib", "libfreenect.dylib",
        "/opt/homebrew/lib/libfreenect.dylib", "/usr/local/lib/libfreenect.dylib",
    ]
    package static let installation = "Install libfreenect: apt install libfreenect0.5, or brew install libfreenect."

    package static func plays(recording path: String) -> Bool { exists("\(path)/INDEX.txt") }

    private let library: FreenectLibrary
    /// The recording that stands for the camera of libfreenect's second build, fakenect.
    private let fakenectFolder = environment("FAKENECT_PATH")

    package init(library: String?) throws(CameraError) {
        // fakenect has the name of libfreenect, and the linker finds the one that was loaded first: it must be the real one.
        if library != nil { _ = try? DynamicLibrary(anyOf: Self.libraries) }
        self.library = try FreenectLibrary(DynamicLibrary(anyOf: library.map { [$0] } ?? Self.libraries))
    }

    package func list() throws(CameraError) -> [CameraInfo] {
        if library.isFakenect {
            guard let folder = fakenectFolder, let recording = try? FreenectRecording(folder: folder)
            else { return [] }
            return [recording.info]
        }
        let context = try FreenectContext(library)
        return try context.serials().map { info(serial: $0) }
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        guard !choice.recording.isEmpty || library.isFakenect else { return try openCamera(serial: choice.serial) }
        guard let folder = choice.recording.isEmpty ? fakenectFolder : choice.recording else {
            throw .noCamera("fakenect plays recordings; neither location nor FAKENECT_PATH names one.")
        }
        return FreenectPlayer(try FreenectRecording(folder: folder), isLooped: choice.isLooped)
    }

    private func openCamera(serial: String) throws(CameraError) -> any Camera {
        let context = try FreenectContext(library)
        let count = library.functions.deviceCount(context.handle)
        guard count >= 0 else { throw context.fault(count, "The USB devices cannot be listed") }
        guard count > 0 else { throw .noCamera("No Kinect is plugged in.") }
        let serials = try context.serials()
        context.forgetMessages()
        var device: FreenectLibrary.Handle?
        let result: Int32
        if serial.isEmpty {
            result = library.functions.openDevice(context.handle, &device, 0)
        } else {
            guard serials.contains(serial) else {
                let others = serials.isEmpty ? "none that can be opened" : serials.joined(separator: ", ")
                throw .noCamera("No Kinect has the serial \(serial); plugged in: \(others).")
            }
            result = library.functions.openDeviceBySerial(context.handle, &device, serial)
        }
        guard result >= 0, let device else {
            let fault = context.fault(result, "The Kinect cannot be opened")
            if case .unplugged(let sentence) = fault { throw .noCamera(sentence) }
            throw fault
        }
        // The list leaves out cameras that cannot be opened: it tells the first one's serial only if it is complete.
        let first = serials.count == Int(count) ? serials.first : nil
        let info = info(serial: serial.isEmpty ? first ?? "" : serial)
        return FreenectCamera(context: context, device: device, info: info)
    }

    private func info(serial: String) -> CameraInfo {
        CameraInfo(
            name: "Kinect v1", serial: serial, driver: Self.name,
            videoModes: library.video.modes(FreenectLibrary.VideoFormat.rgb).map { CameraMode($0, .rgb) },
            depthModes: library.depth.modes(FreenectLibrary.DepthFormat.millimetres).map { CameraMode($0, .gray16) })
    }
}

extension CameraMode {
    init(_ mode: FreenectLibrary.Mode, _ format: CameraFormat) {
        self.init(
            width: Int(mode.width), height: Int(mode.height), rate: (Int(mode.framerate), 1), format: format)
    }
}
