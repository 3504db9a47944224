import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// `depthtestsrc`.
@Suite struct TestSourceTests {
    /// All three streams of a source, small, each to its app sink.
    private func pipeline(
        _ properties: String, video: String = "", depth: String = "", matte: String = ""
    ) -> Pipeline {
        Pipeline(
            "depthtestsrc name=camera \(properties) "
                + "camera.video ! video/x-raw,width=64,height=36\(video) ! appsink name=video sync=false "
                + "camera.depth ! video/x-\(depth.isEmpty ? "raw" : depth),width=64,height=36 ! appsink name=depth sync=false "
                + "camera.matte ! video/x-raw,width=64,height=36\(matte) ! appsink name=matte sync=false")
    }

    private func frames(_ pipeline: Pipeline) -> [String: [Pipeline.Frame]] {
        pipeline.set(GST_STATE_PLAYING)
        return Dictionary(uniqueKeysWithValues: ["video", "depth", "matte"].map { ($0, pipeline.frames(of: $0)) })
    }

    /// The values of the property.
    private static let patterns: [String] = {
        let element = makeElement("depthtestsrc")
        defer { gst_object_unref(element) }
        let table = UnsafeMutableRawPointer(element.pointee.object.object.g_type_instance.g_class)
            .assumingMemoryBound(to: GObjectClass.self)
        guard let spec = g_object_class_find_property(table, "pattern") else { return [] }
        let choices = UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GParamSpecEnum.self).pointee.enum_class
            .pointee
        return (0..<Int(choices.n_values)).map { String(cString: choices.values[$0].value_nick) }
    }()

    @Test func `no pattern is left out`() { #expect(TestSourceTests.patterns.count >= 5) }

    @Test(arguments: patterns.map { "pattern=\($0) sensor=stereo seed=3" } + ["", "noise=0.01 holes=0.1 seed=7"])
    func `each frame is the same in each run, and after a seek`(properties: String) throws {
        let runs = (0..<2).map { _ in
            frames(pipeline("num-buffers=12 \(properties)")).mapValues { $0.map(\.bytes) }
        }
        #expect(runs[0].values.map(\.count) == [12, 12, 12] && runs[0] == runs[1])
        let line = pipeline("num-buffers=12 \(properties)")
        line.set(GST_STATE_PAUSED)
        for number in [10, 9] {
            try #require(line.reached() == GST_STATE_CHANGE_SUCCESS && line.seek(to: time(ofFrame: number)))
        }
        let sought = frames(line)
        for (name, stream) in sought {
            #expect(stream.map(\.timing.start) == (9..<12).map { time(ofFrame: $0) }, "\(name)")
        }
        #expect(sought.mapValues { $0.map(\.bytes) } == runs[0].mapValues { $0.suffix(3) })
    }

    @Test(arguments: ["structured-light", "stereo", "tof", "phone"])
    func `a sensor changes the depth alone, and the same in each run`(sensor: String) {
        let exact = frames(pipeline("num-buffers=3")).mapValues { $0.map(\.bytes) }
        let runs = (0..<2).map { _ in
            frames(pipeline("num-buffers=3 sensor=\(sensor)")).mapValues { $0.map(\.bytes) }
        }
        #expect(runs[0]["depth"]?.count == 3)
        #expect(runs[0] == runs[1])
        #expect(runs[0]["video"] == exact["video"])
        #expect(runs[0]["matte"] == exact["matte"])
        #expect(runs[0]["depth"] != exact["depth"])
        let holed = frames(pipeline("num-buffers=3 sensor=\(sensor) holes=0.3")).mapValues { $0.map(\.bytes) }
        #expect(holed["depth"] != runs[0]["depth"], "holes come on top")
        let beside = frames(pipeline("num-buffers=3 sensor=\(sensor) parallax=0")).mapValues { $0.map(\.bytes) }
        #expect(
            (beside["depth"] == runs[0]["depth"]) == (sensor == "phone"), "a phone fills what its camera does not see")
    }

    /// 60° is what elements assume without a calibration.
    @Test(arguments: [
        (lens: "", focal: nil), ("lens=60", nil), ("lens=90", "\"fx\": 32"), ("lens=40", "\"fx\": 87.9"),
    ])
    func `the depth caps tell the lens where it is not 60 degrees`(lens: String, focal: String?) throws {
        let pipeline = pipeline("num-buffers=1 \(lens)")
        let first = try #require(frames(pipeline)["depth"]?.first)
        #expect(first.caps.contains("calibration") == (focal != nil))
        if let focal { #expect(first.caps.replacing("\\", with: "").contains(focal), "\(first.caps)") }
    }

    @Test func `the ideal sensor is the exact depth`() {
        let runs = ["", "sensor=ideal"].map { frames(pipeline("num-buffers=3 \($0)"))["depth"]?.map(\.bytes) }
        #expect(runs[0]?.count == 3)
        #expect(runs[0] == runs[1])
    }

    @Test func `another seed gives other pictures`() {
        let runs = [1, 2].map { seed in
            frames(pipeline("num-buffers=1 noise=0.01 seed=\(seed)")).mapValues { $0.map(\.bytes) }
        }
        #expect(runs[0]["depth"] != runs[1]["depth"])
        #expect(runs[0]["video"] != runs[1]["video"])
    }

    @Test func `all streams end with the video, each at its own rate`() {
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=10 "
                + "camera.video ! video/x-raw,width=16,height=9,framerate=10/1 ! appsink name=video sync=false "
                + "camera.depth ! video/x-raw,width=16,height=9,framerate=5/1 ! appsink name=depth sync=false "
                + "camera.matte ! video/x-raw,width=16,height=9,framerate=25/1 ! appsink name=matte sync=false")
        let counts = frames(line).mapValues(\.count)
        #expect(counts == ["video": 10, "depth": 5, "matte": 25])
    }

    @Test func `no frame is asked for, no frame comes`() {
        #expect(frames(pipeline("num-buffers=0")).mapValues(\.count) == ["video": 0, "depth": 0, "matte": 0])
    }

    @Test func `timestamps follow one another without a gap`() {
        for stream in frames(pipeline("num-buffers=7")).values {
            for (index, frame) in stream.enumerated() {
                #expect(frame.timing.start == time(ofFrame: index))
                #expect(frame.timing.duration == time(ofFrame: index + 1) - time(ofFrame: index))
            }
        }
    }

    @Test(arguments: ["pattern=person", "pattern=ramp", "noise=0.02 holes=0.05 seed=3"])
    func `counts, big-endian counts and metres agree`(properties: String) throws {
        let counts = try #require(frames(pipeline("num-buffers=2 \(properties)"))["depth"]?.last).bytes
        let swapped = try #require(
            frames(
                Pipeline(
                    "depthtestsrc name=camera num-buffers=2 \(properties) camera.video ! video/x-raw,width=16,height=9 ! fakesink "
                        + "camera.depth ! video/x-raw,format=GRAY16_BE,width=64,height=36 ! appsink name=depth sync=false "
                        + "fakesrc num-buffers=0 ! appsink name=video fakesrc num-buffers=0 ! appsink name=matte")
            )["depth"]?.last
        ).bytes
        let metres = try #require(
            frames(pipeline("num-buffers=2 \(properties)", depth: "depth"))["depth"]?.last
        ).bytes
        for sample in 0..<64 * 36 {
            let count = Int(counts[sample * 2]) | Int(counts[sample * 2 + 1]) << 8
            #expect(count == Int(swapped[sample * 2 + 1]) | Int(swapped[sample * 2]) << 8)
            let value = metres.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: sample * 4, as: Float.self) }
            if count == 0 {
                #expect(!(value >= 0.001), "\(value)")
            } else {
                #expect(abs(Double(value) * 1000 - Double(count)) <= 0.51)
            }
        }
    }

    @Test func `blank measures nothing, and holes their share`() throws {
        let blank = try #require(frames(pipeline("num-buffers=1 pattern=blank"))["depth"]?.first).bytes
        #expect(blank.allSatisfy { $0 == 0 })
        let ramp = try #require(frames(pipeline("num-buffers=1 pattern=ramp holes=0.3"))["depth"]?.first).bytes
        let holes = (0..<64 * 36).count { ramp[$0 * 2] == 0 && ramp[$0 * 2 + 1] == 0 }
        #expect(abs(Double(holes) / (64 * 36) - 0.3) < 0.05)
    }

    @Test func `the ramp runs from half a metre to four and a half`() throws {
        let ramp = try #require(frames(pipeline("num-buffers=1 pattern=ramp"))["depth"]?.first).bytes
        let row = (0..<64).map { Int(ramp[$0 * 2]) | Int(ramp[$0 * 2 + 1]) << 8 }
        #expect(zip(row, row.dropFirst()).allSatisfy { $0 < $1 })
        #expect(abs(row[0] - 500) < 70 && abs(row[63] - 4500) < 70, "\(row)")
    }

    @Test func `the face is on the person and off when asked`() throws {
        func box(_ properties: String) throws -> GstVideoRegionOfInterestMeta? {
            let frames = frames(pipeline("num-buffers=1 \(properties)"))
            let frame = try #require(frames["video"]?.first)
            let meta = gst_buffer_get_video_region_of_interest_meta_id(frame.buffer.pointer, 0)
            if let meta, let matte = frames["matte"]?.first?.bytes {
                let (x, y) = (Int(meta.pointee.x + meta.pointee.w / 2), Int(meta.pointee.y + meta.pointee.h / 2))
                #expect(x < 64 && y < 36)
                #expect(matte[y * 64 + x] == 255, "the middle of the face belongs to the person")
            }
            return meta?.pointee
        }
        let face = try #require(try box(""))
        #expect(g_quark_to_string(face.roi_type).map { String(cString: $0) } == "face")
        #expect(face.w > 4 && face.h > 4)
        #expect(try box("face=false") == nil)
        #expect(try box("pattern=ramp") == nil)
    }

    @Test func `depthmatte cuts out almost exactly the true matte`() throws {
        let cut = Pipeline(
            "depthtestsrc num-buffers=8 name=camera camera.video ! video/x-raw,width=320,height=180 ! cutter.video "
                + "camera.depth ! video/x-raw,width=320,height=180 ! cutter.depth "
                + "depthmatte name=cutter view=matte blur-radius=1 gamma=1 ! videoconvert ! video/x-raw,format=GRAY8 "
                + "! appsink name=video sync=false "
                + "camera.matte ! video/x-raw,width=320,height=180 ! appsink name=matte sync=false")
        cut.set(GST_STATE_PLAYING)
        let (own, exact) = (cut.frames(of: "video"), cut.frames(of: "matte"))
        try #require(own.count == 8 && exact.count == 8)
        for (own, exact) in zip(own, exact) {
            let pairs = zip(own.bytes, exact.bytes).map { ($0 >= 128, $1 >= 128) }
            let (both, either) = (pairs.count { $0 && $1 }, pairs.count { $0 || $1 })
            #expect(either > 2000)
            #expect(Double(both) / Double(either) > 0.95, "IoU \(Double(both) / Double(either))")
        }
    }

    // MARK: Negotiation

    @Test(arguments: templateFormats(ofPad: "video", of: "depthtestsrc"))
    func `every video format can be had`(format: String) {
        let frames = Pipeline(
            "depthtestsrc num-buffers=2 name=camera camera.video "
                + "! video/x-raw,format=\(format),width=33,height=17 ! appsink name=video sync=false")
        frames.set(GST_STATE_PLAYING)
        let shape = VideoShape(format, 33, 17)
        let sizes = frames.frames(of: "video").map(\.bytes.count)
        #expect(sizes == [shape.size, shape.size])
    }

    @Test(arguments: ["video", "depth", "matte"])
    func `one pad alone plays`(pad: String) {
        let line = "depthtestsrc num-buffers=2 name=camera camera.\(pad) ! video/x-raw,width=16,height=9 ! fakesink"
        #expect(Pipeline(line).run() == .ended)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 1919])
    func `every stream is drawn in every size`(size: Int) {
        let (video, depth) = (VideoShape("I420", size, min(size, 33)), VideoShape("GRAY16_LE", min(size, 33), size))
        let matte = VideoShape("GRAY8", video.width, video.height)
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=1 "
                + [("video", video), ("depth", depth), ("matte", matte)].map { pad, shape in
                    "camera.\(pad) ! video/x-raw,format=\(shape.format),width=\(shape.width),height=\(shape.height) "
                        + "! appsink name=\(pad) sync=false "
                }.joined())
        let sizes = frames(line).mapValues { $0.map(\.bytes.count) }
        #expect(sizes == ["video": [video.size], "depth": [depth.size], "matte": [matte.size]])
    }

    @Test(arguments: [("1/1000", 1000.0), ("1000000/1", 1e-6), ("30000/1001", 1001.0 / 30_000), ("2147483647/1", 0)])
    func `a rate may be as slow or as fast as caps can say`(rate: String, seconds: Double) throws {
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=3 camera.video ! video/x-raw,width=4,height=3,framerate=\(rate) "
                + "! appsink name=sink sync=false")
        line.set(GST_STATE_PLAYING)
        let starts = line.frames(of: "sink").map(\.timing.start)
        #expect(starts == (0..<3).map { GstClockTime(Double($0) * seconds * 1e9) })
    }

    @Test func `a still picture has no rate`() throws {
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=3 camera.video ! video/x-raw,width=4,height=3,framerate=0/1 "
                + "! appsink name=sink sync=false")
        line.set(GST_STATE_PLAYING)
        let (frames, error) = (line.frames(of: "sink"), line.bus.errors().first)
        // Refused with a reason, or one frame after the other; never a loop without an end.
        #expect(frames.isEmpty == (error != nil) && frames.count <= 3)
    }

    @Test func `no linked pad at all is an error`() {
        let alone = Pipeline("depthtestsrc name=camera fakesrc num-buffers=1 is-live=true ! fakesink async=false")
        alone.set(GST_STATE_PLAYING)
        #expect(alone.bus.nextError() != nil)
    }

    @Test(arguments: [
        ("video", "width=(int)1280, height=(int)720"), ("depth", "width=(int)640, height=(int)360"),
        ("matte", "width=(int)1280, height=(int)720"),
    ])
    func `a sink that takes anything gets the preferred size`(pad: String, size: String) {
        let line = Pipeline("depthtestsrc num-buffers=1 name=camera camera.\(pad) ! appsink name=sink sync=false")
        line.set(GST_STATE_PLAYING)
        #expect(line.nextFrame(of: "sink")?.caps.contains(size) == true)
    }

    @Test func `a picture that is too large is one error`() throws {
        let line = Pipeline(
            "depthtestsrc name=camera camera.depth ! video/x-raw,format=GRAY16_LE,width=32768,height=32768 ! fakesink")
        line.set(GST_STATE_PLAYING)
        let error = try #require(line.bus.nextError())
        #expect(error.domain == "gst-stream-error-quark", "\(error)")
        line.set(GST_STATE_NULL)
        #expect(line.bus.errors().isEmpty)
    }

    // MARK: Ends and seeks

    @Test(arguments: ["camera", nil])
    func `all three streams end when the application sends an end to the source, or to the pipeline`(
        source: String?
    ) throws {
        let line = Pipeline(
            "depthtestsrc name=camera camera.video ! video/x-raw,width=16,height=9 ! fakesink sync=false "
                + "camera.depth ! video/x-raw,width=16,height=9 ! fakesink sync=false camera.matte "
                + "! video/x-raw,width=16,height=9 ! fakesink sync=false")
        line.set(GST_STATE_PLAYING)
        try #require(line.reached() == GST_STATE_CHANGE_SUCCESS)
        try #require(gst_element_send_event(source.map { line[$0] } ?? line.pointer, gst_event_new_eos()) != 0)
        #expect(line.bus.waitForEnd() == .ended)
    }

    @Test func `delayed depth is that of an earlier video frame`() {
        let usual = frames(pipeline("num-buffers=9"))
        let delayed = frames(pipeline("num-buffers=9 depth-delay=100000000"))
        #expect(delayed["depth"]?.dropFirst(3).map(\.bytes) == usual["depth"]?.dropLast(3).map(\.bytes))
        #expect(delayed["depth"]?.map(\.timing.start) == usual["depth"]?.map(\.timing.start))
        for stream in ["video", "matte"] { #expect(delayed[stream]?.map(\.bytes) == usual[stream]?.map(\.bytes)) }
    }

    @Test func `the room is empty, and changes, for its time in the video, and with depth-delay later in the map`() {
        let usual = frames(pipeline("num-buffers=9")).mapValues { $0.map(\.bytes) }
        let empty = frames(pipeline("num-buffers=9 empty-until=100000000 depth-delay=100000000"))
            .mapValues { $0.map(\.bytes) }
        #expect(
            empty["matte"]?.map { $0.contains { $0 > 0 } } == [false, false, false, true, true, true, true, true, true])
        #expect(empty["video"]?.dropFirst(3) == usual["video"]?.dropFirst(3))
        #expect(Set(empty["depth"]?.prefix(6) ?? []).count == 1)
        #expect(empty["depth"]?.dropFirst(6) == usual["depth"]?[3..<6])
        let changed = frames(pipeline("num-buffers=9 change=door change-time=100000000")).mapValues { $0.map(\.bytes) }
        for stream in ["video", "depth"] {
            #expect(zip(usual[stream] ?? [], changed[stream] ?? []).map(==) == (0..<9).map { $0 < 3 }, "\(stream)")
        }
        #expect(changed["matte"] == usual["matte"])
    }

    @Test func `dropped depth frames leave gap events, and the others their times`() throws {
        let usual = frames(pipeline("num-buffers=40"))
        let line = pipeline("num-buffers=40 dropouts=0.3")
        let log = PadLog(line["camera"], pad: "depth")
        let streams = frames(line)
        let depth = try #require(streams["depth"])
        #expect((20...36).contains(depth.count))
        #expect(log.count(of: "gap") == 40 - depth.count)
        #expect(streams["video"]?.count == 40 && streams["matte"]?.count == 40)
        let all = Dictionary(uniqueKeysWithValues: (usual["depth"] ?? []).map { ($0.timing.start, $0.bytes) })
        for frame in depth { #expect(all[frame.timing.start] == frame.bytes) }
        for (last, next) in zip(log.segments[0].frames, log.segments[0].frames.dropFirst()) {
            #expect(next.isDiscontinuous == (last.end < next.start))
        }
        #expect(
            frames(pipeline("num-buffers=5 dropouts=1")).mapValues(\.count) == ["video": 5, "depth": 0, "matte": 5])
    }

    @Test func `a still scene stands, and its noise goes on`() {
        let streams = frames(pipeline("num-buffers=4 still=true pattern=dim sensor=tof")).mapValues { $0.map(\.bytes) }
        #expect(Set(streams["video"] ?? []).count == 4)
        #expect(Set(streams["depth"] ?? []).count == 4)
        #expect(Set(streams["matte"] ?? []).count == 1)
    }

    @Test func `a live source sends each frame at its time`() throws {
        let clock = TestClock()
        let line = Pipeline(
            "depthtestsrc is-live=true num-buffers=5 name=camera camera.video ! video/x-raw,width=16,height=9 "
                + "! appsink name=video sync=false")
        let bin = UnsafeMutableRawPointer(line.pointer).assumingMemoryBound(to: GstPipeline.self)
        gst_pipeline_use_clock(bin, clock.clock)
        #expect(line.set(GST_STATE_PAUSED) == GST_STATE_CHANGE_NO_PREROLL)
        line.set(GST_STATE_PLAYING)
        for number in 0..<5 {
            try #require(clock.reach(time(ofFrame: number)))
            #expect(line.nextFrame(of: "video")?.timing.start == time(ofFrame: number))
        }
        line.set(GST_STATE_NULL)
    }
}
