import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// Seeks that are refused, that come within another, and that end without a flush.
@Suite struct SeekTests {
    private static let flush = GST_SEEK_FLAG_FLUSH
    private static let formats = [
        GST_FORMAT_BYTES, GST_FORMAT_DEFAULT, GST_FORMAT_BUFFERS, GST_FORMAT_PERCENT, GST_FORMAT_UNDEFINED,
    ]

    /// Sends a seek from downstream; whether it was taken.
    private func seek(
        _ bench: Bench, rate: Double = 1, _ format: GstFormat = GST_FORMAT_TIME, _ flags: GstSeekFlags = flush,
        to start: gint64 = 0
    ) -> Bool {
        let event = gst_event_new_seek(rate, format, flags, GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_NONE, -1)
        return gst_pad_push_event(bench.output.pad, event) != 0
    }

    /// True where frames go on to leave, and show what they are made with.
    private func goesOn(_ bench: Bench, _ follower: Follower, from frame: Int) -> Bool {
        for number in frame..<frame + 3 {
            bench[follower.partner].push(follower.numbered(7), at: time(ofFrame: number))
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            guard let next = bench.output.next(), follower.number(next) == 7 else { return false }
            guard next.timing.start == time(ofFrame: number) else { return false }
        }
        return true
    }

    // MARK: Refused at once

    @Test(arguments: Follower.all)
    func `a seek that is not in time is refused, and nothing is flushed`(follower: Follower) {
        let criticals = GStreamerLog(G_LOG_LEVEL_CRITICAL)
        let bench = Bench.numbered(follower)
        #expect(goesOn(bench, follower, from: 0))
        let upstream = PassingEvents(bench.leading.pad)
        for format in SeekTests.formats {
            #expect(!seek(bench, format))
            #expect(!seek(bench, format, GST_SEEK_FLAG_NONE))
            let event = gst_event_new_seek(1, format, SeekTests.flush, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)
            #expect(gst_element_send_event(bench.element, event) == 0)
        }
        #expect(goesOn(bench, follower, from: 3))
        #expect(!upstream.types.contains(GST_EVENT_SEEK))
        #expect(!bench.output.story.contains("flush-start"))
        #expect(criticals.texts.isEmpty, "\(criticals.texts)")
    }

    @Test(arguments: Follower.all)
    func `a seek that an input says it cannot follow is refused, and nothing is flushed`(follower: Follower) {
        for pad in [follower.leading.pad, follower.partner] {
            let bench = Bench.numbered(follower)
            #expect(goesOn(bench, follower, from: 0))
            for stream in [follower.leading.pad, follower.partner] { bench[stream].answerSeeking(stream != pad) }
            #expect(!bench.isSeekable, "without \(pad)")
            #expect(!seek(bench), "without \(pad)")
            #expect(goesOn(bench, follower, from: 3), "without \(pad)")
            #expect(!bench.output.story.contains("flush-start"))
        }
    }

    @Test(arguments: Follower.all)
    func `a seek whose range ends before its start is refused, and nothing is flushed`(follower: Follower) {
        let bench = Bench.numbered(follower)
        for pad in [follower.leading.pad, follower.partner] { bench[pad].takeSeeks { _ in true } }
        #expect(goesOn(bench, follower, from: 0))
        let second = gint64(1000 * millisecond)
        func seek(_ flags: GstSeekFlags, start: gint64, _ type: GstSeekType, stop: gint64) -> Bool {
            let event = gst_event_new_seek(1, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start, type, stop)
            return gst_pad_push_event(bench.output.pad, event) != 0
        }
        for flags in [SeekTests.flush, GST_SEEK_FLAG_NONE] {
            #expect(!seek(flags, start: 2 * second, GST_SEEK_TYPE_SET, stop: second))
        }
        // A seek that says nothing of the stop keeps that of the segment.
        for pad in [follower.partner, follower.leading.pad] { bench[pad].push(.time(stop: 1000 * millisecond)) }
        #expect(goesOn(bench, follower, from: 3))
        #expect(!seek(SeekTests.flush, start: 2 * second, GST_SEEK_TYPE_NONE, stop: -1))
        #expect(goesOn(bench, follower, from: 6))
        #expect(!bench.output.story.contains("flush-start"))
        #expect(seek(GST_SEEK_FLAG_NONE, start: 2 * second, GST_SEEK_TYPE_SET, stop: -1))
    }

