import Foundation
import Synchronization

/// A shared object that the tests compile from C while they run.
package enum CompiledLibrary {
    private static let built = Mutex<[String: String]>([:])

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Compiles a file of `Tests/cameras`, once in a process.
    ///
    /// - Parameters:
    ///   - functions: that the library is to lack.
    ///   - isProgram: true for a program instead of a shared object.
    /// - Returns: the path of what was made.
    package static func build(
        _ source: String, without functions: [String] = [], isProgram: Bool = false
    ) throws -> String {
        let key = ([source] + functions).joined(separator: " ")
        return try built.withLock { built in
            if let path = built[key] { return path }
            let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "cameras")
            let path = FileManager.default.temporaryDirectory.appending(
                path: "\(source)-\(built.count)-\(ProcessInfo.processInfo.processIdentifier).so"
            ).path()
            let compiler = Process()
            compiler.executableURL = URL(filePath: "/usr/bin/env")
            compiler.arguments = [
                "cc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-pthread",
                sources.appending(path: source).path(), "-o", path,
            ]
            if !isProgram { compiler.arguments? += ["-shared", "-fPIC"] }
            compiler.arguments? += functions.map { "-D\($0)=static_\($0)" }
            let messages = Pipe()
            compiler.standardError = messages
            try compiler.run()
            let text = messages.fileHandleForReading.readDataToEndOfFile()
            compiler.waitUntilExit()
            guard compiler.terminationStatus == 0 else {
                throw Failure(description: String(decoding: text, as: UTF8.self))
            }
            built[key] = path
            return path
        }
    }
}
