import DepthKernels
import DepthLoops
import TestSupport
import Testing

@Suite struct RendererTests {
    struct Sizes: Sendable, CustomStringConvertible {
        var depth: (width: Int, height: Int)
        var video: (width: Int, height: Int)
        var description: String { "\(depth.width)x\(depth.height) under \(video.width)x\(video.height)" }
    }

    static let sizes = [
        Sizes(depth: (1, 1), video: (1, 1)), Sizes(depth: (1, 1), video: (9, 4)), Sizes(depth: (7, 5), video: (7, 5)),
        Sizes(depth: (7, 5), video: (40, 31)), Sizes(depth: (1, 37), video: (64, 20)),
        Sizes(depth: (300, 2), video: (100, 5)),
        Sizes(depth: (640, 480), video: (1920, 1080)), Sizes(depth: (641, 481), video: (1279, 719)),
    ]

    /// Round things of several distances before a wall, with holes: edges of all directions, large plain areas.
    static func scene(width: Int, height: Int, seed: UInt64 = 7) -> [Int] {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        var counts = [Int](repeating: 2500, count: width * height)
        for _ in 0..<6 {
            let center = (
                x: Double.random(in: 0..<Double(width), using: &random),
                y: Double.random(in: 0..<Double(height), using: &random)
            )
            let radius = Double(min(width, height)) * Double.random(in: 0.05...0.4, using: &random)
            let count = [0, 700, 900, 1000, 1001, 1800].randomElement(using: &random) ?? 0
            for y in 0..<height {
                for x in 0..<width {
                    let (dx, dy) = (Double(x) - center.x, Double(y) - center.y)
                    if dx * dx + dy * dy < radius * radius { counts[y * width + x] = count }
                }
            }
        }
        for _ in 0..<(width * height / 500) {
            counts[Int.random(in: 0..<counts.count, using: &random)] = Int.random(in: 0...1200, using: &random)
        }
        return counts
    }

    @Test(arguments: sizes, [0, 0.5, 5, 20])
    func theRendererAgreesWithTheTranscription(sizes: Sizes, blurRadius: Double) throws {
        let depth = try DepthMap(
            counts: RendererTests.scene(width: sizes.depth.width, height: sizes.depth.height), width: sizes.depth.width)
        for gamma in [0.25, 0.5, 1, 2] {
            let difference = depth.difference(
                MatteSettings(blurRadius: blurRadius, gamma: gamma), video: sizes.video)
            #expect(difference.isWithinPromise, "gamma \(gamma): \(difference)")
        }
        #expect(depth.memory.guardsAreIntact)
    }

    @Test(arguments: Upscale.allCases, [0.01, 0.37, 3.3, 10])
    func otherGammasFeathersAndUpscalesAgreeToo(upscale: Upscale, gamma: Double) throws {
        let depth = try DepthMap(counts: RendererTests.scene(width: 97, height: 61), width: 97)
        for blurRadius in [0, 0.2, 3.7, 50] {
            for invert in [false, true] {
                var settings = MatteSettings(blurRadius: blurRadius, gamma: gamma, upscale: upscale)
                (settings.near, settings.cutoff) = (0.3, 1.9)
                (settings.featherNear, settings.featherFar) = (0.5, 0.35)
                settings.invert = invert
                let difference = depth.difference(settings, video: (210, 59))
                #expect(difference.isWithinPromise, "\(blurRadius) \(invert): \(difference)")
            }
        }
    }

    @Test func everyWidthAgrees() throws {
        for width in 1...130 {
            let counts = RendererTests.scene(width: width, height: 9, seed: UInt64(width))
            let depth = try DepthMap(counts: counts, width: width)
            let difference = depth.difference(MatteSettings(blurRadius: 1.5), video: (width * 2 + 1, 11))
            #expect(difference.isWithinPromise, "width \(width): \(difference)")
        }
    }

