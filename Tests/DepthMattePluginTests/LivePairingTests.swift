import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// A live camera on a clock that moves only when it is told to.
@Suite struct LivePairingTests {
    /// A depth map, the timestamp that its camera gives it, and when it reaches the element.
    private struct Map {
        let number: Int
        let time: GstClockTime
        let arrival: GstClockTime
    }

    private static let latency = 100 * millisecond
    private let clock = TestClock()

    private func bench(latency: GstClockTime = latency) -> Bench {
        let bench = Bench(["depth"], Numbered.properties.with(["latency": "\(latency)"]), clock: clock.clock)
        bench.video.start(Numbered.video)
        return bench
    }

    /// Each frame must leave in time, with the map that belongs to it of those that had come.
    private func play(_ frames: [Int], _ maps: [Map]) throws {
        let bench = bench()
        bench.depth.start(Numbered.depth)
        var coming = maps[...]
        var came: [Map] = []
        var wrong = 0
        for number in frames {
            let start = time(ofFrame: number)
            let deadline = start + LivePairingTests.latency
            bench.video.push(Numbered.picture, at: start)
            while let map = coming.first, map.arrival <= deadline {
                bench.depth.push(Numbered.map(map.number), at: map.time)
                came.append(coming.removeFirst())
            }
            bench.depth.settle()
            let frame = try #require(clock.runUntil(deadline) { bench.output.present().first }, "frame \(number)")
            if Numbered.number(frame) != expected(came, at: start) { wrong += 1 }
            came.removeFirst(max(0, came.count - 40))
        }
        #expect(wrong == 0, "\(wrong) of \(frames.count) paired wrongly")
        #expect(clock.lateWaits == 0)
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

    /// Ten minutes, in which one frame in twenty is lost. Depth comes at 15 maps a second, each up to 20 ms early or
    /// late and 10 ms on its way; one in twenty is lost.
    @Test func `each frame of a live camera leaves in time, with the depth nearest to it of what had come`() throws {
        let seconds = 600
        var random = RepeatableRandomNumberGenerator(seed: 7)
        let maps = (0..<seconds * 15).compactMap { index -> Map? in
            let jitter = Int64.random(in: -20_000_000...20_000_000, using: &random)
            let time = GstClockTime(max(0, Int64(time(ofFrame: index, perSecond: 15)) + jitter))
            if Int.random(in: 0..<20, using: &random) == 0 { return nil }
            return Map(number: 1 + index % 31, time: time, arrival: time + 10 * millisecond)
        }
        try play((0..<seconds * 30).filter { _ in Int.random(in: 0..<20, using: &random) != 0 }, maps)
    }

    // MARK: Clocks that run apart

    /// The depth camera's clock gains `drift` seconds a second: 60 ms after five minutes at 200 parts in a million, 0.6 s
    /// after one at one in a hundred, farther than maps are paired, and farther than they are held.
    @Test(arguments: [(-0.01, minutes: 1), (-0.0002, 5), (0.0002, 5), (0.01, 1)])
    func `frames are paired by timestamps however far the clocks have run apart`(drift: Double, minutes: Int) throws {
        let count = minutes * 60 * 30
        let maps = (0..<count).map { index in
            let moment = time(ofFrame: index)
            let stamp = GstClockTime(Double(moment) * (1 + drift))
            // A map comes with its frame; one that claims to be from later than the latency spans waits upstream.
            let arrival = max(moment + 90 * millisecond, stamp + LivePairingTests.latency / 2)
            return Map(number: 1 + index % 31, time: stamp, arrival: arrival)
        }
        try play(Array(0..<count), maps)
    }

    @Test func `maps from a clock that runs ahead wait upstream and do not pile up`() throws {
        let bench = bench()
        bench.depth.start(Numbered.depth)
        let arrivals = PassingEvents(bench.depth.target)
        for number in 0..<300 { bench.depth.push(Numbered.map(1), at: time(ofFrame: number)) }
        let most = Int(LivePairingTests.latency / frameDuration) + 8
        for frame in 0..<60 {
            bench.video.push(Numbered.picture, at: time(ofFrame: frame))
            _ = try #require(
                clock.runUntil(time(ofFrame: frame) + LivePairingTests.latency) { bench.output.present().first })
            #expect(arrivals.buffers <= frame + most)
        }
    }

    // MARK: Streams that do not come

    @Test(arguments: [0, 40 * millisecond], [true, false])
    func `a depth camera that never sends holds no frame beyond the latency`(
        latency: GstClockTime, sendsCaps: Bool
    ) throws {
        let bench = bench(latency: latency)
        if sendsCaps { bench.depth.start(Numbered.depth) }
        for number in 0..<10 {
            bench.video.push(Numbered.picture, at: time(ofFrame: number))
            let frame = try #require(
                clock.runUntil(time(ofFrame: number) + latency) { bench.output.present().first })
            #expect(Numbered.number(frame) == 0)
        }
        #expect(clock.lateWaits == 0)
    }

    @Test func `faces, backgrounds and segmentations never delay the video`() throws {
        let bench = Bench(["face", "background", "segmentation"], clock: clock.clock)
        bench.face.start(Room.shape)
        bench.background.start(Room.shape)
        bench["segmentation"].start(VideoShape("GRAY8", 16, 12))
        // The waits are those for frames, once the streams have begun.
        for feed in [bench.face, bench.background, bench["segmentation"]] { feed.settle() }
        bench.video.start(Room.shape)
        for frame in 1...3 {
            bench.video.push(Room.picture, at: time(ofFrame: frame))
            try #require(clock.reach(time(ofFrame: frame)), "frame \(frame)")
            #expect(Room.shown(bench.output.next()) == 0)
        }
    }
}
