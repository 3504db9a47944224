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
