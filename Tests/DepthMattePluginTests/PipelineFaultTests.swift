import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Neighbours that fail, leave, or do not change their state: the application is told, and everything can be dropped.
@Suite struct PipelineFaultTests {
    // MARK: The way downstream is cut

    @Test(arguments: Follower.all)
    func `upstream of a source pad that is unlinked in flight is told`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        pair(bench, follower, 0)
        _ = try #require(bench.output.next())
        #expect(gst_pad_unlink(pad("src", of: bench.element), bench.output.pad) != 0)
        for frame in 1..<5 { pair(bench, follower, frame) }
        #expect(bench.leading.settle() == GST_FLOW_NOT_LINKED)
        #expect(bench.bus.errors() == [] && bench.bus.warnings() == [])
    }

    private func pair(_ bench: Bench, _ follower: Follower, _ frame: Int) {
        bench[follower.partner].push(follower.numbered(3), at: time(ofFrame: frame))
        bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
    }

    @Test(arguments: Follower.all)
    func `a stream that ended for want of a link plays again behind a new one`(follower: Follower) throws {
        // The sink takes every frame: a stream that waits for room there does not notice the cut.
        let pipeline = Pipeline(follower.camera + "identity name=next ! appsink name=sink sync=false")
        let (source, sink) = (pad("src", of: pipeline["element"]), pad("sink", of: pipeline["next"]))
        pipeline.set(GST_STATE_PLAYING)
        for round in 0..<20 {
            for _ in 0..<3 { _ = try #require(pipeline.nextFrame(of: "sink"), "round \(round)") }
            #expect(gst_pad_unlink(source, sink) != 0)
            // By the camera, neither of whose pads leads anywhere now.
            #expect(pipeline.bus.nextError()?.text == "Internal data stream error.", "round \(round)")
            #expect(pipeline.set(GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
            #expect(gst_pad_link(source, sink) == GST_PAD_LINK_OK)
            pipeline.set(GST_STATE_PLAYING)
        }
        _ = try #require(pipeline.nextFrame(of: "sink"))
    }

    @Test(arguments: Follower.all)
    func `a source pad that is unlinked and linked between two frames loses none`(follower: Follower) {
        let pipeline = Pipeline(
            follower.camera.replacing("depthtestsrc", with: "depthtestsrc num-buffers=200") + "identity name=next "
                + "! fakesink name=sink sync=false")
        let frames = PassingEvents(pad("sink", of: pipeline["sink"]))
        let (source, sink) = (pad("src", of: pipeline["element"]), pad("sink", of: pipeline["next"]))
        pipeline.set(GST_STATE_PLAYING)
        for round in 1...20 {
            gst_pad_add_probe(
                source, GST_PAD_PROBE_TYPE_IDLE,
                { source, _, sink in
                    let sink = sink?.assumingMemoryBound(to: GstPad.self)
                    gst_pad_unlink(source, sink)
                    gst_pad_link(source, sink)
                    return GST_PAD_PROBE_REMOVE
                }, sink, nil)
            #expect(eventually { frames.buffers >= 8 * round })
        }
        #expect(pipeline.bus.waitForEnd() == .ended)
        #expect(frames.buffers == 200)
    }

    /// An element's pad, lent for as long as the element lives.
    private func pad(_ name: String, of element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GstPad> {
        guard let pad = gst_element_get_static_pad(element, name) else { preconditionFailure("no pad \(name)") }
        gst_object_unref(pad)
        return pad
    }

    // MARK: Upstream fails or leaves

    @Test(arguments: FollowerPad.all.filter { ["depth", "video"].contains($0.pad) })
    func `an element before a pad that fails is heard, and the pipeline can be dropped`(input: FollowerPad) throws {
        let gone = Counter()
        for count in 0..<10 {
            let line = input.follower.camera.replacing(
                "! element.\(input.pad) ",
                with: "! identity name=faulty error-after=\(count + 1) ! element.\(input.pad) ")
            let pipeline = Pipeline(line + "fakesink sync=false")
            gone.watch(pipeline["element"])
            pipeline.set(GST_STATE_PLAYING)
            let error = try #require(pipeline.bus.nextError(), "after \(count)")
            #expect(error.text.contains("Failed after iterations as requested"), "\(error)")
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
        #expect(eventually { gone.gone == gone.watched })
    }

    @Test(arguments: FollowerPad.followed)
    func `a stream whose source is removed in flight leaves the others running`(input: FollowerPad) {
        let follower = input.follower
        let pipeline = Pipeline(
            follower.streams.map {
                "videotestsrc name=\($0.pad) \($0.pad == follower.leading.pad ? "num-buffers=300" : "") ! \($0.caps) "
                    + "! element.\($0.pad) "
            }.joined() + "\(follower.factory) name=element ! fakesink name=sink sync=false")
        let frames = PassingEvents(pad("sink", of: pipeline["sink"]))
        pipeline.set(GST_STATE_PLAYING)
        #expect(eventually { frames.buffers > 5 })
        remove(input.pad, from: pipeline, releasing: input.pad)
        #expect(pipeline.bus.waitForEnd() == .ended)
        #expect(frames.buffers == 300)
    }

    @Test(arguments: Follower.all)
    func `a pipeline whose leading source is removed in flight can be stopped and dropped`(follower: Follower) {
        let gone = Counter()
        for _ in 0..<5 {
            let pipeline = Pipeline(follower.pictures + "fakesink name=sink sync=false")
            gone.watch(pipeline["element"])
            let frames = PassingEvents(pad("sink", of: pipeline["sink"]))
            pipeline.set(GST_STATE_PLAYING)
            #expect(eventually { frames.buffers > 2 })
            remove(follower.leading.pad, from: pipeline)
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline.bus.errors() == [])
        }
        #expect(eventually { gone.gone == gone.watched })
    }

    /// Takes a source out of a playing pipeline, as an application does whose camera was unplugged.
    private func remove(_ name: String, from pipeline: Pipeline, releasing pad: String? = nil) {
        let source = pipeline[name]
        gst_object_ref(source)
        defer { gst_object_unref(source) }
        gst_bin_remove(UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self), source)
        if let pad, let target = gst_element_get_static_pad(pipeline["element"], pad) {
            gst_element_release_request_pad(pipeline["element"], target)
            gst_object_unref(target)
        }
        #expect(gst_element_set_state(source, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    }

    // MARK: A sink that fails

    @Test(
        arguments: Follower.factories + ["depthtestsrc"],
        [
            "null-to-ready", "ready-to-paused", "paused-to-playing", "playing-to-paused", "paused-to-ready",
            "ready-to-null",
        ]
    )
    func `a sink that fails to change its state does not keep the pipeline from going`(
        factory: String, transition: String
    ) {
        let gone = Counter()
        let line = Follower.all.first { $0.factory == factory }?.camera ?? "depthtestsrc name=element ! "
        for _ in 0..<2 {
            let pipeline = Pipeline(line + "fakesink name=sink state-error=\(transition)")
            gone.watch(pipeline["element"])
            let isUp = ["null-to-ready", "ready-to-paused", "paused-to-playing"].contains(transition)
            let start = pipeline.set(GST_STATE_PLAYING)
            let reached = start == GST_STATE_CHANGE_ASYNC ? pipeline.reached() : start
            #expect((reached == GST_STATE_CHANGE_FAILURE) == isUp)
            if !isUp { #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_FAILURE) }
            setProperty(pipeline["sink"], "state-error", "none")
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
        #expect(eventually { gone.gone == gone.watched })
    }
}
