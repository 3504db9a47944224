import Foundation
import Testing

/// All elements in one pipeline, and elements of GStreamer's that damage what comes through them.
@Suite struct ChainTests {
    /// The whole chain: the source, the matte, colors and a cloud. The streams part and meet again three times.
    private func chain(_ queue: String, frames: Int = 30) -> String {
        """
        depthtestsrc name=camera num-buffers=\(frames) sensor=structured-light
        camera.video ! video/x-raw,width=160,height=120 \(queue) ! tee name=video
        camera.depth ! video/x-raw,format=GRAY16_LE,width=80,height=60 \(queue) ! tee name=depth
        video. \(queue) ! depthmatte name=matte background-mode=blur \(queue) ! tee name=composite
        depth. \(queue) ! matte.depth
        composite. \(queue) ! videoconvert ! colors.video
        depth. \(queue) ! depthcolorize name=colors \(queue) ! checksumsink name=colored sync=false
        composite. \(queue) ! videoconvert ! cloud.video
        depth. \(queue) ! depthcloud name=cloud yaw=20 \(queue) ! checksumsink name=points sync=false
        camera.matte ! video/x-raw,width=160,height=120 \(queue) ! matte.segmentation
        """
    }

    /// Checksums of the frames at each sink.
    private func checksums(_ queue: String) throws -> [String: [Substring]] {
        let result = Command.launch(chain(queue), options: [], in: try Places.makeFolder()).run()
        #expect(result.status == 0, "\(result.output.suffix(2000))")
        let sums = result.lines.filter { $0.count > 40 && $0.suffix(40).allSatisfy(\.isHexDigit) }
        return ["all": sums.map { $0.suffix(40) }.sorted()]
    }

    @Test func `the whole chain runs with queues between all elements, and in the same way with large and small ones`()
        throws
    {
        let runs = try ["! queue", "! queue max-size-buffers=1", "! queue max-size-buffers=200"].map(checksums)
        #expect(runs[0]["all"]?.count == 60)
        #expect(runs.allSatisfy { $0 == runs[0] })
    }

    /// Each pad of the source has its own thread, so one element needs no queue; a tee's branches that meet again do.
    @Test(arguments: [
        "depthmatte name=e camera.video ! e.video camera.depth ! e.depth camera.matte ! e.segmentation",
        "depthcolorize name=e camera.video ! e.video camera.depth ! e.depth",
        "depthcloud name=e camera.video ! e.video camera.depth ! e.depth",
    ])
    func `an element behind the source needs no queue`(element: String) throws {
        let links = element.split(separator: " ", maxSplits: 2)
        let line =
            "depthtestsrc name=camera num-buffers=30 \(links[0]) \(links[1]) ! checksumsink sync=false \(links[2])"
        let result = Command.launch(line, options: [], in: try Places.makeFolder()).run()
        #expect(result.status == 0, "\(result.output.suffix(2000))")
        #expect(result.lines.count { $0.count > 40 && $0.suffix(40).allSatisfy(\.isHexDigit) } == 30)
    }

    // MARK: Damage

    private static let damages = [
        "breakmydata probability=0.3 seed=5", "breakmydata probability=1 seed=6 set-to=255",
        "rndbuffersize min=1 max=9000 seed=7", "rndbuffersize min=4800 max=4800 seed=8",
        "identity drop-probability=0.3", "chopmydata min-size=1 max-size=700 step-size=1",
    ]

    private static let readers = [
        "depthmatte name=e camera.video ! video/x-raw,width=64,height=48 ! e.video",
        "depthmatte name=e method=threshold camera.video ! video/x-raw,width=64,height=48 ! e.video",
        "depthcolorize name=e", "depthcloud name=e camera.video ! e.video",
    ]

    /// What `breakmydata` does to the bits of metres is every float there is.
    @Test(arguments: damages, readers)
    func `damaged depth ends in no crash and no silence`(damage: String, reader: String) throws {
        let parts = reader.split(separator: " camera.", maxSplits: 1)
        let rest = parts.count > 1 ? "camera.\(parts[1])" : ""
        let isOfBits = damage.hasPrefix("breakmydata")
        for caps in ["video/x-raw,format=GRAY16_LE"] + (isOfBits ? ["video/x-depth,format=F32LE"] : []) {
            let line = """
                depthtestsrc name=camera num-buffers=20 \(parts[0]) ! fakesink silent=false sync=false \(rest)
                camera.depth ! \(caps),width=40,height=30 ! \(damage) ! e.
                """
            var command = Command.launch(line, options: ["-m"], in: try Places.makeFolder())
            // Buffers without the rules of a stream are what this is about.
            command.environment["GST_TRACERS"] = nil
            command.patience = 60
            let result = command.run()
            #expect([0, 1].contains(result.status), "\(line): \(result.status): \(result.output.suffix(1000))")
            let isEnded = result.output.contains("(eos)") || result.output.contains("ERROR")
            #expect(isEnded, "\(line): \(result.output.suffix(1000))")
        }
    }
}
