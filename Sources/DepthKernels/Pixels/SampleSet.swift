/// A set of samples of a map: a bit for each, 64 in a word, rows in whole words. Bits after a row's last sample are
/// 0.
@safe
struct SampleSet {
    let words: UnsafeMutablePointer<UInt64>
    /// Words of a row.
    let stride: Int
    let width: Int
    let height: Int

    static func stride(width: Int) -> Int { groups(of: 64, in: width) }

    var wordCount: Int { stride &* height }

    /// A set of the same size in other memory, the n-th of those that stand one behind another.
    func placed(in memory: UnsafeMutablePointer<UInt64>, _ index: Int = 0) -> SampleSet {
        unsafe SampleSet(words: memory + index &* wordCount, stride: stride, width: width, height: height)
    }

    /// A word of the set, by its index in all of them.
    @inline(__always)
    subscript(index: Int) -> UInt64 {
        get { unsafe words[index] }
        nonmutating set { unsafe words[index] = newValue }
    }

    /// A word of the set, by its index in a row.
    @inline(__always)
    subscript(index: Int, y: Int) -> UInt64 {
        get { unsafe words[y &* stride &+ index] }
        nonmutating set { unsafe words[y &* stride &+ index] = newValue }
    }

    /// - Precondition: the row is inside the grid.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt64> { unsafe words + y &* stride }

    @inline(__always)
    func bits(_ y: Int) -> BitRow { unsafe BitRow(row(y)) }

    /// Computes every word of the set from its index.
    @inline(__always)
    func fill(_ word: (Int) -> UInt64) { for index in 0..<wordCount { unsafe words[index] = word(index) } }

    var isEmpty: Bool { (0..<wordCount).allSatisfy { self[$0] == 0 } }

    func removeAll() { unsafe words.update(repeating: 0, count: wordCount) }

    /// Finds the columns that are members in all of some rows.
    func intersect(rows: Range<Int>, into target: UnsafeMutablePointer<UInt64>) {
        for index in 0..<stride {
            var word = UInt64.max
            for y in rows { word &= self[index, y] }
            unsafe target[index] = word
        }
    }

    /// Clears the bits after the rows' last samples.
    func trim() { for y in 0..<height { trim(row: y) } }

    @inline(__always)
    func trim(row y: Int) {
        guard width & 63 != 0 else { return }
        self[stride &- 1, y] &= UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- width & 63)
    }
}

extension Scratch<UInt64> {
    /// Sets of the size of another one, which keep their members.
    mutating func sets<let count: Int>(like set: SampleSet) -> InlineArray<count, SampleSet> {
        let memory = unsafe reserve(count * set.wordCount, filler: 0)
        return InlineArray { unsafe set.placed(in: memory, $0) }
    }
}

extension UInt64 {
    /// Calls `body` with the place of each bit that is set, the lowest first.
    @inline(__always)
    func forEachBit(_ body: (_ place: Int) -> Void) {
        var rest = self
        while rest != 0 {
            body(rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }
}
