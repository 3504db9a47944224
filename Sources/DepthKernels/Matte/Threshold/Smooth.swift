import CDepthKernels

/// The stage that softens the mask, and widens or narrows what it has softened: a Gaussian along the rows, then along the
/// columns, then opacity ^ gamma. The map's edges are replicated.
///
/// A wide Gaussian is computed on cells: the mask is decimated first (`CellGrid`). Single precision throughout: a
/// gamma of 0.25 makes the far tails of the Gaussian visible, which fewer bits would lose. Where the kernel covers only
/// clear samples, or only opaque ones, the result is that, without arithmetic.
///
/// Source: steps 3 and 4 of Apple's sample, `CIGaussianBlur`, with the numbers of `cv2.GaussianBlur`, and `CIGammaAdjust`
/// with a power of 0.5.
struct Smooth: ~Copyable {
    private var kernel = GaussianKernel()
    private var decimated = OpacityStorage()
    private var rows = OpacityStorage()
    private var result = OpacityStorage()
    private var mixed = MixedSamples()

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
        let (width, height) = (grid.width, grid.height)
        var source = mask
        if grid.cellSize > 1 {
            source = decimated.reserve(width: width, height: height)
            bands.share(
                DecimatedRows(source: mask, target: source, grid: grid, loops: loops), rows: height,
                width: mask.width * (3 * grid.cellSize - 2))
        }
        let weights = kernel.weights(of: GaussianParameters(sigma: sigma, on: grid))
        let mixed = mixed.find(in: source, radius: weights.radius, loops)
        let rows = rows.reserve(width: width, height: height, beyond: weights.radius)
        // For the number of bands: eight pixels of a wide kernel are as much work as one that is copied.
        let work = width * (1 + weights.radius / 8)
        bands.share(
            GaussianRows(source: source, target: rows, mixed: mixed.alongRows, weights: weights, loops: loops),
            rows: height, width: work)
        let result = result.reserve(width: width, height: height)
        bands.share(
            GaussianColumns(
                original: source, rows: rows, target: result, mixed: mixed.around, weights: weights, gamma: gamma,
                loops: loops), rows: height, width: work)
        return result
    }
}

/// The samples whose neighbours are neither all clear nor all opaque.
private struct MixedSamples: ~Copyable {
    private var memory = Scratch<UInt64>()
    private var dilation = Dilation()

    /// - Returns: those with such neighbours in their row, and in the square about them, each up to `radius` samples away.
    mutating func find(
        in map: OpacityMap, radius: Int, _ loops: Loops
    ) -> (alongRows: SampleSet, around: SampleSet) {
        let sets: InlineArray<5, SampleSet> = memory.sets(like: map.clear)
        let (alongRows, around, opaqueAlongRows, opaqueAround, rest) = (sets[0], sets[1], sets[2], sets[3], sets[4])
        /// Finds the samples with one in reach that is not plain.
        func findNear(_ plain: SampleSet, into targets: InlineArray<2, SampleSet>) {
            rest.fill { ~plain[$0] }
            rest.trim()
            dilation.dilate(rest, rows: [0, radius], into: targets, loops) { _, _ in radius }
        }
        findNear(map.clear, into: [alongRows, around])
        findNear(map.opaque, into: [opaqueAlongRows, opaqueAround])
        alongRows.fill { alongRows[$0] & opaqueAlongRows[$0] }
        around.fill { around[$0] & opaqueAround[$0] }
        return (alongRows, around)
    }
}

/// Decimates a map along both axes by the size of a cell, s: each cell is the mean of its s·s samples after these have been
/// averaged twice over s·s neighbours. Plain means would alias more.
private struct DecimatedRows: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let grid: CellGrid
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let (size, width) = (grid.cellSize, source.width)
        let taps = 3 * size - 2
        let weights = SplineWeights(size)
        // The row, with as many samples beyond its ends as the outermost cells reach.
        let line = unsafe memory.line.reserve(width + 2 * taps + size, filler: 0)
        for y in rows {
            let first = grid.firstSample(of: y)
            for tap in 0..<taps {
                unsafe loops.addRow(
                    source.row(min(max(first &+ tap, 0), source.height &- 1)), weight: weights[tap], isFirst: tap == 0,
                    count: width, into: line + taps)
            }
            unsafe line.update(repeating: line[taps], count: taps)
            unsafe (line + taps + width).update(repeating: line[taps &+ width &- 1], count: taps &+ size)
            unsafe weights.values.span.withUnsafeBufferPointer { values in
                guard let values = values.baseAddress else { return }
                unsafe loops.decimate(
                    line + taps + grid.firstSample(of: 0), weights: values, step: size, count: target.width,
                    into: target.row(y))
            }
            target.finish(row: y, loops)
        }
    }
}

