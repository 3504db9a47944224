import DepthKernels
import TestSupport
import Testing

/// A network's opinion in the fused matte.
@Suite struct SegmentationTests {
    private let golden: GoldenFrames

    init() throws { golden = try GoldenFrames() }

    private func picture(width: Int, height: Int, _ value: (_ x: Int, _ y: Int) -> UInt8) -> Plane {
        GuardedPlane(rowBytes: width, rows: height, content: value).plane.readOnly
    }

    /// True where `regenerate_fusion.py` drew the person.
    private func isPerson(x: Double, y: Double, frame: Int) -> Bool {
        let (dx, y) = (x * 160 - (frame < 2 ? 0 : 3) - 78, y * 120)
        func ellipse(_ center: Double, _ width: Double, _ height: Double) -> Bool {
            dx * dx / (width * width) + (y - center) * (y - center) / (height * height) <= 1
        }
        return ellipse(42, 12, 16) || ellipse(36, 17, 19) && y < 46 || ellipse(118, 44, 56)
    }

    private func trueMask(frame: Int, width: Int, height: Int) -> Plane {
        picture(width: width, height: height) { x, y in
            isPerson(x: (Double(x) + 0.5) / Double(width), y: (Double(y) + 0.5) / Double(height), frame: frame)
                ? 255 : 0
        }
    }

    private func alphas(
        _ matte: Matte = Matte(), weight: Double = 0.5, masks: (_ frame: Int) -> Plane?
    ) throws -> [[UInt8]] {
        var settings = GoldenFrames.settings
        settings.segmentationWeight = weight
        return try golden.frames.indices.map { frame in
            try golden.alpha(of: matte, frame, settings, segmentation: masks(frame))
        }
    }

    private func error(_ alphas: [[UInt8]]) -> Double {
        let errors = alphas.enumerated().map { frame, alpha in
            let truth = trueMask(frame: frame, width: golden.width, height: golden.height)
            return (0..<golden.height).reduce(0.0) { sum, y in
                let row = truth.row(y)
                return (0..<golden.width).reduce(sum) { sum, x in
                    let wanted = row.load(fromByteOffset: x, as: UInt8.self)
                    return sum + abs(Double(alpha[y * golden.width + x]) - Double(wanted))
                }
            }
        }
        return errors.reduce(0, +)
    }

    @Test func `a true picture of any size lowers the error`() throws {
        let without = try error(alphas { _ in nil })
        for (width, height) in [(96, 72), (640, 480), (101, 33)] {
            let with = try error(alphas { trueMask(frame: $0, width: width, height: height) })
            #expect(with < 0.97 * without, "\(width)x\(height): \(with) \(without)")
        }
    }

    @Test func `a wrong picture shows nothing of the room that was measured`() throws {
        let white = picture(width: 8, height: 6) { _, _ in 255 }
        let (with, without) = try (alphas(weight: 1) { _ in white }, alphas { _ in nil })
        let (columns, rows) = (160, 120)
        for (frame, alpha) in with.enumerated() {
            let depth = golden.frames[frame].depth
            // More than half of the room lies in places like this; beside holes the picture has its say.
            var checked = 0
            for y in 0..<golden.height {
                for x in 0..<golden.width {
                    let (column, row) = (x * columns / golden.width, y * rows / golden.height)
                    let around = (max(row - 4, 0)...min(row + 4, rows - 1)).flatMap { row in
                        (max(column - 4, 0)...min(column + 4, columns - 1)).map { depth[row * columns + $0] }
                    }
                    guard around.allSatisfy({ $0 == 0 || $0 > 1500 }), around.count(where: { $0 == 0 }) < 8 else {
                        continue
                    }
                    checked += 1
                    #expect(alpha[y * golden.width + x] <= without[frame][y * golden.width + x], "\(frame): \(x), \(y)")
                }
            }
            #expect(checked > 4 * alpha.count / 10, "\(checked)")
        }
    }

