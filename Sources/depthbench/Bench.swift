/// Measures, prints each line as it comes, and keeps them all.
final class Bench {
    private(set) var report = Report()
    let effort: Options.Effort
    /// What is behind the person.
    let still: TemporaryFile
    let processors = Processors()
    private let print: (String) -> Void

    init(_ effort: Options.Effort, print: @escaping (String) -> Void) throws {
        self.effort = effort
        self.print = print
        still = try TemporaryFile.still()
    }

    /// Measures each work by itself, with memcpy in turn.
    func measure(_ list: [(work: Work, wanted: Case)]) throws {
        guard !list.isEmpty else { return }
        printHeader()
        for (work, wanted) in list { try measure(work, wanted) }
    }

    @discardableResult
    func measure(_ work: Work, _ wanted: Case) throws -> Figure { try measure(work, [wanted]).figures[0] }

    /// Measures a work in several cases, which take turns with each other and with memcpy of the first one's frame.
    @discardableResult
    func measure(_ work: Work, _ cases: [Case]) throws -> (figures: [Figure], samples: Samples) {
        processors.use(onlyOne: cases.allSatisfy { $0.threads == 1 })
        var works: [any Workload] = try cases.map { try workload(work, $0) }
        works.append(try CopyWork(cases[0], effort, threads: 1))
        let samples = try Samples(of: works, effort)
        let figures = try cases.enumerated().map { index, wanted in
            try Figure(work, wanted, effort, samples, at: index, copyAt: cases.count)
        }
        for figure in figures { print(figure.line) }
        report.figures += figures
        return (figures, samples)
    }

    private func workload(_ work: Work, _ wanted: Case) throws -> any Workload {
        let ring = try effort.ring(wanted)
        return switch work {
        case .inPlace, .copied: try ElementWork(wanted, inPlace: work == .inPlace, ring: ring, still: still.path)
        case .kernels: try BlendWork(wanted, ring: ring, rendersEach: true)
        case .render: try RenderWork(wanted, ring: ring)
        case .blend: try BlendWork(wanted, ring: ring, rendersEach: false)
        case .memcpy: try CopyWork(wanted, effort, threads: wanted.threads)
        }
    }

    func printHeader() { print(Figure.header) }

    func printLine(_ line: String) { print(line) }

    func add(_ figure: ViewFigure) { report.views.append(figure) }

    func printGoals() {
        guard !report.goals.isEmpty else { return }
        print("")
        print(Goal.header)
        for goal in report.goals { print(goal.line) }
    }

    func add(_ figures: [PipelineFigure]) {
        print(PipelineFigure.header)
        for figure in figures { print(figure.line) }
        report.pipelines = figures
        judge("pipelines: added wall time over the compositor's", figures[1].wallRatio, atMost: 1.0 / 3)
        judge("pipelines: added processor time over the compositor's", figures[1].processorRatio, atMost: 1.0 / 3)
    }

    func judge(_ name: String, _ value: Double, atMost limit: Double) {
        report.goals.append(Goal(name: name, limit: limit, isMost: true, value: value))
    }

    func judge(_ name: String, _ value: Double, atLeast limit: Double) {
        report.goals.append(Goal(name: name, limit: limit, isMost: false, value: value))
    }
}
