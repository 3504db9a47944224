/// The stage that finds the shadows of the person on the room: holes beside them that a depth camera cannot help.
///
/// A camera with two eyes, or an emitter and an eye, sees nothing of what only one of them sees. Beside the person a run of holes
/// along a row is as wide as the shadow, K·(1/near − 1/far). K is the median of the runs of the last frames on that side, if most
/// of them agree: then the part of a run next to the room that is so wide is shadow, and the rest may be hair. On a side that is
/// not known the whole run is shadow, if most holes lie on that side of the person: runs vote for it with their length.
///
/// Source: Khoshelham and Elberink, "Accuracy and resolution of Kinect depth data", Sensors 2012; the widths are the project's own
/// method; reference: `Tests/quality/quality_matte.py`.
struct Shadows: ~Copyable {
    private static let (shortestRun, shortestVote, longestVote) = (2, 3, 30)
    private static let fading = 0.9
    private static let majority = 0.67
    /// The smallest number of votes for a side to hold.
    private static let leastVotes = 200.0
    /// 1/m: the smallest difference of inverse depths by which widths are learnt, and by which they are applied.
    private static let (least, leastApplied): (Float, Float) = (0.1, 0.05)
    /// The runs of so many frames count, the newest of them, of which so many are enough.
    private static let (frames, mostRuns, leastRuns): (UInt8, Int, Int) = (7, 4000, 40)
    /// The share of the runs that agree, how far they are off then, and the smallest K, in samples times metres.
    private static let (agreement, tolerance, leastWidth): (Double, Float, Float) = (0.72, 0.35, 4)
    private static let wider: Float = 1.1

    /// The left and the right of the person.
    private var sides = InlineArray<2, Side> { _ in Side() }
    private var runs = ScratchList<Run>()
    private var memory = Scratch<UInt64>()
    private var numbers = Scratch<Float>()

    private struct Side: ~Copyable {
        var votes = 0.0
        var ratios = ScratchList<(value: Float, age: UInt8)>()
        /// K; nil where the runs do not agree.
        var width: Float?
    }

    /// A run of holes between room and person.
    private struct Run {
        let y: Int
        let start: Int
        let end: Int
        /// 0 on the person's left, 1 on their right.
        let side: Int
        /// 1/near − 1/far, in 1/m.
        let difference: Float

        var columns: Range<Int> { unsafe Range(uncheckedBounds: (start, end)) }
    }

    /// Forgets the sides.
    mutating func reset() {
        for side in sides.indices {
            sides[side].votes = 0
            sides[side].ratios.removeAll()
        }
    }

    /// - Returns: the samples in shadows by the votes, and by the widths; valid until the next call.
    mutating func find(_ sets: Classes.Sets, _ field: DepthField) -> (voted: SampleSet, measured: SampleSet) {
        let shadows: InlineArray<2, SampleSet> = memory.sets(like: sets.hole)
        let (voted, measured) = (shadows[0], shadows[1])
        voted.removeAll()
        measured.removeAll()
        findRuns(sets, field)
        for side in sides.indices { learnWidth(side) }
        let needed = Shadows.majority * max(sides[0].votes + sides[1].votes, Shadows.leastVotes)
        for run in runs.elements {
            if let width = sides[run.side].width {
                guard run.difference > Shadows.leastApplied else { continue }
                let length = ceilIndex(Double(Shadows.wider * width * run.difference) + 1, in: 0...run.columns.count)
                measured.bits(run.y).insert(run.side == 0 ? run.columns.prefix(length) : run.columns.suffix(length))
            } else if sides[run.side].votes > needed, run.columns.count >= Shadows.shortestVote {
                voted.bits(run.y).insert(run.columns)
            }
        }
        return (voted, measured)
    }

    private mutating func findRuns(_ sets: Classes.Sets, _ field: DepthField) {
        runs.removeAll(most: sets.hole.height * (sets.hole.width / 3))
        for side in sides.indices {
            if sides[side].ratios.most == 0 { sides[side].ratios.removeAll(most: 2 * Shadows.mostRuns) }
            for index in sides[side].ratios.indices { sides[side].ratios[index].age &+= 1 }
            var excess = sides[side].ratios.count - Shadows.mostRuns
            sides[side].ratios.removeAll {
                excess -= 1
                return excess >= 0 || $0.age >= Shadows.frames
            }
            sides[side].votes *= Shadows.fading
        }
        for y in 0..<sets.hole.height {
            let (near, far, head) = (sets.near.bits(y), sets.far.bits(y), sets.head.bits(y))
            let row = unsafe field.metres + y &* field.rowLength
            sets.hole.bits(y).forEachRun(upTo: sets.hole.width) { columns in
                let (before, after) = (columns.lowerBound &- 1, columns.upperBound)
                guard columns.count >= Shadows.shortestRun, before >= 0, after < sets.hole.width else { return }
                let isLeft = far.contains(before) && near.contains(after)
                guard isLeft || near.contains(before) && far.contains(after) else { return }
                let side = isLeft ? 0 : 1
                let (person, room) = unsafe isLeft ? (row[after], row[before]) : (row[before], row[after])
                guard person > 0, room > 0 else { return }
                let difference = 1 / person - 1 / room
                runs.append(
                    Run(
                        y: y, start: columns.lowerBound, end: columns.upperBound, side: side, difference: difference))
                if columns.count >= Shadows.shortestVote {
                    sides[side].votes += Double(min(columns.count, Shadows.longestVote))
                }
                // Where there is hair, no run is as wide as the shadow.
                if difference > Shadows.least, !head.contains((columns.lowerBound &+ columns.upperBound) / 2) {
                    sides[side].ratios.append((Float(columns.count) / difference, 0))
                }
            }
        }
    }

    private mutating func learnWidth(_ side: Int) {
        let numbers = unsafe numbers.reserve(Shadows.mostRuns)
        sides[side].width = nil
        let all = sides[side].ratios.count
        let count = min(all, Shadows.mostRuns)
        guard count >= Shadows.leastRuns else { return }
        for index in 0..<count { unsafe numbers[index] = sides[side].ratios[all &- count &+ index].value }
        let width = unsafe Float(DepthKernels.median(of: numbers, count: count))
        let agreeing = (0..<count).count { unsafe abs(numbers[$0] / width - 1) < Shadows.tolerance }
        guard width >= Shadows.leastWidth, Double(agreeing) >= Shadows.agreement * Double(count) else { return }
        sides[side].width = width
    }
}