    @Test func `a weight of nothing, and no picture, change no byte`() throws {
        let without = try alphas { _ in nil }
        let white = picture(width: 5, height: 3) { _, _ in 255 }
        for weight in [0, -1, Double.nan] { #expect(try alphas(weight: weight) { _ in white } == without) }
        #expect(try alphas(weight: 1) { _ in nil } == without)
        #expect(try alphas(weight: 1) { _ in white } != without)
        #expect(try alphas(weight: 7) { _ in white } == alphas(weight: 1) { _ in white })
    }

    @Test func `neither threads nor instruction sets show, whatever the size`() throws {
        for (width, height) in [(1, 1), (1, 7), (333, 2), (67, 91)] {
            let mask = picture(width: width, height: height) { x, y in UInt8(truncatingIfNeeded: x &* 37 &+ y &* 59) }
            let expected = try alphas { _ in mask }
            for loops in usableLoops {
                let matte = Matte(loops: loops)
                matte.pool = ReversedWorkerPool(size: 5)
                #expect(try alphas(matte) { _ in mask } == expected, "\(loops), \(width)x\(height)")
            }
        }
    }

    @Test func `the picture lies over the video, wherever the depth map does`() throws {
        var settings = GoldenFrames.settings
        settings.depth.offsetX = 40
        let mask = trueMask(frame: 0, width: golden.width, height: golden.height)
        let without = try golden.alpha(of: Matte(), 0, settings)
        let with = try golden.alpha(of: Matte(), 0, settings, segmentation: mask)
        let changed = without.indices.filter { without[$0] != with[$0] }
        #expect(!changed.isEmpty)
        for index in changed where Int(with[index]) > Int(without[index]) + 8 {
            let (x, y) = (index % golden.width, index / golden.width)
            // The model of the colors draws a little way past the samples.
            let near = (-6...6).contains { dx in
                (-6...6).contains { dy in
                    isPerson(
                        x: (Double(x + dx) + 0.5) / Double(golden.width),
                        y: (Double(y + dy) + 0.5) / Double(golden.height), frame: 0)
                }
            }
            #expect(near, "\(x), \(y)")
        }
    }

    @Test func `a mask says nothing beyond its rectangle, and any of those that overlap may show the person`() {
        // Regions 0 and 3 above 6 and 9.
        let mask = picture(width: 2, height: 2) { x, y in UInt8(3 * (x + 2 * y)) }
        var levels = RegionLevels(repeating: 0)
        (levels[3], levels[6]) = (255, 255)
        func drawn(_ areas: Rectangle<Int>...) -> [UInt8] {
            let target = GuardedPlane(rowBytes: 4, rows: 3) { _, _ in unknownLevel }
            for area in areas { draw(mask, at: area, of: (8, 6), levels, on: target.plane) }
            #expect(target.guardsAreIntact)
            return target.bytes
        }
        let (right, left) = (
            Rectangle(x: 2, y: 0, width: 4, height: 4), Rectangle(x: 0, y: 0, width: 4, height: 4)
        )
        #expect(drawn(right) == [128, 0, 255, 128, 128, 255, 0, 128, 128, 128, 128, 128])
        #expect(drawn(left, right) == [0, 255, 255, 128, 255, 255, 0, 128, 128, 128, 128, 128])
        #expect(drawn(right, left) == drawn(left, right))
        #expect(drawn(Rectangle(x: -8, y: -6, width: 16, height: 12)) == [UInt8](repeating: 0, count: 12))
        for area in [
            Rectangle(x: 2, y: 0, width: 0, height: 4), Rectangle(x: 8, y: 0, width: .max, height: 6),
            Rectangle(x: .min, y: .min, width: .max, height: .max),
        ] {
            #expect(drawn(area) == [UInt8](repeating: unknownLevel, count: 12), "\(area)")
        }
    }
}
