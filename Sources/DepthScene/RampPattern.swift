/// The pattern `ramp`: depth that rises evenly from left to right.
///
///     depth at the center of column x = 0.5 + 4 · (x + 0.5) / width    metres
///
/// The video is a gray of the same course, 255 at 0.5 m and 0 at 4.5 m, with a dark bar where the depth is a multiple
/// of half a metre. The matte is 255 where the depth is at most 1 m; the pixel that holds the boundary has its share
/// of it.
struct RampPattern {
    let width: Int

    private static let (start, rise): (Float, Float) = (0.5, 4)
    /// The farthest depth that counts as foreground, in metres.
    private static let cutoff: Float = 1
    /// Metres from one bar's middle to the next, and from its middle to its sides.
    private static let (barSpacing, barHalfWidth): (Float, Float) = (0.5, 0.02)
    private static let barShade: Float = 0.35

    func depth(_ column: Int) -> Float {
        RampPattern.start + RampPattern.rise * (Float(column) + 0.5) / Float(width)
    }

    func color(_ column: Int) -> Color {
        let depth = depth(column)
        let gray = 255 * (1 - (depth - RampPattern.start) / RampPattern.rise)
        return Color(repeating: gray * (1 - (1 - RampPattern.barShade) * barCoverage(depth)))
    }

    /// The share of a column that is foreground.
    func share(_ column: Int) -> Float {
        Numeric.clamp((RampPattern.cutoff - RampPattern.start) / RampPattern.rise * Float(width) - Float(column))
    }

    /// The share of a column that lies in a bar, where its center has this depth.
    private func barCoverage(_ depth: Float) -> Float {
        let (spacing, halfWidth) = (RampPattern.barSpacing, RampPattern.barHalfWidth)
        let away = abs(depth - (depth / spacing).rounded() * spacing)
        let metresPerPixel = RampPattern.rise / Float(width)
        return Numeric.clamp((halfWidth - away) / metresPerPixel + 0.5, 0, min(1, 2 * halfWidth / metresPerPixel))
    }
}
