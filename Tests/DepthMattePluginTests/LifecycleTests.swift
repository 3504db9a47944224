import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import TestSupport
import Testing

/// States, seeks, and what is left over afterwards.
@Suite struct LifecycleTests {
    @Test(arguments: ElementLine.all)
    func `elements and pads go with the pipeline`(line: ElementLine) {
        let gone = Counter()
        for _ in 0..<20 {
            let pipeline = Pipeline(line.text + "fakesink")
            gone.watch(pipeline["element"])
            for pad in line.pads { gone.watch(staticPad(pad, of: pipeline["element"])) }
            pipeline.set(GST_STATE_PLAYING)
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        }
        #expect(gone.watched == 20 * (1 + line.pads.count) && gone.gone == gone.watched)
    }

    /// The three sequences of GStreamer's generic/states test.
    @Test(arguments: Follower.factories + ["depthtestsrc", "depthalign", "depthunpack"])
    func `an unlinked element takes every state sequence`(factory: String) {
        let (null, ready, paused, playing) = (GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING)
        let sequences = [
            [ready, paused, playing, paused, ready, null],
            [ready, null, ready, paused, ready, null],
            [ready, paused, ready, paused, playing, paused, ready, paused, playing, null],
            [playing, null, playing, ready, playing, paused, null, paused, null],
        ]
        for sequence in sequences {
            let element = makeElement(factory)
            for state in sequence {
                #expect(gst_element_set_state(element, state) != GST_STATE_CHANGE_FAILURE, "\(state)")
                #expect(gst_element_get_state(element, nil, nil, 20_000_000_000) != GST_STATE_CHANGE_FAILURE)
            }
            gst_element_set_state(element, GST_STATE_NULL)
            #expect(element.pointee.object.object.ref_count == 1)
            gst_object_unref(element)
        }
    }

    @Test(arguments: Follower.all)
    func `playing again after READY is as the first time`(follower: Follower) {
        let pipeline = Pipeline(
            follower.camera.replacing("depthtestsrc", with: "depthtestsrc num-buffers=5") + "fakesink name=sink")
        let passing = PassingFrames(pipeline["sink"])
        var runs: [[[UInt8]]] = []
        for _ in 0..<3 {
            #expect(pipeline.run() == .ended)
            runs.append(passing.take())
            pipeline.set(GST_STATE_READY)
        }
        #expect(runs[0].count == 5)
        #expect(runs[1] == runs[0])
        #expect(runs[2] == runs[0])
    }

    @Test(arguments: Follower.all)
    func `stopping while the element waits for a stream does not hang`(follower: Follower) {
        let bench = Bench.numbered(follower)
        for frame in 0..<3 { bench.leading.push(follower.leading.frame, at: time(ofFrame: frame)) }
        gst_element_set_state(bench.element, GST_STATE_READY)
        #expect(bench.leading.settle() == GST_FLOW_FLUSHING)
    }

    // MARK: Seeks

