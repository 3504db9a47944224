import DepthKernels
import TestSupport
import Testing

@Suite struct DepthPaletteTests {
    private static let positions = (0...1000).map { Double($0) / 1000 }

    @Test func jetGoesFromDarkBlueThroughGreenToDarkRed() {
        #expect(DepthPalette.jet.color(at: 0) == SIMD3(0, 0, 128))
        #expect(DepthPalette.jet.color(at: 0.125) == SIMD3(0, 0, 255))
        #expect(DepthPalette.jet.color(at: 0.375) == SIMD3(0, 255, 255))
        #expect(DepthPalette.jet.color(at: 0.5) == SIMD3(128, 255, 128))
        #expect(DepthPalette.jet.color(at: 0.625) == SIMD3(255, 255, 0))
        #expect(DepthPalette.jet.color(at: 0.875) == SIMD3(255, 0, 0))
        #expect(DepthPalette.jet.color(at: 1) == SIMD3(128, 0, 0))
    }

    @Test(arguments: [DepthPalette.jet, .hue])
    func theHueOnlyEverTurnsFromBlueToRed(palette: DepthPalette) {
        let hues = DepthPaletteTests.positions.map { hue(palette.color(at: $0)) }
        #expect(hues.first == 240 && hues.last == 0)
        #expect(zip(hues, hues.dropFirst()).allSatisfy { $0 >= $1 })
    }

    @Test(arguments: [DepthPalette.gray, .viridis])
    func theLightnessOnlyEverGrows(palette: DepthPalette) {
        // Rec. 709 weights; viridis is rounded to bytes, so it may stand still.
        let lightness = DepthPaletteTests.positions.map { position -> Double in
            let color = palette.color(at: position)
            return 0.2126 * Double(color.x) + 0.7152 * Double(color.y) + 0.0722 * Double(color.z)
        }
        #expect(zip(lightness, lightness.dropFirst()).allSatisfy { $1 >= $0 - 1 })
        #expect((lightness.last ?? 0) - (lightness.first ?? 0) > 200)
    }

    /// Entries of the published tables of 256 colors, the stops between which the palette draws its lines and others.
    @Test(arguments: [
        (DepthPalette.viridis, 0, 0x440154), (.viridis, 100, 0x2a768e), (.viridis, 128, 0x21918c),
        (.viridis, 200, 0x70cf57), (.viridis, 255, 0xfde725),
        (.turbo, 0, 0x30123b), (.turbo, 64, 0x28bceb), (.turbo, 100, 0x3ff68a), (.turbo, 128, 0xa4fc3c),
        (.turbo, 200, 0xf46617), (.turbo, 255, 0x7a0403),
    ])
    func publishedColorsAreMetWithinTwoLevels(palette: DepthPalette, entry: Int, published: Int) {
        let color = palette.color(at: Double(entry) / 255)
        let expected = [published >> 16, published >> 8 & 255, published & 255]
        for (channel, value) in expected.enumerated() { #expect(abs(Int(color[channel]) - value) <= 2) }
    }

    @Test(arguments: DepthPalette.allCases)
    func anyNumberHasAColor(palette: DepthPalette) {
        #expect(palette.color(at: .nan) == palette.color(at: 0))
        #expect(palette.color(at: -.infinity) == palette.color(at: 0))
        #expect(palette.color(at: .infinity) == palette.color(at: 1))
        #expect(palette.color(index: .min) == palette.color(at: 0))
        #expect(palette.color(index: .max) == palette.color(index: DepthPalette.size - 1))
        #expect(DepthPalette.size == 512)
    }

    /// Degrees, by the definition of HSV.
    private func hue(_ color: SIMD3<UInt8>) -> Double {
        let (red, green, blue) = (Double(color.x), Double(color.y), Double(color.z))
        let high = max(red, green, blue)
        let chroma = high - min(red, green, blue)
        if high == red { return 60 * (green - blue) / chroma }
        return high == green ? 60 * (2 + (blue - red) / chroma) : 60 * (4 + (red - green) / chroma)
    }
}

@Suite struct DepthColorMapTests {
    static let black = SIMD4<UInt8>(0, 0, 0, 255)

