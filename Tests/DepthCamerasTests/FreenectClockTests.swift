import DepthCameras
import Testing

@Suite struct FreenectClockTests {
    @Test func `sixty million ticks are a second`() {
        var clock = FreenectClock()
        let start = clock.nanoseconds(1000, host: 0)
        #expect(clock.nanoseconds(60_001_000, host: 1_000_000_000) - start == 1_000_000_000)
    }

    @Test func `the counter wraps without a jump`() {
        var clock = FreenectClock()
        var ticks = UInt32.max - 5_000_000
        var last = clock.nanoseconds(ticks, host: 0)
        for frame in 1...10_000 {
            ticks &+= 2_000_000
            let time = clock.nanoseconds(ticks, host: Int64(frame) * 33_333_333)
            #expect((33_333_333...33_333_334).contains(time - last))
            last = time
        }
    }

    @Test(arguments: [1, 40, 72, 200, 3600])
    func `a pause of any length is bridged`(seconds: Int64) {
        var clock = FreenectClock()
        let start = clock.nanoseconds(7, host: 0)
        // The host's clock runs 200 ppm faster.
        let ticks = UInt32(truncatingIfNeeded: 7 + seconds * 60_000_000)
        let time = clock.nanoseconds(ticks, host: seconds * 1_000_200_000)
        #expect(time - start == seconds * 1_000_000_000)
    }

    @Test func `the other camera's frame may be older`() {
        var clock = FreenectClock()
        let depth = clock.nanoseconds(500, host: 10)
        let video = clock.nanoseconds(UInt32.max - 999_499, host: 20)
        #expect((16_666_666...16_666_667).contains(depth - video))
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func `no clock of the host traps`(host: Int64) {
        var clock = FreenectClock()
        for ticks in [0, UInt32.max, 1, 1 << 31] {
            _ = clock.nanoseconds(ticks, host: host)
            _ = clock.nanoseconds(ticks, host: 0)
        }
    }
}

@Suite struct FramePairingTests {
    private static let interval: Int64 = 33_333_333

    /// Pairs frames at the given times, as they arrive; `v` and `d` with the time in milliseconds.
    private func pairs(video: [Int64], depth: [Int64]) -> [String] {
        var pairing = FramePairing<Int64>(isPaired: true, interval: Self.interval)
        var pairs: [String] = []
        func fetch(isLast: Bool) {
            while let next = pairing.next(isLast: isLast) {
                pairs.append([next.video.map { "v\($0)" }, next.depth.map { "d\($0)" }].compactMap(\.self).joined())
            }
        }
        let arrivals = (video.map { ($0, true) } + depth.map { ($0, false) }).sorted { $0.0 < $1.0 }
        for (time, isVideo) in arrivals {
            let rejected =
                isVideo
                ? pairing.addVideo(time, time: time * 1_000_000) : pairing.addDepth(time, time: time * 1_000_000)
            #expect(rejected == nil)
            fetch(isLast: false)
        }
        fetch(isLast: true)
        return pairs
    }

    @Test(arguments: [-16, -5, 0, 5, 16])
    func `cameras in any phase are paired`(phase: Int64) {
        let times = (1...5).map { Int64($0) * 33 }
        #expect(pairs(video: times.map { $0 + phase }, depth: times) == times.map { "v\($0 + phase)d\($0)" })
    }

    @Test func `a lost frame leaves its partner alone and no other`() {
        #expect(pairs(video: [0, 33, 67, 100], depth: [1, 68, 101]) == ["v0d1", "v33", "v67d68", "v100d101"])
        #expect(pairs(video: [0, 67, 100], depth: [1, 34, 68, 101]) == ["v0d1", "d34", "v67d68", "v100d101"])
    }

    @Test func `a slower video takes the nearest depth`() {
        let depth = (0...6).map { Int64($0) * 33 }
        #expect(pairs(video: [5, 105], depth: depth) == ["v5d0", "d33", "d66", "v105d99", "d132", "d165", "d198"])
    }

    @Test func `one camera is not held up by another that is silent`() {
        #expect(pairs(video: [0, 33, 67], depth: []) == ["v0", "v33", "v67"])
    }

    /// Depth arrives some frames behind the video of its time.
    @Test(arguments: [1, 3, 21])
    func `late partners are waited for`(delay: Int) {
        var pairing = FramePairing<Int>(isPaired: true, interval: Self.interval)
        var (pairs, lone) = (0, 0)
        for number in 0..<200 {
            let time = Int64(number) * Self.interval
            #expect(pairing.addVideo(number, time: time) == nil)
            if number >= delay {
                let rejected = pairing.addDepth(
                    number - delay, time: time - Int64(delay) * Self.interval + 2_000_000)
                #expect(rejected == nil || rejected == number - delay && pairs == 0)
            }
            while let next = pairing.next(isLast: false) {
                if let video = next.video, let depth = next.depth {
                    #expect(video == depth)
                    pairs += 1
                } else {
                    lone += 1
                }
            }
        }
        // The first pictures go alone while it learns; `delay` of the video are waiting at the end.
        #expect(pairs == 200 - 2 * delay + 1 && lone == delay - 1)
    }

    @Test func `a recording that starts again is not late`() {
        var pairing = FramePairing<Int64>(isPaired: true, interval: Self.interval)
        func add(_ times: [Int64], isDepth: Bool) {
            for time in times {
                #expect((isDepth ? pairing.addDepth(time, time: time) : pairing.addVideo(time, time: time)) == nil)
                while pairing.next(isLast: false) != nil {}
            }
        }
        let times = (0..<30).map { Int64($0) * Self.interval }
        for _ in 0..<3 {
            add([0], isDepth: true)
            add(times, isDepth: false)
            while pairing.next(isLast: true) != nil {}
        }
        // Two frames still show that no depth comes.
        add([5_000_000_000], isDepth: false)
        _ = pairing.addVideo(2, time: 5_033_333_333)
        #expect(pairing.next(isLast: false)?.video == 5_000_000_000)
    }

    @Test func `frames that nobody fetches make room`() {
        var pairing = FramePairing<Int>(isPaired: true, interval: Self.interval)
        #expect((0..<4).allSatisfy { pairing.addDepth($0, time: Int64($0)) == nil })
        #expect(pairing.addDepth(4, time: 4) == 0)
        #expect(pairing.removeAll() == [1, 2, 3, 4])
    }

    @Test func `no time traps`() {
        var pairing = FramePairing<Int>(isPaired: true, interval: .max)
        _ = pairing.addVideo(0, time: .min)
        _ = pairing.addDepth(0, time: .max)
        #expect(pairing.next(isLast: false)?.video == 0)
    }
}
