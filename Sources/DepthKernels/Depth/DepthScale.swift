/// The relation between the counts of a depth map and metres.
package struct DepthScale: Equatable, Sendable {
    package enum Kind: Int, Sendable, CaseIterable {
        /// `metres = count · unit + bias`: counts grow with distance, unless the unit is negative.
        case metric
        /// `1 / metres = count · unit + bias`: counts grow with nearness, unless the unit is negative.
        case disparity
        /// Counts grow with nearness and have no unit: `1 / metres = count / full scale`.
        case relative
        /// The same turned round: `1 / metres = 1 − count / full scale`.
        case relativeInverted

        package var isRelative: Bool { self == .relative || self == .relativeInverted }
    }

    package var kind: Kind
    /// Metres, or 1/metres, for each count.
    package var unit: Double
    /// Metres, or 1/metres, at count 0.
    package var bias: Double
    /// The count that means "not measured"; -1 where every count is measured; -2 for 0, or for none where 0 is the nearest
    /// count of a map of nearness.
    ///
    /// Cameras and data sets also write 65535 for what they did not measure. So this count of a metric scale that grows
    /// with distance is not measured either, unless every count is. (The 255 of 8 bits is the farthest thing.)
    package var invalidCount: Int

    package init(kind: Kind = .metric, unit: Double = 0.001, bias: Double = 0, invalidCount: Int = -2) {
        self.kind = kind
        self.unit = unit
        self.bias = bias
        self.invalidCount = invalidCount
    }

    /// The distance that `count` stands for, in metres; nil where it was not measured.
    ///
    /// The invalid counts, and every count whose result is not finite or not above 0, are not measured. (So count 0 of a
    /// metric scale without bias is not measured even where no count is invalid.)
    ///
    /// - Parameter fullScale: the largest count that the samples can hold: 255 or 65535.
    package func metres(count: Int, fullScale: Int) -> Double? {
        guard count != hole, count <= lastCount(fullScale), isUsable else { return nil }
        let distance = distance(count: count, fullScale: fullScale)
        return distance > 0 && distance.isFinite ? distance : nil
    }

    /// The count that means "not measured", besides those above `lastCount`; -1 for none. Decides what -2 stands for.
    fileprivate var hole: Int {
        invalidCount != -2 ? invalidCount : kind != .metric && growsWithDistance ? -1 : 0
    }

    /// The largest count that may be measured.
    fileprivate func lastCount(_ fullScale: Int) -> Int {
        kind == .metric && growsWithDistance && invalidCount != -1 && fullScale > 255 ? fullScale - 1 : fullScale
    }

    /// False where unit or bias is NaN or infinite: such a scale measures nothing.
    var isUsable: Bool { kind.isRelative || (unit.isFinite && bias.isFinite) }

    /// The reason why the properties of a map do not mean what they seem to; nil where they do.
    package func complaint(about encoding: DepthEncoding) -> String? {
        guard let fullScale = encoding.fullScale else { return nil }
        if kind == .relative && unit < 0 {
            return "depth-kind=relative has no unit; for a map whose nearest count is 0 set relative-inverted instead."
        }
        let measured = CountRange(measuredBy: self, fullScale: fullScale)
        guard measured.start == measured.end else { return nil }
        return "With depth-unit=\(unit) and depth-bias=\(bias) no count is a distance above 0, so nothing is measured."
            + (unit < 0 ? " With a negative depth-unit set depth-bias to the value at count 0." : "")
    }

    /// The formula of `metres(count:fullScale:)`, without the check for samples that are not measured; monotone in
    /// `count`, and +∞ where the inverse distance is not above 0.
    func distance(count: Int, fullScale: Int) -> Double {
        switch kind {
        case .metric: return Double(count) * unit + bias
        case .disparity: return inverse(Double(count) * unit + bias)
        case .relative: return inverse(Double(count) / Double(fullScale))
        case .relativeInverted: return inverse(Double(fullScale &- count) / Double(fullScale))
        }
    }

    private func inverse(_ value: Double) -> Double { value > 0 ? 1 / value : .infinity }

    /// True where a higher count is as far away or farther.
    var growsWithDistance: Bool {
        kind == .relativeInverted || kind == .metric && unit >= 0 || kind == .disparity && unit < 0
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
        hole = scale.hole
        let counts = scale.lastCount(fullScale) + 1
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
