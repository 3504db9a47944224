import DepthKernels
import TestSupport
import Testing

extension Canvas {
    /// The blurred picture; nil where it was refused.
    fileprivate func blurred(_ alpha: GuardedPlane?, sigma: Double, with blur: RoomBlur = RoomBlur()) -> Canvas? {
        let result = Canvas(layout, width: width, height: height) { _, _, _ in 201 }
        let isDone = blur.blur(
            Planes(planes).readOnly, into: Planes(result.planes), layout: layout, width: width, height: height,
            alpha: alpha?.plane.readOnly, sigma: sigma)
        return isDone && result.planes.allSatisfy(\.guardsAreIntact) ? result : nil
    }

    /// True where a byte belongs, in part, to a pixel in the columns and rows.
    fileprivate func touches(_ plane: Int, _ x: Int, _ y: Int, columns: Range<Int>, rows: Range<Int>) -> Bool {
        switch layout.planes[plane] {
        case .full(let bytes): return columns.contains(x / bytes) && rows.contains(y)
        case .subsampled(let h, let v, let bytes):
            return columns.overlaps(x / bytes * h..<(x / bytes + 1) * h) && rows.overlaps(y * v..<(y + 1) * v)
        case .packed422(let lumaFirst):
            let isLuma = x.isMultiple(of: 2) == lumaFirst
            return rows.contains(y)
                && columns.overlaps(isLuma ? x / 2..<x / 2 + 1 : x / 4 * 2..<x / 4 * 2 + 2)
        }
    }
}

@Suite struct RoomBlurTests {
    private static let sigmas = [0, 0.6, 1, 2, 3.7, 4, 10, 33, 400]

    @Test(arguments: Canvas.layouts)
    func theColorsOfThePersonAreNowhereInTheRoom(layout: PixelLayout) throws {
        let (columns, rows) = (13..<34, 9..<41)
        let room: [UInt8] = [60, 130, 90, 255]
        let any = Canvas(layout, width: 67, height: 41) { _, _, _ in 0 }
        let picture = Canvas(layout, width: 67, height: 41) { plane, x, y in
            let isRoom = !any.touches(plane, x, y, columns: columns, rows: rows)
            return isRoom ? room[plane] : UInt8((x * 7 + y * 13) % 256)
        }
        let alpha = GuardedPlane(rowBytes: 67, rows: 41) { columns.contains($0) && rows.contains($1) ? 255 : 0 }
        for sigma in RoomBlurTests.sigmas {
            let blurred = try #require(picture.blurred(alpha, sigma: sigma))
            for (plane, bytes) in blurred.bytes.enumerated() {
                #expect(bytes.allSatisfy { abs(Int($0) - Int(room[plane])) <= 1 }, "sigma \(sigma), plane \(plane)")
            }
        }
    }

    @Test(arguments: Canvas.layouts)
    func aPictureOfOneColorStaysAsItIs(layout: PixelLayout) throws {
        for (width, height) in [(1, 1), (2, 3), (65, 33)] {
            let picture = Canvas(layout, width: width, height: height) { plane, x, _ in UInt8(40 + plane) }
            for sigma in RoomBlurTests.sigmas {
                #expect(try #require(picture.blurred(nil, sigma: sigma)).bytes == picture.bytes)
            }
        }
    }

    /// The formula, slowly, for a picture of one byte a pixel.
    private func reference(_ picture: Canvas, _ alpha: GuardedPlane?, sigma: Double) -> [Double] {
        let (width, height) = (picture.width, picture.height)
        return (0..<height).flatMap { y in
            (0..<width).map { x in
                var (sum, weight) = (0.0, 0.0)
                for v in 0..<height {
                    for u in 0..<width {
                        let distance = Double((u - x) * (u - x) + (v - y) * (v - y))
                        let room = 255 - Double(alpha?[u, v] ?? 0)
                        let share = room * gaussian(distance, sigma)
                        sum += share * Double(picture.planes[0][u, v])
                        weight += share
                    }
                }
                return sum / weight
            }
        }
    }

    /// e^(−d²/2σ²), by its series about a halved exponent: the tests have no library of mathematics.
    private func gaussian(_ distanceSquared: Double, _ sigma: Double) -> Double {
        var exponent = -distanceSquared / (2 * sigma * sigma)
        var halvings = 0
        while exponent < -0.5 {
            exponent /= 2
            halvings += 1
            if halvings > 12 { return 0 }
        }
        var (term, sum) = (1.0, 1.0)
        for index in 1...16 {
            term *= exponent / Double(index)
            sum += term
        }
        for _ in 0..<halvings { sum *= sum }
        return sum
    }

