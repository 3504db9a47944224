import CGStreamer
import CGStreamerShims
import DepthCameras
import DepthKernels
import Foundation
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// `depthcamsrc` on the stand-in for librealsense.
@Suite(.serialized) struct DepthCamSrcTests {
    private let fake: FakeRealSense

    init() throws {
        fake = try FakeRealSense()
        fake.set("interval", 5)
    }

    private var source: String { source(fake) }

    private func source(_ fake: FakeLibrary, driver: String = "realsense") -> String {
        "depthcamsrc name=camera driver=\(driver) library=\(fake.path) align=none "
    }

    private let sink = "appsink sync=false wait-on-eos=false"

    /// A pipeline with an app sink on each pad.
    private func pipeline(
        _ properties: String = "", source: String? = nil, video: String = "", depth: String = ""
    ) -> Pipeline {
        Pipeline(
            (source ?? self.source) + properties
                + " camera.video ! \(video) \(sink) name=video camera.depth ! \(depth) \(sink) name=depth")
    }

    /// The words of the error that a pipeline ends in.
    private func error(_ pipeline: Pipeline) throws -> String {
        pipeline.set(GST_STATE_PLAYING)
        return try #require(pipeline.bus.nextError()).text
    }

    private func statistics(_ pipeline: Pipeline) -> String {
        var value = GValue()
        g_value_init(&value, gst_structure_get_type())
        defer { g_value_unset(&value) }
        g_object_get_property(
            UnsafeMutableRawPointer(pipeline["camera"]).assumingMemoryBound(to: GObject.self), "stats", &value)
        let structure = g_value_get_boxed(&value)?.assumingMemoryBound(to: GstStructure.self)
        return structure.flatMap { takeString(gst_structure_to_string($0)) } ?? ""
    }

    private func statistic(_ name: String, _ pipeline: Pipeline) throws -> Double {
        let text = statistics(pipeline)
        let match = try #require(text.firstMatch(of: try Regex("\(name)=\\([a-z0-9]+\\)([-0-9.e]+)")), "\(text)")
        return try #require(match.output[1].substring.flatMap { Double($0) })
    }

    /// The answer to a CAPS query on a pad of the camera.
    private func caps(_ pad: String, _ pipeline: Pipeline) -> String {
        guard let pad = gst_element_get_static_pad(pipeline["camera"], pad) else { return "" }
        defer { gst_object_unref(pad) }
        guard let caps = gst_pad_query_caps(pad, nil) else { return "" }
        defer { gst_caps_unref(caps) }
        return caps.text
    }

    // MARK: Streams

    @Test func `both pads carry the frames of an exposure with one timestamp`() throws {
        let pipeline = pipeline("num-buffers=30")
        #expect(pipeline.run() == .ended)
        let (video, depth) = (pipeline.frames(of: "video"), pipeline.frames(of: "depth"))
        #expect(video.count == 30 && depth.count == 30)
        let stamps = video.map { $0.buffer.pointer.pointee.pts }
        #expect(stamps == stamps.sorted() && Set(stamps).count == stamps.count)
        // The two threads end at their thirtieth frame each; nearly all exposures are the same.
        let common = Set(stamps).intersection(depth.map { $0.buffer.pointer.pointee.pts })
        #expect(common.count >= 25)
        #expect(video[0].caps.contains("format=(string)RGB, ") && video[0].caps.contains("framerate=(fraction)30/1"))
        #expect(depth[0].caps.contains("GRAY16_LE"))
        #expect(video[0].bytes.count == 128 * 96 * 3 && depth[0].bytes.count == 128 * 96 * 2)
        #expect(video[0].buffer.flags.rawValue & GST_BUFFER_FLAG_DISCONT.rawValue != 0)
    }

    @Test func `a camera and the matte are one chain`() {
        let pipeline = Pipeline(source + "num-buffers=20 ! depthmatte ! fakesink sync=false")
        #expect(pipeline.run() == .ended)
        #expect(!pipeline.bus.warnings().contains { $0.text.contains("no frame has depth") })
    }

    @Test func `the caps query answers what the camera offers`() throws {
        let pipeline = pipeline()
        #expect(caps("video", pipeline).contains("[ 1, 32768 ]"))
        #expect(pipeline.set(GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
        let before = (caps("video", pipeline), caps("depth", pipeline))
        #expect(before.0.contains("width=(int)64") && before.0.contains("width=(int)128") && before.0.contains("RGBA"))
        #expect(before.1.contains("60/1") && before.1.contains("F32LE") && !before.1.contains("32768"))
        pipeline.set(GST_STATE_PLAYING)
        _ = pipeline.nextFrame(of: "video")
        #expect(caps("video", pipeline) == before.0 && caps("depth", pipeline) == before.1)
    }

