import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Caps that say something unusual, or nothing sensible.
@Suite struct StrangeCapsTests {
    private static let base = "video/x-raw, format=(string)RGB, width=(int)64, height=(int)48"

    @Test(arguments: ["interleaved", "mixed"])
    func `interlaced frames that are whole are matted whole, with a warning`(mode: String) {
        let bench = Bench.room()
        bench.video.setCaps(VideoShape("RGB", 64, 48, fields: "interlace-mode=(string)\(mode)").caps)
        let frame = bench.pair(0, depth: Room.wall(700))
        #expect(Room.shown(frame) == Room.all && frame?.caps.contains(mode) == true)
        #expect(Room.shown(bench.pair(1, depth: Room.wall(3000))) == 0)
        #expect(bench.bus.warnings().first?.text.contains("interlaced") == true)
    }

    @Test(arguments: [
        "interlace-mode=(string)fields", "interlace-mode=(string)alternate", "multiview-mode=(string)side-by-side",
        "multiview-mode=(string)frame-by-frame, views=(int)2", "multiview-mode=(string)separated, views=(int)2",
    ])
    func `several pictures in one frame are refused with a reason`(fields: String) {
        let bench = Bench([])
        bench.video.start("\(StrangeCapsTests.base), framerate=(fraction)30/1, \(fields)")
        bench.video.push(Room.picture, at: 0)
        #expect(bench.video.settle() == GST_FLOW_NOT_NEGOTIATED)
        #expect(bench.output.present().isEmpty)
        #expect(bench.bus.errors().count == 1)
    }

    @Test func `one view is a picture like any other`() {
        let bench = Bench.room()
        bench.video.setCaps(VideoShape("RGB", 64, 48, fields: "multiview-mode=(string)left").caps)
        #expect(Room.shown(bench.pair(0, depth: Room.wall(700))) == Room.all)
    }

    @Test(arguments: [
        "pixel-aspect-ratio=(fraction)10/11", "pixel-aspect-ratio=(fraction)2147483647/2147483646",
        "pixel-aspect-ratio=(fraction)1/2147483647", "framerate=(fraction)0/1, max-framerate=(fraction)60/1",
        "framerate=(fraction)1/1000", "framerate=(fraction)1000000/1",
        "colorimetry=(string)1:4:0:1", "colorimetry=(string)bt2020-10", "colorimetry=(string)nonsense",
    ])
    func `whatever else the video says of itself is kept`(fields: String) throws {
        let bench = Bench(["background"])
        bench.background.start(VideoShape("RGB", 8, 8, fields: "pixel-aspect-ratio=(fraction)3/4"))
        bench.background.push([UInt8](repeating: 5, count: VideoShape("RGB", 8, 8).size), at: 0)
        bench.video.start(
            StrangeCapsTests.base + (fields.contains("framerate") ? "" : ", framerate=(fraction)30/1") + ", \(fields)")
        bench.video.push(Room.picture, at: 0)
        let caps = try #require(bench.output.next()).caps
        for field in fields.split(separator: ", ") { #expect(caps.contains(field), "\(caps)") }
    }

    @Test(arguments: ["I420", "RGB"])
    func `a background of another range and matrix leaves the video's colorimetry`(format: String) throws {
        let video = VideoShape("I420", 64, 48, fields: "colorimetry=(string)bt709, chroma-site=(string)mpeg2")
        let background = VideoShape(
            format, 64, 48, fields: "colorimetry=(string)\(format == "RGB" ? "sRGB" : "1:4:0:0")")
        let bench = Bench(["background"])
        bench.background.start(background)
        // Full-range white is video-range white, 235; GstVideoConverter's 8-bit matrices miss it by 2.
        let white =
            format == "RGB" ? [UInt8](repeating: 255, count: background.size) : flat(background, [255, 128, 128])
        bench.background.push(white, at: 0)
        bench.video.start(video)
        bench.video.push(noise(video, seed: 1), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.caps.contains("bt709") && frame.caps.contains("mpeg2"))
        #expect(frame.bytes.prefix(64).allSatisfy { (233...237).contains($0) }, "\(frame.bytes.prefix(4))")
    }

    @Test func `refused caps on one pad leave the others as they were`() {
        let bench = Bench.room()
        bench.request("background").start("video/x-raw, format=(string)P010_10LE, width=(int)8, height=(int)8")
        bench.background.end()
        #expect(Room.shown(bench.pair(0, depth: Room.wall(700))) == Room.all)
        #expect(bench.video.settle() == GST_FLOW_OK && bench.depth.settle() == GST_FLOW_OK)
    }

    @Test(arguments: [["30/1", "60/1"], ["60/1", "30/1"]])
    func `branches that want different rates give the same choice in either order`(rates: [String]) {
        let bench = Bench(
            [], downstream: rates.map { "video/x-raw, framerate=(fraction)\($0)" }.joined(separator: "; "))
        bench.video.start("\(StrangeCapsTests.base), framerate=(fraction)60/1")
        bench.video.push(Room.picture, at: 0)
        #expect(bench.output.next()?.caps.contains("60/1") == true)
    }
}
