import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A live stream as background: it comes late, stops, and changes, and no frame waits for it.
@Suite struct BackgroundPadTests {
    private static let shape = VideoShape("RGB", 40, 32)
    private let clock = TestClock()

    private func bench(_ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(["background"], properties.with(["latency": "0"]), clock: clock.clock)
        bench.video.start(BackgroundPadTests.shape)
        return bench
    }

    /// The gray that is behind video frame `number`, nil where it is no one gray.
    private func behind(_ bench: Bench, frame number: Int) throws -> UInt8? {
        bench.video.push(noise(BackgroundPadTests.shape, seed: 1), at: time(ofFrame: number))
        let frame = try #require(
            clock.runUntil(time(ofFrame: number)) { bench.output.present().first }, "frame \(number)")
        guard let gray = frame.bytes.first,
            pixels(frame.bytes, otherThan: [gray, gray, gray], BackgroundPadTests.shape) == 0
        else { return nil }
        return gray
    }

    private func push(_ gray: UInt8, _ shape: VideoShape = BackgroundPadTests.shape, at frame: Int, _ bench: Bench) {
        bench.background.push(flat(shape, [gray, gray, gray, 255]), at: time(ofFrame: frame))
        bench.background.settle()
    }

    @Test func `the color stands in until the first picture, and the last picture stays`() throws {
        let bench = bench()
        for frame in 0..<3 { #expect(try behind(bench, frame: frame) == 0) }
        bench.background.start(BackgroundPadTests.shape)
        push(90, at: 3, bench)
        for frame in 3..<50 { #expect(try behind(bench, frame: frame) == 90) }
        push(60, at: 50, bench)
        for frame in 50..<53 { #expect(try behind(bench, frame: frame) == 60) }
        bench.background.end()
        bench.background.settle()
        for frame in 53..<56 { #expect(try behind(bench, frame: frame) == 60) }
        #expect(clock.lateWaits == 0)
    }

    @Test(arguments: ["RGBA", "BGRA", "ARGB", "ABGR", "AYUV", "A420"], ["RGB", "RGBA"])
    func `a picture with alpha lies over the color`(format: String, output: String) throws {
        let (shape, picture) = (VideoShape(output, 40, 32), VideoShape(format, 40, 32))
        for alpha in [0, 128, 255] as [UInt8] {
            let bench = Bench(["background"], ["background-color": "0xff0000ff"])
            bench.background.start(picture)
            let white: [UInt8] = picture.isYUV ? [235, 128, 128, alpha] : [255, 255, 255, alpha]
            bench.background.push(flat(picture, white), at: 0)
            bench.background.end()
            bench.video.start(shape)
            bench.video.push(noise(shape, seed: 1), at: 0)
            let bytes = try #require(bench.output.next()).bytes
            for (value, expected) in zip(bytes, [alpha, alpha, 255, 255].prefix(shape.hasAlpha ? 4 : 3)) {
                #expect(abs(Int(value) - Int(expected)) <= 6, "\(format), alpha \(alpha): \(bytes.prefix(4))")
            }
        }
    }

    @Test func `another size and format are fitted from their first picture on`() throws {
        let bench = bench()
        bench.background.start(BackgroundPadTests.shape)
        push(90, at: 0, bench)
        #expect(try behind(bench, frame: 0) == 90)
        let others = [VideoShape("BGRA", 17, 90), VideoShape("RGB", 640, 360), VideoShape("xRGB", 1, 1)]
        for (index, shape) in others.enumerated() {
            bench.background.setCaps(shape.caps)
            bench.background.push(
                flat(shape, [UInt8](repeating: UInt8(10 + index), count: 3) + [255]), at: time(ofFrame: index + 1))
            bench.background.settle()
            #expect(try behind(bench, frame: index + 1) == UInt8(10 + index), "\(shape)")
        }
    }

    @Test func `each of several fitted pictures has the border that is asked for at its time`() throws {
        let bench = bench(["background-fit": "contain", "background-color": "0xff202020"])
        let (wide, shape) = (VideoShape("RGB", 80, 32), BackgroundPadTests.shape)
        bench.background.start(wide)
        for (number, border) in [UInt8(0x20), 0x20, 0x70, 0x30].enumerated() {
            setProperty(
                bench.element, "background-color", "0xff" + String(repeating: String(border, radix: 16), count: 3))
            push(UInt8(90 + number), wide, at: number, bench)
            bench.video.push(noise(shape, seed: 1), at: time(ofFrame: number))
            let frame = try #require(clock.runUntil(time(ofFrame: number)) { bench.output.present().first })
            let rows = stride(from: 0, to: frame.bytes.count, by: shape.size / 32).map { frame.bytes[$0] }
            #expect(rows[0] == border && rows[31] == border && rows[16] == UInt8(90 + number), "\(number): \(rows)")
        }
    }

    @Test func `a picture at its own rate is behind each frame that it spans`() throws {
        let bench = bench()
        bench.background.start(BackgroundPadTests.shape)
        var seen: [UInt8?] = []
        for frame in 0..<12 {
            if frame % 4 == 0 { push(UInt8(50 + frame), at: frame, bench) }
            seen.append(try behind(bench, frame: frame))
        }
        #expect(seen == [50, 50, 50, 50, 54, 54, 54, 54, 58, 58, 58, 58])
    }

    @Test func `a gap leaves the last picture, a flush the color`() throws {
        let bench = bench()
        bench.background.start(BackgroundPadTests.shape)
        push(70, at: 0, bench)
        #expect(try behind(bench, frame: 0) == 70)
        bench.background.gap(at: time(ofFrame: 1))
        bench.background.settle()
        #expect(try behind(bench, frame: 1) == 70)
        bench.background.beginFlush()
        bench.background.endFlush()
        bench.background.settle()
        #expect(try behind(bench, frame: 2) == 0)
    }

    @Test func `without a live input a frame waits for the picture that belongs behind it`() {
        let bench = Bench(["background"])
        bench.video.start(BackgroundPadTests.shape)
        bench.video.push(noise(BackgroundPadTests.shape, seed: 1), at: time(ofFrame: 2))
        bench.background.start(BackgroundPadTests.shape)
        for frame in 0..<4 { push(UInt8(20 + frame), at: frame, bench) }
        #expect(bench.output.next()?.bytes.first == 22)
    }
}
