/// The faults of a depth camera: noise that grows with the square of the depth, and samples that are lost.
///
/// All randomness is an integer hash of the seed, the frame number and the position, so that frames are the same in any
/// order and on any platform.
struct DepthFaults {
    /// Standard deviation at one metre, in metres.
    private let noise: Float
    /// Samples whose hash is below this are lost; `UInt64`, as the limit for all of them is 2³².
    private let holeLimit: UInt64
    private let hash: FrameHash

    /// Range that samples with noise are clamped to, in metres.
    private static let (nearest, farthest): (Float, Float) = (0.01, 1000)
    private static let largestNoise = 10.0

    /// NaN and negative values count as 0; `noise` is clamped to 10 m and `holes` to 1.
    init(seed: UInt32, frame: UInt64, noise: Double, holes: Double) {
        self.noise = noise > 0 ? Float(min(noise, DepthFaults.largestNoise)) : 0
        holeLimit = holes > 0 ? UInt64(min(holes, 1) * 4_294_967_296) : 0
        hash = FrameHash(seed: seed, frame: frame)
    }

    /// Applies the faults to the samples of a row.
    func apply(to samples: inout [Float], row: Int) {
        guard noise > 0 || holeLimit > 0 else { return }
        let bits = hash.row(row)
        for column in samples.indices where samples[column] > 0 {
            let first = bits[column]
            let second = Hash.mix(first ^ 0x6d2b_79f5)
            if UInt64(Hash.mix(second ^ 0x1b56_c4e9)) < holeLimit {
                samples[column] = 0
            } else if noise > 0 {
                let depth = samples[column]
                let moved = depth + noise * depth * depth * Hash.normal(first, second)
                samples[column] = Numeric.clamp(moved, DepthFaults.nearest, DepthFaults.farthest)
            }
        }
    }
}
