import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Caps queries and request pads.
@Suite struct NegotiationTests {
    private func transparent() -> Bench {
        Bench(
            ["depth"], ["background-mode": "transparent"],
            downstream: "video/x-raw, format=(string){ NV12, BGRA, A420 }")
    }

    @Test func `a transparent output asks for the formats whose siblings downstream takes, and then for the others`() {
        let bench = transparent()
        let allowed = bench.video.allowedCaps()
        let withoutSibling = allowed.split(separator: "NV12", maxSplits: 1)
        #expect(withoutSibling.count == 2, "\(allowed)")
        for format in ["I420", "BGRx", "BGRA", "A420"] {
            #expect(withoutSibling.first?.contains(format) == true, "\(allowed)")
        }
        for format in ["RGB,", "RGBA", "AYUV", "YUY2"] { #expect(!allowed.contains(format), "\(allowed)") }
    }

    @Test func `who could send a format with a sibling is offered no other, and who cannot what it has`() {
        let bench = transparent()
        let both = bench.video.allowedCaps(filter: "video/x-raw, format=(string){ NV12, YUY2, I420 }")
        #expect(both.contains("I420") && !both.contains("NV12"), "\(both)")
        let rest = bench.video.allowedCaps(filter: "video/x-raw, format=(string){ NV12, YUY2 }")
        #expect(rest.contains("NV12") && !rest.contains("YUY2"), "\(rest)")
    }

    @Test(arguments: ["transparent", "color"])
    func `video that downstream does not take is refused with a reason`(mode: String) {
        let bench = Bench(["depth"], ["background-mode": mode], downstream: "video/x-raw, format=(string)RGBA")
        bench.video.start(VideoShape("NV12", 64, 48))
        bench.video.push(noise(VideoShape("NV12", 64, 48), seed: 1), at: 0)
        #expect(bench.video.settle() == GST_FLOW_NOT_NEGOTIATED)
        let errors = bench.bus.errors()
        #expect(errors.count == 1 && errors.first?.text.contains("videoconvert") == true, "\(errors)")
    }

    @Test(arguments: ["transparent", "color"])
    func `a pipeline in which nothing can be agreed on hears of it from the element first`(
        mode: String
    ) throws {
        let pipeline = Pipeline(
            """
            videotestsrc ! video/x-raw,format=NV12 ! depthmatte background-mode=\(mode)
                ! capsfilter name=after ! fakesink
            """)
        // Behind the parser, which would not link what cannot be.
        setProperty(pipeline["after"], "caps", "video/x-raw,format=RGBA")
        let error = try #require(pipeline.run().error)
        #expect(error.text.hasPrefix("On the video pad: ") && error.text.contains("videoconvert"), "\(error)")
    }

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

    @Test func `colorimetry, aspect and rate of the video are kept`() throws {
        let fields = "colorimetry=(string)bt709, chroma-site=(string)mpeg2, pixel-aspect-ratio=(fraction)10/11"
        let shape = VideoShape("I420", 64, 48, fields: fields)
        for mode in ["color", "transparent"] {
            let bench = Bench([], ["background-mode": mode])
            bench.video.start(shape)
            bench.video.push(noise(shape, seed: 1), at: 0)
            let caps = try #require(bench.output.next()).caps
            for field in ["bt709", "mpeg2", "10/11", "framerate=(fraction)30/1"] {
                #expect(caps.contains(field), "\(mode): \(caps)")
            }
        }
    }

    // MARK: Request pads

    private func request(_ element: UnsafeMutablePointer<GstElement>, _ name: String) -> UnsafeMutablePointer<GstPad>? {
        gst_element_request_pad_simple(element, name)
    }

    @Test(arguments: ["depth", "face", "background", "segmentation"])
    func `a second pad of a kind is refused`(name: String) {
        let element = makeElement("depthmatte")
        defer { gst_object_unref(element) }
        let first = request(element, name)
        #expect(first != nil)
        // By template: GStreamer itself finds fault with a second request by name.
        let template = gst_element_get_pad_template(element, name)
        #expect(gst_element_request_pad(element, template, nil, nil) == nil)
        if let first {
            gst_element_release_request_pad(element, first)
            gst_object_unref(first)
        }
    }

    @Test(arguments: ["depth_0", "sink", "Depth", "video_%u", "stats"])
    func `a name that is no template's is refused`(name: String) {
        let element = makeElement("depthmatte")
        defer { gst_object_unref(element) }
        #expect(request(element, name) == nil)
    }

    @Test func `depth released while playing covers the next frame, asked for again it counts`() {
        let bench = Bench.room()
        #expect(Room.shown(bench.pair(0, depth: Room.wall(700))) == Room.all)
        bench.release("depth")
        bench.video.push(Room.picture, at: time(ofFrame: 1))
        #expect(Room.shown(bench.output.next()) == 0)
        bench.request("depth").start(Room.depth)
        #expect(Room.shown(bench.pair(2, depth: Room.wall(700))) == Room.all)
    }
}
