import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// What a live pipeline is told of our latency, and how it holds to its clock.
@Suite struct LatencyTests {
    private let clock = TestClock()

    /// An element whose inputs answer so.
    private func bench(
        video: Latency, depth: Latency, _ properties: [String: String] = [:]
    ) -> Bench {
        let bench = Bench(["depth"], properties, clock: clock.clock)
        bench.video.answerLatency(video)
        bench.depth.answerLatency(depth)
        return bench
    }

    @Test func `the latency is the slowest input's and ours`() {
        let video = Latency(least: 30 * millisecond, most: 200 * millisecond)
        let depth = Latency(least: 60 * millisecond, most: 300 * millisecond)
        let bench = bench(video: video, depth: depth, ["latency": "\(20 * millisecond)"])
        #expect(bench.latency() == Latency(least: 80 * millisecond, most: 220 * millisecond))
    }

    @Test func `an input without an upper limit leaves the upper limit to the other`() {
        let bench = bench(
            video: Latency(least: 10 * millisecond), depth: Latency(least: 0, most: 90 * millisecond),
            ["latency": "\(5 * millisecond)"])
        #expect(bench.latency() == Latency(least: 15 * millisecond, most: 95 * millisecond))
    }

    @Test func `inputs that are not live make nothing live`() {
        let still = Latency(isLive: false, least: 0)
        #expect(bench(video: still, depth: still).latency()?.isLive == false)
    }

    @Test func `one live input makes the output live`() {
        let bench = bench(
            video: Latency(isLive: false, least: 0), depth: Latency(least: 25 * millisecond, most: 50 * millisecond))
        #expect(bench.latency() == Latency(least: 25 * millisecond, most: 50 * millisecond))
    }

    @Test func `min-upstream-latency makes room for a slower input still to come`() {
        let fast = Latency(least: 10 * millisecond, most: 40 * millisecond)
        let roomy = bench(video: fast, depth: fast, ["min-upstream-latency": "\(70 * millisecond)"])
        #expect(roomy.latency() == Latency(least: 70 * millisecond, most: 100 * millisecond))
        let idle = bench(video: fast, depth: fast, ["min-upstream-latency": "\(5 * millisecond)"])
        #expect(idle.latency() == Latency(least: 10 * millisecond, most: 40 * millisecond))
    }

    @Test func `inputs that cannot wait for each other are refused with a warning`() {
        let bench = bench(
            video: Latency(least: 10 * millisecond, most: 20 * millisecond), depth: Latency(least: 60 * millisecond))
        #expect(bench.latency() == nil)
        #expect(bench.bus.warnings().first?.details.contains("Impossible to configure latency") == true)
    }

    @Test func `an application can make an element live that has no live input`() {
        let bench = Bench(["depth"])
        gst_aggregator_set_force_live(
            UnsafeMutableRawPointer(bench.element).assumingMemoryBound(to: GstAggregator.self), 1)
        #expect(bench.latency()?.isLive == true)
    }

    @Test func `another latency is told to the pipeline, the same one is not`() {
        let bench = bench(video: Latency(least: 0), depth: Latency(least: 0))
        _ = bench.bus.count(of: GST_MESSAGE_LATENCY)
        bench.set("latency", "\(40 * millisecond)")
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 1)
        bench.set("latency", "\(40 * millisecond)")
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 0)
    }

    @Test func `a slower input that joins while playing is told to the pipeline once`() throws {
        let bench = Bench([], Numbered.properties, clock: clock.clock)
        bench.video.answerLatency(Latency(least: 10 * millisecond))
        bench.video.start(Numbered.video)
        for frame in 0..<3 { try pass(frame, through: bench) }
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 0)
        bench.request("depth").answerLatency(Latency(least: 50 * millisecond))
        bench.depth.start(Numbered.depth)
        for frame in 3..<8 {
            bench.depth.push(Numbered.map(5), at: time(ofFrame: frame))
            try pass(frame, through: bench)
        }
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 1)
        #expect(bench.latency()?.least == 50 * millisecond)
    }

    /// One video frame in, and out.
    private func pass(_ frame: Int, through bench: Bench) throws {
        bench.video.push(Numbered.picture, at: time(ofFrame: frame))
        _ = try #require(clock.runUntil(time(ofFrame: frame)) { bench.output.present().first })
    }

    // MARK: States

    @Test func `nothing leaves a live pipeline before it plays, nor while it is paused`() throws {
        let bench = bench(video: Latency(least: 0), depth: Latency(least: 0), Numbered.properties)
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        for frame in 0..<2 {
            bench.depth.push(Numbered.map(frame + 1), at: time(ofFrame: frame))
            bench.video.push(Numbered.picture, at: time(ofFrame: frame))
        }
        #expect(eventually(seconds: 0.1) { bench.output.present().first } == nil)
        gst_element_set_state(bench.element, GST_STATE_PLAYING)
        #expect((0..<2).map { _ in bench.output.next().map(Numbered.number) } == [1, 2])
    }

    @Test func `a pipeline that is not live shows its first frame while paused`() {
        let bench = Bench.numbered()
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        bench.depth.push(Numbered.map(4), at: 0)
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next().map(Numbered.number) == 4)
    }

    @Test func `a live pipeline that is paused can be flushed and stopped`() throws {
        let bench = bench(video: Latency(least: 0), depth: Latency(least: 0), Numbered.properties)
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        for round in 0..<50 {
            bench.depth.start(Numbered.depth)
            bench.video.start(Numbered.video)
            bench.depth.push(Numbered.map(3), at: 0)
            bench.video.push(Numbered.picture, at: 0)
            bench.depth.settle()
            let seqnum = gst_util_seqnum_next()
            for make in [{ gst_event_new_flush_start() }, { gst_event_new_flush_stop(1) }] {
                for feed in [bench.video, bench.depth] {
                    let event = make()
                    gst_event_set_seqnum(event, seqnum)
                    #expect(gst_pad_push_event(feed.pad, event) != 0, "round \(round)")
                }
            }
            bench.video.settle()
            bench.depth.settle()
        }
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        bench.depth.push(Numbered.map(3), at: 0)
        bench.video.push(Numbered.picture, at: 0)
        bench.depth.settle()
        let start = g_get_monotonic_time()
        gst_element_set_state(bench.element, GST_STATE_NULL)
        #expect(g_get_monotonic_time() - start < 1_000_000)
        #expect(bench.output.present().isEmpty)
    }

    // MARK: Timestamps

    @Test func `live frames without timestamps wait for depth no longer than the latency`() throws {
        let bench = Bench(["depth"], Numbered.properties.with(["latency": "\(40 * millisecond)"]), clock: clock.clock)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        for frame in 0..<4 {
            if frame == 2 { bench.depth.push(Numbered.map(7), at: nil) }
            bench.depth.settle()
            bench.video.push(Numbered.picture)
            // The clock stands where the last wait has left it.
            let due = gst_clock_get_time(clock.clock) + 40 * millisecond
            let picture = try #require(clock.runUntil(due) { bench.output.present().first }, "frame \(frame)")
            #expect(Numbered.number(picture) == (frame == 2 ? 7 : 0))
        }
        #expect(clock.lateWaits == 0)
    }
}
