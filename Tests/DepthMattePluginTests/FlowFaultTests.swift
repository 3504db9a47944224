import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Synchronization
import TestSupport
import Testing

/// Downstream that answers a buffer with something other than OK: the stream stops once, upstream is told, and nobody says
/// a second time what downstream knows better.
@Suite struct FlowFaultTests {
    /// The answers that end a stream.
    static let answers = [
        GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_NOT_NEGOTIATED, GST_FLOW_ERROR,
        GST_FLOW_NOT_SUPPORTED, GST_FLOW_CUSTOM_ERROR, GST_FLOW_CUSTOM_ERROR_2,
    ]

    @Test(arguments: Follower.all, answers)
    func `an answer at any frame stops the stream once, and upstream is told`(
        follower: Follower, answer: GstFlowReturn
    ) throws {
        for number in [0, 1, 5] {
            let bench = Bench.numbered(follower)
            let downstream = Downstream(bench.output.pad, answers: answer, at: number)
            for frame in 0..<number + 4 {
                bench[follower.partner].push(follower.numbered(1), at: time(ofFrame: frame))
                bench.leading.push(follower.leading.frame, at: time(ofFrame: frame))
            }
            let isNeedData = answer == GST_FLOW_CUSTOM_ERROR  // to GstAggregator
            #expect(bench.leading.settle() == (isNeedData ? GST_FLOW_ERROR : answer), "frame \(number)")
            #expect(downstream.seen == number + 1, "frame \(number)")
            #expect(bench.bus.errors() == [] && bench.bus.warnings() == [], "frame \(number)")
            #expect(gst_element_set_state(bench.element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        }
    }

    /// A source has nobody upstream: it posts the error itself, where it is one.
    @Test(
        arguments: [
            "depthtestsrc.video", "depthtestsrc.depth", "depthtestsrc.matte", "depthcamsrc.video", "depthcamsrc.depth",
        ], answers)
    func `a source stops at an answer, and says so where it is a fault`(pad: String, answer: GstFlowReturn) throws {
        let fake = try FakeRealSense()
        fake.set("interval", 5)
        let parts = pad.split(separator: ".")
        let settings = parts[0] == "depthcamsrc" ? "driver=realsense library=\(fake.path) align=none" : ""
        let pipeline = Pipeline(
            "\(parts[0]) name=camera \(settings) camera.\(parts[1]) ! fakesink name=sink async=false sync=false")
        let sink = try #require(gst_element_get_static_pad(pipeline["sink"], "sink"))
        defer { gst_object_unref(sink) }
        let downstream = Downstream(sink, answers: answer, at: 3)
        pipeline.set(GST_STATE_PLAYING)
        #expect(eventually { downstream.seen == 4 })
        let isFault = ![GST_FLOW_EOS, GST_FLOW_FLUSHING].contains(answer)
        if isFault {
            let error = try #require(pipeline.bus.nextError())
            #expect(error.text == "Internal data stream error." && error.domain == "gst-stream-error-quark")
        }
        #expect(pipeline.set(GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
        #expect(downstream.seen == 4)
        #expect(pipeline.bus.errors() == [])
    }

    @Test(arguments: answers)
    func `depthalign hands an answer on to upstream`(answer: GstFlowReturn) {
        let shape = DepthShape("GRAY16_LE", 16, 4)
        let camera = CameraIntrinsics(width: 16, height: 4, fx: 100, fy: 100, cx: 7.5, cy: 1.5)
        let calibration = Calibration(depth: camera, color: camera, depthToColor: .identity)
        let folder = TemporaryFolder()
        let file = folder.write("calibration.json", Array(calibration.json.utf8))
        let bench = Bench([], ["calibration": file], of: Bench.Kind(factory: "depthalign", leading: "sink"))
        let downstream = Downstream(bench.output.pad, answers: answer, at: 2)
        bench.leading.start(shape)
        let map = shape.bytes(counts: [Int](repeating: 2000, count: 64))
        for frame in 0..<3 { bench.leading.push(map, at: time(ofFrame: frame)) }
        #expect(bench.leading.settle() == answer && downstream.seen == 3)
        #expect(bench.bus.errors() == [])
    }
}

/// A pad that takes buffers and answers one of them, and all behind it, otherwise than with OK.
private final class Downstream {
    private let state: State

    private final class State: Sendable {
        let answer: GstFlowReturn
        let number: Int
        let seen = Atomic(0)

        init(_ answer: GstFlowReturn, _ number: Int) { (self.answer, self.number) = (answer, number) }
    }

    init(_ pad: UnsafeMutablePointer<GstPad>, answers answer: GstFlowReturn, at number: Int) {
        state = State(answer, number)
        gst_pad_set_chain_function_full(
            pad,
            { pad, _, buffer in
                guard let buffer, let data = pad?.pointee.chaindata else { return GST_FLOW_ERROR }
                unref(buffer)
                let state = Unmanaged<State>.fromOpaque(data).takeUnretainedValue()
                let number = state.seen.add(1, ordering: .relaxed).oldValue
                return number >= state.number ? state.answer : GST_FLOW_OK
            }, Unmanaged.passRetained(state).toOpaque(),
            { data in if let data { Unmanaged<State>.fromOpaque(data).release() } })
    }

    /// How many buffers came.
    var seen: Int { state.seen.load(ordering: .relaxed) }
}