    @Test func `a live camera that cannot be sought plays on`() {
        let line = Pipeline(
            "videotestsrc is-live=true do-timestamp=true ! video/x-raw,width=32,height=24 ! identity name=camera "
                + "! element.video depthmatte name=element view=original ! appsink name=sink sync=false")
        answerQueries(on: staticPad("src", of: line["camera"])) { query in
            guard query.pointee.type == GST_QUERY_SEEKING else { return nil }
            gst_query_set_seeking(query, GST_FORMAT_TIME, 0, 0, -1)
            return true
        }
        line.set(GST_STATE_PLAYING)
        #expect(line.nextFrame(of: "sink") != nil)
        #expect(!line.seek(to: 0))
        for _ in 0..<3 { #expect(line.nextFrame(of: "sink") != nil) }
    }

    // MARK: Refused by upstream

    @Test(arguments: Follower.all)
    func `a seek that upstream refuses leaves the streams as they were`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        for pad in [follower.leading.pad, follower.partner] { bench[pad].takeSeeks { _ in false } }
        for round in 0..<20 {
            #expect(goesOn(bench, follower, from: round * 3), "round \(round)")
            #expect(!seek(bench, rate: round.isMultiple(of: 2) ? -1 : 1))
        }
        #expect(goesOn(bench, follower, from: 60))
        #expect(bench.output.segment?.rate == 1)
        #expect(bench.output.story.count { $0 == "flush-start" } == 20)
        #expect(bench.output.story.count { $0 == "flush-stop" } == 20)
    }