    @Test func `caps downstream choose the mode, of one rate for both pads`() throws {
        let pipeline = pipeline(
            "num-buffers=3", video: "video/x-raw,format=RGBA !", depth: "video/x-raw,width=64,framerate=30/1 !")
        #expect(pipeline.run() == .ended)
        #expect(try #require(pipeline.nextFrame(of: "video")).caps.contains("RGBA"))
        #expect(try #require(pipeline.nextFrame(of: "depth")).caps.contains("30/1"))
    }

    /// Registered depth has the size of the video, which may be no size of the depth camera's own.
    @Test func `with align=video the depth pad offers the sizes of the video`() throws {
        let source = source(try FakeLibrary("fake_freenect.c"), driver: "freenect")
        for (align, offered, taken) in [("video", 1280, true), ("none", 640, false)] {
            let pipeline = pipeline(
                "num-buffers=2 align=\(align)", source: source, video: "video/x-raw,width=1280 !",
                depth: "video/x-raw,width=1280,height=1024 !")
            #expect(pipeline.set(GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
            #expect(caps("depth", pipeline).contains("width=(int)\(offered)"))
            #expect((pipeline.run() == .ended) == taken, "align=\(align)")
        }
    }

    /// A restart with the same modes would be refused for ever.
    @Test func `depth of another size than was agreed ends in an error`() throws {
        // The stand-in's alignment leaves the frames, and their size, as they are.
        let pipeline = pipeline("align=video", video: "video/x-raw,width=64 !", depth: "video/x-raw,width=128 !")
        let report = try #require(pipeline.run().error)
        #expect(report.text.contains("no mode that downstream accepts"), "\(report)")
    }

    @Test func `caps that the camera has not are an error that says what to do`() throws {
        let pipeline = pipeline(video: "video/x-raw,width=1000 !")
        let report = try #require(pipeline.run().error)
        #expect(report.text.contains("no mode that downstream accepts"), "\(report)")
    }

    @Test func `a finer unit is sent in metres, or rounded to millimetres`() throws {
        fake.set("unit", 0.0001)
        let metres = pipeline("num-buffers=2")
        #expect(metres.run() == .ended)
        let float = try #require(metres.nextFrame(of: "depth"))
        #expect(float.caps.contains("video/x-depth") && float.bytes.count == 128 * 96 * 4)
        let value = float.bytes.withUnsafeBytes { $0.loadUnaligned(as: Float.self) }
        #expect(value > 0.1 && value < 0.11)
        let counts = pipeline("num-buffers=2", depth: "video/x-raw !")
        #expect(counts.run() == .ended)
        let frame = try #require(counts.nextFrame(of: "depth"))
        #expect(frame.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) } == 100)
    }

