import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// `attach-matte`: the matte as a meta of each output buffer.
@Suite struct MatteMetaTests {
    private static let depth = DepthShape("GRAY16_LE", 40, 30)
    /// Odd sizes, so that rows are padded.
    private static let video = VideoShape("I420", 81, 61)
    private static let counts = (0..<40 * 30).map { $0 % 40 < 20 ? 700 : 3000 }

    private func bench(_ properties: [String: String]) -> Bench {
        let bench = Bench(["depth"], ["anchor": "fixed", "blur-radius": "1"].with(properties))
        bench.depth.start(MatteMetaTests.depth)
        bench.video.start(MatteMetaTests.video)
        return bench
    }

    private func pushPair(_ bench: Bench, _ number: Int = 0) {
        bench.depth.push(MatteMetaTests.depth.bytes(counts: MatteMetaTests.counts), at: time(ofFrame: number))
        bench.video.push(noise(MatteMetaTests.video, seed: 1), at: time(ofFrame: number))
    }

    /// The rows of the attached matte without their padding; nil where there is none.
    private func attachedMatte(_ buffer: BufferPointer) throws -> [UInt8]? {
        guard let meta = gst_buffer_get_custom_meta(buffer, "DepthMatteMeta") else { return nil }
        let value = try #require(gst_structure_get_value(gst_custom_meta_get_structure(meta), "matte"))
        let sample = try #require(g_value_get_boxed(value).map { OpaquePointer($0) })
        let caps = try #require(gst_sample_get_caps(sample))
        #expect(caps.text.contains("GRAY8") && caps.text.contains("width=(int)81, height=(int)61"))
        let matte = try #require(gst_sample_get_buffer(sample))
        #expect(matte.pointee.pts == buffer.pointee.pts)
        let bytes = BufferRef(sharing: matte).bytes
        #expect(bytes.count == 84 * 61)
        for y in 0..<61 { #expect(bytes[y * 84 + 81..<y * 84 + 84].allSatisfy { $0 == 0 }, "the padding of row \(y)") }
        return (0..<61).flatMap { bytes[$0 * 84..<$0 * 84 + 81] }
    }

    private func attachedMatte(of bench: Bench) throws -> [UInt8]? {
        let frame = try #require(bench.output.next())
        return try attachedMatte(frame.buffer.pointer)
    }

    @Test(arguments: ["true", "false"])
    func `the followed head is a region of interest of a frame with its matte`(attaches: String) throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=3 face=false name=camera "
                + "camera.video ! video/x-raw,format=I420,width=640,height=360 ! m.video "
                + "camera.depth ! video/x-raw,width=640,height=360 ! m.depth "
                + "depthmatte name=m attach-matte=\(attaches) ! appsink name=sink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        let frames = pipeline.frames(of: "sink")
        #expect(frames.count == 3)
        for frame in frames {
            let region = gst_buffer_get_video_region_of_interest_meta_id(frame.buffer.pointer, 0)?.pointee
            #expect((region != nil) == (attaches == "true"))
            guard let region else { continue }
            #expect(String(cString: g_quark_to_string(region.roi_type)) == "head")
            // The middle of the face is near (288, 155).
            #expect(abs(Int(region.x + region.w / 2) - 288) < 40 && abs(Int(region.y + region.h / 2) - 155) < 40)
        }
    }

    @Test(arguments: ["fusion", "threshold"])
    func `the attached matte is the one that view=matte shows`(method: String) throws {
        for mode in ["color", "transparent", "blur"] {
            let bench = bench(["attach-matte": "true", "method": method, "background-mode": mode])
            pushPair(bench)
            let matte = try #require(try attachedMatte(of: bench), "\(mode)")
            let shown = self.bench(["view": "matte", "method": method])
            pushPair(shown)
            let luma = try #require(shown.output.next()).bytes
            // Luma of limited range.
            for y in 0..<61 {
                for x in 0..<81 {
                    let expected = Double(matte[y * 81 + x]) * 219 / 255 + 16
                    #expect(abs(expected - Double(luma[y * 84 + x])) <= 1, "\(mode), \(x), \(y)")
                }
            }
            #expect(matte.contains(255) && matte.contains(0))
        }
    }

    @Test func `a frame without depth has an empty matte, one that shows the video has none`() throws {
        for (policy, expected) in [("cover", [UInt8](repeating: 0, count: 81 * 61)), ("pass", nil)] {
            let bench = bench(["attach-matte": "true", "on-missing-depth": policy])
            bench.depth.end()
            bench.video.push(noise(MatteMetaTests.video, seed: 1), at: 0)
            #expect(try attachedMatte(of: bench) == expected, "\(policy)")
        }
        let original = bench(["attach-matte": "true", "view": "original"])
        pushPair(original)
        #expect(try attachedMatte(of: original) == nil)
    }

    @Test func `nothing is attached unless asked for; the property takes effect while playing`() throws {
        let bench = bench([:])
        for (number, isWanted) in [false, true, false].enumerated() {
            bench.set("attach-matte", isWanted ? "true" : "false")
            pushPair(bench, number)
            let frame = try #require(bench.output.next())
            #expect((try attachedMatte(frame.buffer.pointer) != nil) == isWanted)
        }
    }

    /// A scaler cannot scale the matte with the picture.
    @Test func `a scaler drops the matte, a queue keeps it`() throws {
        for (element, isKept) in [("queue", true), ("videoscale ! video/x-raw,width=32,height=32", false)] {
            let pipeline = Pipeline(
                "depthtestsrc name=camera num-buffers=2 camera.video ! video/x-raw,width=64,height=48 "
                    + "! depthmatte name=matte attach-matte=true "
                    + "! \(element) ! appsink name=sink sync=false wait-on-eos=false camera.depth ! matte.depth")
            #expect(pipeline.run() == .ended)
            let frame = try #require(pipeline.nextFrame(of: "sink"))
            #expect((gst_buffer_get_custom_meta(frame.buffer.pointer, "DepthMatteMeta") != nil) == isKept, "\(element)")
        }
    }
}
