import CDepthKernels
import CGStreamer

/// The processors that this program may use.
///
/// What one thread does is timed on one processor, with all that surrounds it: each has a cache of its own, and one that has
/// slept is slower for a while.
struct Processors {
    private let all: dm_processor_set?
    private let first: dm_processor_set?

    init() {
        var all = dm_processor_set()
        self.all = dm_get_affinity(&all) ? all : nil
        first = self.all.map { all in
            var first = dm_processor_set()
            withUnsafeBytes(of: all) { all in
                withUnsafeMutableBytes(of: &first) { first in
                    guard let place = all.firstIndex(where: { $0 != 0 }) else { return }
                    first[place] = all[place] & (0 &- all[place])
                }
            }
            return first
        }
    }

    /// Has the threads that there are, and those that they will make, use the first processor alone, or all of them. Where the
    /// system has no such thing it chooses itself.
    func use(onlyOne: Bool) {
        guard var wanted = onlyOne ? first : all else { return }
        for thread in Processors.threads() { _ = dm_set_affinity(thread, &wanted) }
    }

    /// The system's numbers of this program's threads.
    private static func threads() -> [Int32] {
        guard let folder = g_dir_open("/proc/self/task", 0, nil) else { return [] }
        defer { g_dir_close(folder) }
        var threads: [Int32] = []
        while let name = g_dir_read_name(folder) {
            if let thread = Int32(String(cString: name)) { threads.append(thread) }
        }
        return threads
    }
}
