import Foundation

/// A program to run to its end, with all that it prints.
struct Command {
    var program: String
    var arguments: [String]
    var folder: URL?
    var environment: [String: String] = Command.gstreamer
    /// Seconds after which the program is killed.
    var patience = 120

    struct Result {
        /// The exit status; 137 when the program took too long.
        let status: Int
        /// The text of both of its outputs.
        let output: String

        var lines: [Substring] { output.split(separator: "\n") }
    }

    init(_ program: String, _ arguments: [String], in folder: URL? = nil) {
        self.program = program
        self.arguments = arguments
        self.folder = folder
    }

    /// A launch line as one text, with every element held to the rules of a stream. gst-launch-1.0 reads quotes itself.
    static func launch(_ line: String, options: [String] = ["-q"], in folder: URL? = nil) -> Command {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        var command = Command("gst-launch-1.0", ["--no-fault"] + options + words, in: folder)
        command.watchStreams()
        return command
    }

    /// Loads the test plugin beside the library, and has its tracer end a program in which an element breaks the rules.
    mutating func watchStreams() {
        environment["GST_PLUGIN_PATH"] = "\(Places.build.path):\(Places.testPlugin.path)"
        environment["GST_REGISTRY"] = Places.scratch.appending(path: "registry-watched.bin").path
        environment["GST_TRACERS"] = "streamrules"
        environment["G_DEBUG"] = "fatal-criticals"
    }

    /// Runs with criticals made fatal, and finds the objects that are alive at the end.
    func findLeaks() -> (result: Result, found: [Substring]) {
        var command = self
        command.watchStreams()
        command.environment["GST_TRACERS"] = "leaks;streamrules"
        command.environment["GST_DEBUG"] = "GST_TRACER:7"
        command.environment["GST_DEBUG_NO_COLOR"] = "1"
        let result = command.run()
        // The tracer first prints the form of its records, and then a record for each object.
        return (result, result.lines.filter { $0.contains(" object-alive, ") && !$0.contains("new format string") })
    }

    /// The caller's environment with the library that was just built and a registry of the tests' own.
    static var gstreamer: [String: String] {
        var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GST_") && $0.key != "G_DEBUG" }
        all["GST_PLUGIN_PATH"] = Places.build.path
        all["GST_REGISTRY"] = Places.scratch.appending(path: "registry.bin").path
        all["SWIFT_BACKTRACE"] = "enable=no"
        return all
    }

    func run() -> Result {
        let log = Places.scratch.appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        do {
            let sink = try FileHandle(forWritingTo: log)
            let process = Process()
            process.environment = environment
            process.currentDirectoryURL = folder ?? Places.scratch
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = sink
            process.standardError = sink
            try process.start(["timeout", "-s", "KILL", String(patience)] + Process.bound + [program] + arguments)
            process.waitUntilExit()
            try sink.close()
            let output = String(decoding: try Data(contentsOf: log), as: UTF8.self)
            // `timeout` ends by the signal that it sent.
            let signalled = process.terminationReason == .uncaughtSignal
            return Result(status: Int(process.terminationStatus) + (signalled ? 128 : 0), output: output)
        } catch {
            return Result(status: -1, output: "\(program) did not start: \(error)")
        }
    }
}
