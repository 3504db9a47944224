import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// Output with a straight alpha channel.
@Suite struct TransparencyTests {
    private static let depth = DepthShape("GRAY16_LE", 37, 25)
    private static let counts = sceneCounts(37, 25)
    private static let color: [UInt8] = [0x20, 0x40, 0x80]
    private static let properties = [
        "anchor": "fixed", "background-mode": "transparent", "background-color": "0xff204080", "blur-radius": "2",
    ]
    /// The matte of a frame.
    private static let alpha: [UInt8] = {
        var reference = ReferenceMatte()
        reference.blurRadius = 2
        return reference.alpha(
            metres: DepthScale().metres(counts), width: 37, height: 25, videoWidth: 75, videoHeight: 51)
    }()
    /// Formats in, and what they become.
    static let pairs = [
        ("RGBA", "RGBA"), ("BGRA", "BGRA"), ("ARGB", "ARGB"), ("ABGR", "ABGR"), ("AYUV", "AYUV"), ("A420", "A420"),
        ("RGBx", "RGBA"), ("BGRx", "BGRA"), ("xRGB", "ARGB"), ("xBGR", "ABGR"), ("I420", "A420"),
    ]

    private func run(_ input: String, _ properties: [String: String]) -> (picture: [UInt8], frame: Recorder.Frame)? {
        let video = VideoShape(input, 75, 51)
        let picture = noise(video, seed: 9)
        let bench = Bench(["depth"], properties)
        bench.depth.start(TransparencyTests.depth)
        bench.depth.push(TransparencyTests.depth.bytes(counts: TransparencyTests.counts), at: 0)
        bench.video.start(video)
        bench.video.push(picture, at: 0)
        return bench.output.next().map { (picture, $0) }
    }

