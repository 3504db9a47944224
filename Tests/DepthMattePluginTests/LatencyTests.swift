import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The latency that a live pipeline is told, and how the element keeps to the clock.
@Suite struct LatencyTests {
    private let clock = TestClock()

    /// An element whose inputs answer so.
    private func bench(
        _ follower: Follower, leading: Latency, partner: Latency, _ properties: [String: String] = [:]
    ) -> Bench {
        let bench = Bench(follower, [follower.partner], properties, clock: clock.clock)
        bench.leading.answerLatency(leading)
        bench[follower.partner].answerLatency(partner)
        return bench
    }

    /// Milliseconds: those of the inputs, those of properties, and what comes of both.
    @Test(
        arguments: Follower.all,
        [
            ("the slowest input's and ours", Latency(30, 200), Latency(60, 300), ["latency": 20], Latency(80, 220)),
            ("without an upper limit the other's", Latency(10), Latency(0, 90), ["latency": 5], Latency(15, 95)),
            ("one live input", .still, Latency(25, 50), [:], Latency(25, 50)),
            ("room for a slower one", Latency(10, 40), Latency(10, 40), ["min-upstream-latency": 70], Latency(70, 100)),
            ("room for a quicker one", Latency(10, 40), Latency(10, 40), ["min-upstream-latency": 5], Latency(10, 40)),
            ("a partner shifted back", Latency(10, 40), Latency(10, 40), ["depth-ts-offset": -66], Latency(76, 106)),
            ("one that is quicker", Latency(50, 90), Latency(10, 90), ["depth-ts-offset": -66], Latency(76, 116)),
            ("one that comes in time", Latency(90, 95), Latency(10, 99), ["depth-ts-offset": -66], Latency(90, 95)),
            ("a partner shifted on", Latency(10, 40), Latency(10, 40), ["depth-ts-offset": 66], Latency(10, 40)),
        ] as [(what: String, leading: Latency, partner: Latency, properties: [String: Int], expected: Latency)])
    func `the latency follows from the inputs' and ours`(
        follower: Follower,
        row: (what: String, leading: Latency, partner: Latency, properties: [String: Int], expected: Latency)
    ) {
        var properties = row.properties.mapValues { "\($0 * Int(millisecond))" }
        if let shift = row.properties["depth-ts-offset"] {
            properties["depth-ts-offset"] = follower.offset(shiftingPartner: shift)
        }
        let bench = bench(follower, leading: row.leading, partner: row.partner, properties)
        #expect(bench.latency() == row.expected, "\(row.what)")
    }

    @Test(arguments: Follower.all)
    func `inputs that are not live make nothing live`(follower: Follower) {
        #expect(bench(follower, leading: .still, partner: .still).latency()?.isLive == false)
    }

    @Test(arguments: Follower.all)
    func `an input that allows for less than another needs waits on its pad`(follower: Follower) throws {
        let bench = bench(
            follower, leading: Latency(least: 10 * millisecond, most: 20 * millisecond),
            partner: Latency(least: 60 * millisecond))
        #expect(bench.latency() == Latency(least: 60 * millisecond, most: 60 * millisecond))
        bench.leading.start(follower.leading.caps)
        for frame in 0..<5 {
            bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
            let due = time(ofFrame: frame) + 60 * millisecond
            #expect(clock.runUntil(due) { bench.output.present().first } != nil, "frame \(frame)")
        }
        #expect(clock.lateWaits == 0)
        #expect(bench.bus.warnings().isEmpty)
    }

    @Test(arguments: Follower.all)
    func `an input that does not tell its latency holds up no live one`(follower: Follower) throws {
        let bench = Bench(follower, [follower.partner], clock: clock.clock)
        bench.leading.answerLatency(Latency(least: 40 * millisecond))
        answerQueries(on: bench[follower.partner].pad) { $0.pointee.type == GST_QUERY_LATENCY ? false : nil }
        bench.leading.start(follower.leading.caps)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(clock.runUntil(40 * millisecond) { bench.output.present().first } != nil)
        #expect(bench.latency()?.least == 40 * millisecond)
    }

    @Test(arguments: Follower.all)
    func `an application can make an element live that has no live input`(follower: Follower) {
        let bench = Bench(follower, [follower.partner])
        gst_aggregator_set_force_live(
            UnsafeMutableRawPointer(bench.element).assumingMemoryBound(to: GstAggregator.self), 1)
        #expect(bench.latency()?.isLive == true)
    }

