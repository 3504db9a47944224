/// The optics of a depth camera and of the color camera beside it.
package struct Calibration: Equatable, Sendable {
    package var depth: CameraIntrinsics
    /// Nil where the depth map is registered to the video, or where there is no video.
    package var color: CameraIntrinsics?
    /// From the depth camera's coordinates to the color camera's.
    package var depthToColor: CameraPose
    /// Metres per count of a depth map of integers; nil where it is not known.
    package var depthUnit: Double?

    package init(
        depth: CameraIntrinsics, color: CameraIntrinsics? = nil, depthToColor: CameraPose = .identity,
        depthUnit: Double? = nil
    ) {
        self.depth = depth
        self.color = color
        self.depthToColor = depthToColor
        self.depthUnit = depthUnit
    }
}

/// A camera as a pinhole with a lens.
///
/// A point at (x, y, z) metres in front of the camera, x to the right, y down, z forward, is seen at column
/// fx · x″ + cx and row fy · y″ + cy, where (x″, y″) is (x / z, y / z) as the lens distorts it, and the center of the first
/// pixel is at column 0 and row 0, as in OpenCV and librealsense.
package struct CameraIntrinsics: Equatable, Sendable {
    /// Size of the picture, in pixels.
    package var width: Int
    package var height: Int
    /// Focal lengths and optical axis, in pixels.
    package var fx: Double
    package var fy: Double
    package var cx: Double
    package var cy: Double
    package var distortion: LensDistortion

    package init(
        width: Int, height: Int, fx: Double, fy: Double, cx: Double, cy: Double, distortion: LensDistortion = .none
    ) {
        self.width = width
        self.height = height
        self.fx = fx
        self.fy = fy
        self.cx = cx
        self.cy = cy
        self.distortion = distortion
    }
}

/// The distortion of a lens by the model of Brown and Conrady, with the rational terms k4 to k6 of OpenCV.
///
/// With r² = x² + y² and d = (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶):
///
///     x″ = x d + 2 p1 x y + p2 (r² + 2 x²)
///     y″ = y d + 2 p2 x y + p1 (r² + 2 y²)
///
/// Source: OpenCV, "Camera Calibration and 3D Reconstruction".
package struct LensDistortion: Equatable, Sendable {
    package let k1, k2, p1, p2, k3, k4, k5, k6: Double
    /// True where the formula maps the distorted point to the undistorted one, as librealsense's "inverse Brown-Conrady".
    package let isInverse: Bool

    package static let none = LensDistortion()

    /// True where points stay as they are.
    let isNone: Bool
    /// The radius, squared, up to which points farther out are seen farther out. Beyond it the polynomial folds back over
    /// the picture, and a lens does not.
    let largestRadiusSquared: Double

    /// - Parameter coefficients: k1, k2, p1, p2, k3, k4, k5, k6, the order of OpenCV; missing ones are 0.
    package init(_ coefficients: [Double] = [], isInverse: Bool = false) {
        func coefficient(_ number: Int) -> Double { number < coefficients.count ? coefficients[number] : 0 }
        (k1, k2, p1, p2) = (coefficient(0), coefficient(1), coefficient(2), coefficient(3))
        (k3, k4, k5, k6) = (coefficient(4), coefficient(5), coefficient(6), coefficient(7))
        self.isInverse = isInverse
        isNone = coefficients.prefix(8).allSatisfy { $0 == 0 }
        largestRadiusSquared =
            isNone
            ? .infinity
            : LensDistortion.largestRadiusSquared((k1, k2, k3), (coefficient(5), coefficient(6), coefficient(7)))
    }

    private static func largestRadiusSquared(
        _ above: (Double, Double, Double), _ below: (Double, Double, Double)
    ) -> Double {
        var last = 0.0
        // In steps of 0.01 focal lengths, to 85 degrees.
        for step in 1...1200 {
            let radius = Double(step) * 0.01
            let seen = radius * radial(radius * radius, above, below)
            guard seen.isFinite, seen > last else { return (radius - 0.01) * (radius - 0.01) }
            last = seen
        }
        return .infinity
    }

    /// (1 + r² a₁ + r⁴ a₂ + r⁶ a₃) / (1 + r² b₁ + r⁴ b₂ + r⁶ b₃)
    static func radial(
        _ r2: Double, _ above: (Double, Double, Double), _ below: (Double, Double, Double)
    ) -> Double {
        (1 + r2 * (above.0 + r2 * (above.1 + r2 * above.2))) / (1 + r2 * (below.0 + r2 * (below.1 + r2 * below.2)))
    }
}

/// A rotation and a translation: the point p of one camera is at R p + t in the other's coordinates.
package struct CameraPose: Equatable, Sendable {
    // Three vectors and not an array, so that a calibration is a plain value, which threads share without counting references.
    private let row0, row1, row2: SIMD3<Double>
    /// Metres.
    package let translation: SIMD3<Double>

    package static let identity = CameraPose(rotation: [1, 0, 0, 0, 1, 0, 0, 0, 1], translation: .zero)

    /// - Parameter rotation: 3x3, row by row.
    /// - Precondition: `rotation` has nine numbers.
    package init(rotation: [Double], translation: SIMD3<Double>) {
        precondition(rotation.count == 9, "a rotation has 3x3 numbers")
        row0 = SIMD3(rotation[0], rotation[1], rotation[2])
        row1 = SIMD3(rotation[3], rotation[4], rotation[5])
        row2 = SIMD3(rotation[6], rotation[7], rotation[8])
        self.translation = translation
    }

    /// 3x3, row by row.
    package var rotation: [Double] { [row0, row1, row2].flatMap { [$0.x, $0.y, $0.z] } }

    /// R p.
    func rotated(_ point: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3((row0 * point).sum(), (row1 * point).sum(), (row2 * point).sum())
    }
}
