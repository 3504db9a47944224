import CFreenect

/// Kinect for Xbox 360 and Kinect for Windows, version 1, by libfreenect 0.5.
///
/// A recording is a dump of libfreenect's `fakenect-record`: a folder with an `INDEX.txt`, which the second build of the library,
/// in the folder `fakenect`, plays. Its depth is delivered as it was dumped.
package final class FreenectDriver: CameraDriver {
    package static let name = "freenect"
    package static let cameras = "Kinect v1"
    package static let libraries = ["libfreenect.so.0.5", "libfreenect.so.0", "libfreenect.so", "libfreenect.dylib"]
    package static let installation = "Install libfreenect 0.5; Debian's package is libfreenect0.5."

    package static func plays(recording path: String) -> Bool { size(ofFile: "\(path)/INDEX.txt") != nil }

    private let library: String?
    private let functions: FreenectLibrary
    /// Made when it is first needed: fakenect's library ends the process where no dump is named.
    private var context: FreenectContext?

    package init(library: String?) throws(CameraError) {
        self.library = library
        functions = try FreenectLibrary(DynamicLibrary(anyOf: library.map { [$0] } ?? FreenectDriver.libraries))
    }

    private func openContext() throws(CameraError) -> FreenectContext {
        if let context { return context }
        if functions.isPlayer { throw .libraryUnsuitable("it plays recordings only; set the property location") }
        let made = try FreenectContext(functions)
        context = made
        return made
    }

    package func list() throws(CameraError) -> [CameraInfo] {
        let context = try openContext()
        return try serials(context).map { info(serial: $0, functions) }
    }

    private func serials(_ context: FreenectContext) throws(CameraError) -> [String] {
        var list: UnsafeMutablePointer<cf_device_attributes>?
        guard let listDevices = functions.listDevices else { return [] }
        let count = listDevices(context.pointer, &list)
        defer { if let list { functions.freeList?(list) } }
        guard count >= 0 else { throw .failed("libfreenect cannot list cameras, error \(count)") }
        var serials: [String] = []
        var next = list
        while let entry = next, serials.count < count {
            serials.append(entry.pointee.serial.map { String(cString: $0) } ?? "")
            next = entry.pointee.next
        }
        return serials
    }

    private func info(serial: String, _ functions: FreenectLibrary) -> CameraInfo {
        CameraInfo(
            name: "Kinect", serial: serial, driver: FreenectDriver.name,
            videoModes: functions.videoModes.map(\.mode),
            depthModes: [CameraMode(width: 640, height: 480, rate: (30, 1), format: .gray16)])
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        if !choice.recording.isEmpty { return try openRecording(choice) }
        let context = try openContext()
        let serials = try serials(context)
        guard let serial = choice.serial.isEmpty ? serials.first : serials.first(where: { $0 == choice.serial }) else {
            throw .noCamera(
                choice.serial.isEmpty ? "no Kinect is plugged in" : "no Kinect has the serial number \(choice.serial)")
        }
        var device: UnsafeMutableRawPointer?
        let code =
            serial.isEmpty
            ? functions.openDevice(context.pointer, &device, 0)
            : functions.openBySerial(context.pointer, &device, serial)
        guard code >= 0, let device else {
            throw .busy("libfreenect cannot open it, error \(code); another program has it, or USB rights are missing")
        }
        return FreenectCamera(context, device, info(serial: serial, functions), isRecording: false)
    }

    private func openRecording(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        try checkDump(choice.recording)
        if choice.isLooped { throw .recording("libfreenect's player cannot start it again; set loop=false") }
        let player = try playerFunctions()
        guard player.isPlayer else {
            throw .recording(
                "\(library ?? "the library") plays none; name fakenect's libfreenect in the property library")
        }
        setEnvironment("FAKENECT_PATH", to: choice.recording)
        let context = try FreenectContext(player)
        var device: UnsafeMutableRawPointer?
        guard player.openDevice(context.pointer, &device, 0) >= 0, let device else {
            throw .recording("libfreenect's player does not open it")
        }
        return FreenectCamera(context, device, info(serial: "recording", player), isRecording: true)
    }

    private func playerFunctions() throws(CameraError) -> FreenectLibrary {
        if library != nil { return functions }
        let names = ["libfreenect.so.0.5", "libfreenect.so", "libfreenect.dylib"]
        return try FreenectLibrary(DynamicLibrary(anyOf: names.flatMap { installedPaths("fakenect/\($0)") }))
    }

    /// Refuses a dump on which the player would end the process, or read past a file: it checks neither.
    private func checkDump(_ folder: String) throws(CameraError) {
        guard let index = text(ofFile: "\(folder)/INDEX.txt", limit: FreenectDriver.longestIndex) else {
            throw .recording("it has no INDEX.txt")
        }
        for line in index.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let least = line.hasPrefix("d") ? 640 * 480 * 2 : line.hasPrefix("r") ? 640 * 480 * 3 : 0
            guard let size = size(ofFile: "\(folder)/\(line)"), size > least || least == 0 && size > 0 else {
                throw .recording("the file \(line) is missing or too short")
            }
        }
        guard index.hasSuffix("\n"), index.utf8.count < FreenectDriver.longestIndex else {
            throw .recording("its INDEX.txt does not end with a line")
        }
    }

    /// Bytes: of ten hours.
    private static let longestIndex = 100_000_000
}

extension FreenectLibrary {
    /// A mode of the library, and as all drivers have it.
    struct Mode {
        let raw: cf_frame_mode
        let mode: CameraMode
    }

    /// The color modes, best first.
    var videoModes: [Mode] {
        (0..<max(0, videoModeCount())).map { videoMode($0) }
            .filter { $0.is_valid != 0 && $0.format == FreenectConstant.videoRGB }
            .compactMap { mode($0, .rgb) }.sorted { ($0.mode.width, $0.mode.height) < ($1.mode.width, $1.mode.height) }
    }

    /// The depth mode of a format; of a player the only one.
    func depthMode(_ format: Int32) -> Mode? {
        (0..<max(0, depthModeCount())).map { depthMode($0) }
            .first { $0.is_valid != 0 && ($0.format == format || isPlayer) }.flatMap { mode($0, .gray16) }
    }

    private func mode(_ raw: cf_frame_mode, _ format: CameraFormat) -> Mode? {
        guard raw.width > 0, raw.height > 0, raw.rate > 0,
            Int(raw.bytes) >= Int(raw.width) * Int(raw.height) * format.bytesPerPixel
        else { return nil }
        return Mode(
            raw: raw,
            mode: CameraMode(
                width: Int(raw.width), height: Int(raw.height), rate: (Int(raw.rate), 1), format: format))
    }
}
