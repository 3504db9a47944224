import Foundation
import GstTestSupport
import Synchronization

@main
enum DepthBench {
    static func main() {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            guard options.command != "help" else { return print(Options.help) }
            watchesStreams.store(false, ordering: .relaxed)
            loadElements()
            let report = try Report(options)
            if options.command == "views" {
                for view in View.all { try view.measure(options, report) }
            } else {
                let folder = TemporaryFolder()
                let still = folder.write(
                    "still.png", png(width: 480, height: 270) { x, y in [UInt8(x & 255), UInt8(y & 255), 128] })
                for wanted in options.plan() { try measure(wanted, options, report, still: still) }
            }
        } catch let failure as Failure {
            FileHandle.standardError.write(Data("depthbench: \(failure.text)\n".utf8))
            exit(failure.status)
        } catch {
            FileHandle.standardError.write(Data("depthbench: \(error)\n".utf8))
            exit(1)
        }
    }
}

/// The reason why the program ends early.
struct Failure: Error {
    let text: String
    /// The exit status: 2 where an argument is wrong.
    var status: Int32 = 1
}

/// Writes each figure when it is there: a line of a table, and a line of JSON.
final class Report {
    private let options: Options
    private var json: FileHandle?
    private var columns = ""

    init(_ options: Options) throws {
        self.options = options
        guard let path = options.json else { return }
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        json = FileHandle(forWritingAtPath: path)
        if json == nil { throw Failure(text: "\(path) cannot be written") }
    }

    /// Times works that take turns, and writes the milliseconds for a frame of each round under the names that they give.
    func measure(_ labels: [(name: String, value: String)], ring: Int, onlyOne: Bool, _ works: [Timed]) throws {
        Processors.use(onlyOne: onlyOne)
        let (frames, rounds) = try takeTurns(works, options)
        let header = labels.map { $0.name }.joined(separator: " ")
        if columns != header { write("      ms     own  memcpy    ratio  \(header)") }
        columns = header
        let times = ["ms", "own_ms", "memcpy_ms"].map { name in
            rounds[name].map { String(format: "%8.3f", median($0)) } ?? "        "
        }
        let ratio = median(zip(rounds["ms"] ?? [], rounds["memcpy_ms"] ?? []).map { $0 / $1 })
        write(times.joined() + String(format: "%8.2fx  ", ratio) + labels.map { $0.value }.joined(separator: " "))
        guard let json else { return }
        var fields: [String: Any] = ["ring": ring, "frames": frames]
        for (name, value) in labels { fields[name] = value }
        for (name, times) in rounds { fields[name] = times }
        try json.write(contentsOf: JSONSerialization.data(withJSONObject: fields, options: .sortedKeys) + [10])
    }

    private func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
