/// A camera that sees a pattern of dots from an emitter beside it, as the Kinect v1.
///
/// With f the focal length in samples, b the baseline and z the depth in metres:
/// - Shadow. The emitter is b to the right of the depth camera, and the color camera between them, a parallax p from the
///   depth camera. Of the surface behind a near one, the emitter does not light a band on the left,
///   f · (b − p) · (1 / z_near − 1 / z_far) samples wide, and the depth camera does not see one on the right, with p for
///   b − p, nor f · p / z samples at the right border.
/// - Noise and steps. Disparity has a standard deviation of half a pixel of the normalised disparity, which gives
///   σ = 1.43·10⁻³ · z² metres; it is quantised to 1/8 px. The deviation includes the rounding.
/// - Edges. The depth at an edge is that of a sample up to two samples away, or not measured.
/// - Holes. Surfaces that return too little light, such as hair and dark ones, and those that rays graze, such as a
///   floor far away, are not measured, in patches.
///
/// Source: Khoshelham and Elberink, "Accuracy and Resolution of Kinect Depth Data for Indoor Mapping Applications",
/// Sensors 12(2), 2012: baseline, shadow, and the random error of 1.43·10⁻⁵ · Z², there in centimetres.
struct StructuredLightSensor: SensorModel {
    /// b, in metres.
    private static let baseline: Float = 0.075
    /// f · b of the Kinect's own map, 640 samples wide: 580 px · 0.075 m.
    private static let pixelMetres: Float = 580 * baseline
    /// Steps of disparity for each pixel.
    private static let stepsPerPixel: Float = 8
    /// Standard deviation at 1 m, in metres.
    private static let deviation: Float = 1.43e-3
    /// Standard deviation of disparity before it is rounded, in steps: rounding adds a variance of 1/12.
    private static let stepDeviation: Float = {
        let steps = deviation * pixelMetres * stepsPerPixel
        return (steps * steps - 1 / 12).squareRoot()
    }()
    /// Metres; the paper has 0.5 m to 5 m, the last of which is mostly lost.
    private static let reach: ClosedRange<Float> = 0.5...4.5
    /// The least signal that is measured, and the share by which it varies from patch to patch. No source: chosen so
    /// that hair at arm's length is mostly lost, and neither the scene's wall nor a white surface at the end of the
    /// reach is.
    private static let (leastSignal, signalSpread): (Float, Float) = (0.03, 0.15)
    /// The cosine between ray and normal of which half is measured; it varies as the signal does. No source: chosen so
    /// that a desk's top 20 cm below the camera is lost, and a floor near the feet is not.
    private static let leastCosine: Float = 0.22
    /// Side of a patch, in samples.
    private static let patch = 4

    /// The depth of samples that return enough light; 0 elsewhere.
    private var lit: [Float] = []
    private var emitter: ShiftedView
    private var camera: ShiftedView
    private var patches = NoiseField()

    init(parallax: Float) {
        emitter = ShiftedView(baseline: StructuredLightSensor.baseline - parallax)
        camera = ShiftedView(baseline: -parallax)
    }

    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float]) {
        if lit.count != view.depth.count { lit = Array(repeating: 0, count: view.depth.count) }
        for row in 0..<view.height {
            emitter.project(row, of: view)
            camera.project(row, of: view)
            patches.make(row: row, width: view.width, cell: StructuredLightSensor.patch, hash: hash.branch(1))
            light(row, of: view)
        }
        for row in 0..<view.height { match(row, of: view, hash, into: &measured) }
    }

    // MARK: Light

    /// Keeps the depth of samples that are lit and return enough light.
    private mutating func light(_ row: Int, of view: SensorView) {
        let start = row &* view.width
        for column in 0..<view.width {
            let depth = view.depth[start &+ column]
            lit[start &+ column] = 0
            guard !emitter.hides(column, at: depth, view), camera.sees(column, at: depth, view) else { continue }
            let least = 1 + StructuredLightSensor.signalSpread * patches.value(column)
            guard view.signal(start &+ column) >= StructuredLightSensor.leastSignal * least,
                !view.isGrazed(column, row, below: StructuredLightSensor.leastCosine * least)
            else { continue }
            lit[start &+ column] = depth
        }
    }

    // MARK: Matching

    private func match(_ row: Int, of view: SensorView, _ hash: FrameHash, into measured: inout [Float]) {
        let noise = hash.branch(2).row(row)
        // Edges are jagged in pieces of two rows and four columns.
        let shifts = hash.branch(3).row(row / 2)
        let start = row &* view.width
        for column in 0..<view.width {
            let bits = shifts[column / 4]
            let besideColumn = min(max(column + Int(bits % 5) - 2, 0), view.width - 1)
            let besideRow = min(max(row + Int((bits >> 8) % 3) - 1, 0), view.height - 1)
            var depth = lit[start &+ column]
            let beside = lit[besideRow &* view.width &+ besideColumn]
            if SensorView.isStep(depth, beside) { depth = bits >> 31 == 0 ? 0 : beside }
            measured[start &+ column] = StructuredLightSensor.quantized(depth, noise: noise.normal(column))
        }
    }

    /// The depth whose disparity is the nearest whole step; 0 where it is out of range.
    @inline(__always)
    private static func quantized(_ depth: Float, noise: Float) -> Float {
        guard reach.contains(depth) else { return 0 }
        let scale = pixelMetres * stepsPerPixel
        return scale / max((scale / depth + stepDeviation * noise).rounded(), 1)
    }
}
