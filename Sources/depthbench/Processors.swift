import CDepthKernels
import Foundation

/// The processors that this program may use.
///
/// Work of one thread is timed on one processor, with all threads around it: each processor has a cache of its own, and one
/// that has slept is slower for a while.
struct Processors {
    private let all: dm_processor_set?

    init() {
        var all = dm_processor_set()
        self.all = dm_get_affinity(&all) ? all : nil
    }

    /// Has the threads that there are, and those that they will make, use the first processor alone, or all of them. Where the
    /// system has no such thing it chooses itself.
    func use(onlyOne: Bool) {
        guard var wanted = all else { return }
        if onlyOne { keepFirst(&wanted) }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in threads.compactMap({ Int32($0) }) { _ = dm_set_affinity(thread, &wanted) }
    }

    private func keepFirst(_ set: inout dm_processor_set) {
        withUnsafeMutableBytes(of: &set) { bytes in
            guard let place = bytes.firstIndex(where: { $0 != 0 }) else { return }
            let first = bytes[place] & (0 &- bytes[place])
            for index in bytes.indices { bytes[index] = index == place ? first : 0 }
        }
    }
}
