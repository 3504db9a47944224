/// The threshold: the opacity of a sample as a function of its distance.
///
///     opacity
///      1 |        ________________
///        |       /                \
///      0 |______/                  \________  metres
///           near  +featherNear   cutoff
///                           −featherFar
///
/// Without feathers it is 1 where near < metres <= cutoff, and 0 elsewhere. Holes: 0, inverted or not,
/// because samples that were not measured must never be shown. With a focus the curve is that of `FocusCurve`.
struct OpacityCurve: Equatable {
    private let near: Double
    private let cutoff: Double
    private let featherNear: Double
    private let featherFar: Double
    private let invert: Bool
    private let focus: FocusCurve?

    /// - Parameter settings: clamped.
    init(_ settings: MatteSettings) {
        near = settings.near
        cutoff = settings.cutoff
        featherNear = settings.featherNear
        featherFar = settings.featherFar
        invert = settings.invert
        focus = FocusCurve(settings)
    }

    /// The opacity of one sample; 0 where `metres` is not above 0 or not finite.
    @inline(__always)
    func opacity(metres: Double) -> Float {
        guard metres > 0, metres.isFinite else { return 0 }
        let inside = focus?.opacity(metres: metres) ?? insideLimits(metres)
        return Float(invert ? 1 - inside : inside)
    }

    @inline(__always)
    private func insideLimits(_ metres: Double) -> Double {
        metres > near && metres <= cutoff ? min(nearRamp(metres), farRamp(metres)) : 0
    }

    @inline(__always)
    private func nearRamp(_ metres: Double) -> Double {
        featherNear > 0 ? min((metres - near) / featherNear, 1) : 1
    }

    @inline(__always)
    private func farRamp(_ metres: Double) -> Double {
        featherFar > 0 ? min((cutoff - metres) / featherFar, 1) : 1
    }
}
