#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@main
enum DepthBench {
    static func main() {
        do {
            try run(Options(Array(CommandLine.arguments.dropFirst())))
        } catch Failure.usage(let text) {
            complain(text + "\ndepthbench --help lists the arguments")
            exit(2)
        } catch Failure.cannot(let text) {
            complain(text)
            exit(1)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) throws {
        if options.command == .help { return say(Help.text) }
        try loadElements()
        let plan = Plan(options)
        let bench = try Bench(options.effort, print: say)
        switch options.command {
        case .table: try bench.measure(plan.table())
        case .sweep: try bench.measure(plan.sweep())
        case .grid: try bench.measure(plan.grid())
        case .goals:
            try bench.measureGoals()
            try bench.measureViews()
        case .views: try bench.measureViews()
        case .pipelines: try bench.measurePipelines(plan.usual)
        case .help: break
        }
        bench.printGoals()
        if let file = options.json { try writeFile(file, bench.report.json(Machine()).document) }
    }

    /// A line on standard output, there at once.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func complain(_ text: String) {
        let line = "depthbench: \(text)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }
}
