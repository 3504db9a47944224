/// An image of opacities, 0…1, one for each depth sample or for each cell of several (`CellGrid`).
///
/// Most of a matte is entirely background or entirely person, so each block of 16 opacities of a row has a cover, and
/// stages skip what is clear or opaque. Before its first and after its last sample a row repeats these.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    private let covers: UnsafeMutablePointer<Cover>
    let width: Int
    let height: Int
    /// Blocks in a row; the last may reach beyond the map.
    let blocks: Int
    /// Numbers from one row to the next.
    let stride: Int

    /// Numbers before the first block of a row, and after its last one.
    static let margin = blockWidth

    fileprivate init(
        values: UnsafeMutablePointer<Float>, covers: UnsafeMutablePointer<Cover>, width: Int, height: Int
    ) {
        unsafe self.values = values
        unsafe self.covers = covers
        self.width = width
        self.height = height
        blocks = groups(of: blockWidth, in: width)
        stride = OpacityMap.stride(width: width)
    }

    fileprivate static func stride(width: Int) -> Int { groups(of: blockWidth, in: width) * blockWidth + 2 * margin }

    /// The first opacity of a row.
    ///
    /// - Precondition: the row is in the map, or in the rows that the storage has beyond it.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* stride }

    /// - Precondition: the block is in the map.
    @inline(__always)
    func cover(_ block: Int, row y: Int) -> Cover { unsafe covers[y &* blocks &+ block] }

    /// The cover that some neighbouring blocks of a row have in common; those beyond its ends are left out.
    @inline(__always)
    func cover(_ run: ClosedRange<Int>, row y: Int) -> Cover {
        let (first, last) = (max(run.lowerBound, 0), min(run.upperBound, blocks &- 1))
        let cover = cover(first, row: y)
        var block = first &+ 1
        while block <= last {
            if self.cover(block, row: y) != cover { return .mixed }
            block &+= 1
        }
        return cover
    }

    /// Makes all opacities of a block 0 or 1. Those that are so since the last frame are not written again.
    @inline(__always)
    func fill(_ block: Int, row y: Int, with cover: Cover) {
        if self.cover(block, row: y) == cover { return }
        unsafe covers[y &* blocks &+ block] = cover
        unsafe (row(y) + block &* blockWidth).update(repeating: cover == .opaque ? 1 : 0, count: blockWidth)
    }

    /// Finds the covers of some blocks whose opacities have been written.
    ///
    /// - Parameters:
    ///   - clear: the largest opacity that counts as 0.
    ///   - opaque: the smallest opacity that counts as 1.
    func classify(_ run: Range<Int>, row y: Int, clear: Float = 0, opaque: Float = 1, _ loops: Loops) {
        let covers = unsafe UnsafeMutableRawPointer(self.covers + (y &* blocks &+ run.lowerBound))
        unsafe loops.findCovers(
            row(y) + run.lowerBound &* blockWidth, blocks: run.count, clear: clear, opaque: opaque,
            into: covers.assumingMemoryBound(to: UInt8.self))
    }

    /// Repeats a row's first and last opacity beyond its ends.
    func pad(row y: Int) {
        let row = unsafe row(y)
        unsafe (row - OpacityMap.margin).update(repeating: row[0], count: OpacityMap.margin)
        unsafe (row + width).update(repeating: row[width &- 1], count: stride &- OpacityMap.margin &- width)
    }

    /// Calls `body` for each run of blocks of a row that are mixed, from left to right. `body` may change their covers.
    @inline(__always)
    func forEachMixedRun(row y: Int, _ body: (_ blocks: Range<Int>) -> Void) {
        forEachRun(of: blocks, where: { cover($0, row: y) == .mixed }, body)
    }
}

/// Calls `body` for each run of numbers below `count` for which `isMember` holds, from left to right.
@inline(__always)
func forEachRun(of count: Int, where isMember: (Int) -> Bool, _ body: (Range<Int>) -> Void) {
    var next = 0
    while next < count {
        let start = next
        while next < count && isMember(next) { next &+= 1 }
        if next > start { body(start..<next) }
        next &+= 1
    }
}

/// Storage of an opacity map, kept from frame to frame.
struct OpacityStorage: ~Copyable {
    private var values = Scratch<Float>()
    private var covers = Scratch<Cover>()
    private var shape = (width: 0, height: 0, beyond: 0)

    /// - Parameter beyond: rows before the first one, and after the last.
    mutating func reserve(width: Int, height: Int, beyond: Int = 0) -> OpacityMap {
        let (blocks, stride) = (groups(of: blockWidth, in: width), OpacityMap.stride(width: width))
        let values = unsafe values.reserve(stride * (height + 2 * beyond), filler: 0)
        let covers = unsafe covers.reserve(blocks * height, filler: .mixed)
        if shape != (width, height, beyond) {
            unsafe covers.update(repeating: .mixed, count: blocks * height)
            shape = (width, height, beyond)
        }
        return unsafe OpacityMap(
            values: values + (beyond &* stride &+ OpacityMap.margin), covers: covers, width: width, height: height)
    }
}