    @Test(arguments: Follower.all)
    func `a seek that upstream refuses leaves the running time as it was`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        for pad in [follower.leading.pad, follower.partner] { bench[pad].takeSeeks { _ in false } }
        #expect(goesOn(bench, follower, from: 0))
        #expect(!seek(bench))
        let stop = try #require(bench.output.event(GST_EVENT_FLUSH_STOP))
        #expect(stop.contains("reset-time=(boolean)false"), "\(stop)")
    }

    @Test(arguments: Follower.all)
    func `a seek without a flush that upstream refuses leaves the segment as it was`(follower: Follower) {
        let bench = Bench.numbered(follower)
        for pad in [follower.leading.pad, follower.partner] { bench[pad].takeSeeks { _ in false } }
        #expect(goesOn(bench, follower, from: 0))
        #expect(!seek(bench, rate: -2, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, to: 5_000_000_000))
        #expect(goesOn(bench, follower, from: 3))
        let reached = eventually {
            var position: gint64 = 0
            gst_pad_peer_query_position(bench.output.pad, GST_FORMAT_TIME, &position)
            return position == gint64(time(ofFrame: 5) + frameDuration)
        }
        #expect(reached)
    }

    @Test func `a recording that does not play backwards plays on when asked to`() {
        let line = Pipeline(Follower.depthMatte.camera + "appsink name=sink sync=false max-buffers=1")
        line.set(GST_STATE_PLAYING)
        let first = (0..<3).compactMap { _ in line.nextFrame(of: "sink")?.timing.start }
        let event = gst_event_new_seek(
            -1, GST_FORMAT_TIME, SeekTests.flush, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 1_000_000_000)
        #expect(gst_element_send_event(line.pointer, event) == 0)
        let then = (0..<10).compactMap { _ in line.nextFrame(of: "sink")?.timing.start }
        #expect(first.count == 3 && then.count == 10)
        #expect(zip(then, then.dropFirst()).allSatisfy { $0 < $1 } && then[0] > first[2])
    }

    // MARK: Flushes

    @Test(arguments: Follower.all)
    func `a pad that nobody feeds holds up no seek`(follower: Follower) throws {
        let line = Pipeline(
            "depthtestsrc name=camera camera.\(follower.leading.pad) ! video/x-raw,width=16,height=12 ! "
                + "element.\(follower.leading.pad) \(follower.factory) name=element ! appsink name=sink sync=false max-buffers=1"
        )
        line.set(GST_STATE_PAUSED)
        #expect(line.reached() == GST_STATE_CHANGE_SUCCESS)
        let pad = try #require(gst_element_request_pad_simple(line["element"], follower.partner))
        #expect(line.seek(to: time(ofFrame: 30)))
        gst_element_release_request_pad(line["element"], pad)
        gst_object_unref(pad)
        line.set(GST_STATE_PLAYING)
        #expect(line.nextFrame(of: "sink")?.timing.start == time(ofFrame: 30))
    }

    @Test(arguments: Follower.all)
    func `a seek from within the end of a flush is followed after it`(follower: Follower) throws {
        let line = Pipeline(follower.camera + "appsink name=sink sync=false max-buffers=1")
        let source = staticPad("src", of: line["element"])
        let again = SeekAgain(source, to: time(ofFrame: 60))
        line.set(GST_STATE_PAUSED)
        #expect(line.reached() == GST_STATE_CHANGE_SUCCESS)
        #expect(line.seek(to: time(ofFrame: 30)))
        line.set(GST_STATE_PLAYING)
        #expect(eventually { line.nextFrame(of: "sink").map { $0.timing.start >= time(ofFrame: 60) } ?? false })
        #expect(again.isTaken)
    }

    @Test(arguments: Follower.all)
    func `a seek that waits while upstream begins another flush is followed after that`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        let feeds = [bench[follower.partner], bench.leading]
        let pads = feeds.map(\.pad)
        let (seeks, another) = (Monitor(0), gst_util_seqnum_next())
        for feed in feeds {
            feed.takeSeeks { seqnum in
                // Each seek arrives on both pads. The first is answered by a flush, and another flush begins before it ends.
                let count = seeks.withLock { seeks in
                    seeks += 1
                    return seeks
                }
                if count.isMultiple(of: 2) {
                    for pad in pads { gst_pad_push_event(pad, flushStart(seqnum)) }
                    for pad in pads { gst_pad_push_event(pad, flushStop(seqnum)) }
                }
                if count == 2 {
                    for feed in feeds { feed.push(flushStart(another)) }
                    for feed in feeds { feed.settle() }
                }
                return true
            }
        }
        #expect(goesOn(bench, follower, from: 0))
        let source = staticPad("src", of: bench.element)
        let again = SeekAgain(source, to: time(ofFrame: 60))
        #expect(seek(bench, to: gint64(time(ofFrame: 30))))
        #expect(again.isTaken)
        #expect(!eventually(seconds: 0.1) { seeks.withLock { $0 } > 2 })
        for feed in feeds { feed.push(flushStop(another)) }
        #expect(eventually { seeks.withLock { $0 } == 4 })
    }

    @Test(arguments: Follower.all)
    func `flushes that end on two pads at once end as one`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        let feeds = [bench[follower.partner], bench.leading]
        let source = staticPad("src", of: bench.element)
        let ends = Monitor(0)
        let probe = PadProbe(source, GST_PAD_PROBE_TYPE_EVENT_FLUSH) { _, info in
            if info.event == GST_EVENT_FLUSH_STOP { ends.withLock { $0 += 1 } }
        }
        for _ in 0..<1000 {
            let flush = gst_util_seqnum_next()
            for feed in feeds { feed.push(flushStart(flush)) }
            for feed in feeds { feed.settle() }
            for feed in feeds { feed.push(flushStop(flush)) }
            for feed in feeds { feed.settle() }
        }
        #expect(ends.withLock { $0 } == 1000)
        withExtendedLifetime(probe) {}
    }

    @Test(arguments: Follower.all)
    func `a flush that ends while the element stops does not start it again`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        let feeds = [bench[follower.partner], bench.leading]
        let source = staticPad("src", of: bench.element)
        let isEnding = Monitor(false)
        let probe = PadProbe(source, GST_PAD_PROBE_TYPE_EVENT_FLUSH) { pad, info in
            guard info.event == GST_EVENT_FLUSH_STOP else { return }
            isEnding.withLock { $0 = true }
            // The stop gets as far as it can meanwhile.
            _ = eventually(seconds: 0.1) { gst_pad_is_active(pad) == 0 }
        }
        let flush = gst_util_seqnum_next()
        for feed in feeds { feed.push(flushStart(flush)) }
        for feed in feeds { feed.settle() }
        for feed in feeds { feed.push(flushStop(flush)) }
        #expect(eventually { isEnding.withLock { $0 } })
        #expect(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        for feed in feeds { feed.settle() }
        #expect(source.pointee.task == nil)
        withExtendedLifetime(probe) {}
    }

    // MARK: Segments that end

    /// Plays a second of a line three times, the last two without a flush; true where each time is said to be done.
    private func loops(_ line: Pipeline, rate: Double = 1) -> Bool {
        line.set(GST_STATE_PAUSED)
        guard line.reached() == GST_STATE_CHANGE_SUCCESS else { return false }
        func seek(_ flags: guint32) -> Bool {
            gst_element_seek(
                line.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(rawValue: flags | GST_SEEK_FLAG_SEGMENT.rawValue),
                GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 1_000_000_000) != 0
        }
        guard seek(GST_SEEK_FLAG_FLUSH.rawValue) else { return false }
        line.set(GST_STATE_PLAYING)
        for _ in 0..<2 { guard line.bus.discardNext(GST_MESSAGE_SEGMENT_DONE), seek(0) else { return false } }
        return line.bus.discardNext(GST_MESSAGE_SEGMENT_DONE)
    }

    @Test(arguments: Follower.all, [(30, 1), (30, 2), (30, 3), (30, 7), (30, 30), (15, 30), (15, 60), (7, 60)])
    func `a segment of streams of several rates is done`(follower: Follower, rates: (Int, Int)) {
        let (leading, partner) = (follower.leading.pad, follower.partner)
        let line = Pipeline(
            "depthtestsrc name=camera camera.\(leading) ! video/x-raw,width=32,height=24,framerate=\(rates.0)/1 ! "
                + "element.\(leading) camera.\(partner) ! video/x-raw,width=16,height=12,framerate=\(rates.1)/1 ! "
                + "element.\(partner) \(follower.factory) name=element ! fakesink sync=false")
        #expect(loops(line))
    }

    /// Test pictures on the leading pad at five frames a second, and on some others at more and more of them.
    private func line(_ follower: Follower, _ followed: [Follower.Stream], between: String = "") -> Pipeline {
        let sources = ([follower.leading] + followed).enumerated().map { index, stream in
            let caps = stream.caps.replacingRate(by: index == 0 ? 5 : 20 + 15 * index)
            return "videotestsrc ! \(caps) ! \(index == 0 ? "" : between) element.\(stream.pad) "
        }
        return Pipeline(sources.joined() + "\(follower.factory) name=element ! fakesink sync=false")
    }

    @Test(arguments: FollowerPad.followed, [1.0, -1, 2])
    func `a segment is done whatever a pad brings beyond its last frame`(pad: FollowerPad, rate: Double) {
        #expect(loops(line(pad.follower, [pad.stream]), rate: rate))
    }

    @Test(arguments: Follower.all, ["", "queue max-size-buffers=1 !"])
    func `a segment is done whatever all pads bring beyond its last frame`(follower: Follower, between: String) {
        #expect(loops(line(follower, follower.followed, between: between)))
    }

    @Test(arguments: Follower.all)
    func `what comes late of a finished segment is dropped, and a query does not wait behind it`(follower: Follower)
        throws
    {
        let bench = Bench(follower, [follower.partner])
        let partner = bench[follower.partner]
        func begin(_ feed: Feed, _ caps: String, _ round: Int) {
            let segment = GstSegment.time(stop: time(ofFrame: 9), base: GstClockTime(round) * time(ofFrame: 9))
            if round == 0 { feed.start(caps, segment, seqnum: 1000) } else { feed.push(segment, seqnum: 1001) }
        }
        begin(bench.leading, follower.leading.caps, 0)
        begin(partner, follower.stream(follower.partner).caps, 0)
        partner.push(follower.numbered(1), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next().map(follower.number) == 1)
        for frame in 1..<5 { partner.push(follower.numbered(9), at: time(ofFrame: frame)) }
        let done = gst_event_new_segment_done(GST_FORMAT_TIME, gint64(time(ofFrame: 9)))
        gst_event_set_seqnum(done, 1000)
        bench.leading.push(done)
        for frame in 5..<9 { partner.push(follower.numbered(9), at: time(ofFrame: frame)) }
        try #require(partner.hasSettled)
        let query = gst_query_new_drain()
        gst_pad_peer_query(partner.pad, query)
        gst_query_unref(query)
        begin(bench.leading, follower.leading.caps, 1)
        begin(partner, follower.stream(follower.partner).caps, 1)
        bench.leading.push(follower.leading.frame, at: 0)
        partner.push(follower.numbered(3), at: 40 * millisecond)
        #expect(bench.output.next().map(follower.number) != 9)
        bench.leading.push(follower.leading.frame, at: 40 * millisecond)
        partner.end()
        #expect(bench.output.next().map(follower.number) == 3)
    }

    @Test(arguments: Follower.all)
    func `a segment of which no frame leaves is done all the same`(follower: Follower) {
        let bench = Bench.numbered(follower)
        bench[follower.partner].end()
        bench.leading.push(gst_event_new_segment_done(GST_FORMAT_TIME, 0))
        #expect(bench.output.event(GST_EVENT_SEGMENT_DONE) != nil)
        #expect(bench.output.story.suffix(2) == ["segment", "segment-done"])
    }

    @Test(arguments: Follower.all)
    func `a pad may go when its segment is done`(follower: Follower) {
        let bench = Bench.numbered(follower)
        bench[follower.partner].push(gst_event_new_segment_done(GST_FORMAT_TIME, 0))
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next() != nil)
        bench.release(follower.partner)
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        #expect(bench.output.next() != nil)
        bench.leading.push(gst_event_new_segment_done(GST_FORMAT_TIME, 0))
        bench.leading.push(.time())
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 2))
        #expect(bench.output.next() != nil)
    }

    @Test(arguments: Follower.all, [false, true])
    func `a slower stream whose segment is done is waited for in the next`(follower: Follower, isDoneLate: Bool) {
        let bench = Bench.numbered(follower)
        let partner = bench[follower.partner]
        /// A round of four leading frames and two of the partner's, which may come late.
        func begin(_ feed: Feed, _ round: Int) {
            var segment = GstSegment.time(stop: time(ofFrame: 4), base: GstClockTime(round) * time(ofFrame: 4))
            let event = gst_event_new_segment(&segment)
            gst_event_set_seqnum(event, UInt32(1000 + round))
            feed.push(event)
        }
        func finish(_ feed: Feed, _ round: Int) {
            let event = gst_event_new_segment_done(GST_FORMAT_TIME, gint64(time(ofFrame: 4)))
            gst_event_set_seqnum(event, UInt32(1000 + round))
            feed.push(event)
        }
        for round in 0..<5 {
            begin(bench.leading, round)
            for frame in 0..<4 { bench.leading.push(follower.leading.frame, at: time(ofFrame: frame)) }
            finish(bench.leading, round)
            if round > 0 {
                #expect(!eventually(seconds: 0.05) { !bench.output.present().isEmpty })
                // The leading pad is a segment ahead of the end that comes now.
                if isDoneLate { finish(partner, round - 1) }
                #expect(!eventually(seconds: 0.05) { !bench.output.present().isEmpty })
            }
            begin(partner, round)
            for frame in [0, 3] { partner.push(follower.numbered(round + 1), at: time(ofFrame: frame)) }
            if !isDoneLate { finish(partner, round) }
            let frames = (0..<4).compactMap { _ in bench.output.next() }
            #expect(frames.map(follower.number) == [Int](repeating: round + 1, count: 4))
            _ = bench.output.event(GST_EVENT_SEGMENT_DONE)
        }
        #expect(bench.output.story.suffix(5) == ["frame", "frame", "frame", "frame", "segment-done"])
    }
}

