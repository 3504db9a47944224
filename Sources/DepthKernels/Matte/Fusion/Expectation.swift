/// The stage that computes the prior of a sample, before its color is known, as log odds H.
///
/// - measured: +1.5 in front of the cutoff and −1.5 behind it, and +4 where it is doubtful (`Classes`).
/// - in a wide hole: −2, and in the ellipse of a head +1.5, since sensors often lose hair.
/// - in an endless hole: −3, and in the ellipse of a head −1.5.
/// - in the emitter's shadow: 4 less.
/// - in a wide hole outside of these that the person surrounds: +1.5. Of eight rays of 0.16 m, seven meet the person before the
///   room; below the picture the person goes on.
///
/// An emitter beside the camera's lens casts a shadow of holes, always on the same side of the person. Runs of holes
/// along a row between room and person vote for their side with their length; votes decay by a tenth each frame, and a
/// side holds from two thirds of the votes on.
///
/// Source: stage 3 of the method (`Fusion`); the shadow: Khoshelham and Elberink, Sensors 2012.
struct Expectation: ~Copyable {
    private static let measured: Float = 1.5
    private static let doubtful: Float = 4
    private static let hole: Float = -2
    private static let head: Float = 1.5
    private static let endless: Float = -3
    private static let shadow: Float = -4
    private static let enclosed: Float = 1.5
    /// Metres of the rays, and those that may miss.
    private static let (rayLength, mostMisses) = (0.16, 1)
    /// Log odds of a sample that depth alone classifies.
    static let certain: Float = 8

    private static let shortestRun = 3
    private static let longestVote = 30
    private static let fading = 0.9
    private static let majority = 0.67
    /// The smallest number of votes for a side to hold.
    private static let leastVotes = 200.0

    /// Votes for a shadow on the left of the person, and on the right.
    private var votes = (left: 0.0, right: 0.0)
    private var runs: [Run] = []

    /// A run of holes between room and person.
    private struct Run {
        let y: Int
        let columns: Range<Int>
        let isLeft: Bool
    }

    private var memory = Scratch<UInt64>()
    private var prior = Scratch<Float>()

    /// Computes the prior of the open samples.
    ///
    /// - Parameter distance: metres, of the person.
    /// - Returns: a plane of the grid's size, undefined at other samples, valid until the next call.
    mutating func prior(_ sets: Classes.Sets, distance: Double, on grid: WorkGrid) -> UnsafePointer<Float> {
        let hole = sets.hole
        let shadow = unsafe SampleSet(
            words: memory.reserve(hole.wordCount, filler: 0), stride: hole.stride, width: hole.width,
            height: hole.height)
        shadow.removeAll()
        findRuns(sets, on: grid)
        let needed = Expectation.majority * max(votes.left + votes.right, Expectation.leastVotes)
        for run in runs where (run.isLeft ? votes.left : votes.right) > needed {
            shadow.bits(run.y).insert(run.columns)
        }
        let ray = floorIndex(Expectation.rayLength * grid.samplesPerMetre(at: distance), in: 3...max(grid.width, 3))
        let prior = unsafe prior.reserve(grid.count, filler: 0)
        for y in 0..<grid.height {
            let line = unsafe prior + y &* grid.width
            sets.forEachOpen(row: y, 0..<grid.width) { x in
                unsafe line[x] = Expectation.logOdds(sets, isShadow: shadow.bits(y).contains(x), ray: ray, row: y, x)
            }
        }
        return unsafe UnsafePointer(prior)
    }

    /// Forgets the shadow's side.
    mutating func reset() { votes = (0, 0) }

    private mutating func findRuns(_ sets: Classes.Sets, on grid: WorkGrid) {
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

    @inline(__always)
    private static func logOdds(_ sets: Classes.Sets, isShadow: Bool, ray: Int, row y: Int, _ x: Int) -> Float {
        if sets.wide.bits(y).contains(x) {
            let isHead = sets.head.bits(y).contains(x)
            if sets.endless.bits(y).contains(x) {
                return isHead ? Expectation.endless + Expectation.head : Expectation.endless
            }
            let hole = isHead ? Expectation.head : Expectation.hole
            if isShadow { return hole + Expectation.shadow }
            return !isHead && isEnclosed(sets, ray: ray, row: y, x) ? Expectation.enclosed : hole
        }
        if sets.near.bits(y).contains(x) {
            return sets.doubtful.bits(y).contains(x) ? Expectation.doubtful : Expectation.measured
        }
        return sets.far.bits(y).contains(x) ? -Expectation.measured : 0
    }

    /// True where the person surrounds a sample. Every second sample of a ray is looked at.
    private static func isEnclosed(_ sets: Classes.Sets, ray: Int, row y: Int, _ x: Int) -> Bool {
        let (width, height) = (sets.near.width, sets.near.height)
        var misses = 0
        for dy in -1...1 {
            for dx in -1...1 where dx != 0 || dy != 0 {
                var isPerson = dy > 0 && y + ray >= height
                for step in stride(from: 2, through: ray, by: 2) {
                    let (column, row) = (
                        min(max(x &+ dx &* step, 0), width &- 1), min(max(y &+ dy &* step, 0), height &- 1)
                    )
                    let isNear = sets.near.bits(row).contains(column)
                    guard isNear || sets.far.bits(row).contains(column) else { continue }
                    isPerson = isNear
                    break
                }
                if !isPerson { misses += 1 }
                if misses > mostMisses { return false }
            }
        }
        return true
    }
}
