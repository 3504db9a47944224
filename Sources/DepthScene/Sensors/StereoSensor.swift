/// Two cameras side by side whose pictures are matched in windows, as the RealSense D415 at 848x480.
///
/// With f the focal length in samples, b the baseline, p the parallax and z the depth in metres:
/// - Noise. σ = z² · s / (f · b), with an error s of 0.08 px in the disparity; neighbours whose windows overlap share
///   it, which makes surfaces wavy. Source: "Tuning depth cameras for best performance", Grunnet-Jepsen, Sweetser and
///   Woodfill, Intel.
/// - Foreground fattening. A window that contains a nearer surface matches it, which grows by half a window. Source:
///   Scharstein and Szeliski, "A Taxonomy and Evaluation of Dense Two-Frame Stereo Correspondence Algorithms", IJCV
///   47, 2002.
/// - Shadow. The depth is that of the left camera, which is p to the right of the color camera. Samples that not both of
///   the pair see, on the left of near surfaces, have no match: f · (b + p) · (1 / z_near − 1 / z_far) samples. Source: the
///   half-occluded pixels of that paper.
/// - Band at the left. Samples within f · (b + p) / z samples of the left border are not in the right camera's view.
///   Source: as for the noise, "invalid depth band".
struct StereoSensor: SensorModel {
    /// b, in metres.
    private static let baseline: Float = 0.055
    /// f · b of the camera's own map: 848 samples, 65° across.
    private static let pixelMetres: Float = 665 * baseline
    /// s, in pixels.
    private static let disparityDeviation: Float = 0.08
    /// Half the width of a window, in samples.
    private static let halfWindow = 3
    private static let reach: ClosedRange<Float> = 0.3...8

    /// The least depth in the part of each window that is in its own row.
    private var nearInRow: [Float] = []
    private var noise = NoiseField()
    private var left: ShiftedView
    private var right: ShiftedView

    init(parallax: Float) {
        left = ShiftedView(baseline: parallax)
        right = ShiftedView(baseline: parallax + StereoSensor.baseline)
    }

    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float]) {
        if nearInRow.count != view.depth.count { nearInRow = Array(repeating: 0, count: view.depth.count) }
        let half = StereoSensor.halfWindow
        for row in 0..<view.height {
            let start = row &* view.width
            for column in 0..<view.width {
                var near = Float.infinity
                for beside in max(column - half, 0)...min(column + half, view.width - 1) {
                    let depth = view.depth[start &+ beside]
                    if depth > 0 { near = min(near, depth) }
                }
                nearInRow[start &+ column] = near
            }
        }
        for row in 0..<view.height {
            noise.make(row: row, width: view.width, cell: 2 * half, hash: hash)
            left.project(row, of: view)
            right.project(row, of: view)
            match(row, of: view, into: &measured)
        }
    }

    private func match(_ row: Int, of view: SensorView, into measured: inout [Float]) {
        let half = StereoSensor.halfWindow
        let start = row &* view.width
        for column in 0..<view.width {
            var depth = view.depth[start &+ column]
            var near = depth
            for beside in max(row - half, 0)...min(row + half, view.height - 1) {
                near = min(near, nearInRow[beside &* view.width &+ column])
            }
            let isHidden = left.hides(column, at: depth, view) || right.hides(column, at: depth, view)
            let isFattened = SensorView.isStep(near, depth)
            if isFattened { depth = near }
            let isInBothViews = left.isInFrame(column, at: depth, view) && right.isInFrame(column, at: depth, view)
            let isMeasured = StereoSensor.reach.contains(depth) && isInBothViews && (isFattened || !isHidden)
            measured[start &+ column] = isMeasured ? StereoSensor.noisy(depth, noise: noise.value(column)) : 0
        }
    }

    @inline(__always)
    private static func noisy(_ depth: Float, noise: Float) -> Float {
        pixelMetres / (pixelMetres / depth + disparityDeviation * noise)
    }
}
