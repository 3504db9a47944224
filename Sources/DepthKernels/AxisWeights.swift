/// How samples are weighed when a picture changes its size.
enum ResampleKernel: Equatable {
    /// The two neighbours, by their nearness.
    case linear
    /// Keys' cubic convolution with A = −0.75: four neighbours (Keys, "Cubic convolution interpolation for digital
    /// image processing", IEEE Trans. ASSP 29(6), 1981). Plain four taps when shrinking too, as `cv2.INTER_CUBIC`.
    case cubic
    /// Everything under the new sample, by its area; for shrinking only, as `cv2.INTER_AREA`.
    case area
}

/// For each new sample along one axis, the old samples it is made of and their weights.
///
/// Coordinates count sample edges: new sample x reaches from x to x + 1, which lies at `x · scale + origin` on the old
/// axis. Beyond its ends the old axis repeats its last sample; the weights of such samples are added to that of the
/// last one, so that a loop over the taps stays inside.
struct AxisWeights {
    /// Old samples for each new one; never more than there are.
    let taps: Int
    /// The first of them.
    private(set) var first: [Int]
    /// `taps` weights for each new sample; they add up to 1.
    private(set) var weights: [Float]

    /// - Precondition: `count` and `sourceCount` are above 0, `scale` and `origin` are finite, `scale > 0`.
    init(_ kernel: ResampleKernel, count: Int, sourceCount: Int, scale: Double, origin: Double) {
        taps = AxisWeights.taps(kernel, scale: scale, sourceCount: sourceCount)
        first = [Int](repeating: 0, count: count)
        weights = [Float](repeating: 0, count: count * taps)
        for x in 0..<count {
            switch kernel {
            case .linear, .cubic:
                interpolate(x, kernel: kernel, at: (Double(x) + 0.5) * scale + origin - 0.5, sourceCount: sourceCount)
            case .area:
                let start = Double(x) * scale + origin
                average(x, from: start, to: start + scale, sourceCount: sourceCount)
            }
        }
    }

    private static func taps(_ kernel: ResampleKernel, scale: Double, sourceCount: Int) -> Int {
        switch kernel {
        case .linear: return min(2, sourceCount)
        case .cubic: return min(4, sourceCount)
        case .area: return min(ceilIndex(scale, in: 1...sourceCount) + 1, sourceCount)
        }
    }

    private mutating func interpolate(_ x: Int, kernel: ResampleKernel, at position: Double, sourceCount: Int) {
        let left = floorIndex(position, in: -2...(sourceCount + 1))
        let fraction = clamped(position - Double(left), to: 0...1, orIfNaN: 0)
        if kernel == .linear {
            put([1 - fraction, fraction], of: x, from: left, sourceCount: sourceCount)
        } else {
            put(keysWeights(fraction), of: x, from: left - 1, sourceCount: sourceCount)
        }
    }

    private mutating func average(_ x: Int, from start: Double, to end: Double, sourceCount: Int) {
        let left = floorIndex(start, in: 0...(sourceCount - 1))
        let shares = (0..<taps).map { tap in
            let edge = Double(left + tap)
            // The sliver that rounding leaves beside a whole number of samples is none.
            let share = min(end, edge + 1, Double(sourceCount)) - max(start, edge)
            return share > 1e-3 ? share : 0
        }
        let sum = shares.reduce(0, +)
        put(sum > 0 ? shares.map { $0 / sum } : [1], of: x, from: left, sourceCount: sourceCount)
    }

    private mutating func put(_ values: [Double], of x: Int, from start: Int, sourceCount: Int) {
        let base = min(max(start, 0), sourceCount - taps)
        first[x] = base
        for (tap, value) in values.enumerated() {
            let sample = min(max(start + tap, 0), sourceCount - 1)
            weights[x * taps + sample - base] += Float(value)
        }
    }
}

/// The same in whole numbers: four taps for each new sample, some of which may lie up to two samples beyond either end of
/// the old axis, where that repeats its last sample.
struct FixedTaps {
    /// What the weights of a column's pixels add up to, and those of a row's.
    static let columnUnit = 32768.0
    static let rowUnit = 255 * 128.0

    /// The first of the four; −2 at least.
    let first: [Int]
    /// Four for each new sample.
    let weights: [Int16]
    /// Old samples that a new one may depend on…
    private let span: Int
    /// …and the first of them, all inside the old axis.
    private let firstInside: [Int]

    /// - Precondition: as for `AxisWeights`; the kernel is not `area`.
    init(
        _ kernel: ResampleKernel, count: Int, sourceCount: Int, scale: Double, origin: Double, unit: Double
    ) {
        let positions = (0..<count).map { (Double($0) + 0.5) * scale + origin - 0.5 }
        let left = positions.map { floorIndex($0, in: -1...(sourceCount - 1)) }
        first = left.map { $0 - 1 }
        weights = zip(positions, left).flatMap { position, left in
            let fraction = clamped(position - Double(left), to: 0...1, orIfNaN: 0)
            let weights = kernel == .linear ? [0, 1 - fraction, fraction, 0] : keysWeights(fraction)
            return FixedTaps.fixed(weights, unit: unit)
        }
        let (span, outer) = kernel == .linear ? (2, 0) : (4, 1)
        self.span = min(span, sourceCount)
        let last = sourceCount - self.span
        firstInside = left.map { min(max($0 - outer, 0), last) }
    }

    /// The old samples that a new one may depend on.
    func sources(of index: Int) -> Range<Int> { firstInside[index]..<(firstInside[index] &+ span) }

    /// - Precondition: no weight is above 1 in size.
    static func fixed(_ weights: [Double], unit: Double) -> [Int16] {
        weights.map { Int16(clamping: Int(($0 * unit).rounded())) }
    }

    func weights(of index: Int) -> SIMD4<Int16> {
        SIMD4(
            weights[4 &* index], weights[4 &* index &+ 1], weights[4 &* index &+ 2], weights[4 &* index &+ 3])
    }
}

/// The weights of the samples at −1, 0, 1 and 2, for a point `t` (0…1) behind sample 0.
package func keysWeights(_ t: Double) -> [Double] {
    let a = -0.75
    func inner(_ d: Double) -> Double { ((a + 2) * d - (a + 3)) * d * d + 1 }
    func outer(_ d: Double) -> Double { ((a * d - 5 * a) * d + 8 * a) * d - 4 * a }
    return [outer(1 + t), inner(t), inner(1 - t), outer(2 - t)]
}
