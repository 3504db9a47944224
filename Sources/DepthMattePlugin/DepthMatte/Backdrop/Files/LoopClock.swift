package import GstBridge

/// Gives the frames of a looping file timestamps that increase from round to round.
///
/// The file's own timestamps are used as far as they make sense. A frame that is not later than the previous one, or has no
/// timestamp, follows at the previous one's end.
package struct LoopClock {
    /// The start of the round, and the file's timestamp of its first frame.
    private var roundStart: RunningTime = 0
    private var firstStamp: RunningTime?
    private var framesThisRound = 0
    private var lastTime: RunningTime?
    /// The end of the last frame.
    private var end: RunningTime = 0

    /// The shortest time between frames, so that a span of time has a bounded number of frames.
    package static let shortestFrame: RunningTime = 1_000_000
    /// The longest credible time between frames; timestamps farther apart are ignored.
    package static let longestFrame: RunningTime = 3_600_000_000_000
    /// The duration of a frame that has none.
    package static let usualFrame: RunningTime = 40_000_000

    package init() {}

    /// Returns the time of the next frame since the first frame of the first round.
    ///
    /// - Parameters:
    ///   - stamp: its timestamp in the file, if it has one.
    ///   - duration: its duration in the file, if it has one.
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

    /// Starts the next round, at the end of the file.
    ///
    /// - Returns: false if the file should not loop, because the round had one frame or none.
    package mutating func beginRound() -> Bool {
        guard framesThisRound > 1 else { return false }
        framesThisRound = 0
        roundStart = end
        firstStamp = nil
        return true
    }
}
