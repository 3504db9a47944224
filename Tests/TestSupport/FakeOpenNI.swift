import Foundation

/// OpenNI 2 of the system with the driver of `Tests/cameras` and its own player of recordings.
package final class FakeOpenNI: FakeLibrary {
    /// The copy of the library, which loads the driver.
    private let copy: String
    package override var library: String { copy }

    /// Where Debian has it.
    private static let original = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu" }
        .first { FileManager.default.fileExists(atPath: "\($0)/libOpenNI2.so.0") }
    package static var isInstalled: Bool { original != nil }
    /// False under a sanitizer: the library's player reads its list of streams while another thread changes it.
    package static let canPlay = ProcessInfo.processInfo.environment["DEPTHMATTE_SANITIZER"] == nil

    package init() throws {
        // The library finds its drivers beside itself.
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "openni-\(ProcessInfo.processInfo.processIdentifier)")
        let drivers = folder.appending(path: "OpenNI2/Drivers")
        copy = folder.appending(path: "libOpenNI2.so.0").path()
        if !files.fileExists(atPath: copy) {
            try files.createDirectory(at: drivers, withIntermediateDirectories: true)
            let original = FakeOpenNI.original ?? "libopenni2-0 is not installed"
            try files.copyItem(atPath: "\(original)/libOpenNI2.so.0", toPath: copy)
            let player = "OpenNI2/Drivers/libOniFile.so.0"
            try files.copyItem(atPath: "\(original)/\(player)", toPath: folder.appending(path: player).path())
        }
        try super.init("openni_driver.c")
        let link = drivers.appending(path: "libfake.so.0").path()
        // One file, so that it is loaded once: the settings are its variables.
        if !files.fileExists(atPath: link) { try files.linkItem(atPath: path, toPath: link) }
    }
}
