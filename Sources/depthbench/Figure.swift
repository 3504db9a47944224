import GstBridge

/// One line of the table: what one work took, and a memcpy of the same frame beside it.
struct Figure {
    let work: Work
    let wanted: Case
    /// Frames that were used in turn, and those that memcpy read in turn.
    let ring: Int
    let sources: Int
    let rounds: Int
    let framesPerRound: Int
    /// Bytes of a frame, padding included.
    let frameBytes: Int
    /// Milliseconds for a frame: median and quartiles of the rounds.
    let time: Double
    let low: Double
    let high: Double
    let copy: Double
    /// The shortest rounds: what a machine that others work on too lets through.
    let least: Double
    let copyLeast: Double
    /// Time over memcpy.
    let ratio: Double
    /// The element's median time from one frame to the next.
    let interval: Double?
    /// The element's own count of its work.
    let own: Double?
    let ownRatio: Double?

    init(_ work: Work, _ wanted: Case, _ effort: Options.Effort, _ samples: Samples, at index: Int, copyAt copy: Int)
        throws
    {
        self.work = work
        self.wanted = wanted
        ring = try effort.ring(wanted)
        sources = effort.sources ?? ring
        rounds = samples.rounds
        framesPerRound = samples.frames
        frameBytes = try VideoShape(wanted).layout.size
        let times = samples.values(index) { $0.frame / 1e6 }
        time = median(times)
        low = quantile(times, 0.25)
        high = quantile(times, 0.75)
        self.copy = median(samples.values(copy) { $0.frame / 1e6 })
        least = times.min() ?? 0
        copyLeast = samples.values(copy) { $0.frame / 1e6 }.min() ?? 0
        ratio = samples.ratio(index, to: copy)
        interval = work.usesElement ? median(samples.values(index) { $0.interval.map { $0 / 1e6 } }) : nil
        own = work.usesElement ? median(samples.values(index) { $0.own.map { $0 / 1e6 } }) : nil
        ownRatio = work.usesElement ? samples.ratio(index, to: copy) { $0.own } : nil
    }
}

// MARK: - As a table

extension Figure {
    static let header = line([
        "work", "video", "depth", "sigma", "gamma", "upscale", "background", "scene", "threads", "ms", "own", "memcpy",
        "ratio", "own ratio",
    ])

    var line: String {
        Figure.line([
            work.rawValue, "\(wanted.size) \(wanted.format)", "\(wanted.depth)", short(wanted.sigma),
            short(wanted.gamma), wanted.upscale.name, wanted.background.rawValue, "\(wanted.scene)",
            "\(wanted.threads)", fixed(time, 3), own.map { fixed($0, 3) } ?? "", fixed(copy, 3), fixed(ratio, 2),
            ownRatio.map { fixed($0, 2) } ?? "",
        ])
    }

    private static let widths = [8, 14, 9, 5, 5, 8, 11, 12, 7, 9, 9, 8, 7, 9]

    private static func line(_ cells: [String]) -> String {
        zip(cells, widths).enumerated().map { index, cell in
            index < 8 ? padded(cell.0, to: cell.1) : rightAligned(cell.0, to: cell.1)
        }.joined(separator: " ")
    }
}

/// One of the project's goals, and how far it is reached.
struct Goal {
    let name: String
    let limit: Double
    /// Whether the value must not be above the limit, or else not below it.
    let isMost: Bool
    let value: Double

    var isReached: Bool { isMost ? value <= limit : value >= limit }

    static let header =
        padded("goal", to: 64) + rightAligned("limit", to: 9) + rightAligned("value", to: 9) + "  reached"

    var line: String {
        padded(name, to: 64) + rightAligned((isMost ? "<= " : ">= ") + fixed(limit, 2), to: 9)
            + rightAligned(fixed(value, 2), to: 9) + "  " + (isReached ? "yes" : "no")
    }
}

/// Everything that one run measured.
struct Report {
    var figures: [Figure] = []
    var views: [ViewFigure] = []
    var pipelines: [PipelineFigure] = []
    var goals: [Goal] = []
}
