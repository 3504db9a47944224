import CGStreamer
import DepthCameras
import GstBridge
import Synchronization

/// `depthcamprovider`: the depth cameras that are plugged in, for `gst-device-monitor-1.0` and applications.
enum DepthCamProvider {
    static let definition = DeviceProviderDefinition(
        typeName: "GstDepthCamProvider",
        deviceTypeName: "GstDepthCamDevice",
        factory: "depthcamprovider",
        longName: "Depth camera provider",
        klass: "Source/Video",
        description: "Lists the depth cameras that the installed drivers find",
        element: DepthCamSrc.factory,
        list: { drivers.list() })

    private static let drivers = LoadedDrivers()

    /// A camera as applications see it.
    static func device(_ camera: CameraInfo) -> DeviceDescription {
        let caps =
            camera.videoModes.flatMap { CameraCaps.texts(of: $0, .video) }
            + camera.depthModes.flatMap { CameraCaps.texts(of: $0, .depth) }
        // Some cameras tell no serial number.
        let serial = camera.serial.isEmpty ? nil : camera.serial
        return DeviceDescription(
            name: camera.name, caps: caps.joined(separator: "; "),
            facts: ["device.api": camera.driver, "device.serial": serial].compactMapValues { $0 },
            settings: ["driver": camera.driver, "serial": serial].compactMapValues { $0 })
    }
}

/// The drivers whose libraries are installed, loaded once.
private final class LoadedDrivers: Sendable {
    private let drivers = Mutex<[any CameraDriver]?>(nil)

    func list() -> [DeviceDescription] {
        // The lock is held over the libraries' calls: they are made from one thread at a time.
        drivers.withLock { drivers in
            let loaded = drivers ?? cameraDrivers.compactMap { try? $0.init(library: nil) }
            drivers = loaded
            return loaded.flatMap { driver in (try? driver.list()) ?? [] }.map(DepthCamProvider.device)
        }
    }
}
