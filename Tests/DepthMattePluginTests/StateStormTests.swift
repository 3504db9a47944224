import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// States that change fast, in any order, and with the rest of the pipeline playing.
@Suite struct StateStormTests {
    @Test(arguments: ElementLine.all)
    func `every state of a long mixed list is reached`(line: ElementLine) throws {
        let (null, ready, paused, playing) = (GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING)
        let parts: [([GstState], Int)] = [
            ([playing, null, paused, ready], 3), ([paused, ready], 4), ([paused, null], 6), ([playing, null], 6),
            ([playing, ready], 3), ([playing, paused], 4), ([ready, null, playing, paused, null], 3),
        ]
        let states = parts.flatMap { part, times in (0..<times).flatMap { _ in part } }
        let pipeline = Pipeline(line.text + "fakesink sync=false")
        for (step, state) in states.enumerated() {
            try #require(pipeline.set(state) != GST_STATE_CHANGE_FAILURE, "step \(step)")
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "step \(step)")
            #expect(pipeline.pointer.pointee.current_state == state)
        }
        #expect(states.count > 60 && pipeline.bus.errors().isEmpty)
    }

    @Test(arguments: Follower.all)
    func `a hundred pauses and changes of the clock lose no frame`(follower: Follower) throws {
        let pipeline = Pipeline(follower.pictures + " appsink name=sink sync=true max-buffers=2")
        let bin = UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstPipeline.self)
        let clocks = [GST_CLOCK_TYPE_MONOTONIC, GST_CLOCK_TYPE_REALTIME].map { type in
            makeClock(type)
        }
        defer { for clock in clocks { gst_object_unref(clock) } }
        var starts: [GstClockTime] = []
        for round in 0..<100 {
            if round.isMultiple(of: 10) { gst_pipeline_use_clock(bin, clocks[round / 10 % 2]) }
            pipeline.set(GST_STATE_PLAYING)
            starts.append(try #require(pipeline.nextFrame(of: "sink"), "round \(round)").timing.start)
            // As an application does when the clock is lost.
            gst_element_post_message(
                pipeline["element"], gst_message_new_clock_lost(object(pipeline["element"]), clocks[round / 10 % 2]))
            pipeline.set(GST_STATE_PAUSED)
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "round \(round)")
        }
        #expect(starts == (0..<100).map { time(ofFrame: $0) })
        #expect(pipeline.bus.errors().isEmpty)
    }

    private func makeClock(_ type: GstClockType) -> UnsafeMutablePointer<GstClock> {
        let clock = g_object_new_with_properties(gst_system_clock_get_type(), 0, nil, nil)
        guard let clock else { preconditionFailure("no memory for a clock") }
        gst_object_ref_sink(clock)
        gst_util_set_object_arg(clock, "clock-type", type == GST_CLOCK_TYPE_REALTIME ? "realtime" : "monotonic")
        return UnsafeMutableRawPointer(clock).assumingMemoryBound(to: GstClock.self)
    }

    private func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GstObject> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
    }

    @Test(
        arguments: Follower.factories + ["depthtestsrc", "depthalign", "depthunpack"],
        [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING])
    func `events from the application do no harm in any state`(factory: String, state: GstState) {
        let element = makeElement(factory)
        defer { gst_object_unref(element) }
        let requests = Follower.all.filter { $0.factory == factory }.flatMap(\.followed).map {
            gst_element_request_pad_simple(element, $0.pad)
        }
        defer { for request in requests { gst_object_unref(request) } }
        expectNoHarm(ofEventsTo: element, in: state)
    }

    @Test(arguments: Follower.all)
    func `an element is as new after events in every state`(follower: Follower) {
        let pipeline = Pipeline(
            follower.pictures.replacing("videotestsrc", with: "videotestsrc num-buffers=5")
                + " appsink name=sink sync=false")
        // A serialized event to a prerolled pipeline would wait for it to play, as with any element.
        for (state, event) in [
            (GST_STATE_NULL, gst_event_new_eos()), (GST_STATE_READY, gst_event_new_eos()),
            (GST_STATE_PAUSED, newSeek(GST_SEEK_FLAG_FLUSH)),
        ] {
            pipeline.set(state)
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            gst_element_send_event(pipeline["element"], event)
            pipeline.set(GST_STATE_READY)
        }
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.frames(of: "sink").map(\.timing.start) == (0..<5).map { time(ofFrame: $0) })
    }

    @Test(arguments: Follower.all)
    func `an element joins and leaves a playing pipeline`(follower: Follower) throws {
        let pipeline = Pipeline(
            "videotestsrc ! \(follower.leading.caps) ! tee name=tee ! queue ! fakesink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let gone = Counter()
        for round in 0..<20 {
            let branch = try Branch(pipeline, follower.factory)
            gone.watch(branch.element)
            try #require(eventually { branch.frames > 5 }, "round \(round)")
            branch.leave()
        }
        // Messages on the bus hold their senders.
        #expect(pipeline.bus.discardAll() == 0)
        #expect(gone.gone == 20)
    }
}

