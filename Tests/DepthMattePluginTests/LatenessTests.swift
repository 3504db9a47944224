import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Frames that the sink would throw away cost no work; and what downstream may ask.
@Suite struct LatenessTests {
    /// The sink tells that the frame at `time` came `delay` nanoseconds late.
    private func tell(_ bench: Bench, at time: GstClockTime, delay: Int) {
        let event = gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, GstClockTimeDiff(delay), time)
        #expect(gst_pad_push_event(bench.output.pad, event) != 0)
    }

    @Test func `frames that are over before the next can be shown are dropped, and no more`() {
        let bench = Bench.numbered()
        for number in 0..<8 { bench.depth.push(Numbered.map(number + 1), at: time(ofFrame: number)) }
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next() != nil)
        tell(bench, at: 0, delay: Int(100 * millisecond))
        for frame in 1..<8 { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        // Frames 1 and 2 end at 67 and 100 ms; frame 2 ends a nanosecond before 100 ms, frame 3 is in time.
        let starts = bench.output.rest().map(\.timing.start)
        #expect(starts == (3..<8).map { time(ofFrame: $0) })
        #expect(bench.bus.count(of: GST_MESSAGE_QOS) == 2)
    }

    @Test func `a frame that came early drops nothing`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next() != nil)
        tell(bench, at: 50 * millisecond, delay: -Int(20 * millisecond))
        for frame in 1..<4 { bench.video.push(Numbered.picture, at: time(ofFrame: frame)) }
        bench.video.end()
        #expect(bench.output.rest().count == 3)
    }

    @Test func `a new segment is not late because the last one was`() {
        let bench = Bench.numbered()
        bench.depth.end()
        bench.video.push(Numbered.picture, at: 0)
        #expect(bench.output.next() != nil)
        tell(bench, at: 0, delay: Int(1000 * millisecond))
        bench.video.push(.time())
        bench.video.push(Numbered.picture, at: time(ofFrame: 1))
        bench.video.end()
        #expect(bench.output.rest().count == 1)
    }

    // MARK: Queries

    @Test func `a pipeline is as long as its video and can be sought where that can`() {
        let pipeline = Pipeline(
            """
            depthtestsrc name=camera num-buffers=45 depthmatte name=matte ! appsink name=sink sync=false
            camera.video ! video/x-raw,width=32,height=24 ! matte.video
            camera.depth ! video/x-raw,width=32,height=24 ! matte.depth
            """)
        pipeline.set(GST_STATE_PAUSED)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        var length: gint64 = 0
        #expect(gst_element_query_duration(pipeline["sink"], GST_FORMAT_TIME, &length) != 0)
        #expect(length == 1_500_000_000)
        let query = gst_query_new_seeking(GST_FORMAT_TIME)
        defer { gst_query_unref(query) }
        var isSeekable: gboolean = 0
        #expect(gst_element_query(pipeline["sink"], query) != 0)
        gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
        #expect(isSeekable != 0)
    }
}
