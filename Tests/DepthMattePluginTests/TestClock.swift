import CGStreamer
import CGStreamerCheck
import GstTestSupport

/// A GstTestClock, and the waits on it.
final class TestClock {
    private let test: UnsafeMutablePointer<GstTestClock>
    /// Waits for a time other than the one that was due.
    private(set) var lateWaits = 0

    init() {
        loadElements()
        guard let clock = gst_test_clock_new() else { preconditionFailure("no memory for a clock") }
        test = UnsafeMutableRawPointer(clock).assumingMemoryBound(to: GstTestClock.self)
    }

    deinit { gst_object_unref(test) }

    var clock: UnsafeMutablePointer<GstClock> { UnsafeMutableRawPointer(test).assumingMemoryBound(to: GstClock.self) }

    /// Whether somebody waits for a time.
    var isWaitedFor: Bool { gst_test_clock_peek_id_count(test) > 0 }

    /// Moves the clock on, as far as `deadline`, until there is a result.
    func runUntil<Result>(_ deadline: GstClockTime, _ result: () -> Result?) -> Result? {
        let giveUp = g_get_monotonic_time() + 20_000_000
        while g_get_monotonic_time() < giveUp {
            if let found = result() { return found }
            var wait: GstClockID?
            if gst_test_clock_peek_next_pending_id(test, &wait) != 0, let wait {
                if gst_clock_id_get_time(wait) != deadline { lateWaits += 1 }
                gst_clock_id_unref(wait)
                gst_test_clock_crank(test)
            } else {
                g_thread_yield()
            }
        }
        return nil
    }
}
