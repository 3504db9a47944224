import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Events along a stream: ends, gaps, changes of caps, flushes, tags.
@Suite struct StreamTests {
    // MARK: Ends

    @Test func `depth that ends first leaves the video running to its end`() {
        let bench = Bench.numbered()
        bench.depth.push(Numbered.map(3), at: 0)
        bench.depth.end()
        bench.pushVideo(20)
        #expect(bench.numbers() == [Int](repeating: 3, count: 16) + [0, 0, 0, 0])
        #expect(bench.output.hasEnded)
    }

    @Test(arguments: [(maps: 1, frames: 1), (5, 2), (1, 0)])
    func `video that ends first ends the output, whether the depth is silent or goes on`(maps: Int, frames: Int) {
        let bench = Bench.numbered()
        for number in 0..<maps { bench.depth.push(Numbered.map(3), at: time(ofFrame: number)) }
        bench.pushVideo(frames)
        #expect(bench.numbers() == [Int](repeating: 3, count: frames))
        #expect(bench.output.hasEnded)
        bench.depth.settle()
    }

    @Test func `face and background that end at once change nothing`() {
        let bench = Bench(["depth", "face", "background"], Numbered.properties)
        bench.depth.start(Numbered.depth)
        bench.face.start(Room.shape)
        bench.face.end()
        bench.background.start(Room.shape)
        bench.background.end()
        bench.video.start(Numbered.video)
        for number in 0..<3 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.pushVideo(3)
        #expect(bench.numbers() == [1, 2, 3])
    }

    @Test func `streams that end before they begin end the output`() {
        let bench = Bench(["depth", "face", "background"])
        for feed in [bench.depth, bench.face, bench.background, bench.video] { feed.end() }
        #expect(bench.output.rest().isEmpty)
        #expect(bench.output.hasEnded)
    }

    // MARK: Gaps

    @Test func `a gap in the depth covers the frame`() {
        let bench = Bench.numbered()
        bench.depth.push(Numbered.map(1), at: 0)
        bench.depth.gap(at: time(ofFrame: 1))
        bench.depth.push(Numbered.map(3), at: time(ofFrame: 4))
        bench.depth.end()
        bench.pushVideo(6)
        let numbers = bench.numbers()
        #expect(numbers[0] == 1)
        #expect(numbers[1] == 0)
        #expect(numbers.suffix(2) == [3, 3])
        #expect(numbers.count == 6)
    }

    @Test func `a gap as the first thing on the depth is no fault`() {
        let bench = Bench.numbered()
        bench.depth.gap(at: 0, 100 * millisecond)
        bench.depth.push(Numbered.map(5), at: 200 * millisecond)
        bench.depth.end()
        bench.pushVideo(7)
        #expect(bench.numbers() == [0, 0, 0, 0, 0, 5, 5])
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `a gap in the video goes on as a gap`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        bench.video.gap(at: time(ofFrame: 1))
        bench.video.push(Numbered.picture, at: time(ofFrame: 2))
        bench.video.end()
        #expect(bench.output.rest().map(\.timing.start) == [0, time(ofFrame: 2)])
        #expect(bench.output.story.contains("gap"))
    }

