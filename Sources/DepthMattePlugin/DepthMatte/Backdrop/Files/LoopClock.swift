package import GstBridge

/// Puts the frames of a file that loops on one clock, on which time goes on with every frame.
///
/// The file's own timestamps are followed as far as they make sense. A frame that does not come later than the one
/// before it, or that has no timestamp, comes where that one ends.
package struct LoopClock {
    /// The start of the round, and the file's timestamp of its first frame.
    private var roundStart: RunningTime = 0
    private var firstStamp: RunningTime?
    private var framesThisRound = 0
    private var lastTime: RunningTime?
    /// The end of the last frame.
    private var end: RunningTime = 0

    /// No frame comes sooner after another, so that the frames of a stretch of time are of a bounded number.
    package static let shortestFrame: RunningTime = 1_000_000
    /// Timestamps farther apart are a fault of the file's.
    package static let longestFrame: RunningTime = 3_600_000_000_000
    /// The length of a frame without a duration.
    package static let usualFrame: RunningTime = 40_000_000

    package init() {}

    /// The time of the file's next frame, counted from its first frame in the first round.
    ///
    /// - Parameters:
    ///   - stamp: its timestamp on the file's clock, if it has one.
    ///   - duration: its length by the file, if it has one.
    package mutating func time(ofFrameAt stamp: RunningTime?, duration: RunningTime?) -> RunningTime {
        var time = end
        if let stamp {
            let first = firstStamp ?? stamp
            firstStamp = first
            let (sinceStart, overflow) = stamp.subtractingReportingOverflow(first)
            let wanted = roundStart &+ sinceStart
            let earliest = lastTime.map { $0 &+ LoopClock.shortestFrame } ?? wanted
            if !overflow, earliest...max(earliest, end &+ LoopClock.longestFrame) ~= wanted { time = wanted }
        }
        let length = duration ?? 0
        end = time &+ (LoopClock.shortestFrame...LoopClock.longestFrame ~= length ? length : LoopClock.usualFrame)
        lastTime = time
        framesThisRound += 1
        return time
    }

    /// The file ended; whether it is to start anew, which a still is not, nor a file that broke off at once.
    package mutating func beginRound() -> Bool {
        guard framesThisRound > 1 else { return false }
        framesThisRound = 0
        roundStart = end
        firstStamp = nil
        return true
    }
}
