package import DepthKernels
package import GstBridge

/// Chooses the detail of a fused matte in a live pipeline, by the share of the frame interval that processing takes.
///
/// A pipeline that is not live always gets full detail, so its pictures are the same on every machine.
package struct DetailChoice {
    /// The share above which detail is halved.
    private static let tooMuch = 0.5
    /// The share below which detail is full again. Full detail takes about twice the time of half.
    private static let little = 0.15
    /// The fewest frames between two changes. A change is visible, because the matte loses its history.
    private static let leastFrames = 90
    /// The weight of one frame in the running mean.
    private static let weight = 1.0 / 30

    package private(set) var current = MatteDetail.full
    private var mean = 0.0
    private var frames = 0

    package init() {}

    /// Adds the processing time of a frame.
    ///
    /// - Parameters:
    ///   - work: nanoseconds.
    ///   - interval: nanoseconds since the previous frame; nil where unknown.
    package mutating func note(work: UInt64, interval: RunningTime?) {
        guard let interval, interval > 0 else { return }
        let share = min(Double(work) / Double(interval), 4)
        mean = frames == 0 ? share : mean + DetailChoice.weight * (share - mean)
        frames += 1
        guard frames >= DetailChoice.leastFrames else { return }
        let next: MatteDetail = mean > DetailChoice.tooMuch ? .half : mean < DetailChoice.little ? .full : current
        if next != current {
            current = next
            frames = 0
        }
    }
}
