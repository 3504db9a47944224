import Foundation

/// A stand-in for a camera's library (`Tests/cameras`), which is one for the whole program, with its defaults. One test at a time
/// uses it.
open class FakeLibrary {
    package let path: String
    private let handle: UnsafeMutableRawPointer

    /// What the property `library` takes.
    package var library: String { path }

    /// The drivers whose library has a stand-in here.
    package static let drivers =
        ["realsense", "freenect", "k4a", "orbbec"] + (FakeOpenNI.isInstalled ? ["openni2"] : [])

    /// The stand-in for a driver's library.
    package static func of(driver: String) throws -> FakeLibrary {
        try driver == "openni2" ? FakeOpenNI() : FakeLibrary("fake_\(driver).c")
    }

    package init(_ source: String) throws {
        path = try CompiledLibrary.build(source)
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw CompiledLibrary.Failure(description: dlerror().map { String(cString: $0) } ?? path)
        }
        self.handle = handle
        reset()
    }

    fileprivate func function<Function>(_ name: String, as type: Function.Type) -> Function {
        unsafeBitCast(dlsym(handle, name), to: type)
    }

    package func reset() { function("fake_reset", as: (@convention(c) () -> Void).self)() }

    /// The keys are in the C files.
    package func set(_ key: String, _ value: some CustomStringConvertible) {
        typealias Set = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
        precondition(function("fake_set", as: Set.self)(key, value.description) != 0, "no key \(key)")
    }

    /// A setting, or a count of the library's.
    package subscript(key: String) -> Double {
        get { function("fake_get", as: (@convention(c) (UnsafePointer<CChar>) -> Double).self)(key) }
        set { set(key, newValue) }
    }

    /// Objects that were made and not deleted.
    package var objects: Int { Int(self["objects"]) }
}

/// The stand-in for librealsense2.
package final class FakeRealSense: FakeLibrary {
    package init() throws { try super.init("fake_realsense.c") }

    deinit { reset() }

    package enum Sensor: CInt, CaseIterable { case depth, color, fisheye }

    package enum Option: CInt { case exposure = 3, automaticExposure = 10, preset = 12, emitter = 18 }

    /// The value of a sensor's option; -1 where it has none.
    package func value(_ option: Option, of sensor: Sensor) -> Double {
        function("fake_realsense_option", as: (@convention(c) (CInt, CInt) -> Double).self)(
            sensor.rawValue, option.rawValue)
    }
}
