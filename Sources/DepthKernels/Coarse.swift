/// Halves masks and maps: each cell is the mean of the two samples that it covers and of their two neighbours, along
/// each axis, with weights of 3 and 1 eighths. That keeps the finest patterns from becoming coarse ones (aliasing), where
/// plain means of two would not.
struct Coarse: ~Copyable {
    private var one = OpacityStorage()
    private var other = OpacityStorage()

    /// - Precondition: the grid's cells are larger than a sample.
    mutating func halve(_ mask: BinaryMask, to grid: MatteGrid, _ bands: MatteBands, _ loops: Loops) -> OpacityMap {
        let half = one.reserveHalf(width: mask.width, height: mask.height)
        bands.share(HalfMask(mask: mask, target: half, loops: loops), rows: half.height, width: half.width)
        return halve(half, by: grid.cellSize / 2, isInOne: true, bands, loops)
    }

    /// - Precondition: the map has the samples of the grid.
    mutating func halve(_ map: OpacityMap, to grid: MatteGrid, _ bands: MatteBands, _ loops: Loops) -> OpacityMap {
        halve(map, by: grid.cellSize, isInOne: false, bands, loops)
    }

    /// Goes from one memory to the other, and back.
    ///
    /// - parameter isInOne: whether the map is in the first of them.
    private mutating func halve(
        _ map: OpacityMap, by size: Int, isInOne: Bool, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        var (map, size, isInOne) = (map, size, isInOne)
        while size > 1 {
            let half =
                isInOne
                ? other.reserveHalf(width: map.width, height: map.height)
                : one.reserveHalf(width: map.width, height: map.height)
            bands.share(HalfMap(source: map, target: half, loops: loops), rows: half.height, width: half.width)
            (map, size, isInOne) = (half, size / 2, !isInOne)
        }
        return map
    }
}

extension OpacityStorage {
    fileprivate mutating func reserveHalf(width: Int, height: Int) -> OpacityMap {
        reserve(width: groups(of: 2, in: width) + 2, height: groups(of: 2, in: height) + 2)
    }
}

/// The rows that a row of cells is made of, the outer ones first and last; beyond its ends a map repeats its own.
private func sourceRows(of row: Int, height: Int) -> SIMD4<Int> {
    let last = height &- 1
    func inside(_ y: Int) -> Int { min(max(y, 0), last) }
    return SIMD4(inside(2 &* row &- 3), inside(2 &* row &- 2), inside(2 &* row &- 1), inside(2 &* row))
}

private struct HalfMask: BandWork {
    let mask: BinaryMask
    let target: OpacityMap
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for row in rows {
            let sources = sourceRows(of: row, height: mask.height)
            target.clear(row: row)
            let (row0, row1) = unsafe (mask.row(sources[0]), mask.row(sources[1]))
            let (row2, row3) = unsafe (mask.row(sources[2]), mask.row(sources[3]))
            // A word of samples makes two blocks, which depend on three samples before it too.
            var before = Joined(samples(-64, sources))
            for word in 0..<mask.wordsPerRow {
                let here = unsafe Joined(
                    every: row0[word] & row1[word] & row2[word] & row3[word],
                    some: row0[word] | row1[word] | row2[word] | row3[word])
                let (every, some) = (here.every & (before.every &>> 61 | ~7), here.some | before.some &>> 61)
                before = here
                if some == 0 { continue }
                for block in (2 &* word)..<min(2 &* word &+ 2, target.blocks) {
                    if every == .max { target.opaque(row).insert(block) } else { fill(block, row, sources) }
                }
            }
            // What lies behind the last sample repeats it.
            for block in (2 &* mask.wordsPerRow)..<max(target.blocks, 2 &* mask.wordsPerRow) {
                fill(block, row, sources)
            }
        }
    }

    /// What samples of some rows have in common.
    private struct Joined {
        let every: UInt64
        let some: UInt64

        init(every: UInt64, some: UInt64) {
            self.every = every
            self.some = some
        }

        init(_ samples: SIMD4<UInt64>) {
            every = samples[0] & samples[1] & samples[2] & samples[3]
            some = samples[0] | samples[1] | samples[2] | samples[3]
        }
    }

    private func fill(_ block: Int, _ row: Int, _ sources: SIMD4<Int>) {
        let samples = samples(2 &* blockWidth &* block &- 3, sources)
        let joined = Joined(samples)
        if joined.some & HalfMask.ofBlock == 0 { return }
        if joined.every & HalfMask.ofBlock == HalfMask.ofBlock { return target.opaque(row).insert(block) }
        target.mixed(row).insert(block)
        unsafe loops.halveBits(samples, target.row(row) + block &* blockWidth)
    }

    private func samples(_ first: Int, _ rows: SIMD4<Int>) -> SIMD4<UInt64> {
        SIMD4(
            mask.samples(from: first, row: rows[0]), mask.samples(from: first, row: rows[1]),
            mask.samples(from: first, row: rows[2]), mask.samples(from: first, row: rows[3]))
    }

    /// The samples that a block depends on.
    private static let ofBlock: UInt64 = (1 << 34) - 1
}

extension BinaryMask {
    /// The 64 samples from number `first` on; beyond its ends the row repeats its first and last.
    ///
    /// - Precondition: `first` is −64 or above.
    @inline(__always)
    fileprivate func samples(from first: Int, row y: Int) -> UInt64 {
        let row = unsafe row(y)
        if first < 0 {
            let beyond = unsafe row[0] & 1 == 0 ? 0 : UInt64.max
            let count = UInt64(truncatingIfNeeded: -first)
            return unsafe row[0] << count | beyond >> (64 &- count)
        }
        let (word, shift) = (first &>> 6, UInt64(truncatingIfNeeded: first & 63))
        let beyond = unsafe row[wordsPerRow &- 1] &>> 63 == 0 ? 0 : UInt64.max
        let low = unsafe word < wordsPerRow ? row[word] : beyond
        guard shift > 0 else { return low }
        let high = unsafe word &+ 1 < wordsPerRow ? row[word &+ 1] : beyond
        return low &>> shift | high &<< (64 &- shift)
    }
}

private struct HalfMap: BandWork {
    let source: OpacityMap
    let target: OpacityMap
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let length = source.paddedWidth + HalfMap.margin
        let line = unsafe memory.blur.line.reserve(HalfMap.margin + length + target.paddedWidth, filler: 0)
        let middle = unsafe line + HalfMap.margin
        let sorting = Sorting(&memory.blur.bits, blocks: target.blocks)
        for row in rows {
            unsafe add(sourceRows(of: row, height: source.height), into: middle)
            unsafe line.update(repeating: middle[0], count: HalfMap.margin)
            let end = unsafe middle + source.width
            unsafe end.update(repeating: end[-1], count: length - source.width)
            unsafe loops.halveLine(middle - 3, target.width, middle + length)
            unsafe target.put(middle + length, row: row, sorting: sorting, loops)
        }
    }

    /// Four rows of the source, weighed.
    private func add(_ rows: SIMD4<Int>, into line: UnsafeMutablePointer<Float>) {
        for block in 0..<source.blocks {
            let (one, two) = (source.lanes(block, row: rows[0]), source.lanes(block, row: rows[1]))
            let (three, four) = (source.lanes(block, row: rows[2]), source.lanes(block, row: rows[3]))
            unsafe storeLanes((one + four) * 0.125 + (two + three) * 0.375, to: line + block &* blockWidth)
        }
    }

    /// Samples that are repeated at either end, at least as many as cells reach beyond the map.
    private static let margin = blockWidth
}
