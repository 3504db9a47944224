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

    /// Nil for `ideal`, which changes nothing.
    fileprivate var model: (any SensorModel)? {
        switch self {
        case .ideal: nil
        case .structuredLight: StructuredLightSensor()
        case .stereo: StereoSensor()
        case .tof: TimeOfFlightSensor()
        case .phone: PhoneSensor()
        }
    }
}

/// A depth camera of one kind and size.
final class DepthSensor {
    let kind: SensorKind
    private(set) var measured: [Float]
    private var view: SensorView
    private var model: any SensorModel
    /// One row of the view.
    private var depth: [Float]
    private var reflectance: [Float]

    /// Keeps the noise apart from that of `DepthFaults`.
    private static let salt: UInt32 = 0x51e2_7a93

    /// Nil for `ideal`.
    init?(_ kind: SensorKind, width: Int, height: Int, zoom: Float) {
        guard let model = kind.model else { return nil }
        self.kind = kind
        self.model = model
        view = SensorView(width: width, height: height, zoom: zoom)
        measured = Array(repeating: 0, count: width * height)
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
