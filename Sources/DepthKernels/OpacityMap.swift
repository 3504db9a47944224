/// Opacities that are worked on together; every row of an opacity map is a whole number of them.
typealias Lanes = SIMD16<Float>

/// How many opacities there are in a block.
let blockWidth = Lanes.scalarCount

/// A picture of opacities, 0…1, at the depth map's size, with what is known of each block of it.
///
/// Only blocks that are mixed hold numbers: what the others stand for is never written nor read, as most of a matte is
/// plainly background or plainly person. Rows are padded to whole blocks; the padding repeats the last opacity of the
/// row, as the blur asks for at the edge.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    /// For each row the set of its mixed blocks, then that of its opaque ones.
    private let sets: UnsafeMutablePointer<UInt64>
    let width: Int
    let height: Int
    /// Blocks in a row.
    let blocks: Int
    /// Words of a set.
    let words: Int

    fileprivate init(
        values: UnsafeMutablePointer<Float>, sets: UnsafeMutablePointer<UInt64>, width: Int, height: Int
    ) {
        unsafe self.values = values
        unsafe self.sets = sets
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
        words = groups(of: 64, in: blocks)
    }

    /// Opacities in a row, with its padding.
    var paddedWidth: Int { blocks &* blockWidth }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* paddedWidth }

    /// The blocks of a row that hold anything but all 0 or all 1.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func mixed(_ y: Int) -> BlockSet { unsafe BlockSet(sets + 2 &* y &* words) }

    /// The blocks of a row that are all 1; none of them is mixed.
    ///
    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func opaque(_ y: Int) -> BlockSet { unsafe BlockSet(sets + (2 &* y &+ 1) &* words) }

    /// The bits of a word of a set that stand for blocks.
    @inline(__always)
    func valid(_ word: Int) -> UInt64 {
        let left = blocks &- word &* 64
        return left >= 64 ? .max : (1 &<< UInt64(truncatingIfNeeded: left)) &- 1
    }

    /// Makes all of a row 0.
    func clear(row y: Int) { unsafe mixed(y).words.update(repeating: 0, count: 2 &* words) }

    /// Says of a block what its opacities, which were computed, have turned out to be.
    @inline(__always)
    func note(_ cover: Cover, block: Int, row y: Int) {
        switch cover {
        case .mixed: mixed(y).insert(block)
        case .opaque:
            mixed(y).remove(block)
            opaque(y).insert(block)
        case .clear: mixed(y).remove(block)
        }
    }

    /// Writes the opacities of a block elsewhere, whatever is known of it.
    ///
    /// - Precondition: the block is inside the map.
    @inline(__always)
    func copyBlock(_ block: Int, row y: Int, to target: UnsafeMutablePointer<Float>) {
        if mixed(y).contains(block) {
            unsafe storeLanes(loadLanes(row(y) + block &* blockWidth), to: target)
        } else {
            unsafe storeLanes(Lanes(repeating: opaque(y).contains(block) ? 1 : 0), to: target)
        }
    }

    /// One opacity, whatever is known of its block.
    ///
    /// - Precondition: it is inside the map.
    @inline(__always)
    func opacity(x: Int, y: Int) -> Float {
        if mixed(y).contains(x / blockWidth) { return unsafe row(y)[x] }
        return opaque(y).contains(x / blockWidth) ? 1 : 0
    }

    /// The sum of the opacities of some rows.
    func sum(rows: Range<Int>) -> Double {
        var sum = 0.0
        for y in rows {
            var opaqueBlocks = 0
            for word in 0..<words { unsafe opaqueBlocks &+= opaque(y).words[word].nonzeroBitCount }
            var lanes = Lanes(repeating: 0)
            mixed(y).forEachRun(upTo: blocks) { run in
                for block in run { unsafe lanes += loadLanes(self.row(y) + block &* blockWidth) }
            }
            let padding = Float(paddedWidth &- width) * opacity(x: width &- 1, y: y)
            sum += Double(lanes.sum() - padding) + Double(opaqueBlocks &* blockWidth)
        }
        return sum
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
            sets: sets.reserve(2 * groups(of: 64, in: blocks) * height, filler: 0), width: width, height: height)
    }
}
