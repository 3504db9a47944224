import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// A live pipeline, on a clock that the test turns.
@Suite struct LiveTests {
    /// Lets the element's wait for the given time end; false where it waits for another, or not at all.
    private func reach(_ time: GstClockTime, on clock: UnsafeMutablePointer<GstClock>) -> Bool {
        let test = UnsafeMutableRawPointer(clock).assumingMemoryBound(to: GstTestClock.self)
        var waits: UnsafeMutablePointer<GList>?
        guard gst_test_clock_timed_wait_for_multiple_pending_ids(test, 1, 20_000, &waits) != 0 else { return false }
        g_list_free_full(waits) { gst_clock_id_unref($0) }
        return gst_test_clock_get_next_entry_time(test) == time && gst_test_clock_crank(test) != 0
    }

    @Test func `a frame waits for its depth no longer than until it is due`() throws {
        let clock = try #require(gst_test_clock_new())
        defer { gst_object_unref(clock) }
        let bench = Bench(["depth"], ["anchor": "fixed", "blur-radius": "0", "hold-time": "100000000"], clock: clock)
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        let start = 1000 * millisecond
        bench.depth.push(Room.wall(700), at: start)
        bench.video.push(Room.picture, at: start)
        #expect(Room.shown(bench.output.next()) == Room.all)
        for frame in 1...6 {
            let due = start + time(ofFrame: frame)
            bench.video.push(Room.picture, at: due)
            try #require(reach(due, on: clock), "frame \(frame)")
            let picture = bench.output.next()
            #expect(picture?.timing.start == due)
            #expect(Room.shown(picture) == (frame <= 3 ? Room.all : 0), "frame \(frame): held, then covered")
        }
        bench.depth.push(Room.wall(700), at: start + time(ofFrame: 7))
        bench.video.push(Room.picture, at: start + time(ofFrame: 7))
        #expect(Room.shown(bench.output.next()) == Room.all, "the depth is back")
    }

    @Test func `depth that never sends caps does not stop the video`() throws {
        let clock = try #require(gst_test_clock_new())
        defer { gst_object_unref(clock) }
        let bench = Bench(["depth"], clock: clock)
        bench.video.start(Room.shape)
        for frame in 1...3 {
            bench.video.push(Room.picture, at: time(ofFrame: frame))
            try #require(reach(time(ofFrame: frame), on: clock), "frame \(frame)")
            #expect(Room.shown(bench.output.next()) == 0)
        }
    }

    @Test func `faces and backgrounds never delay the video`() throws {
        let clock = try #require(gst_test_clock_new())
        defer { gst_object_unref(clock) }
        let bench = Bench(["face", "background"], clock: clock)
        bench.face.start(Room.shape)
        bench.background.start(Room.shape)
        bench.video.start(Room.shape)
        for frame in 1...3 {
            bench.video.push(Room.picture, at: time(ofFrame: frame))
            try #require(reach(time(ofFrame: frame), on: clock), "frame \(frame)")
            #expect(Room.shown(bench.output.next()) == 0)
        }
    }
}