    /// The formula of the equalisation, slowly: a palette index for each sample; nil where it was not measured.
    static func equalized(_ metres: [Double], max: Double) -> [Int?] {
        func bin(_ metres: Double) -> Double { (metres * 65536 / max).rounded(.down) }
        let inside = metres.filter { $0 > 0 && $0 < max }.map(bin).sorted()
        let nearest = inside.prefix { $0 == inside.first }.count
        return metres.map { metres in
            guard metres > 0, metres.isFinite else { return nil }
            guard metres < max else { return 0 }
            guard inside.count > nearest else { return 511 }
            let cumulative = inside.prefix { $0 <= bin(metres) }.count
            let position = 1 - Double(cumulative - nearest) / Double(inside.count - nearest)
            return Int((511 * position).rounded(.toNearestOrEven))
        }
    }

    private func picture(_ indices: [Int?], _ palette: DepthPalette = .jet) -> [SIMD4<UInt8>] {
        indices.map { $0.map { SIMD4(palette.color(index: $0), 255) } ?? DepthColorMapTests.black }
    }

    private func firstDifference(_ a: [SIMD4<UInt8>], _ b: [SIMD4<UInt8>]) -> Int? {
        a.count == b.count ? a.indices.first { a[$0] != b[$0] } : -1
    }

    @Test func aKnownHistogramGivesItsCumulative() throws {
        // 1 m once, 2 m twice, 3 m thrice, 4 m four times: 0, 2, 5 and 9 ninths of the way from red to blue.
        let counts = [4000, 3000, 2000, 3000, 4000, 1000, 2000, 4000, 3000, 4000, 0, 0]
        let depth = try DepthMap(counts: counts, width: 6)
        let indices = [1000: 511, 2000: 397, 3000: 227, 4000: 0]
        #expect(depth.painted(.equalize(max: 8)) == picture(counts.map { indices[$0] }))
    }

    @Test func theNearestIsRedAndTheFarthestBlueWhateverTheirDistance() throws {
        for (near, far) in [(1, 2), (500, 501), (3000, 60000)] {
            let depth = try DepthMap(counts: [near, far, 0], width: 3)
            #expect(
                depth.painted(.equalize(max: 65.5)) == [SIMD4(128, 0, 0, 255), SIMD4(0, 0, 128, 255), Self.black])
        }
    }

    @Test(arguments: [
        DepthScale(), DepthScale(unit: 0.0001, bias: 0.3), DepthScale(kind: .disparity, unit: 0.0004, bias: 0.1),
        DepthScale(kind: .disparity, unit: -0.0001, bias: 3), DepthScale(kind: .relative), DepthScale(unit: .nan),
        DepthScale(bias: 0.5, invalidCount: 700), DepthScale(kind: .relativeInverted),
        DepthScale(unit: -0.001, bias: 6),
    ])
    func everyEncodingIsEqualizedByTheFormula(scale: DepthScale) throws {
        var random = RepeatableRandomNumberGenerator(seed: 5)
        for encoding in [DepthEncoding.gray8, .gray16LE, .gray16BE] {
            let top = encoding == .gray8 ? 255 : 9000
            let depth = try DepthMap(
                counts: (0..<700).map { _ in Int.random(in: 0...top, using: &random) }, width: 35, encoding: encoding)
            for max in [0.2, 3.0, 65.536] {
                let expected = DepthColorMapTests.equalized(depth.metres(scale), max: max)
                let painted = depth.painted(.equalize(max: max), scale: scale)
                #expect(firstDifference(painted, picture(expected)) == nil, "\(encoding) \(max)")
            }
        }
    }

    @Test func floatsAreEqualizedByTheFormulaAndWhatIsNoDistanceIsBlack() throws {
        var random = RepeatableRandomNumberGenerator(seed: 6)
        var metres = (0..<400).map { _ in Float.random(in: 0.001...9, using: &random) }
        metres += [.nan, .signalingNaN, .infinity, -.infinity, 0, -0.0, -1, .leastNonzeroMagnitude, 3e38, 4, 4, 4]
        for max in [0.5, 4, 9.5] {
            let depth = try DepthMap(metres: metres, width: 4)
            let expected = DepthColorMapTests.equalized(depth.metres(), max: max)
            #expect(firstDifference(depth.painted(.equalize(max: max)), picture(expected)) == nil)
        }
        let halves = try DepthMap(halves: Array(0...UInt16.max), width: 512)
        let expected = DepthColorMapTests.equalizedOnce(halves.metres(), max: 16)
        #expect(firstDifference(halves.painted(.equalize(max: 16)), picture(expected)) == nil)
    }

