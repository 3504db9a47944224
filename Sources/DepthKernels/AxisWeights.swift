/// How samples are weighed when a picture changes its size.
enum ResampleKernel: Equatable {
    /// The two neighbours, by their nearness.
    case linear
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
            case .linear:
                interpolate(x, at: (Double(x) + 0.5) * scale + origin - 0.5, sourceCount: sourceCount)
            case .area:
                let start = Double(x) * scale + origin
                average(x, from: start, to: start + scale, sourceCount: sourceCount)
            }
        }
    }

    private static func taps(_ kernel: ResampleKernel, scale: Double, sourceCount: Int) -> Int {
        switch kernel {
        case .linear: return min(2, sourceCount)
        case .area: return min(ceilIndex(scale, in: 1...sourceCount) + 1, sourceCount)
        }
    }

    private mutating func interpolate(_ x: Int, at position: Double, sourceCount: Int) {
        let left = floorIndex(position, in: -2...(sourceCount + 1))
        let fraction = clamped(position - Double(left), to: 0...1, orIfNaN: 0)
        put([1 - fraction, fraction], of: x, from: left, sourceCount: sourceCount)
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
