/// The sides of the samples in the frames before, so that bodies do not come and go with noise.
///
/// A sample counts as before if its depth is what it was when it was last measured, but for less than a step.
///
/// Source: the project's own method.
struct SideMemory: ~Copyable {
    /// A body changes sides in the frame of this number that says so.
    private static let patience = 4.0
    /// Metres: a larger difference of depths is a change: constant + square·z².
    private static let (change, changeSquare): (Float, Float) = (0.02, 0.008)
    /// Metres by which a person's sample may come nearer beyond that, as on the leading side of a body that turns or walks.
    private static let approach: Float = 0.12
    /// Metres beyond `change`: a sample that is farther than before by more than both shows something else. A body that leans
    /// back goes slower.
    private static let retreat: Float = 0.03

    private var sides = Scratch<UInt64>()
    private var depths = Scratch<Float>()
    private var doubts = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var line = Scratch<Float>()
    private var hasDoubts = false
    private var isEmpty = true

    /// The samples of both sides in the frame before that are as they were.
    @safe
    struct Past {
        fileprivate let doubts: UnsafePointer<Float>?
        let person: SampleSet
        let others: SampleSet
        /// The samples that are farther than what was measured there before, or the first to be measured there; nil where a face
        /// is seen.
        let uncovered: SampleSet?
        /// True where nothing is remembered.
        let isEmpty: Bool

        /// The sum of the frames for which the body of each sample of a run was kept on its side against the rules.
        func doubt(_ columns: Range<Int>, row y: Int) -> Double {
            guard let doubts = unsafe doubts else { return 0 }
            var sum: Float = 0
            for x in columns { unsafe sum += doubts[y &* person.stride &* 64 &+ x] }
            return Double(sum)
        }
    }

    /// Metres by which a depth differs from the last frame's without being another surface's.
    @inline(__always)
    static func limit(_ z: Float) -> Float { change + changeSquare * z * z }

    mutating func forget() { (isEmpty, hasDoubts) = (true, false) }

    /// True where a body is kept on its side for now.
    static func keeps(doubt: Double) -> Bool { doubt + 1 < patience }

    /// - Parameter isLost: true in a frame without a face: then the past alone identifies the person, and their samples that came
    ///   somewhat nearer count as before too.
    mutating func recall(_ field: DepthField, isLost: Bool, _ loops: Loops) -> Past {
        let samples = field.grid.height * field.rowLength
        let (wasPerson, wasOthers) = pastSides(field)
        let sets: InlineArray<4, SampleSet> = bits.sets(like: field.hole)
        let (person, others, uncovered, spare) = (sets[0], sets[1], sets[2], sets[3])
        let (depths, line) = unsafe (depths.reserve(samples, filler: 0), line.reserve(field.rowLength, filler: 0))
        let past = unsafe Past(
            doubts: hasDoubts ? UnsafePointer(doubts.reserve(samples, filler: 0)) : nil, person: person,
            others: others, uncovered: isLost ? uncovered : nil, isEmpty: isEmpty)
        if isEmpty {
            wasPerson.removeAll()
            wasOthers.removeAll()
            person.removeAll()
            others.removeAll()
            uncovered.removeAll()
            unsafe depths.update(repeating: 0, count: samples)
            return past
        }
        /// Finds the measured samples of a row whose depth is as it was.
        func findAlike(_ y: Int, into set: SampleSet, retreat: Float = 0, approach: Float = 0) {
            unsafe field.findAlike(
                row: y, to: depths + y &* field.rowLength, (SideMemory.change + retreat, SideMemory.changeSquare),
                nearer: approach, line: line, into: (set, spare), loops)
        }
        for y in 0..<field.grid.height {
            findAlike(y, into: others)
            if isLost { findAlike(y, into: uncovered, retreat: SideMemory.retreat, approach: .infinity) }
            for index in 0..<others.stride {
                person[index, y] = others[index, y] & wasPerson[index, y]
                others[index, y] &= wasOthers[index, y]
                uncovered[index, y] = ~(uncovered[index, y] | field.hole[index, y])
            }
            guard isLost else { continue }
            findAlike(y, into: person, approach: SideMemory.approach)
            for index in 0..<person.stride { person[index, y] &= wasPerson[index, y] }
        }
        return past
    }

    private mutating func pastSides(_ field: DepthField) -> (person: SampleSet, others: SampleSet) {
        let sets: InlineArray<2, SampleSet> = sides.sets(like: field.hole)
        return (sets[0], sets[1])
    }

    /// Remembers the sides of a frame.
    mutating func remember(_ field: DepthField, person: SampleSet, others: SampleSet) {
        let (hole, samples) = (field.hole, field.grid.height * field.rowLength)
        let (wasPerson, wasOthers) = pastSides(field)
        let depths = unsafe depths.reserve(samples, filler: 0)
        wasPerson.fill { wasPerson[$0] & hole[$0] | person[$0] }
        wasOthers.fill { (wasOthers[$0] & hole[$0] | others[$0] | field.far[$0]) & ~person[$0] }
        for place in stride(from: 0, to: samples, by: blockWidth) {
            let (z, last) = unsafe (loadLanes(field.metres + place), loadLanes(depths + place))
            unsafe storeLanes(last.replacing(with: z, where: z .> 0), to: depths + place)
        }
        isEmpty = false
    }

    /// Stores each body's doubt at its samples, for `Past.doubt` of the next frame.
    ///
    /// - Parameters:
    ///   - isAny: false where no body has a doubt; then nothing is stored.
    ///   - doubt: the frames for which a piece's body was kept on its side against the rules.
    mutating func remember(_ labels: DepthPieces.Labels, isAny: Bool, doubt: (_ piece: Int) -> Double) {
        hasDoubts = isAny
        let length = labels.samples.stride * 64
        // Reserved also where there are none, so that the first frame with doubts takes no memory.
        let doubts = unsafe doubts.reserve(labels.samples.height * length, filler: 0)
        guard isAny else { return }
        unsafe doubts.update(repeating: 0, count: labels.samples.height * length)
        for y in 0..<labels.samples.height {
            labels.forEachRun(y) { piece, columns in
                let row = unsafe doubts + y &* length
                unsafe (row + columns.lowerBound).update(repeating: Float(doubt(piece)), count: columns.count)
            }
        }
    }
}
