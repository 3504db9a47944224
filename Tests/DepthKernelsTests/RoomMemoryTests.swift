import DepthKernels
import TestSupport
import Testing

/// What a fused matte remembers of the room.
@Suite struct RoomMemoryTests {
    private let scene = RoomScene()

    private func settings(_ room: RoomMode, _ detail: MatteDetail = .full) -> MatteSettings {
        var settings = GoldenFrames.settings
        (settings.room, settings.detail) = (room, detail)
        return settings
    }

    /// A matte that has seen the empty room for as long as a capture takes.
    private func captured(
        _ room: RoomMode = .keep, loops: Loops = bestLoops, pool: ReversedWorkerPool? = nil
    ) throws -> Matte {
        let matte = Matte(loops: loops)
        matte.pool = pool
        matte.captureRoom()
        for _ in 0..<16 { _ = try scene.alpha(of: matte, settings(room), person: false) }
        #expect(!matte.report.isCaptureRefused && matte.report.room.known == 1)
        return matte
    }

    @Test func `where nothing is remembered the matte is as without a memory`() throws {
        let golden = try GoldenFrames()
        let (without, with) = (Matte(), Matte())
        for number in golden.frames.indices {
            let expected = try golden.alpha(of: without, number)
            #expect(try golden.alpha(of: with, number, settings(.keep)) == expected, "frame \(number)")
            #expect(with.report.room.known == 0 && with.report.room.used == 0)
        }
    }

    @Test func `the stages behind a captured room are the oracle's, one by one`() throws {
        let (room, golden, stages) = try (GoldenFrames("room", count: 1), GoldenFrames(), GoldenStages("room"))
        let matte = Matte()
        matte.captureRoom()
        for _ in 0..<16 { _ = try room.alpha(of: matte, 0, settings(.keep), faces: []) }
        matte.reset()
        for number in golden.frames.indices {
            _ = try golden.alpha(of: matte, number, settings(.keep))
            #expect(matte.report.room.used > 0.1, "\(matte.report.room)")
            try stages.check(matte, number)
        }
    }

    @Test func `a chair that was captured is room, and the person before it is not`() throws {
        let base = try scene.alpha(of: Matte(), settings(.off), person: true)
        #expect(scene.mean(base, in: scene.chair) > 200)
        let matte = try captured()
        let alpha = try scene.alpha(of: matte, settings(.keep), person: true)
        #expect(scene.mean(alpha, in: scene.chair) == 0)
        #expect(scene.mean(alpha, in: scene.trunk) == 255)
        #expect(matte.report.room.agree > 0.95 && matte.report.room.used > 0.5, "\(matte.report.room)")
    }

    @Test(arguments: [0.85, 1.15]) func `another exposure changes little`(gain: Double) throws {
        let expected = try scene.alpha(of: captured(), settings(.keep), person: true)
        let matte = try captured()
        let alpha = try scene.alpha(of: matte, settings(.keep), person: true, gain: gain)
        #expect(matte.report.room.agree > 0.95, "\(matte.report.room)")
        #expect(Difference(alpha, expected).mean < 1)
    }

    @Test func `a room is not captured while somebody is seen`() throws {
        let matte = Matte()
        matte.captureRoom()
        _ = try scene.alpha(of: matte, settings(.keep), person: true, faces: [scene.face])
        #expect(matte.report.isCaptureRefused)
        _ = try scene.alpha(of: matte, settings(.keep), person: false)
        #expect(!matte.report.isCaptureRefused && matte.report.room.known == 0)
    }

    @Test func `who comes during a capture ends it, and nothing is remembered`() throws {
        let matte = Matte()
        matte.captureRoom()
        for _ in 0..<8 { _ = try scene.alpha(of: matte, settings(.learn), person: false) }
        _ = try scene.alpha(of: matte, settings(.learn), person: true, faces: [scene.face])
        #expect(matte.report.isCaptureRefused && matte.report.room.known == 0)
    }

    @Test func `without a memory nothing is captured`() throws {
        let matte = Matte()
        matte.captureRoom()
        _ = try scene.alpha(of: matte, settings(.off), person: false)
        #expect(matte.report.isCaptureRefused)
    }

    @Test func `the memory stays over a reset, and goes when it is told to`() throws {
        let matte = try captured()
        matte.reset()
        _ = try scene.alpha(of: matte, settings(.keep), person: true)
        #expect(matte.report.room.known == 1)
        matte.forgetRoom()
        _ = try scene.alpha(of: matte, settings(.keep), person: true)
        #expect(matte.report.room.known == 0)
    }

