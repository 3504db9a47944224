/// Everything that a matte depends on besides its frame: two equal values make the same matte.
package struct MatteSettings: Equatable, Sendable {
    /// The meaning of the depth samples, and where they lie on the video.
    package var depth = DepthReading()
    /// The thing that the cutoff follows.
    package var anchor = AnchorSettings()
    /// Metres; a sample at this distance is the farthest that is foreground, while nothing is anchored.
    package var cutoff = 1.0
    /// Metres; a sample at or below this distance is not foreground.
    package var near = 0.0
    /// Metres: clear at `near`, opaque from `near + featherNear` on.
    package var featherNear = 0.0
    /// Metres: opaque up to `cutoff − featherFar`, clear at `cutoff`; so a feather never shows what a step hides.
    package var featherFar = 0.0
    /// The kind of threshold: the limits and feathers above, or the focus below.
    package var mask = MaskShape.cutoff
    /// Nearness, 0…1, about which the mask lies.
    package var focus = 0.5
    /// How steep the sides of the mask are; 0.1…100, for each unit of nearness.
    package var slope = 4.0
    /// Nearness, 0…1, over which a band is full.
    package var width = 0.1
    /// Swaps foreground and background among the measured samples. What was not measured stays hidden.
    package var invert = false
    /// Standard deviation of the Gaussian, in depth pixels; 0 = none.
    package var blurRadius = 5.0
    /// opacity = mask ^ gamma: below 1 the foreground widens, above 1 it narrows.
    package var gamma = 0.5
    package var upscale = Upscale.bicubic
    package var method = MatteMethod.threshold
    /// Share of the last frame that a fused matte keeps where the picture stands still, 0…1.
    package var settle = 0.7
    /// How much a segmentation counts in a fused matte, 0…1.
    package var segmentationWeight = 0.5
    /// What of the things before the cutoff a fused matte keeps.
    package var subject = SubjectChoice.anchored
    /// Of a fused matte.
    package var detail = MatteDetail.full

    package init() {}

    /// The same settings with every number in the range that the arithmetic is written for.
    ///
    /// Near: not below 0. Feathers: not below 0, NaN = 0. Blur radius: 0…100, NaN = 0. Gamma: 0.01…10, NaN = 1.
    /// Slope: 0.1…100, NaN = 4. Settle, segmentation weight and width: 0…1, NaN = 0. A cutoff, near limit or focus that is
    /// NaN has no sensible value; `showsAnything` is then false.
    var clamped: MatteSettings {
        var result = self
        result.near = near < 0 ? 0 : near
        let metres = 0...Double.greatestFiniteMagnitude
        result.featherNear = DepthKernels.clamped(featherNear, to: metres, orIfNaN: 0)
        result.featherFar = DepthKernels.clamped(featherFar, to: metres, orIfNaN: 0)
        result.blurRadius = DepthKernels.clamped(blurRadius, to: 0...100, orIfNaN: 0)
        result.gamma = DepthKernels.clamped(gamma, to: 0.01...10, orIfNaN: 1)
        result.focus = min(max(focus, 0), 1)
        result.slope = DepthKernels.clamped(slope, to: 0.1...100, orIfNaN: 4)
        result.settle = DepthKernels.clamped(settle, to: 0...1, orIfNaN: 0)
        result.segmentationWeight = DepthKernels.clamped(segmentationWeight, to: 0...1, orIfNaN: 0)
        result.width = DepthKernels.clamped(width, to: 0...1, orIfNaN: 0)
        return result
    }

    /// False where a limit of the threshold is NaN: then nothing may be shown, inverted or not.
    func showsAnything(cutoff: Double) -> Bool { mask == .cutoff ? !cutoff.isNaN && !near.isNaN : !focus.isNaN }

    /// True for a threshold that is more than a step.
    var hasFeather: Bool { mask != .cutoff || featherNear > 0 || featherFar > 0 }
}
