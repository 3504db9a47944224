import DepthCameras
import Foundation
import Testing

@Suite struct DynamicLibraryTests {
    @Test func `a library that is not there is named in the error`() {
        let names = ["libnot-there-1.so", "libnot-there-2.so"]
        expectError(CameraError.libraryMissing, names[0], names[1]) { _ = try DynamicLibrary(anyOf: names) }
    }

    @Test(arguments: [[], ["libnot-there-1.so"]])
    func `a library that is there and does not load is named with the loader's reason`(others: [String]) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).so").path()
        try Data("no library".utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        expectError(CameraError.libraryUnsuitable, file, "does not load", "file too short") {
            _ = try DynamicLibrary(anyOf: others + [file] + others)
        }
    }

    @Test func `a library whose own need is missing is named with that`() throws {
        let folder = FileManager.default.temporaryDirectory
        let (need, file) = (folder.appending(path: "libneed\(UUID()).so"), folder.appending(path: "lib\(UUID()).so"))
        defer { try? FileManager.default.removeItem(at: file) }
        for arguments in [["-o", need.path()], ["-o", file.path(), "-Wl,--no-as-needed", need.path()]] {
            let compiler = try Process.run(
                URL(filePath: "/usr/bin/env"),
                arguments: ["cc", "-shared", "-x", "c", "/dev/null", "-x", "none"] + arguments)
            compiler.waitUntilExit()
        }
        try FileManager.default.removeItem(at: need)
        expectError(CameraError.libraryUnsuitable, file.path(), "does not load", need.lastPathComponent) {
            _ = try DynamicLibrary(anyOf: [file.path()])
        }
    }

    @Test func `a function is found and can be called`() throws {
        let library = try DynamicLibrary(anyOf: ["libnot-there-1.so", "libm.so.6"])
        let cosine = try library.function("cos", as: (@convention(c) (Double) -> Double).self)
        #expect(cosine(0) == 1)
        #expect(throws: CameraError.libraryUnsuitable("libm.so.6 has no function rs2_nothing")) {
            try library.function("rs2_nothing", as: (@convention(c) () -> Void).self)
        }
    }
}
