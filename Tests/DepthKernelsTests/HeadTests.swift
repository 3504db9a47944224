import AllocationCounter
import DepthKernels
import TestSupport
import Testing

/// The heads of a depth map against those that `Golden/regenerate_heads.py` wrote, and what they do to the matte.
@Suite struct HeadTests {
    private let counts: [[Int]]
    private let frames: [DepthMap]
    /// Frame, 1 for the followed head, left, top, side, distance, log odds.
    private let lines: [[Double]]
    /// The first frames of sequences.
    private let starts: [Int]
    private static let (width, height) = (160, 120)

    init() throws {
        let samples = try Golden.picture("heads.depth.pgm").samples
        let size = HeadTests.width * HeadTests.height
        counts = stride(from: 0, to: samples.count, by: size).map { Array(samples[$0..<($0 + size)]) }
        frames = try counts.map { try DepthMap(counts: $0, width: HeadTests.width) }
        lines = try Golden.numbers("heads.txt")
        starts = try Golden.numbers("heads.starts.txt").map { Int($0[0]) }
    }

    private var settings: MatteSettings { MatteSettings() }

    private func render(
        _ matte: Matte, _ depth: DepthMap, _ settings: MatteSettings? = nil, faces: [Rectangle<Double>] = [],
        number: Int = 0
    ) -> Bool {
        matte.render(
            MatteFrame(
                depth: depth.image, width: depth.image.width, height: depth.image.height, faces: faces,
                time: Int64(number) * 33_333_333), settings ?? self.settings)
    }