extension UnsafeMutablePointer<GstPadProbeInfo> {
    fileprivate var event: GstEventType? { gst_pad_probe_info_get_event(self)?.pointee.type }
}

extension Feed {
    /// Says whether what is upstream can be sought.
    func answerSeeking(_ isSeekable: Bool) {
        answerQueries(on: pad) { query in
            guard query.pointee.type == GST_QUERY_SEEKING else { return nil }
            gst_query_set_seeking(query, GST_FORMAT_TIME, isSeekable ? 1 : 0, 0, -1)
            return true
        }
    }

    /// Answers seeks, by their seqnums.
    func takeSeeks(_ answer: @escaping (UInt32) -> Bool) {
        gst_pad_set_event_function_full(
            pad,
            { pad, parent, event in
                guard let event, event.pointee.type == GST_EVENT_SEEK, let data = pad?.pointee.eventdata else {
                    return gst_pad_event_default(pad, parent, event)
                }
                defer { gst_event_unref(event) }
                return Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().answer(event.pointee.seqnum) ? 1 : 0
            }, Unmanaged.passRetained(Answer(answer)).toOpaque(),
            { data in if let data { Unmanaged<Answer>.fromOpaque(data).release() } })
    }

    private final class Answer {
        let answer: (UInt32) -> Bool

