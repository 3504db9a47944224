import DepthKernels
import DepthMattePlugin
import GstBridge
import GstTestSupport
import Testing

/// Stills of any shape in frames of any shape. Nothing is foreground, so that every frame is the background alone.
@Suite struct PictureFitTests {
    private let folder = TemporaryFolder()
    private static let sizes = [(1, 1), (1, 50), (50, 1), (2, 3), (7, 5), (33, 17), (64, 48), (1, 5000), (5000, 1)]

    /// The frame that shows a still.
    private func frame(
        _ shape: VideoShape, _ still: [UInt8], _ fit: String, border: String = "0xff010203"
    ) -> [UInt8] {
        let path = folder.write("still.png", still)
        let bench = Bench([], ["background": path, "background-fit": fit, "background-color": border])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        return bench.output.next()?.bytes ?? []
    }

    /// Red, green and blue of each pixel, row by row.
    private func pixels(_ frame: [UInt8], _ shape: VideoShape) -> [[UInt8]] {
        var pixels = [[UInt8]](repeating: [0, 0, 0], count: shape.width * shape.height)
        for (index, component) in shape.components.enumerated() {
            Reference.forEachSample(of: component) { x, y in
                pixels[y * shape.width + x][index] = frame[component.index(x, y)]
            }
        }
        return pixels
    }

    @Test(arguments: PictureFitTests.sizes)
    func `a plain still keeps its color, and the border lies where it belongs`(width: Int, height: Int) throws {
        let color: [UInt8] = [200, 30, 80]
        let still = png(width: width, height: height) { _, _ in color }
        for (frameWidth, frameHeight) in [(1, 1), (2, 3), (33, 17), (40, 64)] {
            let shape = VideoShape("RGB", frameWidth, frameHeight)
            for (name, fit) in [("cover", PictureFit.cover), ("contain", .contain), ("stretch", .stretch)] {
                let frame = frame(shape, still, name)
                try #require(frame.count == shape.size)
                let area = fit.rectangles(
                    sourceWidth: width, sourceHeight: height, targetWidth: frameWidth, targetHeight: frameHeight
                ).into
                let wrong = pixels(frame, shape).enumerated().filter { index, pixel in
                    let (x, y) = (index % frameWidth, index / frameWidth)
                    let isInside =
                        area.x..<(area.x + area.width) ~= x && area.y..<(area.y + area.height) ~= y
                    return pixel != (isInside ? color : [1, 2, 3])
                }
                #expect(wrong.isEmpty, "\(shape) \(name): \(wrong.prefix(3))")
            }
        }
    }

    @Test(arguments: FormatTests.videoFormats)
    func `the border and a plain still are right in every format`(format: String) {
        let shape = VideoShape(format, 33, 18)
        let still = png(width: 20, height: 4) { _, _ in [200, 30, 80] }
        let plain = frame(shape, png(width: 33, height: 18) { _, _ in [200, 30, 80] }, "cover")
        // The border has the still's color: then nothing but that color is there.
        let difference = Difference(frame(shape, still, "contain", border: "0xffc81e50"), plain, shape)
        #expect(difference.largest <= 1, "\(format): \(difference)")
    }