    @Test func plainPicturesArePlainToTheLastBit() throws {
        for (count, alpha) in [(0, UInt8(0)), (500, 255), (1000, 255), (1001, 0), (65535, 0)] {
            let depth = try DepthMap(counts: [Int](repeating: count, count: 33 * 21), width: 33)
            #expect(depth.alpha(MatteSettings(), videoWidth: 70, videoHeight: 40).allSatisfy { $0 == alpha })
        }
    }

    @Test func aCheckerboardOfBothEndsAndOneLonelySampleAreFinite() throws {
        let checker = (0..<400).map { ($0 / 20 + $0) % 2 == 0 ? 0 : 65535 }
        #expect(try DepthMap(counts: checker, width: 20).alpha(MatteSettings()).allSatisfy { $0 == 0 })
        var lonely = [Int](repeating: 0, count: 400)
        lonely[210] = 800
        var settings = MatteSettings.step(cutoff: 1)
        #expect(
            try DepthMap(counts: lonely, width: 20).alpha(settings).enumerated().allSatisfy {
                ($0.element == 255) == ($0.offset == 210)
            })
        settings.blurRadius = 2
        let soft = try DepthMap(counts: lonely, width: 20).alpha(settings)
        #expect(soft[210] == soft.max() && soft[210] == 10)
    }

    @Test func oneRendererGivesWhatAFreshOneGivesWhateverCameBefore() throws {
        let matte = Matte()
        let frames = [(97, 61, 200, 90), (31, 17, 64, 64), (97, 61, 200, 90), (130, 2, 7, 3), (97, 61, 199, 90)]
        for (width, height, videoWidth, videoHeight) in frames {
            for (blurRadius, featherFar, upscale) in [
                (5.0, 0.0, Upscale.bicubic), (5, 0, .bilinear), (0, 0.5, .bilinear), (20, 0.2, .bicubic),
                (0, 0, .bicubic),
            ] {
                let depth = try DepthMap(counts: RendererTests.scene(width: width, height: height), width: width)
                var settings = MatteSettings(blurRadius: blurRadius, upscale: upscale)
                settings.featherFar = featherFar
                matte.render(MatteFrame(depth: depth.image, width: videoWidth, height: videoHeight), settings)
                let alpha = matte.finished.alpha
                #expect(alpha.rowBytes == videoWidth && alpha.rows == videoHeight)
                #expect(alpha.bytes == depth.alpha(settings, videoWidth: videoWidth, videoHeight: videoHeight))
            }
        }
    }

    @Test(arguments: DepthFit.allCases)
    func aPlacedMapAgreesAndEndsWhereItEnds(fit: DepthFit) throws {
        let depth = try DepthMap(counts: RendererTests.scene(width: 50, height: 40), width: 50)
        for (x, y, scale) in [
            (0.0, 0.0, 1.0), (13.25, -7.5, 1), (-4, 3, 0.6), (0, 0, 1.7), (500, 0, 1), (0, -1e9, .nan),
        ] {
            let placement = DepthPlacement(
                depthWidth: 50, depthHeight: 40, videoWidth: 120, videoHeight: 70, fit: fit, offsetX: x, offsetY: y,
                scale: scale)
            var settings = MatteSettings(blurRadius: 1)
            settings.depth = DepthReading(fit: fit, offsetX: x, offsetY: y, zoom: scale)
            let alpha = matte(depth.image, width: 120, height: 70, settings: settings)
            var reference = settings.reference
            reference.rectangle = (placement.left, placement.top, placement.width, placement.height)
            let expected = reference.alpha(
                metres: depth.metres(), width: 50, height: 40, videoWidth: 120, videoHeight: 70)
            let difference = Difference(alpha, expected)
            #expect(difference.isWithinPromise, "\(x) \(y) \(scale): \(difference)")
        }
    }

    @Test(arguments: [1, 15, 16, 17, 33, 61, 64, 130], [0, 0.7, 5, 20])
    func `the coverage is the mean of the matte`(width: Int, blurRadius: Double) throws {
        let height = 40
        for seed in [1, 2, 3] as [UInt64] {
            let counts = RendererTests.scene(width: width, height: height, seed: seed)
            let depth = try DepthMap(counts: counts, width: width)
            for (feather, gamma) in [(0.0, 0.5), (0.3, 1)] {
                var settings = MatteSettings()
                (settings.blurRadius, settings.featherFar, settings.gamma) = (blurRadius, feather, gamma)
                let matte = Matte()
                matte.render(MatteFrame(depth: depth.image, width: width, height: height), settings)
                let bytes = matte.finished.alpha.bytes
                let mean = Double(bytes.reduce(0) { $0 + Int($1) }) / Double(255 * bytes.count)
                #expect(abs(matte.report.coverage - mean) < 0.002, "\(matte.report.coverage), not \(mean)")
            }
        }
    }

    @Test func `a blur too narrow to reach anything changes nothing`() throws {
        let depth = try DepthMap(counts: RendererTests.scene(width: 61, height: 37), width: 61)
        var settings = MatteSettings.step(cutoff: 1)
        let hard = depth.alpha(settings)
        for blurRadius in [1e-200, 1e-300, .leastNonzeroMagnitude, 1e-9, 0.01] {
            settings.blurRadius = blurRadius
            #expect(depth.alpha(settings) == hard, "\(blurRadius)")
        }
    }

    @Test func sizesThatAreNoSizesGiveTheSmallestPicture() throws {
        let depth = try DepthMap(counts: [500], width: 1)
        #expect(matte(depth.image, width: -5, height: 0) == [255])
    }
}

