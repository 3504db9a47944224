/// The depth camera as a pinhole: which ray each sample of its map lies on.
///
/// Coordinates are metres from the camera: x to the right, y down, z forward. A sample of m metres in column i and row j
/// lies at
///
///     (x, y, z) = m · ((i − cx) / fx, (j − cy) / fy, 1)
///
/// where the centre of the first sample is at column 0 and row 0, as OpenCV and librealsense count. Lens distortion is
/// not undone.
package struct CloudSensor: Equatable, Sendable {
    /// Metres; points nearer to the sensor or to the viewer are not drawn, as in Apple's sample.
    package static let nearest = 0.001

    package let fx: Double
    package let fy: Double
    package let cx: Double
    package let cy: Double

    /// - Parameter fieldOfView: vertical, in degrees; sets the focal length where neither is given. Kept within 1…170.
    /// - Parameter fx: focal length in samples; 0 = as `fy`, for square pixels. `fy` likewise.
    /// - Parameter cx: column of the optical axis; 0 = the middle of the map. `cy` likewise.
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

/// A focal length that somebody has given; nil where it is 0 or no number.
private func given(_ focalLength: Double) -> Double? {
    focalLength > 0 ? min(max(focalLength, 1e-3), 1e6) : nil
}

/// Focal length in pixels of a picture with so many lines, from the angle that they span.
func focalLength(lines: Int, fieldOfView: Double) -> Double {
    Double(lines) / 2 / tangent(degrees: clamped(fieldOfView, to: 1...170, orIfNaN: 70) / 2)
}

/// How the cloud is turned and moved before the viewer, who stands where the depth camera stood.
///
/// The cloud turns about a point half a metre before the camera: first by `yaw` about its own upright axis, then by
/// `pitch` about the viewer's horizontal axis, then by `roll` about the line of sight. Then it is moved. With every
/// number 0 the viewer sees what the camera saw.
package struct CloudView: Equatable, Sendable {
    /// Degrees; what is nearest goes to the right.
    package var yaw = 0.0
    /// Degrees; what is nearest goes down.
    package var pitch = 0.0
    /// Degrees, clockwise.
    package var roll = 0.0
    /// Metres by which the cloud comes nearer.
    package var zoom = 0.0
    /// Metres to the right.
    package var panX = 0.0
    /// Metres down.
    package var panY = 0.0

    /// Metres from the camera to the point about which the cloud turns.
    package static let centre = 0.5

    package init() {}

    /// Every number in range; 0 for what is no number.
    var clamped: CloudView {
        var view = self
        for angle in [\CloudView.yaw, \.pitch, \.roll] { view[keyPath: angle] = wrapped(degrees: self[keyPath: angle]) }
        for length in [\CloudView.zoom, \.panX, \.panY] {
            view[keyPath: length] = DepthKernels.clamped(self[keyPath: length], to: -1e3...1e3, orIfNaN: 0)
        }
        return view
    }
}

/// Turns and moves points from the depth camera's coordinates into the viewer's.
struct CloudPose: Equatable {
    /// The viewer's axes in the camera's coordinates: the rows of the rotation.
    private(set) var right = SIMD3<Double>(1, 0, 0)
    private(set) var down = SIMD3<Double>(0, 1, 0)
    private(set) var forward = SIMD3<Double>(0, 0, 1)
    /// Added behind the rotation.
    private(set) var shift = SIMD3<Double>.zero

    init(_ view: CloudView) {
        let view = view.clamped
        turn(&right, &forward, by: -view.yaw)
        turn(&down, &forward, by: -view.pitch)
        turn(&right, &down, by: -view.roll)
        // What turns about the centre leaves the centre where it is.
        let centre = SIMD3(0, 0, CloudView.centre)
        shift = centre - turned(centre) + SIMD3(view.panX, view.panY, -view.zoom)
    }

    /// Turns two rows in their plane: the second goes towards the first.
    private func turn(_ one: inout SIMD3<Double>, _ other: inout SIMD3<Double>, by degrees: Double) {
        let (cosine, sine) = (cosine(degrees: degrees), sine(degrees: degrees))
        (one, other) = (one * cosine + other * sine, other * cosine - one * sine)
    }

    func turned(_ point: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3((right * point).sum(), (down * point).sum(), (forward * point).sum())
    }
}

/// The picture that the viewer sees: a pinhole again, its axis through the middle.
struct CloudLens: Equatable {
    let focalLength: Double
    let centreX: Double
    let centreY: Double

    init(width: Int, height: Int, fieldOfView: Double) {
        focalLength = DepthKernels.focalLength(lines: height, fieldOfView: fieldOfView)
        centreX = (Double(width) - 1) / 2
        centreY = (Double(height) - 1) / 2
    }
}
