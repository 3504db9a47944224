/// An image of opacities, 0…1, one for each depth sample or for each cell of several (`CellGrid`).
///
/// Most of a matte is entirely background or entirely person: sets tell where, and stages skip that. Before its first and after
/// its last sample a row repeats these.
@safe
struct OpacityMap {
    private let values: UnsafeMutablePointer<Float>
    let width: Int
    let height: Int
    /// Numbers from one row to the next.
    let stride: Int
    /// The samples whose opacity is 0, and those whose opacity is 1 (`classify`).
    let clear: SampleSet
    let opaque: SampleSet

    /// Numbers before the first sample of a row, and at least as many after its last one.
    static let margin = blockWidth

    fileprivate init(values: UnsafeMutablePointer<Float>, words: UnsafeMutablePointer<UInt64>, width: Int, height: Int)
    {
        unsafe self.values = values
        self.width = width
        self.height = height
        stride = OpacityMap.stride(width: width)
        let set = unsafe SampleSet(
            words: words, stride: SampleSet.stride(width: width), width: width, height: height)
        clear = set
        opaque = unsafe set.placed(in: words, 1)
    }

    fileprivate static func stride(width: Int) -> Int { groups(of: blockWidth, in: width) * blockWidth + 2 * margin }

    /// The first opacity of a row.
    ///
    /// - Precondition: the row is in the map, or in the rows that the storage has beyond it.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe values + y &* stride }

    /// Completes a row that has been written: finds which of its opacities count as 0 and as 1, and repeats the first
    /// and the last one beyond its ends.
    ///
    /// - Parameters:
    ///   - clear: the largest opacity that counts as 0.
    ///   - opaque: the smallest opacity that counts as 1.
    func finish(row y: Int, clear: Float = 0, opaque: Float = 1, _ loops: Loops) {
        let row = unsafe row(y)
        unsafe (row - OpacityMap.margin).update(repeating: row[0], count: OpacityMap.margin)
        unsafe (row + width).update(repeating: row[width &- 1], count: stride &- OpacityMap.margin &- width)
        unsafe loops.classify(
            row, blocks: 0..<groups(of: blockWidth, in: width), clear: clear, opaque: opaque,
            into: (self.clear.row(y), self.opaque.row(y)))
        self.clear.trim(row: y)
        self.opaque.trim(row: y)
    }
}

extension BitRow {
    /// Calls `body` for each run of blocks of 16 samples that hold members, from left to right.
    @inline(__always)
    func forEachRunOfBlocks(upTo count: Int, _ body: (_ blocks: Range<Int>) -> Void) {
        var start = first(from: 0, to: count)
        while start < count {
            var (end, next) = (start, start)
            while next < count, next / blockWidth <= groups(of: blockWidth, in: end) {
                end = firstMissing(from: next, to: count)
                next = first(from: end, to: count)
            }
            body(start / blockWidth..<groups(of: blockWidth, in: end))
            start = next
        }
    }
}

/// Storage of an opacity map, kept from frame to frame.
struct OpacityStorage: ~Copyable {
    private var values = Scratch<Float>()
    private var words = Scratch<UInt64>()

    /// - Parameter beyond: rows before the first one, and after the last.
    mutating func reserve(width: Int, height: Int, beyond: Int = 0) -> OpacityMap {
        let stride = OpacityMap.stride(width: width)
        let values = unsafe values.reserve(stride * (height + 2 * beyond), filler: 0)
        let words = unsafe words.reserve(2 * SampleSet.stride(width: width) * height, filler: 0)
        return unsafe OpacityMap(
            values: values + (beyond &* stride &+ OpacityMap.margin), words: words, width: width, height: height)
    }
}
