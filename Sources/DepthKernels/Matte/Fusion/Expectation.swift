/// The stage that says what is to be expected of a sample before its colour is looked at, as log odds H.
///
/// - measured: +1.5 or −1.5 by its side of the cutoff.
/// - in a wide hole: −2, and in the ellipse of a head +1.5, since hair is what sensors lose.
/// - in an endless hole: −3, and in the ellipse of a head −1.5.
/// - in the emitter's shadow: 4 less.
///
/// An emitter beside the camera's eye leaves a shadow of holes always on the same side of the person. Runs of holes along a row
/// from room to person vote for their side with their length; votes fade by a tenth each frame, and a side counts from
/// two thirds of the votes on.
///
/// Source: stage 3 of the method (`Fusion`); the shadow: Khoshelham and Elberink, Sensors 2012.
struct Expectation: ~Copyable {
    private static let measured: Float = 1.5
    private static let hole: Float = -2
    private static let head: Float = 1.5
    private static let endless: Float = -3
    private static let shadow: Float = -4
    /// Log odds of a sample that depth has settled.
    static let certain: Float = 8

    private static let shortestRun = 3
    private static let longestVote = 30
    private static let fading = 0.9
    private static let majority = 0.67
    /// Votes below which no side counts.
    private static let leastVotes = 200.0

    /// Votes for the shadow's being left of the person, and right of it.
    private var votes = (left: 0.0, right: 0.0)
    private var runs: [Run] = []

    /// A run of holes between room and person.
    private struct Run {
        let y: Int
        let columns: Range<Int>
        let isLeft: Bool
    }

    /// Adds the evidence of the colours, and settles what depth has settled.
    ///
    /// - Parameters:
    ///   - evidence: that of the open samples.
    ///   - target: T for every sample.
    mutating func add(
        _ evidence: UnsafePointer<Float>, _ sets: Classes.Sets, on grid: WorkGrid,
        into target: UnsafeMutablePointer<Float>
    ) {
        for y in 0..<grid.height {
            let line = unsafe target + y &* grid.width
            unsafe line.update(repeating: -Expectation.certain, count: grid.width)
            sets.person.bits(y).forEachRun(upTo: grid.width) { columns in
                unsafe (line + columns.lowerBound).update(repeating: Expectation.certain, count: columns.count)
            }
            for index in 0..<sets.person.stride {
                let start = index &* 64
                var open = unsafe ~(sets.person.row(y)[index] | sets.room.row(y)[index])
                if start &+ 64 > grid.width {
                    open &= UInt64.max &>> UInt64(truncatingIfNeeded: start &+ 64 &- grid.width)
                }
                while open != 0 {
                    let bit = open.trailingZeroBitCount
                    open &= open &- 1
                    let x = start &+ bit
                    unsafe line[x] = evidence[y &* grid.width &+ x] + logOdds(sets, row: y, x)
                }
            }
        }
        findShadow(sets, on: grid)
        unsafe darken(sets, on: grid, target)
    }

    /// Forgets the shadow's side.
    mutating func reset() { votes = (0, 0) }

    @inline(__always)
    private func logOdds(_ sets: Classes.Sets, row y: Int, _ x: Int) -> Float {
        if sets.wide.bits(y).contains(x) {
            let isHead = sets.head.bits(y).contains(x)
            if sets.endless.bits(y).contains(x) {
                return isHead ? Expectation.endless + Expectation.head : Expectation.endless
            }
            return isHead ? Expectation.head : Expectation.hole
        }
        if sets.near.bits(y).contains(x) { return Expectation.measured }
        return sets.far.bits(y).contains(x) ? -Expectation.measured : 0
    }

    private mutating func findShadow(_ sets: Classes.Sets, on grid: WorkGrid) {
        runs.removeAll(keepingCapacity: true)
        var now = (left: 0, right: 0)
        for y in 0..<grid.height {
            let (near, far) = (sets.near.bits(y), sets.far.bits(y))
            sets.hole.bits(y).forEachRun(upTo: grid.width) { columns in
                let (before, after) = (columns.lowerBound &- 1, columns.upperBound)
                guard columns.count >= Expectation.shortestRun, before >= 0, after < grid.width else { return }
                let isLeft = far.contains(before) && near.contains(after)
                guard isLeft || near.contains(before) && far.contains(after) else { return }
                let vote = min(columns.count, Expectation.longestVote)
                if isLeft { now.left &+= vote } else { now.right &+= vote }
                runs.append(Run(y: y, columns: columns, isLeft: isLeft))
            }
        }
        votes.left = Expectation.fading * votes.left + Double(now.left)
        votes.right = Expectation.fading * votes.right + Double(now.right)
    }

    private func darken(_ sets: Classes.Sets, on grid: WorkGrid, _ target: UnsafeMutablePointer<Float>) {
        let needed = Expectation.majority * max(votes.left + votes.right, Expectation.leastVotes)
        for run in runs where (run.isLeft ? votes.left : votes.right) > needed {
            let (wide, endless) = (sets.wide.bits(run.y), sets.endless.bits(run.y))
            let (person, room) = (sets.person.bits(run.y), sets.room.bits(run.y))
            for x in run.columns where wide.contains(x) && !endless.contains(x) {
                if !person.contains(x) && !room.contains(x) {
                    unsafe target[run.y &* grid.width &+ x] += Expectation.shadow
                }
            }
        }
    }
}
