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

/// A Gaussian blur of an opacity map: first along the rows, then along the columns, edges replicated.
///
/// Single precision throughout: a gamma of 0.25 makes the far tails of the bell visible, which fewer bits would lose.
/// Where a block and all that the kernel reaches from it are clear, or all opaque, the result is known without
/// arithmetic, and exact.
struct GaussianBlur: ~Copyable {
    private var kernel = GaussianKernel(sigma: 1)
    private var between = OpacityStorage()
    private var paddedLine = Scratch<Float>()
    private var runLengths = Scratch<Int32>()

    /// Blurs in place.
    ///
    /// - Precondition: `0 < sigma <= 100`.
    mutating func apply(to map: OpacityMap, sigma: Double) {
        if kernel.sigma != sigma { kernel = GaussianKernel(sigma: sigma) }
        let halfDone = between.reserve(width: map.width, height: map.height)
        blurRows(of: map, into: halfDone)
        blurColumns(of: halfDone, into: map)
    }

    // MARK: Along the rows

    private mutating func blurRows(of source: OpacityMap, into target: OpacityMap) {
        let line = unsafe paddedLine.reserve(source.paddedWidth + 2 * kernel.radius, filler: 0)
        let runs = unsafe runLengths.reserve(source.blocks, filler: 0)
        for y in 0..<source.height {
            unsafe blurRow(y, of: source, into: target, line: line, runs: runs)
        }
    }

    private func blurRow(
        _ y: Int, of source: OpacityMap, into target: OpacityMap, line: UnsafeMutablePointer<Float>,
        runs: UnsafeMutablePointer<Int32>
    ) {
        let covers = unsafe source.coverRow(y)
        let newCovers = unsafe target.coverRow(y)
        unsafe findRuns(in: covers, count: source.blocks, runs: runs)
        let reach = groups(of: blockWidth, in: kernel.radius)
        var lineIsFilled = false
        for block in 0..<source.blocks {
            let last = min(block &+ reach, source.blocks &- 1)
            let needed = last &- max(block &- reach, 0) &+ 1
            let known = unsafe Int(runs[last]) >= needed ? covers[block] : .mixed
            unsafe newCovers[block] = known
            if known == .mixed {
                if !lineIsFilled { unsafe fillLine(line, from: source, row: y) }
                lineIsFilled = true
                unsafe target.setBlock(block, row: y, to: weighted(line + block &* blockWidth))
            } else {
                target.setBlock(block, row: y, to: Lanes(repeating: known == .opaque ? 1 : 0))
            }
        }
    }

    /// For each block, how many blocks that end with it are known to be all alike; 0 where it is mixed.
    private func findRuns(in covers: UnsafePointer<Cover>, count: Int, runs: UnsafeMutablePointer<Int32>) {
        for block in 0..<count {
            let here = unsafe covers[block]
            let before = unsafe block > 0 && covers[block &- 1] == here ? runs[block &- 1] : 0
            unsafe runs[block] = here == .mixed ? 0 : before &+ 1
        }
    }

    /// The row with as many replicated samples on either side as the kernel is long.
    private func fillLine(_ line: UnsafeMutablePointer<Float>, from map: OpacityMap, row y: Int) {
        let row = unsafe map.row(y)
        let radius = kernel.radius
        unsafe line.update(repeating: row[0], count: radius)
        unsafe (line + radius).update(from: row, count: map.paddedWidth)
        unsafe (line + radius + map.paddedWidth).update(repeating: row[map.width &- 1], count: radius)
    }

    /// The weighted sums of one block, whose kernels together start at `window`.
    @inline(__always)
    private func weighted(_ window: UnsafePointer<Float>) -> Lanes {
        let radius = kernel.radius
        let middle = unsafe window + radius
        var sum = unsafe loadLanes(middle) * kernel.weights[0]
        var distance = 1
        while distance <= radius {
            let pair = unsafe loadLanes(middle - distance) + loadLanes(middle + distance)
            sum += pair * kernel.weights[distance]
            distance &+= 1
        }
        return sum
    }

    // MARK: Along the columns

    private mutating func blurColumns(of source: OpacityMap, into target: OpacityMap) {
        let runs = unsafe runLengths.reserve(source.blocks * source.height, filler: 0)
        unsafe findColumnRuns(in: source, runs: runs)
        for y in 0..<source.height {
            let last = min(y &+ kernel.radius, source.height &- 1)
            let needed = last &- max(y &- kernel.radius, 0) &+ 1
            let covers = unsafe source.coverRow(y)
            let newCovers = unsafe target.coverRow(y)
            let lastRuns = unsafe runs + last &* source.blocks
            for block in 0..<source.blocks {
                let known = unsafe Int(lastRuns[block]) >= needed ? covers[block] : .mixed
                unsafe newCovers[block] = known
                let result =
                    known == .mixed
                    ? weightedColumn(block, row: y, of: source) : Lanes(repeating: known == .opaque ? 1 : 0)
                target.setBlock(block, row: y, to: result)
            }
        }
    }

    /// `findRuns` along every column of blocks, downwards.
    private func findColumnRuns(in map: OpacityMap, runs: UnsafeMutablePointer<Int32>) {
        for y in 0..<map.height {
            let covers = unsafe map.coverRow(y)
            for block in 0..<map.blocks {
                let here = unsafe covers[block]
                let continues = unsafe y > 0 && map.coverRow(y &- 1)[block] == here
                let before = unsafe continues ? runs[(y &- 1) &* map.blocks &+ block] : 0
                unsafe runs[y &* map.blocks &+ block] = here == .mixed ? 0 : before &+ 1
            }
        }
    }

    @inline(__always)
    private func weightedColumn(_ block: Int, row y: Int, of map: OpacityMap) -> Lanes {
        var sum = map.block(block, row: y) * kernel.weights[0]
        var distance = 1
        while distance <= kernel.radius {
            let above = map.block(block, row: max(y &- distance, 0))
            let below = map.block(block, row: min(y &+ distance, map.height &- 1))
            sum += (above + below) * kernel.weights[distance]
            distance &+= 1
        }
        return sum
    }
}
