import DepthKernels
import DepthLoops
import Foundation
import TestSupport
import Testing

@Suite struct GammaTests {
    @Test func thePowerIsCloseOverTheWholeRange() {
        var worst = 0.0
        for gamma in [0.01, 0.1, 0.3, 0.45, 0.7, 0.99, 1.01, 1.7, 2.2, 3.3, 10] {
            for step in 0...4000 {
                let value = Float(pow(10, -Double(step) / 400))
                let exact = pow(Double(value), Double(Float(gamma)))
                guard exact > 1e-30 else { continue }
                worst = max(worst, abs(Double(power(value, Float(gamma))) / exact - 1))
            }
        }
        #expect(worst < 1e-5)
    }

    @Test func theEndsStayWhereTheyAre() {
        for gamma in [Float(0.01), 0.3, 1, 10] {
            #expect(power(0, gamma) == 0)
            #expect(power(1, gamma) == 1)
            #expect(power(.leastNormalMagnitude, gamma).isFinite)
        }
    }
}

@Suite struct KeysWeightTests {
    @Test func theWeightsAddUpToOneAndHitTheSamples() {
        for step in 0...100 {
            let weights = keysWeights(Double(step) / 100)
            #expect(abs(weights.sum() - 1) < 1e-12)
        }
        #expect(keysWeights(0) == [0, 1, 0, 0])
        #expect(keysWeights(0.5) == [-0.09375, 0.59375, 0.59375, -0.09375])
    }
}

@Suite struct PictureFitTests {
    private let red: [UInt8] = [200, 0, 0, 255]
    private let border = SIMD4<UInt8>(1, 2, 3, 4)

    private func fit(
        _ source: [UInt8], width: Int, into size: (width: Int, height: Int), _ fit: PictureFit
    ) -> [[UInt8]] {
        let still = GuardedPlane(rowBytes: width * 4, bytes: source)
        let target = GuardedPlane(rowBytes: size.width * 4, rows: size.height) { _, _ in 99 }
        #expect(
            fitPicture(
                source: still.plane.readOnly, sourceWidth: width, sourceHeight: still.rows, into: target.plane,
                width: size.width, height: size.height, fit: fit, border: border))
        #expect(target.guardsAreIntact)
        let bytes = target.bytes
        return stride(from: 0, to: bytes.count, by: 4).map { Array(bytes[$0..<($0 + 4)]) }
    }

    @Test func aContainedStillHasBordersInTheSmallerHalfFirst() {
        let square = [UInt8]((0..<4).flatMap { _ in red })
        let edge: [UInt8] = [1, 2, 3, 4]
        #expect(
            fit(square, width: 2, into: (5, 2), .contain) == [edge, red, red, edge, edge, edge, red, red, edge, edge])
        #expect(fit(square, width: 2, into: (1, 4), .contain) == [edge, red, edge, edge])
    }

    @Test func aStretchedStillFillsTheFrameAxisByAxis() {
        let source: [UInt8] = [0, 0, 0, 0, 100, 100, 100, 100, 200, 200, 200, 200, 40, 40, 40, 40]
        let wide = fit(source, width: 4, into: (2, 3), .stretch).map { $0[0] }
        #expect(wide == [50, 120, 50, 120, 50, 120])
        #expect(fit(source, width: 4, into: (8, 1), .stretch).map { $0[0] } == [0, 25, 75, 125, 175, 160, 80, 40])
    }

    @Test func everySizeIsFilledWithinThePicture() {
        let source = randomBytes(7 * 5 * 4, seed: 9).map { $0 / 2 + 64 }
        for fitting in PictureFit.allCases {
            for width in 1...33 {
                for height in [1, 2, 5, 19] {
                    let pixels = fit(source, width: 7, into: (width, height), fitting)
                    #expect(pixels.allSatisfy { $0 == [1, 2, 3, 4] || $0.allSatisfy { $0 >= 64 && $0 <= 191 } })
                }
            }
        }
    }

    @Test func wrongSizesAreRefused() {
        let still = GuardedPlane(rowBytes: 8, rows: 2) { _, _ in 7 }
        let target = GuardedPlane(rowBytes: 8, rows: 2) { _, _ in 9 }
        for (sourceWidth, sourceHeight, width, height) in [
            (3, 2, 2, 2), (2, 3, 2, 2), (2, 2, 3, 2), (2, 2, 2, 3), (0, 2, 2, 2), (2, 2, 2, 0), (.max, 2, 2, 2),
            (2, 2, .max, 1),
        ] {
            #expect(
                !fitPicture(
                    source: still.plane.readOnly, sourceWidth: sourceWidth, sourceHeight: sourceHeight,
                    into: target.plane, width: width, height: height, fit: .cover, border: border))
        }
        #expect(target.bytes.allSatisfy { $0 == 9 })
    }
}
