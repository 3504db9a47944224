import DepthKernels
import TestSupport
import Testing

@Suite struct ComicTests {
    private static let gray = PixelLayout(.full(bytesPerSample: 1))
    private static let i420 = PixelLayout(
        .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1),
        .subsampled(horizontal: 2, vertical: 2, bytesPerSample: 1))

    private func planes(
        _ layout: PixelLayout, _ width: Int, _ height: Int, content: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8
    ) -> [GuardedPlane] {
        layout.planes.indices.map { plane in
            GuardedPlane(
                rowBytes: layout.rowBytes(plane: plane, width: width), rows: layout.rows(plane: plane, height: height)
            ) { content(plane, $0, $1) }
        }
    }

    /// The bytes of every plane of the drawing; nil where it was refused.
    private func drawn(
        _ source: [GuardedPlane], _ layout: PixelLayout, _ width: Int, _ height: Int, _ bytes: [[ByteRole]],
        grays: GrayTable = .fullRange, with effect: ComicEffect = ComicEffect()
    ) -> [[UInt8]]? {
        let target = planes(layout, width, height) { _, _, _ in 77 }
        let isDone = effect.draw(
            Planes(source).readOnly, into: Planes(target), layout: layout, width: width, height: height, bytes: bytes,
            grays: grays)
        return isDone && target.allSatisfy(\.guardsAreIntact) ? target.map(\.bytes) : nil
    }

    /// The formula for luma, slowly, of pictures of fewer than 1080 lines.
    private func reference(_ luma: [Double], _ width: Int, _ height: Int) -> [Double] {
        func smooth(_ image: [Double]) -> [Double] {
            let taps = [1.0, 4, 6, 4, 1]
            func at(_ x: Int, _ y: Int) -> Double {
                image[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
            }
            return (0..<height * width).map { index in
                var sum = 0.0
                for v in -2...2 {
                    for u in -2...2 { sum += taps[u + 2] * taps[v + 2] * at(index % width + u, index / width + v) }
                }
                return sum / 256
            }
        }
        func tanh(_ x: Double) -> Double {
            // By the continued fraction, deep enough for |x| < 20.
            var value = 0.0
            for odd in stride(from: 61.0, through: 1, by: -2) { value = x * x / (odd + value) }
            return value / x
        }
        let fine = smooth(luma)
        let coarse = smooth(smooth(fine))
        return zip(fine, coarse).map { fine, coarse in
            let nearest = 32 * (fine / 32).rounded()
            let tone = nearest + (fine == nearest ? 0 : 16 * tanh(0.4 * (fine - nearest)))
            let edge = fine - 0.98 * coarse + 1
            return max(tone, 0) * (edge >= 0 ? 1 : 1 + tanh(max(edge / 2.55, -15)))
        }
    }

    @Test func lumaIsDrawnByTheFormula() throws {
        let (width, height) = (48, 36)
        let source = planes(ComicTests.gray, width, height) { _, x, y in
            UInt8(x < 20 ? 60 + y : (x < 34 ? 190 - y / 2 : 20 + (x * 5 + y * 3) % 40))
        }
        let bytes = try #require(drawn(source, ComicTests.gray, width, height, [[.gray]]))
        let expected = reference(source[0].bytes.map(Double.init), width, height)
        // Smoothed lumas are bytes: where a tone is steep a level of them is six of it.
        let differences = zip(bytes[0], expected).map { abs(Double($0) - $1) }
        #expect((differences.max() ?? 0) < 40)
        #expect(differences.reduce(0, +) / Double(differences.count) < 3)
    }

    @Test func aFlatPictureHasAFlatToneOfFew() throws {
        var tones: Set<UInt8> = []
        for luma in 0...255 {
            let source = planes(ComicTests.gray, 9, 7) { _, _, _ in UInt8(luma) }
            let bytes = try #require(drawn(source, ComicTests.gray, 9, 7, [[.gray]]))
            #expect(Set(bytes[0]).count == 1)
            if let tone = bytes[0].first, abs(luma % 32 - 16) <= 8 { tones.insert(tone / 4) }
        }
        // Eight plateaus, 16 levels around multiples of 32 away.
        #expect(tones.count <= 16)
    }

    @Test func anEdgeGetsADarkLineAndAFlatPlaceNone() throws {
        let source = planes(ComicTests.gray, 60, 40) { _, x, _ in x < 30 ? 112 : 240 }
        let bytes = try #require(drawn(source, ComicTests.gray, 60, 40, [[.gray]]))[0]
        let row = Array(bytes[(20 * 60)..<(21 * 60)])
        #expect((26..<30).contains { row[$0] < 20 })
        #expect(row[5] > 90 && row[55] > 200)
    }

    @Test func colorsFollowTheirLumaAndBecomeStronger() throws {
        let bytes: [[ByteRole]] = [[.gray], [], []]
        let source = planes(ComicTests.i420, 32, 32) { plane, _, _ in [112, 148, 108][plane] }
        let result = try #require(drawn(source, ComicTests.i420, 32, 32, bytes))
        let tone = Double(result[0][0])
        let gain = 1.25 * tone / 112
        #expect(abs(Double(result[1][0]) - (128 + 20 * gain)) <= 1)
        #expect(abs(Double(result[2][0]) - (128 - 20 * gain)) <= 1)
    }

    @Test(arguments: [[ByteRole.gray, .gray, .gray, .unused], [.unused, .gray, .gray, .gray]])
    func nothingOfAByteThatMeansNothingIsDrawn(roles: [ByteRole]) throws {
        let layout = PixelLayout(.full(bytesPerSample: 4))
        let source = planes(layout, 9, 7) { _, x, y in UInt8(x * 7 + y) }
        let bytes = try #require(drawn(source, layout, 9, 7, [roles]))[0]
        let unused = try #require(roles.firstIndex(of: .unused))
        #expect(stride(from: unused, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
    }

    @Test(arguments: [
        ([ByteRole.gray, .gray, .gray], 3), ([.gray, .gray, .gray, .opaque], 4), ([.opaque, .gray, .gray, .gray], 4),
    ])
    func rgbKeepsItsHueAndItsAlpha(roles: [ByteRole], size: Int) throws {
        let layout = PixelLayout(.full(bytesPerSample: size))
        let start = roles.first == .opaque ? 1 : 0
        let source = planes(layout, 16, 16) { _, x, _ in
            let offset = x % size - start
            return 0..<3 ~= offset ? [160, 120, 60][offset] : 99
        }
        let result = try #require(drawn(source, layout, 16, 16, [roles]))[0]
        // L = (160 + 240 + 60) / 4 = 115.
        let color = (0..<3).map { Double(result[$0 + start]) }
        let tone = (color[0] + 2 * color[1] + color[2]) / 4
        let gain = 1.25 * tone / 115
        for (value, original) in zip(color, [160.0, 120, 60]) {
            #expect(abs(value - (tone + gain * (original - 115))) <= 2)
        }
        if size == 4 { #expect(result[start == 1 ? 0 : 3] == 99) }
    }

    @Test func packedAndPlanarVideoAreDrawnAlike() throws {
        func luma(_ x: Int, _ y: Int) -> UInt8 { UInt8(16 + (x * 11 + y * 5) % 200) }
        let (width, height) = (21, 12)
        let planar = PixelLayout(
            .full(bytesPerSample: 1), .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1),
            .subsampled(horizontal: 2, vertical: 1, bytesPerSample: 1))
        let first = try #require(
            drawn(
                planes(planar, width, height) { $0 == 0 ? luma($1, $2) : UInt8(100 + $0 * 20 + $1) }, planar, width,
                height, [[.gray], [], []], grays: .videoRange))
        for lumaFirst in [true, false] {
            let layout = PixelLayout(.packed422(lumaFirst: lumaFirst))
            let source = planes(layout, width, height) { _, x, y in
                if x.isMultiple(of: 2) == lumaFirst { return luma(x / 2, y) }
                return UInt8((x % 4 < 2 ? 120 : 140) + x / 4)
            }
            let packed = try #require(drawn(source, layout, width, height, [[.gray]], grays: .videoRange))[0]
            let stride = (width + 1) / 2 * 4
            for y in 0..<height {
                for x in 0..<width {
                    #expect(packed[y * stride + x * 2 + (lumaFirst ? 0 : 1)] == first[0][y * width + x])
                    let pair = y * stride + x / 2 * 4 + (lumaFirst ? 1 : 0)
                    #expect(packed[pair] == first[1][y * 11 + x / 2] && packed[pair + 2] == first[2][y * 11 + x / 2])
                }
            }
        }
    }

    @Test func sizesDownToOnePixelAreDrawnAndOneEffectServesThemInTurn() throws {
        let effect = ComicEffect()
        for (width, height) in [(1, 1), (64, 48), (2, 900), (900, 2), (3, 2500)] {
            let source = planes(ComicTests.i420, width, height) { UInt8(($0 * 40 + $1 * 7 + $2) % 256) }
            let fresh = try #require(drawn(source, ComicTests.i420, width, height, [[.gray], [], []]))
            #expect(drawn(source, ComicTests.i420, width, height, [[.gray], [], []], with: effect) == fresh)
        }
    }

    @Test func planesThatAreTooSmallAreRefused() {
        let source = planes(ComicTests.gray, 8, 8) { _, _, _ in 0 }
        #expect(drawn(source, ComicTests.gray, 9, 8, [[.gray]]) == nil)
        #expect(drawn(source, ComicTests.i420, 8, 8, [[.gray]]) == nil)
    }
}
