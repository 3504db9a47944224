import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// The pictures of `depthcolorize`.
@Suite struct ColorizeTests {
    private static let depth = DepthShape("GRAY16_LE", 8, 4)
    private static let kind = Bench.Kind(factory: "depthcolorize", leading: "depth")

    private func bench(
        _ inputs: [String] = [], _ properties: [String: String] = [:], downstream: String = "video/x-raw, format=RGB"
    ) -> Bench {
        Bench(inputs, properties, downstream: downstream, of: ColorizeTests.kind)
    }

    /// The picture of one map, alone.
    private func picture(
        _ counts: [Int], _ properties: [String: String] = [:], downstream: String = "video/x-raw, format=RGB"
    ) throws -> Recorder.Frame {
        let bench = bench([], properties, downstream: downstream)
        bench.depth.start(ColorizeTests.depth)
        bench.depth.push(ColorizeTests.depth.bytes(counts: counts), at: 0)
        let frame = try #require(bench.output.next())
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
        return frame
    }

    private func wall(_ count: Int) -> [Int] { [Int](repeating: count, count: 8 * 4) }

    private func rgb(_ frame: Recorder.Frame) -> [[UInt8]] {
        stride(from: 0, to: frame.bytes.count - 2, by: 3).map { Array(frame.bytes[$0..<$0 + 3]) }
    }

    // MARK: Colors

    @Test func `near is red, far is blue, and what was not measured black`() throws {
        let counts = (0..<32).map { [700, 3000, 0, 65_534, 65_535][$0 % 5] }
        let pixels = rgb(try picture(counts))
        #expect(Array(pixels.prefix(5)) == [[128, 0, 0], [0, 0, 128], [0, 0, 0], [0, 0, 128], [0, 0, 0]])
    }

    @Test(arguments: [("equalize", 0), ("fixed", 0), ("equalize", 7), ("fixed", 7), ("equalize", 65_535)])
    func `a map without a valid sample is black`(range: String, invalid: Int) throws {
        let frame = try picture(wall(invalid), ["range": range, "depth-invalid": "\(invalid)"])
        #expect(frame.bytes == [UInt8](repeating: 0, count: 8 * 4 * 3))
    }

    @Test(arguments: [0.0, 1000]) func `any range divides by nothing`(limit: Double) throws {
        for range in ["equalize", "fixed"] {
            let frame = try picture(wall(700), ["range": range, "min": "\(limit)", "max": "\(limit)"])
            #expect(Set(rgb(frame)).isSubset(of: [[128, 0, 0], [0, 0, 128]]))
        }
    }

    @Test func `equalised, the colors follow the ranks and not the distances`() throws {
        let near = try picture((0..<32).map { 500 + $0 })
        let far = try picture((0..<32).map { 1000 + $0 * 100 })
        #expect(near.bytes == far.bytes)
        #expect(Set(rgb(near)).count == 32)
    }

    @Test func `in a fixed range one distance keeps one color`() throws {
        let properties = ["range": "fixed", "min": "0.5", "max": "4.5", "palette": "gray"]
        let one = rgb(try picture(wall(2500), properties))
        let other = rgb(try picture((0..<32).map { $0 == 0 ? 2500 : 500 + $0 * 100 }, properties))
        #expect(one[0] == other[0])
        #expect(abs(Int(one[0][0]) - 128) <= 1, "half-way is half-way")
    }

    @Test(arguments: [
        ("jet", [128, 0, 0]), ("turbo", [122, 4, 3]), ("viridis", [253, 231, 37]), ("gray", [255, 255, 255]),
        ("hue", [255, 0, 0]),
    ])
    func `each palette has its nearest color`(palette: String, nearest: [UInt8]) throws {
        #expect(rgb(try picture(wall(700), ["palette": palette]))[0] == nearest)
    }

    @Test func `disparity is near where counts are large`() throws {
        let counts = (0..<32).map { $0 % 2 == 0 ? 2000 : 100 }
        let pixels = rgb(try picture(counts, ["depth-kind": "disparity", "max": "100"]))
        #expect(Array(pixels.prefix(2)) == [[128, 0, 0], [0, 0, 128]])
    }

    // MARK: Formats

