import AllocationCounter
import DepthKernels
import TestSupport
import Testing

/// The memory of a matte is asked for by the size of a map, before its content is known. Its bound is `MemoryBoundTests`'.
@Suite struct NoiseMemoryTests {
    /// Metres of maps with the most runs, pieces, borders, rough samples, shadows and tiles.
    static let noises: [@Sendable (Int, Int) -> Float] = [
        { x, y in (x + y) % 2 == 0 ? 1.2 : 3 },
        { x, y in (x + y) % 2 == 0 ? 1.2 : 0 },
        { x, y in (x + y) % 2 == 0 ? 1.2 : 1.6 },
        { x, _ in x % 2 == 0 ? 1.2 : 3 },
        { x, y in x % 5 < 4 && y % 4 < 3 ? 1.2 + Float(x % 3) * 0.2 : 3 },
        { x, y in x % 5 < 4 && y % 4 < 3 ? 1.2 + Float(y % 5) * 0.2 : 0 },
        { x, _ in [1.2, 0, 0, 3, 0, 0][x % 6] },
        { x, y in x % 4 == 0 || y % 4 == 0 ? [1.2, 3][(x / 4 + y / 4) % 2] : 0 },
        { x, y in y % 2 == 0 ? 1.2 : x % 3 == 0 ? 1.25 : 0 },
        { x, y in Float((x &* 7919 ^ y &* 104_729) % 97) / 40 },
    ]

    @Test(
        .enabled(if: allocations_of_this_thread() >= 0), arguments: [AnchorMode.auto, .nearest],
        [(640, 480), (160, 120)])
    func `what a map shows takes no memory`(anchor: AnchorMode, size: (width: Int, height: Int)) throws {
        let (width, height) = size
        let face = Rectangle<Double>(
            x: Double(width) * 0.45, y: Double(height) * 0.3, width: Double(width) * 0.1, height: Double(height) * 0.15)
        func isOfFace(_ x: Int, _ y: Int) -> Bool {
            abs(Double(x) - face.x - face.width / 2) < face.width && abs(Double(y) - face.y) < 2 * face.height
        }
        func map(_ metres: (Int, Int) -> Float) throws -> DepthMap {
            let places = (0..<width * height).map { ($0 % width, $0 / width) }
            return try DepthMap(metres: places.map { isOfFace($0, $1) ? 1.2 : metres($0, $1) }, width: width)
        }
        var settings = MatteSettings()
        (settings.method, settings.anchor.mode, settings.subject, settings.cutoff) = (.fusion, anchor, .anchored, 2)
        let matte = Matte()
        let colors = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 40503 &>> 8) }
        try withRGB(colors, width: width, height: height) { picture in
            func allocations(_ map: DepthMap) -> Int {
                let frame = MatteFrame(
                    depth: map.image, video: picture, width: width, height: height, faces: [face])
                let before = allocations_of_this_thread()
                matte.render(frame, settings)
                return allocations_of_this_thread() - before
            }
            let calm = try map { _, y in y < 20 ? 3 : 1.2 }
            for _ in 0..<3 { _ = allocations(calm) }
            try #require(allocations(calm) == 0)
            for (number, noise) in NoiseMemoryTests.noises.enumerated() {
                let noisy = try map(noise)
                for again in 0..<2 { #expect(allocations(noisy) == 0, "noise \(number), \(again)") }
            }
        }
    }
}