/// The weights of a quadratic B-spline that is sampled: `size` samples, averaged over `size` neighbours twice. They add up to 1.
private struct SplineWeights {
    let values: InlineArray<46, Float>

    /// - Parameter size: 2 to 16; the weights are `3 * size - 2`.
    init(_ size: Int) {
        var values = InlineArray<46, Float>(repeating: 0)
        let unit = 1 / Float(size * size * size)
        for one in 0..<size {
            for two in 0..<size {
                for three in 0..<size { values[one + two + three] += unit }
            }
        }
        self.values = values
    }

    subscript(tap: Int) -> Float { values[tap] }
}

/// Convolves rows of opacities with a Gaussian.
private struct GaussianRows: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    /// The samples to compute; the others stay as they are.
    let mixed: SampleSet
    let weights: KernelWeights
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let (radius, count) = (weights.radius, groups(of: blockWidth, in: source.width) * blockWidth)
        let line = unsafe memory.line.reserve(count + 2 * radius, filler: 0)
        for y in rows {
            let (row, result) = unsafe (source.row(y), target.row(y))
            unsafe result.update(from: row, count: count)
            var isLoaded = false
            mixed.bits(y).forEachRunOfBlocks(upTo: source.width) { run in
                if !isLoaded {
                    unsafe line.update(repeating: row[0], count: radius)
                    unsafe (line + radius).update(from: row, count: count)
                    unsafe (line + radius + count).update(repeating: row[count &- 1], count: radius)
                }
                isLoaded = true
                let start = run.lowerBound &* blockWidth
                unsafe loops.convolve(
                    line + radius + start, blocks: run.count, .init(weights: weights.first, radius: radius, step: 1),
                    into: result + start)
            }
            if y == 0 { for beyond in 1...radius { copy(row: 0, to: 0 &- beyond, count) } }
            if y == source.height &- 1 { for beyond in 1...radius { copy(row: y, to: y &+ beyond, count) } }
        }
    }

    private func copy(row y: Int, to other: Int, _ count: Int) {
        unsafe target.row(other).update(from: target.row(y), count: count)
    }
}

/// Convolves the columns of a map with a Gaussian, and raises the result to a power.
private struct GaussianColumns: BandWork {
    /// The map before it was convolved along its rows, and after that.
    let original: OpacityMap
    let rows: OpacityMap
    let target: OpacityMap
    /// The samples to compute; the others stay as they are.
    let mixed: SampleSet
    let weights: KernelWeights
    let gamma: Gamma
    let loops: Loops

    func work(_ band: Range<Int>, _ memory: MatteMemory) {
        for y in band {
            unsafe target.row(y).update(from: original.row(y), count: original.width)
            mixed.bits(y).forEachRunOfBlocks(upTo: original.width) { run in
                let start = run.lowerBound &* blockWidth
                unsafe loops.convolve(
                    rows.row(y) + start, blocks: run.count,
                    .init(weights: weights.first, radius: weights.radius, step: rows.stride),
                    into: target.row(y) + start)
                gamma.apply(to: run, row: y, of: target)
            }
            gamma.finish(row: y, of: target)
        }
    }
}

/// Raises opacities to a power.
private struct Gamma {
    let exponent: Float
    let loops: Loops

    /// Opacities nearer than this to 0 or 1 count as clear or opaque: a quarter of a step of 8-bit alpha.
    private static let invisible: Float = 0.25 / 255

    func apply(to blocks: Range<Int>, row y: Int, of map: OpacityMap) {
        let first = unsafe map.row(y) + blocks.lowerBound &* blockWidth
        unsafe loops.raise(first, count: blocks.count &* blockWidth, to: exponent)
    }

    func finish(row y: Int, of map: OpacityMap) {
        map.finish(row: y, clear: Gamma.invisible, opaque: 1 - Gamma.invisible, loops)
    }
}

/// Raises a map to a power, in place; 0 and 1 stay.
private struct GammaRows: BandWork {
    let map: OpacityMap
    let gamma: Gamma

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for y in rows {
            for block in 0..<groups(of: blockWidth, in: map.width) {
                let isPlain = map.clear.bits(y)[block: block] | map.opaque.bits(y)[block: block] == .max
                if !isPlain { gamma.apply(to: block..<(block &+ 1), row: y, of: map) }
            }
            gamma.finish(row: y, of: map)
        }
    }
}
