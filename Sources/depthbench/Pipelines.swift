/// Launch lines that are compared: depthmatte, a compositor with two layers, and the sources of each alone.
struct Pipelines {
    private let wanted: Case
    private let still: String
    private let depthMap: String

    init(_ wanted: Case, still: String, depthMap: String) {
        self.wanted = wanted
        self.still = still
        self.depthMap = depthMap
    }

    /// Each with the pipeline that has the same sources and nothing else.
    func all() -> [(name: String, whole: PipelineWork, sources: PipelineWork)] {
        [
            ("compositor, two layers", PipelineWork(compositor), PipelineWork { video($0) + sink + behind($0) + sink }),
            ("depthmatte, image behind", PipelineWork(overImage), PipelineWork { video($0) + sink + depth($0) + sink }),
            (
                "depthmatte, stream behind", PipelineWork(overStream),
                PipelineWork { video($0) + sink + behind($0) + sink + depth($0) + sink }
            ),
        ]
    }

    // MARK: Lines

    /// The upper layer is half transparent: beneath an opaque one the compositor would draw nothing.
    private func compositor(_ frames: Int) -> String {
        "compositor name=both max-threads=\(wanted.threads) sink_1::alpha=0.5" + sink
            + behind(frames) + "! both.sink_0 " + video(frames) + "! both.sink_1 "
    }

    private func overImage(_ frames: Int) -> String {
        depthmatte + "background-mode=image background=\"\(still)\"" + sink
            + video(frames) + "! matte.video " + depth(frames) + "! matte.depth "
    }

    private func overStream(_ frames: Int) -> String {
        depthmatte + "background-mode=stream" + sink + video(frames) + "! matte.video "
            + depth(frames) + "! matte.depth " + behind(frames) + "! matte.background "
    }

    private var depthmatte: String {
        "depthmatte name=matte anchor=fixed cutoff=\(Scene.cutoff) blur-radius=\(wanted.sigma) gamma=\(wanted.gamma) "
            + "upscale=\(wanted.upscale.name) max-threads=\(wanted.threads) "
    }

    private let sink = " ! fakesink sync=false "

    /// Plain colours are next to no work for their source.
    private func video(_ frames: Int) -> String { source("black", frames) }
    private func behind(_ frames: Int) -> String { source("blue", frames) }

    private func source(_ pattern: String, _ frames: Int) -> String {
        "videotestsrc pattern=\(pattern) num-buffers=\(frames) ! video/x-raw,format=\(wanted.format),"
            + "width=\(wanted.size.width),height=\(wanted.size.height),framerate=30/1 "
    }

    /// One map, sent again and again.
    private func depth(_ frames: Int) -> String {
        "multifilesrc location=\"\(depthMap)\" num-buffers=1 caps=video/x-raw,format=GRAY16_LE,"
            + "width=\(wanted.depth.width),height=\(wanted.depth.height),framerate=30/1 "
            + "! imagefreeze num-buffers=\(frames) "
    }
}

/// What a pipeline takes for a frame, and how much of that its sources alone do not.
struct PipelineFigure {
    let name: String
    /// Milliseconds of wall time.
    let wall: Double
    let addedWall: Double
    /// Milliseconds of processor time, of all threads together.
    let processor: Double
    let addedProcessor: Double
    /// Added time over that of the compositor: medians of the rounds' ratios.
    let wallRatio: Double
    let processorRatio: Double

    static let header =
        padded("pipeline", to: 28)
        + ["ms", "added", "ratio", "CPU ms", "added", "ratio"].map { rightAligned($0, to: 10) }.joined()

    var line: String {
        let times = [
            fixed(wall, 3), fixed(addedWall, 3), fixed(wallRatio, 2), fixed(processor, 3), fixed(addedProcessor, 3),
            fixed(processorRatio, 2),
        ]
        return padded(name, to: 28) + times.map { rightAligned($0, to: 10) }.joined()
    }
}

extension Bench {
    /// Compares what depthmatte and a compositor add to the same sources.
    func measurePipelines(_ wanted: Case) throws {
        processors.use(onlyOne: false)
        let depthMap = try TemporaryFile.depth(wanted)
        let pipelines = Pipelines(wanted, still: still.path, depthMap: depthMap.path).all()
        let samples = try Samples(of: pipelines.flatMap { [$0.whole, $0.sources] }, effort)
        func added(_ index: Int, _ time: (Timing) -> Double?) -> [Double] {
            zip(samples.values(2 * index, time), samples.values(2 * index + 1, time)).map { $0 - $1 }
        }
        func ratio(_ index: Int, _ time: (Timing) -> Double?) -> Double {
            median(zip(added(index, time), added(0, time)).map { $0 / $1 })
        }
        let figures = pipelines.indices.map { index in
            PipelineFigure(
                name: pipelines[index].name, wall: median(samples.values(2 * index) { $0.frame }) / 1e6,
                addedWall: median(added(index) { $0.frame }) / 1e6,
                processor: median(samples.values(2 * index) { $0.own }) / 1e6,
                addedProcessor: median(added(index) { $0.own }) / 1e6, wallRatio: ratio(index) { $0.frame },
                processorRatio: ratio(index) { $0.own })
        }
        add(figures)
    }
}
