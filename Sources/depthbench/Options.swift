import DepthKernels
import DepthMattePlugin
import GstTestSupport

/// A setting of a case: an argument of the command line, along which tables and sweeps vary the usual case.
struct Axis: Sendable {
    let name: String
    let usual: String
    /// The values that tables and sweeps try where the command line gives none.
    let tried: String
    let help: String
    let isValid: @Sendable (String) -> Bool

    private init(
        _ name: String, _ usual: String, _ tried: String, _ help: String,
        _ isValid: @escaping @Sendable (String) -> Bool
    ) { (self.name, self.usual, self.tried, self.help, self.isValid) = (name, usual, tried, help, isValid) }

    /// A setting with a few values, of which the first is usual.
    private init(_ name: String, oneOf values: String, tried: String = "") {
        self.init(name, list(values)[0], tried, list(values).joined(separator: ", ")) { list(values).contains($0) }
    }

    static let all = [
        Axis(
            "work", "in-place", "",
            """
            in-place (the element may draw on its frames), copied (it may not), kernels (the element without GStreamer:
                             render, which makes the matte, and blend), render, blend; memcpy only where asked for
            """
        ) { (Case.works + ["memcpy"]).contains($0) },
        Axis("size", "1920x1080", "640x360,1280x720,1920x1080,3840x2160", "WxH of the video") { Case.sides($0) != nil },
        Axis("format", "I420", "I420,NV12,BGRA,BGR,YUY2", "of the video: I420, NV12, BGRA and so on") { text in
            VideoFormat.all.contains { $0.name == text }
        },
        Axis("depth", "640x480", "320x240,640x480,1280x720", "WxH of the depth map") { Case.sides($0) != nil },
        Axis("sigma", "5", "0,1,2,5,10,20,50", "blur-radius, 0 to 50") { number($0, 0...50) != nil },
        Axis("gamma", "0.5", "", "0.01 to 10") { number($0, 0.01...10) != nil },
        Axis("upscale", oneOf: "bicubic,bilinear", tried: "bicubic,bilinear"),
        Axis("method", oneOf: "threshold,fusion"),
        Axis("detail", oneOf: "full,half"),
        Axis("depth-sync", oneOf: "report,measured,timestamps", tried: "timestamps,report"),
        Axis("background", oneOf: "image,color,stream,transparent", tried: "image,color,stream,transparent"),
        Axis(
            "scene", "person", "person,noisy,checkerboard,0,10,25,50,75,100",
            """
            person, noisy, checkerboard, slope, or the per cent that an ellipse covers; desk and room: people before a
                             test camera, whose heads the element looks for (in-place and copied)
            """, isScene),
        Axis("threads", "1", "", "max-threads of the element, or parts of a memcpy, 1 to 64") {
            number($0, 1...64) != nil
        },
    ]
}

/// One combination of settings to time.
struct Case: Equatable {
    private var values = Dictionary(uniqueKeysWithValues: Axis.all.map { ($0.name, $0.usual) })

    subscript(name: String) -> String {
        get { values[name] ?? "" }
        set { values[name] = newValue }
    }

    func with(_ name: String, _ value: String) -> Case {
        var other = self
        other[name] = value
        return other
    }

    var video: VideoShape {
        let (width, height) = Case.sides(self["size"]) ?? (0, 0)
        return VideoShape(self["format"], width, height)
    }
    var depth: DepthShape {
        let (width, height) = Case.sides(self["depth"]) ?? (0, 0)
        return DepthShape("GRAY16_LE", width, height)
    }
    var threads: Int { Int(self["threads"]) ?? 1 }

    /// The settings of the kernels, which use the threshold.
    var settings: MatteSettings {
        var settings = MatteSettings()
        settings.cutoff = Case.cutoff
        settings.blurRadius = Double(self["sigma"]) ?? 0
        settings.gamma = Double(self["gamma"]) ?? 1
        settings.upscale = self["upscale"] == "bicubic" ? .bicubic : .bilinear
        return settings
    }

    /// Measured where the command line does not say.
    static let works = ["in-place", "copied", "kernels", "render", "blend"]

    /// The kernels that make alpha are not timed alone.
    var canRun: Bool {
        if filmedScenes[self["scene"]] != nil { return ["in-place", "copied"].contains(self["work"]) }
        return !["kernels", "blend"].contains(self["work"]) || self["background"] != "transparent"
    }

    /// Metres; between the person and the wall.
    static let cutoff = 0.95

    /// Nil for what is not like `1920x1080`, and for sides above 8192.
    static func sides(_ text: String) -> (width: Int, height: Int)? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { number($0, 1...8192) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        return (width, height)
    }
}

