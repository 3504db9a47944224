import DepthMattePlugin
import GstBridge
import TestSupport
import Testing

/// The clock on which the frames of a file that loops are placed.
@Suite struct LoopClockTests {
    private static let millisecond: RunningTime = 1_000_000

    /// The times of frames that come one after another, in milliseconds.
    private func times(
        _ frames: [(stamp: RunningTime?, duration: RunningTime?)], rounds: Int = 1
    ) -> [RunningTime] {
        var clock = LoopClock()
        var times: [RunningTime] = []
        for round in 0..<rounds {
            if round > 0 { _ = clock.beginRound() }
            for (stamp, duration) in frames {
                let time = clock.time(
                    ofFrameAt: stamp.map { $0 * LoopClockTests.millisecond },
                    duration: duration.map { $0 * LoopClockTests.millisecond })
                times.append(time / LoopClockTests.millisecond)
            }
        }
        return times
    }

    @Test func `timestamps are followed, from the first frame on, and rounds follow one another`() {
        #expect(times([(500, 100), (600, 100), (750, 50)], rounds: 3) == [0, 100, 250, 300, 400, 550, 600, 700, 850])
    }

    @Test func `frames without timestamps follow one another`() {
        #expect(times([(nil, 30), (nil, 10), (nil, nil), (nil, 5)], rounds: 2) == [0, 30, 40, 80, 85, 115, 125, 165])
    }

    @Test func `frames that all have the same timestamp follow one another`() {
        #expect(times([(0, 100), (0, 100), (0, 100)], rounds: 2) == [0, 100, 200, 300, 400, 500])
        #expect(times([(0, 0), (0, 0), (0, 0)], rounds: 2) == [0, 40, 80, 120, 160, 200])
    }

    @Test func `a frame that goes back in time comes where the one before it ends`() {
        #expect(times([(0, 40), (40, 40), (20, 40), (80, 40), (160, 40)]) == [0, 40, 80, 120, 160])
    }

    @Test func `a gap longer than an hour is left out`() {
        #expect(times([(0, 40), (3_000_000, 40), (9_000_000, 40)]) == [0, 3_000_000, 3_000_040])
    }

    @Test func `a file of one frame, and one that breaks off at once, do not start anew`() {
        var clock = LoopClock()
        var answers = [clock.beginRound()]
        _ = clock.time(ofFrameAt: 0, duration: nil)
        answers.append(clock.beginRound())
        _ = clock.time(ofFrameAt: 1, duration: nil)
        answers.append(clock.beginRound())
        answers.append(clock.beginRound())
        #expect(answers == [false, false, true, false])
    }

    @Test func `time goes on by a millisecond with every frame, whatever the file says`() {
        var random = RepeatableRandomNumberGenerator(seed: 5)
        let strange: [RunningTime?] = [nil, 0, 1, -1, .min, .max, 1 << 62, 3_600_000_000_000, 40_000_000]
        var clock = LoopClock()
        var last: RunningTime?
        for _ in 0..<20_000 {
            if Int.random(in: 0..<7, using: &random) == 0 { _ = clock.beginRound() }
            let stamp = strange.randomElement(using: &random).flatMap { $0 }
            let duration = strange.randomElement(using: &random).flatMap { $0 }
            let time = clock.time(ofFrameAt: stamp, duration: duration)
            if let last { #expect(time - last >= LoopClock.shortestFrame && time - last <= 2 * LoopClock.longestFrame) }
            last = time
        }
    }
}
