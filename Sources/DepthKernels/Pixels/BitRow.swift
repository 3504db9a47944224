/// A set of samples of one row, as one bit for each sample, 64 in a word.
@safe
struct BitRow {
    let words: UnsafeMutablePointer<UInt64>

    init(_ words: UnsafeMutablePointer<UInt64>) { unsafe self.words = words }

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

    /// - Precondition: `0 <= range.lowerBound`.
    func remove(_ range: Range<Int>) {
        for index in (range.lowerBound &>> 6)..<max(groups(of: 64, in: range.upperBound), range.lowerBound &>> 6) {
            unsafe words[index] &= ~BitRow.word(index, of: range)
        }
    }

    /// The bits of a range in one word of a row.
    @inline(__always)
    static func word(_ index: Int, of range: Range<Int>) -> UInt64 {
        let (start, end) = (range.lowerBound &- index &* 64, range.upperBound &- index &* 64)
        guard start < 64, end > 0, start < end else { return 0 }
        let low = UInt64.max &<< UInt64(truncatingIfNeeded: max(start, 0))
        return low & UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- min(end, 64))
    }

    /// The number of members in a range.
    func count(in range: Range<Int>) -> Int {
        var count = 0
        for index in (range.lowerBound &>> 6)..<groups(of: 64, in: range.upperBound) {
            unsafe count &+= (words[index] & BitRow.word(index, of: range)).nonzeroBitCount
        }
        return count
    }

    /// The bits of a block of 16 samples; the first sample has the lowest bit.
    @inline(__always)
    subscript(block block: Int) -> UInt16 {
        unsafe UInt16(truncatingIfNeeded: words[block &>> 2] &>> UInt64(truncatingIfNeeded: (block & 3) &* 16))
    }

    @inline(__always)
    func contains(_ index: Int) -> Bool { unsafe words[index &>> 6] &>> UInt64(truncatingIfNeeded: index) & 1 != 0 }

    /// The first member at or after `start`; `end` where there is none below it.
    @inline(__always)
    func first(from start: Int, to end: Int) -> Int { first(from: start, to: end, flipping: 0) }

    /// The last member before `end`; nil where there is none.
    @inline(__always)
    func last(before end: Int) -> Int? {
        var place = end
        while place > 0 {
            let index = (place &- 1) &>> 6
            let word = unsafe words[index] & UInt64.max &>> UInt64(truncatingIfNeeded: (index &+ 1) &* 64 &- place)
            if word != 0 { return index &* 64 &+ 63 &- word.leadingZeroBitCount }
            place = index &* 64
        }
        return nil
    }

    /// The first number at or after `start` that is not a member; `end` where there is none below it.
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

    /// True where every number of the range is a member.
    @inline(__always)
    func containsAll(_ range: Range<Int>) -> Bool {
        firstMissing(from: range.lowerBound, to: range.upperBound) == range.upperBound
    }

    /// True where a number of the range is a member.
    @inline(__always)
    func intersects(_ range: Range<Int>) -> Bool {
        first(from: range.lowerBound, to: range.upperBound) < range.upperBound
    }

    /// Calls `body` for each run of neighbouring members below `count`, from left to right.
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
