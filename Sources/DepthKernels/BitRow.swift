/// Some of the samples of a row, or of its blocks of samples, by their numbers: one bit for each, 64 in a word.
///
/// Most of a matte is plain, and a word says so of 64 at once.
@safe
struct BitRow {
    let words: UnsafeMutablePointer<UInt64>

    init(_ words: UnsafeMutablePointer<UInt64>) { unsafe self.words = words }

    @inline(__always)
    func contains(_ index: Int) -> Bool { unsafe words[index &>> 6] &>> UInt64(truncatingIfNeeded: index) & 1 != 0 }

    @inline(__always)
    func insert(_ index: Int) { unsafe words[index &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: index) }

    @inline(__always)
    func remove(_ index: Int) { unsafe words[index &>> 6] &= ~(1 &<< UInt64(truncatingIfNeeded: index)) }

    /// - Precondition: `0 <= range.lowerBound`.
    func insert(_ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, (start | 63) &+ 1)
            let ones = UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- (end &- start))
            unsafe words[start &>> 6] |= ones &<< UInt64(truncatingIfNeeded: start)
            start = end
        }
    }

    /// The first number at `start` or behind it that is in the set; `end` where there is none before that.
    @inline(__always)
    func first(from start: Int, to end: Int) -> Int { first(from: start, to: end, flipping: 0) }

    /// The same for the first that is not.
    @inline(__always)
    func firstMissing(from start: Int, to end: Int) -> Int { first(from: start, to: end, flipping: .max) }

    @inline(__always)
    private func first(from start: Int, to end: Int, flipping: UInt64) -> Int {
        guard start < end else { return end }
        var place = start
        var word = unsafe (words[place &>> 6] ^ flipping) &>> UInt64(truncatingIfNeeded: place)
        while word == 0 {
            place = (place | 63) &+ 1
            if place >= end { return end }
            word = unsafe words[place &>> 6] ^ flipping
        }
        return min(place &+ word.trailingZeroBitCount, end)
    }

    /// Calls `body` for each row of neighbours in the set, from left to right. What `body` does to them, or to those
    /// before, does not matter.
    @inline(__always)
    func forEachRun(upTo count: Int, _ body: (Range<Int>) -> Void) {
        var start = first(from: 0, to: count)
        while start < count {
            let end = firstMissing(from: start, to: count)
            body(start..<end)
            start = first(from: end, to: count)
        }
    }
}
