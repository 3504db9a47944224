import CGStreamer
import GstBridge

/// The threads that an element works with, as its `max-threads` asks for them.
struct Workers {
    /// Nil while the calling thread works alone.
    private(set) var crew: ThreadCrew?

    /// Takes on threads or lets some go.
    ///
    /// - parameter threads: 0 = as many as there are processors, and `mostByDefault` at most.
    /// - parameter useful: how many would have something to do.
    mutating func adapt(to threads: UInt32, mostByDefault: Int, useful: Int) {
        let wanted = max(min(threads == 0 ? min(processors, mostByDefault) : Int(threads), useful), 1)
        if wanted == wantedLast { return }
        wantedLast = wanted
        crew = wanted == 1 ? nil : ThreadCrew(size: wanted)
    }

    /// Not the size of the crew: the system may give fewer.
    private var wantedLast = 1
}

private let processors = Int(g_get_num_processors())
