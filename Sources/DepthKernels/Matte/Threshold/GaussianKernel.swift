/// Standard deviation and reach of a Gaussian, in samples or in cells.
struct GaussianParameters: Equatable {
    let sigma: Double
    /// Truncation radius. The weight of a sample that it cuts through counts in part.
    let reach: Double
}

extension GaussianParameters {
    /// The Gaussian of `cv2.GaussianBlur` with a kernel of 2 · ceil(4σ) + 1 samples.
    ///
    /// - Precondition: `0 < sigma <= 100`.
    init(sigma: Double) { self.init(sigma: sigma, reach: Double(ceilIndex(4 * sigma, in: 1...400)) + 0.5) }

    /// The Gaussian that remains to be done on the cells of a grid for one of `sigma` samples, with the same reach.
    ///
    /// Variances add up: the three averages over s samples of `DecimatedRows` have one of (s² − 1) / 4.
    init(sigma: Double, on grid: CellGrid) {
        let (whole, size) = (GaussianParameters(sigma: sigma), Double(grid.cellSize))
        self.init(sigma: (sigma * sigma - (size * size - 1) / 4).squareRoot() / size, reach: whole.reach / size)
    }
}

/// The weights of a Gaussian, kept from frame to frame.
///
///     weight(d) ~ exp(−d² / 2σ²), d = 0…radius
///
/// Normalised in double precision, so that the whole symmetric kernel adds up to 1, and kept as `Float`, as
/// `cv2.getGaussianKernel` does.
struct GaussianKernel: ~Copyable {
    private var memory = Scratch<Float>()
    private var parameters: GaussianParameters?
    private var radius = 0

    mutating func weights(of parameters: GaussianParameters) -> KernelWeights {
        if self.parameters != parameters {
            self.parameters = parameters
            radius = ceilIndex(parameters.reach - 0.5, in: 1...400)
            // A lower bound: in narrower kernels the neighbours' weights are 0 anyway.
            let spread = max(2 * parameters.sigma * parameters.sigma, 1e-6)
            let values = (0...radius).map { distance in
                let share = min(max(parameters.reach + 0.5 - Double(distance), 0), 1)
                return share * exponential(-Double(distance * distance) / spread)
            }
            let sum = values[0] + 2 * values.dropFirst().reduce(0, +)
            let weights = unsafe memory.reserve(radius + 1, filler: 0)
            for (index, value) in values.enumerated() { unsafe weights[index] = Float(value / sum) }
        }
        return unsafe KernelWeights(first: memory.reserve(radius + 1, filler: 0), radius: radius)
    }
}

/// One half of a symmetric kernel, the middle first. Valid for one frame.
@safe
struct KernelWeights {
    let first: UnsafePointer<Float>
    /// Samples on either side of the middle.
    let radius: Int

    init(first: UnsafePointer<Float>, radius: Int) {
        unsafe self.first = first
        self.radius = radius
    }
}
