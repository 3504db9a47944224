import DepthKernels
import TestSupport
import Testing

@Suite struct UnmeasuredTests {
    @Test(arguments: [
        DepthScale(), DepthScale(invalidCount: 700), DepthScale(unit: 0.01, bias: -3, invalidCount: -1),
        DepthScale(kind: .disparity, unit: -0.001, bias: 1.2), DepthScale(kind: .relativeInverted),
    ])
    func `the share is that of the samples of every eighth row that stand for no distance`(scale: DepthScale) throws {
        for width in 1...130 {
            let counts = (0..<width * 9).map { [0, 65535, 700, 299, 1500, 0][($0 &* 7) % 6] }
            let depth = try DepthMap(counts: counts, width: width)
            let looked = [0, 8].flatMap { y in
                (0..<width).map { depth.image.metres(x: $0, y: y, scale: scale) }
            }
            let expected = Double(looked.count { $0 == nil }) / Double(2 * width)
            for loops in usableLoops {
                #expect(
                    unmeasuredShare(of: depth.image, scale: scale, loops: loops) == expected,
                    "\(width) wide, \(loops)")
            }
        }
    }
}
