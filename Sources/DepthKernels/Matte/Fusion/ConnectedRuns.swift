/// Connected components of a set (4-connectivity), labelled run by run.
///
/// Source: He, Chao, Suzuki, "A run-based two-scan labeling algorithm", IEEE TIP 17(5), 2008.
struct ConnectedRuns: ~Copyable {
    private struct Run: BitwiseCopyable {
        var row: Int32
        var start: Int32
        var end: Int32
        /// The parent in the union–find forest; a root is its own parent.
        var parent: Int32
        var isSeed: Bool
        /// Of the component, in its root.
        var number: Int32 = 0
    }

    private var runs = ScratchList<Run>()

    /// The most runs for which there is room.
    var most: Int { runs.most }

    /// Makes room for the runs of any set.
    mutating func reserve(width: Int, height: Int) { runs.removeAll(most: height * groups(of: 2, in: width)) }

    /// Finds the components of a set.
    ///
    /// - Parameter isSeed: true for a run that makes its component a seeded one.
    mutating func find(in set: SampleSet, isSeed: (_ y: Int, _ columns: Range<Int>) -> Bool = { _, _ in false }) {
        reserve(width: set.width, height: set.height)
        var above = 0..<0
        for y in 0..<set.height {
            let first = runs.count
            addRow(y, set.bits(y), width: set.width, above: above) { isSeed(y, $0) }
            above = first..<runs.count
        }
    }

    private mutating func addRow(
        _ y: Int, _ members: BitRow, width: Int, above previous: Range<Int>, isSeed: (Range<Int>) -> Bool
    ) {
        var above = previous.lowerBound
        members.forEachRun(upTo: width) { columns in
            let index = runs.count
            runs.append(
                Run(
                    row: Int32(truncatingIfNeeded: y), start: Int32(truncatingIfNeeded: columns.lowerBound),
                    end: Int32(truncatingIfNeeded: columns.upperBound), parent: Int32(truncatingIfNeeded: index),
                    isSeed: isSeed(columns)))
            while above < previous.upperBound, Int(runs[above].end) <= columns.lowerBound { above &+= 1 }
            var other = above
            while other < previous.upperBound, Int(runs[other].start) < columns.upperBound {
                join(index, other)
                other &+= 1
            }
        }
    }

    /// Calls `body` for each run, with the number of its component, from 0 on, and whether that has a seed.
    mutating func forEachRun(_ body: (_ y: Int, _ columns: Range<Int>, _ part: (number: Int32, hasSeed: Bool)) -> Void)
    {
        var count: Int32 = 0
        for index in runs.indices {
            let (run, root) = (runs[index], root(index))
            if root == index {
                runs[index].number = count
                count &+= 1
            }
            body(Int(run.row), Int(run.start)..<Int(run.end), (runs[root].number, runs[root].isSeed))
        }
    }

    private mutating func root(_ index: Int) -> Int {
        var index = index
        while Int(runs[index].parent) != index {
            runs[index].parent = runs[Int(runs[index].parent)].parent
            index = Int(runs[index].parent)
        }
        return index
    }

    private mutating func join(_ one: Int, _ other: Int) {
        let (one, other) = (root(one), root(other))
        guard one != other else { return }
        let (first, second) = (min(one, other), max(one, other))
        runs[second].parent = Int32(truncatingIfNeeded: first)
        runs[first].isSeed = runs[first].isSeed || runs[second].isSeed
    }
}