/// The matte is computed only where it varies: the cases where that could go wrong.
@Suite struct EdgeOfTheMatteTests {
    /// A foreground that ends at a column, at every width up to a few blocks.
    @Test(arguments: [0, 1.0, 5], [1.0, 2.25, 3, 0.4])
    func `an edge at any column of a map of any width is where it should be`(blurRadius: Double, scale: Double) throws {
        var (bytes, sum) = (0, 0.0)
        // High enough for the wide blur to be made of cells.
        let height = blurRadius >= 5 ? Int(2 * blurRadius) : 3
        let (largest, mean) = blurRadius >= 5 ? (2, 0.1) : (1, 0.05)
        for (width, isOnTheLeft) in (1...130).flatMap({ [($0, true), ($0, false)] }) {
            let edge = (width &* 7) % (width + 1)
            let depth = try DepthMap(
                counts: (0..<width * height).map { ($0 % width < edge) == isOnTheLeft ? 700 : 3000 }, width: width)
            let (videoWidth, videoHeight) = (max(Int(Double(width) * scale), 1), max(Int(Double(height) * scale), 1))
            let difference = depth.difference(
                MatteSettings(blurRadius: blurRadius), video: (videoWidth, videoHeight))
            #expect(difference.largest <= largest, "\(width) wide, edge at \(edge): \(difference)")
            bytes += videoWidth * videoHeight
            sum += difference.mean * Double(videoWidth * videoHeight)
        }
        #expect(sum / Double(bytes) < mean)
    }

    @Test(arguments: [16, 32, 48])
    func `an edge between two blocks is sharp`(edge: Int) throws {
        let depth = try DepthMap(counts: (0..<64 * 8).map { $0 % 64 < edge ? 700 : 3000 }, width: 64)
        let settings = MatteSettings(blurRadius: 0)
        for (x, alpha) in depth.alpha(settings, videoWidth: 64, videoHeight: 8).prefix(64).enumerated() {
            #expect(alpha == (x < edge ? 255 : 0))
        }
    }

    @Test(arguments: [8, 15.9, 16, 31, 50, 64, 100], [(160, 120), (37, 5), (3, 70)])
    func `a wide blur is as good as a narrow one, up to the map's edges`(
        blurRadius: Double, size: (width: Int, height: Int)
    ) throws {
        let depth = try DepthMap(
            counts: RendererTests.scene(width: size.width, height: size.height), width: size.width)
        for gamma in [0.25, 0.5, 0.7, 1, 2, 3, 10] {
            let difference = depth.difference(
                MatteSettings(blurRadius: blurRadius, gamma: gamma), video: (size.width * 2 + 1, size.height * 2))
            #expect(difference.isWithinPromise, "gamma \(gamma): \(difference)")
        }
    }

