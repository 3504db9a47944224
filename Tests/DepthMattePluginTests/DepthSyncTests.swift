import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// The property `depth-sync`: what is reported, warned of and corrected of depth that is late or beside the video.
@Suite(.serialized) struct DepthSyncTests {
    /// A stream of the test camera, and what depthmatte said of it.
    struct Run {
        let stats: Stats
        let warnings: [String]

        init(_ camera: String, _ matte: String, frames: Int, depth: String = "") {
            let pipeline = Pipeline(
                "depthtestsrc name=camera num-buffers=\(frames) \(camera) camera.video ! queue ! "
                    + "video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! matte.video "
                    + "camera.depth ! video/x-raw,width=320,height=180 ! \(depth) queue ! matte.depth "
                    + "depthmatte name=matte \(matte) ! fakesink")
            #expect(pipeline.run(patience: 120) == .ended)
            stats = Stats(of: pipeline["matte"])
            warnings = pipeline.bus.warnings().map(\.text)
        }

        var milliseconds: Double { Double(stats.signed("depth-lag") ?? 0) / 1e6 }
        var isLagKnown: Bool { stats.truth("depth-lag-known") == true }
        func shift(_ axis: String) -> Double? {
            stats.truth("depth-shift-\(axis)-known") == true ? stats.real("depth-shift-\(axis)") : nil
        }
    }

    @Test(arguments: [0, 66, 166])
    func `late depth is measured within 10 ms in 4 s, and named`(delay: Int) {
        let run = Run("depth-delay=\(delay)000000", "", frames: 130)
        #expect(run.isLagKnown && abs(run.milliseconds - Double(delay)) < 10, "\(run.milliseconds) ms")
        guard delay > 0 else { return #expect(run.warnings == []) }
        #expect(run.warnings.count == 1, "\(run.warnings)")
        #expect(run.warnings.first?.hasPrefix("Depth shows what the video showed ") == true, "\(run.warnings)")
        #expect(run.warnings.first?.contains(" ms before (+-") == true, "\(run.warnings)")
        #expect(run.warnings.first?.contains("Set depth-ts-offset to -") == true, "\(run.warnings)")
    }

    @Test func `depth beside the video is named with the value to set`() {
        let run = Run("", "depth-offset-x=12", frames: 130)
        #expect(abs((run.shift("x") ?? 0) + 12) <= 2, "\(String(describing: run.shift("x")))")
        #expect(run.warnings.count == 1, "\(run.warnings)")
        #expect(
            run.warnings.first?.hasPrefix("The depth map lies 1") == true
                && run.warnings.first?.contains("to the right of the person's outline. Set depth-offset-x to ") == true,
            "\(run.warnings)")
    }

    @Test(arguments: [
        ("still=true", "", false), ("depth-delay=66000000", "depth-sync=timestamps", false),
        ("depth-delay=66000000", "method=threshold", false),
        ("depth-delay=66000000", "depth-ts-offset=-66000000", true),
    ])
    func `what is right or cannot be seen brings no warning`(camera: String, matte: String, isKnown: Bool) {
        let run = Run(camera, matte, frames: 130)
        #expect(run.warnings == [])
        #expect(run.isLagKnown == isKnown && (!isKnown || abs(run.milliseconds) < 10), "\(run.milliseconds) ms")
    }

    /// depthmatte tells it to the elements before its depth pad.
    @Test func `depthalign warns where its calibration does not fit the picture`() {
        var lens = Calibration(
            depth: CameraIntrinsics(width: 320, height: 180, fx: 250, fy: 250, cx: 159.5, cy: 89.5))
        lens.color = lens.depth
        lens.color?.cx += 6
        let folder = TemporaryFolder()
        let file = folder.write("calibration.json", Array(lens.json.utf8))
        let run = Run("", "", frames: 130, depth: "depthalign calibration=\(file) ! video/x-raw,width=320,height=180 !")
        #expect(abs((run.shift("x") ?? 0) + 12) <= 2, "\(String(describing: run.shift("x")))")
        #expect(run.warnings.count == 2, "\(run.warnings)")
        #expect(run.warnings.first?.hasPrefix("The calibration does not fit the picture. ") == true, "\(run.warnings)")
        #expect(run.warnings.last?.contains("Set depth-offset-x to -1") == true, "\(run.warnings)")
        // With the property the shift is of its making.
        lens.color = lens.depth
        let good = folder.write("good.json", Array(lens.json.utf8))
        let align = "depthalign calibration=\(good) ! video/x-raw,width=320,height=180 !"
        let moved = Run("", "depth-offset-x=12", frames: 130, depth: align)
        #expect(moved.warnings.map { $0.contains("calibration") } == [false], "\(moved.warnings)")
    }

