import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// `depthpack` and `depthunpack`: what one puts into a picture the other takes out.
@Suite struct DepthVideoTests {
    private static let codings = ["gray", "black", "record3d", "realsense", "depthkit"]
    private static let layouts = ["side-by-side", "side-by-side-swapped", "top-bottom", "top-bottom-swapped"]
    private static let sink = "appsink sync=false wait-on-eos=false"
    private static let size = "width=160,height=90"
    private static let source =
        "depthtestsrc name=camera num-buffers=3 still=true "
        + "camera.video ! video/x-raw,format=I420,width=160,height=92 ! pack.video "
        + "camera.depth ! video/x-raw,format=GRAY16_LE,width=160,height=92 ! pack.depth"

    /// The samples of a map in millimetres.
    private func distances(_ frame: Pipeline.Frame) -> [Int] {
        let bytes = frame.bytes
        return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
    }

    private func run(_ line: String) -> (video: [Pipeline.Frame], depth: [Pipeline.Frame], warnings: [String]) {
        let pipeline = Pipeline(line)
        #expect(pipeline.run() == .ended)
        return (pipeline.frames(of: "video"), pipeline.frames(of: "depth"), pipeline.bus.warnings().map(\.text))
    }

    private let ends =
        "unpack.video ! queue ! \(DepthVideoTests.sink) name=video unpack.depth ! queue ! \(DepthVideoTests.sink) name=depth"

    @Test(arguments: DepthVideoTests.codings, DepthVideoTests.layouts)
    func `every coding and layout comes back`(coding: String, layout: String) throws {
        let (video, depth, warnings) = run(
            "\(DepthVideoTests.source) depthpack name=pack coding=\(coding) layout=\(layout) ! depthunpack name=unpack "
                + ends)
        let plain = Pipeline(
            DepthVideoTests.source.replacing("pack.video", with: "\(DepthVideoTests.sink) name=video")
                .replacing("pack.depth", with: "\(DepthVideoTests.sink) name=depth"))
        #expect(plain.run() == .ended)
        let exact = plain.frames(of: "depth")
        #expect(video.count == 3 && depth.count == 3 && exact.count == 3 && warnings == [])
        #expect(video.map(\.bytes) == plain.frames(of: "video").map(\.bytes))
        #expect(video.map(\.timing) == depth.map(\.timing))
        let far = coding == "record3d" || coding == "depthkit" ? 2900 : 7900
        let pairs = zip(distances(depth[0]), distances(exact[0])).filter { $0.1 > 500 && $0.1 < far }
        let wrong = pairs.count { abs(Double($0.0 - $0.1)) > 12 + 0.035 * Double($0.1) }
        // Two by two pixels share the chroma, by which hue is read at an edge.
        let most = ["gray", "black"].contains(coding) ? 0.01 : 0.1
        #expect(pairs.count > 5000 && Double(wrong) < most * Double(pairs.count), "\(wrong) of \(pairs.count)")
        #expect(depth[0].caps.contains("GRAY16_LE") && depth[0].caps.contains("depth-unit=(double)0.001"))
    }

    /// A way of a coding through a codec, and the largest mean errors of measured distances from 0.5 to 1 m and from 2 to 3 m, in
    /// millimetres.
    struct Coder: Sendable, CustomTestStringConvertible {
        let (coding, name, line): (String, String, String)
        let (near, far): (Double, Double)

        var testDescription: String { "\(coding), \(name)" }

        private static func row(_ coding: String, _ name: String, _ line: String, _ near: Double, _ far: Double) -> Self
        {
            Coder(coding: coding, name: name, line: line, near: near, far: far)
        }

        private static let vp8 = "vp8enc deadline=1 cpu-used=8 target-bitrate=2500000 ! vp8dec"

