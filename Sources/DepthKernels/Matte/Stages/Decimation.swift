/// Decimates a map by 2 along both axes with the filter 1 3 3 1 (eighths): each cell is the weighted mean of the two
/// samples that it covers and of their two neighbours. Plain means of two would alias more.
struct Decimation: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let loops: Loops

    /// Samples that are replicated before the first; at least the three that the first cell depends on.
    private static let margin = blockWidth

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let words = source.words
        let sets = unsafe memory.filter.sets.reserve(3 * words, filler: 0)
        let length = Decimation.margin + max(source.paddedWidth, 2 * target.paddedWidth) + Decimation.margin
        let line = unsafe memory.filter.line.reserve(length, filler: 0) + Decimation.margin
        for y in rows {
            let sources = sourceRows(of: y)
            for word in 0..<(2 &* words) {
                unsafe sets[word] =
                    source.clear(sources[0]).words[word] & source.clear(sources[1]).words[word]
                    & source.clear(sources[2]).words[word] & source.clear(sources[3]).words[word]
            }
            target.forgetSets(row: y)
            unsafe insertCells(of: BitRow(sets), into: target.clear(y), sets + 2 &* words)
            unsafe insertCells(of: BitRow(sets + words), into: target.opaque(y), sets + 2 &* words)
            target.forEachMixedRun(row: y) { run in
                unsafe fill(line, about: run, of: sources)
                let start = run.lowerBound &* blockWidth
                let results = unsafe target.row(y) + start
                unsafe loops.decimate(line + (2 &* start &- 3), count: run.count &* blockWidth, into: results)
                unsafe target.classify(results, blocks: run, row: y, clear: 0, opaque: 1, loops)
            }
        }
    }

    /// The rows that a row of cells depends on; the map's first and last row are replicated.
    private func sourceRows(of row: Int) -> SIMD4<Int> {
        (SIMD4(-3, -2, -1, 0) &+ 2 &* row)
            .clamped(lowerBound: .zero, upperBound: SIMD4(repeating: source.height &- 1))
    }

    /// Inserts the cells that depend on members of the set only; some in short runs may be missing. Cell c depends on
    /// samples 2c − 3 to 2c.
    private func insertCells(of set: BitRow, into cells: BitRow, _ starts: UnsafeMutablePointer<UInt64>) {
        let width = source.paddedWidth
        unsafe set.forEachLongRun(upTo: width, starts: starts) { run in
            let start = run.lowerBound == 0 ? 0 : (run.lowerBound &+ 4) / 2
            let end = run.upperBound == width ? target.paddedWidth : (run.upperBound &+ 1) / 2
            if start < end { cells.insert(start..<end) }
        }
    }

    /// Writes the weighted sum of four rows to a line, as far as a run of blocks of cells needs it.
    private func fill(_ line: UnsafeMutablePointer<Float>, about run: Range<Int>, of rows: SIMD4<Int>) {
        let blocks = (2 &* run.lowerBound &- 1)..<(2 &* run.upperBound)
        for block in blocks.clamped(to: 0..<source.blocks) {
            let outer = source.lanes(block, row: rows[0]) + source.lanes(block, row: rows[3])
            let inner = source.lanes(block, row: rows[1]) + source.lanes(block, row: rows[2])
            unsafe storeLanes(outer * 0.125 + inner * 0.375, to: line + block &* blockWidth)
        }
        if run.lowerBound == 0 {
            unsafe (line - Decimation.margin).update(repeating: line[0], count: Decimation.margin)
        }
        let (width, needed) = (source.paddedWidth, 2 &* run.upperBound &* blockWidth)
        if needed > width {
            unsafe (line + width).update(repeating: line[width &- 1], count: needed &- width)
        }
    }
}