    @Test(arguments: [MatteDetail.full, .half])
    func `the memory stays at another resolution, and is itself again at its own`(first: MatteDetail) throws {
        let scene = RoomScene(scale: 2, fineness: 2)
        let matte = Matte()
        matte.captureRoom()
        for _ in 0..<16 { _ = try scene.alpha(of: matte, settings(.keep, first), person: false) }
        matte.reset()
        let expected = try scene.alpha(of: matte, settings(.keep, first), person: true)
        for detail in [first == .full ? MatteDetail.half : .full, first] {
            matte.reset()
            let alpha = try scene.alpha(of: matte, settings(.keep, detail), person: true)
            #expect(matte.report.room.known == 1 && matte.report.room.agree > 0.95, "\(detail) \(matte.report.room)")
            #expect(scene.mean(alpha, in: scene.chair) == 0)
            #expect(scene.mean(alpha, in: scene.trunk) == 255)
            if detail == first { #expect(alpha == expected) }
        }
    }

    @Test func `a picture of the empty room is remembered, without its distances`() throws {
        let matte = Matte()
        let alpha = try scene.alpha(of: matte, settings(.keep), person: true, hasPicture: true)
        #expect(matte.report.room.known == 1 && matte.report.room.agree > 0.95, "\(matte.report.room)")
        #expect(matte.report.room.used > 0.5)
        #expect(scene.mean(alpha, in: scene.chair) > 200)
        #expect(scene.mean(alpha, in: scene.trunk) == 255)
        _ = try scene.alpha(of: matte, settings(.off), person: true, hasPicture: true)
        #expect(matte.report.room.known == 0)
    }

    @Test func `a video of another size has another room`() throws {
        let matte = try captured()
        _ = try RoomScene(scale: 1).alpha(of: matte, settings(.keep), person: true)
        #expect(matte.report.room.known == 0)
    }

    @Test func `another room is forgotten after three frames, and only suspended where it is kept`() throws {
        for mode in [RoomMode.learn, .keep] {
            let matte = try captured(mode)
            for frame in 1...3 {
                _ = try scene.alpha(of: matte, settings(mode), person: true, isOther: true)
                #expect(matte.report.room.used == 0)
                #expect(
                    matte.report.room.forgotten == (mode == .learn && frame == 3 ? 1 : 0), "\(mode), frame \(frame)")
            }
            _ = try scene.alpha(of: matte, settings(mode), person: true)
            #expect(matte.report.room.known == (mode == .learn ? 0 : 1))
        }
    }

    @Test func `beside a door that opened what is hidden is forgotten, and what is seen is learnt anew`() throws {
        for mode in [RoomMode.learn, .keep] {
            let matte = try captured(mode)
            var reports: [RoomReport] = []
            for _ in 0..<48 {
                _ = try scene.alpha(of: matte, settings(mode), person: true, hasDoor: true)
                reports.append(matte.report.room)
            }
            #expect(reports[..<11].allSatisfy { $0.known == 1 && (0.6..<0.9).contains($0.agree) }, "\(mode)")
            let last = try #require(reports.last)
            #expect(last.forgotten == 0 && last.used > 0, "\(mode)")
            let isLearning = mode == .learn
            #expect((last.known < 1) == isLearning && last.known > 0.8, "\(mode): \(last)")
            #expect((last.agree > 0.95) == isLearning, "\(mode): \(last)")
        }
    }

    @Test func `nothing is forgotten while somebody hides the whole room`() throws {
        let matte = try captured(.learn)
        for _ in 0..<40 { _ = try scene.alpha(of: matte, settings(.learn), person: true, isClose: true) }
        #expect(matte.report.room.known == 1 && matte.report.room.agree == 0, "\(matte.report.room)")
        _ = try scene.alpha(of: matte, settings(.learn), person: true)
        #expect(matte.report.room.used > 0.5, "\(matte.report.room)")
    }

    @Test func `what is behind the person is learnt, and nothing near them`() throws {
        let matte = Matte()
        for _ in 0..<16 { _ = try scene.alpha(of: matte, settings(.learn), person: true) }
        let known = matte.report.room.known
        #expect(known > 0.3 && known < 0.8, "\(known)")
        // The chair was never behind the cutoff.
        let alpha = try scene.alpha(of: matte, settings(.learn), person: true)
        #expect(scene.mean(alpha, in: scene.chair) > 200)
    }

