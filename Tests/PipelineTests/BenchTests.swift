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

    /// A line of the file that it writes; the elements that show depth have no settings of the matte.
    private struct Figure: Decodable {
        let work: String?
        let size: String
        let format: String
        let background: String?
        let scene: String?
        let sigma: String?
        let threads: String?
        let view: String?
        let ring: Int
        let frames: Int
        let ms: [Double]
        let memcpy_ms: [Double]
        let own_ms: [Double]?
    }

    private struct Output {
        let text: String
        let figures: [Figure]
    }

    /// What a run writes.
    private func run(_ arguments: [String], in given: URL? = nil) throws -> Output {
        let folder = try given ?? Places.makeFolder()
        let result = Command(BenchTests.program, arguments + ["--json", "figures.json"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let text = try String(contentsOf: folder.appending(path: "figures.json"), encoding: .utf8)
        let figures = try text.split(separator: "\n").map { try JSONDecoder().decode(Figure.self, from: Data($0.utf8)) }
        for figure in figures {
            #expect((figure.ms + figure.memcpy_ms + (figure.own_ms ?? [])).allSatisfy { $0 > 0 }, "\(figure)")
            #expect(figure.ms.count == figure.memcpy_ms.count && figure.frames >= figure.ring, "\(figure)")
        }
        return Output(text: result.output, figures: figures)
    }

    @Test func `the help names every argument`() {
        let result = Command(BenchTests.program, ["--help"]).run()
        #expect(result.status == 0)
        for argument in [
            "--work", "--size", "--format", "--depth", "--sigma", "--gamma", "--upscale", "--method", "--detail",
            "--background", "--scene", "--threads", "--rounds", "--seconds", "--ring", "--json",
        ] { #expect(result.output.contains("  \(argument) "), "\(argument)") }
        for command in ["table", "sweep", "grid", "views"] { #expect(result.output.contains("  \(command) ")) }
    }

    @Test(arguments: [("table", 20), ("sweep", 100)])
    func `a run measures something positive in every line`(command: String, least: Int) throws {
        let figures = try run([command] + BenchTests.tiny).figures
        #expect(figures.count >= least)
        for figure in figures {
            let isElement = ["in-place", "copied"].contains(figure.work)
            #expect(figure.ms.count == 2 && figure.own_ms?.count == (isElement ? 2 : nil), "\(figure)")
        }
        #expect(Set(figures.map(\.work)) == ["in-place", "copied", "kernels", "render", "blend"])
        #expect(Set(figures.map(\.background)) == ["image", "color", "stream", "transparent"])
    }

    @Test func `a line says how many times a memcpy's time a case takes`() throws {
        let output = try run(
            ["grid", "--work", "in-place", "--method", "fusion", "--detail", "half"] + BenchTests.tiny)
        let cells = try #require(output.text.split(separator: "\n").last).split(separator: " ")
        let figure = try #require(output.figures.first)
        let ratio = zip(figure.ms, figure.memcpy_ms).map { $0 / $1 }.reduce(0, +) / 2
        #expect(cells[3] == "\(String(format: "%.2f", ratio))x")
        #expect(cells[4...].joined(separator: " ").hasPrefix("in-place 64x36 I420 32x24 5 0.5 bicubic fusion half"))
    }

    @Test(.enabled(if: Command("python3", ["-c", "import matplotlib"]).run().status == 0, "no matplotlib"))
    func `a sweep's figures are drawn`() throws {
        let folder = try Places.makeFolder()
        _ = try run(["grid", "--sigma", "0,2,5", "--work", "blend"] + BenchTests.tiny, in: folder)
        let script = Places.root.appending(path: "Tests/plot_speed.py").path
        let result = Command(script, ["figures.json", "figures.svg"], in: folder).run()
        #expect(result.status == 0, "\(result.output)")
        let drawing = try String(contentsOf: folder.appending(path: "figures.svg"), encoding: .utf8)
        #expect(try XMLDocument(xmlString: drawing).rootElement()?.name == "svg")
    }

    @Test func `a grid measures every combination of what is given`() throws {
        let lists = ["--format", "NV12,BGR", "--sigma", "0,2,50", "--work", "in-place,render", "--scene", "10%,noisy"]
        let figures = try run(["grid"] + lists + BenchTests.tiny).figures
        let cases = figures.map { [$0.work, $0.format, $0.sigma, $0.scene].map { $0 ?? "" }.joined(separator: " ") }
        #expect(Set(cases).count == 24 && figures.count == 24)
        #expect(figures.allSatisfy { $0.size == "64x36" })
    }

    @Test func `a memcpy is timed where it is asked for, in parts for threads`() throws {
        let figures = try run(["grid", "--work", "memcpy", "--threads", "1,2"] + BenchTests.tiny).figures
        #expect(figures.map(\.threads) == ["1", "2"])
        #expect(figures.allSatisfy { $0.work == "memcpy" && $0.own_ms == nil })
    }

    @Test(arguments: [
        (["64x36"], [], [64]), (["1920x1080"], [], [22]), (["3840x2160", "640x480"], [], [6, 64]),
        (["64x36", "640x480"], ["--ring", "3"], [3, 3]),
    ])
    func `frames in turn fill 64 MiB, but are 64 at most, or as many as somebody asks for`(
        sizes: [String], ring: [String], rings: [Int]
    ) throws {
        let quick = ["--depth", "32x24", "--rounds", "1", "--seconds", "0.01"] + ring
        let figures = try run(["grid", "--work", "blend", "--size", sizes.joined(separator: ",")] + quick).figures
        #expect(figures.map(\.ring) == rings)
    }

    @Test func `the views of depth are measured beside a memcpy of what leaves`() throws {
        let output = try run(["views", "--rounds", "1", "--seconds", "0.01", "--ring", "1"])
        #expect(output.figures.count == 14 && output.figures.allSatisfy { $0.ring == 1 && $0.work == nil })
        for figure in output.figures { #expect(output.text.contains(try #require(figure.view))) }
    }

    @Test func `the goals are judged by what is measured`() throws {
        let output = try judge("--bench=--rounds 1 --ring 1", "goals", "views")
        let goals = output.split(separator: "\n").map { $0.split(separator: " ") }.filter {
            $0.contains { "<= >=".contains($0) }
        }
        #expect(goals.count == 12, "\(output)")
        for cells in goals {
            let sign = try #require(cells.firstIndex { $0 == "<=" || $0 == ">=" })
            let (value, limit) = (try #require(Double(cells[sign - 1])), try #require(Double(cells[sign + 1])))
            let isReached = cells[sign] == "<=" ? value <= limit : value >= limit
            // Values are rounded.
            #expect(abs(value - limit) < 0.01 || (cells[sign + 2] == "yes") == isReached, "\(cells)")
        }
    }

    @Test func `whole pipelines are measured beside a compositor`() throws {
        let output = try judge("pipelines")
        #expect(output.contains("compositor, two layers") && output.contains("depthmatte, stream behind"))
        #expect(
            output.split(separator: "\n").filter { $0.contains("CPU") && $0.contains(" ms") }.count == 3, "\(output)")
    }

    /// What `Tests/speed.py` prints.
    private func judge(_ arguments: String...) throws -> String {
        let script = Places.root.appending(path: "Tests/speed.py").path
        let result = Command(script, ["--build", Places.build.path] + arguments).run()
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    @Test(arguments: [
        (["--size", "64"], "--size"), (["--size", "0x36"], "--size"), (["--format", "I420,MPEG"], "MPEG"),
        (["--sigma", "51"], "--sigma"), (["--sigma"], "--sigma"), (["--rounds", "none"], "--rounds"),
        (["--scene", "101%"], "--scene"), (["--speed", "5"], "--speed"), (["tables"], "tables"),
        (["views", "--format", "RGB"], "views"),
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
