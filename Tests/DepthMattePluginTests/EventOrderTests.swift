import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Events keep their order and their seqnums, whatever order upstream sends them in.
@Suite struct EventOrderTests {
    private func custom(_ name: String, _ type: GstEventType = GST_EVENT_CUSTOM_DOWNSTREAM)
        -> UnsafeMutablePointer<GstEvent>?
    {
        gst_event_new_custom(type, gst_structure_new_empty(name))
    }

    @Test(arguments: Follower.all)
    func `what the leading stream says keeps its place among the frames`(follower: Follower) {
        let bench = Bench.numbered(follower, follower.silent)
        bench[follower.partner].end()
        bench.leading.push(custom("first"))
        bench.leading.push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)one")))
        bench.leading.push(follower.leading.frame, at: 0)
        bench.leading.push(custom("second"))
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        bench.leading.push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)two")))
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 2))
        bench.leading.end()
        _ = bench.output.rest()
        #expect(
            bench.output.story == [
                "stream-start", "caps", "segment", "custom-downstream", "tag", "frame", "custom-downstream", "frame",
                "tag", "frame", "eos",
            ])
    }

    @Test(arguments: Follower.all)
    func `what the other streams say goes no further`(follower: Follower) {
        let bench = Bench.numbered(follower, follower.silent)
        bench[follower.partner].push(custom("depth"))
        bench[follower.partner].push(custom("depth", GST_EVENT_CUSTOM_DOWNSTREAM_STICKY))
        bench[follower.partner].push(custom("depth", GST_EVENT_CUSTOM_DOWNSTREAM_OOB))
        bench[follower.partner].push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)one")))
        bench[follower.partner].end()
        bench.pushLeading(2, of: follower)
        _ = bench.output.rest()
        #expect(!bench.output.story.contains { $0.hasPrefix("custom") || $0 == "tag" })
    }

    @Test(arguments: Follower.all)
    func `what was said before a flush is not sent after it, but for tags`(follower: Follower) {
        let bench = Bench(follower, [])
        bench.leading.start(follower.leading.caps)
        bench.leading.push(follower.leading.frame, at: 0)
        _ = bench.output.next()
        bench.leading.push(.time())
        bench.leading.push(custom("stale"))
        bench.leading.push(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)one")))
        bench.leading.settle()
        bench.leading.beginFlush()
        bench.leading.endFlush()
        bench.pushLeading(1, of: follower)
        _ = bench.output.rest()
        #expect(!bench.output.story.contains("custom-downstream"))
        #expect(bench.output.story.contains("tag"))
    }

    @Test func `the place of a click reaches the video and no other stream`() {
        let bench = Bench(["depth"])
        let (video, depth) = (PassingEvents(bench.video.pad), PassingEvents(bench.depth.pad))
        let move = gst_structure_from_string(
            "application/x-gst-navigation, event=(string)mouse-move, pointer_x=(double)12, pointer_y=(double)34", nil)
        gst_pad_push_event(bench.output.pad, gst_event_new_navigation(move))
        #expect(video.types == [GST_EVENT_NAVIGATION])
        #expect(depth.types == [])
    }

    @Test(arguments: Follower.all)
    func `lateness is told to no stream, as one that dropped frames would be waited for`(follower: Follower) {
        let bench = Bench.numbered(follower)
        let passing = [bench.leading, bench[follower.partner]].map { PassingEvents($0.pad) }
        bench[follower.partner].push(follower.numbered(1), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        _ = bench.output.next()
        #expect(gst_pad_push_event(bench.output.pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 0, 0)) != 0)
        #expect(passing.map { $0.types.count { $0 == GST_EVENT_QOS } } == [0, 0])
    }

    // MARK: Seqnums

    /// A flush of every stream, as a seek causes it.
    private func flush(_ feeds: [Feed], seqnum: UInt32) {
        for make in [{ gst_event_new_flush_start() }, { gst_event_new_flush_stop(1) }] {
            for feed in feeds { pushNow(make(), on: feed, seqnum) }
        }
    }

    /// Sends an event from the test's own thread.
    private func pushNow(_ event: UnsafeMutablePointer<GstEvent>?, on feed: Feed, _ seqnum: UInt32) {
        guard let event else { return }
        gst_event_set_seqnum(event, seqnum)
        gst_pad_push_event(feed.pad, event)
    }

    @Test(arguments: Follower.all)
    func `everything that follows a seek has its seqnum`(follower: Follower) {
        let bench = Bench.numbered(follower)
        bench[follower.partner].push(follower.numbered(1), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        _ = bench.output.next()
        let out = PassingEvents(bench.output.pad)
        let seqnum = gst_util_seqnum_next()
        flush([bench.leading, bench[follower.partner]], seqnum: seqnum)
        for feed in [bench[follower.partner], bench.leading] {
            var segment = GstSegment.time()
            let event = gst_event_new_segment(&segment)
            gst_event_set_seqnum(event, seqnum)
            feed.push(event)
        }
        bench[follower.partner].end()
        bench.pushLeading(1, of: follower)
        _ = bench.output.rest()
        for type in [GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP, GST_EVENT_SEGMENT, GST_EVENT_EOS] {
            #expect(out.seqnums(of: type) == [seqnum], "\(String(cString: gst_event_type_get_name(type)))")
        }
    }

    @Test(arguments: Follower.all)
    func `tags before the first frame leave no warning behind`(follower: Follower) {
        let warnings = GStreamerLog.ofMisorderedSources()
        let bench = Bench.numbered(follower)
        bench.leading.push(gst_event_new_tag(gst_tag_list_new_empty()))
        bench.pushLeading(3, of: follower)
        bench[follower.partner].end()
        #expect(bench.numbers(follower).count == 3)
        #expect(warnings.texts.isEmpty, "\(warnings.texts)")
    }

    @Test(arguments: Follower.all)
    func `a followed stream that starts again does not lend its seqnum to the end`(follower: Follower) {
        let bench = Bench.numbered(follower)
        let out = PassingEvents(bench.output.pad)
        bench[follower.partner].push(follower.numbered(1), at: 0)
        bench.leading.push(follower.leading.frame, at: 0)
        _ = bench.output.next()
        bench[follower.partner].push(.time())
        bench[follower.partner].end()
        bench.leading.end()
        _ = bench.output.rest()
        #expect(out.seqnums(of: GST_EVENT_SEGMENT) == out.seqnums(of: GST_EVENT_EOS))
    }

    // MARK: The end

    @Test(arguments: Follower.all)
    func `all streams that end at once give one end, a thousand times`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        let feeds = [bench.leading, bench[follower.partner]]
        let out = PassingEvents(bench.output.pad)
        for round in 0..<1000 {
            bench[follower.partner].push(follower.numbered(2), at: 0)
            bench.leading.push(follower.leading.frame, at: 0)
            for feed in feeds { feed.end() }
            #expect(bench.numbers(follower) == [2], "round \(round)")
            for feed in feeds { feed.settle() }
            flush(feeds, seqnum: gst_util_seqnum_next())
            for feed in feeds { feed.push(.time()) }
            if bench.output.hasEnded { try #require(bench.output.event(GST_EVENT_FLUSH_STOP) != nil) }
        }
        #expect(out.seqnums(of: GST_EVENT_EOS).count == 1000)
        #expect(!out.seqnums(of: GST_EVENT_EOS).contains(0))
    }

    @Test(arguments: Follower.all)
    func `a stream that starts again after the end is turned away, and nothing hangs`(follower: Follower) {
        let bench = Bench.numbered(follower)
        bench[follower.partner].end()
        bench.pushLeading(1, of: follower)
        _ = bench.output.rest()
        bench.leading.start(follower.leading.caps)
        // GstAggregator sends the end on a little before it turns buffers away.
        let isTurnedAway = eventually {
            bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
            return bench.leading.settle() == GST_FLOW_EOS
        }
        #expect(isTurnedAway)
        #expect(bench.output.present().isEmpty)
    }

    @Test(arguments: Follower.all)
    func `a pad that is asked for after the end hangs nothing`(follower: Follower) {
        let bench = Bench(follower, [])
        bench.leading.start(follower.leading.caps)
        bench.pushLeading(1, of: follower)
        _ = bench.output.rest()
        let partner = bench.request(follower.partner)
        partner.start(follower.stream(follower.partner).caps)
        partner.push(follower.numbered(1), at: 0)
        partner.settle()
        bench.release(follower.partner)
    }

    @Test(arguments: Follower.all)
    func `a query that a flush overtakes is answered or refused`(follower: Follower) {
        let bench = Bench.numbered(follower)
        let feeds = [bench.leading, bench[follower.partner]]
        let caps = gst_caps_from_string(follower.leading.caps)
        defer { gst_caps_unref(caps) }
        let pad = bench.leading.pad
        let asker = Repeater { _ in
            let query = gst_query_new_allocation(caps, 1)
            gst_pad_peer_query(pad, query)
            gst_query_unref(query)
        }
        func flushOften() {
            for _ in 0..<2000 {
                flush(feeds, seqnum: gst_util_seqnum_next())
                for feed in feeds { feed.push(.time()) }
            }
        }
        flushOften()
        // A machine that is busy may run one thread for long before the other.
        #expect(
            eventually {
                flushOften()
                return asker.rounds > 10
            })
        asker.finish()
        for feed in feeds { feed.settle() }
    }
}
