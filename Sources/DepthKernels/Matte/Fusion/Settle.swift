/// The stage that keeps a still picture's matte still.
///
///     T += keep · (T_old − T),   keep = settle · (1 − moved)
///     moved = clip(change / (25 · noise²) − 0.1, 0, 1)
///
/// change is the squared difference of the 3x3 means of colour between two frames; noise follows the median change of luma,
/// which is that of a Gaussian's difference divided by 1.48 / √2. Where the log odds change sign and are surer than 7, depth
/// moved under a picture that looks alike: that is believed at once.
///
/// The state is the last frame's log odds and colours, and the noise. Source: stage 4 of the method (`Fusion`).
struct Settle: ~Copyable {
    private static let still: Float = 25
    private static let sure: Float = 7
    private static let leastNoise: Float = 0.002
    /// The median is that of every fourth row: it hardly differs from that of all.
    private static let rowsPerSample = 4
    private static let bins = 16384
    /// Bins of the histogram for a change of 1.
    private static let binsPerUnit: Float = 65536

    /// The log odds of the last frame.
    private var logOdds = Scratch<Float>()
    /// The colours of this frame and of the last one take turns.
    private var firstColors = Scratch<Float>()
    private var secondColors = Scratch<Float>()
    private var isSecond = false
    /// Standard deviation of luma between frames; 0 while not known.
    private var noise: Float = 0
    private var hasPast = false
    private var share = Scratch<Float>()
    private var histogram = Scratch<Int32>()
    private var sums = Scratch<Float>()

    /// Where the colours of the next frame are to be written: three planes of the grid's size.
    mutating func nextColors(on grid: WorkGrid) -> UnsafeMutablePointer<Float> {
        // A tile at the end is read in whole vectors.
        let size = 3 * grid.count + ColorEvidence.tile
        return unsafe isSecond
            ? secondColors.reserve(size, filler: 0) : firstColors.reserve(size, filler: 0)
    }

    /// The log odds of the last frame; nil where there is none, or the grid was another.
    mutating func past(on grid: WorkGrid) -> UnsafePointer<Float>? {
        unsafe hasPast ? UnsafePointer(logOdds.reserve(grid.count, filler: 0)) : nil
    }

    /// Mixes log odds with those of the last frame.
    ///
    /// - Parameters:
    ///   - settle: 0…1; the largest share of the last frame.
    /// - Returns: keep for every sample; nil where there is no past.
    mutating func settle(
        _ current: UnsafeMutablePointer<Float>, settle: Float, on grid: WorkGrid, _ loops: Loops
    ) -> UnsafePointer<Float>? {
        let past = unsafe logOdds.reserve(grid.count, filler: 0)
        let now = unsafe nextColors(on: grid)
        defer {
            unsafe past.update(from: current, count: grid.count)
            hasPast = true
            isSecond.toggle()
        }
        guard hasPast, settle > 0 else { return nil }
        isSecond.toggle()
        let before = unsafe nextColors(on: grid)
        isSecond.toggle()
        unsafe measureNoise(now, before, on: grid)
        let share = unsafe share.reserve(grid.count, filler: 0)
        unsafe measureChange(now, before, on: grid, into: share, loops)
        let threshold = Settle.still * max(noise, Settle.leastNoise) * max(noise, Settle.leastNoise)
        unsafe loops.settle(
            current, past: past, share: share, count: grid.count, factor: 1 / threshold, settle: settle,
            sure: Settle.sure)
        return unsafe UnsafePointer(share)
    }

    /// Forgets the past.
    mutating func reset() {
        hasPast = false
        noise = 0
    }

    private mutating func measureNoise(_ now: UnsafePointer<Float>, _ before: UnsafePointer<Float>, on grid: WorkGrid) {
        let bins = unsafe histogram.reserve(Settle.bins, filler: 0)
        unsafe bins.update(repeating: 0, count: Settle.bins)
        var count = 0
        for y in stride(from: 0, to: grid.height, by: Settle.rowsPerSample) {
            let row = y &* grid.width
            for index in row..<(row &+ grid.width) {
                let change = unsafe abs(now[index] - before[index]) * Settle.binsPerUnit
                unsafe bins[Int(min(change, Float(Settle.bins - 1)))] &+= 1
            }
            count &+= grid.width
        }
        var (bin, below) = (0, 0)
        while bin < Settle.bins - 1 {
            unsafe below &+= Int(bins[bin])
            if 2 &* below >= count { break }
            bin &+= 1
        }
        let median = bin == 0 ? 0 : (Float(bin) + 0.5) / Settle.binsPerUnit
        let measured = 1.05 * median
        noise = noise == 0 ? measured : 0.8 * noise + 0.2 * measured
    }

    /// The squared difference of the 3x3 means; beyond the edge the picture is mirrored about its outermost samples.
    private mutating func measureChange(
        _ now: UnsafePointer<Float>, _ before: UnsafePointer<Float>, on grid: WorkGrid,
        into target: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        let (width, height) = (grid.width, grid.height)
        let sums = unsafe sums.reserve(width + 2, filler: 0) + 1
        for y in 0..<height {
            let above = y > 0 ? y &- 1 : min(1, height &- 1)
            let below = y < height &- 1 ? y &+ 1 : max(height &- 2, 0)
            let row = unsafe target + y &* width
            for channel in 0..<3 {
                let plane = channel &* grid.count
                let (a, b, c) = (plane &+ above &* width, plane &+ y &* width, plane &+ below &* width)
                unsafe loops.subtractRows(now + a, now + b, now + c, less: before - now, count: width, into: sums)
                unsafe sums[-1] = sums[min(1, width &- 1)]
                unsafe sums[width] = sums[max(width &- 2, 0)]
                unsafe loops.addSquaredMeans(sums, count: width, factor: 1 / 9, isFirst: channel == 0, into: row)
            }
        }
    }
}
