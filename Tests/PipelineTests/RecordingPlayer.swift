import Foundation
import Testing

/// `depthcamsrc` with a maker's own library, in a folder of its own.
struct RecordingPlayer {
    let folder: URL
    let driver: String
    let library: String
    /// The folder of libraries that find each other by the loader's path.
    private let libraryFolder: String?

    init(_ driver: String, library: String, libraryFolder: String? = nil) throws {
        (self.driver, self.library, self.libraryFolder) = (driver, library, libraryFolder)
        folder = try Places.makeFolder()
    }

    /// The folder of real recordings, from the environment variable DEPTHMATTE_REAL_RECORDINGS.
    static let recordings = ProcessInfo.processInfo.environment["DEPTHMATTE_REAL_RECORDINGS"]
    static var hasRecordings: Bool { recordings != nil }

    /// Makes a recording by a script of `Tests/cameras`.
    ///
    /// - Returns: the lines that it prints.
    @discardableResult
    func record(_ python: String, _ script: String, _ words: String...) throws -> [Substring] {
        let path = Places.root.appending(path: "Tests/cameras/\(script)").path
        let result = Command(python, [path] + words, in: folder).run()
        try #require(result.status == 0, "\(result.output)")
        return result.lines
    }

    /// Runs the source, whose name is `camera`, with its properties and what follows it.
    func run(_ line: String, options: [String] = ["-q"], log: String? = nil) -> Command.Result {
        var command = Command.launch(
            "depthcamsrc name=camera driver=\(driver) library=\(library) \(line)", options: options, in: folder)
        if let libraryFolder { command.environment["LD_LIBRARY_PATH"] = libraryFolder }
        if let log { command.environment["GST_DEBUG"] = log }
        return command.run()
    }

    /// The same, which must end well.
    @discardableResult
    func play(_ line: String, options: [String] = ["-q"]) throws -> Command.Result {
        let result = run(line, options: options)
        try #require(result.status == 0, "\(result.output)")
        return result
    }

    func bytes(_ file: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: file))) }

    /// The first two bytes of each frame in a file, as a number.
    func firstSamples(_ file: String, size: Int) throws -> [Int] {
        let bytes = try bytes(file)
        try #require(bytes.count.isMultiple(of: size))
        return stride(from: 0, to: bytes.count, by: size).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
    }
}
