import Foundation

/// An X server without a screen, and a launch line that shows its window there, in the upper left corner.
final class Screen {
    /// True where the programs for it are installed.
    static let isPossible = ["Xvfb", "xdotool"].allSatisfy { Command("which", [$0]).run().status == 0 }

    private let server = Process()
    private let pipeline = Process()
    private let display: String
    private let log: URL
    private let folder: URL

    struct Failed: Error {
        let reason: String
    }

    /// Starts both. What the elements say of their properties, and their messages, is kept.
    init(_ line: String, in folder: URL) throws {
        self.folder = folder
        // The server takes a number that is free and writes it down.
        let number = Pipe()
        server.standardOutput = number
        server.standardError = FileHandle.nullDevice
        try server.start(["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
        guard let text = String(data: number.fileHandleForReading.availableData, encoding: .utf8),
            let value = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            server.end()
            throw Failed(reason: "Xvfb says no number")
        }
        display = ":\(value)"

        log = folder.appending(path: "log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let command = Command.launch(line, options: ["-v", "-m"])
        pipeline.environment = command.environment.merging(["DISPLAY": display]) { $1 }
        pipeline.currentDirectoryURL = folder
        let output = try FileHandle(forWritingTo: log)
        pipeline.standardOutput = output
        pipeline.standardError = output
        try pipeline.start([command.program] + command.arguments)
    }

    deinit {
        for process in [pipeline, server] { process.end() }
    }

    /// Does what a hand would, in the words of xdotool.
    func act(_ words: String) throws {
        let result = on("xdotool", words.split(separator: " ").map(String.init)).run()
        guard result.status == 0 else { throw Failed(reason: "xdotool \(words): \(result.output)") }
    }

    /// The last value that the launch line told of a property; nil where it told of none.
    func value(of property: String) -> Double? {
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return nil }
        let mark = ": \(property) = "
        let line = text.split(separator: "\n").last { $0.contains(mark) }
        return line?.components(separatedBy: mark).last.flatMap { Double($0) }
    }

    /// The last element message of that name; nil where there was none.
    func message(_ name: String) -> String? {
        guard let text = try? String(contentsOf: log, encoding: .utf8) else { return nil }
        let mark = "(element): \(name), "
        return text.split(separator: "\n").last { $0.contains(mark) }?.components(separatedBy: mark).last
    }

    /// The color in the upper left corner.
    func picture(width: Int, height: Int) throws -> Picture {
        try Picture(
            of: "ximagesrc display-name=\(display) num-buffers=1 show-pointer=false use-damage=false "
                + "endx=\(width - 1) endy=\(height - 1)", in: folder)
    }

    /// Looks again and again, for half a minute at most, until something is as it should be.
    func wait<Value>(for what: String, until isReady: () throws -> Value?) throws -> Value {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            if let value = try isReady() { return value }
            usleep(20_000)
        }
        let told = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw Failed(reason: "waited in vain for \(what); the launch line says: \(told.suffix(1500))")
    }

    private func on(_ program: String, _ arguments: [String]) -> Command {
        var command = Command(program, arguments, in: folder)
        command.environment["DISPLAY"] = display
        return command
    }
}
