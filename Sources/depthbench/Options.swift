import GstBridge

/// The parsed command line.
struct Options {
    enum Command: String, CaseIterable {
        case table, goals, sweep, grid, views, pipelines, help
    }

    var command = Command.table
    /// The values that were asked for along axes, by their arguments.
    private var given: [String: [String]] = [:]
    private var works: [Work]?
    var effort = Effort()
    var json: String?

    /// How long to measure, and over how much memory.
    struct Effort {
        var rounds = 25
        /// Seconds for one figure, after which no further round begins; three rounds are made in any case.
        var seconds = 1.5
        /// Frames that are used in turn; nil = as many as leave the cache between their uses.
        var ring: Int?
        /// Frames that memcpy reads in turn; nil = as many as the ring has.
        var sources: Int?

        /// How many frames are used in turn: by default as many as fill 64 MiB, but 4 to 64.
        ///
        /// A camera's frames come from memory that was last touched many frames ago. Caches do not hold 64 MiB: many
        /// processors have 32 MB for all of their cores.
        func ring(_ wanted: Case) throws -> Int {
            let filling = ((64 << 20) - 1) / max(try VideoShape(wanted).layout.size, 1) + 1
            return ring ?? min(max(filling, 4), 64)
        }
    }

    // MARK: Reading the command line

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        if let first = rest.first, !first.hasPrefix("-") {
            guard let command = Command(rawValue: first) else {
                throw Failure.usage(
                    "'\(first)' is no command: \(Command.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self.command = command
            rest = rest.dropFirst()
        }
        while let name = rest.popFirst() {
            if name == "--help" || name == "-h" {
                command = .help
                return
            }
            guard let text = rest.popFirst() else { throw Failure.usage("\(name) needs a value") }
            try take(name, text)
        }
        if command == .goals || command == .views, !given.isEmpty || works != nil {
            throw Failure.usage(
                "\(command) measures given cases; only --rounds, --seconds, --ring, --sources and --json change it")
        }
    }

    private mutating func take(_ name: String, _ text: String) throws {
        func one<Value: LosslessStringConvertible>(of range: ClosedRange<Value>) throws -> Value {
            guard let value = number(text, in: range) else {
                throw Failure.usage("\(name): '\(text)' is not from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
        switch name {
        case "--work":
            works = try Options.list(text).map { text in
                if let work = Work(rawValue: text) { return work }
                throw Failure.usage("\(name): there is no work '\(text)'")
            }
        case "--rounds": effort.rounds = try one(of: 1...100_000)
        case "--seconds": effort.seconds = try one(of: 0.001...3600)
        case "--ring": effort.ring = try one(of: 1...64)
        case "--sources": effort.sources = try one(of: 1...64)
        case "--json": json = text
        default:
            guard let axis = Axis.all.first(where: { $0.argument == name }) else {
                throw Failure.usage("there is no argument '\(name)'")
            }
            given[name] = Options.list(text)
            for text in Options.list(text) { _ = try axis.applied(text, to: Case()) }
        }
    }

    /// The parts between commas.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    // MARK: Cases

    /// The case from which tables depart: the first of the values that were given, else the usual ones.
    func usual() throws -> Case {
        try Axis.all.reduce(Case()) { wanted, axis in
            try given[axis.argument].map { try axis.applied($0[0], to: wanted) } ?? wanted
        }
    }

    /// The works and cases that a table, sweep or grid measures.
    func plan() throws -> [(work: Work, wanted: Case)] {
        func lines(_ cases: [Case], _ works: [Work]) -> [(work: Work, wanted: Case)] {
            cases.flatMap { wanted in works.filter { $0.canRun(wanted) }.map { ($0, wanted) } }
        }
        let usual = try usual()
        // Cases that differ from the usual one in one value.
        let departures = try Axis.all.flatMap { axis in
            try (given[axis.argument] ?? axis.values).map { try axis.applied($0, to: usual) }.filter { $0 != usual }
        }
        return switch command {
        case .table: lines([usual], works ?? Work.usual) + lines(departures, works ?? [.inPlace])
        case .sweep: lines([usual] + departures, works ?? Work.usual)
        default: lines(try combinations(), works ?? Work.usual)
        }
    }

    /// Every combination of what was given.
    private func combinations() throws -> [Case] {
        try Axis.all.reduce([Case()]) { cases, axis in
            guard let texts = given[axis.argument] else { return cases }
            return try cases.flatMap { wanted in try texts.map { try axis.applied($0, to: wanted) } }
        }
    }
}

// MARK: - Help

extension Options {
    static let help = """
        Times depthmatte and its parts, and the elements that show depth, and beside each figure a memcpy of the same frame.

        usage: depthbench [COMMAND] [ARGUMENT VALUE]...

          table      the usual case by each work, and the element in place along each axis; half a minute (the default)
          goals      the cases that the project has goals for, and whether they are reached
          sweep      each work along each axis, one after the other
          grid       every combination of the values that are given
          views      the elements that show depth, led by a wall of 640x480 samples with noise and holes
          pipelines  whole pipelines: what depthmatte adds to its sources, and what a compositor of two layers adds

        In a table or sweep, the first value given for an axis becomes the usual one, and the others are what is
        tried along that axis. The usual case: 1920x1080 I420, depth 640x480, sigma 5, gamma 0.5, bicubic, a still
        image behind a person over a quarter of the frame, one thread, in place.

          --work NAME,...        in-place, copied, kernels, render, blend, memcpy
          --size WxH,...         of the video
          --format NAME,...      of the video: I420, NV12, BGRA and so on
          --depth WxH,...        size of the depth map
          --sigma N,...          blur-radius, 0 to 50
          --gamma N,...          0.01 to 10
          --upscale NAME,...     bicubic, bilinear
          --method NAME,...      threshold, fusion; kernels, render and blend have no video and use the threshold
          --detail NAME,...      of fusion: full, half
          --background NAME,...  image, color, stream, transparent
          --scene NAME,...       person, noisy, checkerboard, slope, or the per cent that an ellipse covers
          --threads N,...        max-threads of the element, or parts of a memcpy, 1 to 64
          --rounds N             rounds for each figure, at most (25)
          --seconds N            seconds for each figure, about (1.5)
          --ring N               frames that are used in turn (as many as fill 64 MiB, 4 to 64); fewer are warmer
          --sources N            frames that memcpy reads in turn (as --ring)
          --json FILE            writes every figure

        Work and memcpy take turns, round by round. Times are medians over the rounds; a ratio is the median of the
        rounds' ratios. Both go through as many frames in turn, the memcpy from one such ring to another: as many as fill
        64 MiB, so that each is found in memory and not in a cache, as a camera's are; --ring gives another number. With
        --sources 1 the memcpy reads one frame only, as warm in the cache as the background, which is one still, or a
        ring of its own with --background stream. "own" is what the element says in its property stats; "ms" of the element is
        wall time from frame to frame behind it, with all that GStreamer adds, while others wait in front of it.
        What one thread does is timed on one processor, with the memcpy and all threads that surround it, unless it is
        compared with what several do (Linux).
        --work memcpy, which is timed only where it is asked for, is the memcpy itself in as many parts as --threads says.
        A frame that gains an alpha channel (--background transparent with I420) cannot be worked on in place.

        Fields of the JSON file: tool, version, cpu, cores; figures, a list of
          work, width, height, format, depth_width, depth_height, sigma, gamma, upscale, background, scene, threads,
          ring, sources, rounds, frames_per_round    what was measured
          frame_bytes                   bytes of a frame, which the memcpy copies
          ms, ms_low, ms_high           for a frame: median and quartiles of the rounds
          memcpy_ms                     for the same frame: median of the rounds
          ms_least, memcpy_ms_least     the shortest rounds, on a machine that has other work too
          ratio                         time over memcpy: median of the rounds' ratios
          interval_ms                   the element's median time from one frame to the next; not for kernels
          own_ms, own_ratio             the same as ms and ratio, by the element's stats; not for kernels
        views, a list of name, depth_format, depth_width, depth_height, width, height, format, ring, ms, ms_low,
          ms_high, memcpy_ms, ratio, kernel_ms: for a frame; the memcpy is of what leaves, kernel_ms is without GStreamer
        pipelines, a list of name, wall_ms, added_wall_ms, wall_ratio, cpu_ms, added_cpu_ms, cpu_ratio: for a frame;
          added is what the sources alone do not take, ratios are those of added times to the compositor's
        goals, a list of goal, limit, at_most (else at least), value, reached

        The exit status is 0; 1 where something cannot be done; 2 where an argument is wrong.
        """
}
