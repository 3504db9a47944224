import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// What must not grow, however long the element works: `Tests/soak.sh` runs these in full, `Tests/run.sh` in small.
@Suite struct SoakTests {
    private static let isFull = getenv("DEPTHMATTE_SOAK") != nil

    private static let chain = """
        videotestsrc name=video is-live=false ! video/x-raw,format=I420,width=160,height=120 ! matte.video
        videotestsrc name=depth pattern=ball ! video/x-raw,format=GRAY16_LE,width=160,height=120 ! matte.depth
        depthmatte name=matte depth-unit=0.0001 cutoff=3 anchor=fixed ! fakesink name=sink sync=false
        """

    @Test func `state cycles leave the memory as it was`() throws {
        let pipeline = Pipeline(SoakTests.chain)
        let cycles = SoakTests.isFull ? 10_000 : 600
        var early = 0
        for cycle in 0..<cycles {
            if cycle == 500 { early = residentMemory() }
            #expect(pipeline.set(GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
            if cycle.isMultiple(of: 3) { try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "\(cycle)") }
            try #require(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS, "\(cycle)")
        }
        expectSmallGrowth(since: early, limit: 256, after: "\(cycles) state cycles")
    }

    @Test func `flushing seeks leave the memory as it was`() throws {
        let pipeline = Pipeline(SoakTests.chain)
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let seeks = SoakTests.isFull ? 20_000 : 1_000
        var early = 0
        for number in 0..<seeks {
            if number == 500 { early = memoryAtRest(pipeline) }
            try #require(pipeline.seek(to: GstClockTime(number % 50) * 100 * millisecond), "\(number)")
            try #require(pipeline.bus.discardAll() == 0)
        }
        expectSmallGrowth(from: early, to: memoryAtRest(pipeline), limit: 256, after: "\(seeks) seeks")
    }

    @Test func `a long stream comes out whole, in order and without growth`() throws {
        let frames = SoakTests.isFull ? 1_000_000 : 20_000
        let pipeline = Pipeline(SoakTests.chain)
        for name in ["video", "depth"] { setProperty(pipeline[name], "num-buffers", "\(frames)") }
        let count = FrameCount(pipeline["sink"])
        #expect(pipeline.run(patience: 3_000) == .ended)
        #expect(count.frames == frames && count.disorders == 0)
        expectSmallGrowth(since: count.memoryWhenWarm, limit: 128, after: "\(frames) frames")
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

    /// Resident memory may grow by `limit` kB.
    private func expectSmallGrowth(since early: Int, limit: Int, after what: String) {
        expectSmallGrowth(from: early, to: residentMemory(), limit: limit, after: what)
    }

    private func expectSmallGrowth(from early: Int, to late: Int, limit: Int, after what: String) {
        let growth = late - early
        print("resident memory after \(what): \(growth) kB more")
        // In a small run the allocator's own steps of megabytes show; a frame lost each time would show beyond them.
        #expect(growth <= (SoakTests.isFull ? limit : 8192), "\(growth) kB after \(what)")
    }
}

/// Counts the frames that come to an element's sink pad, each a 30th of a second after the last.
private final class FrameCount {
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

/// Resident memory of this process in kB, without the pages of program files, which are read in as code is first run;
/// 0 where the system does not tell.
private func residentMemory() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        if fields.count > 1, fields[0] == "RssAnon:" { return Int(fields[1]) ?? 0 }
    }
    return 0
}
