/// The stage that corrects isolated decisions of color.
///
/// Color alone makes no person. A connected part of the samples of log odds above 0 in which no sample was measured
/// before the cutoff:
///
///     evidence = min(H, −1) − H
///
/// Hair that no sensor saw hangs on a face that was; a bit of furniture of the shirt's color does not. Without a face
/// a whole head may be such a part, so this is left out then.
///
/// Nor does color alone make a hole in the person. A connected part of the doubtful samples of log odds T not above 0
/// beside which there is no other sample of that kind:
///
///     evidence = −T − H
///
/// The gap between two fingers joins the room; a fold of the shirt in the room's color does not.
///
/// Not in the method's reference as it was published: on the hall pictures it takes a tenth of the error away, beside
/// the mannequin half (`Tests/quality`).
struct Connection: ~Copyable {
    private static let doubt: Float = -1

    private var memory = Scratch<UInt64>()
    private var parts = ConnectedRuns()

    /// - Parameters:
    ///   - evidence: that of the open samples; changed.
    ///   - knowsFace: false leaves parts of the person as they are.
    mutating func correct(
        _ evidence: UnsafeMutablePointer<Float>, _ sets: Classes.Sets, _ expectation: Expectation.Sets,
        knowsFace: Bool, on grid: WorkGrid
    ) {
        let size = sets.person.wordCount
        let memory = unsafe memory.reserve(2 * size, filler: 0)
        func set(_ index: Int) -> SampleSet {
            unsafe SampleSet(
                words: memory + index &* size, stride: sets.person.stride, width: grid.width, height: grid.height)
        }
        let (person, other) = (set(0), set(1))
        unsafe person.words.update(from: sets.person.words, count: size)
        for y in 0..<grid.height {
            let line = unsafe evidence + y &* grid.width
            expectation.forEachOpen(sets, row: y, 0..<grid.width) { x, expected in
                if unsafe line[x] + expected > 0 { person.bits(y).insert(x..<(x &+ 1)) }
            }
        }
        if knowsFace { unsafe removeLooseParts(of: person, evidence, sets, expectation, on: grid) }
        unsafe fillHoles(in: person, other: other, evidence, sets, expectation, on: grid)
    }

    private mutating func removeLooseParts(
        of person: SampleSet, _ evidence: UnsafeMutablePointer<Float>, _ sets: Classes.Sets,
        _ expectation: Expectation.Sets, on grid: WorkGrid
    ) {
        parts.begin()
        for y in 0..<grid.height {
            parts.addRow(y, person.bits(y), width: grid.width) { sets.near.bits(y).intersects($0) }
        }
        parts.forEachRun { y, columns, isMeasured in
            if isMeasured { return }
            person.bits(y).remove(columns)
            let line = unsafe evidence + y &* grid.width
            expectation.forEachOpen(sets, row: y, columns) { x, expected in
                unsafe line[x] = min(expected, Connection.doubt) - expected
            }
        }
    }

    private mutating func fillHoles(
        in person: SampleSet, other: SampleSet, _ evidence: UnsafeMutablePointer<Float>, _ sets: Classes.Sets,
        _ expectation: Expectation.Sets, on grid: WorkGrid
    ) {
        other.fill { unsafe ~(person.words[$0] | sets.doubtful.words[$0]) }
        other.trim()
        let holes = person
        holes.fill { unsafe sets.doubtful.words[$0] & ~person.words[$0] }
        parts.begin()
        for y in 0..<grid.height {
            parts.addRow(y, holes.bits(y), width: grid.width) { columns in
                let wider = max(columns.lowerBound &- 1, 0)..<min(columns.upperBound &+ 1, grid.width)
                return other.bits(y).intersects(wider) || y > 0 && other.bits(y &- 1).intersects(columns)
                    || y &+ 1 < grid.height && other.bits(y &+ 1).intersects(columns)
            }
        }
        parts.forEachRun { y, columns, joinsRoom in
            if joinsRoom { return }
            let line = unsafe evidence + y &* grid.width
            expectation.forEachOpen(sets, row: y, columns) { x, expected in
                unsafe line[x] = -(line[x] + expected) - expected
            }
        }
    }
}
