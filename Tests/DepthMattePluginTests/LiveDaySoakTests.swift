import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Eight hours of a live camera, on a clock that the test moves (`Tests/soak.sh`); two minutes in small.
@Suite struct LiveDaySoakTests {
    private static let latency = 40 * millisecond

    /// A second before the milliseconds pass what 32 bits hold, and a hundred frames before their numbers do.
    private static let origin = 4_294_967_296 * millisecond - 1000 * millisecond
    private static let firstNumber: guint64 = 2_147_483_648 - 100

    @Test func `eight hours of a live camera keep to the clock, while depth comes and goes by the minute`() throws {
        let minutes = Soak.isFull ? 8 * 60 : 2
        let clock = TestClock(at: LiveDaySoakTests.origin)
        let bench = Bench(
            ["depth"], Numbered.properties.with(["latency": "\(LiveDaySoakTests.latency)"]), clock: clock.clock)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video)
        for minute in 0..<minutes {
            let hasDepth = minute.isMultiple(of: 2)
            for second in 0..<60 {
                for frame in 0..<30 {
                    let number = (minute * 60 + second) * 30 + frame
                    try pass(number, through: bench, clock, hasDepth: hasDepth)
                }
            }
            try #require(bench.latency() == Latency(least: LiveDaySoakTests.latency), "minute \(minute)")
            try #require(bench.bus.discardAll() == 0)
            bench.output.forgetStory()
        }
        #expect(clock.lateWaits == 0)
        let stats = Stats(of: bench)
        let frames = UInt64(minutes * 60 * 30)
        // Each second minute has no depth, but for the half second of the property hold-time.
        #expect(stats["frames"] == frames && stats["paired"] == frames / 2 + UInt64(minutes / 2))
        #expect(stats["reused"] == UInt64(minutes / 2 * 14) && stats["dropped"] == 0)
        Soak.report("\(minutes) live minutes, latency \(LiveDaySoakTests.latency) ns, \(clock.lateWaits) late waits")
    }

    /// One frame in and out: at once where its depth is there, else when the latency is over.
    private func pass(_ number: Int, through bench: Bench, _ clock: TestClock, hasDepth: Bool) throws {
        let start = LiveDaySoakTests.origin + time(ofFrame: number)
        clock.advance(to: start)
        let arrival = clock.time
        let buffer = guardedBuffer(Numbered.picture)
        buffer.pointer.pointee.offset = LiveDaySoakTests.firstNumber + guint64(number)
        bench.video.push(buffer, at: start)
        if hasDepth { bench.depth.push(Numbered.map(9), at: start) }
        bench.video.settle()
        bench.depth.settle()
        let deadline = start + LiveDaySoakTests.latency
        let frame =
            hasDepth ? bench.output.next() : clock.runUntil(deadline) { bench.output.present().first }
        guard let frame else { throw Missing(number: number) }
        let sinceDepth = number % 3600 - 1799
        let expected = hasDepth || sinceDepth <= 15 ? 9 : 0
        let leaves = hasDepth ? arrival : deadline
        guard frame.timing.start == start, frame.buffer.pointer.pointee.offset == buffer.pointer.pointee.offset,
            clock.time == leaves, Numbered.number(frame) == expected
        else { throw Missing(number: number, frame: "\(frame.timing) at \(clock.time) with \(Numbered.number(frame))") }
    }

    private struct Missing: Error {
        let number: Int
        var frame = "none"
    }
}