    @Test func `the heads are the oracle's, frame after frame`() {
        let matte = Matte()
        for (number, depth) in frames.enumerated() {
            if starts.contains(number) { matte.reset() }
            _ = render(matte, depth, number: number)
            let expected = lines.filter { Int($0[0]) == number }
            let found = matte.lastHeads
            #expect(found.count == expected.count, "frame \(number): \(found)")
            for (head, line) in zip(found, expected) {
                let box = head.box
                #expect(
                    abs(box.x - line[2]) <= 1 && abs(box.y - line[3]) <= 1 && abs(box.width - line[4]) <= 1
                        && abs(head.distance - line[5]) < 0.0015 && abs(head.logOdds - line[6]) < 0.1,
                    "frame \(number): \(head), expected \(line)")
            }
        }
    }

    @Test func `neither threads nor instruction sets show`() throws {
        let large = try counts.map { try HeadTests.enlarged($0, by: 5) }
        func run(_ matte: Matte) -> [[Head]] {
            large.enumerated().map { number, depth in
                _ = render(matte, depth, number: number)
                return matte.lastHeads
            }
        }
        let expected = run(Matte())
        #expect(expected.contains { $0.count == 2 })
        for loops in usableLoops {
            for size in [2, 7] {
                let (matte, pool) = (Matte(loops: loops), ReversedWorkerPool(size: size))
                matte.pool = pool
                #expect(run(matte) == expected, "\(loops), \(size) threads")
                #expect(pool.cuts > 0, "the frame was not cut")
            }
        }
    }

    @Test func `the head of a mirrored map is mirrored`() throws {
        for (number, depth) in frames.enumerated() where number != 10 {
            let (matte, mirrored) = (Matte(), Matte())
            _ = render(matte, depth)
            _ = render(mirrored, try HeadTests.mirrored(counts[number]))
            #expect(matte.lastHeads.isEmpty == mirrored.lastHeads.isEmpty, "frame \(number)")
            guard let head = matte.lastHeads.first, let other = mirrored.lastHeads.first else { continue }
            let x = Double(HeadTests.width) - head.box.x - head.box.width
            #expect(abs(other.box.x - x) < 0.1 * head.box.width && abs(other.box.y - head.box.y) < 0.1 * head.box.width)
        }
    }

    @Test func `a map of another scale shows the same head`() throws {
        for scale in [0.85, 1.2] {
            let matte = Matte()
            var settings = settings
            settings.depth.scale.unit *= scale
            _ = render(matte, frames[1], settings)
            let head = try #require(matte.lastHeads.first)
            let line = lines[0]
            #expect(abs(head.box.x - line[2]) < 3 && abs(head.box.y - line[3]) < 3, "\(scale): \(head)")
            #expect(abs(head.distance - scale * line[5]) < 0.01)
        }
    }

    @Test func `where nobody is, nothing is shown`() throws {
        let size = HeadTests.width * HeadTests.height
        let plane = try DepthMap(counts: Array(repeating: 900, count: size), width: HeadTests.width)
        let empty = try DepthMap(counts: Array(repeating: 0, count: size), width: HeadTests.width)
        let line = try DepthMap(counts: Array(repeating: 900, count: 1000), width: 1000)
        for depth in [frames[0], plane, empty, line] {
            let matte = Matte()
            var settings = settings
            settings.anchor.mode = .head
            for number in 0..<5 { #expect(!render(matte, depth, settings, number: number)) }
            #expect(matte.lastHeads.isEmpty)
        }
    }

    @Test func `depth without a scale has no heads`() {
        let matte = Matte()
        var settings = settings
        settings.depth.scale.kind = .relative
        _ = render(matte, frames[1], settings)
        #expect(matte.lastHeads.isEmpty)
    }

    @Test func `a knee is no head`() throws {
        for (number, distance) in [(16, 1.565), (18, 1.931)] {
            let matte = Matte()
            _ = render(matte, frames[number])
            let head = try #require(matte.lastHeads.first)
            #expect(abs(head.distance - distance) < 0.01)
        }
        let matte = Matte()
        for number in 0..<5 { _ = render(matte, frames[17], number: number) }
        #expect(matte.lastHeads.isEmpty)
    }

    @Test func `an arm before the face moves neither box nor cutoff`() throws {
        let matte = Matte()
        _ = render(matte, frames[11])
        let (head, cutoff) = (try #require(matte.report.head), matte.report.cutoff)
        for number in 1..<150 {
            _ = render(matte, frames[number.isMultiple(of: 2) ? 12 : 13], number: number)
            #expect(matte.report.head?.box == head.box && matte.report.face == head.box)
            #expect(matte.report.cutoff == cutoff && matte.report.anchorDistance == head.distance)
        }
        _ = render(matte, frames[15], number: 150)
        let again = try #require(matte.report.head)
        #expect(again != head && abs(again.distance - head.distance) < 0.01)
    }

    @Test func `what is at a lost head's distance is waited for, but anchors nothing`() {
        let matte = Matte()
        _ = render(matte, frames[11])
        let (head, cutoff) = (matte.report.head, matte.report.cutoff)
        // Each frame counts three times, of at most 150; then the head is lost for 15 frames.
        for number in 1..<80 {
            _ = render(matte, frames[14], number: number)
            #expect(matte.report.face == nil && matte.report.cutoff == cutoff)
            #expect(matte.report.head?.box == (number <= 50 ? head?.box : nil))
        }
    }

    @Test(.enabled(if: allocations_of_this_thread() >= 0))
    func `no frame takes memory`() {
        let matte = Matte()
        for round in 0..<3 {
            for (number, depth) in frames.enumerated() {
                if starts.contains(number) { matte.reset() }
                let before = allocations_of_this_thread()
                _ = render(matte, depth, number: number)
                let taken = allocations_of_this_thread() - before
                #expect(round == 0 || taken == 0, "frame \(number)")
            }
        }
    }

    // MARK: The anchor

    @Test(arguments: [(AnchorMode.auto, 0.927 + 0.25), (.head, 0.927 + 0.25), (.fixed, 1)])
    func `the head sets the cutoff`(mode: AnchorMode, cutoff: Double) {
        let matte = Matte()
        var settings = settings
        settings.anchor.mode = mode
        #expect(render(matte, frames[1], settings))
        #expect(abs(matte.report.cutoff - cutoff) < 0.002)
    }

    @Test func `a head is no face`() {
        let matte = Matte()
        var settings = settings
        settings.anchor.mode = .face
        #expect(!render(matte, frames[1], settings))
    }

    @Test func `a detected face elsewhere wins`() throws {
        let matte = Matte()
        let wall = Rectangle<Double>(x: 10, y: 10, width: 20, height: 20)
        _ = render(matte, frames[1], faces: [wall])
        #expect(matte.report.face == wall && abs(matte.report.anchorDistance - 2.6) < 0.01)
    }

    @Test func `a detector that misses every second frame moves the cutoff by less than 5 cm`() throws {
        let matte = Matte()
        let line = lines[0]
        let face = Rectangle<Double>(x: line[2] + 1, y: line[3] - 2, width: line[4], height: line[4])
        var cutoffs: [Double] = []
        for number in 0..<20 {
            _ = render(matte, frames[1], faces: number.isMultiple(of: 2) ? [face] : [], number: number)
            cutoffs.append(matte.report.cutoff)
        }
        let (least, most) = (try #require(cutoffs.min()), try #require(cutoffs.max()))
        #expect(most - least < 0.05, "\(cutoffs)")
    }

    @Test func `a lost head keeps the cutoff`() {
        let matte = Matte()
        _ = render(matte, frames[1])
        let cutoff = matte.report.cutoff
        for number in 1..<40 {
            _ = render(matte, frames[0], number: number)
            #expect(matte.report.cutoff == cutoff && matte.report.face == nil)
        }
    }

    @Test(arguments: [(FaceSelect.largest, 0.977), (.nearest, 0.977), (.all, 1.823)])
    func `face-select applies to heads`(select: FaceSelect, distance: Double) {
        let matte = Matte()
        var settings = settings
        settings.anchor.faceSelect = select
        settings.anchor.smoothing = 0
        for number in 0..<12 { _ = render(matte, frames[7], settings, number: number) }
        #expect(matte.lastHeads.count == 2 && abs(matte.report.anchorDistance - distance) < 0.05)
    }

    @Test(arguments: [1, 7]) func `a room is not captured with a head in it`(number: Int) throws {
        let matte = Matte()
        matte.captureRoom()
        var settings = settings
        (settings.method, settings.room) = (.fusion, .keep)
        let (width, height) = (HeadTests.width, HeadTests.height)
        var refused = 0
        for _ in 0..<16 {
            try withRGB([UInt8](repeating: 100, count: 3 * width * height), width: width, height: height) { picture in
                _ = matte.render(
                    MatteFrame(depth: frames[number].image, video: picture, width: width, height: height), settings)
            }
            if matte.report.isCaptureRefused { refused += 1 }
        }
        #expect(refused == 1 && matte.report.room.known == 0)
    }

    // MARK: Maps

    private static func enlarged(_ counts: [Int], by factor: Int) throws -> DepthMap {
        try map(width: width * factor, height: height * factor) { x, y in counts[y / factor * width + x / factor] }
    }

    private static func mirrored(_ counts: [Int]) throws -> DepthMap {
        try map(width: width, height: height) { x, y in counts[y * width + width - 1 - x] }
    }

    private static func map(width: Int, height: Int, _ count: (Int, Int) -> Int) throws -> DepthMap {
        try DepthMap(counts: (0..<(width * height)).map { count($0 % width, $0 / width) }, width: width)
    }
}
