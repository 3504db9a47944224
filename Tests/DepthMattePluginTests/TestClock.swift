import CGStreamer
import CGStreamerCheck
import GstTestSupport

/// A GstTestClock, and the waits on it.
final class TestClock {
    private let test: UnsafeMutablePointer<GstTestClock>
    /// Waits for a time other than the one that was due.
    private(set) var lateWaits = 0

    /// - Parameter start: the clock's first time.
    init(at start: GstClockTime = 0) {
        loadElements()
        guard let clock = gst_test_clock_new_with_start_time(start) else {
            preconditionFailure("no memory for a clock")
        }
        test = UnsafeMutableRawPointer(clock).assumingMemoryBound(to: GstTestClock.self)
    }

    deinit { gst_object_unref(test) }

    var clock: UnsafeMutablePointer<GstClock> { UnsafeMutableRawPointer(test).assumingMemoryBound(to: GstClock.self) }

    var time: GstClockTime { gst_clock_get_time(clock) }

    /// Moves the clock on to a time, where that is not past.
    func advance(to time: GstClockTime) {
        if time > self.time { gst_test_clock_set_time(test, time) }
    }

    /// True where somebody waits for a time.
    var isWaitedFor: Bool { gst_test_clock_peek_id_count(test) > 0 }

    /// Moves the clock on, as far as `deadline`, until there is a result.
    func runUntil<Result>(_ deadline: GstClockTime, _ result: () -> Result?) -> Result? {
        let giveUp = g_get_monotonic_time() + patience
        while g_get_monotonic_time() < giveUp {
            if let found = result() { return found }
            if let end = endNextWait() {
                if end != deadline { lateWaits += 1 }
            } else {
                g_thread_yield()
            }
        }
        return nil
    }

    /// Lets the next wait end; false where it is for another time than this, or there is none.
    func reach(_ time: GstClockTime) -> Bool {
        let giveUp = g_get_monotonic_time() + patience
        while g_get_monotonic_time() < giveUp {
            if let end = endNextWait() { return end == time }
            g_thread_yield()
        }
        return false
    }

    /// Moves the clock to the end of the wait that ends first, and returns that time; nil where nobody waits.
    ///
    /// A buffer that comes ends a wait too, at any moment. `gst_test_clock_crank` would then stand and wait for
    /// another one, which may never come.
    private func endNextWait() -> GstClockTime? {
        var wait: GstClockID?
        guard gst_test_clock_peek_next_pending_id(test, &wait) != 0, let wait else { return nil }
        let end = gst_clock_id_get_time(wait)
        gst_clock_id_unref(wait)
        if end > gst_clock_get_time(clock) { gst_test_clock_set_time(test, end) }
        guard let ended = gst_test_clock_process_next_clock_id(test) else { return nil }
        defer { gst_clock_id_unref(ended) }
        return gst_clock_id_get_time(ended)
    }

    private let patience: gint64 = 20_000_000
}
