import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The timing program, as a command: what it measures is for people to judge, that it measures is tested here.
@Suite struct BenchTests {
    private static let program = Places.build.appending(path: "depthbench").path
    /// So small that the whole run takes a second or two.
    private static let tiny = ["--size", "64x36", "--depth", "32x24", "--rounds", "2", "--seconds", "0.01"]

    /// One line of the table.
    private struct Figure: Decodable {
        let work: String
        let width: Int
        let height: Int
        let format: String
        let background: String
        let scene: String
        let sigma: Double
        let ring: Int
        let sources: Int
        let threads: Int
        let rounds: Int
        let frames_per_round: Int
        let frame_bytes: Int
        let ms: Double
        let ms_low: Double
        let ms_high: Double
        let memcpy_ms: Double
        let ratio: Double
        let interval_ms: Double?
        let own_ms: Double?
        let own_ratio: Double?
    }

    private struct Goal: Decodable {
        let goal: String
        let limit: Double
        let at_most: Bool
        let value: Double?
        let reached: Bool
    }

    private struct Pipeline: Decodable {
        let name: String
        let wall_ms: Double
        let cpu_ms: Double
        let added_wall_ms: Double
    }

    private struct View: Decodable {
        let name: String
        let ring: Int
        let ms: Double
        let memcpy_ms: Double
        let ratio: Double
        let kernel_ms: Double?
    }

    private struct Report: Decodable {
        let tool: String
        let cores: Int
        let figures: [Figure]
        let goals: [Goal]
        let pipelines: [Pipeline]
        let views: [View]
    }

