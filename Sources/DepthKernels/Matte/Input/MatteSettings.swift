/// The parameters of a matte. Frames and settings determine the matte completely.
package struct MatteSettings: Equatable, Sendable {
    /// The scale of the depth samples, and the map's place on the video.
    package var depth = DepthReading()
    /// The anchor that the cutoff follows.
    package var anchor = AnchorSettings()
    /// Metres; samples farther than this are background. Replaced by the anchor's distance plus its margin where there
    /// is one.
    package var cutoff = 1.0
    /// Metres; samples at this distance or nearer are background.
    package var near = 0.0
    /// Metres over which opacity rises: clear at `near`, opaque from `near + featherNear` on.
    package var featherNear = 0.0
    /// Metres over which opacity falls: opaque up to `cutoff − featherFar`, clear at `cutoff`; so no feather shows
    /// samples that a step hides.
    package var featherFar = 0.0
    /// The kind of threshold: the limits and feathers above, or the focus below.
    package var mask = MaskShape.cutoff
    /// Nearness, 0…1, of the middle of the mask (`FocusCurve`).
    package var focus = 0.5
    /// Slope of the sides of the mask, in opacity for each unit of nearness; 0.1…100.
    package var slope = 4.0
    /// Width, in nearness 0…1, of the part of a band that is opaque.
    package var width = 0.1
    /// Swaps foreground and background among the measured samples. Samples that were not measured stay hidden.
    package var invert = false
    /// Standard deviation of the Gaussian, in depth samples; 0 = none.
    package var blurRadius = 5.0
    /// opacity = mask ^ gamma: below 1 the foreground widens, above 1 it narrows.
    package var gamma = 0.5
    package var upscale = Upscale.bicubic
    package var method = MatteMethod.threshold
    /// Weight of the last frame in a fused matte where the picture does not move, 0…1.
    package var settle = 0.7
    /// Weight of a segmentation in a fused matte, 0…1.
    package var segmentationWeight = 0.5
    /// The objects in front of the cutoff that a fused matte keeps.
    package var subject = SubjectChoice.anchored
    /// The resolution of a fused matte.
    package var detail = MatteDetail.full
    /// What a fused matte remembers of the room.
    package var room = RoomMode.off

    package init() {}

    /// The same settings with every number in its range.
    ///
    /// Near: not below 0. Feathers: not below 0, NaN = 0. Blur radius: 0…100, NaN = 0. Gamma: 0.01…10, NaN = 1.
    /// Slope: 0.1…100, NaN = 4. Settle, segmentation weight and width: 0…1, NaN = 0. A cutoff, near limit or focus that
    /// is NaN has no sensible value; `showsAnything` is then false.
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

    /// The cutoff behind an anchor at a distance, in metres. Relative depth has no metres, so there the margin counts in
    /// distances of the anchor.
    func cutoff(behind distance: Double) -> Double {
        distance + anchor.margin * (depth.scale.kind.isRelative ? distance : 1)
    }

    /// The reason why a cutoff shows or hides nothing of any map; nil where there is none.
    ///
    /// - Parameter cutoff: metres; 0 for none.
    package func complaint(about encoding: DepthEncoding, cutoff: Double) -> String? {
        guard mask == .cutoff, !invert else { return nil }
        let scale = depth.scale
        if anchor.mode == .head, scale.kind.isRelative {
            return "Relative depth has no metres, so no head is found in it, and nothing is shown. Set anchor=auto."
        }
        guard cutoff > 0 else { return nil }
        if near >= cutoff {
            return "near (\(near) m) is not below the cutoff (\(cutoff) m), so everything is background. "
                + "Lower near, or raise cutoff or margin."
        }
        guard let fullScale = encoding.fullScale else { return nil }
        let measured = CountRange(measuredBy: scale, fullScale: fullScale)
        guard measured.start < measured.end else { return nil }
        let shown = CountRange(near: near, cutoff: cutoff, scale: scale, fullScale: fullScale)
        let remedy = "Set depth-kind and depth-unit to what the map's counts mean, or"
        if scale.growsWithDistance ? shown.end == measured.end : shown.start == measured.start {
            return "No count of the depth map is behind the cutoff (\(cutoff) m), so nothing can be hidden. "
                + "\(remedy) lower cutoff or margin."
        }
        guard shown.end &- shown.start <= 1 else { return nil }
        return "No count of the depth map but the nearest is before the cutoff (\(cutoff) m), so nothing can be shown. "
            + "\(remedy) raise cutoff or margin."
    }

    /// False where a limit of the threshold is NaN: then nothing may be shown, inverted or not.
    func showsAnything(cutoff: Double) -> Bool { mask == .cutoff ? !cutoff.isNaN && !near.isNaN : !focus.isNaN }

    /// True where all is kept that the thing at the anchor hangs on, however far it is behind its nearest part.
    var keepsWholeObject: Bool {
        method == .fusion && mask == .cutoff && subject == .anchored && !depth.scale.kind.isRelative
            && anchor.followsThing
    }

    /// True for a threshold that is not a plain step.
    var hasFeather: Bool { mask != .cutoff || featherNear > 0 || featherFar > 0 }
}