        /// Those whose elements are there. Limits: the errors on this scene, and 30 %.
        static let all = [
            row("gray", "VP8", vp8, 4.6, 26),
            row("gray", "VP9", "vp9enc deadline=1 cpu-used=8 target-bitrate=2500000 ! vp9dec", 6.3, 35),
            row("gray", "OpenH264", "openh264enc bitrate=2500000 ! h264parse ! avdec_h264", 6.8, 31),
            row("gray", "x264", "x264enc pass=qual quantizer=23 bframes=0 ! h264parse ! avdec_h264", 8.2, 31),
            row("gray", "JPEG", "jpegenc quality=95 ! jpegdec", 8, 44),
            row("gray", "FFV1", "avenc_ffv1 ! avdec_ffv1", 2.5, 20),
            row("black", "VP8", vp8, 5.5, 34), row("record3d", "VP8", vp8, 20, 7.6),
            row("realsense", "VP8", vp8, 10.3, 20), row("depthkit", "VP8", vp8, 20.3, 8.2),
        ].filter { coder in
            coder.line.split(separator: " ! ").allSatisfy { isThere(String($0.prefix { $0 != " " })) }
        }

        private static func isThere(_ name: String) -> Bool {
            loadElements()
            guard let factory = gst_element_factory_find(name) else { return false }
            gst_object_unref(UnsafeMutableRawPointer(factory))
            return true
        }
    }

    /// A scene whose packed picture goes through some elements: errors of the distances that are read from it, in millimetres, and by
    /// how much the luma of measured pixels has risen in the mean.
    private func loss(_ coding: String, _ line: String) -> (near: [Int], far: [Int], rise: Double) {
        let (width, height) = (320, 240)
        let wait = "queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! "
        func sink(_ name: String) -> String { "\(wait)\(DepthVideoTests.sink) name=\(name) " }
        let pipeline = Pipeline(
            "depthtestsrc name=camera num-buffers=8 camera.video ! video/x-raw,format=I420,width=\(width),height=\(height) "
                + "! pack.video camera.depth ! video/x-raw,format=GRAY16_LE,width=\(width),height=\(height) ! tee name=map "
                + "map. ! \(wait)pack.depth map. ! \(sink("exact"))"
                + "depthpack name=pack coding=\(coding) ! tee name=both both. ! \(sink("packed"))"
                + "both. ! \(wait)\(line) ! tee name=coded coded. ! \(wait)videoconvert ! video/x-raw,format=I420 "
                + "! \(DepthVideoTests.sink) name=coded-picture coded. ! \(wait)depthunpack name=unpack coding=\(coding) "
                + "unpack.video ! \(wait)fakesink unpack.depth ! \(sink("depth"))")
        #expect(pipeline.run() == .ended)
        let (exact, depth) = (pipeline.frames(of: "exact"), pipeline.frames(of: "depth"))
        let (packed, coded) = (pipeline.frames(of: "packed"), pipeline.frames(of: "coded-picture"))
        #expect(exact.count == 8 && depth.count == 8 && packed.count == 8 && coded.count == 8)
        var (near, far, rises) = ([Int](), [Int](), [Int]())
        for number in 0..<min(exact.count, depth.count, packed.count, coded.count) {
            let (before, after) = (packed[number].bytes, coded[number].bytes)
            for (place, pair) in zip(distances(exact[number]), distances(depth[number])).enumerated() where pair.0 > 0 {
                let luma = place / width * 2 * width + width + place % width
                rises.append(Int(after[luma]) - Int(before[luma]))
                if pair.1 == 0 { continue }
                if 500..<1000 ~= pair.0 { near.append(abs(pair.0 - pair.1)) }
                if 2000..<3000 ~= pair.0 { far.append(abs(pair.0 - pair.1)) }
            }
        }
        return (near, far, mean(rises))
    }

    private func mean(_ numbers: [Int]) -> Double { Double(numbers.reduce(0, +)) / Double(max(numbers.count, 1)) }

