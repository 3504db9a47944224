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
        _ evidence: UnsafePointer<Float>, _ flags: UnsafePointer<SampleFlags>, on grid: WorkGrid,
        into target: UnsafeMutablePointer<Float>
    ) {
        for index in 0..<grid.count {
            let sample = unsafe flags[index]
            if sample.isOpen {
                unsafe target[index] = evidence[index] + Expectation.logOdds(sample)
            } else {
                unsafe target[index] = sample.contains(.person) ? Expectation.certain : -Expectation.certain
            }
        }
        unsafe findShadow(flags, on: grid)
        unsafe darken(flags, on: grid, target)
    }

    /// Forgets the shadow's side.
    mutating func reset() { votes = (0, 0) }

    private static func logOdds(_ sample: SampleFlags) -> Float {
        if sample.contains(.wide) {
            if sample.contains(.endless) { return sample.contains(.head) ? endless + head : endless }
            return sample.contains(.head) ? head : hole
        }
        return sample.contains(.near) ? measured : sample.contains(.far) ? -measured : 0
    }

    private mutating func findShadow(_ flags: UnsafePointer<SampleFlags>, on grid: WorkGrid) {
        runs.removeAll(keepingCapacity: true)
        var now = (left: 0, right: 0)
        for y in 0..<grid.height {
            let row = unsafe flags + y &* grid.width
            var x = 0
            while x < grid.width {
                guard unsafe row[x].isHole else {
                    x &+= 1
                    continue
                }
                let start = x
                while x < grid.width, unsafe row[x].isHole { x &+= 1 }
                guard x &- start >= Expectation.shortestRun, start > 0, x < grid.width else { continue }
                let isLeft = unsafe row[start &- 1].contains(.far) && row[x].contains(.near)
                let isRight = unsafe row[start &- 1].contains(.near) && row[x].contains(.far)
                guard isLeft || isRight else { continue }
                let vote = min(x &- start, Expectation.longestVote)
                if isLeft { now.left &+= vote } else { now.right &+= vote }
                runs.append(Run(y: y, columns: start..<x, isLeft: isLeft))
            }
        }
        votes.left = Expectation.fading * votes.left + Double(now.left)
        votes.right = Expectation.fading * votes.right + Double(now.right)
    }

    private func darken(
        _ flags: UnsafePointer<SampleFlags>, on grid: WorkGrid, _ target: UnsafeMutablePointer<Float>
    ) {
        let needed = Expectation.majority * max(votes.left + votes.right, Expectation.leastVotes)
        for run in runs where (run.isLeft ? votes.left : votes.right) > needed {
            for x in run.columns {
                let index = run.y &* grid.width &+ x
                let sample = unsafe flags[index]
                if sample.isOpen && sample.contains(.wide) && !sample.contains(.endless) {
                    unsafe target[index] += Expectation.shadow
                }
            }
        }
    }
}
