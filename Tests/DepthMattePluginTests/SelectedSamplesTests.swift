import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// The signal "samples-selected", by which an application learns what the next picture is made from.
@Suite struct SelectedSamplesTests {
    @Test(arguments: Follower.all)
    func `a handler gets the buffers that the next picture is made from`(follower: Follower) {
        let bench = Bench(follower, [follower.partner], ["emit-signals": "true"])
        let listener = SampleListener(bench.element, [follower.leading.pad, follower.partner])
        bench[follower.partner].start(follower.stream(follower.partner).caps)
        bench.leading.start(follower.leading.caps)
        for number in [0, 1, 3] {
            bench[follower.partner].push(follower.numbered(number + 1), at: time(ofFrame: number) + 5 * millisecond)
        }
        bench[follower.partner].end()
        bench.pushLeading(4, of: follower)
        #expect(bench.numbers(follower).count == 4)
        let expected = [0, 1, 1, 3].enumerated().map { frame, partner in
            [time(ofFrame: frame), time(ofFrame: partner) + 5 * millisecond]
        }
        #expect(listener.times == expected)
    }

    @Test func `a pad that has nothing for the picture has no sample`() {
        let bench = Bench(["depth"], ["emit-signals": "true"])
        let listener = SampleListener(bench.element, ["video", "depth"])
        bench.depth.end()
        bench.video.start(Numbered.video)
        bench.pushVideo(1)
        #expect(bench.output.rest().count == 1)
        #expect(listener.times == [[0]])
    }
}

/// Hears "samples-selected", and notes the timestamps of the samples that some pads show then.
private final class SampleListener {
    private let element: UnsafeMutablePointer<GstElement>
    private let state: Monitor<State>
    private var handler: gulong = 0

    struct State {
        let pads: [String]
        var times: [[GstClockTime]] = []
    }

    init(_ element: UnsafeMutablePointer<GstElement>, _ pads: [String]) {
        self.element = element
        state = Monitor(State(pads: pads))
        let heard:
            @convention(c) (
                UnsafeMutablePointer<GstAggregator>?, UnsafePointer<GstSegment>?, GstClockTime, GstClockTime,
                GstClockTime, UnsafePointer<GstStructure>?, UnsafeMutableRawPointer?
            ) -> Void = { aggregator, _, _, _, _, _, data in
                guard let aggregator, let data else { return }
                let state = Unmanaged<Monitor<State>>.fromOpaque(data).takeUnretainedValue()
                let times = state.withLock { $0.pads }.compactMap { SampleListener.time(of: $0, aggregator) }
                state.withLock { $0.times.append(times) }
            }
        handler = g_signal_connect_data(
            element, "samples-selected", unsafeBitCast(heard, to: GCallback.self),
            Unmanaged.passUnretained(state).toOpaque(), nil, GConnectFlags(rawValue: 0))
    }

    deinit { g_signal_handler_disconnect(element, handler) }

    var times: [[GstClockTime]] { state.withLock { $0.times } }

    /// When the sample of a pad begins; nil where it has none.
    private static func time(of pad: String, _ aggregator: UnsafeMutablePointer<GstAggregator>) -> GstClockTime? {
        let element = UnsafeMutableRawPointer(aggregator).assumingMemoryBound(to: GstElement.self)
        let found = staticPad(pad, of: element)
        let sink = UnsafeMutableRawPointer(found).assumingMemoryBound(to: GstAggregatorPad.self)
        guard let sample = gst_aggregator_peek_next_sample(aggregator, sink) else { return nil }
        defer { gst_sample_unref(sample) }
        #expect(gst_sample_get_caps(sample) != nil)
        return gst_sample_get_buffer(sample)?.pointee.pts
    }
}
