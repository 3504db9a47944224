// The headers of GStreamer bring the C library's clock along, so that both modules count as its owner.
import CGStreamer
import Foundation

/// Something that can be done frame by frame, and timed.
protocol Workload: AnyObject {
    /// Frames below which one round says little.
    var leastFrames: Int { get }

    /// Does the work for so many frames.
    func run(frames: Int) throws -> Timing
}

/// The times of one round.
struct Timing {
    /// Nanoseconds for a frame.
    var frame: Double
    /// The median of the times from one frame to the next.
    var interval: Double?
    /// Nanoseconds for a frame, as the element itself counts them.
    var own: Double?
}

/// The rounds of several works that took turns.
struct Samples {
    /// For each work, its rounds.
    private var timings: [[Timing]]
    /// The frames of one round: as many for each work, so that all find the caches alike.
    let frames: Int

    var rounds: Int { timings.first?.count ?? 0 }

    /// Lets the works take turns, so that whatever else the machine does meets all of them alike.
    init(of works: [any Workload], _ effort: Options.Effort) throws {
        frames = try works.map { try Samples.framesOfRound($0) }.max() ?? 1
        timings = works.map { _ in [] }
        let start = now()
        let least = min(3, effort.rounds)
        for round in 0..<effort.rounds {
            if round >= least, Double(now() - start) > effort.seconds * 1e9 { break }
            for (index, work) in works.enumerated() {
                timings[index].append(try work.run(frames: frames))
            }
        }
    }

    /// So many frames that a round is long for the clock and for the threads to get going: two milliseconds.
    private static func framesOfRound(_ work: any Workload) throws -> Int {
        _ = try work.run(frames: work.leastFrames)
        let once = try work.run(frames: work.leastFrames)
        return min(max(Int(2e6 / max(once.frame, 1)), work.leastFrames), 4096)
    }

    /// The rounds of one work, by one of its times.
    func milliseconds(_ work: Int, _ time: (Timing) -> Double? = { $0.frame }) -> [Double] {
        timings[work].compactMap { time($0).map { $0 / 1e6 } }
    }

    /// The median of the rounds' ratios.
    func ratio(_ work: Int, to other: Int, _ time: (Timing) -> Double? = { $0.frame }) -> Double {
        median(zip(timings[work], timings[other]).compactMap { one, two in time(one).map { $0 / two.frame } })
    }
}

/// The middle of the values; of the two in the middle, their mean. 0 for none.
func median(_ values: [Double]) -> Double { quantile(values, 0.5) }

/// The value that a share of the values is not above, between neighbours by proportion. 0 for no values.
///
/// - Parameter share: 0…1.
func quantile(_ values: [Double], _ share: Double) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return 0 }
    let place = share * Double(last)
    let lower = Int(place)
    let upper = min(lower + 1, last)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
}

// MARK: - Clocks

/// Nanoseconds on a clock that only goes forward.
func now() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

/// Nanoseconds that all threads of the process have worked.
func processorTime() -> UInt64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}
