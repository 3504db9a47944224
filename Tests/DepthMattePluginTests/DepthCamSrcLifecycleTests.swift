import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// `depthcamsrc` through states, with the stand-ins of the libraries.
@Suite(.serialized) struct DepthCamSrcLifecycleTests {
    private static let drivers = FakeLibrary.drivers

    /// The path of the stand-in for a driver's library, with its defaults.
    private func library(_ driver: String) throws -> String { try FakeLibrary.of(driver: driver).library }

    private func pipeline(_ driver: String, _ properties: String = "") throws -> Pipeline {
        let sink = "appsink sync=false wait-on-eos=false max-buffers=2 drop=true"
        return Pipeline(
            "depthcamsrc name=camera driver=\(driver) library=\(try library(driver)) \(properties) "
                + "camera.video ! \(sink) name=video camera.depth ! \(sink) name=depth")
    }

    @Test(arguments: drivers) func `two hundred state cycles leave nothing behind`(driver: String) throws {
        let pipeline = try pipeline(driver)
        for cycle in 0..<200 {
            #expect(pipeline.set(GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
            if cycle.isMultiple(of: 20) { #expect(pipeline.nextFrame(of: "depth") != nil, "cycle \(cycle)") }
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline["camera"].pointee.object.object.ref_count <= 3, "cycle \(cycle)")
        }
        #expect(pipeline.bus.errors().isEmpty)
    }

    @Test(arguments: drivers) func `elements and pads go with the pipeline`(driver: String) throws {
        let gone = Counter()
        for _ in 0..<20 {
            let pipeline = try pipeline(driver)
            gone.watch(pipeline["camera"])
            for pad in ["video", "depth"] {
                let pad = try #require(gst_element_get_static_pad(pipeline["camera"], pad))
                gone.watch(pad)
                gst_object_unref(pad)
            }
            pipeline.set(GST_STATE_PLAYING)
            #expect(pipeline.nextFrame(of: "video") != nil)
        }
        #expect(gone.watched == 20 * 3 && gone.gone == gone.watched)
    }

    @Test(arguments: drivers) func `playing again after READY is as the first time`(driver: String) throws {
        let pipeline = try pipeline(driver, "num-buffers=5")
        for _ in 0..<4 {
            #expect(pipeline.run() == .ended)
            let frames = pipeline.frames(of: "depth")
            // The sink keeps the last ones.
            #expect(!frames.isEmpty && frames.allSatisfy { $0.buffer.pointer.pointee.offset < 5 })
            pipeline.set(GST_STATE_READY)
        }
        #expect(pipeline.bus.errors().isEmpty)
    }

    @Test(arguments: drivers, [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING])
    func `events from the application do no harm in any state`(driver: String, state: GstState) throws {
        let element = makeElement("depthcamsrc", ["driver": driver, "library": try library(driver)])
        defer { gst_object_unref(element) }
        expectNoHarm(ofEventsTo: element, in: state)
    }

    @Test(arguments: drivers)
    func `properties set from another thread while frames flow do no harm`(driver: String) throws {
        let pipeline = try pipeline(driver)
        pipeline.set(GST_STATE_PLAYING)
        // The camera has started: what it starts with must be a preset that it has.
        #expect(pipeline.nextFrame(of: "depth") != nil)
        gst_object_ref(pipeline["camera"])
        let setter = g_thread_new(
            "setter",
            { data in
                guard let data else { return nil }
                let element = data.assumingMemoryBound(to: GstElement.self)
                for round in 0..<2000 {
                    setProperty(element, "exposure", "\(round % 100)")
                    setProperty(element, "emitter", round.isMultiple(of: 2) ? "on" : "off")
                    setProperty(element, "preset", "preset \(round)")
                    setProperty(element, "align", round.isMultiple(of: 3) ? "video" : "none")
                    setProperty(element, "serial", "\(round)")
                    setProperty(element, "timeout", "\(60_000_000_000 + round)")
                }
                gst_object_unref(data)
                return nil
            }, pipeline["camera"])
        for _ in 0..<20 { #expect(pipeline.nextFrame(of: "depth") != nil) }
        g_thread_join(setter)
        #expect(pipeline.nextFrame(of: "video") != nil)
        #expect(pipeline.bus.errors().isEmpty)
    }
}
