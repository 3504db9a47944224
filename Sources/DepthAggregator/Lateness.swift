import GstBridge
import Synchronization

/// How late frames reach the sink, as its QoS events tell.
///
/// The sink's thread writes, the streaming thread reads.
final class Lateness: Sendable {
    /// Running time before which a frame comes too late to be shown; the least there is while none is.
    private let earliest = Atomic(RunningTime.min)

    /// The sink got the frame of running time `time` late by `delay` nanoseconds, or early where that is negative.
    ///
    /// The next frame that can be in time is one due after what is now: `time + delay`. (Some elements double the
    /// delay of a late frame, and then drop frames that would have been in time.)
    func note(_ time: RunningTime, delay: Int64) {
        earliest.store(time.addingReportingOverflow(delay).partialValue, ordering: .relaxed)
    }

    /// Forgets the lateness: another part of the stream begins.
    func reset() { earliest.store(.min, ordering: .relaxed) }

    /// True where a frame that ends at `end` would come too late.
    func isTooLate(endingAt end: RunningTime) -> Bool { end < earliest.load(ordering: .relaxed) }
}