    /// As depthcamsrc may do.
    @Test(arguments: ["report", "measured"])
    func `a lag that is corrected upstream brings no warning and no correction of its own`(sync: String) throws {
        let pipeline = Pipeline(
            "depthtestsrc name=camera num-buffers=130 depth-delay=66000000 camera.video ! queue ! "
                + "video/x-raw,format=I420,width=640,height=360,framerate=30/1 ! matte.video "
                + "camera.depth ! video/x-raw,width=320,height=180 ! identity name=source ! queue ! matte.depth "
                + "depthmatte name=matte depth-sync=\(sync) ! fakesink")
        let pad = try #require(gst_element_get_static_pad(pipeline["source"], "src"))
        defer { gst_object_unref(pad) }
        let lags = Monitor([Int64]())
        answerQueries(on: pad) { query in
            var lag: gint64 = 0
            guard query.pointee.type == GST_QUERY_CUSTOM, let fault = gst_query_writable_structure(query),
                gst_structure_get_int64(fault, "lag", &lag) != 0
            else { return nil }
            lags.withLock { $0.append(Int64(lag)) }
            fault.set("is-corrected", to: true)
            return true
        }
        #expect(pipeline.run(patience: 120) == .ended)
        let told = lags.withLock { $0 }
        #expect(told.count == 1 && told.allSatisfy { abs($0 - 66_000_000) < 10_000_000 }, "\(told)")
        #expect(pipeline.bus.warnings() == [])
        // The measurement began anew, and no time was shifted.
        #expect(Stats(of: pipeline["matte"]).signed("skew") == 0)
    }

    @Test func `in a live pipeline a correction of the lag grows the latency, and frames keep their depth`() throws {
        let pipeline = Pipeline(
            "depthtestsrc name=camera is-live=true depth-delay=100000000 camera.video ! queue ! "
                + "video/x-raw,width=640,height=360,framerate=30/1 ! matte.video "
                + "camera.depth ! video/x-raw,width=320,height=180 ! queue ! matte.depth "
                + "depthmatte name=matte depth-sync=measured ! fakesink sync=true")
        let query = try #require(gst_query_new_latency())
        defer { gst_query_unref(query) }
        func latency() -> GstClockTime {
            var least: GstClockTime = 0
            if gst_element_query(pipeline.pointer, query) != 0 { gst_query_parse_latency(query, nil, &least, nil) }
            return least
        }
        func count(_ field: String) -> Int { Int(Stats(of: pipeline["matte"])[field] ?? 0) }
        pipeline.set(GST_STATE_PLAYING)
        #expect(eventually { count("paired") > 10 })
        let before = latency()
        #expect(eventually { latency() >= before + 90_000_000 })
        #expect(latency() <= before + 110_000_000)
        #expect(pipeline.bus.count(of: GST_MESSAGE_LATENCY) >= 1)
        let paired = count("paired")
        #expect(eventually { count("paired") >= paired + 30 })
        #expect(pipeline.bus.warnings() == [])
    }

    @Test func `measured corrects lag and offset, and then nothing is left`() {
        let run = Run("depth-delay=100000000", "depth-sync=measured depth-offset-x=12", frames: 300)
        #expect(run.warnings == [])
        #expect(run.isLagKnown && abs(run.milliseconds) < 10, "\(run.milliseconds) ms")
        #expect(abs(run.shift("x") ?? 99) <= 2, "\(String(describing: run.shift("x")))")
    }
}
