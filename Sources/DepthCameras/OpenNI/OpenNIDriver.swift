import CCameras

/// Cameras that OpenNI 2 reads by drivers of its own, and its recordings.
///
/// The library tells no serial number of a camera that is not open, so its URI stands for it.
package final class OpenNIDriver: CameraDriver {
    package static let name = "openni2"
    package static let cameras = "Xtion, PrimeSense, Structure Sensor, Astra"
    package static let libraries = [
        "libOpenNI2.so.0", "libOpenNI2.so", "libOpenNI2.dylib", "/opt/homebrew/lib/ni2/libOpenNI2.dylib",
        "/usr/local/lib/ni2/libOpenNI2.dylib",
    ]
    package static let installation = "Install OpenNI 2: apt install libopenni2-0."

    package static func plays(recording path: String) -> Bool { path.hasEnding(".oni") }

    /// Modes that all of these cameras have. They stand for those of a camera that is not open: asking would take it from another
    /// program.
    private static let usualModes = (
        video: [CameraMode(width: 640, height: 480, rate: (30, 1), format: .rgb)],
        depth: [CameraMode(width: 640, height: 480, rate: (30, 1), format: .gray16)]
    )

    private let session: OpenNISession

    package init(library: String?) throws(CameraError) {
        let functions: OpenNILibrary = try DynamicLibrary(anyOf: library.map { [$0] } ?? Self.libraries)
            .functions(dm_openni_functions_symbols())
        let thread: LastingThread
        do throws(SystemFault) {
            thread = try LastingThread()
        } catch {
            throw .failed("There is no thread for OpenNI: \(error.reason).")
        }
        session = try thread.run { () throws(CameraError) in try OpenNISession(functions, on: thread) }
    }

    package func list() throws(CameraError) -> [CameraInfo] {
        try session.devices().map { device in
            CameraInfo(
                name: device.name, serial: device.uri, driver: Self.name, videoModes: Self.usualModes.video,
                depthModes: Self.usualModes.depth)
        }
    }

    private func camera(_ uri: String, _ choice: CameraChoice) throws(CameraError) -> OpenNICamera {
        try session.thread.run { () throws(CameraError) in try OpenNICamera(self.session, uri: uri, choice) }
    }

    package func open(_ choice: CameraChoice) throws(CameraError) -> any Camera {
        guard choice.recording.isEmpty else {
            do throws(CameraError) {
                return try camera(choice.recording, choice)
            } catch .failed(let sentence) {
                throw .recording(sentence)
            } catch .unplugged(let sentence) {
                throw .recording(sentence)
            }
        }
        let devices = try session.devices()
        // A driver may open what it does not list.
        let uri = choice.serial.isEmpty ? devices.first?.uri : choice.serial
        guard let uri else { throw .noCamera("No camera that OpenNI reads is plugged in.") }
        do throws(CameraError) {
            return try camera(uri, choice)
        } catch .unplugged(let sentence) {
            let others = devices.isEmpty ? "none" : devices.map(\.uri).joined(separator: ", ")
            throw .noCamera("\(sentence) Plugged in: \(others).")
        }
    }
}
