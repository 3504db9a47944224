/// Finds the samples of which the kernel reaches clear samples only, or opaque ones only, along their column.
struct ColumnSets: ~Copyable {
    private var spans = Scratch<UInt64>()

    /// - Precondition: both maps have the same size.
    mutating func find(in source: OpacityMap, radius: Int, into target: OpacityMap) {
        // The clear and the opaque set of a row lie one behind the other.
        let (words, height) = (2 * source.words, source.height)
        let spans = unsafe spans.reserve(words * height, filler: 0)
        unsafe spans.update(from: source.clear(0).words, count: words * height)
        // The members that all rows of a span of one row, of two, of four… have in common, by its first row. Two spans that
        // overlap make one of any length.
        var span = 1
        while span &* 2 <= min(2 &* radius &+ 1, height) {
            let step = span &* words
            for index in 0..<(words &* height &- step) { unsafe spans[index] &= spans[index &+ step] }
            span &*= 2
        }
        for y in 0..<height {
            let first = max(y &- radius, 0)
            let second = max(first, min(y &+ radius, height &- 1) &- span &+ 1)
            let sets = unsafe target.clear(y).words
            for word in 0..<words {
                unsafe sets[word] = spans[first &* words &+ word] & spans[second &* words &+ word]
            }
        }
    }
}

/// Convolves columns of blocks with a Gaussian, where the target's sets do not tell the result.
struct GaussianColumns: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let line = unsafe memory.filter.line.reserve((source.height + 2 * weights.radius) * blockWidth, filler: 0)
        // Few rows at a time, so that those of one column of blocks are still in the cache for the next; but not too few, as
        // the kernel's reach about them is gathered each time.
        let step = max(64, 4 &* weights.radius)
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
            let end = min(start &+ step, rows.upperBound)
            for word in 0..<groups(of: 4, in: target.blocks) { unsafe convolve(word, start..<end, line) }
        }
    }

    /// Finds the runs of rows in which the blocks of a word are mixed.
    private func convolve(_ word: Int, _ rows: Range<Int>, _ line: UnsafeMutablePointer<Float>) {
        var (open, starts) = (UInt8(0), SIMD4<Int>())
        for y in rows.lowerBound...rows.upperBound {
            let mixed = y < rows.upperBound ? target.mixedBlocks(inWord: word, row: y) : 0
            if mixed == open { continue }
            for lane in 0..<4 {
                let bit: UInt8 = 1 &<< UInt8(truncatingIfNeeded: lane)
                if mixed & ~open & bit != 0 { starts[lane] = y }
                if open & ~mixed & bit != 0 { unsafe convolve(block: 4 &* word &+ lane, starts[lane]..<y, line) }
            }
            open = mixed
        }
    }

    private func convolve(block: Int, _ rows: Range<Int>, _ line: UnsafeMutablePointer<Float>) {
        let radius = weights.radius
        for index in 0..<(rows.count &+ 2 &* radius) {
            let y = min(max(rows.lowerBound &- radius &+ index, 0), source.height &- 1)
            unsafe storeLanes(source.lanes(block, row: y), to: line + index &* blockWidth)
        }
        // The sums may go where their first summands were: no block behind reaches that far back.
        unsafe loops.convolve(
            line + radius &* blockWidth, blocks: rows.count, step: blockWidth, weights: weights.first, radius: radius,
            into: line)
        for (index, y) in rows.enumerated() {
            unsafe storeLanes(loadLanes(line + index &* blockWidth), to: target.row(y) + block &* blockWidth)
        }
    }
}
