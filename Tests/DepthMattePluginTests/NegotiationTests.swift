import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Caps queries and request pads.
@Suite struct NegotiationTests {
    @Test func `the video pad offers what downstream takes`() {
        let bench = Bench(
            ["depth"], downstream: "video/x-raw, format=(string){ NV12, P010_10LE }, width=(int)[ 1, 640 ]")
        let allowed = bench.video.allowedCaps()
        #expect(allowed.contains("NV12") && allowed.contains("[ 1, 640 ]"), "\(allowed)")
        #expect(!allowed.contains("P010") && !allowed.contains("RGB"), "\(allowed)")
    }

    @Test func `downstream does not limit the other pads`() {
        let bench = Bench(["depth", "face", "background"], downstream: Room.shape.caps)
        #expect(bench.depth.allowedCaps().contains("GRAY16_LE"))
        #expect(bench.depth.allowedCaps().contains("video/x-depth"))
        #expect(bench.background.allowedCaps().contains("2147483647"))
        #expect(bench.face.allowedCaps().contains("2147483647"))
    }

    @Test func `a filter is honoured`() {
        let bench = Bench()
        let allowed = bench.video.allowedCaps(filter: "video/x-raw, format=(string)I420, width=(int)7")
        #expect(allowed.contains("I420") && allowed.contains("(int)7") && !allowed.contains("RGB"), "\(allowed)")
        #expect(bench.video.allowedCaps(filter: "audio/x-raw") == "EMPTY")
    }

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

    @Test(arguments: ["video", "depth", "face", "background"])
    func `a picture that is far too large is refused by its size and the limit`(pad: String) {
        let bench = Bench(["depth", "face", "background"])
        let format = pad == "depth" ? "GRAY16_LE" : "RGB"
        let sides = [99_999_999, Int(gint.max)]
        for side in sides {
            bench[pad].start(
                "video/x-raw, format=(string)\(format), width=(int)\(side), height=(int)\(side), "
                    + "framerate=(fraction)30/1")
        }
        bench[pad].settle()
        let texts = bench.bus.errors().map(\.text)
        #expect(texts.count == 2)
        for (text, side) in zip(texts, sides) {
            #expect(text.contains("\(side)x\(side) is over the limit of 65536 pixels a side"), "\(text)")
        }
    }

    @Test(arguments: [
        "video/x-raw(memory:DMABuf), format=(string)RGB, width=(int)8, height=(int)8",
        "video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8",
        "video/x-raw, format=(string)RGB, width=(int)0, height=(int)8",
        "video/x-raw, format=(string)RGB", "image/png",
    ])
    func `video caps that are not listed are refused`(caps: String) {
        let bench = Bench([])
        bench.video.start(caps)
        bench.video.push([1, 2, 3], at: 0)
        #expect(bench.video.settle() == GST_FLOW_NOT_NEGOTIATED)
        #expect(bench.output.present().isEmpty)
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

    @Test(arguments: ["0/1", "1/1000", "1000000/1"])
    func `odd frame rates are kept`(rate: String) throws {
        let bench = Bench([])
        bench.video.start(
            "video/x-raw, format=(string)RGB, width=(int)64, height=(int)48, framerate=(fraction)\(rate)")
        bench.video.push(Room.picture, at: 0)
        #expect(try #require(bench.output.next()).caps.contains(rate))
    }

    @Test func `interlaced video passes with a warning`() throws {
        let bench = Bench([])
        let shape = VideoShape("RGB", 64, 48, fields: "interlace-mode=(string)interleaved")
        bench.video.start(shape)
        bench.video.push(Room.picture, at: 0)
        #expect(try #require(bench.output.next()).caps.contains("interleaved"))
        #expect(bench.bus.warnings().first?.text.contains("interlaced") == true)
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

    @Test(arguments: ["depth", "face", "background", "segmentation"])
    func `a pad that was released can be asked for again`(name: String) {
        let element = makeElement("depthmatte")
        defer { gst_object_unref(element) }
        for _ in 0..<100 {
            guard let pad = request(element, name) else {
                Issue.record("refused")
                return
            }
            gst_element_release_request_pad(element, pad)
            #expect(pad.pointee.object.object.ref_count == 1)
            gst_object_unref(pad)
        }
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
