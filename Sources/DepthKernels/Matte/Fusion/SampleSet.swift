/// A set of samples of the grid: a bit for each, 64 in a word, rows in whole words. Bits after a row's last sample are
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

    /// - Precondition: the row is inside the grid.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt64> { unsafe words + y &* stride }

    @inline(__always)
    func bits(_ y: Int) -> BitRow { unsafe BitRow(row(y)) }

    /// Computes every word of the set from its index.
    @inline(__always)
    func fill(_ word: (Int) -> UInt64) { for index in 0..<wordCount { unsafe words[index] = word(index) } }

    func removeAll() { unsafe words.update(repeating: 0, count: wordCount) }

    /// Finds the columns that are members in all of some rows.
    func intersect(rows: Range<Int>, into target: UnsafeMutablePointer<UInt64>) {
        for index in 0..<stride {
            var word = UInt64.max
            for y in rows { unsafe word &= row(y)[index] }
            unsafe target[index] = word
        }
    }

    /// Clears the bits after the rows' last samples.
    func trim() { for y in 0..<height { trim(row: y) } }

    @inline(__always)
    func trim(row y: Int) {
        guard width & 63 != 0 else { return }
        unsafe row(y)[stride &- 1] &= UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- width & 63)
    }
}
