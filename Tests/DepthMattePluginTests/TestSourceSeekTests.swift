import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Seeks on `depthtestsrc`, without a flush above all.
@Suite struct TestSourceSeekTests {
    private static let second: gint64 = 1_000_000_000
    private static let pads = ["video", "depth", "matte"]

    /// Streams of different rates into app sinks, and what is sent on each pad.
    private struct Camera {
        let line: Pipeline
        let logs: [String: PadLog]

        /// - Parameter room: frames that each app sink takes before it lets the source wait; 0 = any number.
        init(_ properties: String = "", room: Int = 0, rates: [String: String] = [:]) {
            line = Pipeline(
                "depthtestsrc name=camera \(properties) "
                    + TestSourceSeekTests.pads.map { pad in
                        "camera.\(pad) ! video/x-\(pad == "depth" ? "raw,format=GRAY16_LE" : "raw"),width=16,height=9,"
                            + "framerate=\(rates[pad] ?? "30/1") ! appsink name=\(pad) sync=false max-buffers=\(room) "
                    }.joined())
            logs = [String: PadLog](
                uniqueKeysWithValues: TestSourceSeekTests.pads.map { [line] pad in
                    (pad, PadLog(line["camera"], pad: pad))
                })
        }

        /// Takes frames from one stream; when each began.
        func take(_ count: Int, from pad: String) -> [GstClockTime] {
            (0..<count).compactMap { _ in line.nextFrame(of: pad)?.timing.start }
        }

        /// Takes all frames to the ends of all streams.
        func drain() { for pad in TestSourceSeekTests.pads { _ = line.frames(of: pad) } }

        func play() -> Bool {
            line.set(GST_STATE_PLAYING)
            return line.reached() == GST_STATE_CHANGE_SUCCESS
        }

        /// Nanoseconds of stream time that a pad says it has come to.
        func position(of pad: String) -> gint64 {
            var position: gint64 = -1
            gst_pad_query_position(staticPad(pad, of: line["camera"]), GST_FORMAT_TIME, &position)
            return position
        }
    }

    @Test func `frames have their times beyond the numbers that 32 bits hold`() throws {
        let camera = Camera()
        try #require(camera.play())
        for number in [2_147_483_648 - 10, 4_294_967_296 - 10, Int(4_294_967_296 * 3 / 100) - 10] {
            try #require(camera.line.seek(to: time(ofFrame: number)))
            let starts = camera.take(20, from: "video")
            #expect(starts == (number..<number + 20).map { time(ofFrame: $0) }, "frame \(number)")
        }
    }

    // MARK: Running time

