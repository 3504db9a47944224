/// A model of one kind of depth camera.
///
/// A model keeps no state from frame to frame, only scratch memory.
protocol SensorModel {
    /// Measures a view.
    ///
    /// - Parameter measured: as many samples as the view has; metres, 0 where nothing is measured.
    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float])
}

/// The input of a sensor: the exact depth and the reflectance of each sample, row by row, as the color camera sees them.
struct SensorView {
    /// The widest view, in samples.
    static let largestWidth = 32_768

    let width: Int
    let height: Int
    /// Focal length across, in samples.
    let focal: Float
    /// The same down; pictures that are not 16:9 are stretched.
    private let focalDown: Float
    /// False for the ramp, a chart that no ray grazes.
    private let hasSurfaces: Bool
    /// Metres; 0 where there is nothing.
    var depth: [Float]
    /// Share of the light that a surface sends back, 0…1.
    var reflectance: [Float]

    /// The width at 1 m of a view of 60°, in metres.
    private static let widthAtOneMetre: Float = 1.15
    /// Neighbours belong to two surfaces where one is farther than the other by this factor.
    private static let stepRatio: Float = 1.05

    init(_ scene: Scene, width: Int, height: Int) {
        focal = Float(width) / SensorView.widthAtOneMetre * scene.zoom
        focalDown = Float(height) * Drawing.sceneWidth / SensorView.widthAtOneMetre * scene.zoom
        hasSurfaces = scene.pattern.hasPersons
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

    /// True where the cosine between the ray of a sample and the normal of its surface is below `least`.
    ///
    /// With z the depth, z_u and z_v its slopes, and u and v the place from the middle: the normal is
    /// (f · z_u, f · z_v, −z − u · z_u − v · z_v), and the ray (u / f, v / f, 1).
    @inline(__always)
    func isGrazed(_ column: Int, _ row: Int, below least: Float) -> Bool {
        let index = row &* width &+ column
        let own = depth[index]
        guard hasSurfaces, own > 0 else { return false }
        let across = slope(index, 1, hasBefore: column > 0, hasAfter: column &+ 1 < width)
        let down = slope(index, width, hasBefore: row > 0, hasAfter: row &+ 1 < height)
        let (u, v) = (Float(column) + 0.5 - Float(width) / 2, Float(row) + 0.5 - Float(height) / 2)
        let normal = SIMD3<Float>(focal * across, focalDown * down, own + u * across + v * down)
        let ray = SIMD3<Float>(u / focal, v / focalDown, 1)
        return own * own < least * least * (normal * normal).sum() * (ray * ray).sum()
    }

    /// The depth's change from sample to sample: the smaller of those to both sides, 0 where they differ in sign, so
    /// that the edge of a flat surface is flat.
    @inline(__always)
    private func slope(_ index: Int, _ step: Int, hasBefore: Bool, hasAfter: Bool) -> Float {
        let own = depth[index]
        let before = hasBefore ? depth[index &- step] : 0
        let after = hasAfter ? depth[index &+ step] : 0
        let back = before > 0 ? own - before : after > 0 ? after - own : 0
        let forth = after > 0 ? after - own : back
        guard back * forth > 0 else { return 0 }
        return abs(back) < abs(forth) ? back : forth
    }
}
