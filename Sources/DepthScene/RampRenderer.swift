import DepthKernels

/// The pattern `ramp`: depth that rises evenly from left to right.
///
///     depth at the centre of column x = 0.5 + 4 · (x + 0.5) / width    metres
///
/// The video is a grey of the same course, 255 at 0.5 m and 0 at 4.5 m, with a dark bar where the depth is a multiple
/// of half a metre. The matte is 255 where the depth is at most 1 m; the pixel that holds the boundary has its share
/// of it.
extension SceneRenderer {
    static let rampStart: Float = 0.5
    static let rampRise: Float = 4
    /// The farthest depth that counts as foreground, in metres.
    static let rampCutoff: Float = 1
    private static let barSpacing: Float = 0.5
    /// Metres either side of a bar's middle.
    private static let barHalfWidth: Float = 0.02
    private static let barShade: Float = 0.35

    func rampDepth(_ column: Int) -> Float {
        SceneRenderer.rampStart + SceneRenderer.rampRise * (Float(column) + 0.5) / Float(width)
    }

    func drawRampDepth(faults: DepthFaults, into plane: MutablePlane) {
        for row in 0..<height {
            for column in 0..<width { samples[column] = rampDepth(column) }
            faults.apply(to: &samples, count: width, row: row)
            for column in 0..<width { plane.store(samples[column], row, column) }
        }
    }

    func drawRampVideo(into plane: MutablePlane) {
        for row in 0..<height {
            for column in 0..<width {
                let depth = rampDepth(column)
                let grey = 255 * (1 - (depth - SceneRenderer.rampStart) / SceneRenderer.rampRise)
                let shade = 1 - (1 - SceneRenderer.barShade) * barCoverage(depth)
                plane.store(Colour(repeating: grey * shade).opacity(255).bytes, row, column)
            }
        }
    }

    func drawRampMatte(into plane: MutablePlane) {
        let boundary =
            (SceneRenderer.rampCutoff - SceneRenderer.rampStart) / SceneRenderer.rampRise * Float(width)
        for row in 0..<height {
            for column in 0..<width {
                let share = Numeric.clamp(boundary - Float(column))
                plane.store(UInt8(truncatingIfNeeded: Numeric.integer(share * 255 + 0.5, 0, 255)), row, column)
            }
        }
    }

    /// How much of a column whose centre has this depth lies in a bar.
    private func barCoverage(_ depth: Float) -> Float {
        let spacing = SceneRenderer.barSpacing
        let away = abs(depth - (depth / spacing).rounded() * spacing)
        let metresPerPixel = SceneRenderer.rampRise / Float(width)
        let widest = min(1, 2 * SceneRenderer.barHalfWidth / metresPerPixel)
        return Numeric.clamp((SceneRenderer.barHalfWidth - away) / metresPerPixel + 0.5, 0, widest)
    }
}
