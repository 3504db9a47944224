import CGStreamer
import GstBridge

/// The threads that an element works with, as its `max-threads` asks for them.
struct Workers {
    private var pool: ThreadPool?
    /// Not the size of the pool: the system may give fewer.
    private var wantedLast = 1

    /// Returns the pool of the requested number of threads, and replaces it when the number changes.
    ///
    /// - Parameters:
    ///   - threads: 0 = the number of processors, at most `mostByDefault`.
    ///   - useful: the largest number of threads that would have work.
    /// - Returns: nil if the calling thread works alone.
    mutating func pool(of threads: UInt32, mostByDefault: Int, useful: Int) -> ThreadPool? {
        let wanted = Workers.count(of: threads, mostByDefault: mostByDefault, useful: useful)
        if wanted != wantedLast {
            wantedLast = wanted
            pool = wanted == 1 ? nil : ThreadPool(size: wanted)
        }
        return pool
    }

    /// The number of threads that `pool` asks the system for, the calling thread included.
    static func count(of threads: UInt32, mostByDefault: Int, useful: Int) -> Int {
        max(min(threads == 0 ? min(processors, mostByDefault) : Int(threads), useful), 1)
    }
}

private let processors = Int(g_get_num_processors())
