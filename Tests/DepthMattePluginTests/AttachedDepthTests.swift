import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Depth maps that come with the video, as a meta of its buffers.
@Suite(.serialized) struct AttachedDepthTests {
    private static let sink = "appsink name=sink sync=false wait-on-eos=false"
    private static let video = "video/x-raw,format=I420,width=320,height=180,framerate=30/1"

    /// The first source of the process registers the meta.
    init() { #expect(Pipeline("depthtestsrc num-buffers=1 ! fakesink").run() == .ended) }

    private func hasDepth(_ buffer: BufferPointer) -> Bool { gst_buffer_get_custom_meta(buffer, "DepthMapMeta") != nil }

    /// What keeps the field of view keeps the depth; what crops, turns or frames the picture drops it.
    @Test(arguments: [
        ("identity", true), ("queue", true), ("tee ! queue", true), ("videoconvert ! video/x-raw,format=RGBA", true),
        ("videoscale ! video/x-raw,width=160,height=90", true), ("videorate ! video/x-raw,framerate=15/1", true),
        ("videoconvertscale ! video/x-raw,format=BGRx,width=640,height=360", true), ("videobalance contrast=0.5", true),
        ("videoscale ! video/x-raw,width=320,height=320,pixel-aspect-ratio=1/1", false),
        ("videocrop left=20", false), ("videocrop left=16 right=16 top=9 bottom=9", false),
        ("videoflip video-direction=horiz", false), ("videoflip video-direction=90r", false),
        ("videoflip video-direction=180", false), ("aspectratiocrop aspect-ratio=1/1", false),
        ("videobox left=10 top=10", false), ("videobox left=-10", false),
    ])
    func `depth stays with the field of view`(elements: String, isKept: Bool) throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=2 ! \(AttachedDepthTests.video) ! \(elements) ! \(AttachedDepthTests.sink)")
        #expect(pipeline.run() == .ended)
        let frame = try #require(pipeline.nextFrame(of: "sink"))
        #expect(hasDepth(frame.buffer.pointer) == isKept)
    }

    @Test(arguments: [
        ("depthmatte background-mode=blur", "RGBA"), ("depthmatte method=threshold", "RGBA"),
        ("depthmatte background-mode=transparent", "RGBA"), ("depthcolorize", "RGBA"), ("depthcolorize mix=1", "I420"),
        ("depthcolorize", "GRAY8"), ("depthcloud yaw=20", "RGBA"), ("depthcloud", "GRAY8"),
    ])
    func `the attached map makes the frames that the linked pad makes`(element: String, videoFormat: String) {
        let source = "depthtestsrc name=camera num-buffers=5 sensor=stereo"
        let format = AttachedDepthTests.video.replacing("I420", with: videoFormat)
        let chain = Pipeline("\(source) ! \(format) ! \(element) ! \(AttachedDepthTests.sink)")
        let pads = Pipeline(
            "\(source) camera.video ! \(format) ! matte.video "
                + "camera.depth ! video/x-raw,format=GRAY16_LE,width=640,height=360,framerate=30/1 ! matte.depth "
                + "\(element) name=matte ! \(AttachedDepthTests.sink)")
        #expect(chain.run() == .ended && pads.run() == .ended)
        let (one, other) = (chain.frames(of: "sink"), pads.frames(of: "sink"))
        #expect(one.count == 5 && one.map(\.bytes) == other.map(\.bytes))
        #expect(one.allSatisfy { gst_buffer_get_custom_meta($0.buffer.pointer, "DepthMapMeta") == nil })
        #expect(chain.bus.warnings() == [])
    }

