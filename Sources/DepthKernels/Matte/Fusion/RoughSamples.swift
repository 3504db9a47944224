/// The stage that gives samples beside steps to the person or to others: to the side with a near sample of the more alike depth.
///
/// Near is looked for along the row and the column, across anything.
///
/// Source: the project's own method.
struct RoughSamples: ~Copyable {
    /// Metres to a sample of the person, and to one of others.
    private static let (reach, reachOfOthers) = (0.25, 0.06)

    private var candidates: [(person: Nearest, other: Nearest)] = []
    private var columns = Scratch<Int32>()

    /// The nearest sample of a side.
    private struct Nearest {
        /// Samples.
        var distance = Int.max
        /// Metres.
        var depth: Float = 0

        @inline(__always)
        mutating func look(_ distance: Int, _ map: DepthPieces.Map, _ x: Int, _ y: Int) {
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
        let reach = (
            person: floorIndex(RoughSamples.reach * map.samplesPerMetre, in: 1...(width + height)),
            other: floorIndex(RoughSamples.reachOfOthers * map.samplesPerMetre, in: 1...(width + height))
        )
        candidates.removeAll(keepingCapacity: true)
        // Down with what is left and above; then up again, in the opposite order, with what is right and below.
        unsafe columns.update(repeating: -1, count: 2 * width)
        for y in 0..<height {
            rough.bits(y).forEachRun(upTo: width) { run in
                for x in run {
                    var found = (person: Nearest(), other: Nearest())
                    let (left, otherLeft) = (person.bits(y).last(before: x), others.bits(y).last(before: x))
                    if let left { found.person.look(x &- left, map, left, y) }
                    if let otherLeft { found.other.look(x &- otherLeft, map, otherLeft, y) }
                    let (above, otherAbove) = unsafe (Int(columns[x]), Int(columns[width &+ x]))
                    if above >= 0 { found.person.look(y &- above, map, x, above) }
                    if otherAbove >= 0 { found.other.look(y &- otherAbove, map, x, otherAbove) }
                    candidates.append(found)
                }
            }
            unsafe RoughSamples.note(y, person, columns)
            unsafe RoughSamples.note(y, others, columns + width)
        }
        unsafe columns.update(repeating: -1, count: 2 * width)
        spare.removeAll()
        for y in stride(from: height - 1, through: 0, by: -1) {
            for index in stride(from: rough.stride - 1, through: 0, by: -1) {
                var (word, ofPerson, ofOthers) = unsafe (rough.row(y)[index], UInt64(0), UInt64(0))
                while word != 0 {
                    let bit = 63 &- word.leadingZeroBitCount
                    word &= ~(1 &<< UInt64(truncatingIfNeeded: bit))
                    let x = index &* 64 &+ bit
                    guard var found = candidates.popLast() else { return }
                    let right = person.bits(y).first(from: x, to: width)
                    let otherRight = others.bits(y).first(from: x, to: width)
                    if right < width { found.person.look(right &- x, map, right, y) }
                    if otherRight < width { found.other.look(otherRight &- x, map, otherRight, y) }
                    let (below, otherBelow) = unsafe (Int(columns[x]), Int(columns[width &+ x]))
                    if below >= 0 { found.person.look(below &- y, map, x, below) }
                    if otherBelow >= 0 { found.other.look(otherBelow &- y, map, x, otherBelow) }
                    let (isNear, isNearOthers) = (
                        found.person.distance <= reach.person, found.other.distance <= reach.other
                    )
                    let z = map.depth(x, y)
                    let isPerson =
                        isNear && (!isNearOthers || abs(z - found.person.depth) <= abs(z - found.other.depth))
                    if isPerson {
                        ofPerson |= 1 &<< UInt64(truncatingIfNeeded: bit)
                    } else if isNearOthers {
                        ofOthers |= 1 &<< UInt64(truncatingIfNeeded: bit)
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
    private static func note(_ y: Int, _ set: SampleSet, _ columns: UnsafeMutablePointer<Int32>) {
        set.bits(y).forEachRun(upTo: set.width) { run in
            unsafe (columns + run.lowerBound).update(repeating: Int32(truncatingIfNeeded: y), count: run.count)
        }
    }
}