    @Test(arguments: Follower.all)
    func `another latency is told to the pipeline, the same one is not`(follower: Follower) {
        let bench = bench(
            follower, leading: Latency(least: 0), partner: Latency(least: 0))
        _ = bench.bus.count(of: GST_MESSAGE_LATENCY)
        bench.set("latency", "\(40 * millisecond)")
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 1)
        bench.set("latency", "\(40 * millisecond)")
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 0)
    }

    @Test(arguments: Follower.all)
    func `a shift that changes the latency is told to the pipeline once`(follower: Follower) throws {
        let bench = bench(follower, leading: Latency(least: 0), partner: Latency(least: 0))
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        #expect(bench.latency()?.least == 0)
        try pass(0, through: bench, follower)
        _ = bench.bus.count(of: GST_MESSAGE_LATENCY)
        for (shift, least, messages) in [(-66, 66, 1), (-66, 66, 0), (66, 0, 1), (33, 0, 0), (-40, 40, 1)] {
            bench.set("depth-ts-offset", follower.offset(shiftingPartner: shift))
            #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == messages, "\(shift) ms")
            #expect(bench.latency()?.least == GstClockTime(least) * millisecond, "\(shift) ms")
        }
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        let due = time(ofFrame: 1) + 40 * millisecond
        #expect(clock.runUntil(due) { bench.output.present().first } != nil)
        #expect(clock.lateWaits == 0)
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 0)
    }

    /// 166 ms are five frames, which wait on the leading pad.
    @Test(arguments: Follower.all)
    func `where the partner's times are shifted back the leading frames are held for them`(follower: Follower) throws {
        let bench = bench(
            follower, leading: Latency(least: 0), partner: Latency(least: 0),
            ["depth-ts-offset": follower.offset(shiftingPartner: -166)])
        let partner = bench[follower.partner]
        partner.start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        for frame in 0..<12 {
            partner.push(follower.numbered(1 + frame % 9), at: time(ofFrame: frame))
            partner.settle()
            bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
            bench.leading.settle()
            guard frame >= 5 else { continue }
            let due = time(ofFrame: frame - 5) + 166 * millisecond
            let picture = try #require(clock.runUntil(due) { bench.output.present().first }, "frame \(frame)")
            #expect(follower.number(picture) == 1 + frame % 9)
        }
        #expect(clock.lateWaits == 0)
    }

    @Test(arguments: Follower.all)
    func `a slower input that joins while playing is told to the pipeline once`(follower: Follower) throws {
        let bench = Bench(follower, [], clock: clock.clock)
        bench.leading.answerLatency(Latency(least: 10 * millisecond))
        bench.leading.start(follower.leading.caps)
        for frame in 0..<3 { try pass(frame, through: bench, follower) }
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 0)
        bench.request(follower.partner).answerLatency(Latency(least: 50 * millisecond))
        // GstAggregator asks a new pad once, and that may have been before it was linked. Asked itself, it asks again.
        #expect(bench.latency()?.least == 50 * millisecond)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        for frame in 3..<8 {
            bench[follower.partner].push(follower.numbered(5), at: time(ofFrame: frame))
            try pass(frame, through: bench, follower)
        }
        #expect(bench.bus.count(of: GST_MESSAGE_LATENCY) == 1)
        #expect(bench.latency()?.least == 50 * millisecond)
    }

    /// One leading frame in, and out.
    private func pass(_ frame: Int, through bench: Bench, _ follower: Follower) throws {
        bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
        _ = try #require(clock.runUntil(time(ofFrame: frame)) { bench.output.present().first })
    }

    // MARK: States

    @Test(arguments: Follower.all)
    func `nothing leaves a live pipeline before it plays, nor while it is paused`(follower: Follower) throws {
        let bench = bench(
            follower, leading: Latency(least: 0), partner: Latency(least: 0))
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        for frame in 0..<2 {
            bench[follower.partner].push(follower.numbered(frame + 1), at: time(ofFrame: frame))
            bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
        }
        #expect(!eventually(seconds: 0.1) { !bench.output.present().isEmpty })
        gst_element_set_state(bench.element, GST_STATE_PLAYING)
        #expect((0..<2).map { _ in bench.output.next().map(follower.number) } == [1, 2])
    }

    @Test(arguments: Follower.all)
    func `a pipeline that is not live shows its first frame while paused`(follower: Follower) {
        let bench = Bench.numbered(follower)
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        bench[follower.partner].push(follower.numbered(4), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next().map(follower.number) == 4)
    }

    @Test(arguments: Follower.all)
    func `a live pipeline that is paused can be flushed and stopped`(follower: Follower) throws {
        let bench = bench(
            follower, leading: Latency(least: 0), partner: Latency(least: 0))
        gst_element_set_state(bench.element, GST_STATE_PAUSED)
        func begin() {
            bench[follower.partner].start(follower.stream(follower.partner).caps)
            bench.leading.start(follower.leading.caps)
            bench[follower.partner].push(follower.numbered(3), at: 0)
            bench.leading.push(follower.leading.frame, at: 0)
            bench[follower.partner].settle()
        }
        for round in 0..<50 {
            begin()
            let seqnum = gst_util_seqnum_next()
            for make in [{ gst_event_new_flush_start() }, { gst_event_new_flush_stop(1) }] {
                for feed in [bench.leading, bench[follower.partner]] {
                    let event = make()
                    gst_event_set_seqnum(event, seqnum)
                    #expect(gst_pad_push_event(feed.pad, event) != 0, "round \(round)")
                }
            }
            bench.leading.settle()
            bench[follower.partner].settle()
        }
        begin()
        let start = g_get_monotonic_time()
        gst_element_set_state(bench.element, GST_STATE_NULL)
        #expect(g_get_monotonic_time() - start < 1_000_000)
        #expect(bench.output.present().isEmpty)
    }

    // MARK: Timestamps

    @Test(arguments: Follower.all)
    func `live frames without timestamps wait for their partners no longer than the latency`(follower: Follower) throws
    {
        let bench = Bench(
            follower, [follower.partner], ["latency": "\(40 * millisecond)"], clock: clock.clock)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        for frame in 0..<4 {
            if frame == 2 { bench[follower.partner].push(follower.numbered(7), at: nil) }
            bench[follower.partner].settle()
            bench.leading.push(follower.leading.frame)
            // The clock stands where the last wait has left it.
            let due = gst_clock_get_time(clock.clock) + 40 * millisecond
            let picture = try #require(clock.runUntil(due) { bench.output.present().first }, "frame \(frame)")
            #expect(follower.number(picture) == (frame == 2 ? 7 : 0))
        }
        #expect(clock.lateWaits == 0)
    }
}
