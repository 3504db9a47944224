/// The stage that gives samples beside steps to the person or to others: to the side with a near sample of the more alike depth.
///
/// Near is looked for along the row and the column, across anything.
///
/// Source: the project's own method.
struct RoughSamples: ~Copyable {
    /// Metres to a sample of the person, and to one of others.
    private static let (reach, reachOfOthers) = (0.25, 0.06)

    /// Of each column the row of the last sample of each side; -1 for none.
    private var columns = Scratch<Int16>()
    /// Of each rough sample the rows of the last samples above it.
    private var above = Scratch<Rows>()

    private typealias Rows = (person: Int16, other: Int16)

    /// Divides the rough samples.
    ///
    /// - Parameters:
    ///   - person, others: receive theirs.
    mutating func divide(
        _ rough: SampleSet, _ map: DepthPieces.Map, person: SampleSet, others: SampleSet, spare: SampleSet
    ) {
        let (width, height) = (rough.width, rough.height)
        func reach(_ metres: Double) -> Int { floorIndex(metres * map.samplesPerMetre, in: 1...(width + height)) }
        let (toPerson, toOthers) = (reach(RoughSamples.reach), reach(RoughSamples.reachOfOthers))
        let above = unsafe findAbove(rough, person: person, others: others)
        let below = unsafe columns.reserve(2 * width, filler: 0)
        unsafe below.update(repeating: -1, count: 2 * width)
        for y in stride(from: height - 1, through: 0, by: -1) {
            for index in 0..<rough.stride {
                var (ofPerson, ofOthers) = (UInt64(0), UInt64(0))
                rough[index, y].forEachBit { bit in
                    let x = index &* 64 &+ bit
                    let above = unsafe above[y &* width &+ x]
                    let mine = unsafe RoughSamples.nearest(person, to: x, y, rows: (above.person, below[x]), map)
                    let other = unsafe RoughSamples.nearest(
                        others, to: x, y, rows: (above.other, below[width &+ x]), map)
                    let z = map.depth(x, y)
                    let (isNear, isNearOthers) = (mine.distance <= toPerson, other.distance <= toOthers)
                    if isNear && (!isNearOthers || abs(z - mine.depth) <= abs(z - other.depth)) {
                        ofPerson |= 1 &<< UInt64(truncatingIfNeeded: bit)
                    } else if isNearOthers {
                        ofOthers |= 1 &<< UInt64(truncatingIfNeeded: bit)
                    }
                }
                (spare[index, y], rough[index, y]) = (ofPerson, ofOthers)
            }
            unsafe RoughSamples.note(y, person, others, below)
        }
        person.fill { person[$0] | spare[$0] }
        others.fill { others[$0] | rough[$0] }
    }

    private mutating func findAbove(
        _ rough: SampleSet, person: SampleSet, others: SampleSet
    ) -> UnsafeMutablePointer<Rows> {
        let width = rough.width
        let (above, columns) = unsafe (above.reserve(width * rough.height), columns.reserve(2 * width, filler: 0))
        unsafe columns.update(repeating: -1, count: 2 * width)
        for y in 0..<rough.height {
            rough.bits(y).forEachRun(upTo: width) { run in
                for x in run { unsafe above[y &* width &+ x] = unsafe (columns[x], columns[width &+ x]) }
            }
            unsafe RoughSamples.note(y, person, others, columns)
        }
        return unsafe above
    }

    /// Records the row of the samples of both sides by their columns.
    @inline(__always)
    private static func note(
        _ y: Int, _ person: SampleSet, _ others: SampleSet, _ columns: UnsafeMutablePointer<Int16>
    ) {
        func note(_ set: SampleSet, _ columns: UnsafeMutablePointer<Int16>) {
            set.bits(y).forEachRun(upTo: set.width) { run in
                unsafe (columns + run.lowerBound).update(repeating: Int16(truncatingIfNeeded: y), count: run.count)
            }
        }
        unsafe note(person, columns)
        unsafe note(others, columns + others.width)
    }

    /// The distance of the nearest sample of a side along row and column, in samples, and its depth.
    ///
    /// - Parameter rows: of the last samples above and below; -1 for none.
    @inline(__always)
    private static func nearest(
        _ side: SampleSet, to x: Int, _ y: Int, rows: (above: Int16, below: Int16), _ map: DepthPieces.Map
    ) -> (distance: Int, depth: Float) {
        var nearest = (distance: Int.max, depth: Float(0))
        func look(_ distance: Int, _ x: Int, _ y: Int) {
            if distance < nearest.distance { nearest = (distance, map.depth(x, y)) }
        }
        if let left = side.bits(y).last(before: x) { look(x &- left, left, y) }
        if rows.above >= 0 { look(y &- Int(rows.above), x, Int(rows.above)) }
        let right = side.bits(y).first(from: x, to: side.width)
        if right < side.width { look(right &- x, right, y) }
        if rows.below >= 0 { look(Int(rows.below) &- y, x, Int(rows.below)) }
        return nearest
    }
}
