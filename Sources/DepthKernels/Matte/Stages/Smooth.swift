import CDepthKernels

/// The stage that softens the mask, and widens or narrows what it has softened: a Gaussian along the rows, then along the
/// columns, then opacity ^ gamma. The map's edges are replicated.
///
/// A wide Gaussian is computed on cells: the mask is decimated first (`CellGrid`). Single precision throughout: a
/// gamma of 0.25 makes the far tails of the Gaussian visible, which fewer bits would lose. Where the kernel covers only
/// clear samples, or only opaque ones, the result is 0 or 1 without arithmetic, and exact.
///
/// Source: steps 3 and 4 of Apple's sample, `CIGaussianBlur`, with the numbers of `cv2.GaussianBlur`, and `CIGammaAdjust`
/// with a power of 0.5.
struct Smooth: ~Copyable {
    private var kernel = GaussianKernel()
    private var decimated = OpacityStorage()
    private var decimatedTwice = OpacityStorage()
    private var rows = OpacityStorage()
    private var result = OpacityStorage()
    private var plainRows = Scratch<Int32>()

    /// - Parameters:
    ///   - sigma: in depth samples; 0 for none, which gives back the mask itself.
    ///   - gamma: finite and above 0.
    /// - Returns: the smoothed mask on the grid, valid until the next call.
    /// - Precondition: the mask has the size of the grid's depth map.
    mutating func smooth(
        _ mask: OpacityMap, sigma: Double, gamma: Double, on grid: CellGrid, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        let gamma = Gamma(exponent: Float(gamma), loops: loops)
        guard sigma > 0 else {
            bands.share(GammaRows(map: mask, gamma: gamma), rows: mask.height, width: mask.width)
            return mask
        }
        let source = decimate(mask, cellSize: grid.cellSize, bands, loops)
        let (width, height) = (source.width, source.height)
        let weights = kernel.weights(of: GaussianParameters(sigma: sigma, on: grid))
        let rows = rows.reserve(width: width, height: height, beyond: weights.radius)
        bands.share(
            GaussianRows(source: source, target: rows, weights: weights, loops: loops), rows: height, width: width)
        let result = result.reserve(width: width, height: height)
        let work = unsafe GaussianColumns(
            source: rows, target: result, plainRows: countPlainRows(of: rows), weights: weights, gamma: gamma)
        bands.share(work, rows: height, width: width)
        return result
    }

    /// Halves the map until its cells have the given size, alternating between two buffers.
    private mutating func decimate(
        _ mask: OpacityMap, cellSize: Int, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        var (map, size) = (mask, 1)
        while size < cellSize {
            let (width, height) = (CellGrid.decimated(map.width), CellGrid.decimated(map.height))
            let isFirstMemory = size == 1 || size == 4
            let half =
                isFirstMemory
                ? decimated.reserve(width: width, height: height)
                : decimatedTwice.reserve(width: width, height: height)
            bands.share(Decimation(source: map, target: half, loops: loops), rows: height, width: width)
            (map, size) = (half, 2 * size)
        }
        return map
    }

    /// For each block, the number of rows, from its row downwards, that are all clear or all opaque in it; 0 where it is mixed.
    private mutating func countPlainRows(of map: OpacityMap) -> UnsafePointer<Int32> {
        let counts = unsafe plainRows.reserve(map.blocks * map.height, filler: 0)
        for y in (0..<map.height).reversed() {
            for block in 0..<map.blocks {
                let (cover, index) = (map.cover(block, row: y), y &* map.blocks &+ block)
                let continues = y &+ 1 < map.height && map.cover(block, row: y &+ 1) == cover
                unsafe counts[index] = cover == .mixed ? 0 : continues ? counts[index &+ map.blocks] &+ 1 : 1
            }
        }
        return unsafe UnsafePointer(counts)
    }
}

/// Convolves rows of opacities with a Gaussian.
private struct GaussianRows: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let loops: Loops

    /// Opacities from here on count as opaque: the weights of a kernel add up to 1 only up to rounding.
    private static let almostOpaque: Float = 1 - 0x1p-20

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let (radius, count) = (weights.radius, source.blocks * blockWidth)
        let reach = groups(of: blockWidth, in: radius)
        let line = unsafe memory.line.reserve(count + 2 * radius, filler: 0)
        for y in rows {
            var loaded = -1
            func isMixed(_ block: Int) -> Bool {
                let cover = source.cover((block &- reach)...(block &+ reach), row: y)
                if cover != .mixed { target.fill(block, row: y, with: cover) }
                return cover == .mixed
            }
            forEachRun(of: target.blocks, where: isMixed) { run in
                let row = unsafe source.row(y)
                if loaded != y {
                    loaded = y
                    unsafe line.update(repeating: row[0], count: radius)
                    unsafe (line + radius).update(from: row, count: count)
                    unsafe (line + radius + count).update(repeating: row[count &- 1], count: radius)
                }
                let start = run.lowerBound &* blockWidth
                unsafe loops.convolve(
                    line + radius + start, blocks: run.count, .init(weights: weights.first, radius: radius, step: 1),
                    into: target.row(y) + start)
                target.classify(run, row: y, opaque: GaussianRows.almostOpaque, loops)
            }
            if y == 0 { for beyond in 1...radius { copy(row: 0, to: 0 &- beyond) } }
            if y == source.height &- 1 { for beyond in 1...radius { copy(row: y, to: y &+ beyond) } }
        }
    }

    private func copy(row y: Int, to other: Int) {
        unsafe target.row(other).update(from: target.row(y), count: target.blocks &* blockWidth)
    }
}

/// Convolves the columns of a map with a Gaussian.
@safe
private struct GaussianColumns: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    /// Of `Smooth.countPlainRows`.
    let plainRows: UnsafePointer<Int32>
    let weights: KernelWeights
    let gamma: Gamma

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for y in rows {
            forEachRun(of: target.blocks, where: { isMixed($0, row: y) }) { run in
                let start = run.lowerBound &* blockWidth
                unsafe gamma.loops.convolve(
                    source.row(y) + start, blocks: run.count,
                    .init(weights: weights.first, radius: weights.radius, step: source.stride),
                    into: target.row(y) + start)
                gamma.apply(to: run, row: y, of: target)
            }
            target.pad(row: y)
        }
    }

    /// True where a block must be computed; fills it otherwise.
    private func isMixed(_ block: Int, row y: Int) -> Bool {
        let (first, last) = (max(y &- weights.radius, 0), min(y &+ weights.radius, source.height &- 1))
        if unsafe Int(plainRows[first &* source.blocks &+ block]) <= last &- first { return true }
        target.fill(block, row: y, with: source.cover(block, row: y))
        return false
    }
}

/// Raises opacities to a power.
private struct Gamma {
    let exponent: Float
    let loops: Loops

    /// Opacities nearer than this to 0 or 1 count as clear or opaque: a quarter of a step of 8-bit alpha.
    private static let invisible: Float = 0.25 / 255

    func apply(to run: Range<Int>, row y: Int, of map: OpacityMap) {
        let first = unsafe map.row(y) + run.lowerBound &* blockWidth
        unsafe loops.raise(first, count: run.count &* blockWidth, to: exponent)
        map.classify(run, row: y, clear: Gamma.invisible, opaque: 1 - Gamma.invisible, loops)
    }
}

private struct GammaRows: BandWork {
    let map: OpacityMap
    let gamma: Gamma

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for y in rows {
            map.forEachMixedRun(row: y) { run in gamma.apply(to: run, row: y, of: map) }
            map.pad(row: y)
        }
    }
}
