/// The stage that computes the prior of a sample, before its color is known, as log odds H.
///
/// - measured: +1.5 in front of the cutoff and −1.5 behind it, and +4 where it is doubtful (`Classes`).
/// - in a wide hole: −2, and in the ellipse of a head +1.5, since sensors often lose hair.
/// - in an endless hole: −3, and in the ellipse of a head −1.5.
/// - in a shadow (`Shadows`): 4 less; in the ellipse of a head 2.5 less where its width is known.
/// - in a wide hole outside of these that the person surrounds: +1.5 (`Enclosure`).
///
/// Source: stage 3 of the method (`Fusion`); reference: `Tests/quality/quality_matte.py`.
struct Expectation: ~Copyable {
    private static let measured: Float = 1.5
    private static let doubtful: Float = 4
    private static let hole: Float = -2
    private static let head: Float = 1.5
    private static let endless: Float = -3
    private static let (shadow, headShadow): (Float, Float) = (-4, -2.5)
    private static let enclosed: Float = 1.5
    /// Metres.
    private static let rayLength = 0.16
    /// Log odds of a sample that depth alone classifies.
    static let certain: Float = 8

    private var shadows = Shadows()
    private var enclosure = Enclosure()
    private var prior = Scratch<Float>()

    /// Computes the prior of the open samples.
    ///
    /// - Parameter distance: metres, of the person.
    /// - Returns: a plane of the grid's size, undefined at other samples, valid until the next call.
    mutating func prior(_ sets: Classes.Sets, _ field: DepthField, distance: Double) -> UnsafePointer<Float> {
        let grid = field.grid
        let (voted, measured) = shadows.find(sets, field)
        let ray = floorIndex(Expectation.rayLength * grid.samplesPerMetre(at: distance), in: 3...max(grid.width, 3))
        let enclosed = enclosure.find(sets, excluded: (voted, measured), ray: ray)
        let prior = unsafe prior.reserve(grid.count, filler: 0)
        for y in 0..<grid.height {
            let line = unsafe prior + y &* grid.width
            sets.forEachOpen(row: y, 0..<grid.width) { x in
                let shadow =
                    voted.bits(y).contains(x)
                    ? Expectation.shadow : measured.bits(y).contains(x) ? Expectation.headShadow : 0
                unsafe line[x] = Expectation.logOdds(
                    sets, shadow: shadow, isEnclosed: enclosed.bits(y).contains(x), row: y, x)
            }
        }
        return unsafe UnsafePointer(prior)
    }

    /// Forgets the shadow's side.
    mutating func reset() { shadows.reset() }

    @inline(__always)
    private static func logOdds(
        _ sets: Classes.Sets, shadow: Float, isEnclosed: Bool, row y: Int, _ x: Int
    ) -> Float {
        if sets.wide.bits(y).contains(x) {
            let isHead = sets.head.bits(y).contains(x)
            if sets.endless.bits(y).contains(x) {
                return isHead ? Expectation.endless + Expectation.head : Expectation.endless
            }
            let hole = isHead ? Expectation.head : Expectation.hole
            if shadow < 0 { return hole + (isHead ? shadow : Expectation.shadow) }
            return isEnclosed ? Expectation.enclosed : hole
        }
        if sets.near.bits(y).contains(x) {
            return sets.doubtful.bits(y).contains(x) ? Expectation.doubtful : Expectation.measured
        }
        return sets.far.bits(y).contains(x) ? -Expectation.measured : 0
    }
}