    @Test(arguments: ["depthmatte view=matte", "depthcolorize", "depthcloud"])
    func `depth-ts-offset moves the maps of a pad, and none that comes with its frame`(element: String) {
        let source = "depthtestsrc name=camera num-buffers=9"
        let format = AttachedDepthTests.video.replacing("I420", with: "RGBA")
        let depth = "video/x-raw,format=GRAY16_LE,width=320,height=180,framerate=30/1"
        func frames(delay: Int, offset: Int, isAttached: Bool) -> [[UInt8]] {
            let shown = "\(element) name=shown depth-ts-offset=\(offset) hold-time=0 max-skew=5000000"
            let pipeline = Pipeline(
                isAttached
                    ? "\(source) ! \(format) ! \(shown) ! \(AttachedDepthTests.sink)"
                    : "\(source) depth-delay=\(delay) camera.video ! \(format) ! shown.video "
                        + "camera.depth ! \(depth) ! shown.depth \(shown) ! \(AttachedDepthTests.sink)")
            #expect(pipeline.run() == .ended)
            return pipeline.frames(of: "sink").map(\.bytes)
        }
        let usual = frames(delay: 0, offset: 0, isAttached: false)
        let mended = frames(delay: 100_000_000, offset: -100_000_000, isAttached: false)
        // A frame leaves for each of the video in `depthmatte`, and for each map, three frames later, in the others.
        let same = element.contains("depthmatte") ? mended.dropLast(3) : mended.dropFirst(3)
        #expect(usual.count == 9 && mended.count == 9 && Array(same) == Array(usual.dropLast(3)))
        let attached = [-100_000_000, 0].map { frames(delay: 0, offset: $0, isAttached: true) }
        #expect(attached[0].count == 9 && attached[0] == attached[1])
    }

    @Test(arguments: [
        "depthtestsrc num-buffers=3 ! depthmatte ! fakesink",
        "depthtestsrc num-buffers=3 ! videoconvert ! tee ! queue ! depthmatte background-mode=blur ! fakesink",
        "depthtestsrc num-buffers=3 ! depthcolorize ! fakesink",
        "depthtestsrc num-buffers=3 ! queue ! video/x-raw,format=NV12 ! depthcolorize ! fakesink",
        "depthtestsrc num-buffers=3 ! video/x-raw,format=BGRx ! depthcloud ! fakesink",
    ])
    func `one chain needs no names`(line: String) {
        let pipeline = Pipeline(line)
        #expect(pipeline.run() == .ended)
        #expect(pipeline.bus.warnings() == [])
    }

