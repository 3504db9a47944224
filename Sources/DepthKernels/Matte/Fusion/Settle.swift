/// The stage that smooths the log odds in time where the picture does not move.
///
///     T += keep · (T_old − T),   keep = settle · (1 − moved)
///     moved = clip(change / (25 · noise²) − 0.1, 0, 1)
///
/// change is the squared difference of the 3x3 means of color between two frames; noise follows 1.05 times the median
/// change of luma: for noise of standard deviation σ that median is √2 σ / 1.48. Where the log odds change sign and
/// exceed 7, depth has moved although the colors are alike: the change takes effect at once.
///
/// Where the median change exceeds four times the noise, most of the picture has changed: a cut, or a moving camera.
/// The last frame then does not count.
///
/// The state is the last frame's colors and the noise; `LogOdds` has its log odds. Source: stage 4 of the method
/// (`Fusion`).
struct Settle: ~Copyable {
    private static let still: Float = 25
    private static let leastNoise: Float = 0.002
    /// Samples from one to the next of which the median is computed.
    private static let noiseStep = (rows: 16, columns: 4)
    /// Standard deviation of a Gaussian by the median of the absolute difference of two of its samples: 1.48 / √2.
    private static let deviationPerMedian: Float = 1.05
    /// The median change, in standard deviations of the noise, above which the picture is a different one.
    private static let cut: Float = 4
    private static let bins = 16384
    /// Bins of the histogram for a change of 1.
    private static let binsPerUnit: Float = 65536

    /// The colors of this frame and of the last one, alternating.
    private var firstColors = Scratch<Float>()
    private var secondColors = Scratch<Float>()
    private var isSecond = false
    /// Standard deviation of luma between frames; 0 while unknown.
    private(set) var noise: Float = 0
    private var hasPast = false
    private var isContinued = false
    private var histogram = Scratch<Int32>()

    /// Memory for the colors of the next frame: three planes of the grid's size.
    mutating func nextColors(on grid: WorkGrid) -> UnsafeMutablePointer<Float> {
        isSecond.toggle()
        return unsafe colors(isSecond, on: grid)
    }

    /// The colors that were last asked for belong to no frame: the next frame's take their place.
    mutating func giveBackColors() { isSecond.toggle() }

    /// Measures the noise from the colors of the next frame and of the last one, which they replace.
    ///
    /// - Returns: false where the picture does not continue the last one.
    mutating func measureNoise(on grid: WorkGrid) -> Bool {
        defer { hasPast = true }
        isContinued = hasPast
        guard hasPast else { return false }
        let (now, before) = unsafe (colors(isSecond, on: grid), colors(!isSecond, on: grid))
        let measured = unsafe Settle.deviationPerMedian * medianChange(now, before, on: grid)
        let most = Settle.cut * max(noise, Settle.leastNoise)
        isContinued = noise == 0 || measured <= most
        noise = noise == 0 ? measured : 0.8 * noise + 0.2 * min(measured, most)
        return isContinued
    }

    /// Compares the colors of the two frames.
    ///
    /// - Parameters:
    ///   - settle: 0…1; the largest share of the last frame.
    /// - Returns: nil where the last frame does not count.
    mutating func findChange(settle: Float, on grid: WorkGrid) -> PictureChange? {
        guard isContinued, settle > 0 else { return nil }
        let (now, before) = unsafe (colors(isSecond, on: grid), colors(!isSecond, on: grid))
        let noise = max(noise, Settle.leastNoise)
        return unsafe PictureChange(
            now: UnsafePointer(now), before: UnsafePointer(before), factor: 1 / (Settle.still * noise * noise),
            settle: settle)
    }

    /// Forgets the past.
    mutating func reset() {
        (hasPast, isContinued) = (false, false)
        noise = 0
    }

    private mutating func colors(_ isSecond: Bool, on grid: WorkGrid) -> UnsafeMutablePointer<Float> {
        // Padding: the last tile is read in whole vectors.
        let size = 3 * grid.count + TileSet.size
        return unsafe isSecond ? secondColors.reserve(size, filler: 0) : firstColors.reserve(size, filler: 0)
    }

    private mutating func medianChange(
        _ now: UnsafePointer<Float>, _ before: UnsafePointer<Float>, on grid: WorkGrid
    ) -> Float {
        let bins = unsafe histogram.reserve(Settle.bins, filler: 0)
        unsafe bins.update(repeating: 0, count: Settle.bins)
        var count = 0
        let step = Settle.noiseStep
        for y in stride(from: 0, to: grid.height, by: step.rows) {
            for index in stride(from: y &* grid.width, to: (y &+ 1) &* grid.width, by: step.columns) {
                let change = unsafe abs(now[index] - before[index]) * Settle.binsPerUnit
                unsafe bins[floorIndex(Double(change), in: 0...(Settle.bins - 1))] &+= 1
                count &+= 1
            }
        }
        var (bin, below) = (0, 0)
        while bin < Settle.bins - 1 {
            unsafe below &+= Int(bins[bin])
            if 2 &* below >= count { break }
            bin &+= 1
        }
        return bin == 0 ? 0 : (Float(bin) + 0.5) / Settle.binsPerUnit
    }
}

/// The change of the picture between two frames.
@safe
struct PictureChange {
    /// Log odds beyond this take effect at once where they change sign.
    static let sure: Float = 7

    /// Three planes of colors of each frame.
    let now: UnsafePointer<Float>
    let before: UnsafePointer<Float>
    /// Factor for squared changes; the result 1 counts as moved.
    let factor: Float
    let settle: Float
}