    @Test(arguments: FormatTests.videoFormats, ["I420", "RGB"])
    func `the border and a plain moving picture are right in every format`(format: String, source: String) throws {
        let (shape, picture) = (VideoShape(format, 33, 18), VideoShape(source, 20, 4))
        let properties = [
            "background-fit": "contain", "background-color": source == "RGB" ? "0xffc81e50" : "0xff808080",
        ]
        let bench = Bench(["background"], properties)
        bench.video.start(shape)
        bench.background.start(picture)
        bench.background.push(flat(picture, source == "RGB" ? [200, 30, 80] : [126, 128, 128]), at: 0)
        bench.background.end()
        bench.video.push(noise(shape, seed: 1), at: 0)
        let plain = Bench([], properties.with(["background-mode": "color"]))
        plain.video.start(shape)
        plain.video.push(noise(shape, seed: 1), at: 0)
        let (shown, expected) = (try #require(bench.output.next()).bytes, try #require(plain.output.next()).bytes)
        let difference = Difference(shown, expected, shape)
        #expect(difference.largest <= 3, "\(source) to \(format): \(difference)")
    }

    @Test(arguments: [(20, 15), (32, 24), (40, 30), (63, 47), (80, 60), (5, 3)])
    func `a fine pattern that is shrunk turns gray`(width: Int, height: Int) {
        let shape = VideoShape("RGB", width, height)
        let checks = png(width: 128, height: 96) { x, y in [UInt8](repeating: (x ^ y) & 1 == 0 ? 0 : 255, count: 3) }
        let bytes = pixels(frame(shape, checks, "stretch"), shape).joined()
        #expect(bytes.allSatisfy { 115...140 ~= $0 }, "\(bytes.min() ?? 0)...\(bytes.max() ?? 0)")
    }

    @Test func `a gradient stays one, enlarged and shrunk`() {
        let still = png(width: 64, height: 48) { x, y in [UInt8(x * 4), UInt8(y * 5), 0] }
        for (width, height) in [(16, 12), (32, 24), (150, 90)] {
            let shape = VideoShape("RGB", width, height)
            let wrong = pixels(frame(shape, still, "stretch"), shape).enumerated().filter { index, pixel in
                let x = (Double(index % width) + 0.5) * 64 / Double(width) - 0.5
                let y = (Double(index / width) + 0.5) * 48 / Double(height) - 0.5
                let isInside = 8...55 ~= x && 8...39 ~= y
                return isInside && (abs(x * 4 - Double(pixel[0])) > 1.5 || abs(y * 5 - Double(pixel[1])) > 1.5)
            }
            #expect(wrong.isEmpty, "\(shape): \(wrong.prefix(3))")
        }
    }

    @Test(arguments: [(4, 4), (8, 8), (20, 20), (1, 1)])
    func `a transparent still lies over the color, and its hidden colors show nowhere`(width: Int, height: Int) {
        let still = png(width: 8, height: 8, hasAlpha: true) { x, _ in x < 4 ? [255, 255, 0, 0] : [0, 200, 0, 128] }
        let shape = VideoShape("RGB", width, height)
        let seen = pixels(frame(shape, still, "stretch", border: "0xff0a14fa"), shape)
        // From (10, 20, 250) to (5, 110, 125), and a little beyond, as sharp filters go.
        #expect(seen.allSatisfy { $0[0] <= 12 && 8...122 ~= $0[1] && 112...255 ~= $0[2] }, "\(shape): \(seen)")
        if width == 8 { #expect(seen[0] == [10, 20, 250] && [124, 125].contains(seen[7][2]), "\(seen)") }
    }

    @Test func `what is cut off or left over is parted with the smaller half first`() {
        func rectangles(_ fit: PictureFit, _ source: (Int, Int), _ target: (Int, Int)) -> [Rectangle<Int>] {
            let (from, into) = fit.rectangles(
                sourceWidth: source.0, sourceHeight: source.1, targetWidth: target.0, targetHeight: target.1)
            return [from, into]
        }
        let frame = Rectangle(width: 5, height: 2)
        #expect(
            rectangles(.contain, (2, 2), (5, 2))
                == [Rectangle(width: 2, height: 2), Rectangle(x: 1, y: 0, width: 2, height: 2)])
        #expect(rectangles(.stretch, (7, 9), (5, 2)) == [Rectangle(width: 7, height: 9), frame])
        #expect(rectangles(.contain, (1, 5000), (5, 2))[1] == Rectangle(x: 2, y: 0, width: 1, height: 2))
    }

    @Test(arguments: [PictureFit.cover, .contain, .stretch])
    func `the picture is no more than half a pixel of its own off`(fit: PictureFit) {
        let sizes = [(40, 40), (10, 9), (1, 5000), (641, 480), (1920, 1080), (3, 2), (97, 51)]
        let frames = [(160, 90), (5, 2), (1920, 1080), (320, 240), (33, 17), (90, 160)]
        for (source, target) in sizes.flatMap({ size in frames.map { (size, $0) } }) {
            for aspect in [1, 16.0 / 15, 64.0 / 45, 0.5] {
                let (from, into) = fit.rectangles(
                    sourceWidth: source.0, sourceHeight: source.1, targetWidth: target.0, targetHeight: target.1,
                    pixelAspect: aspect)
                let scales = (Double(target.0) / Double(source.0), Double(target.1) / Double(source.1))
                let (wide, high) = (scales.0 / aspect, scales.1)
                let scale = fit == .cover ? max(wide, high) : min(wide, high)
                let exact = fit == .stretch ? scales : (scale * aspect, scale)
                func check(_ from: (Int, Int), _ into: (Int, Int), _ source: Int, _ target: Int, _ scale: Double) {
                    // Where the frame, or what is drawn of it, begins and ends in the picture.
                    let isNear = [max(0, into.0), min(target, into.0 + into.1)].allSatisfy { edge in
                        let drawn = Double(from.0) + Double(edge - into.0) * Double(from.1) / Double(into.1)
                        let middle = Double(source) / 2 + (Double(edge) - Double(target) / 2) / scale
                        return abs(drawn - middle) <= 0.5 + (fit == .contain ? 1.01 : 0.51) / scale
                    }
                    #expect(isNear, "\(fit) \(source) on \(target), aspect \(aspect): \(from) at \(into)")
                }
                check((from.x, from.width), (into.x, into.width), source.0, target.0, exact.0)
                check((from.y, from.height), (into.y, into.height), source.1, target.1, exact.1)
            }
        }
    }

    /// The width and height of what is brighter than the border, and the middle of its rows.
    private func brightArea(_ frame: [UInt8], _ shape: VideoShape) -> (width: Double, height: Double, middle: Double) {
        let bright = pixels(frame, shape).map { Double($0[0]) / 255 }
        let columns = (0..<shape.width).map { x in (0..<shape.height).map { bright[$0 * shape.width + x] }.max() ?? 0 }
        let rows = (0..<shape.height).map { y in (0..<shape.width).map { bright[y * shape.width + $0] }.max() ?? 0 }
        let middle = rows.enumerated().reduce(0) { $0 + (Double($1.offset) + 0.5) * $1.element }
        return (columns.reduce(0, +), rows.reduce(0, +), middle / rows.reduce(0, +))
    }

    @Test(arguments: ["1/1", "16/15", "64/45", "1/2"], ["cover", "contain"])
    func `a square is shown as a square`(aspect: String, fit: String) throws {
        let parts = aspect.split(separator: "/").compactMap { Double($0) }
        let still = png(width: 90, height: 90) { x, y in
            [UInt8](repeating: 30..<60 ~= x && 30..<60 ~= y ? 255 : 0, count: 3)
        }
        let shape = VideoShape("RGB", 180, 144, fields: "pixel-aspect-ratio=(fraction)\(aspect)")
        let area = brightArea(frame(shape, still, fit, border: "0xff000000"), shape)
        #expect(abs(area.width * parts[0] / parts[1] / area.height - 1) < 0.05, "\(area)")
        #expect(abs(area.middle - 72) < 1, "\(area)")
    }

    @Test func `a stream whose pixels are not square is fitted by its shape`() throws {
        let (shape, picture) = (
            VideoShape("RGB", 160, 120), VideoShape("RGB", 40, 60, fields: "pixel-aspect-ratio=(fraction)2/1")
        )
        let bench = Bench(["background"], ["background-fit": "contain", "background-color": "0xff000000"])
        bench.background.start(picture)
        bench.background.push(flat(picture, [255, 255, 255]), at: 0)
        bench.background.end()
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let area = brightArea(try #require(bench.output.next()).bytes, shape)
        #expect(abs(area.width / area.height - 80.0 / 60) < 0.03, "\(area)")
    }

    @Test func `a video file whose pixels are not square is fitted by its shape`() throws {
        let still = folder.write("white.png", png(width: 40, height: 60) { _, _ in [255, 255, 255] })
        let path = folder["wide.mkv"]
        let outcome = Pipeline(
            "multifilesrc location=\(still) num-buffers=2 caps=image/png,framerate=10/1 ! pngdec ! videoconvert "
                + "! capssetter caps=video/x-raw,pixel-aspect-ratio=2/1 ! matroskamux ! filesink location=\(path)"
        ).run()
        try #require(outcome == .ended)
        let shape = VideoShape("RGB", 160, 120)
        let bench = Bench([], ["background": path, "background-fit": "contain", "background-color": "0xff000000"])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let area = brightArea(try #require(bench.output.next()).bytes, shape)
        #expect(abs(area.width / area.height - 80.0 / 60) < 0.03, "\(area)")
    }

    @Test func `cover cuts a small picture where it belongs`() {
        // 22.5 of the 40 rows are shown, each four pixels high.
        let still = png(width: 40, height: 40) { _, y in [UInt8](repeating: 18..<22 ~= y ? 255 : 0, count: 3) }
        let shape = VideoShape("RGB", 160, 90)
        let area = brightArea(frame(shape, still, "cover"), shape)
        #expect(abs(area.middle - 45) < 0.5 && abs(area.height - 16) < 1, "\(area)")
    }
}
