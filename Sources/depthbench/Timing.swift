import CDepthKernels
import CGStreamer
import Foundation

/// Work that can be done frame by frame, and timed.
struct Timed {
    /// Frames below which one round says little.
    let leastFrames: Int
    /// Does the work for so many frames, and returns milliseconds for a frame by their names.
    let run: (_ frames: Int) throws -> [String: Double]
}

extension Timed {
    /// A loop over the frames of a ring.
    init(_ name: String, ring: Int, _ body: @escaping (_ index: Int) throws -> Void) {
        var next = 0
        self.init(leastFrames: max(ring, 32)) { frames in
            let start = milliseconds()
            for _ in 0..<frames {
                try body(next % ring)
                next += 1
            }
            return [name: (milliseconds() - start) / Double(frames)]
        }
    }
}

/// Lets the works take turns, so that whatever else the machine does meets all of them alike.
///
/// - Returns: the frames of one round, as many for each work, so that all find the caches alike; and the rounds' times.
func takeTurns(_ works: [Timed], _ options: Options) throws -> (frames: Int, rounds: [String: [Double]]) {
    // A round is long for the clock and for the threads to get going: two milliseconds.
    let frames =
        try works.map { work in
            _ = try work.run(work.leastFrames)
            let once = try work.run(work.leastFrames).values.max() ?? 1
            return min(max(Int(2 / max(once, 1e-6)), work.leastFrames), 4096)
        }.max() ?? 1
    var rounds: [String: [Double]] = [:]
    let start = milliseconds()
    for round in 0..<options.rounds {
        if round >= 3, milliseconds() - start > options.seconds * 1000 { break }
        for work in works { try rounds.merge(work.run(frames).mapValues { [$0] }, uniquingKeysWith: +) }
    }
    return (frames, rounds)
}

func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// Time on a clock that only goes forward.
func milliseconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e6 }

/// The processors that this program may use.
///
/// Work of one thread is timed on one processor, with all threads around it: each processor has a cache of its own, and one
/// that has slept is slower for a while.
enum Processors {
    private static let all: dm_processor_set? = {
        var all = dm_processor_set()
        return dm_get_affinity(&all) ? all : nil
    }()

    /// Has the threads that there are, and those that they will make, use the first processor alone, or all of them. Where the
    /// system has no such thing it chooses itself.
    static func use(onlyOne: Bool) {
        guard var wanted = all else { return }
        if onlyOne {
            withUnsafeMutableBytes(of: &wanted) { bytes in
                guard let place = bytes.firstIndex(where: { $0 != 0 }) else { return }
                let first = bytes[place] & (0 &- bytes[place])
                for index in bytes.indices { bytes[index] = index == place ? first : 0 }
            }
        }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in threads.compactMap({ Int32($0) }) { _ = dm_set_affinity(thread, &wanted) }
    }
}
