/// Pairs the frames of two cameras that are not synchronized.
///
/// A video frame and a depth frame are a pair if their times differ by no more than half the shorter frame interval: then neither
/// has a nearer partner. A frame without a partner goes alone, as soon as a later frame of either camera shows that none will come.
package struct FramePairing<Frame> {
    /// Frames that wait for a partner, oldest first.
    private var video: [(frame: Frame, time: Int64)] = []
    private var depth: [(frame: Frame, time: Int64)] = []
    private let isPaired: Bool
    private let tolerance: Int64

    /// Frames of one camera that wait at most; more arrive only where nobody fetches them.
    private static var limit: Int { 4 }

    /// - Parameters:
    ///   - isPaired: false where only one camera runs.
    ///   - interval: the shorter frame interval, in nanoseconds.
    package init(isPaired: Bool, interval: Int64) {
        self.isPaired = isPaired
        tolerance = interval / 2
    }

    /// For streams that were started.
    init(of streams: CameraStreams) {
        let rates = [streams.video, streams.depth].compactMap { $0?.rate }
        let interval = rates.map { 1_000_000_000 * Int64($0.denominator) / Int64(max(1, $0.numerator)) }.min()
        self.init(isPaired: rates.count == 2, interval: interval ?? 0)
    }

    /// - Returns: the oldest waiting frame where there are too many.
    package mutating func addVideo(_ frame: Frame, time: Int64) -> Frame? {
        video.append((frame, time))
        return video.count > Self.limit ? video.removeFirst().frame : nil
    }

    /// - Returns: the oldest waiting frame where there are too many.
    package mutating func addDepth(_ frame: Frame, time: Int64) -> Frame? {
        depth.append((frame, time))
        return depth.count > Self.limit ? depth.removeFirst().frame : nil
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
        let enough = isLast || !isPaired ? 1 : 2
        if video.count >= enough { return (video.removeFirst().frame, nil) }
        if depth.count >= enough { return (nil, depth.removeFirst().frame) }
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
