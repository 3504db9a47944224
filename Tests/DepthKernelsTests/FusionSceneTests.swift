import DepthKernels
import TestSupport
import Testing

/// The fusion on scenes of few colors, in which the golden frames' person does not stand.
@Suite struct FusionSceneTests {
    private static let width = 320
    private static let height = 240
    private let golden: GoldenFrames

    init() throws { golden = try GoldenFrames() }

    /// The alpha of a first frame; the face is `GoldenFrames.face`.
    ///
    /// - Parameters:
    ///   - depth: counts of a millimetre.
    ///   - color: red, green and blue.
    private func alpha(depth: (Int, Int) -> Int, color: (Int, Int) -> SIMD3<UInt8>) throws -> [UInt8] {
        let (width, height) = (FusionSceneTests.width, FusionSceneTests.height)
        let places = (0..<width * height).map { ($0 % width, $0 / width) }
        return try golden.alpha(
            of: Matte(), 0, depth: DepthMap(counts: places.map(depth), width: width),
            video: places.flatMap { x, y in (0..<3).map { color(x, y)[$0] } }, width: width, height: height)
    }

    /// Above the measured person there is a hole. A spot of the person's color in it, within the ellipse of the head, is hair
    /// where it reaches down to them, and else a thing.
    @Test(arguments: [true, false])
    func `what color alone shows is the person where it is connected to them`(isConnected: Bool) throws {
        let alpha = try alpha { x, y in
            if 80..<140 ~= x && y >= 60 { return 1000 }
            return 70..<150 ~= x && 30..<60 ~= y ? 0 : 3000
        } color: { x, y in
            let isPerson = 80..<140 ~= x && y >= 60
            let isSpot = 98..<118 ~= x && (isConnected ? 36..<60 : 36..<46) ~= y
            return isPerson || isSpot ? SIMD3(40, 50, 120) : SIMD3(200, 190, 180)
        }
        let spot = (39..<43).flatMap { y in (102..<114).map { x in alpha[y * FusionSceneTests.width + x] } }
        #expect(spot.allSatisfy { isConnected ? $0 > 250 : $0 < 64 }, "\(spot)")
    }

    /// No sample of the depth camera reaches a band along one side of the picture.
    @Test(arguments: [(0, -1), (0, 1), (-1, 0), (1, 0)])
    func `the person and the room go on where no depth reaches`(right: Int, down: Int) throws {
        let (width, height) = (FusionSceneTests.width, FusionSceneTests.height)
        func isPerson(_ x: Int, _ y: Int) -> Bool {
            right == 0
                ? 80..<170 ~= x && (down < 0 ? y < 200 : y >= 30) : 30..<160 ~= y && (right < 0 ? x < 240 : x >= 80)
        }
        func isInBand(_ x: Int, _ y: Int) -> Bool {
            right == 0 ? down < 0 ? y < 30 : y >= height - 30 : right < 0 ? x < 40 : x >= width - 40
        }
        let alpha = try alpha { x, y in
            isInBand(x, y) ? 0 : isPerson(x, y) ? 1000 : 3000
        } color: { x, y in
            isPerson(x, y) ? SIMD3(40, 50, 120) : SIMD3(200, 190, 180)
        }
        let isSame = (0..<width * height).allSatisfy { index in
            let (x, y) = (index % width, index / width)
            let neighbors = [(-3, 0), (3, 0), (0, -3), (0, 3)].map { isPerson(x + $0.0, y + $0.1) }
            guard isInBand(x, y), Set(neighbors).count == 1 else { return true }
            return isPerson(x, y) ? alpha[index] > 250 : alpha[index] < 5
        }
        #expect(isSame)
    }

    /// The person ends where the depth does: what is continued below them is a guess, and the picture shows the room.
    @Test func `colors decide where no depth reaches`() throws {
        let end = FusionSceneTests.height - 30
        let alpha = try alpha { x, y in
            y >= end ? 0 : 80..<170 ~= x && y >= 30 ? 1000 : 3000
        } color: { x, y in
            80..<170 ~= x && 30..<end ~= y ? SIMD3(40, 50, 120) : SIMD3(200, 190, 180)
        }
        let band = ((end + 5)..<FusionSceneTests.height).flatMap { y in
            (110..<140).map { x in alpha[y * FusionSceneTests.width + x] }
        }
        #expect(band.allSatisfy { $0 < 64 }, "\(band)")
    }

    /// A hole in a color that neither the person nor the room has.
    @Test(arguments: [true, false])
    func `a hole is the person's where they surround it`(isOpen: Bool) throws {
        func isHole(_ x: Int, _ y: Int) -> Bool { 150..<166 ~= y && (isOpen ? 100..<190 : 100..<130) ~= x }
        let alpha = try alpha { x, y in
            isHole(x, y) ? 0 : 50..<190 ~= x && y >= 60 ? 1000 : 3000
        } color: { x, y in
            if isHole(x, y) { return SIMD3(60, 220, 90) }
            return 50..<190 ~= x && y >= 60 ? SIMD3(40, 50, 120) : SIMD3(200, 190, 180)
        }
        let hole = (155..<161).flatMap { y in (110..<120).map { x in alpha[y * FusionSceneTests.width + x] } }
        #expect(hole.allSatisfy { isOpen ? $0 < 64 : $0 > 192 }, "\(hole)")
    }

    /// The outline meets the borders, and lies in the colors beside where it lies in the depth.
    @Test(arguments: [(true, false), (false, true), (true, true)])
    func `a mirrored picture has the mirrored matte`(acrossX: Bool, acrossY: Bool) throws {
        let (width, height) = (FusionSceneTests.width, FusionSceneTests.height)
        func isPerson(_ x: Int, _ y: Int, _ limit: Int) -> Bool {
            2 * x + y < limit || 2 * (width - x) + y < limit - 90
        }
        var random = RepeatableRandomNumberGenerator(seed: 5)
        let noise = (0..<width * height).map { _ in UInt8.random(in: 0..<12, using: &random) }
        func alpha(_ isMirrored: Bool) throws -> [UInt8] {
            func place(_ x: Int, _ y: Int) -> (Int, Int) {
                (isMirrored && acrossX ? width - 1 - x : x, isMirrored && acrossY ? height - 1 - y : y)
            }
            return try self.alpha { x, y in
                let (x, y) = place(x, y)
                return isPerson(x, y, 300) ? 1000 : 3000
            } color: { x, y in
                let (x, y) = place(x, y)
                let own = noise[y * width + x]
                return isPerson(x, y, 304)
                    ? SIMD3(90 &+ own, 60 &+ UInt8(y / 4), 40 &+ own) : SIMD3(150 &+ own, 130, 160 &- UInt8(x / 4))
            }
        }
        let (straight, mirrored) = try (alpha(false), alpha(true))
        let back = (0..<width * height).map { index in
            let (x, y) = (index % width, index / width)
            return mirrored[(acrossY ? height - 1 - y : y) * width + (acrossX ? width - 1 - x : x)]
        }
        let difference = Difference(straight, back)
        #expect(difference.largest <= 2 && difference.mean < 0.01, "\(difference)")
        #expect(straight.contains(0) && straight.contains(255))
    }
}
