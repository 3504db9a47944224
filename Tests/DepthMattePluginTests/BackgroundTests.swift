import GstTestSupport
import Testing

/// The background behind the person. Nothing is foreground here, so that every frame is the background alone.
@Suite struct BackgroundTests {
    private let folder = TemporaryFolder()
    private static let red: [UInt8] = [200, 10, 20]
    private static let green: [UInt8] = [10, 180, 30]
    private static let blue: [UInt8] = [20, 30, 220]
    private static let white: [UInt8] = [240, 240, 240]

    /// Four stripes side by side, each a quarter as wide as the picture.
    private func stripes(_ width: Int, _ height: Int) -> String {
        let colors = [BackgroundTests.red, BackgroundTests.green, BackgroundTests.blue, BackgroundTests.white]
        return folder.write("stripes.png", png(width: width, height: height) { x, _ in colors[x * 4 / width] })
    }

    /// The first frame of an element that has no depth.
    private func frame(_ shape: VideoShape, _ properties: [String: String]) -> [UInt8] {
        let bench = Bench([], properties)
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        return bench.output.next()?.bytes ?? []
    }

    private func pixel(_ frame: [UInt8], _ x: Int, _ y: Int, _ shape: VideoShape) -> [UInt8] {
        shape.components.map { component in
            let index = component.index(x / component.columnsPerSample, y / component.rowsPerSample)
            return index < frame.count ? frame[index] : 0
        }
    }

    @Test(arguments: FormatTests.videoFormats)
    func `the color is right in every format`(format: String) {
        let shape = VideoShape(format, 33, 17)
        let bytes = frame(shape, ["background-color": "0xffc81e50"])
        let rgb = [200.0, 30.0, 80.0]
        let y = 16 + (65.481 * rgb[0] + 128.553 * rgb[1] + 24.966 * rgb[2]) / 255
        let u = 128 + (-37.797 * rgb[0] - 74.203 * rgb[1] + 112 * rgb[2]) / 255
        let v = 128 + (112 * rgb[0] - 93.786 * rgb[1] - 18.214 * rgb[2]) / 255
        let gray = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
        let color = shape.isGray ? [gray] : shape.isYUV ? [y, u, v, 255] : rgb + [255]
        let expected = flat(shape, color.map { UInt8($0.rounded()) })
        let difference = Difference(bytes, expected, shape)
        #expect(difference.largest <= (shape.isYUV || shape.isGray ? 2 : 0), "\(format): \(difference)")
    }

    @Test func `a still of the frame's size is shown exactly`() {
        let shape = VideoShape("RGB", 40, 30)
        let path = folder.write(
            "exact.png", png(width: 40, height: 30) { x, y in [UInt8(x * 6), UInt8(y * 8), UInt8(x ^ y)] })
        for fit in ["cover", "contain", "stretch"] {
            let bytes = frame(shape, ["background": path, "background-fit": fit])
            var expected = [UInt8](repeating: 0, count: shape.size)
            for (index, component) in shape.components.enumerated() {
                Reference.forEachSample(of: component) { x, y in
                    expected[component.index(x, y)] = [UInt8(x * 6), UInt8(y * 8), UInt8(x ^ y)][index]
                }
            }
            #expect(Difference(bytes, expected, shape).isNone, "\(fit): \(Difference(bytes, expected, shape))")
        }
    }

    @Test func `a file URI names the same file`() {
        let shape = VideoShape("RGB", 40, 30)
        let path = stripes(40, 30)
        #expect(frame(shape, ["background": "file://\(path)"]) == frame(shape, ["background": path]))
    }

    @Test(arguments: [(200, 100), (400, 200), (50, 25)])
    func `cover fills the frame and cuts evenly`(width: Int, height: Int) {
        let shape = VideoShape("RGB", 100, 100)
        let bytes = frame(shape, ["background": stripes(width, height), "background-fit": "cover"])
        for y in [0, 50, 99] {
            #expect(pixel(bytes, 10, y, shape) == BackgroundTests.green)
            #expect(pixel(bytes, 90, y, shape) == BackgroundTests.blue)
        }
    }

    @Test(arguments: [(200, 100), (400, 200), (50, 25)])
    func `contain shows all of it, the color around it`(width: Int, height: Int) {
        let shape = VideoShape("RGB", 100, 100)
        let bytes = frame(
            shape,
            ["background": stripes(width, height), "background-fit": "contain", "background-color": "0xff010203"])
        for (x, color) in zip(
            [5, 37, 62, 95], [BackgroundTests.red, BackgroundTests.green, BackgroundTests.blue, BackgroundTests.white])
        {
            for y in [25, 50, 74] { #expect(pixel(bytes, x, y, shape) == color, "(\(x), \(y))") }
            for y in [0, 24, 75, 99] { #expect(pixel(bytes, x, y, shape) == [1, 2, 3], "(\(x), \(y))") }
        }
    }

    @Test(arguments: [(200, 100), (400, 25), (50, 300)])
    func `stretch fills the frame exactly`(width: Int, height: Int) {
        let shape = VideoShape("RGB", 100, 100)
        let bytes = frame(shape, ["background": stripes(width, height), "background-fit": "stretch"])
        for (x, color) in zip(
            [5, 37, 62, 95], [BackgroundTests.red, BackgroundTests.green, BackgroundTests.blue, BackgroundTests.white])
        {
            for y in [0, 50, 99] { #expect(pixel(bytes, x, y, shape) == color, "(\(x), \(y))") }
        }
    }

    @Test(arguments: [("color", [1, 2, 3] as [UInt8]), ("image", red), ("auto", red), ("stream", [1, 2, 3])])
    func `background-mode chooses the picture`(mode: String, expected: [UInt8]) {
        let shape = VideoShape("RGB", 40, 30)
        let bytes = frame(
            shape, ["background": stripes(40, 30), "background-mode": mode, "background-color": "0xff010203"])
        #expect(pixel(bytes, 2, 2, shape) == expected)
    }

    // MARK: Changes while playing

    @Test func `a file that cannot be read leaves the old one and warns`() throws {
        let shape = VideoShape("RGB", 40, 30)
        let bench = Bench(["depth"], ["background": stripes(40, 30)])
        bench.depth.end()
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let before = try #require(bench.output.next()).bytes
        bench.set("background", folder["missing.png"])
        let warning = try #require(bench.bus.nextWarning())
        #expect(warning.text.contains(folder["missing.png"]), "\(warning)")
        bench.video.push(noise(shape, seed: 2), at: time(ofFrame: 1))
        #expect(bench.output.next()?.bytes == before)
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `a new color shows on the next frame`() throws {
        let shape = VideoShape("RGB", 40, 30)
        let bench = Bench([], ["background-color": "0xff010203"])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        #expect(pixels(try #require(bench.output.next()).bytes, otherThan: [1, 2, 3], shape) == 0)
        bench.set("background-color", "0xff040506")
        bench.video.push(noise(shape, seed: 1), at: time(ofFrame: 1))
        #expect(pixels(try #require(bench.output.next()).bytes, otherThan: [4, 5, 6], shape) == 0)
    }
}