/// The parsed command line.
struct Options {
    private(set) var command = "table"
    private var given: [String: [String]] = [:]
    private(set) var rounds = 25
    private(set) var seconds = 1.5
    private(set) var ring: Int?
    private(set) var json: String?

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        if let first = rest.first, !first.hasPrefix("-") { command = rest.removeFirst() }
        let commands = ["table", "sweep", "grid", "views", "help"]
        guard commands.contains(command) else {
            throw Failure(text: "'\(command)' is no command: \(commands.joined(separator: ", "))", status: 2)
        }
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" {
                command = "help"
                return
            }
            guard let text = rest.popFirst() else { throw Failure(text: "\(argument) needs a value", status: 2) }
            try take(argument, text)
        }
        if command == "views", !given.isEmpty {
            throw Failure(text: "views takes only --rounds, --seconds, --ring and --json", status: 2)
        }
    }

    private mutating func take(_ argument: String, _ text: String) throws {
        let failure = Failure(text: "\(argument): '\(text)' is not one of its values; see --help", status: 2)
        func one<T: LosslessStringConvertible>(_ range: ClosedRange<T>) throws -> T {
            guard let value = number(text, range) else { throw failure }
            return value
        }
        switch argument {
        case "--rounds": rounds = try one(1...100_000)
        case "--seconds": seconds = try one(0.001...3600)
        case "--ring": ring = try one(1...64)
        case "--json": json = text
        default:
            guard let axis = Axis.all.first(where: { "--\($0.name)" == argument }) else {
                throw Failure(text: "there is no argument '\(argument)'", status: 2)
            }
            given[axis.name] = list(text)
            guard list(text).allSatisfy(axis.isValid) else { throw failure }
        }
    }

    /// Frames that are used in turn: by default as many as fill 64 MiB, but 4 to 64.
    ///
    /// A camera's frames come from memory that was last touched many frames ago. Caches do not hold 64 MiB: many
    /// processors have 32 MB for all of their cores.
    func ring(frameBytes: Int) -> Int { ring ?? min(max(((64 << 20) - 1) / max(frameBytes, 1) + 1, 4), 64) }

    /// The cases that a table, sweep or grid measures.
    func plan() -> [Case] {
        let works = given["work"] ?? Case.works
        func byWork(_ cases: [Case], _ works: [String]) -> [Case] {
            cases.flatMap { wanted in works.map { wanted.with("work", $0) }.filter(\.canRun) }
        }
        let usual = Axis.all.reduce(Case()) { $0.with($1.name, given[$1.name]?[0] ?? $1.usual) }
        let axes = Axis.all.dropFirst()
        // Cases that differ from the usual one in one value.
        let departures = axes.flatMap { axis in
            (given[axis.name] ?? list(axis.tried)).map { usual.with(axis.name, $0) }.filter { $0 != usual }
        }
        switch command {
        case "table": return byWork([usual], works) + byWork(departures, given["work"] ?? ["in-place"])
        case "sweep": return byWork([usual] + departures, works)
        default:
            let combinations = axes.reduce([usual]) { cases, axis in
                cases.flatMap { wanted in (given[axis.name] ?? [axis.usual]).map { wanted.with(axis.name, $0) } }
            }
            return byWork(combinations, works)
        }
    }

    static var help: String {
        let axes = Axis.all.map { "  --\($0.name) \(String(repeating: " ", count: 12 - $0.name.count))\($0.help)" }
        return """
            Times depthmatte and its parts, and the elements that show depth, and beside each figure a memcpy of the same frame.

            usage: depthbench [COMMAND] [ARGUMENT VALUE]...

              table  the usual case by each work, and the element in place along each axis; half a minute (the default)
              sweep  each work along each axis, one after the other
              grid   every combination of the values that are given
              views  the elements that show depth, led by a wall of 640x480 samples with noise and holes

            Values between commas form a list. In a table or sweep, the first value given for an axis becomes the usual one, and
            the others are tried. The usual case: 1920x1080 I420, depth 640x480, sigma 5, gamma 0.5, bicubic, threshold, a still
            image behind a person over a quarter of the frame, one thread.

            \(axes.joined(separator: "\n"))
              --rounds       for each figure, at most (25)
              --seconds      for each figure, about (1.5); three rounds are made in any case
              --ring         frames that are used in turn (as many as fill 64 MiB, 4 to 64); fewer are warmer
              --json         a file for all figures, a line each

            Work and memcpy take turns, round by round, and go through as many frames, the memcpy from one ring to another.
            Printed are milliseconds for a frame, and how many times the memcpy's time that is: medians over the rounds. "own" is
            what the element says in its property stats; "ms" of the element is wall time from frame to frame behind it, with all
            that GStreamer adds. What one thread does is timed on one processor, with the memcpy and all threads around it
            (Linux). The memcpy of a view is of the picture that leaves.

            A line of the JSON file has the settings of its case as text, and ring, frames (of a round), and for each round ms,
            memcpy_ms and, of depthmatte, own_ms. Tests/speed.py judges such lines.

            The exit status is 0; 1 where something cannot be done; 2 where an argument is wrong.
            """
    }
}

/// The parts between commas.
private func list(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
}

/// The number that a text is; nil for other texts, and outside the range.
private func number<T: LosslessStringConvertible>(_ text: some StringProtocol, _ range: ClosedRange<T>) -> T? {
    T(String(text)).flatMap { range.contains($0) ? $0 : nil }
}
