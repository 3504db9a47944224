/// From a sample of the depth map to the pixel that it shows at: the numbers that `projectRow` works with.
struct CloudProjection {
    /// A ray's change from one column to the next, and from one row to the next.
    private let across: SIMD3<Double>
    private let along: SIMD3<Double>
    private let first: SIMD3<Double>
    private let moved: SIMD3<Double>

    /// - Parameter rim: how many columns and rows there are before the picture's first; places are counted from there.
    init(_ sensor: CloudSensor, _ pose: CloudPose, _ lens: CloudLens, rim: Int) {
        let (centreX, centreY) = (lens.centreX + Double(rim), lens.centreY + Double(rim))
        // What shows at column x / z and row y / z.
        func seen(_ point: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(
                lens.focalLength * point.x + centreX * point.z, lens.focalLength * point.y + centreY * point.z, point.z)
        }
        across = seen(pose.turned(SIMD3(1 / sensor.fx, 0, 0)))
        along = seen(pose.turned(SIMD3(0, 1 / sensor.fy, 0)))
        first = seen(pose.turned(SIMD3(-sensor.cx / sensor.fx, -sensor.cy / sensor.fy, 1)))
        moved = seen(pose.shift)
    }

    var shift: SIMD3<Float> { SIMD3<Float>(moved) }

    /// From the ray of a row's first sample to that of another column.
    func ray(column: Int) -> SIMD3<Float> { SIMD3<Float>(across * Double(column)) }
    func start(row: Int) -> SIMD3<Float> { SIMD3<Float>(first + along * Double(row)) }
}