    @Test(arguments: Coder.all) func `a codec keeps distances and codes`(coder: Coder) {
        let (near, far, rise) = loss(coder.coding, coder.line)
        #expect(near.count > 50_000 && far.count > 20_000)
        #expect(mean(near) < coder.near && mean(far) < coder.far, "\(mean(near)) and \(mean(far)) mm")
        #expect(abs(rise) < 0.5, "\(rise) codes")
    }

    /// The page warns of it.
    @Test func `a conversion to RGB on the way costs codes`() {
        let rise = loss("gray", "videoconvert ! video/x-raw,format=BGRx ! videoconvert ! video/x-raw,format=I420").rise
        #expect(-3 < rise && rise < -1, "\(rise) codes")
    }

    /// By the stream's comment alone; with the optics of the half.
    @Test(arguments: [
        ("", "matroskamux", "matroskademux"), ("jpegenc !", "qtmux", "qtdemux ! jpegdec"),
        ("vp8enc deadline=1 !", "webmmux", "matroskademux ! vp8dec"),
        ("openh264enc ! h264parse !", "mp4mux", "qtdemux ! h264parse ! avdec_h264"),
        ("vp8enc deadline=1 !", "gdppay", "gdpdepay ! vp8dec"),
    ])
    func `a file says how its depth is written`(encoder: String, muxer: String, decoder: String) throws {
        let folder = TemporaryFolder()
        let file = folder.write("a.video", [])
        let written = Pipeline(
            "\(DepthVideoTests.source.replacing("still=true", with: "still=true lens=90")) depthpack name=pack coding=depthkit "
                + "layout=top-bottom-swapped far=6 ! \(encoder) \(muxer) ! filesink location=\(file)")
        #expect(written.run() == .ended)
        let (video, depth, _) = run("filesrc location=\(file) ! \(decoder) ! depthunpack name=unpack \(ends)")
        #expect(video.count == 3 && depth.count == 3)
        #expect(depth[0].caps.contains("width=(int)160") && depth[0].caps.contains("height=(int)92"))
        #expect(depth[0].caps.contains("calibration"))
        // The wall, which with the coding's own `far` would lie at 1.2 m.
        let wall = distances(depth[0])[4 * 160 + 100]
        #expect((1900...2300).contains(wall), "\(wall)")
    }

    @Test func `a frame without depth is all hole, and says so once where none can come`() {
        let dropped = DepthVideoTests.source.replacing("still=true", with: "still=true dropouts=1")
        let (_, depth, _) = run("\(dropped) depthpack name=pack ! depthunpack name=unpack \(ends)")
        #expect(depth.count == 3 && depth.allSatisfy { distances($0).allSatisfy { $0 == 0 } })
        let (_, none, warnings) = run(
            "videotestsrc num-buffers=3 ! video/x-raw,\(DepthVideoTests.size) ! depthpack ! depthunpack name=unpack \(ends)"
        )
        #expect(none.count == 3 && none.allSatisfy { distances($0).allSatisfy { $0 == 0 } })
        #expect(warnings.count == 1 && warnings[0].contains("depth pad"), "\(warnings)")
    }

