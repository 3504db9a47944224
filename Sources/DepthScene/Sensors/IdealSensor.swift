/// Exact depth of what a depth camera sees, a parallax to the left of the color camera.
struct IdealSensor: SensorModel {
    private var camera: ShiftedView

    init(parallax: Float) { camera = ShiftedView(baseline: -parallax) }

    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float]) {
        for row in 0..<view.height {
            camera.project(row, of: view)
            for column in 0..<view.width {
                let depth = view.depth[row &* view.width &+ column]
                measured[row &* view.width &+ column] = camera.sees(column, at: depth, view) ? depth : 0
            }
        }
    }
}
