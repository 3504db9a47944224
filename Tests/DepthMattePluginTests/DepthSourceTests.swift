import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// What every depth source promises of the maps that leave with its video.
@Suite(.serialized) struct DepthSourceTests {
    enum Source: CaseIterable { case camera, recording, scene }

    private static let sink = "appsink name=sink sync=false wait-on-eos=false max-buffers=1"
    private let fake: FakeRealSense
    private let folder = TemporaryFolder()
    private let recording: String

    init() throws {
        fake = try FakeRealSense()
        recording = folder.write("room.bag", [])
        for (key, value) in [("interval", 5), ("depth", 600), ("frames", 100)] { fake.set(key, value) }
    }

    /// The source, and its video in RGB.
    private func pipeline(_ source: Source, _ properties: String = "", frames: Int = 100, _ rest: String) -> Pipeline {
        let element =
            switch source {
            case .camera: "depthcamsrc driver=realsense library=\(fake.path)"
            case .recording: "depthcamsrc driver=realsense library=\(fake.path) location=\(recording)"
            case .scene: "depthtestsrc"
            }
        return Pipeline(
            "\(element) name=camera num-buffers=\(frames) \(properties) "
                + "camera.video ! video/x-raw,format=RGB,width=128,height=96,framerate=30/1 ! \(rest)")
    }

    @Test(arguments: Source.allCases)
    func `a map has time, duration and caps, and lies in a buffer that is used again`(source: Source) throws {
        let pipeline = pipeline(source, frames: 20, DepthSourceTests.sink)
        let count = try pipeline.run(untilEndOf: "sink") { frame in
            let (video, map) = (frame.buffer.pointer, try #require(attachedMap(of: frame.buffer.pointer)))
            let depth = map.buffer.pointer
            #expect(depth.pointee.pts == video.pointee.pts && depth.pointee.duration == video.pointee.duration)
            #expect(depth.pointee.duration != noClockTime && depth.pointee.pool != nil)
            // The time of the picture, by which the map is found where elements change that.
            let structure = gst_custom_meta_get_structure(gst_buffer_get_custom_meta(video, "DepthMapMeta"))
            var stamp: guint64 = 0
            #expect(gst_structure_get_uint64(structure, "pts", &stamp) != 0 && stamp == video.pointee.pts)
            #expect(map.caps.contains("GRAY16_LE") && map.caps.contains("framerate=(fraction)30/1"))
            #expect(map.caps.contains("calibration") == (source != .scene))
        }
        #expect(count == 20)
    }

    @Test(arguments: Source.allCases)
    func `a map is attached only where it is wanted and its pad is free`(source: Source) {
        for (properties, rest, isAttached) in [
            ("", "", true), ("attach-depth=false", "", false), ("", "camera.depth ! fakesink sync=false", false),
        ] {
            let pipeline = pipeline(source, properties, frames: 10, "\(DepthSourceTests.sink) \(rest)")
            let count = pipeline.run(untilEndOf: "sink") { frame in
                #expect((attachedMap(of: frame.buffer.pointer) != nil) == isAttached, "\(properties) \(rest)")
            }
            #expect(count == 10)
        }
    }

    /// Neither the room nor the outline of who was there.
    @Test(arguments: Source.allCases, ["threshold", "fusion"])
    func `where depth stops, everything is covered after hold-time`(source: Source, method: String) {
        fake.set("depth-until", 20)
        let pipeline = pipeline(
            source, "",
            "depthmatte method=\(method) anchor=fixed cutoff=3 max-skew=10000000 hold-time=50000000 "
                + "background-color=0xffffffff ! \(DepthSourceTests.sink)")
        var shown: [Bool] = []
        _ = pipeline.run(untilEndOf: "sink") { frame in
            shown.append(frame.bytes.contains { $0 != 255 })
            if source == .scene && shown.count == 20 { setProperty(pipeline["camera"], "dropouts", "1") }
        }
        #expect(shown.count >= 90 && shown.prefix(10).allSatisfy(\.self), "\(shown)")
        #expect(!shown.suffix(50).contains(true), "\(shown)")
        #expect(pipeline.bus.errors() == [])
    }

    @Test(arguments: [Source.camera, .recording])
    func `frames that show one map share it`(source: Source) throws {
        fake.set("depth-until", 5)
        fake.set("unit", 0.002)
        var maps: [BufferPointer] = []
        _ = try pipeline(source, frames: 30, DepthSourceTests.sink).run(untilEndOf: "sink") { frame in
            let map = try #require(attachedMap(of: frame.buffer.pointer))
            maps.append(map.buffer.pointer)
            #expect(map.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) } == 1200)
        }
        #expect(maps.count == 30 && Set(maps.suffix(20)).count == 1)
    }
}

/// The map that a frame carries; nil where it has none.
func attachedMap(of buffer: BufferPointer) -> Pipeline.Frame? {
    guard let meta = gst_buffer_get_custom_meta(buffer, "DepthMapMeta"),
        let value = gst_structure_get_value(gst_custom_meta_get_structure(meta), "depth"),
        let sample = g_value_get_boxed(value).map({ OpaquePointer($0) }),
        let map = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample)
    else { return nil }
    return Pipeline.Frame(buffer: BufferRef(sharing: map), caps: caps.text)
}

extension Pipeline {
    /// Plays, and shows each frame of an app sink; their number.
    fileprivate func run(untilEndOf sink: String, _ body: (Frame) throws -> Void) rethrows -> Int {
        set(GST_STATE_PLAYING)
        var count = 0
        while let frame = nextFrame(of: sink) {
            count += 1
            try body(frame)
        }
        return count
    }
}
