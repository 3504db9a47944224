import DepthKernels
import TestSupport
import Testing

@Suite struct UnmeasuredTests {
    @Test(arguments: [
        DepthScale(), DepthScale(invalidCount: 700), DepthScale(unit: 0.01, bias: -3, invalidCount: -1),
        DepthScale(kind: .disparity, unit: -0.001, bias: 1.2), DepthScale(kind: .relativeInverted),
    ])
    func `the share is that of the samples that stand for no distance, in the rows that are read`(
        scale: DepthScale
    ) throws {
        for width in 1...130 {
            let counts = (0..<width * 9).map { [0, 65535, 700, 299, 1500, 0][($0 &* 7) % 6] }
            let depth = try DepthMap(counts: counts, width: width)
            for (method, rows) in [(MatteMethod.threshold, [0, 8]), (.fusion, Array(0..<9))] {
                let samples = rows.flatMap { y in (0..<width).map { depth.image.metres(x: $0, y: y, scale: scale) } }
                let expected = Double(samples.count { $0 == nil }) / Double(samples.count)
                for loops in usableLoops {
                    let matte = Matte(loops: loops)
                    var settings = MatteSettings()
                    (settings.method, settings.anchor.mode, settings.depth.scale) = (method, .fixed, scale)
                    matte.render(MatteFrame(depth: depth.image, width: width, height: 9), settings)
                    #expect(matte.report.unmeasured == expected, "\(width) wide, \(method), \(loops)")
                }
            }
        }
    }
}