    @Test func `the help names every argument`() {
        let result = Command(BenchTests.program, ["--help"]).run()
        #expect(result.status == 0)
        for argument in [
            "--work", "--size", "--format", "--depth", "--sigma", "--gamma", "--upscale", "--background", "--scene",
            "--threads", "--rounds", "--seconds", "--ring", "--sources", "--json",
        ] { #expect(result.output.contains("  \(argument) "), "\(argument)") }
        for command in ["table", "goals", "sweep", "grid", "views", "pipelines"] {
            #expect(result.output.contains("  \(command) "))
        }
    }

    @Test(arguments: [("table", 20), ("sweep", 100)])
    func `a run measures something positive in every line`(command: String, least: Int) throws {
        let folder = try Places.makeFolder()
        let arguments = [command] + BenchTests.tiny + ["--json", "figures.json"]
        let result = Command(BenchTests.program, arguments, in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let data = try Data(contentsOf: folder.appending(path: "figures.json"))
        let report = try JSONDecoder().decode(Report.self, from: data)
        #expect(report.tool == "depthbench" && report.cores > 0 && report.figures.count >= least)
        for figure in report.figures {
            #expect(figure.ms > 0 && figure.memcpy_ms > 0 && figure.ratio > 0, "\(figure)")
            #expect(figure.ms_low <= figure.ms && figure.ms <= figure.ms_high, "\(figure)")
            let isElement = ["in-place", "copied"].contains(figure.work)
            #expect((figure.own_ms != nil) == isElement && (figure.interval_ms != nil) == isElement)
            #expect((figure.own_ratio ?? 1) > 0 && figure.rounds == 2)
        }
        let works = Set(report.figures.map(\.work))
        #expect(works == ["in-place", "copied", "kernels", "render", "blend"])
        #expect(Set(report.figures.map(\.background)) == ["image", "color", "stream", "transparent"])
    }

    @Test(.enabled(if: Command("python3", ["-c", "import matplotlib"]).run().status == 0, "no matplotlib"))
    func `a sweep's figures are drawn`() throws {
        let folder = try Places.makeFolder()
        _ = try grid(BenchTests.tiny + ["--sigma", "0,2,5", "--work", "blend"], in: folder)
        let script = Places.root.appending(path: "Tests/plot_speed.py").path
        let result = Command(script, ["grid.json", "figures.svg"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let drawing = try String(contentsOf: folder.appending(path: "figures.svg"), encoding: .utf8)
        #expect(try XMLDocument(xmlString: drawing).rootElement()?.name == "svg")
    }

    @Test func `a grid measures every combination of what is given`() throws {
        let lists = ["--format", "NV12,BGR", "--sigma", "0,2,50", "--work", "in-place,render", "--scene", "10%,noisy"]
        let figures = try grid(BenchTests.tiny + lists)
        #expect(Set(figures.map { "\($0.work) \($0.format) \($0.sigma) \($0.scene)" }).count == 24)
        #expect(figures.count == 24)
        #expect(figures.allSatisfy { $0.width == 64 && $0.height == 36 })
        #expect(Set(figures.map { "\($0.format) \($0.frame_bytes)" }) == ["NV12 3456", "BGR 6912"])
    }

    @Test func `a memcpy is timed where it is asked for, in parts for threads`() throws {
        let figures = try grid(BenchTests.tiny + ["--work", "memcpy", "--threads", "1,2"])
        #expect(figures.map { "\($0.work) \($0.threads)" } == ["memcpy 1", "memcpy 2"])
        #expect(figures.allSatisfy { $0.ms > 0 && $0.own_ms == nil })
    }

    @Test(arguments: [
        (["64x36"], [64]), (["1920x1080"], [22]), (["3840x2160", "640x480"], [6, 64]),
    ])
    func `as many frames are used in turn as fill 64 MiB, but 64 at most`(sizes: [String], rings: [Int]) throws {
        let figures = try blends(["--size", sizes.joined(separator: ",")])
        #expect(figures.map(\.ring) == rings && figures.map(\.sources) == rings)
        for figure in figures { #expect(figure.frames_per_round >= figure.ring, "\(figure)") }
    }

    @Test func `as many frames are used in turn as somebody asks for`() throws {
        let figures = try blends(["--size", "64x36,640x480", "--ring", "3", "--sources", "1"])
        #expect(figures.map(\.ring) == [3, 3] && figures.map(\.sources) == [1, 1])
    }

    /// The rows of I420 frames and of the second half of the kernels.
    private func blends(_ arguments: [String]) throws -> [Figure] {
        try grid(["--work", "blend", "--depth", "32x24", "--rounds", "1", "--seconds", "0.01"] + arguments)
    }

    private func grid(_ arguments: [String], in given: URL? = nil) throws -> [Figure] {
        let folder = try given ?? Places.makeFolder()
        let result = Command(BenchTests.program, ["grid"] + arguments + ["--json", "grid.json"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        return try JSONDecoder().decode(Report.self, from: Data(contentsOf: folder.appending(path: "grid.json")))
            .figures
    }

    @Test func `the goals are judged by what is measured`() throws {
        let folder = try Places.makeFolder()
        let quick = ["--rounds", "1", "--seconds", "0.01", "--ring", "1"]
        let result = Command(BenchTests.program, ["goals"] + quick + ["--json", "goals.json"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let data = try Data(contentsOf: folder.appending(path: "goals.json"))
        let report = try JSONDecoder().decode(Report.self, from: data)
        #expect(report.goals.count == 12 && report.views.count == 10)
        for goal in report.goals {
            #expect(result.output.contains(goal.goal))
            let isReached = goal.value.map { goal.at_most ? $0 <= goal.limit : $0 >= goal.limit } ?? false
            #expect(goal.reached == isReached)
        }
        let usual = try #require(report.figures.first)
        #expect("\(usual.width)x\(usual.height) \(usual.format) \(usual.scene)" == "1920x1080 I420 person")
        #expect(report.goals.first?.value == usual.ratio)
    }

    @Test func `the views of depth are measured beside a memcpy of what leaves`() throws {
        let folder = try Places.makeFolder()
        let quick = ["--rounds", "1", "--seconds", "0.01", "--ring", "1"]
        let result = Command(BenchTests.program, ["views"] + quick + ["--json", "views.json"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let data = try Data(contentsOf: folder.appending(path: "views.json"))
        let report = try JSONDecoder().decode(Report.self, from: data)
        #expect(report.goals.count == 5 && report.views.count == 10 && report.figures.isEmpty)
        for view in report.views {
            #expect(view.ms > 0 && view.memcpy_ms > 0 && view.ratio > 0 && view.ring == 1, "\(view)")
            #expect(
                view.kernel_ms.map { $0 > 0 } ?? (view.name.contains("over") || view.name.hasPrefix("depthalign")),
                "\(view)")
            #expect(result.output.contains(view.name))
        }
    }

    @Test func `whole pipelines are measured beside a compositor`() throws {
        let folder = try Places.makeFolder()
        let arguments = ["pipelines"] + BenchTests.tiny + ["--json", "pipelines.json"]
        let result = Command(BenchTests.program, arguments, in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let data = try Data(contentsOf: folder.appending(path: "pipelines.json"))
        let report = try JSONDecoder().decode(Report.self, from: data)
        #expect(report.pipelines.count == 3 && report.goals.isEmpty)
        for pipeline in report.pipelines {
            #expect(pipeline.wall_ms > pipeline.added_wall_ms && pipeline.cpu_ms > 0, "\(pipeline)")
        }
    }

    @Test(arguments: [
        (["--size", "64"], "--size"), (["--size", "0x36"], "--size"), (["--format", "I420,MPEG"], "MPEG"),
        (["--sigma", "51"], "--sigma"), (["--sigma"], "--sigma"), (["--rounds", "none"], "--rounds"),
        (["--scene", "101%"], "--scene"), (["--speed", "5"], "--speed"), (["tables"], "tables"),
        (["goals", "--size", "64x36"], "goals"), (["views", "--format", "RGB"], "views"),
    ])
    func `a wrong argument is named`(arguments: [String], name: String) {
        let result = Command(BenchTests.program, arguments).run()
        #expect(result.status == 2)
        #expect(result.output.contains(name) && result.output.hasPrefix("depthbench: "), "\(result.output)")
    }

    @Test func `a file that cannot be written is an error`() {
        let arguments = ["grid", "--work", "blend"] + BenchTests.tiny + ["--json", "/dev/null/figures.json"]
        let result = Command(BenchTests.program, arguments).run()
        #expect(result.status == 1 && result.output.contains("/dev/null/figures.json"))
    }
}
