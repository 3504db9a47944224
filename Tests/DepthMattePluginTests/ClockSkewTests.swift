import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Two live cameras whose clocks run apart.
@Suite struct ClockSkewTests {
    private static let latency = 100 * millisecond
    private let clock = TestClock()

    /// The timestamp that a depth camera gives the map of a moment; its clock gains `drift` seconds a second.
    private func stamp(_ moment: GstClockTime, drift: Double) -> GstClockTime {
        GstClockTime(Double(moment) * (1 + drift))
    }

    private func bench() -> Bench {
        let bench = Bench(
            ["depth"], Numbered.properties.with(["latency": "\(ClockSkewTests.latency)"]), clock: clock.clock)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        return bench
    }

    /// 60 ms after five minutes at 200 parts in a million, 0.6 s after one at one in a hundred: farther than maps are paired,
    /// and farther than they are held.
    @Test(arguments: [(-0.01, minutes: 1), (-0.0002, 5), (0.0002, 5), (0.01, 1)])
    func `frames are paired by timestamps however far the clocks have run apart`(
        drift: Double, minutes: Int
    ) throws {
        let bench = bench()
        var coming = 0
        var came: [(number: Int, time: GstClockTime)] = []
        var wrong = 0
        for frame in 0..<minutes * 60 * 30 {
            let start = time(ofFrame: frame)
            bench.video.push(Numbered.picture, at: start)
            // A map comes when it is taken; one that claims to be from later than the latency spans waits upstream.
            while time(ofFrame: coming) <= start + 10 * millisecond,
                stamp(time(ofFrame: coming), drift: drift) <= start + ClockSkewTests.latency / 2
            {
                came.append((1 + coming % 31, stamp(time(ofFrame: coming), drift: drift)))
                bench.depth.push(Numbered.map(1 + coming % 31), at: came[came.count - 1].time)
                coming += 1
            }
            bench.depth.settle()
            let picture = try #require(
                clock.runUntil(start + ClockSkewTests.latency) { bench.output.present().first }, "frame \(frame)")
            if Numbered.number(picture) != expected(came, at: start) { wrong += 1 }
            came.removeFirst(max(0, came.count - 40))
        }
        #expect(wrong == 0)
        #expect(clock.lateWaits == 0)
    }

    @Test func `maps from a clock that runs ahead wait upstream and do not pile up`() throws {
        let bench = bench()
        let arrivals = PassingEvents(bench.depth.target)
        for number in 0..<300 { bench.depth.push(Numbered.map(1), at: time(ofFrame: number)) }
        let most = Int(ClockSkewTests.latency / frameDuration) + 8
        for frame in 0..<60 {
            bench.video.push(Numbered.picture, at: time(ofFrame: frame))
            _ = try #require(
                clock.runUntil(time(ofFrame: frame) + ClockSkewTests.latency) { bench.output.present().first })
            #expect(arrivals.buffers <= frame + most)
        }
    }

    /// The nearest within 50 ms, else the newest of the last 500 ms, else none.
    private func expected(_ came: [(number: Int, time: GstClockTime)], at start: GstClockTime) -> Int {
        let before = came.last { $0.time <= start }
        let after = came.first { $0.time > start }
        let near = [before, after].compactMap { $0 }.min { distance($0.time, start) < distance($1.time, start) }
        if let near, distance(near.time, start) <= 50 * millisecond { return near.number }
        if let before, distance(before.time, start) <= 500 * millisecond { return before.number }
        return 0
    }

    private func distance(_ one: GstClockTime, _ two: GstClockTime) -> GstClockTime {
        one > two ? one - two : two - one
    }
}
