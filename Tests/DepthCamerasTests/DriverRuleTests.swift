import DepthCameras
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// What holds for every driver.
@Suite(.serialized) struct DriverRuleTests {
    /// A stand-in, with a setting of its own, and the properties that change its camera.
    struct Row: Sendable {
        let driver: any CameraDriver.Type
        var setting: (key: String, value: Int)?
        let changeable: Set<String>

        func open() throws -> (fake: FakeLibrary, camera: any Camera) {
            let fake = driver.name == "openni2" ? try FakeOpenNI() : try FakeLibrary("fake_\(driver.name).c")
            if let setting { fake.set(setting.key, setting.value) }
            return (fake, try driver.init(library: (fake as? FakeOpenNI)?.library ?? fake.path).open(CameraChoice()))
        }
    }

    private static let rows: [Row] =
        [
            Row(driver: RealSenseDriver.self, changeable: ["emitter", "exposure", "preset"]),
            Row(driver: RealSenseDriver.self, setting: ("no-options", 1), changeable: []),
            Row(driver: FreenectDriver.self, changeable: ["exposure"]),
            Row(driver: K4ADriver.self, changeable: ["exposure"]),
            Row(driver: OrbbecDriver.self, changeable: ["emitter", "preset"]),
            Row(driver: OrbbecDriver.self, setting: ("old", 2), changeable: ["preset"]),
        ] + (FakeOpenNI.isInstalled ? [Row(driver: OpenNIDriver.self, changeable: [])] : [])

    @Test(arguments: rows, ["emitter", "exposure", "preset"])
    func `a property that the camera cannot follow is an error that names it`(row: Row, property: String) throws {
        let (fake, camera) = try row.open()
        defer { withExtendedLifetime(fake) {} }
        var settings = settings(camera.info)
        switch property {
        case "emitter": settings.emitter = true
        case "exposure": settings.exposure = 10_000
        default: settings.preset = "Default"
        }
        if row.changeable.contains(property) {
            _ = try camera.start(settings)
        } else {
            expectError(CameraError.setting, "driver=\(row.driver.name)", "\(property) must be") {
                _ = try camera.start(settings)
            }
        }
        camera.stop()
    }

    @Test func `libfreenect 0.5 sets no exposure`() throws {
        let library = try CompiledLibrary.build("fake_freenect.c", without: ["freenect_set_exposure"])
        let camera = try FreenectDriver(library: library).open(CameraChoice())
        var settings = settings(camera.info)
        settings.exposure = 10_000
        expectError(CameraError.setting, "exposure must be 0") { _ = try camera.start(settings) }
    }

    @Test(arguments: [
        ("x.bag", ["realsense", "orbbec"]), ("x.BAG", ["realsense", "orbbec"]), ("x.Db3", ["realsense"]),
        ("x.ONI", ["openni2"]), ("x.MKV", ["k4a"]), ("x.mkv.txt", []),
    ])
    func `the ending of a recording tells its drivers, in small and capital letters`(name: String, drivers: [String]) {
        #expect(cameraDrivers.filter { $0.plays(recording: name) }.map { $0.name } == drivers)
    }

    /// Other threads of the program may read it meanwhile.
    @Test func `no driver changes the environment`() throws {
        unsetenv("K4A_ENABLE_LOG_TO_STDOUT")
        let before = ProcessInfo.processInfo.environment
        for row in Self.rows { _ = try row.open() }
        let dump = try FreenectDump()
        try dump.addPairs(1)
        try dump.writeIndex()
        var choice = CameraChoice()
        choice.recording = dump.folder.path()
        let driver = try FreenectDriver(library: CompiledLibrary.build("fake_freenect.c"))
        _ = try driver.open(choice).start(.both)
        #expect(ProcessInfo.processInfo.environment == before)
    }
}
