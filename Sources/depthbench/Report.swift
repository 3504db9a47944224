import CDepthMatte
import Foundation
import GstBridge

/// All figures of a run, as in its JSON file; `--help` explains the fields.
struct Report: Encodable {
    let tool = "depthbench"
    let version = DEPTHMATTE_VERSION
    let cpu = Report.processorName
    let cores = ProcessInfo.processInfo.activeProcessorCount
    var figures: [Figure] = []
    var views: [ViewFigure] = []
    var pipelines: [PipelineFigure] = []
    var goals: [Goal] = []

    /// As Linux names it; empty elsewhere.
    private static var processorName: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? ""
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let data = try encoder.encode(self)
        do {
            try data.write(to: URL(filePath: path))
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError
            let reason = cause.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
            throw Failure.cannot("\(path) cannot be written: \(reason)")
        }
    }
}

/// The time of one work, and of a memcpy of the same frame. Times are milliseconds for a frame.
struct Figure: Encodable {
    let work: Work
    let width, height: Int
    let format: String
    let depthWidth, depthHeight: Int
    let sigma, gamma: Double
    let upscale, background, scene: String
    let threads, ring, sources, rounds, framesPerRound, frameBytes: Int
    let ms, msLow, msHigh, memcpyMs, msLeast, memcpyMsLeast, ratio: Double
    /// The element's median time from one frame to the next.
    let intervalMs: Double?
    /// By the element's own count of its work.
    let ownMs, ownRatio: Double?

    init(_ work: Work, _ wanted: Case, _ effort: Options.Effort, _ samples: Samples, at index: Int, copyAt copy: Int)
        throws
    {
        self.work = work
        (width, height, format) = (wanted.size.width, wanted.size.height, wanted.format)
        (depthWidth, depthHeight) = (wanted.depth.width, wanted.depth.height)
        (sigma, gamma, threads) = (wanted.sigma, wanted.gamma, wanted.threads)
        (upscale, background, scene) = ("\(wanted.upscale)", wanted.background.rawValue, "\(wanted.scene)")
        ring = try effort.ring(wanted)
        sources = effort.sources ?? ring
        rounds = samples.rounds
        framesPerRound = samples.frames
        frameBytes = try VideoShape(wanted).layout.size
        let times = samples.milliseconds(index)
        let copies = samples.milliseconds(copy)
        (msLow, ms, msHigh) = (quantile(times, 0.25), median(times), quantile(times, 0.75))
        memcpyMs = median(copies)
        (msLeast, memcpyMsLeast) = (times.min() ?? 0, copies.min() ?? 0)
        ratio = samples.ratio(index, to: copy)
        intervalMs = work.usesElement ? median(samples.milliseconds(index) { $0.interval }) : nil
        ownMs = work.usesElement ? median(samples.milliseconds(index) { $0.own }) : nil
        ownRatio = work.usesElement ? samples.ratio(index, to: copy) { $0.own } : nil
    }
}

/// The time of a view of depth, in milliseconds for a frame; the memcpy is of the output frame.
struct ViewFigure: Encodable {
    let name, depthFormat: String
    let depthWidth, depthHeight, width, height: Int
    let format: String
    let ring: Int
    let ms, msLow, msHigh, memcpyMs, ratio: Double
    /// The kernels alone.
    let kernelMs: Double?

    init(_ view: View, ring: Int, _ samples: Samples) {
        (name, depthFormat, format) = (view.name, view.depthFormat, view.format)
        (depthWidth, depthHeight) = (view.depth.width, view.depth.height)
        (width, height) = (view.size.width, view.size.height)
        self.ring = ring
        let times = samples.milliseconds(0)
        (msLow, ms, msHigh) = (quantile(times, 0.25), median(times), quantile(times, 0.75))
        memcpyMs = median(samples.milliseconds(1))
        ratio = samples.ratio(0, to: 1)
        kernelMs = view.kernel.map { _ in median(samples.milliseconds(2)) }
    }
}

