import CGStreamer
import DepthAggregator
import GstBridge

/// Waiting for the clock in live mode.
extension DepthTestSrcElement {
    /// The lateness, in nanoseconds, from which on missed frames are skipped, as after a clock's jump or a blocked sink: a
    /// camera has no frames of the past either.
    private static var mostLate: GstClockTime { 1_000_000_000 }

    /// Waits for the time of the stream's next frame. After a pause the missed frames are skipped.
    func waitForTurn(_ stream: TestStream, _ format: TestStream.Format) throws(FlowStop) {
        while true {
            let start = TestStream.time(ofFrame: stream.frame, rate: format.rate)
            let pauses = shared.wait(until: { $0.isPlaying || $0.isInterrupted || $0.isEnding }) { $0.pauses }
            guard start != noClockTime, let clock = gst_element_get_clock(instance) else { return }
            defer { gst_object_unref(clock) }
            let due = gst_element_get_base_time(instance) &+ start
            if stream.pausesSeen != pauses {
                stream.pausesSeen = pauses
                skip(stream, format, to: runningTime(clock))
                continue
            }
            switch wait(until: due, on: clock, stream.role) {
            case .interrupted: throw .refused(GST_FLOW_FLUSHING)
            case .ending: return
            case .reached:
                let now = runningTime(clock)
                guard format.rate.numerator > 0, now > start &+ Self.mostLate else { return }
                skip(stream, format, to: now)
            case .paused: continue
            }
        }
    }

    private func runningTime(_ clock: UnsafeMutablePointer<GstClock>) -> GstClockTime {
        let (now, base) = (gst_clock_get_time(clock), gst_element_get_base_time(instance))
        return now > base ? now &- base : 0
    }

    private func skip(_ stream: TestStream, _ format: TestStream.Format, to time: GstClockTime) {
        let next = TestStream.firstFrame(atOrAfter: time, rate: format.rate)
        guard next > stream.frame else { return }
        stream.frame = next
        stream.isInterrupted = true
    }

    private enum Wake { case reached, paused, interrupted, ending }

    private func wait(
        until time: GstClockTime, on clock: UnsafeMutablePointer<GstClock>, _ role: DepthTestSrc.PadRole
    ) -> Wake {
        guard let id = gst_clock_new_single_shot_id(clock, time) else { return .reached }
        defer { gst_clock_id_unref(id) }
        let wait = ClockWait(id: id)
        let mayWait = shared.withLock { shared -> Bool in
            guard shared.isPlaying, !shared.isInterrupted, !shared.isEnding else { return false }
            shared.waits[role] = wait
            return true
        }
        let result = mayWait ? gst_clock_id_wait(id, nil) : GST_CLOCK_UNSCHEDULED
        return shared.withLock { shared in
            shared.waits[role] = nil
            if shared.isInterrupted { return .interrupted }
            if shared.isEnding { return .ending }
            return result == GST_CLOCK_UNSCHEDULED ? .paused : .reached
        }
    }
}

/// A wait for the clock that other threads may unschedule.
struct ClockWait: @unchecked Sendable {  // guard: GstClock locks; the waiting thread owns the id while others use it
    let id: GstClockID
}