    @Test(arguments: [1.0, 1.9, 2, 3, 5])
    func theBlurIsTheNormalisedConvolution(sigma: Double) throws {
        var random = RepeatableRandomNumberGenerator(seed: 8)
        let noise = (0..<16).map { _ in Double.random(in: -1...1, using: &random) }
        let picture = Canvas(PixelLayout(.full(bytesPerSample: 1)), width: 40, height: 30) { _, x, y in
            UInt8(110 + 60 * noise[(x / 5 + y / 6 * 3) % 16] + Double(x + y))
        }
        let alpha = GuardedPlane(rowBytes: 40, rows: 30) { x, y in
            UInt8(max(0, min(255, 255 - ((x - 20) * (x - 20) + (y - 18) * (y - 18)) * 3)))
        }
        for mask in [alpha, nil] {
            let blurred = try #require(picture.blurred(mask, sigma: sigma)).planes[0].bytes
            let expected = reference(picture, mask, sigma: sigma)
            // Inside the person nothing is seen, and there the tails of two approximations are divided by each other.
            let seen = blurred.indices.filter { mask.map { $0.bytes }?[$0] ?? 0 < 230 }
            let differences = seen.map { abs(Double(blurred[$0]) - expected[$0]) }
            #expect((differences.max() ?? 0) < 5, "sigma \(sigma)")
            #expect(differences.reduce(0, +) / Double(differences.count) < 1, "sigma \(sigma)")
        }
    }

    @Test func withoutABlurThePictureStaysAsItIs() throws {
        let picture = Canvas(Canvas.layouts[3], width: 19, height: 9) { plane, x, y in
            UInt8((plane * 50 + x * 9 + y * 31) % 256)
        }
        #expect(try #require(picture.blurred(nil, sigma: 0)).bytes == picture.bytes)
    }

    @Test func aWiderBlurLeavesLessOfTheDetail() throws {
        let picture = Canvas(Canvas.layouts[0], width: 128, height: 96) { _, x, y in
            (x / 6 + y / 6).isMultiple(of: 2) ? 220 : 30
        }
        let contrasts = try [0.0, 1, 2, 4, 8, 16].map { sigma in
            let bytes = try #require(picture.blurred(nil, sigma: sigma)).planes[0].bytes
            return Int(bytes.max() ?? 0) - Int(bytes.min() ?? 0)
        }
        #expect(zip(contrasts, contrasts.dropFirst()).allSatisfy { $0 >= $1 })
        #expect(contrasts[0] == 190 && contrasts[5] <= 4)
    }

    @Test func aPersonWhoFillsThePictureLeavesNothingOfThemselves() throws {
        let picture = Canvas(Canvas.layouts[4], width: 20, height: 10) { _, _, _ in 200 }
        let alpha = GuardedPlane(rowBytes: 20, rows: 10) { _, _ in 255 }
        #expect(try #require(picture.blurred(alpha, sigma: 10)).bytes.allSatisfy { $0.allSatisfy { $0 == 0 } })
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300])
    func noNumberTrapsAndWhatIsNoneIsNotShownSharp(sigma: Double) throws {
        let picture = Canvas(Canvas.layouts[0], width: 40, height: 30) { _, x, _ in x.isMultiple(of: 2) ? 0 : 255 }
        let bytes = try #require(picture.blurred(nil, sigma: sigma)).planes[0].bytes
        if !(sigma <= 0) { #expect(bytes.allSatisfy { 118...137 ~= $0 }) }
    }

    @Test func oneBlurServesPicturesOfAnySizeInTurn() throws {
        let blur = RoomBlur()
        for (width, height) in [(64, 48), (5, 3), (90, 70), (64, 48)] {
            let picture = Canvas(Canvas.layouts[2], width: width, height: height) { _, x, y in
                UInt8((x * 3 + y) % 200)
            }
            let fresh = try #require(picture.blurred(nil, sigma: 6))
            #expect(try #require(picture.blurred(nil, sigma: 6, with: blur)).bytes == fresh.bytes)
        }
    }

    @Test(arguments: [true, false])
    func lumaThatNoPixelHasCountsForNothing(lumaFirst: Bool) throws {
        let layout = PixelLayout(.packed422(lumaFirst: lumaFirst))
        let alpha = GuardedPlane(rowBytes: 7, rows: 5) { x, _ in x < 3 ? 255 : 0 }
        for mask in [alpha, nil] {
            for sigma in [0.6, 2, 9] {
                let blurred = try [0, 255].map { padding in
                    let picture = Canvas(layout, width: 7, height: 5) { _, x, y in
                        x == (lumaFirst ? 14 : 15) ? UInt8(padding) : UInt8(x * 9 + y)
                    }
                    return try #require(picture.blurred(mask, sigma: sigma)).bytes
                }
                #expect(blurred[0] == blurred[1])
            }
        }
    }

    @Test func planesThatAreTooSmallAreRefused() {
        let picture = Canvas(Canvas.layouts[0], width: 8, height: 8) { _, _, _ in 5 }
        let small = GuardedPlane(rowBytes: 7, rows: 8) { _, _ in 0 }
        #expect(picture.blurred(small, sigma: 2) == nil)
        #expect(
            !RoomBlur().blur(
                Planes(picture.planes).readOnly, into: Planes([small]), layout: picture.layout, width: 8, height: 8,
                alpha: nil, sigma: 2))
    }
}
