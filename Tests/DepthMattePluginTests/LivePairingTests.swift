import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// A live camera on a clock that moves only when it is told to.
@Suite struct LivePairingTests {
    /// A depth map and when it reaches the element.
    private struct Map {
        let number: Int
        let time: GstClockTime
        let arrival: GstClockTime
    }

    /// Ten minutes of the camera's time.
    private static let seconds = 600

    @Test func `each frame of a live camera leaves in time, with the depth nearest to it of what had come`() throws {
        let latency = 100 * millisecond
        let clock = TestClock()
        let bench = Bench(["depth"], Numbered.properties.with(["latency": "\(latency)"]), clock: clock.clock)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        var random = RepeatableRandomNumberGenerator(seed: 7)
        var coming = LivePairingTests.depth(seconds: LivePairingTests.seconds, &random)[...]
        var came: [Map] = []
        var frames = 0
        var wrong = 0
        for number in 0..<LivePairingTests.seconds * 30 where Int.random(in: 0..<20, using: &random) != 0 {
            let start = time(ofFrame: number)
            let deadline = start + latency
            bench.video.push(Numbered.picture, at: start)
            while let map = coming.first, map.arrival <= deadline {
                bench.depth.push(Numbered.map(map.number), at: map.time)
                came.append(coming.removeFirst())
            }
            bench.depth.settle()
            let frame = try #require(clock.runUntil(deadline) { bench.output.present().first }, "frame \(number)")
            frames += 1
            if Numbered.number(frame) != expected(came, at: start) { wrong += 1 }
            came.removeFirst(max(0, came.count - 20))
        }
        #expect(frames > LivePairingTests.seconds * 28 && wrong == 0, "\(wrong) of \(frames) paired wrongly")
        #expect(clock.lateWaits == 0)
    }

    @Test func `a depth camera that never sends holds no frame beyond the latency`() throws {
        let clock = TestClock()
        let bench = Bench(["depth"], Numbered.properties.with(["latency": "40000000"]), clock: clock.clock)
        bench.video.start(Numbered.video)
        for number in 0..<10 {
            bench.video.push(Numbered.picture, at: time(ofFrame: number))
            let frame = try #require(
                clock.runUntil(time(ofFrame: number) + 40 * millisecond) { bench.output.present().first })
            #expect(Numbered.number(frame) == 0)
        }
        #expect(clock.lateWaits == 0)
    }

    @Test func `depth that stops and comes back is covered after hold-time and shown again at once`() throws {
        let clock = TestClock()
        let bench = Bench(["depth"], Numbered.properties.with(["latency": "40000000"]), clock: clock.clock)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        var shown: [Int] = []
        for number in 0..<120 {
            let start = time(ofFrame: number)
            bench.video.push(Numbered.picture, at: start)
            if number < 10 || number >= 100 { bench.depth.push(Numbered.map(9), at: start) }
            bench.depth.settle()
            shown.append(
                Numbered.number(try #require(clock.runUntil(start + 40 * millisecond) { bench.output.present().first }))
            )
        }
        // The last map is that of frame 9; half a second later is frame 24.
        #expect(shown == (0..<120).map { $0 <= 24 || $0 >= 100 ? 9 : 0 })
    }

    /// Depth at 15 maps a second, each up to 20 ms early or late and 10 ms on its way; one in twenty is lost.
    private static func depth(seconds: Int, _ random: inout RepeatableRandomNumberGenerator) -> [Map] {
        (0..<seconds * 15).compactMap { index in
            let jitter = Int64.random(in: -20_000_000...20_000_000, using: &random)
            let time = GstClockTime(max(0, Int64(time(ofFrame: index, perSecond: 15)) + jitter))
            if Int.random(in: 0..<20, using: &random) == 0 { return nil }
            return Map(number: 1 + index % 31, time: time, arrival: time + 10 * millisecond)
        }
    }

    /// The number of the map that belongs to the frame: the nearest within 50 ms, else the newest of the last 500 ms.
    private func expected(_ came: [Map], at start: GstClockTime) -> Int {
        let before = came.last { $0.time <= start }
        let after = came.first { $0.time > start }
        let nearest = [before, after].compactMap { $0 }.min { distance($0, start) < distance($1, start) }
        if let nearest, distance(nearest, start) <= 50 * millisecond { return nearest.number }
        if let before, distance(before, start) <= 500 * millisecond { return before.number }
        return 0
    }

    private func distance(_ map: Map, _ start: GstClockTime) -> GstClockTime {
        map.time > start ? map.time - start : start - map.time
    }
}
