/// How the depth map is made larger: from its own size to the video's.
package enum Upscale: Int, Sendable, CaseIterable {
    /// Keys' cubic with B = 0, C = 0.75: four taps along each axis.
    case bicubic
    /// Two taps along each axis.
    case bilinear
}

/// What of the depth map is foreground, and how its edge looks.
package struct MatteSettings: Equatable, Sendable {
    /// Metres; a sample at this distance is the farthest that is foreground.
    package var cutoff = 1.0
    /// Metres; a sample at or below this distance is not foreground.
    package var near = 0.0
    /// Metres: clear at `near`, opaque from `near + featherNear` on.
    package var featherNear = 0.0
    /// Metres: opaque up to `cutoff − featherFar`, clear at `cutoff`; so a feather never shows what a step hides.
    package var featherFar = 0.0
    /// Swaps foreground and background among the measured samples. What was not measured stays hidden.
    package var invert = false
    /// Standard deviation of the Gaussian, in depth pixels; 0 = none.
    package var blurRadius = 5.0
    /// opacity = mask ^ gamma: below 1 the foreground widens, above 1 it narrows.
    package var gamma = 0.5
    package var upscale = Upscale.bicubic

    package init() {}

    /// The same settings with every number in the range that the arithmetic is written for.
    ///
    /// Near: not below 0. Feathers: not below 0, NaN = 0. Blur radius: 0…100, NaN = 0. Gamma: 0.01…10, NaN = 1. A
    /// cutoff or near limit that is not a number has no sensible value; `showsAnything` is then false.
    var clamped: MatteSettings {
        var result = self
        result.near = near < 0 ? 0 : near
        let metres = 0...Double.greatestFiniteMagnitude
        result.featherNear = DepthKernels.clamped(featherNear, to: metres, orIfNaN: 0)
        result.featherFar = DepthKernels.clamped(featherFar, to: metres, orIfNaN: 0)
        result.blurRadius = DepthKernels.clamped(blurRadius, to: 0...100, orIfNaN: 0)
        result.gamma = DepthKernels.clamped(gamma, to: 0.01...10, orIfNaN: 1)
        return result
    }

    /// False where a limit is not a number: then nothing may be shown, inverted or not.
    var showsAnything: Bool { !cutoff.isNaN && !near.isNaN }

    var hasFeather: Bool { featherNear > 0 || featherFar > 0 }
}