        init(_ answer: @escaping (UInt32) -> Bool) { self.answer = answer }
    }
}

extension String {
    /// Caps with another frame rate.
    fileprivate func replacingRate(by rate: Int) -> String {
        split(separator: ",").filter { !$0.contains("framerate") }.joined(separator: ",") + ",framerate=\(rate)/1"
    }
}

extension Bench {
    /// True where the output says that it can be sought in time.
    fileprivate var isSeekable: Bool {
        guard let query = gst_query_new_seeking(GST_FORMAT_TIME) else { return false }
        defer { gst_query_unref(query) }
        var isSeekable: gboolean = 0
        guard gst_pad_peer_query(output.pad, query) != 0 else { return false }
        gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
        return isSeekable != 0
    }
}

/// Answers the first end of a flush that leaves a pad by a flushing seek, from within that event.
private final class SeekAgain {
    private let state: Monitor<(isOver: Bool, isTaken: Bool)>
    private let probe: PadProbe

    init(_ pad: UnsafeMutablePointer<GstPad>, to target: GstClockTime) {
        let state = Monitor((isOver: false, isTaken: false))
        self.state = state
        probe = PadProbe(pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH) { pad, info in
            guard info.event == GST_EVENT_FLUSH_STOP else { return }
            let isFirst = state.withLock { state in
                defer { state.isOver = true }
                return !state.isOver
            }
            guard isFirst else { return }
            let seek = gst_event_new_seek(
                1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, gint64(target), GST_SEEK_TYPE_NONE, -1)
            let isTaken = gst_pad_send_event(pad, seek) != 0
            state.withLock { $0.isTaken = isTaken }
        }
    }

    var isTaken: Bool { state.withLock { $0.isTaken } }
}