    /// The worst cases of decimation: patterns as fine as the samples, edges along the border.
    @Test(arguments: ["noise", "dust", "bars", "borders", "half"], [5, 6.3, 10, 21, 40])
    func `a wide blur of the finest patterns is as good as a narrow one`(pattern: String, blurRadius: Double) throws {
        var random = RepeatableRandomNumberGenerator(seed: 5)
        for (width, height) in [(160, 120), (101, 85)] {
            let counts = (0..<width * height).map { place in
                let (x, y) = (place % width, place / width)
                let isOpaque =
                    switch pattern {
                    case "noise": Bool.random(using: &random)
                    case "dust": Int.random(in: 0..<500, using: &random) == 0
                    case "bars": x % 7 < 3
                    case "borders": x > width - 2 - (y > 40 ? 1 : 0) || y < 1
                    default: x * 3 + y < 180
                    }
                return isOpaque ? 700 : 3000
            }
            let depth = try DepthMap(counts: counts, width: width)
            for video in [(width: width * 3, height: height * 2), (width * 2 + 1, height + 7)] {
                for (gamma, upscale) in [(0.5, Upscale.bicubic), (1, .bilinear), (1, .bicubic), (2, .bicubic)] {
                    let difference = depth.difference(
                        MatteSettings(blurRadius: blurRadius, gamma: gamma, upscale: upscale), video: video)
                    #expect(difference.isWithinPromise, "gamma \(gamma) \(upscale) \(video): \(difference)")
                }
            }
        }
    }

    @Test(arguments: Upscale.allCases, [5.0, 10, 20, 23])
    func `an edge at any row of a map that is stretched far is as good`(upscale: Upscale, blurRadius: Double) throws {
        let (width, height) = (47, 47)
        for edge in [1, 2, 3, 19, 20, 21, 22, 23, 45, 46] {
            let depth = try DepthMap(
                counts: (0..<width * height).map { $0 / width < edge ? 3000 : 700 }, width: width)
            for (videoHeight, gamma) in [(376, 0.5), (376, 1), (403, 1), (403, 2), (423, 2), (508, 1), (508, 2)] {
                let difference = depth.difference(
                    MatteSettings(blurRadius: blurRadius, gamma: gamma, upscale: upscale), video: (50, videoHeight))
                #expect(difference.isWithinPromise, "edge \(edge), gamma \(gamma), \(videoHeight): \(difference)")
            }
        }
    }

    /// A picture of few columns has no vectors of them.
    @Test(arguments: [17, 20, 31, 32, 33, 100], [81, 160, 403])
    func `a map that is stretched far is as good at every width`(videoWidth: Int, videoHeight: Int) throws {
        let depth = try DepthMap(counts: RendererTests.scene(width: 61, height: 47), width: 61)
        for (blurRadius, gamma) in [(5.0, 0.5), (10, 2), (20, 0.5), (20, 1), (23, 2)] {
            let difference = depth.difference(
                MatteSettings(blurRadius: blurRadius, gamma: gamma), video: (videoWidth, videoHeight))
            #expect(difference.isWithinPromise, "sigma \(blurRadius), gamma \(gamma): \(difference)")
        }
    }

    /// The Gaussian on cells is truncated at the same radius as that on samples: beyond it all is clear.
    @Test(arguments: [5, 10.25, 20.5, 41])
    func `the middle of a hole as large as the kernel is clear`(blurRadius: Double) throws {
        let side = 2 * Int((4 * blurRadius).rounded(.up)) + 3
        let depth = try DepthMap(
            counts: (0..<side * side).map { place in
                let (x, y) = (place % side, place / side)
                return 1..<(side - 1) ~= x && 1..<(side - 1) ~= y ? 3000 : 700
            }, width: side)
        let difference = depth.difference(MatteSettings(blurRadius: blurRadius))
        #expect(difference.isWithinPromise, "\(difference)")
    }
}
