import CGStreamer
import GstTestSupport
import Testing

/// Caps that make no sense, or are of what no pad can take: each pad of each element refuses them, and goes on with nothing.
@Suite struct BadCapsTests {
    /// Begins a stream of those caps alone.
    private func begin(_ caps: String, on pad: FollowerPad, _ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(pad.follower, pad.follower.followed.map(\.pad), properties)
        bench[pad.pad].start(caps)
        bench[pad.pad].push([1, 2, 3, 4], at: 0)
        #expect(bench[pad.pad].settle() == GST_FLOW_NOT_NEGOTIATED, "\(caps.prefix(80))")
        #expect(bench.output.present().isEmpty, "\(caps.prefix(80))")
        return bench
    }

    private static let senseless = [
        "video/x-raw", "video/x-raw, format=(string)RGB", "video/x-raw, format=(int)3, width=(int)8, height=(int)8",
        "video/x-raw, format=(string)RGB, width=(string)eight, height=(int)8",
        "video/x-raw, format=(string)RGB, width=(int)-8, height=(int)8",
        "video/x-raw, format=(string)RGB, width=(int)0, height=(int)8",
        "video/x-raw, format=(string)RGB, width=(int)2147483647, height=(int)2147483647",
        "video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8",
        "video/x-depth, format=(string)F32LE, width=(float)8, height=(int)8",
        "video/x-depth, format=(string)F32LE, height=(int)8",
        "audio/x-raw, format=(string)S16LE, rate=(int)8000, channels=(int)1, layout=(string)interleaved", "ANY/ANY",
        "image/png",
        "video/x-raw, format=(string)\(String(repeating: "x", count: 1 << 20)), width=(int)8, height=(int)8",
    ]

    @Test(arguments: FollowerPad.all)
    func `caps that make no sense are refused`(pad: FollowerPad) {
        for caps in BadCapsTests.senseless where gst_caps_from_string(caps) != nil { _ = begin(caps, on: pad) }
    }

    @Test(
        arguments: FollowerPad.all,
        [
            "memory:DMABuf", "memory:GLMemory", "memory:CUDAMemory", "format:Interlaced",
            "meta:GstVideoOverlayComposition",
        ])
    func `other memories are not offered and not taken`(pad: FollowerPad, feature: String) {
        let bench = begin(pad.stream.caps.replacing("video/x-raw", with: "video/x-raw(\(feature))"), on: pad)
        #expect(!bench[pad.pad].allowedCaps().contains("memory:"))
    }

    @Test(arguments: ["RGB", "GRAY16_LE", "I420"])
    func `of a network's pictures only gray of 8 bits is taken`(format: String) {
        let pad = FollowerPad(follower: .depthMatte, pad: "segmentation")
        _ = begin("video/x-raw, format=(string)\(format), width=(int)8, height=(int)8", on: pad)
    }

    @Test(arguments: FollowerPad.all)
    func `a picture of one pixel more than max-pixels is refused with a reason`(pad: FollowerPad) throws {
        var info = GstVideoInfo()
        let caps = try #require(gst_caps_from_string(pad.stream.caps))
        defer { gst_caps_unref(caps) }
        try #require(gst_video_info_from_caps(&info, caps) != 0)
        let bench = begin(pad.stream.caps, on: pad, ["max-pixels": "\(info.width * info.height - 1)"])
        #expect(bench.bus.errors().first?.text.contains("max-pixels") == true)
    }

    @Test(arguments: FollowerPad.all)
    func `a side that is far too long is refused by its size and the limit`(pad: FollowerPad) {
        let format = pad.pad == "depth" ? "GRAY16_LE" : pad.pad == "segmentation" ? "GRAY8" : "RGB"
        for (width, height) in [(99_999_999, 99_999_999), (Int(gint.max), Int(gint.max)), (70_000, 4), (4, 70_000)] {
            let bench = begin(
                "video/x-raw, format=(string)\(format), width=(int)\(width), height=(int)\(height), "
                    + "framerate=(fraction)30/1", on: pad)
            let text = bench.bus.errors().first?.text ?? "no error"
            #expect(text.contains("\(width)x\(height) is over the limit of 65536 pixels a side"), "\(text)")
        }
    }
}
