/// Decimates a map by 2 along both axes with the filter 1 3 3 1 (eighths): each cell is the weighted mean of the two
/// samples that it covers and of their two neighbours. Plain means of two would alias more.
struct Decimation: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        // Room for the samples of the last block of cells, and the three before the first.
        let line = unsafe memory.line.reserve(2 * target.stride + source.stride, filler: 0) + blockWidth
        for y in rows {
            let sources = sourceRows(of: y)
            forEachRun(of: target.blocks, where: { isMixed($0, row: y, of: sources) }) { run in
                let samples = (2 &* run.lowerBound &- 1)..<(2 &* run.upperBound)
                for block in samples {
                    unsafe storeLanes(sum(of: block, in: sources), to: line + block &* blockWidth)
                }
                let start = run.lowerBound &* blockWidth
                unsafe loops.decimate(
                    line + (2 &* start &- 3), count: run.count &* blockWidth, into: target.row(y) + start)
                target.classify(run, row: y, loops)
            }
            target.pad(row: y)
        }
    }

    /// True where a block of cells must be computed; fills it otherwise.
    private func isMixed(_ block: Int, row y: Int, of sources: SIMD4<Int>) -> Bool {
        // The last cells repeat the map's edge.
        let first = min(2 &* block &- 1, source.blocks &- 1)
        let run = first...max(2 &* block &+ 1, first)
        let cover = source.cover(run, row: sources[0])
        for tap in 1..<4 where source.cover(run, row: sources[tap]) != cover { return true }
        if cover != .mixed { target.fill(block, row: y, with: cover) }
        return cover == .mixed
    }

    /// The rows that a row of cells depends on; the map's first and last row are replicated.
    private func sourceRows(of row: Int) -> SIMD4<Int> {
        (SIMD4(-3, -2, -1, 0) &+ 2 &* row)
            .clamped(lowerBound: .zero, upperBound: SIMD4(repeating: source.height &- 1))
    }

    /// The weighted sum of a block of four rows. Blocks beyond the map's ends repeat its first and last opacity.
    private func sum(of block: Int, in rows: SIMD4<Int>) -> Lanes {
        func lanes(_ tap: Int) -> Lanes {
            // One block beyond each end is stored.
            unsafe loadLanes(source.row(rows[tap]) + min(block, source.blocks) &* blockWidth)
        }
        return (lanes(0) + lanes(3)) * 0.125 + (lanes(1) + lanes(2)) * 0.375
    }
}
