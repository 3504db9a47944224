/// Halves masks and maps: each cell is the mean of the two samples that it covers and of their two neighbours, along
/// each axis, with weights of 3 and 1 eighths. That keeps the finest patterns from becoming coarse ones (aliasing), where
/// plain means of two would not.
///
/// A mask that changes seldom goes another way, with the same weights (`StepResponse`).
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
            target.clear(row: row)
            halve(sourceRows(of: row, height: mask.height), to: row)
        }
    }

    /// A word of samples makes two blocks of cells, which depend on three samples before it too.
    private func halve(_ sources: SIMD4<Int>, to row: Int) {
        let rows = unsafe FourMaskRows(
            mask.row(sources[0]), mask.row(sources[1]), mask.row(sources[2]), mask.row(sources[3]),
            words: mask.wordsPerRow)
        var (everyBefore, someBefore) = (rows.every(-1), rows.some(-1))
        for word in 0..<groups(of: 2, in: target.blocks) {
            let (everyHere, someHere) = (rows.every(word), rows.some(word))
            let (every, some) = (everyHere & (everyBefore &>> 61 | ~7), someHere | someBefore &>> 61)
            (everyBefore, someBefore) = (everyHere, someHere)
            if some == 0 { continue }
            if every == .max {
                target.opaque(row).insert((2 &* word)..<min(2 &* word &+ 2, target.blocks))
            } else {
                let (here, before) = (rows.words(word), rows.words(word &- 1))
                fill(2 &* word, row, here &<< 3 | before &>> 61)
                if 2 &* word &+ 1 < target.blocks { fill(2 &* word &+ 1, row, here &>> 29) }
            }
        }
    }

    /// - parameter samples: those that the block depends on, the first in the lowest bit.
    private func fill(_ block: Int, _ row: Int, _ samples: SIMD4<UInt64>) {
        let every = samples[0] & samples[1] & samples[2] & samples[3]
        let some = samples[0] | samples[1] | samples[2] | samples[3]
        if some & HalfMask.ofBlock == 0 { return }
        if every & HalfMask.ofBlock == HalfMask.ofBlock { return target.opaque(row).insert(block) }
        target.mixed(row).insert(block)
        unsafe loops.halveBits(samples, target.row(row) + block &* blockWidth)
    }

    /// The samples that a block depends on.
    private static let ofBlock: UInt64 = (1 << 34) - 1
}

/// Four rows of a mask, 64 samples in a word. Words before the first and behind the last repeat the row's first or last sample.
@safe
private struct FourMaskRows {
    private let row0: UnsafePointer<UInt64>
    private let row1: UnsafePointer<UInt64>
    private let row2: UnsafePointer<UInt64>
    private let row3: UnsafePointer<UInt64>
    private let count: Int

    init(
        _ row0: UnsafePointer<UInt64>, _ row1: UnsafePointer<UInt64>, _ row2: UnsafePointer<UInt64>,
        _ row3: UnsafePointer<UInt64>, words: Int
    ) {
        unsafe (self.row0, self.row1) = (row0, row1)
        unsafe (self.row2, self.row3) = (row2, row3)
        count = words
    }

    /// A word of each.
    @inline(__always)
    func words(_ word: Int) -> SIMD4<UInt64> {
        if word < 0 { return unsafe 0 &- (SIMD4(row0[0], row1[0], row2[0], row3[0]) & 1) }
        let place = min(word, count &- 1)
        let words = unsafe SIMD4(row0[place], row1[place], row2[place], row3[place])
        return word < count ? words : 0 &- words &>> 63
    }

    /// The samples that are set in all of them.
    @inline(__always)
    func every(_ word: Int) -> UInt64 { beyond(word) { unsafe row0[$0] & row1[$0] & row2[$0] & row3[$0] } }

    /// Those that are set in any.
    @inline(__always)
    func some(_ word: Int) -> UInt64 { beyond(word) { unsafe row0[$0] | row1[$0] | row2[$0] | row3[$0] } }

    @inline(__always)
    private func beyond(_ word: Int, _ place: (Int) -> UInt64) -> UInt64 {
        if word < 0 { return 0 &- place(0) & 1 }
        return word < count ? place(word) : 0 &- place(count &- 1) &>> 63
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
        let (mixed, opaque) = (Joined(rows, source.mixed), Joined(rows, source.opaque))
        for block in 0..<source.blocks {
            let target = unsafe line + block &* blockWidth
            if opaque.isInAll(block) {
                unsafe storeLanes(Lanes(repeating: 1), to: target)
            } else if !mixed.isInAny(block) && !opaque.isInAny(block) {
                unsafe storeLanes(Lanes(repeating: 0), to: target)
            } else {
                let (one, two) = (source.lanes(block, row: rows[0]), source.lanes(block, row: rows[1]))
                let (three, four) = (source.lanes(block, row: rows[2]), source.lanes(block, row: rows[3]))
                unsafe storeLanes((one + four) * 0.125 + (two + three) * 0.375, to: target)
            }
        }
    }

    /// A set of blocks in each of four rows.
    private struct Joined {
        private let one: BitRow
        private let two: BitRow
        private let three: BitRow
        private let four: BitRow

        init(_ rows: SIMD4<Int>, _ set: (Int) -> BitRow) {
            (one, two, three, four) = (set(rows[0]), set(rows[1]), set(rows[2]), set(rows[3]))
        }

        @inline(__always)
        func isInAll(_ block: Int) -> Bool {
            one.contains(block) && two.contains(block) && three.contains(block) && four.contains(block)
        }

        @inline(__always)
        func isInAny(_ block: Int) -> Bool {
            one.contains(block) || two.contains(block) || three.contains(block) || four.contains(block)
        }
    }

    /// Samples that are repeated at either end, at least as many as cells reach beyond the map.
    private static let margin = blockWidth
}
