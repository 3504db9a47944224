import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Synchronization
import Testing

/// Memory, threads and descriptors that must not grow, however long the element works: `Tests/soak.sh` runs these in
/// full, `Tests/run.sh` in small.
@Suite struct SoakTests {
    private static let chain = """
        videotestsrc name=video is-live=false ! video/x-raw,format=I420,width=160,height=120 ! matte.video
        videotestsrc name=depth pattern=ball ! video/x-raw,format=GRAY16_LE,width=160,height=120 ! matte.depth
        depthmatte name=matte depth-unit=0.0001 cutoff=3 anchor=fixed ! fakesink name=sink sync=false
        """

    @Test func `state cycles leave the memory as it was`() throws {
        let pipeline = Pipeline(SoakTests.chain)
        let cycles = Soak.isFull ? 10_000 : 600
        var early = 0
        for cycle in 0..<cycles {
            if cycle == 500 { early = residentMemory() }
            #expect(pipeline.set(GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
            if cycle.isMultiple(of: 3) { try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "\(cycle)") }
            try #require(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS, "\(cycle)")
        }
        Soak.expectSmallGrowth(since: early, limit: 256, after: "\(cycles) state cycles")
    }

    @Test func `flushing seeks leave the memory as it was`() throws {
        let pipeline = Pipeline(SoakTests.chain)
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let seeks = Soak.isFull ? 20_000 : 1_000
        var early = 0
        for number in 0..<seeks {
            if number == 500 { early = memoryAtRest(pipeline) }
            try #require(pipeline.seek(to: GstClockTime(number % 50) * 100 * millisecond), "\(number)")
            try #require(pipeline.bus.discardAll() == 0)
        }
        Soak.expectSmallGrowth(
            since: early, to: memoryAtRest(pipeline), limit: 256, after: "\(seeks) seeks")
    }

    @Test func `a long stream comes out whole, in order and without growth`() throws {
        let frames = Soak.isFull ? 1_000_000 : 20_000
        let pipeline = Pipeline(SoakTests.chain)
        for name in ["video", "depth"] { setProperty(pipeline[name], "num-buffers", "\(frames)") }
        let count = FrameCount(pipeline["sink"])
        #expect(pipeline.run(patience: 3_000) == .ended)
        #expect(count.frames == frames && count.disorders == 0)
        Soak.expectSmallGrowth(since: count.memoryWhenWarm, limit: 128, after: "\(frames) frames")
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
final class FrameCount {
    private let state = State()

    private final class State: Sendable {
        let frames = Atomic(0)
        let disorders = Atomic(0)
        let last = Atomic<UInt64>(.max)
        let memoryWhenWarm = Atomic(0)
    }

    init(_ element: UnsafeMutablePointer<GstElement>) {
        guard let pad = gst_element_get_static_pad(element, "sink") else { preconditionFailure("no sink pad") }
        gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, data in
                guard let data, let buffer = gst_pad_probe_info_get_buffer(info) else { return GST_PAD_PROBE_OK }
                let state = Unmanaged<State>.fromOpaque(data).takeUnretainedValue()
                let (_, frames) = state.frames.add(1, ordering: .relaxed)
                let stamp = UInt64(buffer.pointee.pts)
                if stamp != UInt64(time(ofFrame: frames - 1)) { state.disorders.add(1, ordering: .relaxed) }
                if frames == 10_000 { state.memoryWhenWarm.store(residentMemory(), ordering: .relaxed) }
                return GST_PAD_PROBE_OK
            },
            Unmanaged.passRetained(state).toOpaque(),
            { data in
                if let data { Unmanaged<State>.fromOpaque(data).release() }
            })
        gst_object_unref(pad)
    }

    var frames: Int { state.frames.load(ordering: .relaxed) }
    var disorders: Int { state.disorders.load(ordering: .relaxed) }
    var memoryWhenWarm: Int { state.memoryWhenWarm.load(ordering: .relaxed) }
}