    @Test(arguments: [0.0001, 0.001, 0.002])
    func `a count at the end of the camera's scale is not measured, in metres and in millimetres`(unit: Double) throws {
        fake.set("unit", unit)
        fake.set("depth", 65_535)
        let metres = pipeline("num-buffers=2", depth: "video/x-depth !")
        #expect(metres.run() == .ended)
        #expect(try #require(metres.nextFrame(of: "depth")).bytes.allSatisfy { $0 == 0 })
        let counts = pipeline("num-buffers=2", depth: "video/x-raw !")
        #expect(counts.run() == .ended)
        let frame = try #require(counts.nextFrame(of: "depth"))
        let first = Int(frame.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) })
        #expect(DepthScale().metres(count: first, fullScale: 65_535) == nil)
    }

    // MARK: Streams that are missing

    /// The modules D430 and D421 have depth alone.
    @Test(arguments: [(1, "depth", "video", "color"), (2, "video", "depth", "depth")], [false, true])
    func `a pad whose stream is missing is an error that names it, and the other pad plays alone`(
        streams: (bits: Int, pad: String, missing: String, name: String), isRecording: Bool
    ) throws {
        fake.set("streams", streams.bits)
        let folder = TemporaryFolder()
        let room = folder.write("room.bag", [])
        let (owner, recording) =
            isRecording ? ("recording \(room)", "location=\(room)") : ("camera Fake RealSense", "")
        let error = "The \(owner) has no \(streams.name) stream. Leave the pad \(streams.missing) unlinked."
        for (pads, outcome) in [([streams.pad], nil), ([streams.missing], error), (["video", "depth"], error)] {
            let sinks = pads.map { "camera.\($0) ! \(sink) name=\($0)" }
            let pipeline = Pipeline("\(source) num-buffers=5 \(recording) \(sinks.joined(separator: " "))")
            let end = pipeline.run()
            if let outcome {
                #expect(end.error?.text == outcome, "\(pads): \(end)")
            } else {
                #expect(end == .ended && pipeline.frames(of: streams.pad).count == 5)
            }
        }
    }

    @Test(arguments: ["depthmatte", "depthmatte on-missing-depth=drop", "depthcolorize", "depthcloud"])
    func `video of a source without depth in one chain is an error that says so`(element: String) {
        fake.set("streams", 2)
        let error = "camera has no depth, so no frame has. Choose a camera or recording with depth."
        let folder = TemporaryFolder()
        let room = folder.write("room.bag", [])
        for properties in ["", "location=\(room) num-buffers=5"] {
            let pipeline = Pipeline(
                "\(source) \(properties) ! queue ! element.video \(element) name=element ! \(sink)")
            #expect(pipeline.run().error?.text == error, "\(properties)")
        }
        let pass = Pipeline("\(source) num-buffers=5 ! depthmatte on-missing-depth=pass ! \(sink)")
        #expect(pass.run() == .ended)
    }

    @Test func `a pad that is linked later, and whose stream is missing, is an error`() throws {
        fake.set("streams", 1)
        let sink = "appsink sync=false async=false wait-on-eos=false"
        let pipeline = Pipeline("\(source) camera.depth ! \(sink) name=depth \(sink) name=video")
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "depth"))
        #expect(gst_element_link_pads(pipeline["camera"], "video", pipeline["video"], "sink") == 0)
        let pad = try #require(gst_element_get_static_pad(pipeline["camera"], "video"))
        let peer = try #require(gst_element_get_static_pad(pipeline["video"], "sink"))
        defer { for pad in [pad, peer] { gst_object_unref(pad) } }
        #expect(gst_pad_link_full(pad, peer, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK)
        #expect(try #require(pipeline.bus.nextError()).text.contains("has no color stream"))
    }

    @Test func `a recording without a frame is an error`() throws {
        let folder = TemporaryFolder()
        let recording = folder.write("room.bag", [])
        fake.set("frames", 0)
        let report = try #require(pipeline("location=\(recording)").run().error)
        #expect(report.text.contains("The recording \(recording) has no "), "\(report)")
    }

    @Test(arguments: [("r", "video", "depth", "depth"), ("d", "depth", "video", "color")])
    func `a Kinect's recording of one stream plays that, and the other pad is an error`(
        type: String, pad: String, missing: String, name: String
    ) throws {
        let dump = try FreenectDump()
        for number in 0..<3 {
            try dump.add(type, number: number, ticks: 1000 + UInt32(number) * 2_000_000, seconds: Double(number) / 30)
        }
        try dump.writeIndex()
        let library = try FakeLibrary("fake_freenect.c").path
        let camera = "depthcamsrc name=camera library=\(library) driver=freenect location=\(dump.folder.path) "
        let good = Pipeline("\(camera) camera.\(pad) ! \(sink) name=sink")
        #expect(good.run() == .ended && good.frames(of: "sink").count == 3)
        good.set(GST_STATE_NULL)
        let report = try #require(Pipeline("\(camera) camera.\(missing) ! fakesink").run().error)
        #expect(report.text.contains("has no \(name) stream. Leave the pad \(missing) unlinked."), "\(report)")
    }

    @Test func `one pad may stay unlinked, both may not`() throws {
        let one = Pipeline(source + "num-buffers=5 camera.depth ! \(sink) name=depth")
        #expect(one.run() == .ended)
        #expect(one.frames(of: "depth").count == 5)
        let none = Pipeline("\(source) videotestsrc is-live=true ! fakesink")
        let report = try #require(none.run().error)
        #expect(report.details.contains("not-linked"), "\(report)")
    }

    @Test func `a pad with nothing behind its tee stays behind, and goes on with a branch`() throws {
        // One that is not linked must not hold up the state of the other.
        let sink = "appsink sync=false async=false wait-on-eos=false"
        let pipeline = Pipeline(
            "\(source) camera.video ! tee name=tee camera.depth ! \(sink) name=depth "
                + "\(sink) name=video")
        let log = PadLog(pipeline["camera"], pad: "video")
        pipeline.set(GST_STATE_PLAYING)
        #expect(eventually { log.frames.count == 1 })
        var last: GstClockTime = 0
        for _ in 0..<20 { last = try #require(pipeline.nextFrame(of: "depth")).buffer.pointer.pointee.pts }
        #expect(log.frames.count == 1)
        #expect(gst_element_link(pipeline["tee"], pipeline["video"]) != 0)
        for _ in 0..<5 { #expect(pipeline.nextFrame(of: "video") != nil) }
        let next = try #require(log.frames.dropFirst().first)
        #expect(next.isDiscontinuous && next.start > last, "no frame from before")
        #expect(pipeline.bus.errors() == [])
    }

    @Test func `the application's EOS ends both streams`() throws {
        let pipeline = pipeline()
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "video"))
        #expect(gst_element_send_event(pipeline.pointer, gst_event_new_eos()) != 0)
        #expect(pipeline.bus.waitForEnd() == .ended)
    }

    @Test func `a pause sends nothing, and the stream goes on after it`() throws {
        let pipeline = pipeline()
        pipeline.set(GST_STATE_PLAYING)
        var last: GstClockTime = 0
        for _ in 0..<3 {
            for _ in 0..<5 {
                let stamp = try #require(pipeline.nextFrame(of: "video")).buffer.pointer.pointee.pts
                #expect(stamp > last || last == 0)
                last = stamp
            }
            #expect(pipeline.set(GST_STATE_PAUSED) == GST_STATE_CHANGE_NO_PREROLL)
            pipeline.set(GST_STATE_PLAYING)
        }
        #expect(pipeline.bus.errors().isEmpty)
    }

    /// An Azure Kinect counts no frames: they are lost by their times.
    @Test(arguments: [("realsense", 4), ("k4a", 0), ("k4a", 4)])
    func `lost frames are counted, and the frame after them is a discontinuity`(driver: String, every: Int) throws {
        let fake = driver == "k4a" ? try FakeLibrary("fake_k4a.c") : fake
        defer { fake.reset() }
        fake.set("lose-every", every)
        let pipeline = pipeline("num-buffers=30", source: source(fake, driver: driver))
        #expect(pipeline.run() == .ended)
        let flags = pipeline.frames(of: "video").map {
            $0.buffer.flags.rawValue & GST_BUFFER_FLAG_DISCONT.rawValue != 0
        }
        #expect(flags.filter { $0 }.count >= (every == 0 ? 1 : 8) && flags.contains(false))
        let lost = try statistic("lost", pipeline)
        let seen = try statistic("video", pipeline) + statistic("depth", pipeline)
        // Of each pad one frame for three that came; and those that came and that nobody took in time.
        let untaken = seen - Double(pipeline.frames(of: "depth").count + flags.count)
        let expected = every == 0 ? 0...0.0 : (driver == "k4a" ? 10 : 8)...seen / 3 + 2
        #expect(lost >= expected.lowerBound && lost <= expected.upperBound + untaken, "\(lost) of \(seen), \(untaken)")
    }

    // MARK: Time

    @Test(arguments: [200.0, -200.0])
    func `a clock that drifts is followed to the end`(drift: Double) throws {
        fake.set("drift", drift)
        let pipeline = pipeline("num-buffers=200")
        #expect(pipeline.run(patience: 60) == .ended)
        let stamps = pipeline.frames(of: "video").map { Int64($0.buffer.pointer.pointee.pts) }
        #expect(stamps.count >= 190)
        let steps = zip(stamps.dropFirst(), stamps).map { $0 - $1 }
        #expect(steps.allSatisfy { $0 > 0 })
        #expect(try statistic("clock-jumps", pipeline) == 0)
    }

    @Test func `a clock that jumps does not run backwards`() throws {
        fake.set("jump-at", 30)
        fake.set("jump", -100_000)
        let pipeline = pipeline("num-buffers=60")
        #expect(pipeline.run() == .ended)
        let stamps = pipeline.frames(of: "video").map { Int64($0.buffer.pointer.pointee.pts) }
        #expect(zip(stamps.dropFirst(), stamps).allSatisfy { $0 > $1 && $0 - $1 < 500_000_000 })
        #expect(try statistic("clock-jumps", pipeline) == 1)
    }

    /// Nanoseconds that a pad of the camera answers; nil where it is not live.
    private func latency(
        _ pipeline: Pipeline, _ pad: String = "video"
    ) throws -> (least: GstClockTime, most: GstClockTime)? {
        let query = try #require(gst_query_new_latency())
        defer { gst_query_unref(query) }
        let pad = try #require(gst_element_get_static_pad(pipeline["camera"], pad))
        defer { gst_object_unref(pad) }
        #expect(gst_pad_query(pad, query) != 0)
        var (isLive, least, most): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
        gst_query_parse_latency(query, &isLive, &least, &most)
        return isLive == 0 ? nil : (least, most)
    }

    @Test func `the latency is that of a frame at least, and live`() throws {
        let pipeline = pipeline()
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "video"))
        let latency = try #require(try latency(pipeline))
        #expect(latency.least >= 33_333_333 && latency.most > latency.least && latency.most != noClockTime)
    }

    /// A picture that waited for its map was exposed before that.
    @Test func `the wait for the partner delays no timestamp`() throws {
        let library = try FakeLibrary("fake_orbbec.c")
        defer { library.reset() }
        library.set("late", 4)
        let pipeline = pipeline(source: source(library, driver: "orbbec"))
        pipeline.set(GST_STATE_PLAYING)
        for _ in 0..<40 { _ = try #require(pipeline.nextFrame(of: "video")) }
        // The stand-in sends 30 frames a second.
        let latency = try #require(try latency(pipeline))
        #expect(latency.least >= 130_000_000, "\(latency)")
    }

    /// As depthmatte tells it of a depth pad.
    private func isCorrected(lag: Int, _ pipeline: Pipeline) throws -> Bool {
        let fault = "GstDepthMatteSyncFault, lag=(gint64)\(lag);"
        let query = try #require(gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_from_string(fault, nil)))
        defer { gst_query_unref(query) }
        let pad = try #require(gst_element_get_static_pad(pipeline["camera"], "depth"))
        defer { gst_object_unref(pad) }
        return gst_pad_query(pad, query) != 0
            && gst_structure_has_field(gst_query_get_structure(query), "is-corrected") != 0
    }

    @Test(arguments: [50_000_000, -50_000_000])
    func `with depth-sync=measured a lag that was measured is part of the timestamps`(lag: Int) throws {
        fake.set("interval", 33)
        let pipeline = pipeline("depth-sync=measured")
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "depth"))
        _ = pipeline.bus.count(of: GST_MESSAGE_LATENCY)
        #expect(try isCorrected(lag: lag, pipeline))
        #expect(pipeline.bus.count(of: GST_MESSAGE_LATENCY) == 1)
        let (video, depth) = (try #require(try latency(pipeline)), try #require(try latency(pipeline, "depth")))
        let later = GstClockTime(max(lag, 0))
        #expect(depth.least == video.least + later && depth.most == video.most + later)
        let stamps = try (0..<30).map { _ in
            let (video, depth) = (pipeline.nextFrame(of: "video"), pipeline.nextFrame(of: "depth"))
            return try [video, depth].map { Int(try #require($0).buffer.pointer.pointee.pts) }
        }
        // Some maps were under way.
        let times = Set(stamps.map { $0[0] })
        #expect(stamps[10..<20].allSatisfy { times.contains($0[1] + lag) })
        #expect(try statistic("depth-lag", pipeline) == Double(lag))
        // Another element behind the same pad measured it, too; and a lag beyond all reason is none.
        #expect(try isCorrected(lag: lag, pipeline) && !isCorrected(lag: .max, pipeline))
        // The same camera is late after a stop.
        pipeline.set(GST_STATE_NULL)
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "depth"))
        #expect(try statistic("depth-lag", pipeline) == Double(lag))
    }

    @Test(arguments: ["", "depth-sync=measured num-buffers=5 location="])
    func `a lag that was measured stays with whoever measured it`(properties: String) throws {
        let folder = TemporaryFolder()
        let isRecording = properties.hasSuffix("=")
        let pipeline = pipeline(properties + (isRecording ? folder.write("room.bag", []) : ""))
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "depth"))
        #expect(try !isCorrected(lag: 66_000_000, pipeline))
        #expect(try statistic("depth-lag", pipeline) == 0)
    }

    // MARK: Faults

    @Test func `without the library the error says what to install`() throws {
        let pipeline = Pipeline("depthcamsrc driver=realsense library=/nowhere/librealsense2.so ! fakesink")
        #expect(pipeline.set(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        let error = try #require(pipeline.bus.nextError())
        #expect(error.text.contains("Install librealsense2") && error.details.contains("/nowhere/librealsense2.so"))
        #expect(error.domain == "gst-resource-error-quark")
    }

    @Test func `no camera, a busy one, and a recording that is none are told`() throws {
        for (properties, cameras, words) in [
            ("serial=77", 1, "No depth camera was found. None has the serial number 77."),
            ("location=/nowhere/a.bag", 1, "The recording /nowhere/a.bag cannot be read."),
            ("", 0, "No RealSense camera is plugged in."),
        ] {
            fake.set("cameras", cameras)
            #expect(try error(pipeline(properties)).contains(words))
        }
        fake.set("cameras", 1)
        fake.set("fail", "pipeline_start_with_config")
        fake.set("error-type", 7)
        #expect(try error(pipeline()).contains("The camera is in use."))
    }

    @Test func `settings that the camera has not are told`() throws {
        for (property, words) in [
            ("exposure=2000000", "Exposure=2000000 is out of the camera's range of 100 to 1000000 microseconds."),
            ("preset=?", "No preset ?; the presets are Default, Hand."),
        ] {
            #expect(try error(pipeline(property)) == "A property does not suit the camera. \(words)")
        }
        #expect(pipeline("exposure=10000 num-buffers=3").run() == .ended)
    }

    @Test(arguments: [
        ("a.r3d", "Record3D"), ("A.R3D", "Record3D"), ("a.svo2", "ZED camera"),
        ("a.xef", "Kinect Studio"), ("a.mcap", "ROS 2"), ("a.mp4", "a video without depth"), ("a.tar.gz", "archive"),
        ("a.rec", "realsense and orbbec play .bag files"), ("missing.rec", "No such file or directory."),
        ("missing.bag", "No such file or directory."),
        ("a.mp4/a.bag", "Not a directory."),
    ])
    func `a recording of another maker is named, and what to do with it`(name: String, words: String) throws {
        let folder = TemporaryFolder()
        let isThere = !name.hasPrefix("missing") && !name.contains("/")
        folder.write(isThere ? name : "a.mp4", [1, 2, 3])
        for driver in ["auto", "realsense"] where driver == "auto" || !name.hasSuffix(".rec") {
            let error = try error(Pipeline("depthcamsrc driver=\(driver) location=\(folder[name]) ! fakesink"))
            #expect(error.hasPrefix("The recording \(folder[name]) cannot be read. "), "\(error)")
            #expect(error.contains(words) && error.contains("appsrc") == isThere, "\(error)")
        }
    }

    /// No library is asked for what is not there, and none is missing for it.
    @Test(arguments: cameraDrivers.map { $0.name })
    func `a file that is not there is told before a library is asked`(driver: String) throws {
        let line = "depthcamsrc driver=\(driver) library=/nowhere/l.so location=/nowhere/a ! fakesink"
        #expect(try error(Pipeline(line)) == "The recording /nowhere/a cannot be read. No such file or directory.")
    }

    @Test(arguments: ["a.bag", "A.BAG"], [false, true])
    func `a recording is named by a path or a file URI`(name: String, isURI: Bool) throws {
        let folder = TemporaryFolder()
        let path = folder.write("two words/\(name)", [])
        let location = isURI ? "file://\(folder.path)/two%20words/\(name)" : path
        let pipeline = pipeline("driver=auto location=\"\(location)\"")
        #expect(pipeline.run() == .ended)
        #expect(pipeline.frames(of: "depth").count == 10)
    }

    @Test(arguments: ["realsense", "k4a", "auto"])
    func `a library that is there and does not load is told with the loader's reason`(driver: String) throws {
        let folder = TemporaryFolder()
        let library = folder.write("lib.so", [1, 2, 3])
        let text = try error(Pipeline("depthcamsrc driver=\(driver) library=\(library) ! fakesink"))
        #expect(text.contains("\(library) does not load: \(library): file too short"), "\(text)")
    }

    @Test func `a camera that is unplugged ends the stream with an error`() throws {
        fake.set("unplug-after", 10)
        let pipeline = pipeline()
        let report = try #require(pipeline.run().error)
        #expect(report.text.contains("The camera was unplugged. Device disconnected"), "\(report)")
    }

    @Test func `a camera that comes back goes on`() throws {
        fake.set("unplug-after", 10)
        let pipeline = pipeline("on-disconnect=wait")
        pipeline.set(GST_STATE_PLAYING)
        let warning = try #require(pipeline.bus.nextWarning())
        #expect(warning.text.contains("The camera was unplugged."))
        fake.set("unplugged", 0)
        var last: GstClockTime = 0
        var count = 0
        while count < 30, let frame = pipeline.nextFrame(of: "video") {
            #expect(frame.buffer.pointer.pointee.pts > last || last == 0)
            last = frame.buffer.pointer.pointee.pts
            count += 1
        }
        #expect(count == 30 && pipeline.bus.errors().isEmpty)
        #expect(try statistic("reconnects", pipeline) == 1)
    }

    @Test(arguments: [true, false])
    func `a camera that comes back with another unit and lens is read by those`(isOneChain: Bool) throws {
        fake.set("unplug-after", 10)
        fake.set("depth", 600)
        let rest = isOneChain ? "" : "camera.depth ! \(sink) name=depth"
        let pipeline = Pipeline(source + "on-disconnect=wait camera.video ! \(sink) name=video \(rest)")
        pipeline.set(GST_STATE_PLAYING)
        #expect(try #require(pipeline.bus.nextWarning()).text.contains("The camera was unplugged."))
        for (key, value) in [("unit", 0.002), ("focal", 80), ("unplugged", 0)] { fake.set(key, value) }
        var maps: [[Int]] = []
        while maps.count < 60, maps.last != [1200, 80] || maps.count(where: { $0 == [1200, 80] }) < 10 {
            let frame = try #require(pipeline.nextFrame(of: isOneChain ? "video" : "depth"))
            guard let map = isOneChain ? attachedMap(of: frame.buffer.pointer) : frame else { continue }
            let lens = try Calibration(text: Array(try text("calibration", of: map.caps).utf8)).depth.fx
            maps.append([Int(map.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) }), Int(lens)])
        }
        let old = maps.prefix { $0 == [600, 60] }
        #expect(!old.isEmpty && maps.count == old.count + 10, "\(maps)")
        #expect(try statistic("reconnects", pipeline) == 1 && pipeline.bus.errors().isEmpty)
    }

    @Test func `a stop does not wait for a camera that is awaited`() throws {
        fake.set("unplug-after", 5)
        let pipeline = pipeline("on-disconnect=wait")
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.bus.nextWarning())
        let start = g_get_monotonic_time()
        #expect(pipeline.set(GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
        #expect(g_get_monotonic_time() - start < 150_000)
    }

    /// Frames that both pads take are not scaled for each.
    @Test func `a map that was sent is attached with the same counts`() throws {
        fake.set("unit", 0.002)
        fake.set("depth", 600)
        fake.set("depth-until", 8)
        let sink = "appsink sync=false async=false wait-on-eos=false"
        let pipeline = Pipeline("\(source) camera.video ! \(sink) name=video camera.depth ! \(sink) name=depth")
        pipeline.set(GST_STATE_PLAYING)
        func count(_ map: Pipeline.Frame?) -> UInt16? {
            map.map { $0.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) } }
        }
        let sent = (0..<4).map { _ in count(pipeline.nextFrame(of: "depth")) }
        for _ in 0..<20 { _ = try #require(pipeline.nextFrame(of: "video")) }
        gst_element_unlink_pads(pipeline["camera"], "depth", pipeline["depth"], "sink")
        let attached = try (0..<20).map { _ in
            count(attachedMap(of: try #require(pipeline.nextFrame(of: "video")).buffer.pointer))
        }
        #expect(Set(sent) == [1200] && Set(attached.compactMap(\.self)).subtracting([1200]) == [], "\(attached)")
    }

    @Test func `a camera that sends nothing is an error after the timeout`() throws {
        fake.set("silent-after", 5)
        let pipeline = pipeline("timeout=300000000")
        let report = try #require(pipeline.run().error)
        #expect(report.text.contains("no frame for 300 ms"), "\(report)")
    }

    @Test(arguments: [
        "pipeline_start_with_config", "pipeline_try_wait_for_frames", "pipeline_stop", "extract_frame",
        "get_frame_data",
    ])
    func `the state NULL is reached while the library hangs`(call: String) throws {
        let pipeline = pipeline()
        if call == "pipeline_start_with_config" { fake.set("hang", call) }
        pipeline.set(GST_STATE_PLAYING)
        if call != "pipeline_start_with_config" {
            _ = try #require(pipeline.nextFrame(of: "video"))
            fake.set("hang", call)
        }
        // It would hang until the next line but one: that this returns is the test.
        #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        let element = pipeline["camera"]
        #expect(element.pointee.object.object.ref_count <= 2)
        fake.set("hang", "")
        for _ in 0..<200 where fake.objects > 0 { usleep(10_000) }
        #expect(fake.objects == 0)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(timeout: "300000000", milliseconds: 300), ("0", 5000)])
    func `an opening that hangs is an error after the timeout`(timeout: String, milliseconds: Int) throws {
        fake.set("hang", "query_devices")
        let pipeline = pipeline("timeout=\(timeout)")
        #expect(pipeline.set(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
        #expect(try #require(pipeline.bus.nextError()).text.contains("did not open within \(milliseconds) ms"))
        fake.set("hang", "")
        for _ in 0..<200 where fake.objects > 0 { usleep(10_000) }
        #expect(fake.objects == 0)
    }

    @Test(arguments: ["bad-stride", "no-data", "wrong-every"])
    func `malformed frames are lost, and no more`(fault: String) throws {
        let pipeline = pipeline("timeout=2000000000")
        pipeline.set(GST_STATE_PLAYING)
        _ = try #require(pipeline.nextFrame(of: "video"))
        fake.set(fault, 1)
        for _ in 0..<400 where try statistic("lost", pipeline) < 20 { usleep(10_000) }
        fake.set(fault, 0)
        #expect(try statistic("lost", pipeline) >= 20)
        func isDiscontinuous(_ frame: Pipeline.Frame) -> Bool {
            frame.buffer.flags.rawValue & GST_BUFFER_FLAG_DISCONT.rawValue != 0
        }
        while let frame = pipeline.nextFrame(of: "video"), !isDiscontinuous(frame) { continue }
        #expect(pipeline.bus.errors().isEmpty)
    }

    // MARK: Calibration

    private func text(_ field: String, of caps: String) throws -> String {
        let caps = try #require(gst_caps_from_string(caps))
        defer { gst_caps_unref(caps) }
        return try #require(
            gst_structure_get_string(gst_caps_get_structure(caps, 0), field).map { String(cString: $0) }, "\(field)")
    }

    @Test func `unit and calibration travel in the caps, and are written to a file`() throws {
        let folder = TemporaryFolder()
        let pipeline = pipeline("num-buffers=3 calibration-location=\(folder.path)/camera.json")
        #expect(pipeline.run() == .ended)
        let caps = try #require(pipeline.frames(of: "depth").first).caps
        #expect(caps.contains("depth-unit=(double)0.001"))
        var calibration = try Calibration(text: Array(try text("calibration", of: caps).utf8))
        #expect(calibration.depth.width == 128 && calibration.color != nil && calibration.depthUnit == nil)
        calibration.depthUnit = 0.001
        #expect(try Calibration(text: folder.read("camera.json")) == calibration)
        #expect(!(try #require(pipeline.frames(of: "video").first).caps.contains("calibration")))
    }

    @Test func `a calibration that cannot be written is an error`() throws {
        let text = try error(pipeline("calibration-location=/nowhere/at/all.json"))
        #expect(text == "The calibration \"/nowhere/at/all.json\" cannot be written.")
    }

    /// libfreenect registers at 640x480 only.
    @Test func `depth is registered by the element where the library does not`() throws {
        let source = source(try FakeLibrary("fake_freenect.c"), driver: "freenect")
        for (width, height) in [(640, 480), (1280, 1024)] {
            let pipeline = pipeline(
                "num-buffers=4 align=video", source: source, video: "video/x-raw,width=\(width) !")
            #expect(pipeline.run() == .ended)
            let frame = try #require(pipeline.frames(of: "depth").last)
            #expect(frame.caps.contains("width=(int)\(width), height=(int)\(height)"), "\(frame.caps)")
            #expect(frame.bytes.count == width * height * 2)
            #expect(frame.bytes.contains { $0 != 0 }, "nothing is measured")
            let calibration = try Calibration(text: Array(try text("calibration", of: frame.caps).utf8))
            #expect(calibration.depth.width == width && calibration.color == nil)
        }
    }

    /// Without a calibration nobody can register it; beside the picture it would be decimetres off.
    @Test(arguments: ["camera.video ! fakesink camera.depth ! fakesink", "! depthmatte ! fakesink"])
    func `depth that cannot be registered is an error that names align=none`(rest: String) throws {
        let library = try FakeLibrary("fake_k4a.c")
        defer { library.reset() }
        library.set("fail", "device_get_calibration")
        let camera = "depthcamsrc name=camera driver=k4a library=\(library.path) num-buffers=3"
        let report = try #require(Pipeline("\(camera) \(rest)").run().error)
        #expect(report.text.contains("calibration") && report.text.contains("Set align=none."), "\(report)")
        #expect(Pipeline("\(camera) align=none \(rest)").run() == .ended)
    }

    // MARK: Life

    @Test func `a thousand starts and stops leave nothing behind`() throws {
        fake.set("interval", 1)
        let pipeline = pipeline()
        func cycle(_ number: Int) throws {
            pipeline.set(GST_STATE_PLAYING)
            if number.isMultiple(of: 10) { _ = try #require(pipeline.nextFrame(of: "depth")) }
            #expect(
                pipeline.set(number.isMultiple(of: 3) ? GST_STATE_READY : GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
        // The allocator's arenas grow in steps until they hold what the threads want at once; a leak grows in every round.
        let limit = ProcessInfo.processInfo.environment["DEPTHMATTE_SANITIZER"] == nil ? 256 : Int.max
        var growths: [Int] = []
        repeat {
            let before = residentMemory()
            for number in 0..<1000 { try cycle(number) }
            pipeline.set(GST_STATE_NULL)
            growths.append(residentMemory() - before)
        } while growths.last! > limit && growths.count < 8
        print("resident memory after each 1000 starts: \(growths) kB more")
        #expect(fake.objects == 0 && pipeline.bus.errors().isEmpty)
        #expect(growths.last! <= limit)
    }

    @Test func `the element takes every state sequence, with the library and without`() {
        let (null, ready, paused, playing) = (GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING)
        for sequence in [
            [ready, paused, playing, paused, ready, null], [ready, null, ready, paused, ready, null],
            [playing, null, playing, ready, playing, paused, null, paused, null],
        ] {
            let pipeline = pipeline()
            for state in sequence { #expect(pipeline.set(state) != GST_STATE_CHANGE_FAILURE, "\(state)") }
        }
        #expect(fake.objects == 0)
    }
}
