import Foundation
import Testing

@Suite struct LaunchLineTests {
    @Test(arguments: Places.launchFiles)
    func `a launch line leaves what its expectation says`(_ file: String) throws {
        let expectation = try Expectation(of: file)
        let folder = try Places.makeFolder()
        for other in expectation.before { run(other, try Expectation(of: other).variables, in: folder) }
        run(file, expectation.variables, in: folder)
        for reading in expectation.readings { try check(reading, in: folder) }
    }

    @Test func `every expectation belongs to a launch line`() throws {
        let all = FileManager.default.enumerator(atPath: Places.pipelines.path)?.compactMap { $0 as? String } ?? []
        let stems = all.filter { $0.hasSuffix(".expect") }.map { $0.replacing(".expect", with: ".launch") }
        #expect(stems.sorted() == Places.launchFiles)
        #expect(!stems.isEmpty)
    }

    @Test func `a line whose variable has no value is not run`() throws {
        let file = try Places.makeFolder().appending(path: "a.launch")
        try "fakesrc num-buffers=$COUNT ! fakesink\n".write(to: file, atomically: true, encoding: .utf8)
        let runner = Places.pipelines.appending(path: "run.sh").path
        let refused = Command(runner, [file.path]).run()
        #expect(refused.status == 2)
        #expect(refused.output.contains("$COUNT"))
        let shown = Command(runner, ["--print", file.path, "COUNT=1"]).run()
        #expect(shown.output == "fakesrc num-buffers=1 ! fakesink\n")
    }

    @Test func `the search for leaks finds one`() {
        let command = Command.launch("videotestsrc num-buffers=1 ! roiset leak=true ! fakesink")
        #expect(command.findLeaks().found.count == 1)
    }

    @Test func `an element that breaks the rules of a stream ends the line`() {
        let result = Command.launch("videotestsrc num-buffers=1 ! roiset restart=true ! fakesink").run()
        #expect(result.status == 128 + Int(SIGTRAP))
        #expect(result.output.contains("roiset0:src sends a flush-stop without a flush-start"), "\(result.output)")
    }

    private func run(_ file: String, _ variables: [String], in folder: URL) {
        let line = Places.pipelines.appending(path: file).path
        let command = Command(Places.pipelines.appending(path: "run.sh").path, [line] + variables, in: folder)
        let (result, found) = command.findLeaks()
        #expect(result.status == 0, "\(file): \(result.output.suffix(2000))")
        #expect(found.isEmpty, "\(file) leaks")
    }

    private func check(_ reading: Expectation.Reading, in folder: URL) throws {
        let frames = try Frames(of: reading.line, in: folder)
        #expect(frames.lacks(reading.caps).isEmpty, "\(reading.line): \(frames.caps)")
        if let count = reading.frames { #expect(frames.checksums.count == count, "\(reading.line)") }
        if let same = reading.same {
            #expect(frames.checksums == (try Frames(of: same, in: folder)).checksums, "\(reading.line)")
        }
        guard !reading.pixels.isEmpty else { return }
        let picture = try Picture(of: reading.line, in: folder)
        for pixel in reading.pixels {
            let found = picture[pixel.x, pixel.y]
            let isNear = zip(found, pixel.values).allSatisfy { abs($0 - $1) <= pixel.tolerance }
            #expect(isNear, "\(reading.line): \(found) at \(pixel.x), \(pixel.y), not \(pixel.values)")
        }
    }
}
