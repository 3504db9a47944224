import Foundation
import Testing

/// Files of points on a disk that has had enough.
@Suite struct SnapshotTests {
    @Test func `a snapshot that does not fit leaves the file that was there, and nothing else`() throws {
        let folder = try Places.makeFolder()
        let file = folder.appending(path: "cloud.ply")
        try "old".write(to: file, atomically: true, encoding: .utf8)
        var launch = Command.launch(
            """
            depthtestsrc name=camera num-buffers=30 camera.depth ! video/x-raw,width=160,height=120
                ! depthcloud snapshot=true location="cloud.ply" ! fakesink
            """, options: [])
        launch.environment["GST_REGISTRY_UPDATE"] = "no"
        _ = launch.run()  // the registry is written
        // No file may become longer than 100 blocks, of which the cloud needs 500.
        let words = launch.arguments.map { "'\($0)'" }.joined(separator: " ")
        var limited = Command("sh", ["-c", "trap '' XFSZ; ulimit -f 100; exec \(launch.program) \(words)"], in: folder)
        limited.environment = launch.environment
        let result = limited.run()
        #expect(result.status == 0, "the stream goes on to its end: \(result.output.suffix(2000))")
        #expect(result.output.contains(/The snapshot was not written: [^\n]*cloud\.ply[^\n]*: File too large\./))
        #expect(try String(contentsOf: file, encoding: .utf8) == "old")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names == ["cloud.ply"])
    }
}
