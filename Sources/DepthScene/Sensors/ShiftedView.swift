/// A row as seen by an emitter or another camera, a baseline to the right of the color camera; to the left where it is
/// negative.
///
/// With f the focal length in samples, b the baseline and z the depth: the disparity of a sample is f · b / z, to the
/// left. A near surface hides a band of the surface behind it, on its left, f · b · (1 / z_near − 1 / z_far) samples
/// wide. A negative baseline has all of this on the right.
struct ShiftedView {
    /// b, in metres.
    let baseline: Float

    /// The smallest difference of disparity between two surfaces, in samples.
    private static let step: Float = 1
    /// The depth, in metres, of the largest disparity; nearer surfaces count as at this depth.
    private static let nearest: Float = 0.25

    /// The disparity of the nearest surface in each column of the shifted view.
    private var nearestDisparity: [Float] = []

    init(baseline: Float) { self.baseline = baseline }

    /// The number of columns by which the shifted view is wider than the picture, on the side to which disparity goes.
    private func margin(_ view: SensorView) -> Float {
        (view.focal * abs(baseline) / ShiftedView.nearest).rounded(.up)
    }

    /// The disparity of a column in samples, and the column of the same surface in the shifted view.
    @inline(__always)
    private func shifted(_ column: Int, _ depth: Float, _ view: SensorView, _ margin: Float) -> (Float, Int) {
        let disparity = min(view.focal * abs(baseline) / depth, margin)
        let place = baseline < 0 ? Float(column) + disparity : Float(column) - disparity + margin
        return (disparity, Numeric.integer(place + 0.5, 0, nearestDisparity.count - 1))
    }

    mutating func project(_ row: Int, of view: SensorView) {
        let margin = margin(view)
        let count = view.width + Numeric.integer(margin, 0, 4 * SensorView.largestWidth) + 1
        if nearestDisparity.count != count { nearestDisparity = Array(repeating: 0, count: count) }
        for column in nearestDisparity.indices { nearestDisparity[column] = 0 }
        let start = row &* view.width
        var last = 0
        for column in 0..<view.width where view.depth[start &+ column] > 0 {
            let (disparity, seen) = shifted(column, view.depth[start &+ column], view, margin)
            nearestDisparity[seen] = max(nearestDisparity[seen], disparity)
            // A surface that faces the shifted view is wider there: fills the gap.
            if column > 0, (2...3).contains(seen - last) {
                for between in (last + 1)..<seen {
                    nearestDisparity[between] = max(nearestDisparity[between], disparity)
                }
            }
            last = seen
        }
    }

    /// True where a nearer surface hides the sample from the shifted view, and where the sample has no depth.
    @inline(__always)
    func hides(_ column: Int, at depth: Float, _ view: SensorView) -> Bool {
        guard depth > 0 else { return true }
        let (disparity, seen) = shifted(column, depth, view, margin(view))
        return nearestDisparity[seen] - disparity >= ShiftedView.step
    }

    /// True where a camera with the same lens sees a sample: nothing hides it, and it lies within the frame.
    @inline(__always)
    func sees(_ column: Int, at depth: Float, _ view: SensorView) -> Bool {
        !hides(column, at: depth, view) && isInFrame(column, at: depth, view)
    }

    /// True where a sample lies within the frame of a camera with the same lens.
    @inline(__always)
    func isInFrame(_ column: Int, at depth: Float, _ view: SensorView) -> Bool {
        let place = (Float(column) + 0.5) * depth - view.focal * baseline
        return place >= 0 && place <= Float(view.width) * depth
    }
}
