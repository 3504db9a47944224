import CCameras
import Synchronization

/// A context of libfreenect, with what the library has logged.
final class FreenectContext {
    let library: FreenectLibrary
    let handle: FreenectLibrary.Handle

    /// The first errors of each context since its last call; later ones are consequences.
    private static let messages = Mutex<[UInt: [String]]>([:])
    private static let messageLimit = 4

    init(_ library: FreenectLibrary) throws(CameraError) {
        self.library = library
        var handle: FreenectLibrary.Handle?
        let result = library.functions.initialize(&handle, nil)
        guard result >= 0, let handle else {
            throw .failed("libfreenect cannot start: error \(result) of freenect_init.")
        }
        self.handle = handle
        Self.messages.withLock { $0[UInt(bitPattern: handle)] = [] }
        library.functions.setLogLevel(handle, FreenectLibrary.logErrors)
        library.functions.setLogCallback(handle) { context, _, message in
            guard let context, let message else { return }
            let text = FreenectContext.trimmed(String(cString: message))
            FreenectContext.messages.withLock { messages in
                if let count = messages[UInt(bitPattern: context)]?.count, count < FreenectContext.messageLimit {
                    messages[UInt(bitPattern: context)]?.append(text)
                }
            }
        }
        // Neither the motor nor the microphones are touched.
        library.functions.selectSubdevices(handle, FreenectLibrary.cameraSubdevice)
    }

    deinit {
        _ = library.functions.shutdown(handle)
        Self.messages.withLock { $0[UInt(bitPattern: handle)] = nil }
    }

    /// The serials of the cameras that can be opened, in the library's order.
    func serials() throws(CameraError) -> [String] {
        guard let list = library.functions.listDevices, let free = library.functions.freeDevices else { return [] }
        forgetMessages()
        var first: dm_freenect_device_list?
        let result = list(handle, &first)
        guard result >= 0 else { throw fault(result, "The USB devices cannot be listed") }
        var serials: [String] = []
        var next = first
        while let item = next {
            serials.append(item.pointee.camera_serial.map { String(cString: $0) } ?? "")
            next = item.pointee.next
        }
        if let first { free(first) }
        return serials
    }

    /// Forgets the messages of the calls before.
    func forgetMessages() {
        Self.messages.withLock { $0[UInt(bitPattern: handle)] = [] }
    }

    /// An error of the library.
    ///
    /// - Parameters:
    ///   - result: what the call returned.
    ///   - sentence: what failed, without the dot.
    func fault(_ result: Int32, _ sentence: String) -> CameraError {
        let log = Self.messages.withLock { $0[UInt(bitPattern: handle)] ?? [] }
        let words = log.first ?? "error \(result)"
        // Opening a device returns -1, whatever libusb's error was.
        func isError(_ number: Int32, _ name: String) -> Bool {
            result == number || log.contains { $0.includes(name) || $0.hasSuffix(": \(number)") }
        }
        if isError(FreenectLibrary.USBError.busy, "LIBUSB_ERROR_BUSY") {
            return .busy("Another program uses the Kinect (\(words)).")
        }
        if isError(FreenectLibrary.USBError.noDevice, "LIBUSB_ERROR_NO_DEVICE") {
            return .unplugged("libusb reports no device (\(words)).")
        }
        if isError(FreenectLibrary.USBError.access, "LIBUSB_ERROR_ACCESS") {
            return .failed(
                "\(sentence): no permission (\(words)). Install libfreenect's udev rules, join the group plugdev and plug it in again."
            )
        }
        return .failed("\(sentence): \(words).")
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
