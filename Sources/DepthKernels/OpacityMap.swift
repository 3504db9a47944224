/// Opacities that are worked on together; every row of an opacity map is a whole number of them.
typealias Lanes = SIMD16<Float>

/// How many opacities there are in a block.
let blockWidth = Lanes.scalarCount

/// A picture of opacities, 0…1, of the depth map's samples or of cells of several (`MatteGrid`), with what is known of each
/// block of it.
///
/// Only blocks that are mixed hold numbers: what the others stand for is never written nor read, as most of a matte is
/// plainly background or plainly person. Rows are padded to whole blocks; what the padding holds goes on as the row does
/// where its last opacity is repeated.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    /// For each row the sets of its mixed blocks, of its opaque blocks, of its mixed samples and of its opaque samples.
    private let sets: UnsafeMutablePointer<UInt64>
    let width: Int
    let height: Int
    /// Blocks in a row.
    let blocks: Int
    /// Words of a set of blocks.
    let words: Int
    /// Words of a set of samples.
    let sampleWords: Int

    fileprivate init(
        values: UnsafeMutablePointer<Float>, sets: UnsafeMutablePointer<UInt64>, width: Int, height: Int
    ) {
        unsafe self.values = values
        unsafe self.sets = sets
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
        words = groups(of: 64, in: blocks)
        sampleWords = OpacityMap.sampleWords(width: width)
    }

    /// Whole vectors of them.
    fileprivate static func sampleWords(width: Int) -> Int {
        groups(of: 64 * SampleWords.scalarCount, in: width) * SampleWords.scalarCount
    }

    private var setsOfRow: Int { 2 &* (words &+ sampleWords) }

    /// Opacities in a row, with its padding.
    var paddedWidth: Int { blocks &* blockWidth }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* paddedWidth }

    /// The blocks of a row that hold anything but all 0 or all 1.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func mixed(_ y: Int) -> BitRow { unsafe BitRow(sets + y &* setsOfRow) }

    /// The blocks of a row that are all 1; none of them is mixed.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func opaque(_ y: Int) -> BitRow { unsafe BitRow(sets + y &* setsOfRow + words) }

    /// The samples of a row that are neither 0 nor 1; known when the map is finished. Bits behind the
    /// last sample mean nothing.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func mixedSamples(_ y: Int) -> BitRow { unsafe BitRow(sets + y &* setsOfRow + 2 &* words) }

    /// The samples of a row that are 1; known when the map is finished.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func opaqueSamples(_ y: Int) -> BitRow { unsafe BitRow(sets + y &* setsOfRow + 2 &* words + sampleWords) }

    /// The bits of a word of a set that stand for blocks.
    @inline(__always)
    func valid(_ word: Int) -> UInt64 {
        let left = blocks &- word &* 64
        return left >= 64 ? .max : (1 &<< UInt64(truncatingIfNeeded: left)) &- 1
    }

    /// Makes all of a row 0.
    func clear(row y: Int) { unsafe mixed(y).words.update(repeating: 0, count: 2 &* words) }

    /// Says of a mixed block what its opacities have turned out to be.
    ///
    /// - parameter clear: a bit for each that is 0.
    /// - parameter opaque: a bit for each that is 1.
    /// - returns: whether it is mixed still.
    @inline(__always)
    func note(clear: UInt16, opaque: UInt16, block: Int, row y: Int) -> Bool {
        let isPlain = clear == .max || opaque == .max
        if isPlain { mixed(y).remove(block) }
        if opaque == .max { self.opaque(y).insert(block) }
        return !isPlain
    }

    /// The same for the samples of a block of a map that is being finished.
    @inline(__always)
    func noteSamples(clear: UInt16, opaque: UInt16, block: Int, row y: Int) {
        let (word, shift) = (block &>> 2, UInt64(truncatingIfNeeded: (block & 3) &* blockWidth))
        unsafe mixedSamples(y).words[word] |= UInt64(~(clear | opaque)) &<< shift
        unsafe opaqueSamples(y).words[word] |= UInt64(opaque) &<< shift
    }

    /// Says of the samples of a row what is known of their blocks; those of mixed blocks are still to be noted.
    func spreadToSamples(row y: Int) {
        for word in 0..<sampleWords {
            unsafe mixedSamples(y).words[word] = 0
            let first = word &* 4
            let bits = unsafe opaque(y).words[first &>> 6] &>> UInt64(truncatingIfNeeded: first)
            let ones = bits & 1 | (bits & 2) &<< 15 | (bits & 4) &<< 30 | (bits & 8) &<< 45
            unsafe opaqueSamples(y).words[word] = ones &* 0xffff
        }
    }

    /// The opacities of a block, whatever is known of it.
    ///
    /// - Precondition: the block is inside the map.
    @inline(__always)
    func lanes(_ block: Int, row y: Int) -> Lanes {
        if mixed(y).contains(block) { return unsafe loadLanes(row(y) + block &* blockWidth) }
        return Lanes(repeating: opaque(y).contains(block) ? 1 : 0)
    }

    /// Writes the opacities of a block elsewhere, whatever is known of it.
    ///
    /// - Precondition: the block is inside the map.
    @inline(__always)
    func copyBlock(_ block: Int, row y: Int, to target: UnsafeMutablePointer<Float>) {
        unsafe storeLanes(lanes(block, row: y), to: target)
    }

    /// One opacity, whatever is known of its block.
    ///
    /// - Precondition: it is inside the map.
    @inline(__always)
    func opacity(x: Int, y: Int) -> Float {
        if mixed(y).contains(x / blockWidth) { return unsafe row(y)[x] }
        return opaque(y).contains(x / blockWidth) ? 1 : 0
    }

    /// Whether a row may hold anything but 0.
    func isAnyTouched(row y: Int) -> Bool {
        for word in 0..<words where unsafe (mixed(y).words[word] | opaque(y).words[word]) != 0 { return true }
        return false
    }

    /// The sum of a row's opacities.
    func sum(row y: Int, _ loops: Loops) -> Double {
        unsafe loops.sumOfBlocks(row(y), mixed(y).words, opaque(y).words, words) - padding(row: y)
    }

    /// The sum of what lies behind a row's last opacity.
    private func padding(row y: Int) -> Double {
        let last = blocks &- 1
        guard mixed(y).contains(last) else { return opaque(y).contains(last) ? Double(paddedWidth &- width) : 0 }
        var sum: Float = 0
        for x in width..<paddedWidth { unsafe sum += row(y)[x] }
        return Double(sum)
    }
}

@inline(__always)
func loadLanes(_ source: UnsafePointer<Float>) -> Lanes {
    unsafe UnsafeRawPointer(source).loadUnaligned(as: Lanes.self)
}

@inline(__always)
func storeLanes(_ lanes: Lanes, to target: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(target).storeBytes(of: lanes, as: Lanes.self)
}

/// The memory of an opacity map, kept from frame to frame.
struct OpacityStorage: ~Copyable {
    private var values = Scratch<Float>()
    private var sets = Scratch<UInt64>()

    mutating func reserve(width: Int, height: Int) -> OpacityMap {
        let blocks = groups(of: blockWidth, in: width)
        return unsafe OpacityMap(
            values: values.reserve(blocks * blockWidth * height, filler: 0),
            sets: sets.reserve(
                2 * (groups(of: 64, in: blocks) + OpacityMap.sampleWords(width: width)) * height, filler: 0),
            width: width, height: height)
    }
}
