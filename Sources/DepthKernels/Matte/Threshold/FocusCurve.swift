/// A threshold in nearness (inverse distance) about a focus.
///
/// With d = min(1/metres, 1) (for `relative` depth, the count over the full scale), and w = 2 / slope + width:
///
///     high-pass    v = clamp(slope · (d − focus + w/2))
///     band-pass    v = min(clamp(slope · (d − focus + w/2)), clamp(slope · (focus + w/2 − d)))
///
///     v                                       v
///     1 |              ____________           1 |         ___________  width
///       |             /                         |        /     |     \  1/slope
///     0 |____________/_______________ d       0 |_______/______|______\______ d
///              focus − w/2                                   focus
///
/// Source: the masks of Yono Mittlefehldt, "Video Depth Maps Tutorial for iOS: Getting Started" (2018), there for
/// disparity of 0…1.
struct FocusCurve: Equatable {
    private let isBand: Bool
    private let start: Double
    private let end: Double
    private let slope: Double

    /// Returns nil for a shape that has no focus.
    ///
    /// - Parameter settings: clamped.
    init?(_ settings: MatteSettings) {
        guard settings.mask != .cutoff else { return nil }
        let reach = 1 / settings.slope + settings.width / 2
        isBand = settings.mask == .bandPass
        start = settings.focus - reach
        end = settings.focus + reach
        slope = settings.slope
    }

    /// The opacity of one sample.
    ///
    /// - Precondition: `metres` is above 0 and finite.
    @inline(__always)
    func opacity(metres: Double) -> Double {
        let nearness = min(1 / metres, 1)
        let rising = min(max(slope * (nearness - start), 0), 1)
        guard isBand else { return rising }
        return min(rising, min(max(slope * (end - nearness), 0), 1))
    }
}
