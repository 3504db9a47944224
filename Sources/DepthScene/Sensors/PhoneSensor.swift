/// A phone's depth map of 320x180 samples, filtered by its system: soft edges, no holes, little noise.
///
/// - Edges. Inverse depth is smoothed with a standard deviation of two samples of a map 320 wide, by two box means of
///   2 · r + 1 samples each way: σ² = ((2 · r + 1)² − 1) / 6.
/// - Noise. σ = 0.5·10⁻³ · z² metres, shared by neighbours; no source: chosen as about a third of a Kinect's.
///
/// Source for the size, the inverse depth and the filled holes: Apple, "Capturing Depth in iPhone Photography" (WWDC
/// 2017, session 507), and `AVDepthData.isDepthDataFiltered`.
struct PhoneSensor: SensorModel {
    private static let mapWidth: Float = 320
    /// Standard deviation of the smoothing, in samples of a map that is `mapWidth` wide.
    private static let blur: Float = 2
    /// Standard deviation of the inverse depth, in 1/m.
    private static let deviation: Float = 0.5e-3

    private var inverse: [Float] = []
    private var noise = NoiseField()

    mutating func measure(_ view: SensorView, hash: FrameHash, into measured: inout [Float]) {
        if inverse.count != view.depth.count { inverse = Array(repeating: 0, count: view.depth.count) }
        for index in inverse.indices { inverse[index] = view.depth[index] > 0 ? 1 / view.depth[index] : 0 }
        let deviation = PhoneSensor.blur * Float(view.width) / PhoneSensor.mapWidth
        let radius = Numeric.integer(((6 * deviation * deviation + 1).squareRoot() - 1) / 2 + 0.5, 0, view.width)
        let rows = Lines(count: view.height, spacing: view.width, length: view.width, step: 1)
        PhoneSensor.average(inverse, along: rows, radius, into: &measured)
        PhoneSensor.average(measured, along: rows, radius, into: &inverse)
        let columns = Lines(count: view.width, spacing: 1, length: view.height, step: view.width)
        PhoneSensor.average(inverse, along: columns, radius, into: &measured)
        PhoneSensor.average(measured, along: columns, radius, into: &inverse)
        let cell = max(1, Numeric.integer(2 * deviation, 0, view.width))
        for row in 0..<view.height {
            noise.make(row: row, width: view.width, cell: cell, hash: hash)
            for index in (row &* view.width)..<((row &+ 1) &* view.width) {
                let noisy = inverse[index] + PhoneSensor.deviation * noise.value(index &- row &* view.width)
                measured[index] = view.depth[index] > 0 && noisy > 0 ? 1 / noisy : 0
            }
        }
    }

    /// The rows or the columns of a map.
    private struct Lines {
        let count: Int
        /// From one line to the next, and from one sample to the next.
        let spacing: Int
        let length: Int
        let step: Int
    }

    /// Computes the means of 2 · `radius` + 1 samples of each line; its first and last sample are replicated.
    private static func average(_ source: [Float], along lines: Lines, _ radius: Int, into target: inout [Float]) {
        let share = 1 / Double(2 * radius + 1)
        for line in 0..<lines.count {
            let start = line &* lines.spacing
            func sample(_ place: Int) -> Double {
                Double(source[start &+ min(max(place, 0), lines.length &- 1) &* lines.step])
            }
            var sum = 0.0
            for place in -radius...radius { sum += sample(place) }
            for place in 0..<lines.length {
                target[start &+ place &* lines.step] = Float(sum * share)
                sum += sample(place &+ radius &+ 1) - sample(place &- radius)
            }
        }
    }
}
