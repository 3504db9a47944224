/// The projection of samples of the depth map to pixels, as the coefficients of `projectRow`.
struct CloudProjection {
    /// A ray's change from one column to the next, and from one row to the next.
    private let across: SIMD3<Double>
    private let along: SIMD3<Double>
    private let first: SIMD3<Double>
    private let moved: SIMD3<Double>

    /// - Parameter margin: columns and rows of keys before the picture's first; places count from there.
    init(_ sensor: CloudSensor, _ pose: CloudPose, _ lens: CloudLens, margin: Int) {
        let (centerX, centerY) = (lens.centerX + Double(margin), lens.centerY + Double(margin))
        // Homogeneous coordinates: the point is seen at column x / z and row y / z.
        func seen(_ point: SIMD3<Double>) -> SIMD3<Double> {
            SIMD3(
                lens.focalLength * point.x + centerX * point.z, lens.focalLength * point.y + centerY * point.z, point.z)
        }
        across = seen(pose.turned(SIMD3(1 / sensor.fx, 0, 0)))
        along = seen(pose.turned(SIMD3(0, 1 / sensor.fy, 0)))
        first = seen(pose.turned(SIMD3(-sensor.cx / sensor.fx, -sensor.cy / sensor.fy, 1)))
        moved = seen(pose.shift)
    }

    var shift: SIMD3<Float> { SIMD3<Float>(moved) }

    /// The difference between the ray of a row's first sample and that of another column.
    func ray(column: Int) -> SIMD3<Float> { SIMD3<Float>(across * Double(column)) }
    func start(row: Int) -> SIMD3<Float> { SIMD3<Float>(first + along * Double(row)) }
}
