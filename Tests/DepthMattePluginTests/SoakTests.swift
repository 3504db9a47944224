import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Synchronization
import Testing

/// Memory, threads and descriptors that must not grow, however long the element works: `Tests/soak.sh` runs these in
/// full, `Tests/run.sh` in small.
@Suite struct SoakTests {
    @Test(arguments: ElementLine.all)
    func `state cycles leave nothing behind`(line: ElementLine) throws {
        let pipeline = Pipeline(line.text + "fakesink sync=false")
        let references = pipeline["element"].pointee.object.object.ref_count
        let cycles = Soak.isFull ? 10_000 : 700
        var early = 0
        for cycle in 0..<cycles {
            if cycle == 500 { early = residentMemory() }
            #expect(pipeline.set(GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
            if cycle.isMultiple(of: 3) { try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "\(cycle)") }
            try #require(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS, "\(cycle)")
            // Messages on the bus hold their senders.
            if cycle.isMultiple(of: 50) { try #require(pipeline.bus.discardAll() == 0) }
        }
        #expect(pipeline.bus.discardAll() == 0)
        #expect(pipeline["element"].pointee.object.object.ref_count == references)
        Soak.expectSmallGrowth(since: early, limit: 256, after: "\(cycles) state cycles of \(line.factory)")
    }

    @Test(arguments: Follower.all)
    func `flushing seeks leave the memory as it was`(follower: Follower) throws {
        let pipeline = Pipeline(follower.pictures + "fakesink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let seeks = Soak.isFull ? 20_000 : 600
        var early = 0
        for number in 0..<seeks {
            if number == 500 { early = memoryAtRest(pipeline) }
            try #require(pipeline.seek(to: GstClockTime(number % 50) * 100 * millisecond), "\(number)")
            try #require(pipeline.bus.discardAll() == 0)
        }
        Soak.expectSmallGrowth(
            since: early, to: memoryAtRest(pipeline), limit: 256, after: "\(seeks) seeks of \(follower.factory)")
    }

    @Test(arguments: [(inputs: 2, queue: "", full: 1_000_000, limit: 128), (3, "! queue", 300_000, 1024)])
    func `a long stream comes out whole, in order and without growth`(
        inputs: Int, queue: String, full: Int, limit: Int
    ) {
        let frames = Soak.isFull ? full : 20_000
        let sources = ["I420", "GRAY16_LE", "I420"].prefix(inputs).enumerated().map { index, format in
            "videotestsrc num-buffers=\(frames) pattern=ball ! video/x-raw,format=\(format),width=64,height=48 \(queue) "
                + "! matte.\(["video", "depth", "background"][index]) "
        }
        let pipeline = Pipeline(
            sources.joined() + "depthmatte name=matte method=threshold depth-unit=0.0001 cutoff=3 anchor=fixed "
                + "! fakesink name=sink sync=false")
        let count = FrameCount(pipeline["sink"])
        #expect(pipeline.run(patience: 3_000) == .ended)
        #expect(count.frames == frames && count.disorders == 0)
        Soak.expectSmallGrowth(
            since: count.memoryWhenWarm, limit: limit, after: "\(frames) frames of \(inputs) inputs")
    }

    /// Resident memory in kB with no frame on its way and without what the allocator keeps for later.
    private func memoryAtRest(_ pipeline: Pipeline) -> Int {
        pipeline.set(GST_STATE_PAUSED)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        release_free_memory()
        let memory = residentMemory()
        pipeline.set(GST_STATE_PLAYING)
        return memory
    }
}

/// Counts the frames that come to an element's sink pad, each a 30th of a second after the last.
private final class FrameCount {
    private let state = State()
    private let probe: PadProbe

    private final class State: Sendable {
        let frames = Atomic(0)
        let disorders = Atomic(0)
        let memoryWhenWarm = Atomic(0)
    }

    init(_ element: UnsafeMutablePointer<GstElement>) {
        probe = PadProbe(staticPad("sink", of: element), GST_PAD_PROBE_TYPE_BUFFER) { [state] _, info in
            guard let buffer = gst_pad_probe_info_get_buffer(info) else { return }
            let frames = state.frames.add(1, ordering: .relaxed).newValue
            if buffer.pointee.pts != time(ofFrame: frames - 1) { state.disorders.add(1, ordering: .relaxed) }
            if frames == 10_000 { state.memoryWhenWarm.store(residentMemory(), ordering: .relaxed) }
        }
    }

    var frames: Int { state.frames.load(ordering: .relaxed) }
    var disorders: Int { state.disorders.load(ordering: .relaxed) }
    var memoryWhenWarm: Int { state.memoryWhenWarm.load(ordering: .relaxed) }
}
