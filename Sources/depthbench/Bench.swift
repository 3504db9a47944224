import CGStreamer
import Foundation

/// Measures, prints each line as it comes, and keeps them all.
final class Bench {
    private(set) var report = Report()
    private let effort: Options.Effort
    private let processors = Processors()
    private let folder = FileManager.default.temporaryDirectory.appending(path: "depthbench-\(UUID().uuidString)")
    /// The picture behind the person.
    private var still: String { folder.appending(path: "still.png").path }

    init(_ effort: Options.Effort) throws {
        self.effort = effort
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let pipeline = try LaunchedPipeline(
            """
            videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format=RGB,width=480,height=270
            ! pngenc ! filesink location="\(still)"
            """)
        try pipeline.set(GST_STATE_PLAYING)
        try pipeline.waitForEnd()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Measures each work by itself, with memcpy in turn.
    func measure(_ list: [(work: Work, wanted: Case)]) throws {
        if !list.isEmpty { say(Figure.header) }
        for (work, wanted) in list { try measure(work, wanted) }
    }

    /// Measures a work in several cases, which take turns with each other and with memcpy of the first one's frame.
    @discardableResult
    private func measure(_ work: Work, _ cases: Case...) throws -> Samples {
        processors.use(onlyOne: cases.allSatisfy { $0.threads == 1 })
        let works: [any Workload] = try cases.map { try workload(work, $0) }
        let samples = try Samples(of: works + [try CopyWork(cases[0], effort, threads: 1)], effort)
        for (index, wanted) in cases.enumerated() {
            let figure = try Figure(work, wanted, effort, samples, at: index, copyAt: cases.count)
            say(figure.line)
            report.figures.append(figure)
        }
        return samples
    }

    private func workload(_ work: Work, _ wanted: Case) throws -> any Workload {
        let ring = try effort.ring(wanted)
        return switch work {
        case .inPlace, .copied: try ElementWork(wanted, inPlace: work == .inPlace, ring: ring, still: still)
        case .kernels: try BlendWork(wanted, ring: ring, rendersEach: true)
        case .render: try RenderWork(wanted, ring: ring)
        case .blend: try BlendWork(wanted, ring: ring, rendersEach: false)
        case .memcpy: try CopyWork(wanted, effort, threads: wanted.threads)
        }
    }

    // MARK: Goals

    /// Measures the cases that the project has goals for, in place and by the element's wall time.
    func measureGoals() throws {
        func wanted(_ arguments: String) throws -> Case {
            try Options(arguments.split(separator: " ").map { String($0) }).usual()
        }
        let goals = [
            ("1920x1080 I420, depth 640x480", "", 1.8),
            ("the same with sensor noise and 2 % holes", "--scene noisy", 3),
            ("1920x1080 BGRA", "--format BGRA", 1.2),
            ("3840x2160 I420, depth 1280x720", "--size 3840x2160 --depth 1280x720", 1.3),
            ("checkerboard, sigma 1", "--scene checkerboard --sigma 1", 5),
        ]
        say(Figure.header)
        for (name, arguments, limit) in goals {
            let ratio = try measure(.inPlace, wanted(arguments)).ratio(0, to: 1)
            report.goals.append(Goal("\(name): times a memcpy", ratio, atMost: limit))
            // For comparison: the same without GStreamer.
            try measure(.kernels, wanted(arguments))
        }
        let large = "--size 3840x2160 --depth 1280x720"
        let speed = try measure(.inPlace, wanted(large), wanted("\(large) --threads 2")).ratio(0, to: 1)
        report.goals.append(Goal("3840x2160: speed of two threads over one", speed, atLeast: 1.7))
        let blur = try measure(.inPlace, wanted("--sigma 1"), wanted("--sigma 50")).ratio(1, to: 0)
        report.goals.append(Goal("blur-radius 50 against 1: times the time", blur, atMost: 2.5))
    }

    func printGoals() {
        guard !report.goals.isEmpty else { return }
        say("\n" + Goal.header)
        for goal in report.goals { say(goal.line) }
    }

    // MARK: Views and pipelines

    /// Measures the elements that show depth, each beside a memcpy of what leaves it.
    func measureViews() throws {
        say(ViewFigure.header)
        for view in View.all {
            let ring = try effort.ring(view.outputCase)
            processors.use(onlyOne: view.threads == 1)
            let samples = try Samples(of: try view.works(ring: ring, effort), effort)
            let figure = ViewFigure(view, ring: ring, samples)
            say(figure.line)
            report.views.append(figure)
            if let limit = view.goal {
                report.goals.append(Goal("\(view.name), \(view.depth): times a memcpy", figure.ratio, atMost: limit))
            }
        }
    }

    /// Compares what depthmatte and a compositor add to the same sources.
    func measurePipelines(_ wanted: Case) throws {
        processors.use(onlyOne: false)
        let map = folder.appending(path: "map.depth")
        try Data(DepthShape(wanted).map(wanted.scene, number: 0)).write(to: map)
        let pipelines = Pipelines(wanted: wanted, still: still, depthMap: map.path).all
        let samples = try Samples(of: pipelines.flatMap { [$0.whole, $0.sources] }, effort)
        func added(_ index: Int, _ time: (Timing) -> Double?) -> [Double] {
            zip(samples.milliseconds(2 * index, time), samples.milliseconds(2 * index + 1, time)).map { $0 - $1 }
        }
        func ratio(_ index: Int, _ time: (Timing) -> Double?) -> Double {
            median(zip(added(index, time), added(0, time)).map { $0 / $1 })
        }
        report.pipelines = pipelines.indices.map { index in
            PipelineFigure(
                name: pipelines[index].name,
                wallMs: median(samples.milliseconds(2 * index)), addedWallMs: median(added(index) { $0.frame }),
                wallRatio: ratio(index) { $0.frame },
                cpuMs: median(samples.milliseconds(2 * index) { $0.own }), addedCpuMs: median(added(index) { $0.own }),
                cpuRatio: ratio(index) { $0.own })
        }
        say(PipelineFigure.header)
        for figure in report.pipelines { say(figure.line) }
    }
}
