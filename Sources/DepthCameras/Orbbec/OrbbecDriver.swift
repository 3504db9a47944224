import CCameras
import Synchronization

/// Orbbec's cameras on USB and Ethernet, by OrbbecSDK 2.
package final class OrbbecDriver: CameraDriver {
    package static let name = "orbbec"
    package static let cameras = "Orbbec Gemini, Astra 2, Femto"
    package static let libraries = [
        "libOrbbecSDK.so.2", "libOrbbecSDK.so", "libOrbbecSDK.2.dylib", "libOrbbecSDK.dylib",
    ]
    package static let installation =
        "Install OrbbecSDK 2 by its maker's packages, or the Python package pyorbbecsdk2, whose libOrbbecSDK.so.2 the "
        + "property library can name."

    package static func plays(recording path: String) -> Bool { path.hasEnding(".bag") }

    private let session: OrbbecSession

    private var functions: OrbbecLibrary { session.functions }

    package init(library: String?) throws(CameraError) {
        let loaded = try DynamicLibrary(anyOf: library.map { [$0] } ?? Self.libraries)
        session = try OrbbecSession.find(loaded)
    }

    package func list() throws(CameraError) -> [CameraInfo] {
        try session.known.withLock { known throws(CameraError) in
            let devices = try session.devices()
            for serial in known.keys where !devices.serials.contains(serial) { known[serial] = nil }
            return devices.serials.indices.map { place in
                let serial = devices.serials[place]
                if let info = known[serial] { return info }
                if let camera = try? open(devices, place) {
                    known[serial] = camera.listing
                    return camera.listing
                }
                // Another program has it.
                let name = try? functions.text {
                    functions.deviceName(devices.list.pointer, UInt32(clamping: place), $0)
                }
                return CameraInfo(
                    name: name ?? Self.cameras, serial: serial, driver: Self.name, videoModes: [], depthModes: [])
            }
        }
    }

    private func open(_ devices: OrbbecDevices, _ place: Int) throws(CameraError) -> OrbbecCamera {
        let device = try functions.make(functions.deleteDevice) {
            functions.openDevice(devices.list.pointer, UInt32(clamping: place), $0)
        }
        return try OrbbecCamera(session, device, CameraChoice())
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        guard choice.recording.isEmpty else {
            do throws(CameraError) {
                let player = try functions.make(functions.deleteDevice) {
                    functions.openRecording(choice.recording, $0)
                }
                return try OrbbecCamera(session, player, choice)
            } catch .failed(let sentence) {
                throw .recording(sentence)
            }
        }
        return try session.known.withLock { known throws(CameraError) in
            let found = try find(choice)
            // So that a list does not open it while it streams.
            known[found.listing.serial] = found.listing
            nonisolated(unsafe) let camera: any Camera = found  // held by the caller alone
            return camera
        }
    }

    private func find(_ choice: CameraChoice) throws(CameraError) -> OrbbecCamera {
        let devices = try session.devices()
        if let place = choice.serial.isEmpty
            ? devices.serials.indices.first : devices.serials.firstIndex(of: choice.serial)
        {
            return try open(devices, place)
        }
        if choice.serial.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 3 {
            do throws(CameraError) {
                let device = try functions.make(functions.deleteDevice) {
                    functions.openNetDevice(session.context, choice.serial, OrbbecConstant.port, $0)
                }
                return try OrbbecCamera(session, device, choice)
            } catch .failed(let sentence) {
                throw .noCamera("No Orbbec camera answers at \(choice.serial): \(sentence)")
            }
        }
        throw .noCamera(
            choice.serial.isEmpty
                ? "No Orbbec camera is plugged in, or answers on the network."
                : "No Orbbec camera has the serial number \(choice.serial); found: "
                    + (devices.serials.isEmpty ? "none." : devices.serials.joined(separator: ", ") + "."))
    }
}

/// The cameras that the library sees.
typealias OrbbecDevices = (list: LibraryObject, serials: [String])

/// The library, with its context, which lasts as long as the program.
///
/// The destructor of a context waits for ever now and then: it wakes a thread that does not wait yet (OrbbecSDK 2.9, 16 of 30 times
/// on a busy machine).
final class OrbbecSession: Sendable {
    let functions: OrbbecLibrary
    nonisolated(unsafe) let context: OpaquePointer  // the library locks
    /// Cameras that have been opened to see their modes, by serial number, while they are plugged in: to open some changes their
    /// settings. Locked while a camera is opened, as the library makes two of a camera that two threads open at once.
    let known = Mutex<[String: CameraInfo]>([:])

    /// The category of GStreamer's log that stands for the library's own.
    private static let logCategory = "depthcamsrc"
    private static let sessions = Mutex<[String: OrbbecSession]>([:])

    /// The session of a library, which is made once.
    static func find(_ library: DynamicLibrary) throws(CameraError) -> OrbbecSession {
        try sessions.withLock { sessions throws(CameraError) in
            if let session = sessions[library.name] { return session }
            let session = try OrbbecSession(library)
            sessions[library.name] = session
            return session
        }
    }

    private init(_ library: DynamicLibrary) throws(CameraError) {
        let functions: OrbbecLibrary = try library.functions(dm_orbbec_functions_symbols())
        // Before the context: it opens a log file in the current folder, and loads the extensions.
        try functions.call { functions.setLogLevel(OrbbecConstant.logOff, $0) }
        if environment("GST_DEBUG")?.includes(Self.logCategory) == true {
            try functions.call { functions.setLogToConsole(OrbbecConstant.logInfo, $0) }
        }
        if let folder = library.folder(of: "ob_create_context") {
            try functions.call { functions.setExtensions("\(folder)/extensions", $0) }
        }
        let context = try functions.call { functions.createContext($0) }
        guard let context else { throw .failed("OrbbecSDK gave no context") }
        (self.functions, self.context) = (functions, context)
    }

    func devices() throws(CameraError) -> OrbbecDevices {
        let list = try functions.make(functions.deleteDevices) { functions.queryDevices(context, $0) }
        var serials: [String] = []
        for place in 0..<(try functions.call { functions.deviceCount(list.pointer, $0) }) {
            serials.append(try functions.text { functions.deviceSerial(list.pointer, place, $0) })
        }
        return (list, serials)
    }
}
