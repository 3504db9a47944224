/// The depth camera as a pinhole: the ray of each sample of its map.
///
/// Coordinates are metres from the camera: x to the right, y down, z forward. A sample of m metres in column i and row
/// j lies at
///
///     (x, y, z) = m · ((i − cx) / fx, (j − cy) / fy, 1)
///
/// where the center of the first sample is at column 0 and row 0, as in OpenCV and librealsense. Lens distortion is not
/// corrected.
package struct CloudSensor: Equatable, Sendable {
    /// Metres; points nearer to the sensor or to the viewer are not drawn, as in Apple's sample.
    package static let nearest = 0.001

    package let fx: Double
    package let fy: Double
    package let cx: Double
    package let cy: Double

    /// - Parameters:
    ///   - fieldOfView: vertical angle in degrees, clamped to 1…170; sets the focal length where neither is given.
    ///   - fx: horizontal focal length in samples; 0 = as `fy`, for square pixels.
    ///   - fy: vertical focal length in samples; 0 = as `fx`.
    ///   - cx: column of the optical axis; 0 = the middle of the map.
    ///   - cy: row of the optical axis; 0 = the middle of the map.
    package init(
        width: Int, height: Int, fieldOfView: Double, fx: Double = 0, fy: Double = 0, cx: Double = 0, cy: Double = 0
    ) {
        let (givenX, givenY) = (given(fx), given(fy))
        let byView = focalLength(lines: height, fieldOfView: fieldOfView)
        self.fx = givenX ?? givenY ?? byView
        self.fy = givenY ?? givenX ?? byView
        self.cx = cx == 0 ? (Double(width) - 1) / 2 : clamped(cx, to: -1e6...1e6, orIfNaN: (Double(width) - 1) / 2)
        self.cy = cy == 0 ? (Double(height) - 1) / 2 : clamped(cy, to: -1e6...1e6, orIfNaN: (Double(height) - 1) / 2)
    }
}

/// A focal length clamped to 1e-3…1e6; nil where it is not above 0 or NaN.
private func given(_ focalLength: Double) -> Double? {
    focalLength > 0 ? min(max(focalLength, 1e-3), 1e6) : nil
}

/// Focal length in pixels of a picture of `lines` rows that span a vertical angle, in degrees.
package func focalLength(lines: Int, fieldOfView: Double) -> Double {
    Double(lines) / 2 / tangent(degrees: clamped(fieldOfView, to: 1...170, orIfNaN: 70) / 2)
}

/// The rotation and translation of the cloud in front of the viewer, who stands at the depth camera.
///
/// The cloud turns about a point half a metre before the camera: first by `yaw` about its own upright axis, then by
/// `pitch` about the viewer's horizontal axis, then by `roll` about the line of sight. Then it is moved. With every
/// number 0 the viewer sees the camera's own view.
package struct CloudView: Equatable, Sendable {
    /// Degrees; positive angles turn the near side to the right.
    package var yaw = 0.0
    /// Degrees; positive angles turn the near side down.
    package var pitch = 0.0
    /// Degrees, clockwise.
    package var roll = 0.0
    /// Metres by which the cloud is moved towards the viewer.
    package var zoom = 0.0
    /// Metres by which the cloud is moved to the right.
    package var panX = 0.0
    /// Metres by which the cloud is moved down.
    package var panY = 0.0

    /// Metres from the camera to the point about which the cloud turns.
    package static let center = 0.5

    package init() {}

    /// The same view with every number in its range; NaN counts as 0.
    var clamped: CloudView {
        var view = self
        for angle in [\CloudView.yaw, \.pitch, \.roll] { view[keyPath: angle] = wrapped(degrees: self[keyPath: angle]) }
        for length in [\CloudView.zoom, \.panX, \.panY] {
            view[keyPath: length] = DepthKernels.clamped(self[keyPath: length], to: -1e3...1e3, orIfNaN: 0)
        }
        return view
    }
}

/// The rigid transform from the depth camera's coordinates to the viewer's.
struct CloudPose: Equatable {
    /// The viewer's axes in the camera's coordinates: the rows of the rotation.
    private(set) var right = SIMD3<Double>(1, 0, 0)
    private(set) var down = SIMD3<Double>(0, 1, 0)
    private(set) var forward = SIMD3<Double>(0, 0, 1)
    /// The translation, applied after the rotation.
    private(set) var shift = SIMD3<Double>.zero

    init(_ view: CloudView) {
        let view = view.clamped
        turn(&right, &forward, by: -view.yaw)
        turn(&down, &forward, by: -view.pitch)
        turn(&right, &down, by: -view.roll)
        // The rotation leaves the center in place.
        let center = SIMD3(0, 0, CloudView.center)
        shift = center - turned(center) + SIMD3(view.panX, view.panY, -view.zoom)
    }

    /// Rotates two rows in their plane, the second towards the first.
    private func turn(_ one: inout SIMD3<Double>, _ other: inout SIMD3<Double>, by degrees: Double) {
        let (cosine, sine) = (cosine(degrees: degrees), sine(degrees: degrees))
        (one, other) = (one * cosine + other * sine, other * cosine - one * sine)
    }

    func turned(_ point: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3((right * point).sum(), (down * point).sum(), (forward * point).sum())
    }
}

/// The viewer's pinhole camera; its optical axis goes through the middle of the picture.
struct CloudLens: Equatable {
    let focalLength: Double
    let centerX: Double
    let centerY: Double

    init(width: Int, height: Int, fieldOfView: Double) {
        focalLength = DepthKernels.focalLength(lines: height, fieldOfView: fieldOfView)
        centerX = (Double(width) - 1) / 2
        centerY = (Double(height) - 1) / 2
    }
}