    @Test func `an attached map is packed, and attached again`() throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=3 ! depthpack ! depthunpack ! appsink name=video sync=false wait-on-eos=false")
        #expect(pipeline.run() == .ended)
        let frames = pipeline.frames(of: "video")
        #expect(frames.count == 3)
        for frame in frames {
            let meta = try #require(gst_buffer_get_custom_meta(frame.buffer.pointer, "DepthMapMeta"))
            #expect(gst_custom_meta_get_structure(meta) != nil)
        }
    }

    /// The number is drawn into color and depth: luma and distance rise together.
    @Test func `color and depth are of one moment whatever is lost between`() {
        let feed = Pipeline(
            "appsrc name=source format=time caps=video/x-raw,format=I420,width=128,height=16,framerate=30/1 "
                + "! identity drop-probability=0.3 ! videorate ! video/x-raw,framerate=20/1 ! depthunpack name=unpack \(ends)"
        )
        feed.set(GST_STATE_PLAYING)
        for number in 0..<60 {
            var bytes =
                [UInt8](repeating: UInt8(16 + 3 * number), count: 128 * 16) + [UInt8](repeating: 128, count: 128 * 8)
            for y in 0..<16 { for x in 64..<128 { bytes[y * 128 + x] = UInt8(20 + 3 * number) } }
            let buffer = guardedBuffer(bytes)
            buffer.pointer.pointee.pts = time(ofFrame: number)
            feed.push(buffer, into: "source")
        }
        feed.end("source")
        #expect(feed.bus.waitForEnd() == .ended)
        let (video, depth) = (feed.frames(of: "video"), feed.frames(of: "depth"))
        #expect(video.count > 20 && video.count == depth.count)
        for (frame, map) in zip(video, depth) {
            let share = (Double(frame.bytes[0]) + 4 - 16) / 219
            let millimetres = 1000 / (1 / 8.0 + share * (1 / 0.3 - 1 / 8.0))
            #expect(abs(Double(distances(map)[0]) - millimetres) < 2)
        }
    }

    @Test(arguments: [
        ("video/x-raw,format=I420,width=161,height=92 ! depthpack", "has an odd side"),
        ("video/x-raw,format=I420,width=162,height=92 ! depthunpack", "no two halves"),
        ("video/x-raw,format=I420,width=160,height=90 ! depthunpack layout=top-bottom", "no two halves"),
        ("depthunpack calibration=/none.json", "cannot be read"), ("depthunpack calibration={}", "is faulty"),
    ])
    func `what has no halves is refused in a sentence`(elements: String, words: String) throws {
        let pipeline = Pipeline("videotestsrc num-buffers=3 ! \(elements) ! fakesink")
        pipeline.set(GST_STATE_PLAYING)
        let error = try #require(pipeline.bus.nextError())
        #expect(error.text.contains(words), "\(error)")
    }

    @Test(arguments: ["near=3 far=1", "near=0.5 far=0.5"])
    func `a range that means nothing is a warning, and the coding's own is taken`(range: String) {
        for element in ["depthpack \(range) ! depthunpack", "depthpack ! depthunpack \(range)"] {
            let pipeline = Pipeline("depthtestsrc num-buffers=2 ! \(element) ! fakesink")
            #expect(pipeline.run() == .ended)
            let warnings = pipeline.bus.warnings().map(\.text)
            #expect(warnings.count == 1 && warnings[0].contains("no range"), "\(warnings)")
        }
    }

    /// The optics that Record3D tells, in the file's own pixels and over Wi-Fi.
    @Test(arguments: [
        ("{\"intrinsicMatrix\": [500,0,0,0,501,0,40,45,1], \"rangeOfEncodedDepth\": [0.5, 4]}", "\"fx\": 500.0"),
        ("{\"K\": [210,0,0,0,210,0,96,128,1], \"originalSize\": [192, 256]}", "\"fx\": 75.46875"),
        ("{\"K\": [210,0,0,0,210,0,96,128,1]}", "\"fx\": 75.46875"),
    ])
    func `the optics of Record3D are read, in a text and at the end of a file`(text: String, words: String) {
        let folder = TemporaryFolder()
        var paths = [text, folder.write("metadata.json", Array(text.utf8))]
        if text.contains("intrinsicMatrix") {
            let noise = [UInt8](repeating: UInt8(ascii: "}"), count: 3000)
            paths.append(folder.write("video.mp4", noise + Array(text.replacing(" ", with: "").utf8) + [0]))
        }
        for path in paths {
            let pipeline = Pipeline(
                "videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width=256,height=92 "
                    + "! depthunpack name=unpack coding=record3d \(ends)")
            setProperty(pipeline["unpack"], "calibration", path)
            #expect(pipeline.run() == .ended)
            let caps = pipeline.frames(of: "depth").first?.caps.replacing("\\", with: "") ?? ""
            #expect(caps.contains(words), "\(path): \(caps)")
        }
    }

    /// How many of them there are, and warnings of these.
    @Test(arguments: [
        (["a holiday"], 0), (["{\"depth-video\": {\"coding\": \"blue\"}}"], 1),
        (["{\"depth-video\": {\"coding\": \"gray\"}}", "{\"depth-video\": {\"coding\": \"gray\"}}"], 0),
        (["gray", "black", "gray"].map { "{\"depth-video\": {\"coding\": \"\($0)\"}}" }, 1),
    ])
    func `a comment that is broken, or another than the last, is a warning, and a foreign one is none`(
        comments: [String], count: Int
    ) {
        let tags = comments.map { comment in
            let text = comment.replacing("\"", with: "\\\\\\\"")
            return "! taginject tags=\"comment=\\\"\(text)\\\"\" "
        }
        let pipeline = Pipeline(
            "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=48 \(tags.joined())! depthunpack ! fakesink"
        )
        #expect(pipeline.run() == .ended)
        #expect(pipeline.bus.warnings().count == count)
    }

    @Test func `a comment is sent where it changes, and when it is switched on again`() {
        let video = VideoShape("I420", 32, 4)
        let bench = Bench([], of: Bench.Kind(factory: "depthpack", leading: "video"))
        bench.leading.start(video.caps)
        let steps = [[:], [:], ["near": "1"], ["send-tag": "false"], ["far": "4"], ["send-tag": "true"], [:]]
        for (number, step) in steps.enumerated() {
            for (name, value) in step { bench.set(name, value) }
            bench.leading.push([UInt8](repeating: 9, count: video.size), at: time(ofFrame: number))
            #expect(bench.output.next() != nil)
        }
        #expect(bench.output.story.count { $0 == "tag" } == 3)
    }

    /// The sink pad says what downstream takes, so that who is above makes that.
    @Test func `downstream chooses the format`() throws {
        for format in ["NV12", "YV12"] {
            let pipeline = Pipeline(
                "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48 ! depthunpack ! video/x-raw,format=\(format) "
                    + "! \(DepthVideoTests.sink) name=video")
            #expect(pipeline.run() == .ended)
            let caps = try #require(pipeline.nextFrame(of: "video")).caps
            #expect(caps.contains(format) && caps.contains("width=(int)32"), "\(caps)")
        }
    }

    /// Downstream that has had enough ends the stream, whichever pad is linked.
    @Test(arguments: [
        "depthunpack ! identity eos-after=3 ! fakesink",
        "depthunpack name=unpack unpack.depth ! identity eos-after=3 ! fakesink",
        "depthunpack name=unpack unpack.video ! queue ! identity eos-after=3 ! fakesink unpack.depth ! queue ! identity eos-after=5 ! fakesink",
    ])
    func `the end comes from downstream`(elements: String) {
        let pipeline = Pipeline("depthtestsrc ! depthpack ! \(elements)")
        #expect(pipeline.run() == .ended)
    }

    @Test func `with nothing linked it says so`() throws {
        let pipeline = Pipeline("depthtestsrc ! depthpack ! depthunpack")
        pipeline.set(GST_STATE_PLAYING)
        let error = try #require(pipeline.bus.nextError())
        #expect(error.details.contains("not-linked"), "\(error)")
    }

    /// What is packed anew is read as it was packed last.
    @Test func `a comment goes no further than to whom it is about`() {
        let (video, depth, _) = run(
            "depthtestsrc num-buffers=3 ! video/x-raw,format=I420,width=160,height=92 ! depthpack coding=record3d "
                + "layout=top-bottom ! depthunpack ! depthpack coding=realsense layout=side-by-side "
                + "! depthunpack name=unpack \(ends)")
        #expect(video.count == 3 && depth.count == 3)
        #expect(depth.allSatisfy { $0.caps.contains("width=(int)160") && $0.caps.contains("height=(int)92") })
    }

    @Test func `downstream limits the size of the picture`() throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=1 ! video/x-raw,width=640,height=480 ! depthpack "
                + "! video/x-raw,width=[2,1000],height=[2,1000] ! \(DepthVideoTests.sink) name=video")
        #expect(pipeline.run() == .ended)
        let caps = try #require(pipeline.nextFrame(of: "video")).caps
        #expect(caps.contains("width=(int)1000") && caps.contains("height=(int)480"), "\(caps)")
    }

    @Test func `a picture that cannot be read is dropped, and the next is a discontinuity`() throws {
        let feed = Pipeline(
            "appsrc name=source format=time caps=video/x-raw,format=I420,width=128,height=16,framerate=30/1 "
                + "! depthunpack name=unpack \(ends)")
        feed.set(GST_STATE_PLAYING)
        for (number, size) in [3072, 3, 3072, 3072].enumerated() {
            let buffer = guardedBuffer([UInt8](repeating: 128, count: size))
            buffer.pointer.pointee.pts = time(ofFrame: number)
            feed.push(buffer, into: "source")
        }
        feed.end("source")
        #expect(feed.bus.waitForEnd() == .ended)
        let (video, depth) = (feed.frames(of: "video"), feed.frames(of: "depth"))
        #expect(video.map(\.timing.start) == [0, 2, 3].map { time(ofFrame: $0) })
        #expect(depth.map(\.timing.start) == video.map(\.timing.start))
        let discontinuities = video.map {
            $0.buffer.pointer.pointee.mini_object.flags & GST_BUFFER_FLAG_DISCONT.rawValue != 0
        }
        #expect(discontinuities.suffix(2) == [true, false])
        #expect(feed.bus.warnings().map(\.text).contains { $0.contains("it is dropped") })
    }

    /// The color's memory has the depth in it.
    @Test(arguments: [(true, true), (false, false)])
    func `the picture's memory is shared only where its depth leaves too`(isAttached: Bool, isShared: Bool) throws {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=2 ! video/x-raw,format=I420,width=160,height=92 ! depthpack "
                + "! depthunpack name=unpack attach-depth=\(isAttached) ! videoconvert ! video/x-raw,format=RGB ! fakesink"
        )
        let seen = Monitor<[(size: gsize, hasMap: Bool)]>([])
        let probe = PadProbe(staticPad("video", of: pipeline["unpack"]), GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            guard let buffer = gst_pad_probe_info_get_buffer(info) else { return }
            let hasMap = gst_buffer_get_custom_meta(buffer, "DepthMapMeta") != nil
            seen.withLock { $0.append((gst_buffer_get_size(buffer), hasMap)) }
        }
        #expect(pipeline.run() == .ended)
        let frames = seen.withLock { $0 }
        #expect(frames.count == 2 && frames.allSatisfy { $0.hasMap == isAttached })
        #expect(frames.allSatisfy { ($0.size > 160 * 92 * 2) == isShared })
        withExtendedLifetime(probe) {}
    }

    @Test func `a flushing seek brings every frame and its map again`() throws {
        let folder = TemporaryFolder()
        let file = folder.write("a.mkv", [])
        #expect(
            Pipeline(
                "depthtestsrc num-buffers=20 ! video/x-raw,format=I420,width=64,height=48 ! depthpack ! matroskamux "
                    + "! filesink location=\(file)"
            ).run() == .ended)
        let pipeline = Pipeline("filesrc location=\(file) ! matroskademux ! depthunpack name=unpack \(ends)")
        pipeline.set(GST_STATE_PAUSED)
        for _ in 0..<5 {
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline.seek(to: 0))
        }
        pipeline.set(GST_STATE_PLAYING)
        let (video, depth) = (pipeline.frames(of: "video"), pipeline.frames(of: "depth"))
        #expect(video.count == 20 && depth.count == 20)
        #expect(depth.allSatisfy { distances($0).contains { $0 > 0 } })
    }
}
