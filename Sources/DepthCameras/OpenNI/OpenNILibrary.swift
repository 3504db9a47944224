import CCameras

/// The functions of OpenNI 2, loaded while the program runs. They are listed in `CCameras/openni.h`.
typealias OpenNILibrary = dm_openni_functions

extension OpenNILibrary {
    typealias Handle = OpaquePointer
    typealias Status = CInt
    typealias SetProperty = @convention(c) (Handle?, CInt, UnsafeRawPointer, CInt) -> Status

    /// Sets a property of a device or stream.
    func set<Value: BitwiseCopyable>(_ property: CInt, _ value: Value, of handle: Handle, by function: SetProperty)
        -> Status
    {
        var value = value
        return function(handle, property, &value, CInt(MemoryLayout<Value>.size))
    }

    /// Throws the library's own words where a call failed.
    ///
    /// - Parameter what: the sentence that they follow, without the dot.
    func check(_ status: Status, _ what: String) throws(CameraError) {
        guard status != Constant.ok else { return }
        var words = Substring(lastError().map { String(cString: $0) } ?? "")
        while words.last?.isWhitespace == true { words.removeLast() }
        words = words.drop { $0.isWhitespace }
        let sentence = words.isEmpty ? "\(what): OpenNI's error \(status)." : "\(what): \(words)."
        throw status == Constant.noDevice ? .unplugged(sentence) : .failed(sentence)
    }

    /// Constants of `OniCEnums.h` and `OniCProperties.h`.
    enum Constant {
        /// 2.0: all functions that are used.
        static let version: CInt = 2000
        static let ok: Status = 0
        static let noDevice: Status = 6
        static let timeOut: Status = 102
        static let color: CInt = 2
        static let depth: CInt = 3
        static let depthToColor: CInt = 1
        // Properties of a device.
        static let registration: CInt = 5
        static let playbackSpeed: CInt = 100
        static let playbackRepeat: CInt = 101
        // Properties of a stream.
        static let horizontalField: CInt = 1
        static let verticalField: CInt = 2
        static let mode: CInt = 3
        static let mirroring: CInt = 7
        static let frameCount: CInt = 8

        /// Of a pixel format; nil for one that is not read.
        static func format(_ number: Int32) -> CameraFormat? {
            switch number {
            case 100, 101: .gray16
            case 200: .rgb
            case 201: .uyvy
            case 202: .gray8
            case 205: .yuy2
            default: nil
            }
        }

        /// Metres per count of a depth format.
        static func unit(_ number: Int32) -> Double { number == 101 ? 0.0001 : 0.001 }
    }
}

/// OpenNI, initialized for as long as somebody holds this. The library counts its users.
///
/// The library keeps the `pthread_t` of each thread that called it, and passes it to `pthread_kill` later, which ends the program
/// where the thread is gone (2.2, Debian 12). So all calls are made on a thread that lasts.
final class OpenNISession {
    let library: OpenNILibrary
    let thread: LastingThread

    init(_ library: OpenNILibrary, on thread: LastingThread) throws(CameraError) {
        (self.library, self.thread) = (library, thread)
        do throws(CameraError) {
            try library.check(library.initialize(OpenNILibrary.Constant.version), "OpenNI cannot start")
        } catch .failed(let sentence) {
            throw .libraryUnsuitable(sentence)
        }
    }

    deinit { thread.run { [library] in library.shutdown() } }

    /// The cameras that OpenNI's own drivers report.
    func devices() throws(CameraError) -> [(uri: String, name: String)] {
        try thread.run { () throws(CameraError) in try self.list() }
    }

    private func list() throws(CameraError) -> [(uri: String, name: String)] {
        var (first, count): (dm_openni_devices?, CInt) = (nil, 0)
        try library.check(library.listDevices(&first, &count), "The devices cannot be listed")
        guard let first else { return [] }
        defer { _ = library.freeDevices(first) }
        return (0..<max(Int(count), 0)).map { (first[$0].uriText, first[$0].fullName) }
    }
}

/// A camera or recording that is open.
final class OpenNIDevice {
    let handle: OpenNILibrary.Handle
    let session: OpenNISession

    var library: OpenNILibrary { session.library }

    /// - Parameter uri: of a camera, or the path of a recording.
    init(_ session: OpenNISession, uri: String) throws(CameraError) {
        var handle: OpenNILibrary.Handle?
        try session.library.check(session.library.openDevice(uri, &handle), "\(uri) cannot be opened")
        guard let handle else { throw .failed("OpenNI gave no device for \(uri).") }
        (self.session, self.handle) = (session, handle)
    }

    deinit { session.thread.run { [library, handle] in _ = library.closeDevice(handle) } }

    func set<Value: BitwiseCopyable>(_ property: CInt, _ value: Value) -> OpenNILibrary.Status {
        library.set(property, value, of: handle, by: library.setDeviceProperty)
    }

    /// The modes of a sensor; none where the device has no such sensor.
    func modes(_ sensor: CInt) -> [dm_openni_mode] {
        guard let sensor = library.sensor(handle, sensor)?.pointee, let modes = sensor.modes else { return [] }
        return Array(UnsafeBufferPointer(start: modes, count: min(max(Int(sensor.mode_count), 0), 256)))
    }
}

extension dm_openni_device {
    var uriText: String { text(of: uri) }

    /// The maker and the model.
    var fullName: String {
        let (vendor, model) = (text(of: vendor), text(of: name))
        return vendor.isEmpty ? model : model.isEmpty ? vendor : "\(vendor) \(model)"
    }

    private func text<Characters>(of characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
