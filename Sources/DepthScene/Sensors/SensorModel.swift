/// A model of one kind of depth camera.
///
/// A model keeps no state from frame to frame, only scratch memory.
protocol SensorModel {
    /// Measures a view.
    ///
    /// - Parameter measured: as many samples as the view has; metres, 0 where nothing is measured.
    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float])
}

/// The input of a sensor: the exact depth and the reflectance of each sample, row by row.
struct SensorView {
    /// The widest view, in samples.
    static let largestWidth = 32_768

    let width: Int
    let height: Int
    /// Focal length, in samples.
    let focal: Float
    /// Metres; 0 where there is nothing.
    var depth: [Float]
    /// Share of the light that a surface sends back, 0…1.
    var reflectance: [Float]

    /// The width at 1 m of a view of 60°, in metres.
    private static let widthAtOneMetre: Float = 1.15
    /// Neighbours belong to two surfaces where one is farther than the other by this factor.
    private static let stepRatio: Float = 1.05

    /// - Parameter zoom: the focal length, relative to that of an angle of 60°.
    init(width: Int, height: Int, zoom: Float) {
        focal = Float(width) / SensorView.widthAtOneMetre * zoom
        self.width = width
        self.height = height
        depth = Array(repeating: 0, count: width * height)
        reflectance = depth
    }

    /// True between two surfaces, and between a surface and nothing.
    @inline(__always)
    static func isStep(_ a: Float, _ b: Float) -> Bool { max(a, b) > min(a, b) * stepRatio }

    /// The light that comes back from a sample, as a share of that from a white surface at 1 m: reflectance / z².
    @inline(__always)
    func signal(_ index: Int) -> Float { reflectance[index] / max(depth[index] * depth[index], 1e-6) }
}