    @Test(arguments: Follower.all)
    func `a gap before the first frame goes on behind the segment, and what was said before it`(follower: Follower) {
        let bench = Bench.numbered(follower)
        bench.leading.push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)one")))
        bench.leading.gap(at: 0, 3000 * millisecond)
        bench[follower.partner].gap(at: 0)
        bench[follower.partner].push(follower.numbered(2), at: 3000 * millisecond)
        #expect(bench.output.event(GST_EVENT_GAP) != nil)
        #expect(bench.output.story == ["stream-start", "caps", "segment", "tag", "gap"])
        bench.leading.push(follower.leading.frame, at: 3000 * millisecond)
        for feed in [bench.leading, bench[follower.partner]] { feed.end() }
        #expect(bench.numbers(follower) == [2])
        #expect(bench.output.story.suffix(2) == ["frame", "eos"])
    }

    @Test func `a recording that begins with a gap is paused on it, and sought into it`() {
        let line = Pipeline(
            "appsrc name=video format=time caps=video/x-raw,format=GRAY8,width=32,height=4,framerate=30/1 ! element.video "
                + "depthmatte name=element ! fakesink name=sink sync=true")
        line.set(GST_STATE_PAUSED)
        let source = staticPad("src", of: line["video"])
        var segment = GstSegment.time()
        gst_pad_push_event(source, gst_event_new_stream_start("test"))
        let caps = gst_caps_from_string(Numbered.video.caps)
        gst_pad_push_event(source, gst_event_new_caps(caps))
        gst_caps_unref(caps)
        gst_pad_push_event(source, gst_event_new_segment(&segment))
        gst_pad_push_event(source, gst_event_new_gap(0, 3000 * millisecond))
        #expect(line.reached() == GST_STATE_CHANGE_SUCCESS)
    }

    @Test(arguments: Follower.all)
    func `a hole in the leading stream takes what the others bring meanwhile`(follower: Follower) {
        let bench = Bench.numbered(follower)
        let partner = bench[follower.partner]
        partner.push(follower.numbered(1), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        bench.leading.gap(at: time(ofFrame: 1), time(ofFrame: 240) - time(ofFrame: 1))
        for number in 1...240 { partner.push(follower.numbered(number == 240 ? 3 : 2), at: time(ofFrame: number)) }
        // One thread that feeds both, as a demuxer's, comes to the next leading frame only now.
        #expect(partner.hasSettled)
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 240))
        for feed in [bench.leading, partner] { feed.end() }
        #expect(bench.numbers(follower) == [1, 3])
    }

    @Test func `a gap says that data are missing where it was told so`() throws {
        let bench = Bench.numbered()
        let gap = gst_event_new_gap(0, 1000 * millisecond)
        gst_event_set_gap_flags(gap, GST_GAP_FLAG_MISSING_DATA)
        bench.video.push(gap)
        bench.depth.end()
        bench.video.end()
        let text = try #require(bench.output.event(GST_EVENT_GAP))
        #expect(text.contains("GST_GAP_FLAG_MISSING_DATA"), "\(text)")
    }

    @Test func `a gap before the segment is refused`() {
        let bench = Bench(["depth"])
        bench.depth.push(gst_event_new_stream_start("test/depth"))
        bench.depth.gap(at: 0)
        #expect(bench.depth.refusedEvents == 1)
    }

    // MARK: Events

    @Test(arguments: ["video", "depth"], [GST_FORMAT_BYTES, GST_FORMAT_DEFAULT])
    func `a segment that is not in time is an error that names its pad, and appsrc's remedy`(
        pad: String, format: GstFormat
    ) {
        let bench = Bench(["depth"])
        var segment = GstSegment()
        gst_segment_init(&segment, format)
        let feed = pad == "video" ? bench.video : bench.depth
        feed.start(pad == "video" ? Room.shape.caps : Room.depth.caps, segment)
        feed.push(Room.picture, at: 0)
        #expect(feed.settle() != GST_FLOW_OK)
        #expect(bench.output.present().isEmpty)
        let errors = bench.bus.errors()
        let words = "The \(pad) pad needs a stream in time format; set format=time at an appsrc"
        #expect(errors.first?.text.hasPrefix(words) == true, "\(errors)")
    }

    @Test func `what follows a start, a flush or a dropped frame is marked as a discontinuity, and nothing else`() {
        let bench = Bench.numbered(["on-missing-depth": "drop", "hold-time": "0", "max-skew": "1000000"])
        let isMarked = { (frame: Recorder.Frame) in
            frame.buffer.flags.rawValue & GST_BUFFER_FLAG_DISCONT.rawValue != 0
        }
        for number in [0, 1, 3, 4] { bench.depth.push(Numbered.map(1), at: time(ofFrame: number)) }
        for number in 0..<5 { bench.video.push(Numbered.picture, at: time(ofFrame: number)) }
        for feed in [bench.depth, bench.video] { feed.settle() }
        let before = (0..<4).compactMap { _ in bench.output.next() }
        #expect(before.map(\.timing.start) == [0, 1, 3, 4].map { time(ofFrame: $0) })
        #expect(before.map(isMarked) == [true, false, true, false])
        for feed in [bench.video, bench.depth] { feed.beginFlush() }
        for feed in [bench.video, bench.depth] { feed.endFlush() }
        for number in 0..<2 { bench.depth.push(Numbered.map(1), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.pushVideo(2)
        #expect(bench.output.rest().map(isMarked) == [true, false])
    }
}
