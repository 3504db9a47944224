import Foundation
import Testing

/// A process that may take no more addresses than a limit.
@Suite struct MemoryLimitTests {
    /// Plays a launch line with a limit in kilobytes.
    private func play(_ line: String, limit: String, patience: Int) -> Command.Result {
        let limited = ["-c", "ulimit -v \(limit); exec \"$@\"", "sh", "gst-launch-1.0", "--no-fault", "-q"]
        var command = Command("sh", limited + line.split(separator: " ").map(String.init))
        command.patience = patience
        return command.run()
    }

    @Test func `memory that the kernels cannot have is an error of the element, and no trap`() {
        // Each of eight threads may come to need a picture of 8 bytes a pixel: 500 megabytes in all.
        let line =
            "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY16_LE,width=64,height=48 "
            + "! depthcloud max-threads=8 ! video/x-raw,width=3840,height=2160 "
            + "! fakesink async=false"  // gst-launch-1.0 may miss an error that comes before it has prerolled
        let enough = play(line, limit: "unlimited", patience: 120)
        #expect(enough.status == 0, "\(enough)")
        let tooLittle = play(line, limit: "600000", patience: 120)
        #expect(tooLittle.output.contains("There is no memory to work on a picture; the stream cannot go on."))
        #expect([1, 255].contains(tooLittle.status), "\(tooLittle)")
    }

    /// Near the working set other programs' parts run out of memory too: GLib ends the program then, or fails in the attempt, and
    /// gst-launch-1.0 may wait for a second error behind the first. The plugin itself never traps.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["DEPTHMATTE_SOAK"] != nil))
    func `no limit of addresses makes the plugin trap`() {
        let line =
            "depthtestsrc num-buffers=3 name=camera camera.video ! video/x-raw,width=1920,height=1080 ! queue "
            + "! matte.video depthmatte name=matte ! fakesink camera.depth ! video/x-raw,width=640,height=480 ! queue "
            + "! matte.depth"
        var errors = 0
        for limit in stride(from: 150_000, through: 800_000, by: 5000) {
            let result = play(line, limit: "\(limit)", patience: 10)
            #expect(result.status != 132, "\(limit) kB: \(result)")
            if result.output.contains("There is no memory to work on") { errors += 1 }
        }
        #expect(errors > 0, "no limit is short of the kernels' memory")
    }
}
