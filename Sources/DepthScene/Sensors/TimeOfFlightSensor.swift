/// A time-of-flight camera, as the Azure Kinect.
///
/// - Noise. σ = 1·10⁻³ · z / √reflectance metres. The error of a phase is inversely proportional to the square root of
///   the light that returns, which falls with z²: Lange and Seitz, "Solid-State Time-of-Flight Range Camera", IEEE
///   Journal of Quantum Electronics 37(3), 2001. No source for the factor: chosen so that a dark surface (0.1) at the
///   end of the reach has 13 mm, where Microsoft's data sheet allows 17 mm.
/// - Mixed pixels. A sample at an edge receives light of both surfaces: its depth is a mean of both ("flying pixel"),
///   or lost: "Azure Kinect DK depth camera", section "Ambiguous depth".
/// - Holes. Samples that return less light than a surface of 15 % at 3.86 m, the limit of that data sheet, are not
///   measured, nor are those that rays graze.
/// - Parallax. The depth camera is p to the left of the color camera: on the right of a near surface it does not see a band
///   of the one behind, f · p · (1 / z_near − 1 / z_far) samples wide, nor f · p / z samples at the right border.
struct TimeOfFlightSensor: SensorModel {
    /// Standard deviation of a white surface for each metre, in metres.
    private static let deviation: Float = 1e-3
    private static let reach: ClosedRange<Float> = 0.25...4
    private static let leastSignal: Float = 0.15 / (3.86 * 3.86)
    /// Darker surfaces have the noise of this reflectance.
    private static let darkest: Float = 0.01
    /// The cosine between ray and normal of which half is measured, and the share by which it varies. No source: chosen
    /// below that of a structured light, whose dots run together as well.
    private static let (leastCosine, cosineSpread): (Float, Float) = (0.15, 0.15)
    /// One in this number of mixed pixels is lost. No source: chosen so that both faults are seen at each edge.
    private static let lostOf: UInt32 = 3

    private var camera: ShiftedView

    init(parallax: Float) { camera = ShiftedView(baseline: -parallax) }

    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float]) {
        for row in 0..<view.height {
            camera.project(row, of: view)
            let (noise, mixing, grazing) = (hash.branch(1).row(row), hash.branch(2).row(row), hash.branch(3).row(row))
            for column in 0..<view.width {
                let index = row &* view.width &+ column
                var depth = view.depth[index]
                let (near, far) = TimeOfFlightSensor.range(view, column, row)
                let isMixed = SensorView.isStep(near, far)
                if isMixed {
                    let bits = mixing[column]
                    depth = bits % TimeOfFlightSensor.lostOf == 0 ? 0 : near + (far - near) * Hash.unit(Hash.mix(bits))
                }
                let least =
                    TimeOfFlightSensor.leastCosine * (1 + TimeOfFlightSensor.cosineSpread * grazing.normal(column))
                // The depth camera sees the edge of a near surface, wherever what is behind it is hidden.
                let isSeen = !camera.hides(column, at: isMixed ? near : depth, view)
                let isMeasured =
                    TimeOfFlightSensor.reach.contains(depth) && view.signal(index) >= TimeOfFlightSensor.leastSignal
                    && isSeen && camera.isInFrame(column, at: depth, view) && !view.isGrazed(column, row, below: least)
                let light = max(view.reflectance[index], TimeOfFlightSensor.darkest).squareRoot()
                let error = TimeOfFlightSensor.deviation * depth / light * noise.normal(column)
                measured[index] = isMeasured ? depth + error : 0
            }
        }
    }

    /// The least and the largest depth of a sample and its four neighbours; those without depth do not count.
    @inline(__always)
    private static func range(_ view: SensorView, _ column: Int, _ row: Int) -> (near: Float, far: Float) {
        let index = row &* view.width &+ column
        let own = view.depth[index]
        var (near, far) = (own, own)
        func include(_ neighbour: Int) {
            let depth = view.depth[neighbour]
            guard depth > 0 else { return }
            near = min(near, depth)
            far = max(far, depth)
        }
        guard own > 0 else { return (0, 0) }
        if column > 0 { include(index &- 1) }
        if column &+ 1 < view.width { include(index &+ 1) }
        if row > 0 { include(index &- view.width) }
        if row &+ 1 < view.height { include(index &+ view.width) }
        return (near, far)
    }
}
