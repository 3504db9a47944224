import DepthKernels
import TestSupport
import Testing

@Suite struct ThresholdTests {
    static let scales = [
        DepthScale(), DepthScale(unit: 0.000125), DepthScale(bias: -3), DepthScale(bias: 2, invalidCount: -1),
        DepthScale(bias: 0.5, invalidCount: 700), DepthScale(unit: -0.001, bias: 40, invalidCount: 65535),
        DepthScale(unit: 0), DepthScale(unit: 0, bias: 0.7), DepthScale(unit: 1e305, bias: -1e308),
        DepthScale(unit: .nan), DepthScale(bias: .infinity),
        DepthScale(kind: .disparity, unit: 0.0001),
        DepthScale(kind: .disparity, unit: 0.0001, bias: 0.8, invalidCount: -1),
        DepthScale(kind: .disparity, unit: -0.0001, bias: 3), DepthScale(kind: .disparity, unit: 0.00005, bias: -1),
        DepthScale(kind: .relative), DepthScale(kind: .relative, invalidCount: 65535),
        DepthScale(kind: .relativeInverted), DepthScale(invalidCount: -1), DepthScale(unit: -0.0001, bias: 5),
    ]

    /// Every 16-bit count once.
    static let allCounts = Array(0...65535)

    @Test(arguments: scales)
    func everyCountIsForegroundExactlyIfItsMetresSaySo(scale: DepthScale) throws {
        let depth = try DepthMap(counts: ThresholdTests.allCounts, width: 256)
        let metres = depth.metres(scale)
        for (near, cutoff) in [
            (0.0, 1.0), (0.4, 2.5), (0, 65.535), (-1, 0), (1, 1), (2, 1), (0, .infinity), (0.9995, 1.4),
        ] {
            for invert in [false, true] {
                let settings = MatteSettings.step(near: near, cutoff: cutoff, invert: invert)
                let expected = metres.map { m -> UInt8 in
                    m > 0 && (m > max(near, 0) && m <= cutoff) != invert ? 255 : 0
                }
                #expect(depth.alpha(settings, scale: scale) == expected, "\(near) \(cutoff) \(invert)")
            }
        }
    }

    @Test func theCutoffIsComparedAsInDoublePrecision() throws {
        // 0.001 · count is not the nearest double to every decimal; each count must pass its own product, not the next.
        let depth = try DepthMap(counts: ThresholdTests.allCounts, width: 256)
        for count in [1, 3, 9, 700, 1001, 4097, 65534, 65535] {
            let (own, scale) = (Double(count) * 0.001, DepthScale(invalidCount: -1))
            #expect(depth.alpha(.step(cutoff: own), scale: scale).filter { $0 == 255 }.count == count)
            #expect(depth.alpha(.step(cutoff: own.nextDown), scale: scale).filter { $0 == 255 }.count == count - 1)
        }
    }

    @Test func theOtherByteOrderAndEightBitsGiveTheSame() throws {
        let counts = (0..<256).map { $0 }
        let little = try DepthMap(counts: counts, width: 16)
        for encoding in [DepthEncoding.gray16BE, .gray8] {
            let other = try DepthMap(counts: counts, width: 16, encoding: encoding)
            var settings = MatteSettings.step(near: 0.02, cutoff: 0.2)
            #expect(little.alpha(settings) == other.alpha(settings))
            settings.featherFar = 0.1
            #expect(little.alpha(settings) == other.alpha(settings))
        }
    }

