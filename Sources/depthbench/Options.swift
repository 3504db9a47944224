import DepthKernels
import DepthMattePlugin
import GstBridge

/// What the command line asks for.
struct Options {
    enum Command: String, CaseIterable {
        case table, goals, sweep, grid, views, pipelines, help
    }

    var command = Command.table
    var axes = Axes()
    var works: [Work]?
    var effort = Effort()
    var json: String?

    /// The values that were asked for along each axis; nil where the command decides.
    struct Axes {
        var sizes: [Size]?
        var formats: [String]?
        var depths: [Size]?
        var sigmas: [Double]?
        var gammas: [Double]?
        var upscales: [Upscale]?
        var backgrounds: [Behind]?
        var scenes: [Scene]?
        var threads: [Int]?
    }

    /// How long to measure, and over how much memory.
    struct Effort {
        var rounds = 25
        /// Seconds for one figure, after which no further round begins; three rounds are made in any case.
        var seconds = 1.5
        /// Frames that are used in turn; nil = as many as leave the cache between their uses.
        var ring: Int?
        /// Frames that memcpy reads in turn; nil = as many as the ring has.
        var sources: Int?

        /// Bytes that caches do not hold: twice the 32 MB that many processors have for all of their cores.
        private static let bytesBeyondCaches = 64 << 20

        /// How many frames of so many bytes are used in turn: by default as many as fill 64 MiB, but 4 to 64.
        ///
        /// A camera's frames come from memory that was last touched many frames ago.
        func ring(frameBytes: Int) -> Int {
            let filling = (Effort.bytesBeyondCaches - 1) / max(frameBytes, 1) + 1
            return ring ?? min(max(filling, 4), 64)
        }

        func ring(_ wanted: Case) throws -> Int { ring(frameBytes: try VideoShape(wanted).layout.size) }
    }
}

// MARK: - Reading the command line

extension Options {
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
            guard let row = Options.rows.first(where: { $0.name == name }) else {
                throw Failure.usage("there is no argument '\(name)'")
            }
            guard let text = rest.popFirst() else { throw Failure.usage("\(name) needs a value: \(row.placeholder)") }
            try row.take(&self, Argument(name: name, text: text))
        }
        if command == .goals || command == .views, axes.isGiven || works != nil {
            throw Failure.usage(
                "\(command.rawValue) measures given cases; only --rounds, --seconds, --ring, --sources and --json change it"
            )
        }
    }

    /// One argument: how it is called, what it means, and where its value goes.
    struct Row {
        let name: String
        let placeholder: String
        let meaning: String
        let take: @Sendable (inout Options, Argument) throws -> Void
    }

    static let rows: [Row] = [
        Row(name: "--work", placeholder: "NAME,...", meaning: Work.allCases.map(\.rawValue).joined(separator: ", ")) {
            $0.works = try $1.names(Work.self)
        },
        Row(name: "--size", placeholder: "WxH,...", meaning: "of the video") { $0.axes.sizes = try $1.sizes() },
        Row(name: "--format", placeholder: "NAME,...", meaning: "of the video: I420, NV12, BGRA and so on") {
            $0.axes.formats = try $1.list(like: "I420") { name in VideoFormat.all.first { $0.name == name }?.name }
        },
        Row(name: "--depth", placeholder: "WxH,...", meaning: "size of the depth map") {
            $0.axes.depths = try $1.sizes()
        },
        Row(name: "--sigma", placeholder: "N,...", meaning: "blur-radius, 0 to 50") {
            $0.axes.sigmas = try $1.numbers(0...50)
        },
        Row(name: "--gamma", placeholder: "N,...", meaning: "0.01 to 10") {
            $0.axes.gammas = try $1.numbers(0.01...10)
        },
        Row(name: "--upscale", placeholder: "NAME,...", meaning: "bicubic, bilinear") {
            $0.axes.upscales = try $1.list(like: "bicubic") { name in Upscale.allCases.first { $0.name == name } }
        },
        Row(
            name: "--background", placeholder: "NAME,...",
            meaning: Behind.allCases.map(\.rawValue).joined(separator: ", ")
        ) { $0.axes.backgrounds = try $1.names(Behind.self) },
        Row(
            name: "--scene", placeholder: "NAME,...",
            meaning: "person, noisy, checkerboard, or the per cent that an ellipse covers"
        ) { $0.axes.scenes = try $1.list(like: "person or 25%") { Scene($0) } },
        Row(
            name: "--threads", placeholder: "N,...",
            meaning: "max-threads of the element, or parts of a memcpy, 1 to 64"
        ) {
            $0.axes.threads = try $1.list(like: "2") { text in Int(text).flatMap { 1...64 ~= $0 ? $0 : nil } }
        },
        Row(name: "--rounds", placeholder: "N", meaning: "rounds for each figure, at most (25)") {
            $0.effort.rounds = try $1.count(1...100_000)
        },
        Row(name: "--seconds", placeholder: "N", meaning: "seconds for each figure, about (1.5)") {
            $0.effort.seconds = try $1.number(0.001...3600)
        },
        Row(
            name: "--ring", placeholder: "N",
            meaning: "frames that are used in turn (as many as fill 64 MiB, 4 to 64); fewer are warmer"
        ) {
            $0.effort.ring = try $1.count(1...64)
        },
        Row(name: "--sources", placeholder: "N", meaning: "frames that memcpy reads in turn (as --ring)") {
            $0.effort.sources = try $1.count(1...64)
        },
        Row(name: "--json", placeholder: "FILE", meaning: "writes every figure") { $0.json = $1.text },
    ]
}

extension Options.Axes {
    var isGiven: Bool {
        sizes != nil || formats != nil || depths != nil || sigmas != nil || gammas != nil || upscales != nil
            || backgrounds != nil || scenes != nil || threads != nil
    }
}

/// An argument's value as it was typed.
struct Argument {
    let name: String
    let text: String

    /// The parts between commas, each understood by `parse`.
    func list<Value>(like example: String, _ parse: (String) -> Value?) throws -> [Value] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard let value = parse(String(part)) else {
                throw Failure.usage("\(name): '\(part)' is not a value such as \(example)")
            }
            return value
        }
    }

    func names<Name: CaseIterable & RawRepresentable<String>>(_: Name.Type) throws -> [Name] {
        try list(like: Name.allCases.map(\.rawValue).joined(separator: " or ")) { Name(rawValue: $0) }
    }

    func sizes() throws -> [Size] { try list(like: "1920x1080") { Size($0) } }

    func numbers(_ range: ClosedRange<Double>) throws -> [Double] {
        try list(like: "\(range.lowerBound) to \(range.upperBound)") { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func number(_ range: ClosedRange<Double>) throws -> Double {
        guard let value = Double(text), range.contains(value) else {
            throw Failure.usage("\(name): '\(text)' is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    func count(_ range: ClosedRange<Int>) throws -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw Failure.usage(
                "\(name): '\(text)' is not a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}
