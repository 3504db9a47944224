import Foundation
import Testing

/// The programs in `pipelines/embed`, built as their first comments say: each does the same in another language.
@Suite struct EmbedTests {
    private static let examples = Places.pipelines.appending(path: "embed")
    private static let packages = "gstreamer-video-1.0 gstreamer-controller-1.0"

    static let python = ["python3", "/usr/bin/python3"].first {
        Command($0, ["-c", "import gi; [gi.require_version(n, '1.0') for n in ('Gst', 'GstController', 'GstVideo')]"])
            .run().status == 0
    }

    private func built(_ line: String, in folder: URL) throws -> Command {
        let program = try Places.makeFolder().appending(path: "embed")
        let build = Command("/bin/sh", ["-c", line, "sh", program.path], in: folder).run()
        try #require(build.status == 0, "\(build.output)")
        return Command(program.path, [])
    }

    private func expectRecording(_ example: Command, reports: [String]) throws {
        var command = example
        let folder = try Places.makeFolder()
        command.folder = folder
        command.arguments += ["a.mkv", Places.pipelines.appending(path: "background.jpg").path]
        let result = command.run()
        #expect(result.status == 0, "\(result.output.suffix(2000))")
        for report in reports { #expect(result.output.contains(report), "\(report): \(result.output.suffix(2000))") }

        let decode = "filesrc location=a.mkv ! matroskademux ! vp8dec ! videoconvert ! video/x-raw,format=RGB"
        let decoded = Command.launch("\(decode) ! filesink location=frames", in: folder).run()
        try #require(decoded.status == 0, "\(decoded.output.suffix(1000))")
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "frames")))
        let size = 640 * 360 * 3
        try #require(bytes.count >= 30 * size && bytes.count.isMultiple(of: size))
        // The corner is green, and later the sky of the picture.
        func isGreen(_ start: Int) -> Bool { bytes[start] < 60 && bytes[start + 1] > 200 && bytes[start + 2] < 60 }
        let corner = (20 * 640 + 20) * 3
        #expect(isGreen(5 * size + corner))
        #expect(!isGreen(bytes.count - size + corner))
        // The person is behind the first cutoff, and in front of the last one.
        let body = (300 * 640 + 320) * 3
        #expect(isGreen(body))
        #expect(!isGreen(bytes.count - size + body))
    }

    @Test func `in C`() throws {
        let line =
            "${CC:-$(command -v cc || command -v clang)} -Wall embed.c -o \"$1\" "
            + "$(pkg-config --cflags --libs \(EmbedTests.packages))"
        try expectRecording(
            try built(line, in: EmbedTests.examples), reports: ["frames: ", "depth at (320, 250): 0.7"])
    }

    @Test func `in Swift`() throws {
        let line =
            "swiftc main.swift -o \"$1\" -I . "
            + "$(pkg-config --cflags \(EmbedTests.packages) | sed 's/\\(^\\| \\)-/ -Xcc -/g') "
            + "$(pkg-config --libs \(EmbedTests.packages))"
        try expectRecording(
            try built(line, in: EmbedTests.examples.appending(path: "swift")),
            reports: ["stats, frames=", "depth-probe, x=(double)320"])
    }

    @Test(.enabled(if: python != nil, "Python has no GStreamer"))
    func `in Python`() throws {
        let example = EmbedTests.examples.appending(path: "embed.py").path
        try expectRecording(
            Command(try #require(EmbedTests.python), [example]), reports: ["frames: ", "depth at (320, 250): 0.7"])
    }
}
