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
    /// Metres beyond that by which a sample went back that shows something else: a body that leans back goes slower.
    private static let retreat: Float = 0.03

    private var sides = Scratch<UInt64>()
    private var depths = Scratch<Float>()
    private var doubts = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var line = Scratch<Float>()
    private var hasDoubts = false
    private(set) var isEmpty = true

    /// The samples of both sides in the frame before that are as they were.
    @safe
    struct Past {
        fileprivate let doubts: UnsafePointer<Float>?
        let person: SampleSet
        let others: SampleSet
        /// The samples that are farther than what was measured there before, or the first to be measured there; nil where a face
        /// is seen.
        let uncovered: SampleSet?

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
        let (stride, words, length) = (field.hole.stride, field.hole.wordCount, field.rowLength)
        let (sides, bits) = unsafe (sides.reserve(2 * words, filler: 0), bits.reserve(3 * words + stride, filler: 0))
        func set(_ index: Int) -> SampleSet { unsafe field.hole.placed(in: bits, index) }
        let (depths, line) = unsafe (
            depths.reserve(field.grid.height * length, filler: 0), line.reserve(length, filler: 0)
        )
        let past = unsafe Past(
            doubts: hasDoubts ? UnsafePointer(doubts.reserve(field.grid.height * length, filler: 0)) : nil,
            person: set(0), others: set(1), uncovered: isLost ? set(2) : nil)
        if isEmpty {
            unsafe sides.update(repeating: 0, count: 2 * words)
            unsafe bits.update(repeating: 0, count: 3 * words)
            unsafe depths.update(repeating: 0, count: field.grid.height * length)
            return past
        }
        /// Marks the samples of a row whose depth is as it was.
        func findAlike(_ y: Int, _ place: Int, retreat: Float = 0, approach: Float = 0) {
            unsafe field.findAlike(
                row: y, to: depths + y &* length, (SideMemory.change + retreat, SideMemory.changeSquare),
                nearer: approach, line: line, into: (bits + place, bits + 3 &* words), loops)
        }
        for y in 0..<field.grid.height {
            let row = (y &* stride)..<((y &+ 1) &* stride)
            findAlike(y, row.lowerBound)
            for index in row {
                let same = unsafe bits[index] & ~field.hole.words[index]
                unsafe bits[words &+ index] = same & sides[words &+ index]
                unsafe bits[index] = same & sides[index]
            }
            guard isLost else { continue }
            findAlike(y, row.lowerBound, approach: SideMemory.approach)
            findAlike(y, 2 &* words &+ row.lowerBound, retreat: SideMemory.retreat, approach: .infinity)
            for index in row {
                let measured = unsafe ~field.hole.words[index]
                unsafe bits[index] &= measured & sides[index]
                unsafe bits[2 &* words &+ index] = measured & ~bits[2 &* words &+ index]
            }
        }
        return past
    }

    /// Remembers the sides of a frame.
    mutating func remember(_ field: DepthField, person: SampleSet, others: SampleSet) {
        let (size, length) = (field.hole.wordCount, field.rowLength)
        let (sides, depths) = unsafe (
            sides.reserve(2 * size, filler: 0), depths.reserve(field.grid.height * length, filler: 0)
        )
        for index in 0..<size {
            let hole = unsafe field.hole.words[index]
            unsafe sides[index] = sides[index] & hole | person.words[index]
            unsafe sides[size &+ index] =
                (sides[size &+ index] & hole | others.words[index] | field.far.words[index]) & ~person.words[index]
        }
        for place in Swift.stride(from: 0, to: field.grid.height &* length, by: blockWidth) {
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