    @Test(arguments: templateFormats(ofPad: "src", of: "depthcolorize"))
    func `every format shows the same colors, and holes transparent where it has alpha`(format: String) throws {
        let counts = (0..<32).map { [700, 0, 3000][$0 % 3] }
        let frame = try picture(counts, downstream: "video/x-raw, format=\(format)")
        let shape = VideoShape(format, 8, 4)
        #expect(frame.caps.contains("format=(string)\(format)"))
        let samples = shape.components.map { component in
            (0..<32).map { frame.bytes[component.index($0 % 8, $0 / 8)] }
        }
        #expect(samples[0] == counts.map { $0 == 700 ? 128 : 0 })
        #expect(samples[1].allSatisfy { $0 == 0 })
        #expect(samples[2] == counts.map { $0 == 3000 ? 128 : 0 })
        if shape.hasAlpha { #expect(samples[3] == counts.map { $0 == 0 ? 0 : 255 }) }
    }

    @Test func `an opaque format is preferred where downstream takes any`() throws {
        #expect(try picture(wall(700), downstream: "ANY").caps.contains("format=(string)BGRx"))
        let list = "video/x-raw, format=(string){ RGBA, RGB }"
        #expect(try picture(wall(700), downstream: list).caps.contains("format=(string)RGB,"))
    }

    @Test(arguments: ["GRAY16_LE", "GRAY16_BE", "GRAY8", "F32LE", "F16LE"])
    func `every depth format is read`(format: String) throws {
        let shape = DepthShape(format, 8, 4)
        let bench = bench([], format == "GRAY8" ? ["depth-unit": "0.1"] : [:])
        bench.depth.start(shape)
        let bytes =
            shape.isFloat
            ? shape.bytes(metres: (0..<32).map { $0 % 2 == 0 ? 0.5 : 2 })
            : shape.bytes(counts: (0..<32).map { $0 % 2 == 0 ? 5 : 20 })
        bench.depth.push(bytes, at: 0)
        let pixels = rgb(try #require(bench.output.next()))
        #expect(Array(pixels.prefix(2)) == [[128, 0, 0], [0, 0, 128]])
    }

    // MARK: The video

    /// A map and a video frame at the same time.
    private func mixed(
        _ counts: [Int], _ video: VideoShape, _ bytes: [UInt8], _ properties: [String: String],
        downstream: String = "video/x-raw, format=RGB"
    ) throws -> Recorder.Frame {
        let bench = bench(["video"], properties, downstream: downstream)
        bench.video.start(video)
        bench.video.push(bytes, at: 0)
        bench.depth.start(ColorizeTests.depth)
        bench.depth.push(ColorizeTests.depth.bytes(counts: counts), at: 0)
        return try #require(bench.output.next())
    }

    @Test(arguments: [0.0, 0.25, 0.5, 1])
    func `mix is the share of the colors over the video`(mix: Double) throws {
        let video = VideoShape("RGB", 8, 4)
        let frame = try mixed(wall(700), video, flat(video, [10, 200, 90]), ["mix": "\(mix)"])
        let expected = zip([10.0, 200, 90], [128.0, 0, 0]).map { UInt8(($0 * (1 - mix) + $1 * mix).rounded()) }
        for (value, expected) in zip(rgb(frame)[0], expected) { #expect(abs(Int(value) - Int(expected)) <= 1) }
    }

    @Test func `half of each is the default`() throws {
        let video = VideoShape("RGB", 8, 4)
        #expect(rgb(try mixed(wall(700), video, flat(video, [10, 200, 90]), [:]))[0] == [69, 100, 45])
    }

    @Test func `a hole in the depth takes its share of the video's opacity and not of its color`() throws {
        let video = VideoShape("RGB", 8, 4)
        let frame = try mixed(
            wall(0), video, flat(video, [10, 200, 90]), ["mix": "0.25"], downstream: "video/x-raw, format=RGBA")
        #expect(Array(frame.bytes.prefix(4)) == [10, 200, 90, 191])
    }

    @Test func `the picture has the video's size and the depth's times`() throws {
        let bench = bench(["video"], ["mix": "0", "max-skew": "\(10 * millisecond)"])
        let video = VideoShape("RGB", 31, 17)
        bench.video.start(video)
        bench.depth.start(ColorizeTests.depth)
        for number in 0..<4 {
            if number.isMultiple(of: 2) {
                bench.video.push(flat(video, [UInt8(number), 1, 2]), at: time(ofFrame: number))
            }
            bench.depth.push(
                ColorizeTests.depth.bytes(counts: wall(700)), at: time(ofFrame: number) + 5 * millisecond)
        }
        bench.video.end()
        bench.depth.end()
        let frames = bench.output.rest()
        #expect(frames.map(\.timing.start) == (0..<4).map { time(ofFrame: $0) + 5 * millisecond })
        #expect(frames.map { rgb($0)[0] } == [0, 0, 2, 2].map { [$0, 1, 2] })
        #expect(frames.allSatisfy { $0.caps.contains("width=(int)31, height=(int)17") })
    }

    @Test func `the depth lies on a larger video as depth-fit says`() throws {
        let video = VideoShape("RGB", 16, 16)
        let properties = ["mix": "1", "depth-fit": "contain"]
        let pixels = rgb(try mixed(wall(700), video, flat(video, [9, 9, 9]), properties))
        #expect(pixels.prefix(16 * 4).allSatisfy { $0 == [0, 0, 0] })
        #expect(pixels.dropFirst(16 * 4).prefix(16 * 8).allSatisfy { $0 == [128, 0, 0] })
        #expect(pixels.suffix(16 * 4).allSatisfy { $0 == [0, 0, 0] })
    }

    @Test(arguments: templateFormats(ofPad: "video", of: "depthcolorize", isRequest: true))
    func `every video format is mixed`(format: String) throws {
        let video = VideoShape(format, 8, 4)
        var gray = [UInt8](repeating: 128, count: video.size)
        if video.hasAlpha {
            // AYUV's first component is luma; alpha is the last of all.
            let alpha = video.components[3]
            for row in 0..<4 { for column in 0..<8 { gray[alpha.index(column, row)] = 255 } }
        }
        let pixel = rgb(try mixed(wall(700), video, gray, ["mix": "0"]))[0]
        #expect(pixel.allSatisfy { abs(Int($0) - 130) <= 4 }, "\(pixel)")
    }

    @Test func `without a video frame in time the colors are shown alone`() throws {
        let bench = bench(["video"], ["mix": "0", "hold-time": "\(50 * millisecond)"])
        let video = VideoShape("RGB", 8, 4)
        bench.video.start(video)
        bench.video.push(flat(video, [1, 2, 3]), at: 0)
        bench.video.end()
        bench.depth.start(ColorizeTests.depth)
        for number in 0..<4 {
            bench.depth.push(ColorizeTests.depth.bytes(counts: wall(700)), at: time(ofFrame: number))
        }
        bench.depth.end()
        let (shown, alone): ([UInt8], [UInt8]) = ([1, 2, 3], [128, 0, 0])
        #expect(bench.output.rest().map { rgb($0)[0] } == [shown, shown, alone, alone])
    }

    @Test func `a video that comes and goes changes the size and loses no frame`() throws {
        let bench = bench([], ["mix": "0"])
        bench.depth.start(ColorizeTests.depth)
        func show(_ number: Int) throws -> Recorder.Frame {
            bench.depth.push(ColorizeTests.depth.bytes(counts: wall(700)), at: time(ofFrame: number))
            return try #require(bench.output.next())
        }
        #expect(try show(0).caps.contains("width=(int)8, height=(int)4"))
        let video = VideoShape("RGB", 20, 10)
        bench.request("video").start(video)
        bench.video.push(flat(video, [1, 2, 3]), at: time(ofFrame: 1))
        let over = try show(1)
        #expect(over.caps.contains("width=(int)20, height=(int)10") && rgb(over)[0] == [1, 2, 3])
        bench.release("video")
        #expect(rgb(try show(2))[0] == [128, 0, 0])
        let alone = try show(3)
        #expect(alone.caps.contains("width=(int)8, height=(int)4") && rgb(alone)[0] == [128, 0, 0])
        #expect(bench.bus.errors().isEmpty)
    }

    // MARK: Negotiation

    @Test func `a picture that downstream does not take is one error that says what to do`() {
        let bench = bench([], downstream: "video/x-raw, format=I420")
        bench.depth.start(ColorizeTests.depth)
        bench.depth.push(ColorizeTests.depth.bytes(counts: wall(700)), at: 0)
        #expect(bench.bus.nextError()?.text.contains("videoconvert") == true)
        bench.depth.push(ColorizeTests.depth.bytes(counts: wall(700)), at: time(ofFrame: 1))
        #expect(bench.depth.settle() == GST_FLOW_NOT_NEGOTIATED)
        #expect(bench.bus.errors().isEmpty, "one error")
    }

    @Test func `the depth pad offers the sizes and rates that downstream takes`() {
        let alone = bench([], downstream: "video/x-raw, width=(int)[ 16, 640 ], framerate=(fraction)15/1")
        for caps in [alone.depth.allowedCaps(), alone.depth.allowedCaps(filter: "video/x-depth")] {
            #expect(caps.contains("[ 16, 640 ]") && caps.contains("15/1") && caps.contains("F16LE"), "\(caps)")
        }
        let beside = bench(["video"], downstream: "video/x-raw, width=(int)[ 16, 640 ], framerate=(fraction)15/1")
        #expect(!beside.depth.allowedCaps().contains("640") && beside.depth.allowedCaps().contains("15/1"))
        #expect(beside.video.allowedCaps().contains("[ 16, 640 ]") && !beside.video.allowedCaps().contains("15/1"))
    }

    @Test func `the picture's rate is the depth's and its aspect the video's`() throws {
        let video = VideoShape("RGB", 8, 4, fields: "pixel-aspect-ratio=(fraction)12/11")
        let caps = try mixed(wall(700), video, flat(video, [1, 2, 3]), [:]).caps
        #expect(caps.contains("framerate=(fraction)30/1") && caps.contains("pixel-aspect-ratio=(fraction)12/11"))
    }
}
