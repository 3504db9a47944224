/// One half of a symmetric Gaussian, the middle first; the whole of it adds up to 1.
///
/// weight(d) ~ exp(−d² / 2σ²) for |d| <= ceil(4σ), normalised in double precision and kept as `Float`, as
/// `cv2.getGaussianKernel` does.
struct GaussianKernel {
    let sigma: Double
    let weights: [Float]

    /// Samples on either side of the middle.
    var radius: Int { weights.count - 1 }

    /// - Precondition: `0 < sigma <= 100`.
    init(sigma: Double) {
        self.sigma = sigma
        let radius = ceilIndex(4 * sigma, in: 1...400)
        let bell = (0...radius).map { exponential(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = bell[0] + 2 * bell.dropFirst().reduce(0, +)
        weights = bell.map { Float($0 / sum) }
    }
}

/// A Gaussian blur of an opacity map: first along the rows, then along the columns, edges replicated; then the
/// gamma of what it made, where that is asked for.
///
/// Single precision throughout: a gamma of 0.25 makes the far tails of the bell visible, which fewer bits would lose.
/// Where a block and all that the kernel reaches from it are clear, or all opaque, the result is known without
/// arithmetic, and exact.
struct GaussianBlur: ~Copyable {
    private var kernel = GaussianKernel(sigma: 1)
    private var between = OpacityStorage()
    private var paddedLine = Scratch<Float>()
    private var alikeBefore = Scratch<Int32>()

    /// Blurs in place.
    ///
    /// - parameter gamma: nil where the opacities are worked on afterwards, so that the faintest of them matter.
    /// - Precondition: `0 < sigma <= 100`.
    mutating func apply(to map: OpacityMap, sigma: Double, gamma: GammaCurve?, _ loops: Loops) {
        if kernel.sigma != sigma { kernel = GaussianKernel(sigma: sigma) }
        let halfDone = between.reserve(width: map.width, height: map.height)
        let longest = max(map.paddedWidth, map.height &* blockWidth)
        let line = unsafe paddedLine.reserve(longest + 2 * kernel.radius * blockWidth, filler: 0)
        let alike = unsafe alikeBefore.reserve(map.blocks, filler: 0)
        let pass = unsafe BlurPass(radius: kernel.radius, line: line, alike: alike, loops: loops)
        unsafe kernel.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            unsafe pass.blurRows(of: map, into: halfDone, weights: weights)
            pass.findReach(in: halfDone, into: map)
            unsafe pass.blurColumns(of: halfDone, into: map, weights: weights, gamma: gamma)
        }
    }
}

/// The weights of a kernel add up to 1 but for rounding.
let almostOpaque: Float = 1 - 0x1p-20

/// A quarter of the smallest step that a byte of alpha can show: what is nearer than that to clear or opaque counts as
/// such.
let unseen: Float = 0.25 / 255

/// One frame's work.
@safe
private struct BlurPass {
    let radius: Int
    /// Room for a row, or a column of blocks, and what the kernel reaches beyond its ends.
    private let line: UnsafeMutablePointer<Float>
    /// Room for a number for each block of a row.
    private let alike: UnsafeMutablePointer<Int32>
    private let loops: Loops

    init(radius: Int, line: UnsafeMutablePointer<Float>, alike: UnsafeMutablePointer<Int32>, loops: Loops) {
        self.radius = radius
        unsafe self.line = line
        unsafe self.alike = alike
        self.loops = loops
    }

    // MARK: Along the rows

    func blurRows(of source: OpacityMap, into target: OpacityMap, weights: UnsafePointer<Float>) {
        let reach = groups(of: blockWidth, in: radius)
        for y in 0..<source.height {
            let covers = unsafe source.coverRow(y)
            let newCovers = unsafe target.coverRow(y)
            unsafe findRuns(in: covers, count: source.blocks)
            var isLineFilled = false
            var run = 0..<0
            for block in 0..<source.blocks {
                let last = min(block &+ reach, source.blocks &- 1)
                let needed = last &- max(block &- reach, 0) &+ 1
                let known = unsafe Int(alike[last]) >= needed ? covers[block] : .mixed
                unsafe newCovers[block] = known
                if known == .mixed { run = (run.isEmpty ? block : run.lowerBound)..<(block &+ 1) }
                guard !run.isEmpty, known != .mixed || block == source.blocks &- 1 else { continue }
                if !isLineFilled { fillLine(from: source, row: y) }
                isLineFilled = true
                let start = run.lowerBound &* blockWidth
                unsafe loops.weigh(
                    line + radius + start, run.count, 1, weights, radius, target.row(y) + start, blockWidth)
                // The kernel reaches less far than whole blocks do: many are plain after all.
                unsafe loops.sortBlocks(
                    target.row(y) + start, run.count, blockWidth, 0, almostOpaque,
                    target.coverBytes(y) + run.lowerBound, 1)
                run = 0..<0
            }
        }
    }

