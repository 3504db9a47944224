/// The stage that gives samples beside steps to the person or to others: to the side with a near sample of the more alike depth.
///
/// Near is looked for along the row and the column, across anything.
///
/// Source: the project's own method.
struct RoughSamples: ~Copyable {
    /// Metres to a sample of the person, and to one of others.
    private static let (reach, reachOfOthers) = (0.25, 0.06)

    private var columns = Scratch<Int16>()
    /// Of each rough sample the rows of the last samples above it: the person's, and others'.
    private var above = Scratch<(person: Int16, other: Int16)>()

    /// The nearest sample of a side.
    private struct Nearest {
        /// Samples.
        private(set) var distance = Int.max
        /// Metres.
        private(set) var depth: Float = 0

        /// - Parameter rows: of the last samples above and below; -1 for none.
        @inline(__always)
        init(of side: SampleSet, to x: Int, _ y: Int, rows: (above: Int16, below: Int16), _ map: DepthPieces.Map) {
            if let left = side.bits(y).last(before: x) { look(x &- left, map, left, y) }
            if rows.above >= 0 { look(y &- Int(rows.above), map, x, Int(rows.above)) }
            let right = side.bits(y).first(from: x, to: side.width)
            if right < side.width { look(right &- x, map, right, y) }
            if rows.below >= 0 { look(Int(rows.below) &- y, map, x, Int(rows.below)) }
        }

        @inline(__always)
        private mutating func look(_ distance: Int, _ map: DepthPieces.Map, _ x: Int, _ y: Int) {
            if distance < self.distance { (self.distance, depth) = (distance, map.depth(x, y)) }
        }
    }

    /// Divides the rough samples.
    ///
    /// - Parameters:
    ///   - person, others: receive theirs.
    mutating func divide(
        _ rough: SampleSet, _ map: DepthPieces.Map, person: SampleSet, others: SampleSet, spare: SampleSet
    ) {
        let (width, height) = (rough.width, rough.height)
        let columns = unsafe columns.reserve(2 * width, filler: 0)
        let above = unsafe above.reserve(width * height)
        let reach = (
            person: floorIndex(RoughSamples.reach * map.samplesPerMetre, in: 1...(width + height)),
            other: floorIndex(RoughSamples.reachOfOthers * map.samplesPerMetre, in: 1...(width + height))
        )
        unsafe columns.update(repeating: -1, count: 2 * width)
        for y in 0..<height {
            rough.bits(y).forEachRun(upTo: width) { run in
                for x in run { unsafe above[y &* width &+ x] = unsafe (columns[x], columns[width &+ x]) }
            }
            unsafe RoughSamples.note(y, person, columns)
            unsafe RoughSamples.note(y, others, columns + width)
        }
        unsafe columns.update(repeating: -1, count: 2 * width)
        spare.removeAll()
        for y in stride(from: height - 1, through: 0, by: -1) {
            for index in 0..<rough.stride {
                var (word, ofPerson, ofOthers) = unsafe (rough.row(y)[index], UInt64(0), UInt64(0))
                while word != 0 {
                    let bit = word & (0 &- word)
                    let x = index &* 64 &+ word.trailingZeroBitCount
                    word &= word &- 1
                    let above = unsafe above[y &* width &+ x]
                    let mine = unsafe Nearest(of: person, to: x, y, rows: (above.person, columns[x]), map)
                    let other = unsafe Nearest(of: others, to: x, y, rows: (above.other, columns[width &+ x]), map)
                    let (isNear, isNearOthers) = (mine.distance <= reach.person, other.distance <= reach.other)
                    let z = map.depth(x, y)
                    if isNear && (!isNearOthers || abs(z - mine.depth) <= abs(z - other.depth)) {
                        ofPerson |= bit
                    } else if isNearOthers {
                        ofOthers |= bit
                    }
                }
                unsafe spare.row(y)[index] = ofPerson
                unsafe rough.row(y)[index] = ofOthers
            }
            unsafe RoughSamples.note(y, person, columns)
            unsafe RoughSamples.note(y, others, columns + width)
        }
        person.fill { unsafe person.words[$0] | spare.words[$0] }
        others.fill { unsafe others.words[$0] | rough.words[$0] }
    }

    /// Records the row of the samples of a set by their columns.
    @inline(__always)
    private static func note(_ y: Int, _ set: SampleSet, _ columns: UnsafeMutablePointer<Int16>) {
        set.bits(y).forEachRun(upTo: set.width) { run in
            unsafe (columns + run.lowerBound).update(repeating: Int16(truncatingIfNeeded: y), count: run.count)
        }
    }
}
