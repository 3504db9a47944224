import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// `stats` agrees with the frames that left the element.
@Suite struct StatisticsTests {
    @Test func `every frame is counted once, by what became of it`() {
        let bench = Bench.numbered(["hold-time": "200000000"])
        bench.depth.push(Numbered.map(1), at: 0)
        bench.depth.push(Numbered.map(2), at: 34 * millisecond)
        bench.depth.end()
        bench.pushVideo(12)
        let numbers = bench.numbers()
        let stats = Stats(of: bench)
        // Maps at 0 and 34 ms: frames 0…2 lie within 50 ms of one, 3…7 within 200 ms of the last, the rest have none.
        #expect(stats["paired"] == 3 && stats["reused"] == 5 && stats["covered"] == 4)
        #expect(stats["passed"] == 0 && stats["dropped"] == 0 && stats["frames"] == 12)
        #expect(numbers.count { $0 == 0 } == 4)
    }

    @Test(arguments: [("pass", "passed", 3), ("drop", "dropped", 0)])
    func `frames without depth are counted as what was asked for`(mode: String, field: String, leaving: Int) {
        let bench = Bench.numbered(["on-missing-depth": mode])
        bench.depth.end()
        bench.pushVideo(3)
        #expect(bench.output.rest().count == leaving)
        let stats = Stats(of: bench)
        #expect(stats["frames"] == 3 && stats[field] == 3)
    }

