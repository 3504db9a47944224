import CGStreamer
import CGStreamerCheck
import GstBridge
import GstTestSupport
import Testing

/// A stop is quick, whatever is under way.
@Suite struct StopTests {
    /// The work that the element is in the middle of when it is told to stop.
    enum Business: CaseIterable {
        case waitingForPartner, waitingForDeadline, upstreamQueueFull, prerolledSink, sinkWaitingForItsClock
        case pullingNobody, flushing, openingPicture, decodingVideo, releasingPads

        /// True where it is something that this element does.
        func suits(_ follower: Follower) -> Bool {
            switch self {
            case .openingPicture, .decodingVideo: follower.factory == "depthmatte"
            default: true
            }
        }
    }

    /// Milliseconds within which NULL is reached.
    private static let limit = 100.0

    @Test(arguments: Follower.all.flatMap { follower in Business.allCases.map { (follower, $0) } })
    func `NULL is reached at once`(follower: Follower, business: Business) throws {
        guard business.suits(follower) else { return }
        // The quickest of three: other programs have the processor at times.
        let times = try (0..<3).map { _ in
            let (element, holder) = try start(business, follower)
            let begin = g_get_monotonic_time()
            #expect(gst_element_set_state(element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
            let milliseconds = Double(g_get_monotonic_time() - begin) / 1000
            withExtendedLifetime(holder) {}
            return milliseconds
        }
        print("\(follower.factory): NULL while \(business): \(times) ms")
        #expect(times.min() ?? .infinity < StopTests.limit, "\(times) ms")
    }

    /// With a sink that waits, downstream is blocked.
    @Test(
        arguments: ElementLine.all.suffix(3),
        ["fakesink sync=true ts-offset=3600000000000", "appsink max-buffers=1 sync=false"])
    func `NULL is reached while downstream is blocked`(line: ElementLine, sink: String) throws {
        for _ in 0..<5 {
            let pipeline = Pipeline(line.text + "queue max-size-buffers=2 ! " + sink)
            pipeline.set(GST_STATE_PLAYING)
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
    }

    /// An element or a pipeline that is busy, and what keeps it alive.
    private func start(
        _ business: Business, _ follower: Follower
    ) throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        switch business {
        case .waitingForPartner: waitingForPartner(follower)
        case .waitingForDeadline: try waitingForDeadline(follower)
        case .upstreamQueueFull: try upstreamQueueFull(follower)
        case .prerolledSink: try sink("fakesink", GST_STATE_PAUSED, follower)
        case .sinkWaitingForItsClock:
            try sink("fakesink sync=true ts-offset=3600000000000", GST_STATE_PLAYING, follower)
        case .pullingNobody: try sink("appsink max-buffers=1 sync=false", GST_STATE_PLAYING, follower)
        case .flushing: flushing(follower)
        case .openingPicture: try openingPicture()
        case .decodingVideo: try decodingVideo()
        case .releasingPads: releasingPads(follower)
        }
    }

    private func waitingForPartner(_ follower: Follower) -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let bench = Bench.numbered(follower)
        for number in 0..<3 { bench.leading.push(follower.leading.frame, at: time(ofFrame: number)) }
        return (bench.element, bench)
    }

    private func waitingForDeadline(_ follower: Follower) throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let clock = TestClock()
        let bench = Bench(follower, [follower.partner], ["latency": "1000000000"], clock: clock.clock)
        bench.leading.start(follower.leading.caps)
        bench.leading.push(follower.leading.frame, at: 0)
        try #require(eventually { clock.isWaitedFor })
        return (bench.element, bench)
    }

    private func upstreamQueueFull(_ follower: Follower) throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let pipeline = Pipeline(
            "videotestsrc ! \(follower.leading.caps) ! queue name=queue max-size-buffers=3 ! "
                + "element.\(follower.leading.pad) videotestsrc ! valve drop=true ! element.\(follower.partner) "
                + "\(follower.factory) name=element ! fakesink")
        pipeline.set(GST_STATE_PLAYING)
        try #require(eventually { integer("current-level-buffers", of: pipeline["queue"]) == 3 })
        return (pipeline.pointer, pipeline)
    }

    private func sink(
        _ sink: String, _ state: GstState, _ follower: Follower
    ) throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let pipeline = Pipeline(
            follower.camera.replacing("! element.", with: "! queue ! element.") + sink)
        pipeline.set(state)
        try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        return (pipeline.pointer, pipeline)
    }

    private func flushing(_ follower: Follower) -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let bench = Bench.numbered(follower)
        bench.leading.push(follower.leading.frame, at: 0)
        for feed in [bench[follower.partner], bench.leading] { feed.beginFlush() }
        return (bench.element, bench)
    }

    private func openingPicture() throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let large = try #require(StopTests.largePicture)
        let bench = Bench.numbered()
        bench.set("background", large.file)
        // Long enough that the decoder is in the middle of it.
        g_usleep(100_000)
        return (bench.element, bench)
    }

    /// A picture that takes a good part of a second to decode.
    private static let largePicture: LargePicture? = LargePicture()

    private final class LargePicture: Sendable {
        private let folder = TemporaryFolder()
        let file: String

        init?() {
            file = folder["large.png"]
            let made = Pipeline(
                "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=7900,height=7900 ! pngenc "
                    + "compression-level=1 ! filesink location=\(file)"
            ).run(patience: 60)
            if made != .ended { return nil }
        }
    }

    private func decodingVideo() throws -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let folder = TemporaryFolder()
        let file = folder["loop.mkv"]
        try #require(
            Pipeline(
                "videotestsrc num-buffers=30 ! video/x-raw,width=640,height=480 ! jpegenc ! matroskamux "
                    + "! filesink location=\(file)"
            ).run() == .ended)
        let bench = Bench.room(["background": file])
        for number in 0..<200 {
            bench.depth.push(Room.wall(3000), at: time(ofFrame: number))
            bench.video.push(Room.picture, at: time(ofFrame: number))
        }
        try #require(bench.output.next() != nil)
        return (bench.element, Pair(bench, folder))
    }

    private func releasingPads(_ follower: Follower) -> (UnsafeMutablePointer<GstElement>, AnyObject) {
        let bench = Bench(follower, [])
        bench.leading.start(follower.leading.caps)
        let element = bench.element
        let visitor = Repeater { _ in
            guard let pad = gst_element_request_pad_simple(element, follower.partner) else { return }
            gst_element_release_request_pad(element, pad)
            gst_object_unref(pad)
        }
        for number in 0..<3 { bench.leading.push(follower.leading.frame, at: time(ofFrame: number)) }
        return (bench.element, Pair(Ender(visitor), bench))
    }

    /// Keeps two things alive, and lets the first go first.
    private final class Pair {
        private var first: AnyObject?
        private let second: AnyObject

        init(_ first: AnyObject, _ second: AnyObject) {
            self.first = first
            self.second = second
        }

        deinit { first = nil }
    }

    private final class Ender {
        private let repeater: Repeater

        init(_ repeater: Repeater) { self.repeater = repeater }

        deinit { repeater.finish() }
    }
}
