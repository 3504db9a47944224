import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Which depth map a frame is cut out along.
@Suite struct PairingTests {
    /// What the maps' times are, and which of them the frames get; 0 where none.
    private static let rows: [(what: String, times: [GstClockTime], properties: [String: String], numbers: [Int])] = [
        ("equal times", (0..<8).map { time(ofFrame: $0) }, [:], Array(1...8)),
        (
            "half as fast and late", (0..<5).map { time(ofFrame: $0, perSecond: 15) + 5 * millisecond }, [:],
            [1, 1, 2, 2, 3, 3, 4, 4]
        ),
        (
            "half as fast and early", [0] + (0..<5).map { time(ofFrame: $0 + 1, perSecond: 15) - 5 * millisecond }, [:],
            [1, 2, 2, 3, 3, 4, 4, 5]
        ),
        (
            "twice as fast", (0..<16).map { time(ofFrame: $0, perSecond: 60) }, [:], [1, 3, 5, 7, 9, 11, 13, 15]
        ),
        (
            "a jitter of a third of a frame",
            [0]
                + [9, -10, 11, 3, -11, 7, 0, -8].enumerated().map { frame, jitter in
                    GstClockTime(Int64(time(ofFrame: frame + 1)) + jitter * 1_000_000)
                }, [:], Array(1...9)
        ),
        ("exactly max-skew late", [40 * millisecond], ["max-skew": "40000000"], [1]),
        ("more than max-skew late", [40 * millisecond], ["max-skew": "39999999"], [0]),
        ("a beginning after the video's", [200 * millisecond], [:], [0, 0, 0, 0, 0, 1, 1, 1]),
        (
            "a hole, over which the last map serves for hold-time", [0, 1000 * millisecond], [:],
            (0..<33).map { $0 <= 15 ? 1 : $0 <= 28 ? 0 : 2 }
        ),
        ("another hold-time", [0], ["hold-time": "100000000"], [1, 1, 1, 1, 0, 0]),
        ("no hold-time", [0], ["hold-time": "0", "max-skew": "0"], [1, 0, 0, 0]),
        (
            "all 66 ms late, and shifted back", (0..<8).map { time(ofFrame: $0) + 66 * millisecond },
            ["depth-ts-offset": "-66000000", "max-skew": "0", "hold-time": "0"], Array(1...8)
        ),
        (
            "all 66 ms early, and shifted on", (2..<8).map { time(ofFrame: $0) - 66 * millisecond },
            ["depth-ts-offset": "66000000", "max-skew": "0", "hold-time": "0"], [0, 0, 1, 2, 3, 4, 5, 6]
        ),
        (
            "exactly max-skew late when shifted", [106 * millisecond],
            ["depth-ts-offset": "-66000000", "max-skew": "40000000"], [1]
        ),
        (
            "more than max-skew late when shifted", [106 * millisecond],
            ["depth-ts-offset": "-66000000", "max-skew": "39999999"], [0]
        ),
        (
            "a hold-time from the shifted time on", [66 * millisecond],
            ["depth-ts-offset": "-66000000", "hold-time": "100000000"], [1, 1, 1, 1, 0, 0]
        ),
        (
            "before the stream's beginning when shifted", [0, 500 * millisecond],
            ["depth-ts-offset": "-100000000", "hold-time": "150000000"], [1, 1, 0, 0]
        ),
    ]

    @Test(arguments: rows)
    func `a frame gets the nearest map within max-skew, else the last within hold-time`(
        what: String, times: [GstClockTime], properties: [String: String], numbers: [Int]
    ) {
        let bench = Bench.numbered(properties)
        for (index, time) in times.enumerated() { bench.depth.push(Numbered.map(index + 1), at: time) }
        bench.depth.end()
        bench.pushVideo(numbers.count)
        #expect(bench.numbers() == numbers, "\(what)")
    }

    @Test(arguments: Follower.all)
    func `a gap is where the shifted times put it`(follower: Follower) {
        let bench = Bench.numbered(follower, ["depth-ts-offset": follower.offset(shiftingPartner: -66)])
        let partner = bench[follower.partner]
        func late(_ frame: Int) -> GstClockTime { time(ofFrame: frame) + 66 * millisecond }
        partner.push(follower.numbered(1), at: late(0))
        partner.gap(at: late(1), late(3) - late(1))
        partner.push(follower.numbered(4), at: late(3))
        partner.end()
        bench.pushLeading(4, of: follower)
        #expect(bench.numbers(follower) == [1, 0, 0, 4])
    }

