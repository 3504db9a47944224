/// The kind of depth camera whose errors are simulated.
package enum SensorKind: Int, Sendable, CaseIterable {
    /// The exact depth of each sample.
    case ideal
    /// A projected pattern, as of the Kinect v1.
    case structuredLight
    /// Two cameras, as of the RealSense D400.
    case stereo
    /// Time of flight, as of the Azure Kinect.
    case tof
    /// A telephone's depth map, smoothed and without holes.
    case phone

    /// Metres between the depth camera and the color camera; a negative number and NaN stand for the device's own.
    ///
    /// Sources: `kinect_frames.launch` of ROS for Kinect v1, the data sheet of the D400 series for D415, and the extrinsics
    /// of a device for Azure Kinect. A phone's map comes in the color camera's view, filled.
    func parallax(_ asked: Double) -> Float {
        if asked >= 0 { return Float(min(asked, SensorKind.largestParallax)) }
        return switch self {
        case .ideal, .phone: 0
        case .structuredLight: 0.025
        case .stereo: 0.015
        case .tof: 0.032
        }
    }

    private static let largestParallax = 0.3

    /// Nil for what changes nothing.
    fileprivate func model(parallax: Float) -> (any SensorModel)? {
        switch self {
        case .ideal: parallax > 0 ? IdealSensor(parallax: parallax) : nil
        case .structuredLight: StructuredLightSensor(parallax: parallax)
        case .stereo: StereoSensor(parallax: parallax)
        case .tof: TimeOfFlightSensor(parallax: parallax)
        case .phone: PhoneSensor()
        }
    }
}

/// A depth camera of one kind and size.
final class DepthSensor {
    let kind: SensorKind
    let parallax: Float
    private(set) var measured: [Float]
    private var view: SensorView
    private var model: any SensorModel
    /// One row of the view.
    private var depth: [Float]
    private var reflectance: [Float]

    /// Keeps the noise apart from that of `DepthFaults`.
    private static let salt: UInt32 = 0x51e2_7a93

    /// Nil for `ideal` without parallax.
    init?(_ kind: SensorKind, parallax: Float, _ scene: Scene, width: Int, height: Int) {
        guard let model = kind.model(parallax: parallax) else { return nil }
        self.kind = kind
        self.parallax = parallax
        self.model = model
        view = SensorView(scene, width: width, height: height)
        measured = view.depth
        depth = Array(repeating: 0, count: width)
        reflectance = Array(repeating: 1, count: width)
    }

    /// Sets a row of the view.
    ///
    /// - Parameter draw: draws depth and reflectance over those of the row before; over 0 and 1 at first.
    func expose(_ row: Int, draw: (_ depth: inout [Float], _ reflectance: inout [Float]) -> Void) {
        draw(&depth, &reflectance)
        let start = row &* view.width
        for column in 0..<view.width {
            view.depth[start &+ column] = depth[column]
            view.reflectance[start &+ column] = reflectance[column]
        }
    }

    /// Measures the view; the same seed and frame number give the same noise.
    func measure(seed: UInt32, frame: UInt64) {
        model.measure(view, hash: FrameHash(seed: seed ^ DepthSensor.salt, frame: frame), into: &measured)
    }
}
