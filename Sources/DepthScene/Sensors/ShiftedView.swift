/// A row as an emitter or a second camera sees it, a baseline to the right of the camera.
///
/// With f the focal length in samples, b the baseline and z the depth: a sample is f · b / z samples farther to the left
/// there. What is near hides a band of what is behind it, on its left, f · b · (1 / z_near − 1 / z_far) samples wide.
struct ShiftedView {
    /// b, in metres.
    let baseline: Float

    /// Disparities that are told apart as two surfaces, in samples.
    private static let step: Float = 1
    /// The largest disparity, in samples, is that at this depth in metres; what is nearer hides as much as this.
    private static let nearest: Float = 0.25

    /// For each column as it is seen from there, the disparity of what is met first.
    private var met: [Float] = []

    init(baseline: Float) { self.baseline = baseline }

    /// The columns before those of the picture that are seen from there.
    private func margin(_ view: SensorView) -> Float {
        (view.focal * baseline / ShiftedView.nearest).rounded(.up)
    }

    /// A column's disparity in samples, and the column of the same surface there.
    @inline(__always)
    private func shifted(_ column: Int, _ depth: Float, _ view: SensorView, _ margin: Float) -> (Float, Int) {
        let disparity = min(view.focal * baseline / depth, margin)
        return (disparity, Numeric.integer(Float(column) - disparity + margin + 0.5, 0, met.count - 1))
    }

    mutating func project(_ row: Int, of view: SensorView) {
        let margin = margin(view)
        let count = view.width + Numeric.integer(margin, 0, SensorView.largestWidth) + 1
        if met.count != count { met = Array(repeating: 0, count: count) }
        for column in met.indices { met[column] = 0 }
        let start = row &* view.width
        var last = 0
        for column in 0..<view.width where view.depth[start &+ column] > 0 {
            let (disparity, seen) = shifted(column, view.depth[start &+ column], view, margin)
            met[seen] = max(met[seen], disparity)
            // A surface that is turned to there is wider there than here.
            if column > 0, (2...3).contains(seen - last) {
                for between in (last + 1)..<seen { met[between] = max(met[between], disparity) }
            }
            last = seen
        }
    }

    /// True where something nearer hides the sample, and where there is none.
    @inline(__always)
    func hides(_ column: Int, at depth: Float, _ view: SensorView) -> Bool {
        guard depth > 0 else { return true }
        let (disparity, seen) = shifted(column, depth, view, margin(view))
        return met[seen] - disparity >= ShiftedView.step
    }
}