/// The time of a pipeline for a frame, and how much of it is not that of its sources.
struct PipelineFigure: Encodable {
    let name: String
    /// Milliseconds of wall time, and added time over that of the compositor: medians of the rounds' ratios.
    let wallMs, addedWallMs, wallRatio: Double
    /// The same in processor time, of all threads together.
    let cpuMs, addedCpuMs, cpuRatio: Double
}

/// One of the project's goals, and its measured value.
struct Goal: Encodable {
    let goal: String
    let limit: Double
    /// The limit is an upper one, or else a lower one.
    let atMost: Bool
    let value: Double
    let reached: Bool

    init(_ goal: String, _ value: Double, atMost limit: Double) {
        (self.goal, self.value, self.limit, atMost, reached) = (goal, value, limit, true, value <= limit)
    }

    init(_ goal: String, _ value: Double, atLeast limit: Double) {
        (self.goal, self.value, self.limit, atMost, reached) = (goal, value, limit, false, value >= limit)
    }
}

// MARK: - As tables

/// A line of a table.
protocol TableRow {
    /// Titles and widths; those of text, which begins at the left, are negative.
    static var columns: [(String, Int)] { get }
    var cells: [String] { get }
}

extension TableRow {
    static var header: String { line(columns.map(\.0)) }
    var line: String { Self.line(cells) }

    private static func line(_ cells: [String]) -> String {
        zip(cells, columns.map(\.1)).map { cell, width in
            let space = String(repeating: " ", count: max(abs(width) - cell.count, 0))
            return width < 0 ? cell + space : space + cell
        }.joined(separator: " ")
    }
}

extension Figure: TableRow {
    static let columns = [
        ("work", -8), ("video", -14), ("depth", -9), ("sigma", -5), ("gamma", -5), ("upscale", -8), ("background", -11),
        ("scene", -12), ("threads", 7), ("ms", 9), ("own", 9), ("memcpy", 8), ("ratio", 7), ("own ratio", 9),
    ]

    var cells: [String] {
        [
            work.rawValue, "\(width)x\(height) \(format)", "\(depthWidth)x\(depthHeight)",
            String(format: "%g", sigma), String(format: "%g", gamma), upscale, background, scene, "\(threads)",
            fixed(ms, 3), fixed(ownMs, 3), fixed(memcpyMs, 3), fixed(ratio, 2), fixed(ownRatio, 2),
        ]
    }
}

extension ViewFigure: TableRow {
    static let columns = [
        ("view", -35), ("depth", -19), ("output", -17), ("ms", 8), ("kernel", 8), ("memcpy", 8), ("ratio", 7),
    ]

    var cells: [String] {
        [
            name, "\(depthWidth)x\(depthHeight) \(depthFormat)", "\(width)x\(height) \(format)", fixed(ms, 3),
            fixed(kernelMs, 3), fixed(memcpyMs, 3), fixed(ratio, 2),
        ]
    }
}

extension PipelineFigure: TableRow {
    static let columns = [
        ("pipeline", -27), ("ms", 9), ("added", 9), ("ratio", 9), ("CPU ms", 9), ("added", 9), ("ratio", 9),
    ]

    var cells: [String] {
        [
            name, fixed(wallMs, 3), fixed(addedWallMs, 3), fixed(wallRatio, 2), fixed(cpuMs, 3), fixed(addedCpuMs, 3),
            fixed(cpuRatio, 2),
        ]
    }
}

extension Goal: TableRow {
    static let columns = [("goal", -63), ("limit", 8), ("value", 8), ("reached", -7)]

    var cells: [String] {
        [goal, (atMost ? "<= " : ">= ") + fixed(limit, 2), fixed(value, 2), reached ? "yes" : "no"]
    }
}

/// A number with so many digits behind the point; nothing for none.
private func fixed(_ value: Double?, _ digits: Int) -> String { value.map { String(format: "%.\(digits)f", $0) } ?? "" }