    /// The video is far ahead of the other streams, which downstream holds up.
    @Test(arguments: [1.0, 2.0])
    func `a seek without a flush goes on in running time on every pad`(rate: Double) throws {
        let camera = Camera("num-buffers=30", room: 1, rates: ["depth": "10/1"])
        try #require(camera.play())
        #expect(camera.take(8, from: "video").count == 8)
        let seqnum = try #require(camera.line.send(Pipeline.Seek(rate: rate, start: .set(0))))
        camera.drain()
        var bases: Set<GstClockTime> = []
        var ahead: GstClockTime = 0
        for (pad, log) in camera.logs {
            let segments = log.segments
            try #require(segments.count == 2, "\(pad)")
            let (before, after) = (segments[0].frames, segments[1])
            #expect(after.seqnum == seqnum && after.segment.rate == rate && after.segment.start == 0)
            bases.insert(after.segment.base)
            ahead = max(ahead, try #require(before.last).end)
            #expect(after.frames.map(\.isDiscontinuous) == after.frames.indices.map { $0 == 0 }, "\(pad)")
            #expect(after.frames.count == (pad == "depth" ? 10 : 30), "\(pad)")
            let times = (before + after.frames).map(\.runningTime)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(pad): \(times)")
        }
        #expect(bases == [ahead])
    }

    @Test(arguments: [1.0, 2.0])
    func `each round of a segment loop takes its time`(rate: Double) throws {
        let camera = Camera(rates: ["depth": "7/1", "matte": "1/2"])
        camera.line.set(GST_STATE_PAUSED)
        try #require(camera.line.reached() == GST_STATE_CHANGE_SUCCESS)
        let second = TestSourceSeekTests.second
        var seek = Pipeline.Seek(
            rate: rate, flags: [GST_SEEK_FLAG_SEGMENT], start: .set(second), stop: .set(2 * second))
        seek.flags.append(GST_SEEK_FLAG_FLUSH)
        var seqnums = [try #require(camera.line.send(seek))]
        camera.line.set(GST_STATE_PLAYING)
        seek.flags.removeLast()
        for _ in 0..<3 {
            #expect(
                camera.line.bus.nextSegmentDone() == Bus.SegmentDone(seqnum: seqnums.last ?? 0, position: 2 * second))
            seqnums.append(try #require(camera.line.send(seek)))
        }
        #expect(camera.line.bus.nextSegmentDone()?.seqnum == seqnums.last)
        #expect(camera.line.bus.count(of: GST_MESSAGE_SEGMENT_DONE) == 0)
        for (pad, log) in camera.logs {
            let rounds = log.segments.suffix(4)
            #expect(rounds.map(\.seqnum) == seqnums, "\(pad)")
            let length = GstClockTime(Double(second) / rate)
            #expect(rounds.map(\.segment.base) == (0..<4).map { $0 * length }, "\(pad)")
            #expect(log.segmentsDone == seqnums.map { Bus.SegmentDone(seqnum: $0, position: 2 * second) }, "\(pad)")
            #expect(rounds.allSatisfy { $0.frames.count == ["video": 30, "depth": 7, "matte": 0][pad] }, "\(pad)")
            #expect(log.count(of: "gap") == (pad == "matte" ? 4 : 0))
        }
    }

    @Test(arguments: [[], [GST_SEEK_FLAG_FLUSH]])
    func `a new rate alone goes on from the position`(flags: [GstSeekFlags]) throws {
        let camera = Camera("num-buffers=30", room: 1, rates: ["depth": "10/1"])
        try #require(camera.play())
        #expect(camera.take(8, from: "video").count == 8)
        try #require(camera.line.send(Pipeline.Seek(rate: 2, flags: flags)) != nil)
        camera.drain()
        let reached = try #require(camera.logs["video"]?.segments.first?.frames.last?.end)
        #expect(reached >= time(ofFrame: 8))
        for (pad, log) in camera.logs {
            let after = try #require(log.segments.last)
            let step = time(ofFrame: 1, perSecond: pad == "depth" ? 10 : 30)
            let first = try #require(after.frames.first)
            #expect(after.segment.rate == 2 && log.segments.count == 2)
            #expect(first.start >= reached && first.start < reached + step, "\(pad): \(first.start), \(reached)")
            #expect(first.runningTime == (flags.isEmpty ? reached : 0) + (first.start - reached) / 2, "\(pad)")
            #expect(after.frames.last?.end == 1000 * millisecond, "\(pad)")
        }
    }

    @Test func `a seek without a flush does not wait for a stream that is held up`() throws {
        let camera = Camera("num-buffers=300", room: 1)
        try #require(camera.play())
        for start in stride(from: 0, to: 240, by: 30) {
            let start = time(ofFrame: start)
            try #require(camera.line.send(Pipeline.Seek(start: .set(gint64(start)))) != nil)
            let found = sequence(state: ()) { _ in camera.take(1, from: "video").first }.prefix(10).contains(start)
            #expect(found, "\(start)")
        }
    }

    // MARK: Ends

    /// The other pads, which nobody takes, may come to the end before or after the one that is linked.
    @Test(arguments: pads)
    func `a segment is done once, whatever is linked`(pad: String) throws {
        let line = Pipeline(
            "depthtestsrc name=camera camera.\(pad) ! video/x-raw,width=16,height=9 ! fakesink sync=false")
        line.set(GST_STATE_PAUSED)
        try #require(line.reached() == GST_STATE_CHANGE_SUCCESS)
        let log = PadLog(line["camera"], pad: pad)
        var seek = Pipeline.Seek(flags: [GST_SEEK_FLAG_SEGMENT], start: .set(0), stop: .set(1))
        seek.flags.append(GST_SEEK_FLAG_FLUSH)
        var seqnum = try #require(line.send(seek))
        line.set(GST_STATE_PLAYING)
        for round in 1...50 {
            #expect(line.bus.nextSegmentDone() == Bus.SegmentDone(seqnum: seqnum, position: 1))
            #expect(log.segmentsDone.count == round)
            if round == 1 { seek.flags.removeLast() }
            seqnum = try #require(line.send(seek))
        }
        #expect(line.bus.nextSegmentDone() != nil)
        #expect(line.bus.count(of: GST_MESSAGE_SEGMENT_DONE) == 0)
    }

    @Test func `a segment is done when all sources are`() throws {
        let line = Pipeline(
            "depthtestsrc name=slow slow.video ! video/x-raw,width=16,height=9 ! appsink name=sink sync=false max-buffers=1 "
                + "depthtestsrc name=fast fast.depth ! video/x-raw,width=16,height=9 ! fakesink sync=false")
        line.set(GST_STATE_PAUSED)
        try #require(line.reached() == GST_STATE_CHANGE_SUCCESS)
        let logs = [PadLog(line["slow"], pad: "video"), PadLog(line["fast"], pad: "depth")]
        let flags = [GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_SEGMENT]
        let stop = gint64(time(ofFrame: 3))
        let seqnum = try #require(line.send(Pipeline.Seek(flags: flags, start: .set(0), stop: .set(stop))))
        line.set(GST_STATE_PLAYING)
        for _ in 0..<3 { #expect(line.nextFrame(of: "sink") != nil) }
        #expect(line.bus.nextSegmentDone() == Bus.SegmentDone(seqnum: seqnum, position: stop))
        #expect(logs.map(\.segmentsDone.count) == [1, 1])
    }

    @Test func `an end of stream ends a segment loop`() throws {
        let camera = Camera()
        try #require(camera.play())
        let seek = Pipeline.Seek(
            flags: [GST_SEEK_FLAG_FLUSH, GST_SEEK_FLAG_SEGMENT], start: .set(0), stop: .set(100_000_000))
        try #require(camera.line.send(seek) != nil)
        try #require(camera.line.bus.nextSegmentDone() != nil)
        try #require(gst_element_send_event(camera.line["camera"], gst_event_new_eos()) != 0)
        camera.drain()
        for (pad, log) in camera.logs { #expect(log.count(of: "eos") == 1 && log.segmentsDone.count == 1, "\(pad)") }
    }

    @Test func `after the end only a flush lets the streams go on`() throws {
        let camera = Camera()
        try #require(camera.play())
        try #require(gst_element_send_event(camera.line["camera"], gst_event_new_eos()) != 0)
        camera.drain()
        #expect(camera.line.send(Pipeline.Seek(start: .set(0))) == nil)
        let seek = Pipeline.Seek(flags: [GST_SEEK_FLAG_FLUSH], start: .set(0), stop: .set(100_000_000))
        try #require(camera.line.send(seek) != nil)
        camera.drain()
        for (pad, log) in camera.logs { #expect(log.segments.last?.frames.count == 3, "\(pad)") }
    }

    // MARK: What is answered

    @Test(arguments: [
        Pipeline.Seek(start: .set(3 * second), stop: .set(second)),
        Pipeline.Seek(stop: .set(0)),
        Pipeline.Seek(start: .set(2 * second), stop: .end(-second)),
        Pipeline.Seek(rate: 2, flags: [GST_SEEK_FLAG_INSTANT_RATE_CHANGE]),
        Pipeline.Seek(rate: -1, start: .set(0), stop: .set(second)),
        Pipeline.Seek(rate: .nan, start: .set(0)),
        Pipeline.Seek(rate: .infinity, start: .set(0)),
        Pipeline.Seek(format: GST_FORMAT_BYTES, start: .set(0)),
        Pipeline.Seek(format: GST_FORMAT_DEFAULT, start: .set(0)),
        Pipeline.Seek(format: GST_FORMAT_PERCENT, start: .set(0)),
    ])
    func `a seek that cannot be done is refused and changes nothing`(seek: Pipeline.Seek) throws {
        let camera = Camera("num-buffers=60", room: 1)
        try #require(camera.play())
        #expect(camera.take(4, from: "video").count == 4)
        var flushing = seek
        flushing.flags.append(GST_SEEK_FLAG_FLUSH)
        // GStreamer takes no flush with a flag that changes the rate at once.
        for seek in seek.flags.isEmpty ? [seek, flushing] : [seek] {
            #expect(camera.line.send(seek, to: camera.line["camera"]) == nil)
        }
        camera.drain()
        for (pad, log) in camera.logs {
            #expect(log.segments.map(\.frames.count) == [60] && log.count(of: "flush-start") == 0, "\(pad)")
        }
    }

    @Test func `a source without an end has nothing to count back from`() throws {
        let camera = Camera(room: 1)
        try #require(camera.play())
        for seek in [Pipeline.Seek(start: .end(0)), Pipeline.Seek(start: .set(0), stop: .end(0))] {
            #expect(camera.line.send(seek, to: camera.line["camera"]) == nil)
        }
    }

    @Test(arguments: [
        (Pipeline.Seek(start: .end(-second)), 60..<90),
        (Pipeline.Seek(start: .end(-5 * second), stop: .end(-2 * second)), 0..<30),
        (Pipeline.Seek(start: .set(-1), stop: .set(-1)), 0..<90),
        (Pipeline.Seek(start: .set(2 * second), stop: .set(9 * second)), 60..<90),
        (Pipeline.Seek(start: .set(9 * second)), 90..<90),
    ])
    func `a seek counts from the start or from the end`(seek: Pipeline.Seek, frames: Range<Int>) throws {
        let camera = Camera("num-buffers=90")
        camera.line.set(GST_STATE_PAUSED)
        try #require(camera.line.reached() == GST_STATE_CHANGE_SUCCESS)
        var seek = seek
        seek.flags.append(GST_SEEK_FLAG_FLUSH)
        try #require(camera.line.send(seek) != nil)
        camera.line.set(GST_STATE_PLAYING)
        camera.drain()
        for (pad, log) in camera.logs {
            #expect(log.segments.last?.frames.map(\.start) == frames.map { time(ofFrame: $0) }, "\(pad)")
        }
    }

    @Test func `a pad's position is the end of the last frame that it sent`() throws {
        let camera = Camera("num-buffers=21", rates: ["depth": "3/1"])
        #expect(camera.play())
        camera.drain()
        #expect(TestSourceSeekTests.pads.map(camera.position) == [700_000_000, 700_000_000, 700_000_000])
        let seek = Pipeline.Seek(flags: [GST_SEEK_FLAG_FLUSH], start: .set(200_000_000), stop: .set(400_000_000))
        try #require(camera.line.send(seek) != nil)
        camera.drain()
        #expect(TestSourceSeekTests.pads.map(camera.position) == [400_000_000, 400_000_000, 400_000_000])
    }
}
