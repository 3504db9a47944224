import DepthKernels
import TestSupport
import Testing

@Suite struct DepthScaleTests {
    @Test func metricCountsAreMultiplied() {
        let scale = DepthScale(bias: 0.25)
        #expect(scale.metres(count: 1500, fullScale: 65535) == 1500 * 0.001 + 0.25)
        #expect(scale.metres(count: 0, fullScale: 65535) == nil)
        #expect(DepthScale(bias: 0.25, invalidCount: -1).metres(count: 0, fullScale: 65535) == 0.25)
        #expect(DepthScale(invalidCount: -1).metres(count: 0, fullScale: 65535) == nil)
        #expect(DepthScale(bias: -2).metres(count: 2000, fullScale: 65535) == nil)
    }

    @Test(arguments: [false, true])
    func `metres are written as the nearest count, and what is none as not measured`(bigEndian: Bool) throws {
        var metres: [Float] = [
            .nan, .infinity, -.infinity, -3, 0, 0.49, 0.5, 1.5, 2.5, 65_534.5, 65_535.4, 1e9, .leastNonzeroMagnitude,
        ]
        let size = 4 * metres.count
        let counts = GuardedPlane(rowBytes: size / 2, rows: 1) { _, _ in 7 }
        try metres.withUnsafeMutableBytes { bytes in
            let base = try #require(bytes.baseAddress)
            let plane = try #require(MutablePlane(base: base, length: size, rowBytes: size, rows: 1, stride: size))
            writeCounts(metres: plane.readOnly, unit: 1, bigEndian: bigEndian, into: counts.plane)
        }
        let bytes = counts.bytes
        let written = metres.indices.map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[2 * index]), UInt16(bytes[2 * index + 1]))
            return bigEndian ? first << 8 | second : second << 8 | first
        }
        #expect(written == [0, 0, 0, 0, 0, 0, 1, 2, 3, 65_534, 65_534, 65_534, 0])
        #expect(counts.guardsAreIntact)
    }

    @Test func disparityIsInverted() {
        let scale = DepthScale(kind: .disparity, unit: 0.002, bias: 0.8, invalidCount: -1)
        #expect(scale.metres(count: 0, fullScale: 255) == 1 / 0.8)
        #expect(scale.metres(count: 100, fullScale: 255) == 1 / (100 * 0.002 + 0.8))
        #expect(DepthScale(kind: .disparity).metres(count: 0, fullScale: 255) == nil)
        #expect(DepthScale(kind: .disparity, unit: -1).metres(count: 3, fullScale: 255) == nil)
    }

    @Test func relativeCountsAreSharesOfTheFullScale() {
        let scale = DepthScale(kind: .relative)
        #expect(scale.metres(count: 255, fullScale: 255) == 1)
        #expect(scale.metres(count: 51, fullScale: 255) == 5)
        #expect(scale.metres(count: 0, fullScale: 255) == nil)
        #expect(scale.metres(count: 5, fullScale: 0) == nil)
    }

    @Test func relativeCountsTurnedRoundAreThoseOfTheInvertedPicture() {
        let (plain, turned) = (DepthScale(kind: .relative), DepthScale(kind: .relativeInverted))
        for fullScale in [255, 65535] {
            for count in [0, 1, 51, fullScale - 1, fullScale] {
                #expect(
                    turned.metres(count: fullScale - count, fullScale: fullScale)
                        == plain.metres(count: count, fullScale: fullScale))
            }
        }
        #expect(turned.metres(count: 0, fullScale: 255) == 1)
        #expect(DepthScale(kind: .relativeInverted, invalidCount: 0).metres(count: 0, fullScale: 255) == nil)
    }

    @Test func `the largest count of 16 bits is not measured by metres that grow, unless every count is`() {
        for unit in [0.001, 0.0001] {
            for invalid in [-2, 0, 700] {
                let scale = DepthScale(unit: unit, invalidCount: invalid)
                #expect(scale.metres(count: 65535, fullScale: 65535) == nil)
                #expect(scale.metres(count: 65534, fullScale: 65535) == 65534 * unit)
                #expect(scale.metres(count: 255, fullScale: 255) == 255 * unit, "the farthest thing in 8 bits")
            }
            #expect(DepthScale(unit: unit, invalidCount: -1).metres(count: 65535, fullScale: 65535) == 65535 * unit)
        }
        #expect(DepthScale(unit: -0.0001, bias: 7).metres(count: 65535, fullScale: 65535) == 65535 * -0.0001 + 7)
        #expect(DepthScale(kind: .disparity).metres(count: 65535, fullScale: 65535) == 1 / (65535 * 0.001))
        #expect(DepthScale(kind: .relative).metres(count: 65535, fullScale: 65535) == 1)
    }

    @Test func `count 0 is measured where it is the nearest of a map of nearness`() {
        let scale = DepthScale(kind: .disparity, unit: -0.003, bias: 3.3)
        #expect(scale.metres(count: 0, fullScale: 65535) == 1 / 3.3)
        #expect(scale.metres(count: 1000, fullScale: 65535) == 1 / (1000 * -0.003 + 3.3))
        #expect(scale.metres(count: 1100, fullScale: 65535) == nil)
        #expect(scale.metres(count: 65535, fullScale: 65535) == nil)
        #expect(DepthScale(unit: -0.01, bias: 3).metres(count: 0, fullScale: 255) == nil)
        #expect(DepthScale(unit: -0.01, bias: 3).metres(count: 100, fullScale: 255) == 2)
    }

    @Test(arguments: [
        (DepthScale(), false), (DepthScale(unit: -0.001), true), (DepthScale(unit: -0.001, bias: 5), false),
        (DepthScale(bias: -100), true), (DepthScale(unit: .nan), true), (DepthScale(kind: .relative), false),
        (DepthScale(kind: .disparity, unit: -0.003), true),
        (DepthScale(kind: .disparity, unit: -0.003, bias: 3), false),
        (DepthScale(kind: .relative, unit: -1), true), (DepthScale(kind: .relativeInverted, unit: -1), false),
    ])
    func `a scale that measures nothing, or not what it seems to, has a complaint`(scale: DepthScale, hasOne: Bool) {
        #expect((scale.complaint(about: .gray16LE) != nil) == hasOne)
        #expect(scale.complaint(about: .float32LE) == nil)
    }

    @Test func aScaleThatIsNoNumberMeasuresNothing() {
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(DepthScale(unit: value).metres(count: 5, fullScale: 255) == nil)
            #expect(DepthScale(kind: .disparity, bias: value).metres(count: 5, fullScale: 255) == nil)
        }
    }
}

