/// Finds the samples about which the kernel covers only clear samples, or only opaque ones, along the column: an
/// erosion of both sets by the kernel's radius.
struct ColumnSets: ~Copyable {
    private var spans = Scratch<UInt64>()

    /// - Precondition: both maps have the same size.
    mutating func find(in source: OpacityMap, radius: Int, into target: OpacityMap) {
        // The clear and the opaque set of a row are adjacent in memory.
        let (words, height) = (2 * source.words, source.height)
        let spans = unsafe spans.reserve(words * height, filler: 0)
        unsafe spans.update(from: source.clear(0).words, count: words * height)
        // The intersections of spans of 1, 2, 4, … rows, indexed by their first row. A span of any length is the union
        // of two overlapping ones.
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

/// Convolves the mixed blocks of the target with a Gaussian along the columns.
struct GaussianColumns: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let weights: KernelWeights
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let line = unsafe memory.filter.line.reserve((source.height + 2 * weights.radius) * blockWidth, filler: 0)
        // Few rows at a time, so that they stay in the cache from one column of blocks to the next; but not too few, as
        // the rows within the kernel's radius are loaded again each time.
        let step = max(64, 4 &* weights.radius)
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: step) {
            let end = min(start &+ step, rows.upperBound)
            for word in 0..<groups(of: 4, in: target.blocks) { unsafe convolve(word, start..<end, line) }
        }
    }

    /// Finds the vertical runs of mixed blocks in the four columns of blocks that share a word of the sets, and
    /// convolves them.
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
        // In place: results are written `radius` rows before their middle, where no later block reads.
        unsafe loops.convolve(
            line + radius &* blockWidth, blocks: rows.count, step: blockWidth, weights: weights.first, radius: radius,
            into: line)
        for (index, y) in rows.enumerated() {
            unsafe storeLanes(loadLanes(line + index &* blockWidth), to: target.row(y) + block &* blockWidth)
        }
    }
}
