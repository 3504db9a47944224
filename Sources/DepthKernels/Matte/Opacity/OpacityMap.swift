/// A block of opacities, processed as one vector; a row of an opacity map consists of whole blocks.
typealias Lanes = SIMD16<Float>

/// Opacities in a block.
let blockWidth = Lanes.scalarCount

/// An image of opacities, 0…1, one for each depth sample or for each cell of several (`CellGrid`).
///
/// Most of a matte is entirely background or entirely person, so each row has two sets of samples: those that are clear
/// (exactly 0) and those that are opaque (exactly 1). The opacities of a block of 16 samples that are all in one of the
/// sets are not stored; only mixed blocks are. Rows are padded to whole blocks, as if the map's edge were replicated
/// without end.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    private let sets: UnsafeMutablePointer<UInt64>
    let width: Int
    let height: Int
    /// Blocks in a row.
    let blocks: Int
    /// Words of a set of a row's samples, in whole `SampleWords`.
    let words: Int

    fileprivate init(
        values: UnsafeMutablePointer<Float>, sets: UnsafeMutablePointer<UInt64>, width: Int, height: Int
    ) {
        unsafe self.values = values
        unsafe self.sets = sets
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
        words = OpacityMap.words(width: width)
    }

    fileprivate static func words(width: Int) -> Int {
        groups(of: 64 * SampleWords.scalarCount, in: width) * SampleWords.scalarCount
    }

    /// Opacities in a row, with its padding.
    var paddedWidth: Int { blocks &* blockWidth }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* paddedWidth }

    /// The samples of a row that are exactly 0.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func clear(_ y: Int) -> BitRow { unsafe BitRow(sets + 2 &* y &* words) }

    /// The samples of a row that are exactly 1. Their words follow those of the clear ones.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func opaque(_ y: Int) -> BitRow { unsafe BitRow(sets + (2 &* y &+ 1) &* words) }

    @inline(__always)
    func cover(ofBlock block: Int, row y: Int) -> Cover {
        if clear(y)[block: block] == .max { return .clear }
        return opaque(y)[block: block] == .max ? .opaque : .mixed
    }

    /// The opacities of a block, stored or not.
    ///
    /// - Precondition: the block is inside the map.
    @inline(__always)
    func lanes(_ block: Int, row y: Int) -> Lanes {
        switch cover(ofBlock: block, row: y) {
        case .clear: Lanes(repeating: 0)
        case .opaque: Lanes(repeating: 1)
        case .mixed: unsafe loadLanes(row(y) + block &* blockWidth)
        }
    }

    /// Marks every sample of a row as neither clear nor opaque.
    func forgetSets(row y: Int) { unsafe clear(y).words.update(repeating: 0, count: 2 &* words) }

    /// Updates the sets for a run of blocks.
    ///
    /// - Parameters:
    ///   - opacities: those of the blocks, contiguous.
    ///   - clear: the largest opacity that counts as 0.
    ///   - opaque: the smallest opacity that counts as 1.
    func classify(
        _ opacities: UnsafePointer<Float>, blocks run: Range<Int>, row y: Int, clear: Float, opaque: Float,
        _ loops: Loops
    ) {
        unsafe loops.classify(
            opacities, blocks: run, clear: clear, opaque: opaque, clearBits: self.clear(y).words,
            opaqueBits: self.opaque(y).words)
    }

    /// Stores a row of opacities in the map: its sets and its mixed blocks. This is the usual way for a stage to write.
    ///
    /// - Parameter line: `paddedWidth` numbers; those from `width` on are written here.
    func put(_ line: UnsafeMutablePointer<Float>, row y: Int, _ loops: Loops) {
        for x in width..<paddedWidth { unsafe line[x] = line[width &- 1] }
        unsafe classify(line, blocks: 0..<blocks, row: y, clear: 0, opaque: 1, loops)
        forEachMixedRun(row: y) { run in
            let start = run.lowerBound &* blockWidth
            unsafe (row(y) + start).update(from: line + start, count: run.count &* blockWidth)
        }
    }

    /// A bit for each of the four blocks that share a word of the sets: 1 for a mixed block.
    @inline(__always)
    func mixedBlocks(inWord word: Int, row y: Int) -> UInt8 {
        let (clear, opaque) = unsafe (self.clear(y).words[word], self.opaque(y).words[word])
        if clear == .max || opaque == .max { return 0 }
        var mixed: UInt8 = 0
        for lane in 0..<min(4, blocks &- 4 &* word) {
            let mask = 0xffff &<< UInt64(truncatingIfNeeded: 16 &* lane)
            if clear & mask != mask && opaque & mask != mask { mixed |= 1 &<< UInt8(truncatingIfNeeded: lane) }
        }
        return mixed
    }

    /// Calls `body` for each run of mixed blocks of a row, from left to right. `body` may change the sets of these
    /// blocks.
    @inline(__always)
    func forEachMixedRun(row y: Int, _ body: (_ blocks: Range<Int>) -> Void) {
        var start: Int?
        for word in 0..<groups(of: 4, in: blocks) {
            let mixed = mixedBlocks(inWord: word, row: y)
            // Most words have no mixed block.
            if mixed == 0 && start == nil { continue }
            for lane in 0..<4 {
                let isMixed = mixed &>> UInt8(truncatingIfNeeded: lane) & 1 == 1
                if isMixed && start == nil { start = 4 &* word &+ lane }
                if !isMixed, let first = start {
                    body(first..<(4 &* word &+ lane))
                    start = nil
                }
            }
        }
        if let first = start { body(first..<blocks) }
    }

    /// The sum of a row's opacities, each times the weight of its column.
    func sum(row y: Int, weights: UnsafePointer<Float>) -> Double {
        var sum = Lanes(repeating: 0)
        for block in 0..<blocks where cover(ofBlock: block, row: y) != .clear {
            unsafe sum += lanes(block, row: y) * loadLanes(weights + block &* blockWidth)
        }
        return Double(sum.sum())
    }
}

/// Words of a set of samples, processed as one vector.
typealias SampleWords = SIMD4<UInt64>

@inline(__always)
func loadLanes(_ source: UnsafePointer<Float>) -> Lanes {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always)
func storeLanes(_ lanes: Lanes, to target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: lanes, as: Lanes.self)
}

/// Storage of an opacity map, kept from frame to frame.
struct OpacityStorage: ~Copyable {
    private var values = Scratch<Float>()
    private var sets = Scratch<UInt64>()

    mutating func reserve(width: Int, height: Int) -> OpacityMap {
        unsafe OpacityMap(
            values: values.reserve(groups(of: blockWidth, in: width) * blockWidth * height, filler: 0),
            sets: sets.reserve(2 * OpacityMap.words(width: width) * height, filler: 0), width: width, height: height)
    }
}
