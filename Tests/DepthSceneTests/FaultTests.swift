import DepthScene
import Testing

@Suite struct FaultTests {
    /// Four columns at exactly 1, 2, 3 and 4 metres, and many rows.
    private static let rows = 20_000
    private let steps = SceneRenderer(scene: Scene(pattern: .ramp, seed: 3), width: 4, height: FaultTests.rows)

    private func column(_ index: Int, _ samples: [Float]) -> [Float] {
        (0..<FaultTests.rows).map { samples[$0 * 4 + index] }
    }

    @Test(arguments: [0, 1])
    func `noise has its deviation at one metre and four times it at two`(index: Int) {
        let samples = column(index, steps.depth(at: 0, noise: 0.01).floats).map(Double.init)
        let mean = samples.reduce(0, +) / Double(samples.count)
        let variance = samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(samples.count)
        let metres = Double(index + 1)
        #expect(abs(mean - metres) < 0.002)
        #expect(abs(variance.squareRoot() / (0.01 * metres * metres) - 1) < 0.1)
    }

    @Test(arguments: [0.0, 0.05, 0.5, 1.0])
    func `holes are the share that was asked for`(share: Double) {
        let samples = steps.depth(at: 0, holes: share).floats
        let lost = Double(samples.count { $0 == 0 }) / Double(samples.count)
        #expect(abs(lost - share) < 0.01)
        if share == 0 { #expect(lost == 0) }
        if share == 1 { #expect(lost == 1) }
    }

    @Test func `holes leave the other samples as they are`() {
        let whole = steps.depth(at: 0, noise: 0.02).floats
        let holed = steps.depth(at: 0, noise: 0.02, holes: 0.2).floats
        #expect(zip(whole, holed).allSatisfy { $1 == 0 || $0 == $1 })
    }

    @Test func `noise changes with the frame and the seed`() {
        let first = steps.depth(at: 0, frame: 0, noise: 0.01).bytes
        #expect(first != steps.depth(at: 0, frame: 1, noise: 0.01).bytes)
        #expect(first != steps.depth(at: 0, frame: 1 << 32, noise: 0.01).bytes)
        let other = SceneRenderer(scene: Scene(pattern: .ramp, seed: 4), width: 4, height: FaultTests.rows)
        #expect(first != other.depth(at: 0, frame: 0, noise: 0.01).bytes)
    }

    @Test(arguments: [1, 1e9, Double.infinity])
    func `no noise makes a sample negative or infinite`(noise: Double) {
        let samples = steps.depth(at: 0, noise: noise).floats
        #expect(samples.allSatisfy { $0 > 0 && $0.isFinite })
    }
}
