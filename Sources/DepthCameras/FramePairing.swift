/// Pairs the frames of two cameras that are not synchronized.
///
/// A video frame and a depth frame are a pair if their times differ by no more than half the shorter frame interval: then neither
/// has a nearer partner. A frame without a partner goes alone, as soon as a later frame of either camera shows that none will come.
/// Where partners come later than that, because one camera takes longer to deliver, more frames are waited for from then on. A late
/// depth map, whose picture has gone, is lost: frames go in the order of their times. A picture is lost only where nobody fetches any.
package struct FramePairing<Frame> {
    /// Frames that wait for a partner, oldest first.
    private var video: [(frame: Frame, time: Int64)] = []
    private var depth: [(frame: Frame, time: Int64)] = []
    private let isPaired: Bool
    private let tolerance: Int64
    /// Frames of one camera that show that none of the other will come for the first.
    private var patience: Int
    /// The newest frames that went alone because of that.
    private var lastLoneVideo: Int64?
    private var lastLoneDepth: Int64?
    /// The newest frames that were added.
    private var lastVideo: Int64?
    private var lastDepth: Int64?

    /// Frames of one camera that wait at most; more arrive only where nobody fetches them.
    private var limit: Int { max(4, patience) }
    /// A second of frames at 30 frames a second.
    private static var mostPatience: Int { 31 }

    /// - Parameters:
    ///   - isPaired: false where only one camera runs.
    ///   - interval: the shorter frame interval, in nanoseconds.
    ///   - isRecording: true where 31 frames may wait from the start, so that no partner is lost while that is learned.
    package init(isPaired: Bool, interval: Int64, isRecording: Bool = false) {
        self.isPaired = isPaired
        patience = isRecording ? Self.mostPatience : 2
        tolerance = interval / 2
    }

    /// For streams that were started.
    init(of streams: CameraStreams, isRecording: Bool = false) {
        let rates = [streams.video, streams.depth].compactMap { $0?.rate }
        let interval = rates.map { 1_000_000_000 * Int64($0.denominator) / Int64(max(1, $0.numerator)) }.min()
        self.init(isPaired: rates.count == 2, interval: interval ?? 0, isRecording: isRecording)
    }

    /// - Returns: the oldest waiting frame where there are too many.
    package mutating func addVideo(_ frame: Frame, time: Int64) -> Frame? {
        _ = isLate(time, since: lastVideo, lastLoneDepth)
        lastVideo = time
        video.append((frame, time))
        return video.count > limit ? video.removeFirst().frame : nil
    }

    /// - Returns: the frame, if it is late; the oldest waiting frame where there are too many.
    package mutating func addDepth(_ frame: Frame, time: Int64) -> Frame? {
        defer { lastDepth = time }
        if isLate(time, since: lastDepth, lastLoneVideo) { return frame }
        depth.append((frame, time))
        return depth.count > limit ? depth.removeFirst().frame : nil
    }

    /// True for a frame that comes so late that its partner has gone alone. The next partner is waited for longer.
    private mutating func isLate(_ time: Int64, since last: Int64?, _ lastLone: Int64?) -> Bool {
        if let last, time <= last {
            // The clock has jumped, or a recording starts again.
            (lastLoneVideo, lastLoneDepth) = (nil, nil)
            return false
        }
        guard let lateness = lastLone?.subtractingReportingOverflow(time), !lateness.overflow,
            lateness.partialValue >= 0 &- tolerance
        else { return false }
        patience = min(patience &+ 1, Self.mostPatience)
        return true
    }

    /// The next frames.
    ///
    /// - Parameter isLast: true if no more frames come.
    package mutating func next(isLast: Bool) -> (video: Frame?, depth: Frame?)? {
        if let firstVideo = video.first, let firstDepth = depth.first {
            let difference = firstVideo.time.subtractingReportingOverflow(firstDepth.time)
            if !difference.overflow, difference.partialValue.magnitude <= tolerance.magnitude {
                return (video.removeFirst().frame, depth.removeFirst().frame)
            }
            return firstVideo.time < firstDepth.time
                ? (video.removeFirst().frame, nil) : (nil, depth.removeFirst().frame)
        }
        let enough = isLast || !isPaired ? 1 : patience
        if video.count >= enough {
            lastLoneVideo = video[0].time
            return (video.removeFirst().frame, nil)
        }
        if depth.count >= enough {
            lastLoneDepth = depth[0].time
            return (nil, depth.removeFirst().frame)
        }
        return nil
    }

    /// Removes and returns what waits.
    package mutating func removeAll() -> [Frame] {
        let waiting = video.map(\.frame) + depth.map(\.frame)
        video = []
        depth = []
        return waiting
    }
}

extension FramePairing<CameraFrame> {
    /// Adds a frame of a library's, which counts its references. Where too many wait, the oldest is lost.
    mutating func add(_ frame: CameraFrame, isDepth: Bool) {
        _ = isDepth ? addDepth(frame, time: frame.time) : addVideo(frame, time: frame.time)
    }

    /// The next frames.
    ///
    /// - Parameter isLast: true if no more frames come.
    mutating func nextFrames(isLast: Bool) -> CameraFrames? {
        next(isLast: isLast).map { CameraFrames(video: $0.video, depth: $0.depth) }
    }
}
