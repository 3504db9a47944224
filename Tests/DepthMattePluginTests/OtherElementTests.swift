import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// `depthtestsrc` and `depthalign`, to which the rules for the other elements apply as well.
@Suite struct OtherElementTests {
    // MARK: Caps

    /// Downstream that takes pixels and pictures of every kind, as videoscale does and a deinterlacer.
    @Test(arguments: [
        "depthtestsrc num-buffers=1 !", "depthtestsrc num-buffers=1 name=camera camera.depth ! video/x-raw !",
        "depthtestsrc num-buffers=1 name=camera camera.depth ! video/x-depth !",
        "depthtestsrc num-buffers=1 name=camera camera.matte !", "depthtestsrc num-buffers=1 ! depthmatte !",
        "depthtestsrc num-buffers=1 ! depthcolorize !", "depthtestsrc num-buffers=1 ! depthcloud !",
        "videotestsrc num-buffers=1 ! \(ElementLine.registration) !",
    ])
    func `pixels are square and pictures whole where downstream takes any`(source: String) throws {
        let fields = "pixel-aspect-ratio=[1/2147483647,2147483647/1]"
        let media =
            source.contains("x-depth")
            ? ["video/x-depth,\(fields)"]
            : ["video/x-raw,\(fields)", "video/x-raw,interlace-mode={interleaved,progressive}"]
        for caps in media {
            let pipeline = Pipeline(
                "\(source) capsfilter caps=\"\(caps)\" ! appsink name=sink sync=false")
            pipeline.set(GST_STATE_PLAYING)
            let frame = try #require(pipeline.nextFrame(of: "sink"), "\(caps)")
            let aspect = frame.caps.firstRange(of: "pixel-aspect-ratio=(fraction)")
            #expect(aspect.map { frame.caps[$0.upperBound...].hasPrefix("1/1") } != false, "\(frame.caps)")
            #expect(!frame.caps.contains("interleaved"), "\(frame.caps)")
            pipeline.set(GST_STATE_NULL)
        }
    }

    // MARK: States

    /// With a sink that waits, downstream is blocked.
    @Test(
        arguments: ElementLine.all.suffix(2),
        ["fakesink sync=true ts-offset=3600000000000", "appsink max-buffers=1 sync=false"])
    func `NULL is reached while downstream is blocked`(line: ElementLine, sink: String) throws {
        for _ in 0..<5 {
            let pipeline = Pipeline(line.text + "queue max-size-buffers=2 ! " + sink)
            pipeline.set(GST_STATE_PLAYING)
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
    }

    // MARK: depthtestsrc

    private func frames(_ properties: String, video: String, depth: String, count: Int) -> [[UInt8]] {
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=\(count) \(properties) "
                + "camera.video ! video/x-raw,\(video) ! appsink name=video sync=false "
                + "camera.depth ! video/x-raw,format=GRAY16_LE,\(depth) ! appsink name=depth sync=false "
                + "camera.matte ! video/x-raw,\(video.replacing("I420", with: "GRAY8")) ! appsink name=matte sync=false"
        )
        line.set(GST_STATE_PLAYING)
        let all = ["video", "depth", "matte"].flatMap { line.frames(of: $0).map(\.bytes) }
        #expect(line.bus.errors().isEmpty)
        return all
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

    @Test func `no pattern is left out`() { #expect(OtherElementTests.patterns.count >= 5) }

    @Test(arguments: patterns)
    func `every pattern is the same in each run, and again after a seek`(pattern: String) throws {
        let name = "pattern=\(pattern) sensor=structured-light seed=3"
        let runs = (0..<2).map { _ in
            frames(name, video: "width=48,height=36", depth: "width=48,height=36", count: 3)
        }
        #expect(runs[0].count == 9 && runs[0] == runs[1])
        let line = Pipeline(
            "depthtestsrc name=camera num-buffers=20 \(name) camera.video ! video/x-raw,width=48,height=36 "
                + "! appsink name=sink sync=false max-buffers=2")
        line.set(GST_STATE_PAUSED)
        try #require(line.reached() == GST_STATE_CHANGE_SUCCESS && line.seek(to: time(ofFrame: 9)))
        try #require(line.reached() == GST_STATE_CHANGE_SUCCESS && line.seek(to: 0))
        line.set(GST_STATE_PLAYING)
        #expect(line.nextFrame(of: "sink")?.bytes == runs[0][0])
    }

    @Test(arguments: [1, 2, 3, 5, 7, 15, 16, 17, 31, 33, 1919])
    func `every stream is drawn in every size`(size: Int) {
        let all = frames(
            "pattern=person", video: "format=I420,width=\(size),height=\(min(size, 33))",
            depth: "width=\(min(size, 33)),height=\(size)", count: 1)
        let (rows, columns) = (min(size, 33), min(size, 33))
        let video = VideoShape("I420", size, rows).size
        #expect(
            all.map(\.count) == [
                video, VideoShape("GRAY16_LE", columns, size).size, VideoShape("GRAY8", size, rows).size,
            ])
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

    // MARK: depthalign

    @Test func `a frame that is late is dropped where the application asks for that, and the next is not`() throws {
        let depth = DepthShape("GRAY16_LE", 32, 24)
        let reader = try #require(DepthReader.all.last)
        let bench = reader.bench(["qos": "true"])
        reader.start(bench, depth, reader.video(1, 1))
        let map = depth.bytes(counts: sceneCounts(32, 24, largest: 2000))
        bench.leading.push(map, at: 0)
        let first = try #require(bench.output.next()).bytes
        // Half a second late: frames before that are over.
        gst_pad_push_event(
            bench.output.pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 500_000_000, time(ofFrame: 0)))
        for number in [1, 2, 60] { bench.leading.push(map, at: time(ofFrame: number)) }
        let next = try #require(bench.output.next())
        #expect(next.timing.start == time(ofFrame: 60) && next.bytes == first)
        #expect(bench.leading.settle() == GST_FLOW_OK && bench.bus.errors().isEmpty)
    }
}