@Suite struct DepthImageTests {
    @Test func aPlaneThatIsTooSmallIsNoDepthMap() {
        let memory = GuardedPlane(rowBytes: 8, rows: 3) { _, _ in 0 }
        let plane = memory.plane.readOnly
        #expect(DepthImage(plane: plane, width: 4, height: 3, encoding: .gray16LE) != nil)
        #expect(DepthImage(plane: plane, width: 5, height: 3, encoding: .gray16LE) == nil)
        #expect(DepthImage(plane: plane, width: 4, height: 4, encoding: .gray16LE) == nil)
        #expect(DepthImage(plane: plane, width: 3, height: 3, encoding: .float32LE) == nil)
        #expect(DepthImage(plane: plane, width: 0, height: 3, encoding: .gray8) == nil)
        #expect(DepthImage(plane: plane, width: 4, height: -1, encoding: .gray8) == nil)
        #expect(DepthImage(plane: plane, width: .max, height: 3, encoding: .float32LE) == nil)
    }

    @Test func samplesOutsideTheMapAreNotMeasured() throws {
        let depth = try DepthMap(counts: [1, 2, 3, 4], width: 2)
        #expect(depth.image.metres(x: 1, y: 1, scale: DepthScale(unit: 1)) == 4)
        for (x, y) in [(-1, 0), (2, 0), (0, 2), (0, -1), (.max, .min)] {
            #expect(depth.image.metres(x: x, y: y, scale: DepthScale()) == nil)
        }
    }

    @Test func floatsAreMetresWhateverTheScale() throws {
        let depth = try DepthMap(metres: [1.5, .nan, -2, .infinity, 0], width: 5)
        #expect(depth.metres(DepthScale(unit: .nan)) == [1.5, 0, 0, 0, 0])
    }
}

@Suite struct DepthPlacementTests {
    @Test func aStretchedMapScalesEachAxisAsTheFormulaDoes() {
        let placement = DepthPlacement(depthWidth: 641, depthHeight: 479, videoWidth: 1919, videoHeight: 1081)
        for x in stride(from: 0.0, through: 1919, by: 0.75) {
            let point = placement.depthPoint(videoX: x, videoY: x / 2)
            #expect(point.x == x * 641 / 1919 && point.y == x / 2 * 479 / 1081)
        }
    }

    @Test func otherFitsKeepTheAspectAndTheMiddle() {
        func placement(_ fit: DepthFit) -> DepthPlacement {
            DepthPlacement(depthWidth: 640, depthHeight: 480, videoWidth: 1920, videoHeight: 1080, fit: fit)
        }
        for fit in [DepthFit.width, .cover] {
            #expect((placement(fit).left, placement(fit).top) == (0, -180))
            #expect((placement(fit).width, placement(fit).height) == (1920, 1440))
        }
        #expect((placement(.contain).left, placement(.contain).top) == (240, 0))
        #expect(placement(.contain).depthPoint(videoX: 960, videoY: 540) == (320, 240))
    }

    @Test func offsetsMoveAndTheScaleGrowsAboutTheMiddle() {
        let placement = DepthPlacement(
            depthWidth: 10, depthHeight: 10, videoWidth: 100, videoHeight: 100, offsetX: 5, offsetY: -10, scale: 2)
        #expect((placement.left, placement.top) == (-45, -60))
        #expect(placement.depthPoint(videoX: 55, videoY: 40) == (5, 5))
    }

    @Test func numbersThatAreNoneCountAsNotSet() {
        let plain = DepthPlacement(depthWidth: 4, depthHeight: 3, videoWidth: 8, videoHeight: 6)
        #expect(
            DepthPlacement(
                depthWidth: 4, depthHeight: 3, videoWidth: 8, videoHeight: 6, offsetX: .nan, offsetY: .nan, scale: .nan)
                == plain)
        let wild = DepthPlacement(
            depthWidth: .min, depthHeight: 0, videoWidth: -1, videoHeight: .max, offsetX: -.infinity, scale: 0)
        #expect(wild.width.isFinite && wild.width > 0 && wild.left.isFinite && wild.top.isFinite)
    }
}
