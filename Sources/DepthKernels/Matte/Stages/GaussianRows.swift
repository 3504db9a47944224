/// Opacities from here on count as opaque: the weights of a kernel add up to 1 only up to rounding.
private let almostOpaque: Float = 1 - 0x1p-20

/// Convolves rows of opacities with a Gaussian.
struct GaussianRows: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let radius = weights.radius
        let line = unsafe memory.filter.line.reserve(source.paddedWidth + 2 * radius, filler: 0)
        let starts = unsafe memory.filter.sets.reserve(source.words, filler: 0)
        for y in rows {
            target.forgetSets(row: y)
            unsafe shrink(source.clear(y), into: target.clear(y), starts)
            unsafe shrink(source.opaque(y), into: target.opaque(y), starts)
            target.forEachMixedRun(row: y) { run in
                unsafe fill(line + radius, about: run, row: y)
                let start = run.lowerBound &* blockWidth
                let results = unsafe target.row(y) + start
                unsafe loops.convolve(
                    line + radius + start, blocks: run.count, step: 1, weights: weights.first, radius: radius,
                    into: results)
                unsafe target.classify(results, blocks: run, row: y, clear: 0, opaque: almostOpaque, loops)
            }
        }
    }

    /// Erodes a set by the kernel's radius; some samples in short runs may be missing.
    private func shrink(_ set: BitRow, into target: BitRow, _ starts: UnsafeMutablePointer<UInt64>) {
        let (width, radius) = (source.paddedWidth, weights.radius)
        unsafe set.forEachLongRun(upTo: width, starts: starts) { run in
            let start = run.lowerBound == 0 ? 0 : run.lowerBound &+ radius
            let end = run.upperBound == width ? width : run.upperBound &- radius
            if start < end { target.insert(start..<end) }
        }
    }

    /// Writes the opacities of a run of blocks of a row, and those within the kernel's radius about it, to a line.
    ///
    /// - Parameter line: the position of the row's first sample.
    private func fill(_ line: UnsafeMutablePointer<Float>, about run: Range<Int>, row y: Int) {
        let reach = groups(of: blockWidth, in: weights.radius)
        let blocks = (run.lowerBound &- reach)..<(run.upperBound &+ reach)
        for block in blocks.clamped(to: 0..<source.blocks) {
            unsafe storeLanes(source.lanes(block, row: y), to: line + block &* blockWidth)
        }
        if blocks.lowerBound <= 0 {
            unsafe (line - weights.radius).update(repeating: line[0], count: weights.radius)
        }
        if blocks.upperBound >= source.blocks {
            let end = unsafe line + source.paddedWidth
            unsafe end.update(repeating: end[-1], count: weights.radius)
        }
    }
}
