/// Maps the clock of a camera to the clock of the host, both in nanoseconds.
///
/// A frame arrives some delay after its exposure: the least delay of the transfer, which is constant, and waiting, which
/// is not. So the frames with the least delay show how the two clocks go: of each second the frame with the least difference
/// between arrival and camera time is kept, for `window` seconds. Pictures that the host takes late say nothing about the clocks,
/// however many they are, unless all of the window are. The drift is the median of the slopes between all pairs
/// of these points (Theil and Sen: seconds in which every frame waited do not bend it), and the line lies so low that it
/// touches the lowest point.
///
/// The mapped time is that of the exposure plus the least delay of the transfer, which no clock can see; for a camera on
/// USB that is the time to read the picture out and to send it, 5 to 20 ms. `error` bounds the rest.
package struct CameraClock {
    /// Seconds of the past that the line is fitted to. 30 s at 200 ppm are 6 ms of drift, far above the jitter of the
    /// least delays, and a change of temperature is slower.
    static let window = 30
    /// The line has a slope from this many seconds on; before it, the drift of any crystal is below the jitter.
    static let leastSeconds = 4
    /// Clocks of crystals agree to 100 ppm; more than this is none of them.
    static let mostDrift = 1e-3
    /// A frame that arrives this long before its exposure, in nanoseconds, at the end of a step that is longer than the one before
    /// by as much, shows that the camera's clock has jumped.
    static let mostAdvance: Int64 = 20_000_000

    /// The frame with the least delay of one second of camera time.
    private struct Point {
        let second: Int64
        let camera: Int64
        var delay: Int64
    }

    private var points: [Point] = []
    /// Line through the points: delay = base + slope · (camera − origin).
    private var origin: Int64 = 0
    private var base: Int64 = 0
    private var slope = 0.0
    private var lastCamera: Int64?
    /// From the frame before the last one to that.
    private var lastStep: Int64?
    private var lastResult: Int64?

    /// Number of jumps of the camera's clock so far.
    package private(set) var jumps = 0
    /// How much faster the host's clock goes than the camera's: 1e-6 is a microsecond a second.
    package var drift: Double { slope }
    /// Nanoseconds by which mapped times may be off, the least delay of the transfer aside: how far the points lie apart
    /// from their line. Nil before there are two.
    package private(set) var error: Int64?

    package init() {}

    /// Returns the host's time of a frame's exposure.
    ///
    /// Results grow from frame to frame and are never later than the arrival, unless the frame before was.
    ///
    /// - Parameters:
    ///   - camera: the camera's time of the exposure.
    ///   - arrival: the host's time at which the frame was there.
    package mutating func map(camera: Int64, arrival: Int64) -> Int64 {
        if hasJumped(camera, arrival) {
            self = CameraClock(after: self)
            jumps &+= 1
        }
        note(camera, arrival)
        let mapped = min(camera &+ delay(at: camera), arrival)
        let result = max(mapped, lastResult.map { $0 &+ 1 } ?? mapped)
        lastStep = lastCamera.map { camera &- $0 }
        (lastCamera, lastResult) = (camera, result)
        return result
    }

    /// A clock that has seen nothing but continues the results.
    private init(after old: CameraClock) {
        lastResult = old.lastResult
        jumps = old.jumps
    }

    private mutating func hasJumped(_ camera: Int64, _ arrival: Int64) -> Bool {
        guard let lastCamera else { return false }
        if camera < lastCamera { return true }
        // Where all so far were late, as behind a host that stood still, the first that is not comes in the camera's usual step.
        guard let lastStep, (camera &- lastCamera) &- lastStep > CameraClock.mostAdvance else { return false }
        return (arrival &- camera) &- delay(at: camera) < -CameraClock.mostAdvance
    }

    private func delay(at camera: Int64) -> Int64 {
        base &+ Int64(clampingRounded: slope * Double(camera &- origin))
    }

    private mutating func note(_ camera: Int64, _ arrival: Int64) {
        let point = Point(second: camera / 1_000_000_000, camera: camera, delay: arrival &- camera)
        if let last = points.last, last.second == point.second {
            guard point.delay < last.delay else { return }
            points[points.count - 1] = point
        } else {
            points.append(point)
            points.removeAll { point.second &- $0.second >= Int64(CameraClock.window) }
        }
        fit()
    }

    private mutating func fit() {
        guard let first = points.first, let last = points.last else { return }
        origin = first.camera
        slope = last.second &- first.second >= Int64(CameraClock.leastSeconds) ? medianSlope() : 0
        let residuals = points.map { $0.delay &- Int64(clampingRounded: slope * Double($0.camera &- origin)) }
        base = residuals.min() ?? 0
        error = points.count > 1 ? (residuals.max() ?? 0) &- base : nil
    }

    private func medianSlope() -> Double {
        var slopes: [Double] = []
        for (index, late) in points.enumerated() {
            for early in points[..<index] where late.camera > early.camera {
                slopes.append(Double(late.delay &- early.delay) / Double(late.camera &- early.camera))
            }
        }
        guard !slopes.isEmpty else { return 0 }
        slopes.sort()
        let median = slopes[slopes.count / 2]
        // No drift: some seconds of the window are late.
        return abs(median) <= CameraClock.mostDrift ? median : slope
    }
}

/// Maps the timestamps of a recording to nanoseconds since its first frame; a recording that starts again goes on.
package struct RecordingClock {
    private var first: Int64?
    private var last: Int64 = 0
    /// Nanoseconds between the last two frames.
    private var interval: Int64 = 33_333_333
    private var shift: Int64 = 0

    package init() {}

    package mutating func map(_ time: Int64) -> Int64 {
        guard let first else {
            first = time
            return 0
        }
        var mapped = (time &- first) &+ shift
        if mapped <= last {
            shift &+= (last &- mapped) &+ interval
            mapped = last &+ interval
        } else {
            interval = min(mapped &- last, 1_000_000_000)
        }
        last = mapped
        return mapped
    }
}

extension Int64 {
    /// The nearest integer to a number that may be out of range or NaN.
    fileprivate init(clampingRounded number: Double) {
        self = Int64(exactly: number.rounded()) ?? (number > 0 ? .max / 4 : number < 0 ? .min / 4 : 0)
    }
}
