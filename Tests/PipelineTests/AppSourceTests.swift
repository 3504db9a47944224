import Foundation
import Testing

/// The examples that feed a camera through `appsrc`, in C and in Python, with the stand-in camera that is in them.
@Suite struct AppSourceTests {
    private static let examples = Places.pipelines.appending(path: "appsrc")

    /// The example in C, compiled as its first comment says.
    private func compiled() throws -> URL {
        let program = try Places.makeFolder().appending(path: "feed")
        let build = Command(
            "/bin/sh",
            [
                "-c",
                """
                "${CC:-$(command -v cc || command -v clang)}" -Wall -Wextra -Werror "$1" -o "$2" \
                $(pkg-config --cflags --libs gstreamer-app-1.0)
                """, "sh", AppSourceTests.examples.appending(path: "feed.c").path, program.path,
            ]
        ).run()
        try #require(build.status == 0, "\(build.output)")
        return program
    }

    /// A Python with GStreamer's bindings; nil where there is none. One from elsewhere often lacks Debian's bindings.
    private static let python = ["python3", "/usr/bin/python3"].first {
        Command($0, ["-c", "import gi; gi.require_version('Gst', '1.0')"]).run().status == 0
    }

    private func pythonExample() throws -> Command {
        Command(try #require(AppSourceTests.python), [AppSourceTests.examples.appending(path: "feed.py").path])
    }

    /// Runs an example for as many frames as its queue holds: so none is lost, however slow the machine is.
    private func expectPerson(_ example: Command) throws {
        var command = example
        let folder = try Places.makeFolder()
        command.folder = folder
        command.arguments += ["4", "filesink location=matted.rgb"]
        let (result, leaks) = command.findLeaks()
        #expect(result.status == 0, "\(result.output.suffix(2000))")
        #expect(leaks.isEmpty, "\(leaks)")

        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "matted.rgb")))
        let (width, size) = (640, 640 * 480 * 3)
        try #require(bytes.count == 4 * size)
        func pixel(_ x: Int, _ y: Int, ofFrame frame: Int) -> [UInt8] {
            Array(bytes[(frame * size + (y * width + x) * 3)...].prefix(3))
        }
        for frame in 0..<4 { #expect(pixel(20, 300, ofFrame: frame) == [0x20, 0x60, 0xa0]) }
        // On a machine that is busy, depth may come too late for single frames.
        #expect((0..<4).contains { pixel(310, 300, ofFrame: $0) == [200, 120, 60] })
    }

    private func expectFailures(_ example: Command) {
        for (sink, words) in [
            ("filesink location=missing/matted.rgb", "missing/matted.rgb"), ("nosuchsink", "nosuchsink"),
            ("identity error-after=2 ! fakesink", "identity0: "),
        ] {
            var command = example
            command.arguments += ["1000000", sink]
            let result = command.run()
            #expect(result.status == 1 && result.output.contains(words), "\(sink): \(result)")
        }
    }

    @Test func `the example in C shows the person over the background`() throws {
        try expectPerson(Command(compiled().path, []))
    }

    @Test func `the example in C ends with an error's words`() throws {
        expectFailures(Command(try compiled().path, []))
    }

    @Test(.enabled(if: python != nil, "python3-gi is not installed"))
    func `the example in Python shows the person over the background`() throws {
        try expectPerson(pythonExample())
    }

    @Test(.enabled(if: python != nil, "python3-gi is not installed"))
    func `the example in Python ends with an error's words`() throws {
        expectFailures(try pythonExample())
    }
}
