import GstTestSupport
import Testing

/// Videos behind the person, from a file and from the `background` pad.
@Suite struct MovingBackgroundTests {
    private let folder = TemporaryFolder()
    private static let shape = VideoShape("RGB", 40, 32)

    private static func color(_ number: Int) -> [UInt8] { [UInt8(40 * number + 10), UInt8(250 - 40 * number), 77] }

    /// Five frames of one color each, without loss.
    private func makeFile(rate: String = "10/1") throws -> String {
        for number in 0..<5 {
            folder.write(
                "frame\(number).png", png(width: 40, height: 32) { _, _ in MovingBackgroundTests.color(number) })
        }
        return try folder.make(
            "loop.mkv",
            "multifilesrc location=\(folder["frame%d.png"]) start-index=0 stop-index=4 "
                + "caps=image/png,framerate=\(rate) ! pngdec ! videoconvert ! video/x-raw,format=RGB ! matroskamux")
    }

    /// The numbers of the file's frames behind the first `count` frames.
    private func numbers(_ path: String, count: Int, rate: Int) -> [Int?] {
        numbers(path, behind: 0..<count, rate: rate)
    }

    /// The numbers of the file's frames behind frames with these numbers.
    private func numbers(_ path: String, behind frames: some Sequence<Int>, rate: Int = 10) -> [Int?] {
        let bench = Bench([], ["background": path])
        bench.video.start(MovingBackgroundTests.shape)
        return frames.map { frame in
            bench.video.push(
                noise(MovingBackgroundTests.shape, seed: 1), at: time(ofFrame: frame, perSecond: rate))
            return bench.output.next().flatMap { MovingBackgroundTests.number($0.bytes) }
        }
    }

    /// Plays `count` frames over one frame of the `background` pad, number 2.
    private func play(_ count: Int, over background: VideoShape) -> (bench: Bench, frames: [Recorder.Frame]) {
        let bench = Bench(["background"])
        let shape = MovingBackgroundTests.shape
        bench.background.start(background)
        bench.background.push(flat(shape, MovingBackgroundTests.color(2)), at: 0)
        bench.background.end()
        bench.video.start(shape)
        for number in 0..<count { bench.video.push(noise(shape, seed: 1), at: time(ofFrame: number)) }
        bench.video.end()
        return (bench, bench.output.rest())
    }

    private static func number(_ bytes: [UInt8]) -> Int? {
        (0..<5).first { pixels(bytes, otherThan: color($0), shape) == 0 }
    }

    @Test func `a file loops, frame by frame`() throws {
        let path = try makeFile()
        #expect(numbers(path, count: 23, rate: 10) == (0..<23).map { $0 % 5 })
    }

