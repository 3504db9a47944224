import Foundation
import Testing

/// GStreamer's own latency tracer, on a pipeline of ours.
@Suite struct LatencyTracerTests {
    @Test func `the tracer sees every frame that left, and the element between source and sink`() throws {
        let frames = 60
        var command = Command.launch(
            """
            depthtestsrc name=camera num-buffers=\(frames)
            depthmatte name=matte ! identity name=after silent=false ! fakesink name=end sync=false
            camera.video ! video/x-raw,width=64,height=48 ! matte.video
            camera.depth ! video/x-raw,width=32,height=24 ! matte.depth
            """, options: ["-v"], in: try Places.makeFolder())
        command.environment["GST_TRACERS"] = "latency(flags=pipeline+element)"
        command.environment["GST_DEBUG"] = "GST_TRACER:7"
        command.environment["GST_DEBUG_NO_COLOR"] = "1"
        let result = command.run()
        #expect(result.status == 0)
        let left = result.lines.count { $0.contains("after: last-message") && $0.contains("chain") }
        #expect(left == frames)
        let whole = times(result, "latency,")
        let ours = times(result, "element-latency,")
        #expect(whole.count == frames)
        // The mark of the first frame waits in the element for the segment, and is not counted there.
        #expect(ours.count >= frames - 1)
        #expect(
            zip(whole.reversed(), ours.reversed()).allSatisfy { $0 >= $1 && $1 > 0 },
            "what the element takes is part of the whole")
    }

    /// The nanoseconds of the tracer's records of that kind, for the whole pipeline or for our element.
    private func times(_ result: Command.Result, _ kind: String) -> [UInt64] {
        result.lines.filter { line in
            line.contains(" \(kind)")
                && (kind == "latency,"
                    ? line.contains("sink-element=(string)end") : line.contains("element=(string)matte"))
        }.compactMap { line in
            line.firstRange(of: "time=(guint64)").flatMap { UInt64(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
    }
}