    /// The same for samples that all lie in bins of their own or are sorted by then; quicker for many.
    private static func equalizedOnce(_ metres: [Double], max: Double) -> [Int?] {
        func bin(_ metres: Double) -> Int { Int(metres * 65536 / max) }
        var counts = [Int](repeating: 0, count: 65536)
        for metres in metres where metres > 0 && metres < max { counts[bin(metres)] += 1 }
        let nearest = counts.first { $0 > 0 } ?? 0
        var cumulative: [Int] = []
        for count in counts { cumulative.append((cumulative.last ?? 0) + count) }
        let all = cumulative[65535] - nearest
        return metres.map { metres in
            guard metres > 0, metres.isFinite else { return nil }
            guard metres < max else { return 0 }
            let position = 1 - Double(cumulative[bin(metres)] - nearest) / Double(all)
            return Int((511 * position).rounded(.toNearestOrEven))
        }
    }

    @Test func aFixedRangeKeepsOneColorForOneDistance() throws {
        let map = DepthColorMap()
        let range = DepthColorRange.fixed(min: 1, max: 3)
        let first = try DepthMap(counts: [0, 500, 1000, 1500, 2000, 3000, 9000], width: 7)
        let indices = [nil, 511, 511, 383, 256, 0, 0]
        #expect(first.painted(range, with: map) == picture(indices))
        let second = try DepthMap(counts: [1500, 1500, 1500, 1500], width: 4)
        #expect(second.painted(range, with: map) == picture([383, 383, 383, 383]))
        // An equalised frame in between leaves nothing behind.
        _ = first.painted(.equalize(max: 10), with: map)
        #expect(first.painted(range, with: map) == picture(indices))
        #expect(first.painted(range, palette: .gray, with: map) == picture(indices, .gray))
        let floats = try DepthMap(metres: [.nan, 0.5, 1, 1.5, 2, 3, 9, .infinity], width: 8)
        #expect(floats.painted(range, with: map) == picture([nil, 511, 511, 383, 256, 0, 0, nil]))
    }

    @Test(arguments: [
        (Double.nan, 1.0), (0, .nan), (2, 1), (1, 1), (0, .infinity), (-.infinity, .infinity), (.infinity, -1),
    ])
    func noNumbersInTheRangeTrap(near: Double, far: Double) throws {
        let maps = [
            try DepthMap(counts: [0, 500, 1000, 65534], width: 4), try DepthMap(metres: [.nan, 1, 2, 3], width: 4),
        ]
        for depth in maps {
            for pixels in [depth.painted(.fixed(min: near, max: far)), depth.painted(.equalize(max: far))] {
                #expect(pixels[0] == Self.black && pixels.dropFirst().allSatisfy { $0 != Self.black })
            }
        }
        #expect(maps[0].painted(.fixed(min: 1, max: 1)) == picture([nil, 511, 511, 0]))
    }

