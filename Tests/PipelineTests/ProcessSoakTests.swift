import Foundation
import Testing

/// Many processes that load the plugin and let go of it: a thousand with `Tests/soak.sh`, forty in small.
@Suite struct ProcessSoakTests {
    private static let isFull = ProcessInfo.processInfo.environment["DEPTHMATTE_SOAK"] != nil

    @Test func `processes that load the plugin at once, with one registry, all succeed and blacklist nothing`() throws {
        let folder = try Places.makeFolder()
        let program = folder.appending(path: "load").path
        let build = Command(
            "/bin/sh",
            [
                "-c",
                "${CC:-$(command -v cc || command -v clang)} -Wall -Wextra -Werror load.c -o \"$1\" "
                    + "$(pkg-config --cflags --libs gstreamer-1.0)",
                "sh", program,
            ], in: Places.root.appending(path: "Tests/processes")
        ).run()
        try #require(build.status == 0, "\(build.output)")

        let count = ProcessSoakTests.isFull ? 1000 : 40
        var loads = Command("/bin/sh", ["-c", "seq \(count) | xargs -P 4 -n 1 \"$1\"", "sh", program], in: folder)
        loads.patience = 1800
        loads.environment["GST_REGISTRY"] = folder.appending(path: "registry.bin").path
        loads.environment["GST_PLUGIN_SYSTEM_PATH"] = "/nowhere"
        loads.environment["G_DEBUG"] = "fatal-criticals"
        let result = loads.run()
        #expect(result.status == 0 && result.output.isEmpty, "\(result.status): \(result.output.suffix(2000))")

        var blacklist = Command("gst-inspect-1.0", ["-b"])
        blacklist.environment = loads.environment
        let blacklisted = blacklist.run()
        #expect(blacklisted.output.contains("Total count: 0 blacklisted files"), "\(blacklisted.output)")
        print("soak: \(count) processes, \(blacklisted.lines.last ?? "")")
    }
}
