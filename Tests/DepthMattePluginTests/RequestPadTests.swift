import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// Request pads that come and go at any moment.
@Suite struct RequestPadTests {
    @Test(arguments: FollowerPad.followed)
    func `a pad that another thread releases and requests loses no frame`(followed: FollowerPad) {
        let follower = followed.follower
        let bench = Bench(follower, [])
        bench.leading.start(follower.leading.caps)
        let visitor = Visitor(bench.element, followed.stream)
        let repeater = Repeater { _ in visitor.visit() }
        let count = 100
        var starts: [GstClockTime] = []
        for number in 0..<count {
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            if let frame = bench.output.next() { starts.append(frame.timing.start) }
        }
        #expect(repeater.finish() > 0 && visitor.refusals == 0)
        #expect(starts == (0..<count).map { time(ofFrame: $0) })
        #expect(bench.bus.errors().isEmpty)
    }

    @Test(arguments: FollowerPad.followed)
    func `a pad may be released and requested from a blocking probe`(followed: FollowerPad) throws {
        let (follower, name) = (followed.follower, followed.pad)
        let bench = Bench(follower, [name])
        bench.leading.start(follower.leading.caps)
        for number in 0..<50 {
            let release = BlockedPad(bench.leading.pad) { bench.release(name) }
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            try #require(bench.output.next() != nil, "frame \(number)")
            #expect(release.hasRun)
            let request = BlockedPad(bench.leading.pad) { bench.request(name).end() }
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number) + millisecond)
            try #require(bench.output.next() != nil, "frame \(number)")
            #expect(request.hasRun)
        }
    }

    @Test(arguments: FollowerPad.followed)
    func `a frame that waits for a pad goes on when that is released`(followed: FollowerPad) {
        let (follower, name) = (followed.follower, followed.pad)
        let bench = Bench(follower, [name])
        bench.leading.start(follower.leading.caps)
        for number in 0..<3 { bench.leading.push(follower.leading.frame, at: time(ofFrame: number)) }
        #expect(bench.output.present().isEmpty)
        bench.release(name)
        for number in 0..<3 { #expect(bench.output.next()?.timing.start == time(ofFrame: number)) }
    }

    @Test(arguments: FollowerPad.followed)
    func `a pad that is kept when its element is gone refuses data and does no harm`(followed: FollowerPad) throws {
        let (follower, name) = (followed.follower, followed.pad)
        let element = makeElement(follower.factory)
        let pad = try #require(gst_element_request_pad_simple(element, name))
        gst_element_set_state(element, GST_STATE_PAUSED)
        gst_element_set_state(element, GST_STATE_NULL)
        gst_object_unref(element)
        #expect(gst_pad_get_parent_element(pad) == nil)
        let caps = try #require(gst_pad_query_caps(pad, nil))
        gst_caps_unref(caps)
        #expect(gst_pad_send_event(pad, gst_event_new_stream_start("late")) == 0)
        #expect(gst_pad_chain(pad, guardedBuffer(follower.leading.frame).surrender()) == GST_FLOW_FLUSHING)
        gst_util_set_object_arg(
            UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GObject.self), "emit-signals", "true")
        gst_object_unref(pad)
    }

    @Test(arguments: FollowerPad.followed)
    func `a pad that nobody links holds a live stream no longer than until the frame is due`(followed: FollowerPad)
        throws
    {
        let (follower, name) = (followed.follower, followed.pad)
        let clock = TestClock()
        let bench = Bench(follower, [], clock: clock.clock)
        let pad = try #require(gst_element_request_pad_simple(bench.element, name))
        defer { gst_object_unref(pad) }
        bench.leading.start(follower.leading.caps)
        for number in 1...5 {
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            let frame = try #require(clock.runUntil(time(ofFrame: number)) { bench.output.present().first })
            #expect(frame.timing.start == time(ofFrame: number))
        }
        #expect(clock.lateWaits == 0)
    }

    @Test func `elements that are dropped at once leave nothing`() {
        let gone = Counter()
        for round in 0..<500 {
            let follower = Follower.all[round % Follower.all.count]
            let element = makeElement(round.isMultiple(of: 5) ? "depthtestsrc" : follower.factory)
            gone.watch(element)
            if round.isMultiple(of: 2), let pad = gst_element_request_pad_simple(element, follower.partner) {
                gone.watch(pad)
                gst_object_unref(pad)
            }
            gst_object_unref(element)
        }
        #expect(gone.watched > 500 && gone.gone == gone.watched)
    }
}

/// The cost of a request pad, over many.
@Suite struct RequestPadSoakTests {
    @Test(arguments: FollowerPad.followed)
    func `requesting and releasing a pad costs little and leaves the memory as it was`(followed: FollowerPad) throws {
        let (follower, name) = (followed.follower, followed.pad)
        let bench = Bench(follower, [])
        bench.leading.start(follower.leading.caps)
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next() != nil)
        let rounds = Soak.isFull ? 50_000 : 3_000
        var early = 0
        var start: gint64 = 0
        for round in 0..<rounds {
            if round == 500 { (early, start) = (residentMemory(), g_get_monotonic_time()) }
            let pad = try #require(gst_element_request_pad_simple(bench.element, name))
            gst_element_release_request_pad(bench.element, pad)
            try #require(eventually { pad.pointee.object.object.ref_count == 1 })
            gst_object_unref(pad)
            if round.isMultiple(of: 100) { #expect(bench.bus.discardAll() == 0) }
        }
        let each = Double(g_get_monotonic_time() - start) / Double(rounds - 500)
        print("requesting and releasing \(followed.testDescription): \(each) microseconds")
        Soak.expectSmallGrowth(since: early, limit: 128, after: "\(rounds) requests of \(name)")
        bench.leading.push(follower.leading.frame, at: frameDuration)
        #expect(bench.output.next() != nil)
    }
}

/// Requests a pad, begins a stream on it, and releases it.
private final class Visitor {
    private let element: UnsafeMutablePointer<GstElement>
    private let stream: Follower.Stream
    private(set) var refusals = 0

    init(_ element: UnsafeMutablePointer<GstElement>, _ stream: Follower.Stream) {
        self.element = element
        self.stream = stream
    }

    func visit() {
        guard let pad = gst_element_request_pad_simple(element, stream.pad) else {
            refusals += 1
            return
        }
        var segment = GstSegment.time()
        gst_pad_send_event(pad, gst_event_new_stream_start("visitor"))
        let caps = gst_caps_from_string(stream.caps)
        gst_pad_send_event(pad, gst_event_new_caps(caps))
        gst_caps_unref(caps)
        gst_pad_send_event(pad, gst_event_new_segment(&segment))
        let buffer = guardedBuffer(stream.frame)
        buffer.timing = BufferRef.Timing(start: 0, duration: frameDuration)
        gst_pad_chain(pad, buffer.surrender())
        gst_element_release_request_pad(element, pad)
        gst_object_unref(pad)
    }
}

/// Blocks a pad before its next buffer, does something there, and lets it go.
private final class BlockedPad {
    private let work: () -> Void
    private(set) var hasRun = false

    init(_ pad: UnsafeMutablePointer<GstPad>, _ work: @escaping () -> Void) {
        self.work = work
        gst_pad_add_probe(
            pad, GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue),
            { _, _, data in
                guard let data else { return GST_PAD_PROBE_REMOVE }
                let blocked = Unmanaged<BlockedPad>.fromOpaque(data).takeUnretainedValue()
                blocked.work()
                blocked.hasRun = true
                return GST_PAD_PROBE_REMOVE
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
    }
}
