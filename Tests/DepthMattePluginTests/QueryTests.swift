import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Queries, before there is a stream and while there is one.
@Suite struct QueryTests {
    // MARK: Allocation

    @Test(arguments: FollowerPad.all, [false, true])
    func `every pad reads GstVideoMeta and says so, with caps or without`(pad: FollowerPad, hasCaps: Bool) {
        let bench = Bench(pad.follower, pad.follower.followed.map(\.pad))
        let feed = bench[pad.pad]
        if hasCaps { feed.start(pad.stream.caps) }
        feed.settle()
        #expect(feed.proposal(for: pad.stream.caps) == Feed.Proposal(takesVideoMeta: true, pools: 0))
        #expect(feed.proposal(for: nil) == Feed.Proposal(takesVideoMeta: true, pools: 0))
    }

    // MARK: Caps

    @Test func `each pad offers what it can take, however far the others are`() {
        let bench = Bench(["depth"], downstream: "video/x-raw, format=(string){ I420, RGB }, width=(int)[ 16, 640 ]")
        func check(_ moment: String) {
            #expect(isSubset(bench.video.allowedCaps(), of: VideoTemplate.caps), "\(moment)")
            #expect(bench.video.allowedCaps().contains("[ 16, 640 ]"), "\(moment)")
            #expect(!bench.depth.allowedCaps().contains("[ 16, 640 ]"), "\(moment)")
            #expect(bench.depth.allowedCaps().contains("F32LE"), "\(moment)")
            #expect(bench.depth.allowedCaps(filter: "video/x-depth").contains("F16LE"), "\(moment)")
            #expect(!bench.depth.allowedCaps(filter: "video/x-depth").contains("GRAY16"), "\(moment)")
            // Caps that downstream does not take are let in, and refused with a reason when they come.
            let refused = bench.video.allowedCaps(filter: "video/x-raw, format=(string)NV12")
            #expect(refused.contains("NV12") && !refused.contains("[ 16, 640 ]"), "\(moment): \(refused)")
            #expect(!bench.video.allowedCaps().contains("NV12"), "\(moment)")
            for filter in ["video/x-raw, format=(string)P010_10LE", "audio/x-raw"] {
                #expect(bench.video.allowedCaps(filter: filter) == "EMPTY", "\(moment)")
            }
        }
        check("before caps")
        bench.depth.start(Room.depth)
        bench.depth.settle()
        check("with depth caps")
        bench.video.start(Room.shape)
        _ = bench.pair(0, depth: Room.wall(700))
        check("while playing")
        for late in [bench.request("background"), bench.request("face")] {
            #expect(late.allowedCaps().contains("A420") && late.allowedCaps().contains("2147483647"))
        }
    }

    private func isSubset(_ text: String, of superset: String) -> Bool {
        guard let one = gst_caps_from_string(text), let other = gst_caps_from_string(superset) else { return false }
        defer {
            gst_caps_unref(one)
            gst_caps_unref(other)
        }
        return gst_caps_is_subset(one, other) != 0
    }

    private enum VideoTemplate {
        static let caps = "video/x-raw, width=(int)[ 1, 2147483647 ], height=(int)[ 1, 2147483647 ]"
    }

    // MARK: The rest

    @Test(arguments: Follower.all)
    func `what is asked of the output's timeline is asked of the leading stream`(follower: Follower) {
        let bench = Bench.numbered(follower)
        var asked: [GstQueryType] = []
        answerQueries(on: bench.leading.pad) { query in
            // GstAggregator's thread asks for the latency when it comes to it.
            if query.pointee.type == GST_QUERY_LATENCY { return nil }
            asked.append(query.pointee.type)
            switch query.pointee.type {
            case GST_QUERY_DURATION: gst_query_set_duration(query, GST_FORMAT_TIME, 7_000_000_000)
            case GST_QUERY_SEEKING: gst_query_set_seeking(query, GST_FORMAT_TIME, 1, 0, 7_000_000_000)
            case GST_QUERY_SEGMENT: gst_query_set_segment(query, 2, GST_FORMAT_TIME, 1, 2)
            case GST_QUERY_CONVERT: gst_query_set_convert(query, GST_FORMAT_DEFAULT, 1, GST_FORMAT_TIME, 33)
            default: return nil
            }
            return true
        }
        answerQueries(on: bench[follower.partner].pad) { query in
            query.pointee.type == GST_QUERY_LATENCY ? nil : false
        }
        let queries = [
            gst_query_new_duration(GST_FORMAT_TIME), gst_query_new_seeking(GST_FORMAT_TIME),
            gst_query_new_segment(GST_FORMAT_TIME), gst_query_new_convert(GST_FORMAT_DEFAULT, 1, GST_FORMAT_TIME),
        ]
        for query in queries {
            #expect(gst_pad_peer_query(bench.output.pad, query) != 0)
            gst_query_unref(query)
        }
        #expect(asked == [GST_QUERY_DURATION, GST_QUERY_SEEKING, GST_QUERY_SEGMENT, GST_QUERY_CONVERT])
    }