    @Test func `neither threads nor instruction sets show`() throws {
        let expected = try scene.alpha(of: captured(), settings(.keep), person: true)
        for loops in usableLoops {
            for size in [1, 3] {
                let matte = try captured(loops: loops, pool: ReversedWorkerPool(size: size))
                #expect(
                    try scene.alpha(of: matte, settings(.keep), person: true) == expected, "\(loops), \(size) threads")
            }
        }
    }
}

/// A wall with a pattern at 2 m, a chair at 0.95 m, and a person at 0.8 m beside it.
private struct RoomScene {
    private let columns = 320
    private let rows = 240
    /// Pixels of the video along a side of a place of the scene, and samples of the depth map.
    private let scale: Int
    private let fineness: Int
    /// In places of the scene, as all that follows.
    let chair = Rectangle<Int>(x: 40, y: 140, width: 60, height: 90)
    let trunk = Rectangle<Int>(x: 170, y: 130, width: 60, height: 100)
    private let head = Rectangle<Int>(x: 175, y: 50, width: 50, height: 70)

    init(scale: Int = 2, fineness: Int = 1) { (self.scale, self.fineness) = (scale, fineness) }

    var face: Rectangle<Double> {
        Rectangle(
            x: Double(head.x * scale), y: Double(head.y * scale), width: Double(head.width * scale),
            height: Double(head.height * scale))
    }

    private func isPerson(_ x: Int, _ y: Int) -> Bool {
        let (dx, dy) = (Double(x - 200) / 28, Double(y - 85) / 38)
        return dx * dx + dy * dy < 1 || (150..<250).contains(x) && y >= 120
    }

    private func isChair(_ x: Int, _ y: Int) -> Bool { (30..<110).contains(x) && y >= 130 }

    func alpha(
        of matte: Matte, _ settings: MatteSettings, person: Bool, gain: Double = 1, isOther: Bool = false,
        hasDoor: Bool = false, isClose: Bool = false, faces: [Rectangle<Double>] = [], hasPicture: Bool = false
    ) throws -> [UInt8] {
        var counts: [Int] = []
        for y in 0..<(rows * fineness) {
            for x in 0..<(columns * fineness) {
                let (column, row) = (x / fineness, y / fineness)
                counts.append(
                    isClose ? 500 : person && isPerson(column, row) ? 800 : isChair(column, row) ? 950 : 2000)
            }
        }
        let (width, height) = (columns * scale, rows * scale)
        let depth = try DepthMap(counts: counts, width: columns * fineness)
        func render(_ picture: VideoPicture, room: VideoPicture?) -> [UInt8] {
            matte.render(
                MatteFrame(
                    depth: depth.image, video: picture, width: width, height: height, faces: faces, room: room),
                settings)
            return matte.finished.alpha.bytes
        }
        func colors(person: Bool) -> [UInt8] {
            bytes(person: person, gain: gain, isOther: isOther, hasDoor: hasDoor)
        }
        return try withRGB(colors(person: person), width: width, height: height) { picture in
            guard hasPicture else { return render(picture, room: nil) }
            return try withRGB(colors(person: false), width: width, height: height) { render(picture, room: $0) }
        }
    }

    /// The video.
    private func bytes(person: Bool, gain: Double, isOther: Bool, hasDoor: Bool) -> [UInt8] {
        let (width, height) = (columns * scale, rows * scale)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                let (column, row) = (x / scale, y / scale)
                let isDark =
                    isOther || hasDoor && column >= 240
                    ? (column / 9 + row / 23) % 2 == 0 : (column / 40 + row / 30) % 2 == 0
                let color: (Double, Double, Double) =
                    person && isPerson(column, row)
                    ? (170, 110, 90) : isChair(column, row) ? (60, 60, 70) : isDark ? (90, 120, 100) : (140, 150, 170)
                for channel in [color.0, color.1, color.2] { bytes.append(UInt8(min(channel * gain, 255))) }
            }
        }
        return bytes
    }

    /// The mean alpha in a rectangle of places.
    func mean(_ alpha: [UInt8], in part: Rectangle<Int>) -> Double {
        var sum = 0
        for y in (part.y * scale)..<((part.y + part.height) * scale) {
            for x in (part.x * scale)..<((part.x + part.width) * scale) {
                sum += Int(alpha[y * columns * scale + x])
            }
        }
        return Double(sum) / Double(part.width * part.height * scale * scale)
    }
}
