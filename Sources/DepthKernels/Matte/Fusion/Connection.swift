/// The stage that takes back what only colour calls the person: a part of the samples of log odds above 0 in which no sample
/// was measured before the cutoff.
///
///     evidence = min(H, −1) − H   in such a part
///
/// Hair that no sensor saw hangs on a face that was; a bit of furniture of the shirt's colour does not. Without a face
/// a whole head may be such a part, so the stage is left out then.
///
/// Not in the method's reference as it was published: on the hall pictures it takes a tenth of the error away, beside the
/// mannequin half (`Tests/quality`).
struct Connection: ~Copyable {
    private static let doubt: Float = -1

    private var memory = Scratch<UInt64>()
    private var parts = ConnectedRuns()

    /// - Parameter evidence: that of the open samples; changed.
    mutating func cut(
        _ evidence: UnsafeMutablePointer<Float>, _ sets: Classes.Sets, _ expectation: Expectation.Sets,
        on grid: WorkGrid
    ) {
        let person = unsafe SampleSet(
            words: memory.reserve(sets.person.wordCount, filler: 0), stride: sets.person.stride, width: grid.width,
            height: grid.height)
        parts.begin()
        for y in 0..<grid.height {
            unsafe person.row(y).update(from: sets.person.row(y), count: person.stride)
            let line = unsafe evidence + y &* grid.width
            expectation.forEachOpen(sets, row: y, 0..<grid.width) { x, expected in
                if unsafe line[x] + expected > 0 { person.bits(y).insert(x..<(x &+ 1)) }
            }
            parts.addRow(y, person.bits(y), width: grid.width) { columns in
                sets.near.bits(y).first(from: columns.lowerBound, to: columns.upperBound) < columns.upperBound
            }
        }
        parts.forEachRun { y, columns, isMeasured in
            if isMeasured { return }
            let line = unsafe evidence + y &* grid.width
            expectation.forEachOpen(sets, row: y, columns) { x, expected in
                unsafe line[x] = min(expected, Connection.doubt) - expected
            }
        }
    }
}
