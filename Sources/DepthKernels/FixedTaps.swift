/// For each video pixel along one axis, the four samples of the depth map that it is made of, and their weights in whole
/// numbers.
///
/// Coordinates as in `AxisWeights`. Some taps may lie up to two samples beyond either end of the map, where that repeats
/// its last sample.
struct FixedTaps {
    /// What the weights of a column's pixels add up to, and those of a row's.
    static let columnUnit = 32768.0
    static let rowUnit = 255 * 128.0

    /// The first of the four; −2 at least.
    let first: [Int]
    /// Four for each pixel.
    let weights: [Int16]
    /// How many samples a pixel may depend on, how far behind its first tap they begin, and where at most.
    private let span: Int
    private let inset: Int
    private let last: Int

    /// - Precondition: as for `AxisWeights`.
    init(_ upscale: Upscale, count: Int, sourceCount: Int, scale: Double, origin: Double, unit: Double) {
        let isCubic = upscale == .bicubic
        let positions = (0..<count).map { (Double($0) + 0.5) * scale + origin - 0.5 }
        let left = positions.map { floorIndex($0, in: -1...(sourceCount - 1)) }
        first = left.map { $0 - 1 }
        weights = zip(positions, left).flatMap { position, left in
            let fraction = clamped(position - Double(left), to: 0...1, orIfNaN: 0)
            return FixedTaps.fixed(isCubic ? keysWeights(fraction) : [0, 1 - fraction, fraction, 0], unit: unit)
        }
        span = min(isCubic ? 4 : 2, sourceCount)
        inset = isCubic ? 0 : 1
        last = sourceCount - span
    }

    /// The samples that a pixel may depend on, all of them on the map.
    func sources(of index: Int) -> Range<Int> {
        let start = min(max(first[index] &+ inset, 0), last)
        return start..<(start &+ span)
    }

    /// - Precondition: no weight is above 1 in size.
    static func fixed(_ weights: [Double], unit: Double) -> [Int16] {
        weights.map { Int16(clamping: Int(($0 * unit).rounded())) }
    }

    func weights(of index: Int) -> SIMD4<Int16> {
        SIMD4(
            weights[4 &* index], weights[4 &* index &+ 1], weights[4 &* index &+ 2], weights[4 &* index &+ 3])
    }
}

/// The weights of the samples at −1, 0, 1 and 2, for a point `t` (0…1) behind sample 0: Keys' cubic convolution with
/// A = −0.75 (Keys, "Cubic convolution interpolation for digital image processing", IEEE Trans. ASSP 29(6), 1981). Plain
/// four taps when shrinking too, as `cv2.INTER_CUBIC`.
package func keysWeights(_ t: Double) -> [Double] {
    let a = -0.75
    func inner(_ d: Double) -> Double { ((a + 2) * d - (a + 3)) * d * d + 1 }
    func outer(_ d: Double) -> Double { ((a * d - 5 * a) * d + 8 * a) * d - 4 * a }
    return [outer(1 + t), inner(t), inner(1 - t), outer(2 - t)]
}