    @Test(arguments: [
        ("videocrop left=20", "(videocrop), so no frame has depth"),
        ("queue ! videoflip name=turn video-direction=90r ! videobalance", "is lost in turn (videoflip)"),
        ("videobox left=10 top=10 ! videoscale", "(videobox), so no frame has depth"),
        ("videoscale ! video/x-raw,width=320,height=320,pixel-aspect-ratio=1/1", "is lost on the way"),
    ])
    func `one warning says where the depth is lost`(elements: String, words: String) {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=9 name=camera ! \(AttachedDepthTests.video) ! \(elements) ! videoconvert "
                + "! depthmatte name=matte ! fakesink")
        #expect(pipeline.run() == .ended)
        let warnings = pipeline.bus.warnings().map(\.text)
        #expect(warnings.count == 1 && warnings[0].contains(words), "\(warnings)")
        #expect(warnings.first?.contains("link the depth pad: camera.depth ! matte.depth") == true)
    }

    @Test(arguments: [
        (
            "attach-depth=false", "",
            "attach-depth of camera is off, so no frame has depth. Switch it on, or link the depth pad"
        ),
        (
            "", "camera.depth ! fakesink",
            "The depth pad of camera is linked elsewhere, so its video brings no depth. Put a tee"
        ),
        ("dropouts=1", "", "camera sends no depth map with its video. Link the depth pad"),
    ])
    func `one warning says what a source does that attaches no maps`(properties: String, rest: String, words: String) {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=9 name=camera \(properties) camera.video ! queue ! \(AttachedDepthTests.video) "
                + "! depthmatte name=matte ! fakesink \(rest)")
        #expect(pipeline.run() == .ended)
        let warnings = pipeline.bus.warnings().map(\.text)
        #expect(warnings.count == 1 && warnings[0].hasPrefix(words), "\(warnings)")
        #expect(warnings.first?.hasSuffix("ink the depth pad: camera.depth ! matte.depth.") == true, "\(warnings)")
    }

    @Test func `a program that hands the buffers on hands the depth on`() throws {
        let camera = Pipeline("depthtestsrc num-buffers=3 ! \(AttachedDepthTests.video) ! \(AttachedDepthTests.sink)")
        #expect(camera.run() == .ended)
        let frames = camera.frames(of: "sink")
        let matte = Pipeline(
            "appsrc name=source format=time caps=\"\(AttachedDepthTests.video)\" ! depthmatte view=matte "
                + "! \(AttachedDepthTests.sink)")
        matte.set(GST_STATE_PLAYING)
        for frame in frames { matte.push(frame.buffer, into: "source") }
        matte.end("source")
        let mattes = matte.frames(of: "sink")
        #expect(mattes.count == 3 && mattes.allSatisfy { Set($0.bytes).count > 10 } && matte.bus.warnings() == [])
    }

    @Test func `no map outlives its pipeline`() {
        // The pool of the maps keeps a pair of sockets.
        func run() { #expect(Pipeline("depthtestsrc num-buffers=5 ! depthmatte ! fakesink").run() == .ended) }
        run()
        let files = openFiles()
        for _ in 0..<3 { run() }
        #expect(eventually { openFiles() <= files })
    }

    // MARK: Elements that depth leads

    private static let led = ["depthcolorize", "depthcloud"]

    /// Video of the sizes of `Room` with attached maps into a pad.
    private func ledPipeline(_ factory: String, _ pad: String) -> Pipeline {
        Pipeline(
            "appsrc name=source format=time caps=\"video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1\" "
                + "! element.\(pad) \(factory) name=element ! \(AttachedDepthTests.sink)")
    }

    /// A frame for that pipeline.
    private func frame(_ number: Int, _ fault: Fault? = nil) throws -> BufferRef {
        let buffer = guardedBuffer([UInt8](repeating: 90, count: 64 * 48))
        try attach(fault, number, to: buffer.pointer)
        buffer.pointer.pointee.pts = time(ofFrame: number)
        buffer.pointer.pointee.duration = time(ofFrame: 1)
        return buffer
    }

    @Test(arguments: led, ["video", "depth"])
    func `a frame without its map is dropped, and video is never drawn as depth`(factory: String, pad: String) throws {
        for fault in Fault.allCases {
            let pipeline = ledPipeline(factory, pad)
            pipeline.set(GST_STATE_PLAYING)
            for number in 0..<6 { pipeline.push(try frame(number, 2..<4 ~= number ? fault : nil), into: "source") }
            pipeline.end("source")
            let frames = pipeline.frames(of: "sink")
            let kept = [.missing, .untimed, .gap].contains(fault) ? [0, 1, 4, 5] : Array(0..<6)
            #expect(frames.map(\.buffer.pointer.pointee.pts) == kept.map { time(ofFrame: $0) }, "\(fault)")
            #expect(frames.last?.bytes == frames.first?.bytes, "\(fault)")
            #expect(pipeline.bus.errors().isEmpty)
        }
    }

    @Test(arguments: led) func `a depth pad that is linked later leads from then on`(factory: String) throws {
        let pipeline = Pipeline(
            "appsrc name=depth format=time caps=\"\(Room.depth.caps)\" appsrc name=source format=time "
                + "caps=\"video/x-raw,format=RGB,width=64,height=48,framerate=30/1\" "
                + "! element.video \(factory) name=element ! \(AttachedDepthTests.sink)")
        pipeline.set(GST_STATE_PLAYING)
        func push(_ buffer: BufferRef, _ number: Int, to source: String) {
            buffer.pointer.pointee.pts = time(ofFrame: number)
            pipeline.push(buffer, into: source)
        }
        let carrier = guardedBuffer(Room.picture)
        try attach(nil, 0, to: carrier.pointer)
        push(carrier, 0, to: "source")
        let first = try #require(pipeline.nextFrame(of: "sink"))
        #expect(gst_element_link_pads(pipeline["depth"], "src", pipeline["element"], "depth") != 0)
        let depthPad = staticPad("depth", of: pipeline["element"])
        push(guardedBuffer(Room.wall(600)), 1, to: "depth")
        // The pad leads once its stream has begun; until then a frame without a map is dropped.
        #expect(eventually { gst_pad_get_sticky_event(depthPad, GST_EVENT_SEGMENT, 0).map(gst_event_unref) != nil })
        for number in 2..<4 { push(guardedBuffer(Room.wall(600)), number, to: "depth") }
        for number in 1..<4 { push(guardedBuffer(Room.picture), number, to: "source") }
        pipeline.end("depth")
        pipeline.end("source")
        let frames = pipeline.frames(of: "sink")
        #expect(frames.map(\.buffer.pointer.pointee.pts) == (1..<4).map { time(ofFrame: $0) })
        #expect(frames.allSatisfy { $0.bytes.count == first.bytes.count } && pipeline.bus.errors().isEmpty)
    }

    @Test(arguments: led, ["video", "depth"])
    func `frames in a list are frames`(factory: String, pad: String) throws {
        let complaints = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        complaints.initialize(to: 0)
        let handler = g_log_set_handler(
            "GStreamer", G_LOG_LEVEL_CRITICAL,
            { _, _, _, count in count?.assumingMemoryBound(to: Int.self).pointee += 1 }, complaints)
        defer {
            g_log_remove_handler("GStreamer", handler)
            complaints.deallocate()
        }
        let pipeline = ledPipeline(factory, pad)
        pipeline.set(GST_STATE_PLAYING)
        pipeline.push(try frame(0), try frame(1), try frame(2), into: "source")
        pipeline.end("source")
        #expect(pipeline.frames(of: "sink").count == 3 && complaints.pointee == 0)
    }

    @Test(arguments: led) func `one chain is sought`(factory: String) throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=90 ! \(AttachedDepthTests.video) ! \(factory) ! \(AttachedDepthTests.sink)")
        pipeline.set(GST_STATE_PAUSED)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        #expect(pipeline.seek(to: 1_000_000_000) && pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        pipeline.set(GST_STATE_PLAYING)
        let frames = pipeline.frames(of: "sink")
        #expect(frames.map(\.buffer.pointer.pointee.pts) == (30..<90).map { time(ofFrame: $0) })
        #expect(pipeline.bus.errors().isEmpty)
    }

    // MARK: Privacy

    enum Fault: CaseIterable { case missing, early, late, future, untimed, torn, otherSize, gap }

    /// Attaches a map by which the whole picture is near.
    private func attach(_ fault: Fault?, _ number: Int, to buffer: BufferPointer) throws {
        if fault == .missing { return }
        let shape = fault == .otherSize ? DepthShape("GRAY16_LE", 16, 12) : Room.depth
        let near = shape.bytes(counts: [Int](repeating: 600, count: shape.width * shape.height))
        let map = guardedBuffer(fault == .torn ? Array(near.prefix(7)) : fault == .gap ? [] : near)
        if fault == .gap { map.pointer.pointee.mini_object.flags |= GST_BUFFER_FLAG_GAP.rawValue }
        map.pointer.pointee.pts =
            switch fault {
            case .late: time(ofFrame: number) &- min(time(ofFrame: number), 3_000_000_000)
            case .future: time(ofFrame: number + 90)
            case .untimed: noClockTime
            default: time(ofFrame: number)
            }
        let caps = try #require(gst_caps_from_string(shape.caps))
        defer { gst_caps_unref(caps) }
        let sample = try #require(gst_sample_new(map.pointer, caps, nil, nil))
        let meta = try #require(gst_buffer_add_custom_meta(buffer, "DepthMapMeta"))
        var value = GValue()
        g_value_init(&value, gst_sample_get_type())
        g_value_take_boxed(&value, UnsafeRawPointer(sample))
        gst_structure_take_value(gst_custom_meta_get_structure(meta), "depth", &value)
    }

    @Test func `without times each frame is shown by its own map`() throws {
        let bench = Bench([], ["anchor": "fixed", "cutoff": "1", "blur-radius": "0"])
        bench.video.start(Room.shape)
        for number in 0..<4 {
            let buffer = guardedBuffer(Room.picture)
            try attach(number == 2 ? .missing : .untimed, number, to: buffer.pointer)
            bench.video.push(buffer)
            #expect(Room.shown(bench.output.next()) == (number == 2 ? 0 : Room.all), "frame \(number)")
        }
    }

    @Test(arguments: Fault.allCases, ["threshold", "fusion"])
    func `attached depth with a fault shows nothing of the room`(fault: Fault, method: String) throws {
        let bench = Bench([], ["method": method, "anchor": "fixed", "cutoff": "1", "blur-radius": "0"])
        bench.video.start(Room.shape)
        for number in 0..<120 where number < 3 || number >= 100 && number < 104 {
            let isFaulty = number >= 100 && number < 102
            let buffer = guardedBuffer(Room.picture)
            try attach(isFaulty ? fault : nil, number, to: buffer.pointer)
            bench.video.push(buffer, at: time(ofFrame: number))
            let frame = try #require(bench.output.next(), "frame \(number)")
            let expected = !isFaulty || fault == .otherSize || fault == .early ? Room.all : 0
            #expect(Room.shown(frame) == expected, "frame \(number)")
        }
        #expect(bench.bus.errors().isEmpty)
    }
}
