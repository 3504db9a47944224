import Foundation

@main
enum DepthBench {
    static func main() {
        do {
            try run(Options(Array(CommandLine.arguments.dropFirst())))
        } catch Failure.usage(let text) {
            end(text + "\ndepthbench --help lists the arguments", status: 2)
        } catch Failure.cannot(let text) {
            end(text, status: 1)
        } catch {
            end("\(error)", status: 1)
        }
    }

    private static func run(_ options: Options) throws {
        if options.command == .help { return say(Options.help) }
        try loadElements()
        let bench = try Bench(options.effort)
        switch options.command {
        case .table, .sweep, .grid: try bench.measure(options.plan())
        case .goals:
            try bench.measureGoals()
            try bench.measureViews()
        case .views: try bench.measureViews()
        case .pipelines: try bench.measurePipelines(options.usual())
        case .help: break
        }
        bench.printGoals()
        if let file = options.json { try bench.report.write(to: file) }
    }

    private static func end(_ text: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("depthbench: \(text)\n".utf8))
        exit(status)
    }
}

/// Reasons to end the program early.
enum Failure: Error {
    /// The arguments are wrong; the text names the one.
    case usage(String)
    /// Something that was asked for cannot be done here.
    case cannot(String)
}

/// Prints a line, which is there at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
