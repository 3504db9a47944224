/// Pairs the frames of two cameras that are not synchronized.
///
/// A video frame and a depth frame are a pair if their times differ by no more than half the shorter frame interval: then neither
/// has a nearer partner. A frame without a partner goes alone, as soon as a later frame of either camera shows that none will come.
/// Where partners come later than that, because one camera takes longer to deliver, more frames are waited for from then on. A late
/// depth map, whose picture has gone, is lost: frames go in the order of their times. A picture is lost only where nobody fetches any.
///
/// Some cameras time color and depth by two clocks. Then no times are near each other, and frames are paired by their arrival: the
/// times of the depth are mapped to the video's clock, by the frames that arrived with the least delay.
package struct FramePairing<Frame> {
    /// Frames that wait for a partner, oldest first.
    private var video: [(frame: Frame, time: Int64)] = []
    private var depth: [(frame: Frame, time: Int64)] = []
    private let isPaired: Bool
    private let tolerance: Int64
    /// Frames of one camera that show that none of the other will come for the first.
    private var patience: Int
    private let leastPatience: Int
    /// The newest frames that went alone because of that.
    private var lastLoneVideo: Int64?
    private var lastLoneDepth: Int64?
    /// The newest frames that were added.
    private var lastVideo: Int64?
    private var lastDepth: Int64?
    private let isRecording: Bool
    fileprivate var clocks = StreamClocks()

    /// Frames of one camera that wait at most; more arrive only where nobody fetches them.
    private var limit: Int { max(4, patience) }
    /// A second of frames at 30 frames a second.
    private static var mostPatience: Int { 31 }

    /// - Parameters:
    ///   - isPaired: false where only one camera runs.
    ///   - interval: the shorter frame interval, in nanoseconds.
    ///   - isRecording: true where frames arrive as fast as they are fetched.
    ///   - isPatient: true where 31 frames may wait from the start, so that no partner is lost while that is learned.
    package init(isPaired: Bool, interval: Int64, isRecording: Bool = false, isPatient: Bool = false) {
        self.isPaired = isPaired
        self.isRecording = isRecording
        leastPatience = isPatient ? Self.mostPatience : 2
        patience = leastPatience
        tolerance = interval / 2
    }

    /// For streams that were started.
    init(video: CameraMode?, depth: CameraMode?, isRecording: Bool = false, isPatient: Bool = false) {
        let intervals = [video, depth].compactMap { $0?.interval }
        self.init(
            isPaired: intervals.count == 2, interval: intervals.min() ?? 0, isRecording: isRecording,
            isPatient: isPatient)
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
    ///
    /// - Parameter areClocksTwo: true where the library says that color and depth have two clocks.
    mutating func add(_ frame: CameraFrame, isDepth: Bool, areClocksTwo: Bool = false) {
        var maps: [CameraFrame] = []
        if isPaired, clocks.haveBecomeTwo(frame.time, isDepth: isDepth, tolerance, known: areClocksTwo) {
            // Forgets what was learned from times of two clocks; the maps that wait are added again below, at mapped times.
            maps = depth.map(\.frame)
            (depth, lastDepth, lastLoneVideo, lastLoneDepth, patience) = ([], nil, nil, nil, leastPatience)
        }
        if isDepth {
            maps.append(frame)
        } else {
            clocks.note(video: frame.time, arrival: isRecording ? frame.time : monotonicTime())
            _ = addVideo(frame, time: frame.time)
        }
        for map in maps {
            // A recording arrives as fast as it is fetched: there the video is the clock.
            map.time = clocks.videoTime(
                ofDepth: map.time, arrival: isRecording ? lastVideo ?? map.time : monotonicTime())
            _ = addDepth(map, time: map.time)
        }
    }

    /// The next frames.
    ///
    /// - Parameter isLast: true if no more frames come.
    mutating func nextFrames(isLast: Bool) -> CameraFrames? {
        next(isLast: isLast).map { CameraFrames(video: $0.video, depth: $0.depth) }
    }
}

/// The clocks of color and depth: one, or two that have nothing to do with each other.
private struct StreamClocks {
    private var areTwo = false
    /// Frames in a row whose times say otherwise; so many change it. At the start the first says it.
    private var contradictions = mostContradictions - 1
    private static let mostContradictions = 5
    /// The last frame, and the last times of both streams by their own clocks.
    private var wasDepth: Bool?
    private var last: (video: Int64, depth: Int64) = (0, 0)
    private var video = CameraClock()
    private var depth = CameraClock()
    /// The clock of arrivals less the video's.
    private var offset: Int64 = 0

    /// Judges by the time of a frame that comes behind one of the other stream: no time comes near the other stream's where the clocks
    /// are two. Where the other stream is silent, its last time is old.
    ///
    /// - Returns: true where two clocks were one so far.
    mutating func haveBecomeTwo(_ time: Int64, isDepth: Bool, _ tolerance: Int64, known: Bool) -> Bool {
        let wereTwo = areTwo
        if isDepth { last.depth = time } else { last.video = time }
        if wasDepth == !isDepth {
            let distance = last.video.subtractingReportingOverflow(last.depth)
            // A second of frames at 30 frames a second, and one more: for no partner it is waited longer.
            let isFar = distance.overflow || distance.partialValue.magnitude / 64 > tolerance.magnitude
            contradictions = isFar == areTwo ? 0 : contradictions &+ 1
            if contradictions >= Self.mostContradictions { (areTwo, contradictions) = (isFar, 0) }
        }
        wasDepth = isDepth
        areTwo = areTwo || known
        return areTwo && !wereTwo
    }

    mutating func note(video time: Int64, arrival: Int64) {
        offset = (areTwo ? video.map(camera: time, arrival: arrival) : arrival) &- time
    }

    mutating func videoTime(ofDepth time: Int64, arrival: Int64) -> Int64 {
        areTwo ? depth.map(camera: time, arrival: arrival) &- offset : time
    }
}
