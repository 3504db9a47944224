#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The stand-in for librealsense2 (`Tests/cameras/fake_realsense.c`), with its defaults; one test at a time uses it.
package final class FakeRealSense {
    /// Its path, for the property `library`.
    package let path: String
    private let setKey: @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
    private let resetAll: @convention(c) () -> Void
    private let countObjects: @convention(c) () -> CLong
    private let countCalls: @convention(c) () -> CLong
    private let countSets: @convention(c) () -> CLong
    private let readOption: @convention(c) (CInt, CInt) -> Double

    package init() throws {
        path = try CompiledLibrary.build("fake_realsense.c")
        guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL),
            let set = dlsym(handle, "fake_realsense_set"), let reset = dlsym(handle, "fake_realsense_reset"),
            let objects = dlsym(handle, "fake_realsense_objects"), let calls = dlsym(handle, "fake_realsense_calls"),
            let sets = dlsym(handle, "fake_realsense_sets"), let option = dlsym(handle, "fake_realsense_option")
        else { throw CompiledLibrary.Failure(description: "\(path) is not the stand-in") }
        setKey = unsafeBitCast(set, to: (@convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt).self)
        resetAll = unsafeBitCast(reset, to: (@convention(c) () -> Void).self)
        countObjects = unsafeBitCast(objects, to: (@convention(c) () -> CLong).self)
        countCalls = unsafeBitCast(calls, to: (@convention(c) () -> CLong).self)
        countSets = unsafeBitCast(sets, to: (@convention(c) () -> CLong).self)
        readOption = unsafeBitCast(option, to: (@convention(c) (CInt, CInt) -> Double).self)
        resetAll()
    }

    deinit { resetAll() }

    /// The keys are in the C file.
    package func set(_ key: String, _ value: some CustomStringConvertible) {
        precondition(setKey(key, value.description) != 0, "no key \(key)")
    }

    /// Objects that were made and not deleted.
    package var objects: Int { countObjects() }
    /// Calls of the library so far.
    package var calls: Int { countCalls() }
    /// Changes of options since the reset.
    package var optionChanges: Int { countSets() }

    package enum Sensor: CInt, CaseIterable { case depth, color, fisheye }

    package enum Option: CInt { case exposure = 3, automaticExposure = 10, preset = 12, emitter = 18 }

    /// The value of a sensor's option; -1 where it has none.
    package func value(_ option: Option, of sensor: Sensor) -> Double { readOption(sensor.rawValue, option.rawValue) }
}