    @Test func `a shift that changes between frames counts from the next one on`() {
        let bench = Bench.numbered(["max-skew": "1000000", "hold-time": "0"])
        for number in 0..<9 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number)) }
        bench.depth.end()
        var numbers: [Int] = []
        for (frame, shift) in [0, 0, -2, -2, 0, 0].enumerated() {
            bench.set("depth-ts-offset", "\(shift * Int(frameDuration))")
            bench.video.push(Numbered.picture, at: time(ofFrame: frame))
            numbers.append(bench.output.next().map(Numbered.number) ?? -1)
        }
        #expect(numbers == [1, 2, 5, 6, 0, 0])  // the maps of the last two were taken for those before
    }

    @Test(arguments: Follower.all)
    func `of two buffers with one timestamp the first counts, whenever the second comes`(follower: Follower) {
        let together = Bench.numbered(follower)
        for number in [1, 2] { together[follower.partner].push(follower.numbered(number), at: 0) }
        together[follower.partner].end()
        together.pushLeading(2, of: follower)
        #expect(together.numbers(follower) == [1, 1])
        let apart = Bench.numbered(follower)
        apart[follower.partner].push(follower.numbered(1), at: 0)
        apart.leading.push(follower.leading.frame, at: 0)
        #expect(apart.output.next().map(follower.number) == 1)
        apart[follower.partner].push(follower.numbered(2), at: 0)
        apart[follower.partner].end()
        apart.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        apart.leading.end()
        #expect(apart.numbers(follower) == [1])
    }

    @Test func `a missing map covers, passes or drops the frame as asked`() {
        for (mode, expected) in [("cover", [0, 0, 0]), ("pass", [Room.all, Room.all, Room.all]), ("drop", [])] {
            let bench = Bench.room(["on-missing-depth": mode])
            bench.depth.end()
            for frame in 0..<3 { bench.video.push(Room.picture, at: time(ofFrame: frame)) }
            bench.video.end()
            #expect(bench.output.rest().map { Room.shown($0) } == expected, "\(mode)")
        }
    }

    @Test func `dropped frames come again with the depth`() {
        let bench = Bench.numbered(["on-missing-depth": "drop"])
        bench.depth.push(Numbered.map(7), at: 200 * millisecond)
        bench.depth.end()
        bench.pushVideo(8)
        let frames = bench.output.rest()
        #expect(frames.map(\.timing.start) == (5..<8).map { time(ofFrame: $0) })
    }

    @Test func `an element without a depth pad shows the background alone`() {
        let bench = Bench([], ["blur-radius": "0"])
        bench.video.start(Room.shape)
        bench.video.push(Room.picture, at: 0)
        #expect(Room.shown(bench.output.next()) == 0)
    }

    @Test func `maps and frames without timestamps are paired in order`() {
        let bench = Bench.numbered()
        for number in 1...5 { bench.depth.push(Numbered.map(number)) }
        bench.depth.end()
        for _ in 0..<7 { bench.video.push(Numbered.picture) }
        bench.video.end()
        #expect(bench.numbers().prefix(5) == [1, 2, 3, 4, 5])
    }

    @Test func `maps without timestamps are paired in order with frames that have them`() {
        let bench = Bench.numbered()
        for number in 1...5 { bench.depth.push(Numbered.map(number)) }
        bench.depth.end()
        bench.pushVideo(5)
        #expect(bench.numbers() == [1, 2, 3, 4, 5])
    }

    @Test func `frames without timestamps take each map once, even one that has a timestamp`() {
        let bench = Bench.numbered(["hold-time": "0"])
        bench.depth.push(Numbered.map(3), at: 0)
        bench.depth.end()
        for _ in 0..<5 { bench.video.push(Numbered.picture) }
        bench.video.end()
        #expect(bench.numbers() == [3, 0, 0, 0, 0])
    }

    @Test(arguments: ["face", "background", "segmentation"])
    func `a frame whose buffers are all there leaves without more of them`(pad: String) throws {
        let bench = Bench.numbered()
        bench.request(pad).start(Numbered.video)
        for number in 0..<6 {
            let due = time(ofFrame: number)
            bench.depth.push(Numbered.map(number + 1), at: due)
            // What is left of a gap is before the next frame, and its buffer behind that.
            if number.isMultiple(of: 2) {
                bench[pad].push(Numbered.picture, at: due)
            } else {
                bench[pad].gap(at: due)
            }
            bench.video.push(Numbered.picture, at: due)
            try #require(bench.output.next().map(Numbered.number) == number + 1, "frame \(number)")
        }
    }

    @Test func `maps without a duration are no different`() {
        let bench = Bench.numbered()
        for number in 0..<4 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number), noClockTime) }
        bench.depth.end()
        bench.pushVideo(4)
        #expect(bench.numbers() == [1, 2, 3, 4])
    }

    // MARK: Segments

    @Test(arguments: [0.5, 2, 4])
    func `a stream at another rate is paired where it plays`(rate: Double) {
        let bench = Bench(["depth"], Numbered.properties)
        bench.depth.start(Numbered.depth)
        bench.video.start(Numbered.video, .time(rate: rate))
        for number in 0..<4 {
            bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number))
            bench.video.push(Numbered.picture, at: GstClockTime(Double(time(ofFrame: number)) * rate))
        }
        bench.depth.end()
        bench.video.end()
        #expect(bench.numbers() == [1, 2, 3, 4])
        #expect(bench.output.segment?.rate == rate)
    }

    @Test func `a second segment with a base goes on where the first ended`() {
        let bench = Bench.numbered()
        bench.depth.push(Numbered.map(1), at: 0)
        bench.depth.push(Numbered.map(2), at: 1000 * millisecond)
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        bench.video.push(.time(base: 1000 * millisecond))
        bench.video.push(Numbered.picture, at: 0)
        bench.video.end()
        #expect(bench.numbers() == [1, 2])
    }

    @Test func `frames outside the segment do not leave`() {
        let bench = Bench(["depth"], Numbered.properties)
        bench.depth.start(Numbered.depth)
        bench.depth.end()
        bench.video.start(Numbered.video, .time(start: 100 * millisecond, stop: 200 * millisecond))
        for frame in 0..<10 { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        let starts = bench.output.rest().map(\.timing.start)
        #expect(starts.allSatisfy { $0 + frameDuration > 100 * millisecond && $0 < 200 * millisecond }, "\(starts)")
        #expect(starts.count >= 3)
    }
}
