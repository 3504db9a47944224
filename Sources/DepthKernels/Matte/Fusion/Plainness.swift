/// The samples of the grid whose whole neighbourhood is certainly the person, or certainly the room: an erosion of both
/// sets. Their pixels need not be drawn.
///
/// Source: stage 5 of the method (`Fusion`).
struct Plainness: ~Copyable {
    private var memory = Scratch<UInt64>()
    private var dilation = Dilation()

    struct Sets {
        let person: SampleSet
        let room: SampleSet
    }

    /// - Parameters:
    ///   - person: samples that are certainly the person.
    ///   - room: samples that are certainly the room.
    ///   - radius: radius of the disc, in samples.
    /// - Returns: sets that are valid until the next call.
    mutating func find(
        person: SampleSet, room: SampleSet, radius: Int, on grid: WorkGrid, _ loops: Loops
    ) -> Sets {
        let size = person.wordCount
        let memory = unsafe memory.reserve(3 * size, filler: 0)
        func set(_ index: Int) -> SampleSet { unsafe person.placed(in: memory, index) }
        let other = set(2)
        func erode(_ source: SampleSet, into target: SampleSet) {
            other.fill { unsafe ~source.words[$0] }
            other.trim()
            dilation.dilate(other, rows: [radius], into: [target], loops) { Plainness.halfWidth($1, radius) }
            target.fill { unsafe ~target.words[$0] }
            target.trim()
        }
        let sets = Sets(person: set(0), room: set(1))
        erode(person, into: sets.person)
        erode(room, into: sets.room)
        return sets
    }

    /// Half the width of the disc's row, as `cv2.getStructuringElement(cv2.MORPH_ELLIPSE)` has it.
    private static func halfWidth(_ row: Int, _ radius: Int) -> Int {
        nearestIndex(Double(radius * radius - row * row).squareRoot(), in: 0...radius)
    }
}