private func newSeek(_ flags: GstSeekFlags) -> UnsafeMutablePointer<GstEvent>? {
    gst_event_new_seek(1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0)
}

/// Sends an element in a state what applications send, again and again, and expects that it stops and nobody holds it.
func expectNoHarm(ofEventsTo element: UnsafeMutablePointer<GstElement>, in state: GstState) {
    #expect(gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE)
    for _ in 0..<3 {
        for event in [
            newSeek(GST_SEEK_FLAG_FLUSH), newSeek(GST_SEEK_FLAG_NONE), gst_event_new_flush_start(),
            gst_event_new_flush_stop(1), gst_event_new_eos(), gst_event_new_latency(10 * millisecond),
            gst_event_new_reconfigure(),
        ] { gst_element_send_event(element, event) }
    }
    #expect(gst_element_set_state(element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
    #expect(gst_element_set_state(element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    #expect(element.pointee.object.object.ref_count == 1)
}

/// A tee's branch with an element in it that follows the tee's stream.
private final class Branch {
    private let pipeline: Pipeline
    private let elements: [UnsafeMutablePointer<GstElement>]
    private let source: UnsafeMutablePointer<GstPad>
    private let passing: PassingFrames
    private(set) var count = 0

    var element: UnsafeMutablePointer<GstElement> { elements[1] }

    var frames: Int {
        count += passing.take().count
        return count
    }

    init(_ pipeline: Pipeline, _ factory: String) throws {
        self.pipeline = pipeline
        elements = [
            makeElement("queue"), makeElement(factory),
            makeElement("fakesink", ["sync": "false", "async": "false"]),
        ]
        passing = PassingFrames(elements[2])
        let bin = UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self)
        for element in elements { gst_bin_add(bin, element) }
        try #require(gst_element_link(elements[0], elements[1]) != 0 && gst_element_link(elements[1], elements[2]) != 0)
        for element in elements.reversed() { try #require(gst_element_sync_state_with_parent(element) != 0) }
        source = try #require(gst_element_request_pad_simple(pipeline["tee"], "src_%u"))
        let sink = staticPad("sink", of: elements[0])
        try #require(gst_pad_link(source, sink) == GST_PAD_LINK_OK)
    }

    /// Unlinks the branch while no buffer is on its way into it, and drops it.
    func leave() {
        let done = g_async_queue_new()
        gst_pad_add_probe(
            source, GST_PAD_PROBE_TYPE_IDLE,
            { pad, _, done in
                guard let pad, let peer = gst_pad_get_peer(pad), let done else { return GST_PAD_PROBE_REMOVE }
                gst_pad_unlink(pad, peer)
                gst_object_unref(peer)
                g_async_queue_push(OpaquePointer(done), UnsafeMutableRawPointer(bitPattern: 1))
                return GST_PAD_PROBE_REMOVE
            }, UnsafeMutableRawPointer(done), nil)
        #expect(g_async_queue_timeout_pop(done, 20_000_000) != nil)
        g_async_queue_unref(done)
        let bin = UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self)
        for element in elements {
            gst_element_set_state(element, GST_STATE_NULL)
            gst_bin_remove(bin, element)
        }
        gst_element_release_request_pad(pipeline["tee"], source)
        gst_object_unref(source)
        for element in elements { gst_object_unref(element) }
    }
}