    @Test func `a frame that a fault covered is counted as covered`() {
        let bench = Bench.numbered()
        for number in 0..<2 { bench.depth.push(Numbered.map(5), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.video.push([1, 2, 3], at: 0)
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        bench.video.end()
        #expect(bench.numbers() == [0, 5])
        let stats = Stats(of: bench)
        #expect(stats["covered"] == 1 && stats["paired"] == 1)
    }

    @Test(arguments: [[0, 20, -12], [0, 12, -20]])
    func `the skew says how much later the depth is`(skews: [Int]) {
        let bench = Bench.numbered()
        for (number, skew) in skews.enumerated() {
            let due = Int64(time(ofFrame: number)) + Int64(skew) * 1_000_000
            bench.depth.push(Numbered.map(number + 1), at: GstClockTime(due))
        }
        bench.depth.end()
        bench.pushVideo(3)
        #expect(bench.numbers() == [1, 2, 3])
        let stats = Stats(of: bench)
        #expect(stats.signed("skew") == Int64(skews[2]) * 1_000_000 && stats["skew-max"] == 20_000_000)
    }

    @Test func `the cutoff, the anchor, the coverage and the holes are those of the last frame`() {
        let bench = Bench.numbered(["anchor": "point", "anchor-x": "0.1", "margin": "0.5"])
        var counts = (0..<32 * 4).map { $0 % 32 < 8 ? 700 : 3000 }
        for column in 24..<32 { for row in 0..<4 { counts[row * 32 + column] = 0 } }
        bench.depth.push(Numbered.depth.bytes(counts: counts), at: 0)
        bench.depth.end()
        bench.pushVideo(1)
        #expect(bench.numbers() == [8])
        let stats = Stats(of: bench)
        #expect(stats.real("anchor-depth") == 0.7 && stats.real("cutoff") == 1.2)
        #expect(stats.real("coverage") == 0.25 && stats.real("invalid-share") == 0.25)
    }

    @Test func `a message comes with every interval of the video's time`() {
        let bench = Bench.numbered(["stats-interval": "100000000"])
        bench.depth.end()
        bench.pushVideo(31)
        _ = bench.output.rest()
        #expect(bench.bus.count(of: GST_MESSAGE_ELEMENT) == 10)
    }

    @Test func `a message says that somebody came, and that they left`() {
        let bench = Bench.room(["anchor": "auto", "cutoff": "1", "method": "fusion"])
        let person = Room.depth.bytes(
            counts: (0..<Room.depth.width * Room.depth.height).map { $0 % Room.depth.width < 16 ? 700 : 3000 })
        // What remains is nearer than the last cutoff, and was behind the person.
        let chair = Room.depth.bytes(
            counts: (0..<Room.depth.width * Room.depth.height).map { $0 % Room.depth.width < 16 ? 850 : 3000 })
        for (number, step) in [
            (Room.wall(3000), false), (person, true), (person, false), (chair, false), (person, true),
        ]
        .enumerated() {
            let video = guardedBuffer(Room.picture)
            if step.1 { video.addRegion(4, 4, 16, 16) }
            bench.depth.push(step.0, at: time(ofFrame: number))
            bench.video.push(video, at: time(ofFrame: number))
            let shown = Room.shown(bench.output.next()) ?? 0
            let isThere = step.0 == person
            #expect(shown > 0 ? isThere : !isThere, "frame \(number)")
            #expect(Stats(of: bench).truth("present") == isThere, "frame \(number)")
            #expect(
                bench.bus.count(of: GST_MESSAGE_ELEMENT)
                    == (isThere ? number == 1 || number == 4 ? 1 : 0 : number == 3 ? 1 : 0))
        }
    }

    @Test func `a room is captured and forgotten when the application says so`() {
        let bench = Bench.room(["method": "fusion", "room-memory": "keep"])
        bench.emit("capture-room")
        for number in 0..<16 { _ = bench.pair(number, depth: Room.wall(3000)) }
        #expect(Stats(of: bench).real("room-known") == 1)
        bench.emit("forget-room")
        _ = bench.pair(16, depth: Room.wall(3000))
        #expect(Stats(of: bench).real("room-known") == 0 && Stats(of: bench)["room-forgotten"] == 0)
        #expect(bench.bus.count(of: GST_MESSAGE_WARNING) == 0)
    }

    /// What a stream does, and whether the room is known in the frame behind it.
    private static let turns = [
        ("flush", true), ("segment", true), ("gap", true), ("video", false), ("depth", false), ("READY", false),
    ]

    @Test(arguments: turns)
    func `a room outlives the stream's jumps, not its caps and its end`(turn: String, stays: Bool) {
        let bench = Bench.room(["method": "fusion", "room-memory": "learn"])
        bench.emit("capture-room")
        for number in 0..<16 { _ = bench.pair(number, depth: Room.wall(3000)) }
        #expect(Stats(of: bench).real("room-known") == 1)
        let (video, depth) = (VideoShape("RGB", 80, 48), DepthShape("GRAY16_LE", 40, 24))
        let jump = GstSegment.time(start: time(ofFrame: 16))
        switch turn {
        case "flush":
            for feed in [bench.video, bench.depth] { feed.beginFlush() }
            for feed in [bench.video, bench.depth] { feed.endFlush(then: jump) }
        case "segment": for feed in [bench.video, bench.depth] { feed.push(jump) }
        case "gap":
            bench.depth.gap(at: time(ofFrame: 16), frameDuration)
            bench.video.gap(at: time(ofFrame: 16), frameDuration)
        case "video": bench.video.setCaps(video.caps)
        case "depth": bench.depth.setCaps(depth.caps)
        default:
            gst_element_set_state(bench.element, GST_STATE_READY)
            gst_element_set_state(bench.element, GST_STATE_PLAYING)
            bench.depth.start(Room.depth, jump)
            bench.video.start(Room.shape, jump)
        }
        let map = turn == "depth" ? depth.bytes(counts: [Int](repeating: 3000, count: 40 * 24)) : Room.wall(3000)
        let picture = turn == "video" ? flat(video, Room.secret) : Room.picture
        #expect(bench.pair(17, depth: map, video: picture) != nil)
        let stats = Stats(of: bench)
        #expect(stats.real("room-known") == (stays ? 1 : 0) && stats["room-forgotten"] == 0)
    }

    @Test func `a room in which somebody is seen is not captured, with a warning`() {
        let bench = Bench.room(["method": "fusion", "room-memory": "keep", "anchor": "auto"])
        bench.emit("capture-room")
        let video = guardedBuffer(Room.picture)
        video.addRegion(4, 4, 16, 16)
        bench.depth.push(Room.wall(800), at: 0)
        bench.video.push(video, at: 0)
        _ = bench.output.next()
        #expect(bench.bus.count(of: GST_MESSAGE_WARNING) == 1)
        #expect(Stats(of: bench).real("room-known") == 0)
    }

    @Test(
        arguments: [
            ("room.png", nil), ("small.png", "the picture has 32x24 pixels, the video 64x48"),
            ("missing.png", "does not exist"), ("text.png", "cannot be read"),
        ] as [(String, String?)])
    func `the room is taken from a picture as large as the video, else a warning says why not`(
        name: String, warning: String?
    ) throws {
        let folder = TemporaryFolder()
        _ = folder.write("room.png", png(width: 64, height: 48) { _, _ in Room.secret })
        _ = folder.write("small.png", png(width: 32, height: 24) { _, _ in Room.secret })
        _ = folder.write("text.png", Array("no picture".utf8))
        let bench = Bench.room(["method": "fusion", "room-memory": "keep", "room-picture": folder[name]])
        _ = try #require(bench.pair(0, depth: Room.wall(3000)))
        #expect(Stats(of: bench).real("room-known") == (warning == nil ? 1 : 0))
        _ = bench.pair(1, depth: Room.wall(3000))
        let warnings = bench.bus.warnings().map(\.text)
        #expect(warnings.count == (warning == nil ? 0 : 1), "\(warnings)")
        if let warning { #expect(warnings.contains { $0.contains(warning) }, "\(warnings)") }
        // What was forgotten is not taken from the same picture again.
        bench.emit("forget-room")
        _ = bench.pair(2, depth: Room.wall(3000))
        #expect(Stats(of: bench).real("room-known") == 0)
    }

    @Test func `a new start counts from nothing`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.pushVideo(3)
        _ = bench.output.rest()
        gst_element_set_state(bench.element, GST_STATE_READY)
        gst_element_set_state(bench.element, GST_STATE_PLAYING)
        #expect(Stats(of: bench)["frames"] == 0)
    }
}