    @Test func floatsAreMetresAndWhatIsNoDistanceIsHidden() throws {
        let values: [Float] = [
            0, -0.0, 0.5, 1, 1 as Float + .ulpOfOne, .nan, .signalingNaN, .infinity, -.infinity, -1,
            .leastNonzeroMagnitude,
            3e38, 0.25, 0.25 as Float + 0.1, 2, 1 - .ulpOfOne,
        ]
        let depth = try DepthMap(metres: values, width: 16)
        for settings in [
            MatteSettings.step(cutoff: 1), .step(near: 0.25, cutoff: 1), .step(near: 0.25, cutoff: 1, invert: true),
        ] {
            let expected = values.map { value -> UInt8 in
                let measured = value > 0 && value.isFinite
                let inside = Double(value) > settings.near && Double(value) <= settings.cutoff
                return measured && inside != settings.invert ? 255 : 0
            }
            #expect(depth.alpha(settings) == expected)
        }
        #expect(
            depth.alpha(.step(cutoff: .infinity)).filter { $0 == 255 }.count == values.count { $0 > 0 && $0.isFinite })
    }

    @Test func everyHalfFloatIsReadAsItsValue() throws {
        let depth = try DepthMap(halves: Array(0...UInt16.max), width: 256)
        let metres = depth.metres()
        for bits in 0...UInt16.max {
            let value = Double(halfValue(bits))
            #expect(metres[Int(bits)] == (value > 0 && value.isFinite ? value : 0))
        }
        let settings = MatteSettings.step(near: 0.1, cutoff: 3)
        #expect(depth.alpha(settings) == metres.map { $0 > 0.1 && $0 <= 3 ? 255 : 0 })
    }

    /// IEEE 754 binary16 by its definition.
    private func halfValue(_ bits: UInt16) -> Float {
        let exponent = Int(bits >> 10 & 31)
        let fraction = Float(bits & 1023) / 1024
        let sign: Float = bits >> 15 == 0 ? 1 : -1
        if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
        let significand = exponent == 0 ? fraction : 1 + fraction
        return sign * Float(sign: .plus, exponent: max(exponent, 1) - 15, significand: 1) * significand
    }

    @Test func feathersRampInsideTheLimits() throws {
        var settings = MatteSettings.step(near: 1, cutoff: 2)
        settings.featherNear = 0.2
        settings.featherFar = 0.4
        let depth = try DepthMap(counts: [0, 900, 1000, 1100, 1200, 1500, 1600, 1700, 1900, 2000, 2001], width: 11)
        #expect(depth.alpha(settings) == [0, 0, 0, 128, 255, 255, 255, 191, 64, 0, 0])
        settings.invert = true
        #expect(depth.alpha(settings) == [0, 255, 255, 128, 0, 0, 0, 64, 191, 255, 255])
    }

    @Test func aFeatherNeverShowsWhatAStepHides() throws {
        let depth = try DepthMap(counts: ThresholdTests.allCounts, width: 256)
        var settings = MatteSettings.step(near: 0.7, cutoff: 1.7)
        let step = depth.alpha(settings)
        settings.featherFar = 0.3
        settings.featherNear = 5
        #expect(zip(depth.alpha(settings), step).allSatisfy { $0 <= $1 })
    }

    @Test func `a limit that is NaN shows nothing, nor the matte of the frame before`() throws {
        let depth = try DepthMap(counts: [Int](repeating: 500, count: 600), width: 30)
        let frame = MatteFrame(depth: depth.image, width: 41, height: 33)
        for path in [\MatteSettings.cutoff, \.near] {
            let matte = Matte()
            var settings = MatteSettings()
            matte.render(frame, settings)
            #expect(matte.finished.alpha.bytes.allSatisfy { $0 == 255 })
            settings[keyPath: path] = .nan
            matte.render(frame, settings)
            withExtendedLifetime(matte) { #expect(matte.finished.alpha.bytes.allSatisfy { $0 == 0 }) }
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e300, .leastNonzeroMagnitude, .signalingNaN])
    func noNumberInTheSettingsTraps(number: Double) throws {
        var random = RepeatableRandomNumberGenerator(seed: 3)
        let counts = (0..<600).map { _ in Int.random(in: 0...3000, using: &random) }
        let maps = [
            try DepthMap(counts: counts, width: 30), try DepthMap(metres: counts.map { Float($0) / 1000 }, width: 30),
        ]
        let paths: [WritableKeyPath<MatteSettings, Double>] = [
            \.cutoff, \.near, \.featherNear, \.featherFar, \.blurRadius, \.gamma,
        ]
        for depth in maps {
            for path in paths {
                for invert in [false, true] {
                    var settings = MatteSettings()
                    settings.invert = invert
                    settings[keyPath: path] = number
                    let alpha = depth.alpha(settings, videoWidth: 41, videoHeight: 33)
                    let isLimit = path == \.cutoff || path == \.near
                    if isLimit, number.isNaN { #expect(alpha.allSatisfy { $0 == 0 }) }
                }
            }
        }
    }
}
