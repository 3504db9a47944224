import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A live pipeline, on a clock that the test turns.
@Suite struct LiveTests {
    private let clock = TestClock()

    @Test func `a frame waits for its depth no longer than until it is due`() throws {
        let bench = Bench(
            ["depth"], ["anchor": "fixed", "blur-radius": "0", "hold-time": "100000000"], clock: clock.clock)
        bench.depth.start(Room.depth)
        bench.video.start(Room.shape)
        let start = 1000 * millisecond
        bench.depth.push(Room.wall(700), at: start)
        bench.video.push(Room.picture, at: start)
        #expect(Room.shown(bench.output.next()) == Room.all)
        for frame in 1...6 {
            let due = start + time(ofFrame: frame)
            bench.video.push(Room.picture, at: due)
            try #require(clock.reach(due), "frame \(frame)")
            let picture = bench.output.next()
            #expect(picture?.timing.start == due)
            #expect(Room.shown(picture) == (frame <= 3 ? Room.all : 0), "frame \(frame): held, then covered")
        }
        bench.depth.push(Room.wall(700), at: start + time(ofFrame: 7))
        bench.video.push(Room.picture, at: start + time(ofFrame: 7))
        #expect(Room.shown(bench.output.next()) == Room.all, "the depth is back")
    }

    @Test func `depth that never sends caps does not stop the video`() throws {
        let bench = Bench(["depth"], clock: clock.clock)
        bench.video.start(Room.shape)
        for frame in 1...3 {
            bench.video.push(Room.picture, at: time(ofFrame: frame))
            try #require(clock.reach(time(ofFrame: frame)), "frame \(frame)")
            #expect(Room.shown(bench.output.next()) == 0)
        }
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