    /// For each block, how many blocks that end with it are known to be all alike; 0 where it is mixed.
    private func findRuns(in covers: UnsafePointer<Cover>, count: Int) {
        var before: Int32 = 0
        var last = Cover.mixed
        for block in 0..<count {
            let here = unsafe covers[block]
            before = here == .mixed ? 0 : (here == last ? before &+ 1 : 1)
            last = here
            unsafe alike[block] = before
        }
    }

    /// The row with as many replicated samples on either side as the kernel is long.
    private func fillLine(from map: OpacityMap, row y: Int) {
        let middle = unsafe line + radius
        for block in 0..<map.blocks { unsafe map.copyBlock(block, row: y, to: middle + block &* blockWidth) }
        unsafe line.update(repeating: middle[0], count: radius)
        unsafe (middle + map.paddedWidth).update(repeating: middle[map.paddedWidth &- 1], count: radius)
    }

    // MARK: Along the columns

    /// Says of each block of the target what is known of it: what all that the kernel reaches from it has in common.
    func findReach(in source: OpacityMap, into target: OpacityMap) {
        // A block is known where the last `needed` rows up to the end of its reach are alike.
        unsafe alike.update(repeating: 0, count: source.blocks)
        var seen = 0
        for y in 0..<source.height {
            let last = min(y &+ radius, source.height &- 1)
            while seen <= last {
                countAlike(source, row: seen)
                seen &+= 1
            }
            let needed = Int32(truncatingIfNeeded: last &- max(y &- radius, 0) &+ 1)
            let covers = unsafe source.coverBytes(y)
            let newCovers = unsafe target.coverBytes(y)
            for block in 0..<source.blocks {
                unsafe newCovers[block] = alike[block] >= needed ? covers[block] : Cover.mixed.rawValue
            }
        }
    }

    /// Counts how many rows that end with this one are known to be all alike, for each block.
    private func countAlike(_ map: OpacityMap, row y: Int) {
        let covers = unsafe map.coverBytes(y)
        let above = unsafe map.coverBytes(max(y &- 1, 0))
        for block in 0..<map.blocks {
            let here = unsafe covers[block]
            let continued = unsafe here == above[block] ? alike[block] &+ 1 : 1
            unsafe alike[block] = here == Cover.mixed.rawValue ? 0 : continued
        }
    }

    /// Fills the blocks of the target that are mixed.
    func blurColumns(
        of source: OpacityMap, into target: OpacityMap, weights: UnsafePointer<Float>, gamma: GammaCurve?
    ) {
        let low = gamma == nil ? 0 : unseen
        for block in 0..<source.blocks {
            // The column, in `line`, begins `radius` rows above the map.
            var filled = -radius
            var y = 0
            while y < source.height {
                guard unsafe target.coverRow(y)[block] == .mixed else {
                    y &+= 1
                    continue
                }
                let first = y
                while y < source.height, unsafe target.coverRow(y)[block] == .mixed { y &+= 1 }
                filled = max(filled, first &- radius)
                while filled < y &+ radius {
                    let row = min(max(filled, 0), source.height &- 1)
                    unsafe source.copyBlock(block, row: row, to: line + (filled &+ radius) &* blockWidth)
                    filled &+= 1
                }
                let results = unsafe target.row(first) + block &* blockWidth
                unsafe loops.weigh(
                    line + (first &+ radius) &* blockWidth, y &- first, blockWidth, weights, radius, results,
                    target.paddedWidth)
                unsafe gamma?.apply(to: results, blocks: y &- first, stride: target.paddedWidth, loops)
                unsafe loops.sortBlocks(
                    results, y &- first, target.paddedWidth, low, min(1 - low, almostOpaque),
                    target.coverBytes(first) + block,
                    target.coverStride)
            }
        }
    }
}
