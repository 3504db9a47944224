package import DepthKernels
package import GstBridge

/// Chooses the detail of a fused matte by the share of its time that a frame of a live pipeline takes.
///
/// A pipeline that is not live waits for its frames, so it always gets the full detail, and the same pictures on every
/// machine.
package struct DetailChoice {
    /// Share of a frame's time from which on detail is halved.
    private static let tooMuch = 0.5
    /// Share below which half the detail leaves room for all of it, which takes twice the time.
    private static let little = 0.15
    /// Frames between two changes, each of which shows: the matte begins anew.
    private static let leastFrames = 90
    /// Weight of a frame in the mean.
    private static let weight = 1.0 / 30

    package private(set) var detail = MatteDetail.full
    private var mean = 0.0
    private var frames = 0

    package init() {}

    /// Notes the work on a frame.
    ///
    /// - Parameters:
    ///   - work: nanoseconds.
    ///   - interval: nanoseconds since the frame before; nil where not known, or not live.
    package mutating func note(work: UInt64, interval: RunningTime?) {
        guard let interval, interval > 0 else { return }
        let share = min(Double(work) / Double(interval), 4)
        mean = frames == 0 ? share : mean + DetailChoice.weight * (share - mean)
        frames += 1
        guard frames >= DetailChoice.leastFrames else { return }
        let next: MatteDetail =
            mean > DetailChoice.tooMuch ? .half : mean < DetailChoice.little ? .full : detail
        if next != detail {
            detail = next
            frames = 0
        }
    }
}