    @Test(arguments: Follower.all)
    func `what the leading stream does not know is not answered`(follower: Follower) {
        let bench = Bench.numbered(follower)
        var value: gint64 = 0
        #expect(gst_pad_peer_query_duration(bench.output.pad, GST_FORMAT_TIME, &value) == 0)
        #expect(gst_pad_peer_query_duration(bench.output.pad, GST_FORMAT_BYTES, &value) == 0)
        #expect(gst_pad_peer_query_position(bench.output.pad, GST_FORMAT_BYTES, &value) == 0)
    }

    @Test(arguments: Follower.all)
    func `the position grows with the frames and stays within the leading stream's length`(follower: Follower) throws {
        let bench = Bench.numbered(follower)
        bench[follower.partner].end()
        var last: gint64 = -1
        for frame in 0..<5 {
            bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
            _ = try #require(bench.output.next())
            var position: gint64 = 0
            try #require(
                eventually {
                    gst_pad_peer_query_position(bench.output.pad, GST_FORMAT_TIME, &position) != 0 && position > last
                })
            last = position
            #expect(last <= gint64(time(ofFrame: frame + 1)))
        }
    }

    @Test(arguments: Follower.all)
    func `a context is asked for upstream and downstream`(follower: Follower) throws {
        let bench = Bench(follower, [follower.partner])
        func answerContext(_ query: UnsafeMutablePointer<GstQuery>) -> Bool? {
            guard query.pointee.type == GST_QUERY_CONTEXT else { return nil }
            let context = gst_context_new("gst.test.device", 1)
            gst_query_set_context(query, context)
            gst_mini_object_unref(UnsafeMutableRawPointer(context)?.assumingMemoryBound(to: GstMiniObject.self))
            return true
        }
        answerQueries(on: bench.output.pad, answerContext)
        let down = try #require(gst_query_new_context("gst.test.device"))
        #expect(gst_pad_peer_query(bench.leading.pad, down) != 0)
        gst_query_unref(down)
        answerQueries(on: bench.leading.pad, answerContext)
        let upward = try #require(gst_query_new_context("gst.test.device"))
        #expect(gst_pad_peer_query(bench.output.pad, upward) != 0)
        gst_query_unref(upward)
    }

    @Test(arguments: Follower.all)
    func `queries that nobody can answer are refused in every state`(follower: Follower) {
        let bench = Bench(follower, [follower.partner])
        for state in [GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL] {
            gst_element_set_state(bench.element, state)
            for query in [
                gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty("what")), gst_query_new_uri(),
                gst_query_new_formats(), gst_query_new_buffering(GST_FORMAT_TIME),
            ] {
                #expect(gst_pad_peer_query(bench.output.pad, query) == 0)
                gst_query_unref(query)
            }
        }
    }

    // MARK: Downstream changes its mind

    private func takeOnly(_ text: String, downstreamOf bench: Bench) {
        answerQueries(on: bench.output.pad) { query in
            guard query.pointee.type == GST_QUERY_CAPS else { return nil }
            let caps = gst_caps_from_string(text)
            gst_query_set_caps_result(query, caps)
            gst_caps_unref(caps)
            return true
        }
    }

    @Test(arguments: Follower.all.flatMap { follower in follower.foreignCaps.map { (follower, $0) } })
    func `downstream that turns to what cannot be sent gets one error that says so`(
        follower: Follower, wanted: String
    ) {
        let bench = Bench.numbered(follower)
        for number in 0..<3 { bench[follower.partner].push(follower.numbered(1), at: time(ofFrame: number)) }
        bench[follower.partner].end()
        bench.leading.push(follower.leading.frame, at: 0)
        #expect(bench.output.next() != nil)
        takeOnly("video/x-raw, format=(string)\(wanted)", downstreamOf: bench)
        gst_pad_push_event(bench.output.pad, gst_event_new_reconfigure())
        for frame in 1..<4 { bench.leading.push(follower.leading.frame, at: time(ofFrame: frame)) }
        #expect(bench.leading.settle() == GST_FLOW_NOT_NEGOTIATED)
        let errors = bench.bus.errors()
        #expect(errors.count == 1 && errors.first?.text.contains("videoconvert") == true, "\(errors)")
        #expect(bench.output.present().isEmpty)
    }

    @Test(arguments: Follower.all)
    func `live, too, downstream that turns away is one error`(follower: Follower) throws {
        let clock = TestClock()
        let bench = Bench(follower, [follower.partner], clock: clock.clock)
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        bench.leading.push(follower.leading.frame, at: 0)
        _ = try #require(clock.runUntil(0) { bench.output.present().first })
        takeOnly("video/x-raw, format=(string)P010_10LE", downstreamOf: bench)
        gst_pad_push_event(bench.output.pad, gst_event_new_reconfigure())
        bench.leading.push(follower.leading.frame, at: time(ofFrame: 1))
        let errors = try #require(
            clock.runUntil(time(ofFrame: 1)) {
                let errors = bench.bus.errors()
                return errors.isEmpty ? nil : errors
            })
        #expect(errors.count == 1, "\(errors)")
        #expect(bench.output.present().isEmpty)
    }
}