    /// The video in its sibling's layout, opaque where it had no alpha.
    private func opaque(_ picture: [UInt8], _ from: VideoShape, _ to: VideoShape) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: to.size)
        for (index, target) in to.components.enumerated() {
            let source = index < from.components.count ? from.components[index] : nil
            Reference.forEachSample(of: target) { column, row in
                result[target.index(column, row)] = source.map { picture[$0.index(column, row)] } ?? 255
            }
        }
        return result
    }

    /// The background's color in each component, alpha last and 0.
    private func hidden(_ shape: VideoShape) -> [Int] {
        let rgb = TransparencyTests.color.map(Double.init)
        guard shape.isYUV else { return rgb.map { Int($0) } + [0] }
        let y = 16 + (65.481 * rgb[0] + 128.553 * rgb[1] + 24.966 * rgb[2]) / 255
        let u = 128 + (-37.797 * rgb[0] - 74.203 * rgb[1] + 112 * rgb[2]) / 255
        let v = 128 + (112 * rgb[0] - 93.786 * rgb[1] - 18.214 * rgb[2]) / 255
        return [y, u, v].map { Int($0.rounded()) } + [0]
    }

    @Test(arguments: ["blur", "comic", "color"], ["RGBA", "ABGR"])
    func `what is clear in the video shows nothing of it`(mode: String, format: String) throws {
        let video = VideoShape(format, 64, 48)
        let bench = Bench(["depth"], ["background-mode": mode, "background-color": "0xff0000ff", "anchor": "fixed"])
        bench.depth.start(DepthShape("GRAY16_LE", 64, 48))
        bench.depth.push(
            DepthShape("GRAY16_LE", 64, 48).bytes(counts: (0..<(64 * 48)).map { $0 % 64 < 32 ? 700 : 3000 }), at: 0)
        bench.video.start(video)
        bench.video.push(flat(video, [250, 250, 40, 0]), at: 0)
        let bytes = try #require(bench.output.next()).bytes
        #expect(pixels(bytes, otherThan: [0, 0, 255, 255], video) == 0)
    }

    /// Video of alpha p over what lies under it, b: c = C · p + B · (1 − p). Where the room is blurred, it lies over the color, and
    /// the person over the room.
    @Test(arguments: ["RGBA", "BGRA", "ARGB", "ABGR", "AYUV", "A420"], ["threshold", "fusion"])
    func `half clear video lies over the background`(format: String, method: String) throws {
        let video = VideoShape(format, 64, 48)
        let own: [Double] = video.isYUV ? [180, 100, 150] : [250, 200, 40]
        let color = hidden(video).prefix(3).map(Double.init)
        let mixed = zip(own, color).map { ($0 * 128 + $1 * 127) / 255 }
        let twice = zip(own, mixed).map { ($0 * 128 + $1 * 127) / 255 }
        let modes: [(mode: String, person: [Double], room: [Double])] = [
            ("color", mixed + [255], color + [255]), ("blur", twice + [255], mixed + [255]),
            ("transparent", own + [128], color + [0]),
        ]
        for (mode, person, room) in modes {
            let bench = Bench(
                ["depth"],
                TransparencyTests.properties.with(["background-mode": mode, "method": method, "light-wrap": "0"]))
            bench.depth.start(DepthShape("GRAY16_LE", 64, 48))
            bench.depth.push(
                DepthShape("GRAY16_LE", 64, 48).bytes(counts: (0..<(64 * 48)).map { $0 % 64 < 32 ? 700 : 3000 }),
                at: 0)
            bench.video.start(video)
            bench.video.push(flat(video, own.map { UInt8($0) } + [128]), at: 0)
            let bytes = try #require(bench.output.next()).bytes
            for (x, expected) in [(8, person), (56, room)] {
                let seen = video.components.map { bytes[$0.index(x / $0.columnsPerSample, 24 / $0.rowsPerSample)] }
                let isEqual = zip(seen, expected).allSatisfy { abs(Double($0) - $1) <= 2.5 }
                #expect(isEqual, "\(mode) at \(x): \(seen), not \(expected)")
            }
        }
    }

    @Test(arguments: pairs)
    func `the color is straight, and hidden where nothing shows`(input: String, output: String) throws {
        let shape = VideoShape(output, 75, 51)
        let (picture, frame) = try #require(run(input, TransparencyTests.properties))
        #expect(frame.caps.contains("format=(string)\(output)"), "\(frame.caps)")
        let bytes = frame.bytes
        try #require(bytes.count == shape.size)
        let before = opaque(picture, VideoShape(input, 75, 51), shape)
        let hidden = hidden(shape)
        let components = shape.components
        var farthest = 0
        var shown = 0
        for (index, component) in components.enumerated() {
            Reference.forEachSample(of: component) { column, row in
                let value = Int(bytes[component.index(column, row)])
                let own = Int(before[component.index(column, row)])
                let pixels = covered(component, column, row, shape)
                let isHidden = pixels.allSatisfy { bytes[components[3].index($0.0, $0.1)] == 0 }
                let expected =
                    index == 3
                    ? Int((Double(own) * Double(TransparencyTests.alpha[row * 75 + column]) / 255).rounded())
                    : isHidden ? hidden[index] : own
                if index == 3, value > 0 { shown += 1 }
                let limit = index == 3 || (isHidden && shape.isYUV) ? 2 : 0
                farthest = max(farthest, abs(value - expected) - limit)
            }
        }
        #expect(farthest == 0, "\(input): off by \(farthest) more than allowed")
        #expect(shown > 300 && shown < 75 * 51, "\(input): the person must show, and something must not")
    }

    private func covered(
        _ component: VideoShape.Component, _ column: Int, _ row: Int, _ shape: VideoShape
    ) -> [(Int, Int)] {
        let columns = column * component.columnsPerSample..<min((column + 1) * component.columnsPerSample, shape.width)
        let rows = row * component.rowsPerSample..<min((row + 1) * component.rowsPerSample, shape.height)
        return rows.flatMap { y in columns.map { ($0, y) } }
    }

    @Test(arguments: pairs)
    func `the original view keeps the video and is opaque`(input: String, output: String) throws {
        let shape = VideoShape(output, 75, 51)
        let (picture, frame) = try #require(run(input, TransparencyTests.properties.with(["view": "original"])))
        let expected = opaque(picture, VideoShape(input, 75, 51), shape)
        #expect(Difference(frame.bytes, expected, shape).isNone, "\(Difference(frame.bytes, expected, shape))")
    }

    @Test(arguments: pairs)
    func `the matte view is gray and opaque`(input: String, output: String) throws {
        let shape = VideoShape(output, 75, 51)
        let (_, frame) = try #require(run(input, TransparencyTests.properties.with(["view": "matte"])))
        let difference = Difference(frame.bytes, Reference.matteView(alpha: TransparencyTests.alpha, shape), shape)
        #expect(difference.isWithinPromise, "\(input): \(difference)")
    }

    @Test(arguments: pairs)
    func `a frame without depth is wholly transparent and of the background's color`(
        input: String, output: String
    ) throws {
        let video = VideoShape(input, 75, 51)
        let shape = VideoShape(output, 75, 51)
        let bench = Bench([], TransparencyTests.properties)
        bench.video.start(video)
        bench.video.push(noise(video, seed: 9), at: 0)
        let bytes = try #require(bench.output.next()).bytes
        let expected = flat(shape, hidden(shape).map { UInt8($0) })
        let difference = Difference(bytes, expected, shape)
        #expect(difference.largest <= (shape.isYUV ? 1 : 0), "\(difference)")
    }

    @Test(arguments: pairs, [false, true])
    func `a faulty frame costs itself alone, and is wholly transparent`(
        formats: (input: String, output: String), readsMetas: Bool
    ) throws {
        let video = VideoShape(formats.input, 75, 51)
        let shape = VideoShape(formats.output, 75, 51)
        // The original of video that has its alpha channel already leaves as it is, unread.
        for view in ["composite", "matte", "depth", "quad"] + (formats.input == formats.output ? [] : ["original"]) {
            let bench = Bench([], TransparencyTests.properties.with(["view": view]), readsMetas: readsMetas)
            bench.video.start(video)
            bench.video.push(noise(video, seed: 9), at: 0)
            bench.video.push([UInt8](noise(video, seed: 9).prefix(video.size / 2)), at: time(ofFrame: 1))
            bench.video.push(noise(video, seed: 9), at: time(ofFrame: 2))
            let frames = (0..<3).compactMap { _ in bench.output.next() }
            #expect(frames.count == 3 && bench.bus.errors().isEmpty, "\(view)")
            #expect(bench.bus.warnings().count { $0.text.contains("faulty") } == 1, "\(view)")
            guard view == "composite", frames.count == 3, !readsMetas else { continue }
            let difference = Difference(frames[1].bytes, flat(shape, hidden(shape).map { UInt8($0) }), shape)
            #expect(difference.largest <= (shape.isYUV ? 1 : 0), "\(difference)")
        }
    }

    /// A stream that is made transparent from the start or while it plays.
    private func play(
        _ source: String, setWhilePlaying: Bool
    ) -> (formats: [String], warnings: [Bus.Report], errors: [Bus.Report]) {
        let pipeline = Pipeline(
            """
            depthtestsrc name=camera num-buffers=20
            camera.video ! video/x-raw,width=64,height=48,framerate=30/1 ! \(source)
                ! depthmatte name=matte \(setWhilePlaying ? "" : "background-mode=transparent")
                ! appsink name=sink sync=false max-buffers=1
            camera.depth ! video/x-raw,width=32,height=24 ! matte.depth
            """)
        _ = pipeline.set(GST_STATE_PLAYING)
        var frames = [pipeline.nextFrame(of: "sink")]
        if setWhilePlaying { setProperty(pipeline["matte"], "background-mode", "transparent") }
        frames += pipeline.frames(of: "sink")
        let formats = frames.map { frame in
            frame?.caps.firstMatch(of: /format=\(string\)(\w+)/).map { String($0.1) } ?? "none"
        }
        return (formats, pipeline.bus.warnings(), pipeline.bus.errors())
    }

    @Test(arguments: ["NV12", "YUY2", "BGR"], [false, true])
    func `a source that cannot change its format plays on before the color, with one warning`(
        format: String, setWhilePlaying: Bool
    ) {
        let (formats, warnings, errors) = play(
            "videoconvert ! video/x-raw,format=\(format)", setWhilePlaying: setWhilePlaying)
        #expect(formats == [String](repeating: format, count: 20) && errors.isEmpty, "\(errors)")
        #expect(warnings.count == 1 && warnings.first?.text.contains(format) == true, "\(warnings)")
    }

    @Test(
        arguments: ["videoconvert", "videoconvert ! video/x-raw,format=NV12 ! videoconvert ! videoscale"],
        [false, true])
    func `a source that can change its format sends one that gains an alpha channel`(
        source: String, setWhilePlaying: Bool
    ) {
        let (formats, warnings, errors) = play(source, setWhilePlaying: setWhilePlaying)
        #expect(formats.count == 20 && errors.isEmpty, "\(errors)")
        let withAlpha = TransparencyTests.pairs.map(\.1)
        #expect(withAlpha.contains(formats.last ?? ""), "\(formats)")
        if !setWhilePlaying { #expect(Set(formats).count == 1 && warnings.isEmpty, "\(formats)") }
    }

    @Test(arguments: [
        // Nothing can have an alpha channel: that is downstream's fault, whatever the video is.
        ("RGB", "RGB", "Downstream accepts no format with an alpha channel"),
        ("BGRx", "{ BGRx, I420 }", "Downstream accepts no format with an alpha channel"),
        // The video's own variant is not accepted, another would be.
        ("I420", "{ I420, BGRA }", "A420: background-color is shown instead of transparency. Put videoconvert after"),
        ("BGRx", "{ BGRx, RGB }", "BGRA"), ("RGB", "{ RGB, RGBA }", "RGB video has no variant with an alpha channel"),
    ])
    func `the video's own format leaves where no sibling is taken, and the warning says whose fault it is`(
        format: String, taken: String, words: String
    ) throws {
        let video = VideoShape(format, 40, 30)
        let bench = Bench([], TransparencyTests.properties, downstream: "video/x-raw, format=(string)\(taken)")
        bench.video.start(video)
        bench.video.push(noise(video, seed: 9), at: 0)
        #expect(try #require(bench.output.next()).caps.contains("format=(string)\(format)"))
        let warnings = bench.bus.warnings().map(\.text).filter { text in
            ["alpha", "A420", "BGRA"].contains { text.contains($0) }
        }
        #expect(warnings.count == 1 && warnings.first?.contains(words) == true, "\(warnings)")
        #expect(bench.bus.errors().isEmpty)
    }

    @Test(arguments: [true, false])
    func `a format that can have no alpha is shown before the color, with one warning`(isFromStart: Bool) throws {
        let video = VideoShape("BGR", 40, 30)
        let bench = Bench(
            ["depth"], TransparencyTests.properties.with(["background-mode": isFromStart ? "transparent" : "auto"]))
        bench.depth.end()
        bench.video.start(video)
        if !isFromStart {
            bench.video.push(noise(video, seed: 9), at: 0)
            _ = try #require(bench.output.next())
            bench.set("background-mode", "transparent")
        }
        for frame in 1..<4 { bench.video.push(noise(video, seed: 9), at: time(ofFrame: frame)) }
        for _ in 1..<4 {
            let bytes = try #require(bench.output.next()).bytes
            #expect(pixels(bytes, otherThan: TransparencyTests.color, video) == 0)
        }
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && warnings.first?.text.contains("BGR") == true, "\(warnings)")
    }

    @Test func `made transparent while playing, the output gains its alpha channel`() throws {
        let video = VideoShape("I420", 40, 30)
        let bench = Bench([], ["background-color": "0xff204080"])
        bench.video.start(video)
        bench.video.push(noise(video, seed: 9), at: 0)
        #expect(try #require(bench.output.next()).caps.contains("format=(string)I420"))
        bench.set("background-mode", "transparent")
        bench.video.push(noise(video, seed: 9), at: time(ofFrame: 1))
        let frame = try #require(bench.output.next())
        #expect(frame.caps.contains("format=(string)A420"))
        #expect(frame.bytes.count == VideoShape("A420", 40, 30).size)
    }
}
