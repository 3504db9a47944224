import CGStreamer
import GstBridge

/// The threads that an element works with, as its `max-threads` asks for them.
struct Workers {
    private var crew: ThreadCrew?
    /// Not the size of the crew: the system may give fewer.
    private var wantedLast = 1

    /// Takes on threads or lets some go.
    ///
    /// - parameter threads: 0 = as many as there are processors, and `mostByDefault` at most.
    /// - parameter useful: how many would have something to do.
    /// - returns: nil where the calling thread works alone.
    mutating func crew(of threads: UInt32, mostByDefault: Int, useful: Int) -> ThreadCrew? {
        let wanted = max(min(threads == 0 ? min(processors, mostByDefault) : Int(threads), useful), 1)
        if wanted != wantedLast {
            wantedLast = wanted
            crew = wanted == 1 ? nil : ThreadCrew(size: wanted)
        }
        return crew
    }
}

private let processors = Int(g_get_num_processors())