    @Test(arguments: [DepthColorRange.equalize(max: 10), .fixed(min: 0, max: 1)])
    func aMapWithNothingMeasuredIsBlack(range: DepthColorRange) throws {
        let maps = [
            try DepthMap(counts: [0, 0, 0, 0, 0, 0], width: 3),
            try DepthMap(metres: [.nan, -1, 0, .infinity], width: 2),
            try DepthMap(halves: [0x7e00, 0x7c00, 0, 0xbc00], width: 2),
            try DepthMap(counts: [0, 0], width: 2, encoding: .gray8),
        ]
        for depth in maps { #expect(depth.painted(range).allSatisfy { $0 == Self.black }) }
    }

    @Test func whatIsBeyondTheHistogramIsFar() throws {
        let depth = try DepthMap(counts: [9000, 9500, 0], width: 3)
        #expect(depth.painted(.equalize(max: 5)) == picture([0, 0, nil]))
    }

    @Test func pixelsAreStoredInTheOrderAskedForAndHolesMayBeClear() throws {
        let depth = try DepthMap(counts: [0, 1000, 2000], width: 3)
        let orders: [(PixelOrder, [Int])] = [
            (.rgba, [0, 1, 2, 3]), (.bgra, [2, 1, 0, 3]), (.argb, [1, 2, 3, 0]), (.abgr, [3, 2, 1, 0]),
        ]
        for (order, places) in orders {
            let pixels = depth.painted(
                .fixed(min: 1, max: 2), colors: DepthColors(palette: .viridis, order: order, unmeasuredAlpha: 0))
            let expected = [SIMD4<UInt8>(0, 0, 0, 0), SIMD4(0xfd, 0xe7, 0x25, 255), SIMD4(0x44, 0x01, 0x54, 255)]
            for (pixel, colors) in zip(pixels, expected) {
                for channel in 0..<4 { #expect(pixel[places[channel]] == colors[channel]) }
            }
        }
        #expect(PixelOrder(red: 0, green: 1, blue: 1, alpha: 3) == nil)
        #expect(PixelOrder(red: 0, green: 1, blue: 2, alpha: 4) == nil)
        #expect(PixelOrder(red: 3, green: 0, blue: 2, alpha: 1) != nil)
    }

    /// Metres of all kinds, some of which are none.
    private func metres(_ count: Int, seed: UInt64) -> [Float] {
        var random = RepeatableRandomNumberGenerator(seed: seed)
        let none: [Float] = [.nan, .infinity, -.infinity, 0, -0.0, -1, .leastNonzeroMagnitude, 3e38, 4, 5]
        return (0..<count).map { $0 % 7 == 3 ? none[$0 / 7 % none.count] : .random(in: 0.001...6, using: &random) }
    }

    @Test(arguments: Array(1...20) + [63, 64, 65, 130])
    func `three bytes a pixel are the first three of four, at every width and with nothing beside them`(
        width: Int
    ) throws {
        let counts = (0..<width * 3).map { $0 % 5 == 2 ? 0 : $0 * 211 % 5000 }
        let maps = [
            try DepthMap(counts: counts.map { $0 % 256 }, width: width, encoding: .gray8),
            try DepthMap(counts: counts, width: width), try DepthMap(counts: counts, width: width, encoding: .gray16BE),
            try DepthMap(halves: counts.map { UInt16($0 * 13 % 65536) }, width: width),
            try DepthMap(metres: metres(width * 3, seed: 3), width: width),
        ]
        for depth in maps {
            for range in [DepthColorRange.equalize(max: 5), .fixed(min: 0.3, max: 5)] {
                let target = GuardedPlane(rowBytes: width * 3, rows: 3) { _, _ in 99 }
                DepthColorMap().paint(
                    depth.image, scale: DepthScale(), range: range, colors: DepthColors(), into: target.plane,
                    bytesPerPixel: 3)
                #expect(target.guardsAreIntact)
                #expect(target.bytes == depth.painted(range).flatMap { [$0.x, $0.y, $0.z] }, "\(depth.image.encoding)")
            }
        }
    }

    @Test(arguments: Array(1...20) + [63, 64, 65, 130])
    func `floats have the same colors by every instruction set, and those of the formula`(width: Int) throws {
        let depth = try DepthMap(metres: metres(width * 4, seed: 8), width: width)
        for max in [0.5, 4, 9] {
            let expected = picture(DepthColorMapTests.equalized(depth.metres(), max: max))
            for loops in usableLoops {
                let painted = depth.painted(.equalize(max: max), with: DepthColorMap(loops: loops))
                #expect(firstDifference(painted, expected) == nil)
            }
        }
        for range in [DepthColorRange.fixed(min: 0.3, max: 5), .fixed(min: 2, max: 2)] {
            let pictures = usableLoops.map { depth.painted(range, with: DepthColorMap(loops: $0)) }
            for picture in pictures { #expect(picture == pictures[0], "\(range)") }
        }
    }

    @Test func onlyTheTargetsOwnPixelsAreWritten() throws {
        let depth = try DepthMap(counts: Array(1...35), width: 7)
        for (columns, rows) in [(7, 5), (3, 2), (9, 8)] {
            let target = GuardedPlane(rowBytes: columns * 4, rows: rows) { _, _ in 7 }
            DepthColorMap().paint(
                depth.image, scale: DepthScale(), range: .fixed(min: 0, max: 0.035), colors: DepthColors(),
                into: target.plane)
            #expect(target.guardsAreIntact)
            for y in 0..<rows {
                for x in 0..<columns { #expect((target[x * 4 + 3, y] == 255) == (x < 7 && y < 5)) }
            }
        }
    }
}

extension DepthMap {
    /// The map in colors, four bytes for each sample.
    func painted(
        _ range: DepthColorRange, scale: DepthScale = DepthScale(), palette: DepthPalette = .jet,
        colors: DepthColors? = nil, with map: DepthColorMap = DepthColorMap()
    ) -> [SIMD4<UInt8>] {
        let target = GuardedPlane(rowBytes: image.width * 4, rows: image.height) { _, _ in 99 }
        map.paint(
            image, scale: scale, range: range, colors: colors ?? DepthColors(palette: palette), into: target.plane)
        let bytes = target.bytes
        return stride(from: 0, to: bytes.count, by: 4).map {
            SIMD4(bytes[$0], bytes[$0 + 1], bytes[$0 + 2], bytes[$0 + 3])
        }
    }
}
