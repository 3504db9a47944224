import CCameras

/// Azure Kinect, and Orbbec's Femto Bolt, Mega and Mega I by their library of the same functions; recordings of `k4arecorder`.
package final class K4ADriver: CameraDriver {
    package static let name = "k4a"
    package static let cameras = "Azure Kinect, Orbbec Femto"
    package static let libraries = ["libk4a.so.1.4", "libk4a.so.1", "libk4a.so"]
    private static let playbackLibraries = ["libk4arecord.so.1.4", "libk4arecord.so.1", "libk4arecord.so"]
    package static let installation =
        "Install the Azure Kinect Sensor SDK (libk4a1.4 of its maker's packages), or Orbbec's libk4a for a Femto."

    package static func plays(recording path: String) -> Bool { path.hasEnding(".mkv") }

    private let library: K4ALibrary
    private let path: String?

    package init(library: String?) throws(CameraError) {
        path = library
        // The library for recordings finds the functions of this one.
        self.library = try DynamicLibrary(anyOf: library.map { [$0] } ?? Self.libraries, sharesSymbols: true)
            .functions(dm_k4a_functions_symbols())
    }

    /// The modes of all these cameras; the Femto Mega I has the same.
    private static let videoModes = K4AConstant.colorSizes.modes(.bgra)
    private static let depthModes: [CameraMode] = {
        let modes = K4AConstant.depthSizes.modes(.gray16)
        // The narrow view first: the wide one has fewer samples on a person.
        let narrow = modes.filter { ($0.width, $0.height) == (640, 576) && $0.rate == (30, 1) }
        return narrow + modes.filter { !narrow.contains($0) }
    }()

    private func info(serial: String) -> CameraInfo {
        CameraInfo(
            name: Self.cameras, serial: serial, driver: Self.name, videoModes: Self.videoModes,
            depthModes: Self.depthModes)
    }

    /// The library tells no serial number of a camera that is not open, so its place in the list stands for it.
    package func list() throws(CameraError) -> [CameraInfo] {
        (0..<Int(library.deviceCount())).map { info(serial: "\($0)") }
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        guard choice.recording.isEmpty else {
            // Beside the other, where the user names that.
            let folder = path?.folder.map { "\($0)/" } ?? ""
            let names = Self.playbackLibraries.map { folder + $0 }
            let playback = try DynamicLibrary(anyOf: names, for: "to play recordings")
            return try K4ARecording(library, playback.functions(dm_k4a_playback_functions_symbols()), choice)
        }
        let count = library.deviceCount()
        guard count > 0 else { throw .noCamera("No Azure Kinect is plugged in.") }
        // A place in the list is shorter than a serial number.
        if choice.serial.utf8.count < 3, let place = UInt32("0" + choice.serial), place < count {
            let device = try K4ADevice(library, place)
            // Not the place: another camera may have it when this one comes back.
            return K4ACamera(device, info(serial: device.serial ?? "\(place)"))
        }
        let found = K4ADevice.find(choice.serial, library)
        if let device = found.device { return K4ACamera(device, info(serial: choice.serial)) }
        let others = found.others.isEmpty ? "none that can be opened" : found.others.joined(separator: ", ")
        throw .noCamera("No Azure Kinect has the serial number \(choice.serial); plugged in: \(others).")
    }
}

/// A camera that is open.
final class K4ADevice {
    let library: K4ALibrary
    let handle: K4ALibrary.Handle

    init(_ library: K4ALibrary, _ place: UInt32) throws(CameraError) {
        var handle: K4ALibrary.Handle?
        guard library.openDevice(place, &handle) == K4AConstant.ok, let handle else {
            throw .busy("Azure Kinect \(place) cannot be opened: another program has it, or you may not open it.")
        }
        (self.library, self.handle) = (library, handle)
    }

    deinit { library.closeDevice(handle) }

    /// Opens the camera with a serial number. Each that is closed is opened to see its own.
    ///
    /// - Returns: the camera; nil, and the serial numbers of those that can be opened, where it is none of them.
    static func find(_ serial: String, _ library: K4ALibrary) -> (device: K4ADevice?, others: [String]) {
        var others: [String] = []
        for place in 0..<library.deviceCount() {
            guard let device = try? K4ADevice(library, place), let found = device.serial else { continue }
            if found == serial { return (device, []) }
            others.append(found)
        }
        return (nil, others)
    }

    /// Nil where the camera does not tell.
    var serial: String? {
        var size = 0
        guard library.serialNumber(handle, nil, &size) == K4AConstant.tooSmall, (1...256).contains(size) else {
            return nil
        }
        let text = [CChar](unsafeUninitializedCapacity: size) { text, count in
            let status = text.baseAddress.map { library.serialNumber(handle, $0, &size) }
            count = status == K4AConstant.ok ? min(size, text.count) : 0
        }
        let bytes = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
