import DepthCameras
import Testing

/// Frames of a camera at 30 a second, with the host's times of their exposures and arrivals.
private struct Frames {
    /// Host nanoseconds a camera nanosecond, less 1.
    var drift = 0.0
    /// Nanoseconds of the constant transfer.
    var transfer: Int64 = 8_000_000
    /// Most nanoseconds of waiting.
    var jitter: UInt64 = 6_000_000
    var generator = SystemLikeGenerator(state: 7)

    /// - Returns: the camera's time, the host's time of the exposure and of the arrival.
    mutating func frame(_ number: Int) -> (camera: Int64, exposure: Int64, arrival: Int64) {
        let camera = Int64(number) * 33_333_333 + 5_000_000_000
        let exposure = 1_000_000_000_000 + Int64(Double(camera) * (1 + drift))
        return (camera, exposure, exposure + transfer + Int64(generator.next() % (jitter + 1)))
    }
}

private struct SystemLikeGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 20
    }
}

@Suite struct CameraClockTests {
    @Test(arguments: [0.0, 200e-6, -200e-6])
    func `a clock that drifts is followed`(drift: Double) throws {
        var (clock, frames) = (CameraClock(), Frames(drift: drift))
        var worst: Int64 = 0
        for number in 0..<3600 {
            let frame = frames.frame(number)
            let mapped = clock.map(camera: frame.camera, arrival: frame.arrival)
            #expect(mapped <= frame.arrival)
            if number > 300 { worst = max(worst, abs(mapped - frame.exposure - frames.transfer)) }
        }
        #expect(worst < 1_000_000, "a frame is \(worst) ns off")
        #expect(abs(clock.drift - drift) < 20e-6, "a drift of \(clock.drift) was found")
        let error = try #require(clock.error)
        #expect(error < 1_500_000)
        #expect(clock.jumps == 0)
    }

    @Test func `times grow and keep their distance in spite of jitter`() {
        var (clock, frames) = (CameraClock(), Frames(drift: 50e-6))
        var last: Int64?
        for number in 0..<1800 {
            let frame = frames.frame(number)
            let mapped = clock.map(camera: frame.camera, arrival: frame.arrival)
            if let last {
                #expect(mapped > last)
                if number > 300 { #expect(abs(mapped - last - 33_333_333) < 1_000_000) }
            }
            last = mapped
        }
    }

    @Test(arguments: [-3_600_000_000_000, 3_600_000_000_000, 100_000_000] as [Int64])
    func `a clock that jumps is found again, and time does not run backwards`(jump: Int64) {
        var (clock, frames) = (CameraClock(), Frames())
        var last = Int64.min
        for number in 0..<900 {
            let frame = frames.frame(number)
            let mapped = clock.map(camera: frame.camera + (number >= 450 ? jump : 0), arrival: frame.arrival)
            #expect(mapped > last)
            last = mapped
            if number > 600 { #expect(abs(mapped - frame.exposure - frames.transfer) < 2_000_000) }
        }
        #expect(clock.jumps == 1)
    }

    @Test func `a second of late frames is no jump`() {
        var (clock, frames) = (CameraClock(), Frames())
        var last = Int64.min
        for number in 0..<900 {
            let frame = frames.frame(number)
            // The host was busy for half a second; the frames of that time arrive together.
            let arrival = (450..<465).contains(number) ? max(frame.arrival, frames.frame(465).arrival) : frame.arrival
            let mapped = clock.map(camera: frame.camera, arrival: arrival)
            #expect(mapped > last && abs(mapped - frame.exposure - frames.transfer) < 6_000_001)
            last = mapped
        }
        #expect(clock.jumps == 0)
    }

    /// Pictures that the host takes late: all that were due meanwhile together, or each by 300 ms.
    @Test(arguments: [(450..<600, true), (450..<510, false), (450..<1500, false), (0..<90, true), (0..<40, false)])
    func `late pictures are no jump`(range: Range<Int>, areTogether: Bool) {
        var (clock, frames) = (CameraClock(), Frames())
        let end = frames.frame(range.upperBound).arrival
        var last = Int64.min
        for number in 0..<2400 {
            let frame = frames.frame(number)
            let late = areTogether ? max(frame.arrival, end) : frame.arrival + 300_000_000
            let mapped = clock.map(camera: frame.camera, arrival: range.contains(number) ? late : frame.arrival)
            #expect(mapped > last)
            last = mapped
            // Before, all that are known are late.
            if range.lowerBound > 0 && number < range.upperBound && number < 1000 || number > range.upperBound + 20 {
                #expect(abs(mapped - frame.exposure - frames.transfer) < 20_000_000, "frame \(number)")
            }
        }
        #expect(clock.jumps == 0)
    }

    @Test func `hostile times do not trap`() {
        var clock = CameraClock()
        for (camera, arrival) in [
            (Int64.min, Int64.max), (.max, .min), (0, 0), (.max, .max), (.min, .min), (1, 2), (.max, 5),
        ] {
            _ = clock.map(camera: camera, arrival: arrival)
        }
    }

    @Test func `a recording starts at 0 and goes on where it starts again`() {
        var clock = RecordingClock()
        #expect(clock.map(5_000) == 0)
        #expect(clock.map(40_005_000) == 40_000_000)
        #expect(clock.map(5_000) == 80_000_000)
        #expect(clock.map(40_005_000) == 120_000_000)
    }
}
