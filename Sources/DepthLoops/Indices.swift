/// The numbers from `start` up to, and without, `end`; none where `end` is not above `start`.
///
/// For loops without traps: `start..<end` ends the host program where `end` is below `start`, and so does a loop over a range
/// that it cannot prove to be one. `Tests/traps.sh` counts the traps of this module: there are none.
struct Indices: Sequence, IteratorProtocol {
    private var index: Int
    private let end: Int

    @inline(__always)
    init(from start: Int, upTo end: Int) { (index, self.end) = (start, end) }

    @inline(__always)
    mutating func next() -> Int? {
        guard index < end else { return nil }
        defer { index &+= 1 }
        return index
    }
}

@inline(__always)
func upTo(_ end: Int, from start: Int = 0) -> Indices { Indices(from: start, upTo: end) }

@inline(__always)
func each(_ range: Range<Int>) -> Indices { Indices(from: range.lowerBound, upTo: range.upperBound) }
