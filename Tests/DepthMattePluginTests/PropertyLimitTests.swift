import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Numbers that are none, the ends of every range, and ranges that are empty, while frames flow.
@Suite struct PropertyLimitTests {
    private static let depth = DepthShape("GRAY16_LE", 32, 24)
    private static let map = depth.bytes(counts: sceneCounts(32, 24, largest: 2000))

    /// Every real number of the element takes each value in turn; a frame comes each time, and after the value before is
    /// back, the frame of before.
    @Test(arguments: DepthReader.all)
    func `no number that C code may set stops the frames or stays in them`(reader: DepthReader) throws {
        let (bench, video) = (reader.bench(), reader.video(40, 30))
        reader.start(bench, PropertyLimitTests.depth, video)
        var number = 0
        func frame() throws -> [UInt8] {
            defer { number += 1 }
            return try #require(
                reader.frame(
                    bench, number, depth: guardedBuffer(PropertyLimitTests.map),
                    video: guardedBuffer(noise(video, seed: 7)))
            ).bytes
        }
        let plain = try frame()
        let reals = SettableProperty.all(of: bench.element).filter(\.isReal)
        #expect(!reals.isEmpty)
        for property in reals {
            let before = property.real(of: bench.element)
            for value in [Double.nan, -.nan, .signalingNaN, .infinity, -.infinity, 0, -0.0, 1e-308, 1e308, -1e308] {
                property.set(value, on: bench.element)
                #expect(!property.real(of: bench.element).isInfinite, "\(property.name)")
                _ = try frame()
            }
            property.set(before, on: bench.element)
            #expect(try frame() == plain, "\(property.name) leaves something behind")
        }
        // All at once.
        for value in [Double.nan, .infinity, -.infinity] {
            for property in reals { property.set(value, on: bench.element) }
            _ = try frame()
        }
        #expect(bench.bus.errors().isEmpty)
    }

    private static let crossings: [[String: String]] = [
        ["near": "1", "cutoff": "1"], ["near": "5", "cutoff": "1"], ["near": "100", "cutoff": "0"],
        ["near": "0.5", "cutoff": "0.5", "feather-near": "0", "feather-far": "0"],
        ["near": "0.5", "cutoff": "0.5", "feather-near": "5", "feather-far": "5"],
        ["mask": "band-pass", "slope": "0.1", "width": "0", "focus": "0"],
        ["mask": "band-pass", "slope": "100", "width": "0", "focus": "1"],
        ["mask": "high-pass", "slope": "100", "width": "1", "focus": "0"],
        ["gamma": "0.01", "blur-radius": "50"], ["gamma": "10", "blur-radius": "0"],
        ["depth-unit": "0"], ["depth-unit": "1e-9", "depth-kind": "disparity"], ["depth-unit": "-1000"],
        ["depth-unit": "-1000", "depth-bias": "1000", "depth-kind": "disparity"], ["depth-kind": "relative-inverted"],
        ["depth-scale": "0.01"],
        ["background-mode": "blur", "background-blur": "0", "background-blur-depth": "100"],
    ]

    @Test(arguments: crossings, ["threshold", "fusion"])
    func `limits that meet or cross give finite frames`(properties: [String: String], method: String) throws {
        let known = properties.filter { hasProperty($0.key) }
        #expect(known.count == properties.count, "\(properties)")
        let reader = DepthReader(
            factory: "depthmatte", properties: ["anchor": "fixed", "method": method, "settle": "0"].with(properties),
            videoPad: "video", testDescription: "")
        let video = VideoShape("RGB", 40, 30)
        let frames = (0..<2).map { _ in reader.picture(PropertyLimitTests.map, PropertyLimitTests.depth, video) }
        #expect(frames[0] != nil && frames[0] == frames[1])
    }

    private func hasProperty(_ name: String) -> Bool {
        let element = makeElement("depthmatte")
        defer { gst_object_unref(element) }
        let table = UnsafeMutableRawPointer(element.pointee.object.object.g_type_instance.g_class)
            .assumingMemoryBound(to: GObjectClass.self)
        return g_object_class_find_property(table, name) != nil
    }

    @Test func `no number stops the camera that is drawn`() throws {
        let pipeline = Pipeline(
            "depthtestsrc name=camera num-buffers=-1 camera.video ! video/x-raw,width=64,height=48 ! fakesink "
                + "camera.depth ! video/x-raw,format=GRAY16_LE,width=32,height=24 ! appsink name=sink sync=false "
                + "max-buffers=1")
        pipeline.set(GST_STATE_PLAYING)
        let reals = SettableProperty.all(of: pipeline["camera"]).filter(\.isReal)
        #expect(!reals.isEmpty)
        for property in reals {
            for value in [Double.nan, .infinity, -.infinity, 1e-308, 1e308] {
                property.set(value, on: pipeline["camera"])
                for _ in 0..<3 { try #require(pipeline.nextFrame(of: "sink") != nil, "\(property.name) = \(value)") }
            }
            property.set(0, on: pipeline["camera"])
        }
        #expect(pipeline.bus.errors().isEmpty)
    }
}
