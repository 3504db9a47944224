import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import Testing

/// A clock that jumps, stops or goes backwards: no burst of frames, no frame twice, and a stop at any time.
@Suite struct ClockFaultTests {
    private static let hour: GstClockTimeDiff = 3_600_000_000_000

    @Test(arguments: Follower.all)
    func `a jump by an hour ends the wait for the partner, and each frame leaves once`(follower: Follower) throws {
        let clock = JumpingClock()
        let bench = live(follower, clock)
        for number in 0..<5 { bench.leading.push(follower.leading.frame, at: time(ofFrame: number)) }
        clock.jump(by: ClockFaultTests.hour)
        for number in 0..<5 {
            let frame = try #require(bench.output.next())
            #expect(frame.timing.start == time(ofFrame: number))
        }
        #expect(bench.leading.hasSettled && bench.output.present().isEmpty)
        #expect(bench.bus.errors() == [] && bench.bus.warnings() == [])
    }

    @Test(arguments: Follower.all, [-hour, hour])
    func `pairs leave whatever the clock does`(follower: Follower, jump: GstClockTimeDiff) throws {
        let clock = JumpingClock()
        let bench = live(follower, clock)
        for number in 0..<30 {
            switch number {
            case 10: clock.jump(by: jump)
            case 20: clock.stop()
            default: break
            }
            bench[follower.partner].push(follower.numbered(number % 9 + 1), at: time(ofFrame: number))
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            let frame = try #require(bench.output.next(), "frame \(number)")
            #expect(frame.timing.start == time(ofFrame: number))
            // What comes after its time goes with what is there.
            if number < 10 || jump < 0 { #expect(follower.number(frame) == number % 9 + 1, "frame \(number)") }
        }
        #expect(bench.leading.hasSettled && bench.output.present().isEmpty)
    }

    @Test(arguments: Follower.all, [true, false])
    func `a stop ends a wait that the clock never would`(follower: Follower, isStanding: Bool) {
        let clock = JumpingClock()
        let bench = live(follower, clock)
        if isStanding { clock.stop() } else { clock.jump(by: -ClockFaultTests.hour) }
        for number in 0..<3 { bench.leading.push(follower.leading.frame, at: time(ofFrame: number)) }
        #expect(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        #expect(bench.leading.hasSettled)
    }

    @Test(arguments: [-hour, hour])
    func `a live source goes on at the present after a jump, and stops at once`(jump: GstClockTimeDiff) throws {
        let clock = JumpingClock()
        let pipeline = Pipeline(
            "depthtestsrc name=camera is-live=true camera.depth ! video/x-raw,width=16,height=12 "
                + "! appsink name=sink sync=false")
        gst_pipeline_use_clock(
            UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstPipeline.self), clock.clock)
        pipeline.set(GST_STATE_PLAYING)
        for _ in 0..<3 { _ = try #require(pipeline.nextFrame(of: "sink")) }
        clock.jump(by: jump)
        if jump > 0 {
            // Some that were under way, and then none of the hour's.
            let first = (0..<100).first { _ in
                (pipeline.nextFrame(of: "sink")?.timing.start ?? 0) >= GstClockTime(jump)
            }
            #expect(first != nil)
        }
        #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        #expect(pipeline.bus.errors() == [])
    }

    /// A live element whose leading and partner streams have begun; it waits 50 ms for the partner.
    private func live(_ follower: Follower, _ clock: JumpingClock) -> Bench {
        let bench = Bench(follower, [follower.partner], ["latency": "50000000"], clock: clock.clock)
        gst_element_set_base_time(bench.element, gst_clock_get_time(clock.clock))
        bench.leading.start(follower.leading.caps)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        return bench
    }
}

/// The system's clock, set by the test.
private final class JumpingClock {
    let clock: UnsafeMutablePointer<GstClock>

    init() {
        loadElements()
        offset.store(0, ordering: .relaxed)
        standing.store(0, ordering: .relaxed)
        guard let made = UnsafeMutableRawPointer(g_object_new_with_properties(clockType, 0, nil, nil)) else {
            preconditionFailure("no memory for a clock")
        }
        gst_object_ref_sink(made)
        clock = made.assumingMemoryBound(to: GstClock.self)
    }

    deinit { gst_object_unref(clock) }

    func jump(by time: GstClockTimeDiff) { offset.add(time, ordering: .relaxed) }

    /// It shows the same time from now on.
    func stop() { standing.store(gst_clock_get_internal_time(clock), ordering: .relaxed) }
}

private let offset = Atomic<GstClockTimeDiff>(0)
/// Where the clock stands; 0 while it goes.
private let standing = Atomic<GstClockTime>(0)

private let clockType = registerClass(
    "JumpingClock", deriving: gst_system_clock_get_type(),
    { classPointer, _ in
        classPointer?.assumingMemoryBound(to: GstClockClass.self).pointee.get_internal_time = { clock in
            let stand = standing.load(ordering: .relaxed)
            if stand > 0 { return stand }
            let parent = g_type_class_peek(gst_system_clock_get_type())?.assumingMemoryBound(to: GstClockClass.self)
            let now = parent?.pointee.get_internal_time?(clock) ?? 0
            // Ten hours on, so that an hour can be taken back on any machine.
            return GstClockTime(GstClockTimeDiff(now) + 36_000_000_000_000 + offset.load(ordering: .relaxed))
        }
    })