    @Test(arguments: Follower.all)
    func `a flushing seek on a playing recording shows the right frame`(follower: Follower) throws {
        let folder = TemporaryFolder()
        let file = folder["recording.mkv"]
        let recorded = Pipeline(
            "depthtestsrc num-buffers=60 name=camera "
                + "camera.video ! video/x-raw,format=I420,width=32,height=24 ! queue ! mux. "
                + "camera.depth ! video/x-raw,format=GRAY16_LE,width=16,height=12 ! avenc_ffv1 ! queue ! mux. "
                + "matroskamux name=mux ! filesink location=\(file)"
        ).run()
        try #require(recorded == .ended)
        let player = Pipeline(
            "filesrc location=\(file) ! matroskademux name=file file.video_0 ! queue ! element.video "
                + "file.video_1 ! avdec_ffv1 ! queue ! element.depth "
                + "\(follower.factory) name=element ! appsink name=sink sync=false max-buffers=2"
        )
        player.set(GST_STATE_PLAYING)
        let first = try #require(player.nextFrame(of: "sink"))
        #expect(first.timing.start == 0)
        for seconds in [1.0, 0.5, 1.5, 0.1, 0] {
            let target = GstClockTime(seconds * 1000) * millisecond
            try #require(player.seek(to: target))
            let frame = try #require(player.nextFrame(of: "sink"))
            #expect(
                frame.timing.start + 40 * millisecond > target && frame.timing.start < target + 40 * millisecond,
                "\(seconds) s: \(frame.timing)")
        }
        #expect(player.bus.errors().isEmpty && player.bus.warnings().isEmpty)
        let again = try #require(player.seek(to: 0) ? player.nextFrame(of: "sink") : nil)
        #expect(again.bytes == first.bytes)
    }

    @Test(arguments: Follower.all)
    func `a flushing seek on the test source shows the right frame`(follower: Follower) throws {
        let pipeline = Pipeline(
            follower.camera.replacing("depthtestsrc", with: "depthtestsrc num-buffers=300")
                + "appsink name=sink sync=false max-buffers=2")
        pipeline.set(GST_STATE_PLAYING)
        let first = try #require(pipeline.nextFrame(of: "sink"))
        for frame in [30, 200, 7, 0] {
            try #require(pipeline.seek(to: time(ofFrame: frame)))
            #expect(pipeline.nextFrame(of: "sink")?.timing.start == time(ofFrame: frame))
        }
        try #require(pipeline.seek(to: 0))
        #expect(pipeline.nextFrame(of: "sink")?.bytes == first.bytes)
        #expect(pipeline.bus.errors().isEmpty)
    }

    @Test(arguments: Follower.all)
    func `a seek after the end plays again`(follower: Follower) throws {
        let pipeline = Pipeline(
            follower.camera.replacing("depthtestsrc", with: "depthtestsrc num-buffers=5")
                + "appsink name=sink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.frames(of: "sink").count == 5)
        try #require(pipeline.seek(to: time(ofFrame: 2)))
        #expect(pipeline.frames(of: "sink").map(\.timing.start) == [2, 3, 4].map { time(ofFrame: $0) })
    }

    // MARK: Setters

    @Test(arguments: Follower.all)
    func `an element dropped while a setter runs goes all the same`(follower: Follower) {
        let gone = Counter()
        for round in 0..<50 {
            let element = makeElement(follower.factory)
            gone.watch(element)
            gst_object_ref(element)
            let setter = Setter(element)
            if round.isMultiple(of: 2) { gst_element_set_state(element, GST_STATE_PAUSED) }
            gst_element_set_state(element, GST_STATE_NULL)
            gst_object_unref(element)
            setter.finish()
        }
        #expect(gone.gone == 50)
    }
}

/// Counts objects that are finalized.
final class Counter: @unchecked Sendable {  // guard: the count is atomic, `watched` belongs to the test
    private let finalized = Atomic(0)
    private(set) var watched = 0

    var gone: Int { finalized.load(ordering: .acquiring) }

    func watch(_ object: UnsafeMutableRawPointer) {
        watched += 1
        g_object_weak_ref(
            object.assumingMemoryBound(to: GObject.self),
            { data, _ in
                guard let data else { return }
                Unmanaged<Counter>.fromOpaque(data).takeUnretainedValue().finalized.add(1, ordering: .releasing)
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

/// A thread that sets properties some thousand times, then gives its reference to the element back.
private struct Setter {
    private let thread: UnsafeMutablePointer<GThread>?

    init(_ element: UnsafeMutablePointer<GstElement>) {
        thread = g_thread_new(
            "setter",
            { data in
                guard let data else { return nil }
                let element = data.assumingMemoryBound(to: GstElement.self)
                let settable = SettableProperty.all(of: element).filter(\.keepsEveryFrame)
                var random = RepeatableRandomNumberGenerator(seed: 3)
                for round in 0..<1200 { settable[round % settable.count].set(on: element, &random) }
                gst_object_unref(data)
                return nil
            }, element)
    }

    func finish() { g_thread_join(thread) }
}
