import DepthKernels
import TestSupport
import Testing

@Suite struct FocusMaskTests {
    /// The threshold alone.
    private func settings(
        _ mask: MaskShape, focus: Double = 0.5, slope: Double = 4, width: Double = 0.1, invert: Bool = false
    ) -> MatteSettings {
        var settings = MatteSettings.step(cutoff: 1, invert: invert)
        settings.mask = mask
        settings.focus = focus
        settings.slope = slope
        settings.width = width
        return settings
    }

    private let relative = DepthScale(kind: .relative, invalidCount: -1)

    /// The tutorial's numbers: slope 4 and width 0.1 make w = 2/4 + 0.1 = 0.6, so about a focus of 0.5 the mask begins
    /// to rise at 0.2, is full from 0.45 to 0.55, and ends at 0.8.
    @Test func theTutorialsSoftMasksBeginAndEndWhereItSays() throws {
        let shares = [0.19, 0.2, 0.325, 0.45, 0.5, 0.55, 0.675, 0.8, 0.81, 1]
        let depth = try DepthMap(counts: shares.map { Int(($0 * 65535).rounded()) }, width: shares.count)
        let band = depth.alpha(settings(.bandPass), scale: relative)
        #expect(Difference(band, [0, 0, 128, 255, 255, 255, 128, 0, 0, 0]).largest <= 1)
        let high = depth.alpha(settings(.highPass), scale: relative)
        #expect(Difference(high, [0, 0, 128, 255, 255, 255, 255, 255, 255, 255]).largest <= 1)
    }

    /// Its sharp masks: slope 10 makes w = 0.2 + 0.1 = 0.3.
    @Test func theTutorialsSharpMasksBeginAndEndWhereItSays() throws {
        let shares = [0.34, 0.36, 0.44, 0.46, 0.54, 0.56, 0.64, 0.66]
        let depth = try DepthMap(counts: shares.map { Int(($0 * 65535).rounded()) }, width: shares.count)
        let band = depth.alpha(settings(.bandPass, slope: 10), scale: relative)
        #expect(Difference(band, [0, 26, 230, 255, 255, 230, 26, 0]).largest <= 1)
        let high = depth.alpha(settings(.highPass, slope: 10), scale: relative)
        #expect(Difference(high, [0, 26, 230, 255, 255, 255, 255, 255]).largest <= 1)
    }

    @Test(arguments: [
        (MaskShape.highPass, 0.5, 4.0, 0.1), (.bandPass, 0.5, 4, 0.1), (.highPass, 0.3, 10, 0),
        (.bandPass, 0.7, 10, 0.3),
        (.bandPass, 0, 0.1, 1), (.highPass, 1, 100, 1), (.bandPass, 0.25, 100, 0),
    ])
    func everyKindOfDepthIsMaskedByTheFormula(mask: MaskShape, focus: Double, slope: Double, width: Double) throws {
        let counts = (0..<512).map { $0 * 16 }
        let scales = [
            DepthScale(), DepthScale(kind: .disparity, unit: 0.0002, bias: 0.05, invalidCount: -1),
            DepthScale(kind: .disparity, unit: -0.0001, bias: 0.8), DepthScale(kind: .relative),
        ]
        let metres = counts.map { Float($0) / 1000 } + [.nan, .infinity, -1, -.infinity]
        var maps = try scales.map { (try DepthMap(counts: counts, width: 32), $0) }
        maps.append((try DepthMap(metres: metres, width: 4), DepthScale()))
        maps.append(
            (try DepthMap(counts: (0..<256).map { $0 }, width: 16, encoding: .gray8), DepthScale(kind: .relative)))
        maps.append((try DepthMap(halves: Array(0...UInt16.max), width: 256), DepthScale()))
        for (depth, scale) in maps {
            for invert in [false, true] {
                let settings = settings(mask, focus: focus, slope: slope, width: width, invert: invert)
                let difference = depth.difference(settings, scale: scale)
                #expect(difference.largest <= 1 && difference.mean <= 0.25, "\(scale) \(invert)")
            }
        }
    }

    @Test func whatIsNearerThanAMetreIsAsNearAsCanBe() throws {
        let depth = try DepthMap(counts: [1, 500, 999, 1000, 2000], width: 5)
        #expect(depth.alpha(settings(.highPass, focus: 1, slope: 100, width: 0)) == [255, 255, 255, 255, 0])
        // A band about 1 m holds all that is nearer.
        #expect(depth.alpha(settings(.bandPass, focus: 1, slope: 100, width: 0)) == [255, 255, 255, 255, 0])
    }

    @Test func whatWasNotMeasuredIsHiddenEvenInverted() throws {
        let counts = try DepthMap(counts: [0, 0, 0, 0], width: 4)
        let floats = try DepthMap(metres: [.nan, .infinity, 0, -3], width: 4)
        for mask in [MaskShape.highPass, .bandPass] {
            for invert in [false, true] {
                #expect(counts.alpha(settings(mask, invert: invert)) == [0, 0, 0, 0])
                #expect(counts.alpha(settings(mask, invert: invert), scale: relative) == [0, 0, 0, 0])
                #expect(floats.alpha(settings(mask, invert: invert)) == [0, 0, 0, 0])
            }
        }
    }

    @Test func theLimitsOfTheCutoffDoNotCountWithAFocusNorTheOtherWayRound() throws {
        let depth = try DepthMap(counts: [500, 1500, 2500, 9000], width: 4)
        var focused = settings(.highPass, focus: 0.4, slope: 100, width: 0)
        let plain = depth.alpha(focused)
        focused.cutoff = 0
        focused.near = 100
        focused.featherFar = 5
        #expect(depth.alpha(focused) == plain)
        var cut = MatteSettings.step(cutoff: 2)
        cut.focus = .nan
        cut.slope = .nan
        #expect(depth.alpha(cut) == [255, 255, 0, 0])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 0, 1e300])
    func noNumberInAFocusTraps(number: Double) throws {
        let paths: [WritableKeyPath<MatteSettings, Double>] = [\.focus, \.slope, \.width]
        let maps = [
            try DepthMap(counts: [0, 700, 1500, 65535], width: 4), try DepthMap(metres: [.nan, 1, 2, 3], width: 4),
        ]
        for path in paths {
            for mask in [MaskShape.highPass, .bandPass] {
                var settings = settings(mask)
                settings[keyPath: path] = number
                for depth in maps {
                    let alpha = depth.alpha(settings)
                    #expect(alpha[0] == 0)
                    if path == \.focus, number.isNaN { #expect(alpha.allSatisfy { $0 == 0 }) }
                }
            }
        }
    }
}