    /// The matrices of a video's track: four turns, and mirrored ones; qtdemux says nothing of [0, -1, -1, 0], in GStreamer 1.22.
    @Test(arguments: [
        [1, 0, 0, 1], [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0], [-1, 0, 0, 1], [1, 0, 0, -1], [0, 1, 1, 0],
    ])
    func `a video stands as its recorder says`(matrix: [Int32]) throws {
        let corners: [[UInt8]] = [[230, 20, 20], [20, 230, 20], [20, 20, 230], [230, 230, 230]]
        let still = folder.write("corners.png", png(width: 64, height: 32) { x, y in corners[x / 32 + y / 16 * 2] })
        _ = try folder.make(
            "phone.mov",
            "multifilesrc location=\(still) num-buffers=10 caps=image/png,framerate=10/1 ! pngdec ! videoconvert "
                + "! jpegenc ! qtmux")
        var file = folder.read("phone.mov")
        let header = try #require(
            file.indices.first { file[$0...].starts(with: Array("tkhd".utf8)) })
        let values = [matrix[0], matrix[1], 0, matrix[2], matrix[3], 0, 0, 0].map { $0 << 16 } + [1 << 30]
        for (index, value) in values.enumerated() {
            withUnsafeBytes(of: value.bigEndian) { bytes in
                for (offset, byte) in bytes.enumerated() { file[header + 44 + 4 * index + offset] = byte }
            }
        }
        // It fills the frame only if it is fitted as it stands.
        let shape = matrix[0] == 0 ? VideoShape("RGB", 32, 64) : VideoShape("RGB", 64, 32)
        let bench = Bench([], ["background": folder.write("turned.mov", file), "background-fit": "contain"])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let frame = try #require(bench.output.next()).bytes
        for (corner, color) in corners.enumerated() {
            let (x, y) = (Int32(corner % 2 * 2 - 1), Int32(corner / 2 * 2 - 1))
            let place = (x * matrix[0] + y * matrix[2], x * matrix[1] + y * matrix[3])
            let start = shape.components[0].index(
                shape.width / 2 + Int(place.0) * shape.width * 3 / 8,
                shape.height / 2 + Int(place.1) * shape.height * 3 / 8)
            let seen = frame[start..<start + 3]
            #expect(zip(seen, color).allSatisfy { abs(Int($0) - Int($1)) < 60 }, "corner \(corner): \(seen)")
        }
    }

    @Test func `a file goes on where it was when the video is sought back`() throws {
        let seen = numbers(try makeFile(), behind: [Int](0..<12) + [Int](0..<6))
        #expect(seen.prefix(12) == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
        #expect(seen.dropFirst(12) == [1, 2, 3, 4, 0, 1])
    }

    @Test func `cover shows the middle of pictures whose samples are packed bit by bit`() throws {
        let colors: [[UInt8]] = [[200, 10, 20], [10, 180, 30], [20, 30, 220], [240, 240, 240]]
        let still = folder.write("stripes.png", png(width: 128, height: 48) { x, _ in colors[x / 32] })
        let path = try folder.make(
            "stripes.mov",
            "multifilesrc location=\(still) num-buffers=3 caps=image/png,framerate=10/1 ! pngdec ! videoconvert "
                + "! video/x-raw,format=v210 ! qtmux")
        let shape = VideoShape("RGB", 48, 48)
        let bench = Bench([], ["background": path])
        bench.video.start(shape)
        bench.video.push(noise(shape, seed: 1), at: 0)
        let bytes = try #require(bench.output.next()).bytes
        for (x, color) in [(10, colors[1]), (36, colors[2])] {
            let seen = shape.components.map { bytes[$0.index(x, 24)] }
            #expect(zip(seen, color).allSatisfy { abs(Int($0) - Int($1)) < 12 }, "\(seen) at \(x)")
        }
    }

    @Test func `a slow file holds each of its frames, a fast one leaves frames out`() throws {
        let path = try makeFile()
        #expect(numbers(path, count: 48, rate: 30) == (0..<48).map { $0 / 3 % 5 })
        #expect(numbers(path, count: 15, rate: 5) == (0..<15).map { $0 * 2 % 5 })
    }

    @Test func `the loop starts with the first frame even when the video does not start at 0`() throws {
        #expect(numbers(try makeFile(), behind: 100..<107) == [0, 1, 2, 3, 4, 0, 1])
    }

    @Test func `a GIF shows each image for as long as it says, and loops`() {
        let delays = [10, 20, 10, 30, 10]
        let path = folder.write(
            "loop.gif",
            gif(width: 40, height: 32, (0..<5).map { (MovingBackgroundTests.color($0), delays[$0]) }))
        let round = [0, 1, 1, 2, 3, 3, 3, 4]
        #expect(numbers(path, count: 20, rate: 10) == round + round + round.prefix(4))
    }

    @Test(arguments: [0, 1]) func `an image of a GIF that is shown for no time is shown for a tenth of a second`(
        delay: Int
    ) {
        let path = folder.write(
            "quick.gif", gif(width: 40, height: 32, (0..<5).map { (MovingBackgroundTests.color($0), delay) }))
        #expect(numbers(path, count: 12, rate: 10) == (0..<12).map { $0 % 5 })
    }

    @Test(arguments: ["100000/1", "2147483647/1"])
    func `frames that all have the same timestamp are shown one after another`(rate: String) throws {
        let path = try makeFile(rate: rate)
        #expect(numbers(path, count: 12, rate: 25) == (0..<12).map { $0 % 5 })
    }

    @Test func `a video that is damaged in the middle is shown as far as it is whole, and loops`() throws {
        let path = try makeFile()
        let whole = folder.read("loop.mkv")
        folder.write("loop.mkv", Array(whole.prefix(whole.count / 2)) + [UInt8](repeating: 7, count: whole.count / 2))
        // The third frame is damaged itself.
        #expect(numbers(path, count: 9, rate: 10) == [0, 1, nil, 0, 1, nil, 0, 1, nil])
    }

    // MARK: Interlaced pictures

    @Test(arguments: ["t", "b"]) func `an interlaced file is a warning`(interlacing: String) throws {
        let path = folder.write("interlaced.y4m", y4m(width: 40, height: 32, [50, 90], interlacing: interlacing))
        let bench = Bench([], ["background": path])
        let warnings = bench.bus.warnings().map(\.text).filter { $0.contains(path) }
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("\(path)\" is interlaced") == true, "\(warnings)")
        bench.set("background", folder.write("progressive.y4m", y4m(width: 40, height: 32, [50, 90])))
        bench.set("background", path)
        #expect(bench.bus.nextWarning()?.text == warnings.first)
    }

    @Test(arguments: ["interleaved", "mixed", "progressive"])
    func `an interlaced background pad is a warning`(mode: String) {
        let (bench, frames) = play(3, over: VideoShape("RGB", 40, 32, fields: "interlace-mode=\(mode)"))
        #expect(frames.count == 3)
        let warnings = bench.bus.warnings().map(\.text).filter { $0.contains("interlaced") }
        #expect(warnings.count == (mode == "progressive" ? 0 : 1))
        #expect(warnings.allSatisfy { $0.contains("background pad") && $0.contains("Deinterlace it") }, "\(warnings)")
    }

    // MARK: The pad

    @Test func `the pad's newest picture is behind each frame, at its own rate`() {
        let bench = Bench(["background"])
        let shape = MovingBackgroundTests.shape
        bench.background.start(shape)
        bench.video.start(shape)
        for number in 0..<4 {
            bench.background.push(
                flat(shape, MovingBackgroundTests.color(number)), at: time(ofFrame: number, perSecond: 10))
        }
        bench.background.end()
        for frame in 0..<12 { bench.video.push(noise(shape, seed: 1), at: time(ofFrame: frame)) }
        let seen = (0..<12).map { _ in bench.output.next().flatMap { MovingBackgroundTests.number($0.bytes) } }
        #expect(seen == (0..<12).map { $0 / 3 })
    }

    @Test func `the pad wins over the file, and another size is fitted`() {
        let path = folder.write("still.png", png(width: 40, height: 32) { _, _ in [1, 2, 3] })
        let bench = Bench(["background"], ["background": path])
        let large = VideoShape("BGRx", 80, 64)
        bench.background.start(large)
        let color = MovingBackgroundTests.color(3)
        bench.background.push(flat(large, color + [0]), at: 0)
        bench.video.start(MovingBackgroundTests.shape)
        bench.video.push(noise(MovingBackgroundTests.shape, seed: 1), at: 0)
        bench.background.end()
        #expect(bench.output.next().flatMap { MovingBackgroundTests.number($0.bytes) } == 3)
    }
}
