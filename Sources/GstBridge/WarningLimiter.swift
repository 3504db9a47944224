import CGStreamer

/// Lets one warning a second through for each cause, so that a faulty stream does not flood the bus.
package struct WarningLimiter {
    private var lastPosted: [String: gint64] = [:]

    /// Microseconds between two warnings of one cause.
    private static let interval: gint64 = 1_000_000

    package init() {}

    package mutating func admits(_ cause: String) -> Bool {
        let now = g_get_monotonic_time()
        if let last = lastPosted[cause], now &- last < WarningLimiter.interval { return false }
        lastPosted[cause] = now
        return true
    }
}
