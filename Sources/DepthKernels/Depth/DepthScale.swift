/// The relation between the counts of a depth map and metres.
package struct DepthScale: Equatable, Sendable {
    package enum Kind: Int, Sendable, CaseIterable {
        /// Counts grow with distance: `metres = count · unit + bias`.
        case metric
        /// Counts grow with nearness: `1 / metres = count · unit + bias`.
        case disparity
        /// Counts grow with nearness and have no unit: `1 / metres = count / full scale`.
        case relative
    }

    package var kind: Kind
    /// Metres, or 1/metres, for each count.
    package var unit: Double
    /// Metres, or 1/metres, at count 0.
    package var bias: Double
    /// The count that means "not measured"; -1 where every count is measured.
    package var invalidCount: Int

    package init(kind: Kind = .metric, unit: Double = 0.001, bias: Double = 0, invalidCount: Int = 0) {
        self.kind = kind
        self.unit = unit
        self.bias = bias
        self.invalidCount = invalidCount
    }

    /// The distance that `count` stands for, in metres; nil where it was not measured.
    ///
    /// The invalid count, and every count whose result is not finite or not above 0, is not measured. (So count 0 of a
    /// metric scale without bias is not measured even where no count is invalid.)
    ///
    /// - Parameter fullScale: the largest count that the samples can hold: 255 or 65535.
    package func metres(count: Int, fullScale: Int) -> Double? {
        guard count != invalidCount, isUsable else { return nil }
        let distance = distance(count: count, fullScale: fullScale)
        return distance > 0 && distance.isFinite ? distance : nil
    }

    /// False where unit or bias is NaN or infinite: such a scale measures nothing.
    var isUsable: Bool { kind == .relative || (unit.isFinite && bias.isFinite) }

    /// The formula of `metres(count:fullScale:)`, without the check for samples that are not measured; monotone in
    /// `count`, and +∞ where the inverse distance is not above 0.
    func distance(count: Int, fullScale: Int) -> Double {
        switch kind {
        case .metric: return Double(count) * unit + bias
        case .disparity: return inverse(Double(count) * unit + bias)
        case .relative: return inverse(Double(count) / Double(fullScale))
        }
    }

    private func inverse(_ value: Double) -> Double { value > 0 ? 1 / value : .infinity }

    /// True where a higher count is as far away or farther.
    var growsWithDistance: Bool {
        switch kind {
        case .metric: return unit >= 0
        case .disparity: return unit < 0
        case .relative: return false
        }
    }
}

/// The counts that lie between two distances: a range without its invalid count.
///
/// Distance is monotone in the count, so the counts between two distances are contiguous. Their ends are found once for
/// each frame by the formula in double precision; samples are then compared as integers, with the same result as if
/// each were converted to metres.
struct CountRange: Equatable {
    /// First count inside.
    var start: Int
    /// One more than the last count inside; equal to `start` where no count is inside.
    var end: Int
    /// A count between the two that is not inside; -1 for none.
    var hole: Int

    /// The counts with `near < metres <= cutoff` that are measured.
    init(near: Double, cutoff: Double, scale: DepthScale, fullScale: Int) {
        func isBehindNear(_ count: Int) -> Bool {
            scale.distance(count: count, fullScale: fullScale) > max(near, 0)
        }
        func isWithinCutoff(_ count: Int) -> Bool {
            let distance = scale.distance(count: count, fullScale: fullScale)
            return distance <= cutoff && distance.isFinite
        }
        hole = scale.invalidCount
        let counts = fullScale + 1
        guard scale.isUsable, !near.isNaN, !cutoff.isNaN else {
            (start, end) = (0, 0)
            return
        }
        if scale.growsWithDistance {
            start = partitionPoint(counts, where: isBehindNear)
            end = max(start, partitionPoint(counts) { !isWithinCutoff($0) })
        } else {
            start = partitionPoint(counts, where: isWithinCutoff)
            end = max(start, partitionPoint(counts) { !isBehindNear($0) })
        }
    }

    /// All measured counts.
    init(measuredBy scale: DepthScale, fullScale: Int) {
        self.init(near: 0, cutoff: .infinity, scale: scale, fullScale: fullScale)
    }

    @inline(__always)
    func contains(_ count: Int) -> Bool { count >= start && count < end && count != hole }
}
