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

    /// The launch line of a source, `camera`, and what stands in for the library that it needs.
    private func source(_ kind: String) throws -> (line: String, fake: FakeRealSense?) {
        guard kind == "depthcamsrc" else { return ("\(kind) name=camera", nil) }
        let fake = try FakeRealSense()
        fake.set("interval", 5)
        return ("\(kind) name=camera driver=realsense library=\(fake.path) align=none", fake)
    }

    /// A source has nobody upstream: it posts the error itself, where it is one.
    @Test(
        arguments: [
            "depthtestsrc.video", "depthtestsrc.depth", "depthtestsrc.matte", "depthcamsrc.video", "depthcamsrc.depth",
        ], answers)
    func `a source stops at an answer, and says so where it is a fault`(pad: String, answer: GstFlowReturn) throws {
        let parts = pad.split(separator: ".")
        let (source, fake) = try source(String(parts[0]))
        defer { withExtendedLifetime(fake) {} }
        let pipeline = Pipeline(
            "\(source) camera.\(parts[1]) ! fakesink name=sink async=false sync=false")
        let sink = staticPad("sink", of: pipeline["sink"])
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

    /// The event that tells of the link comes before the pad has heard that nothing is linked.
    @Test(arguments: ["depthtestsrc", "depthcamsrc"])
    func `a source whose pad is linked in the moment in which it stops goes on`(kind: String) throws {
        let (source, fake) = try source(kind)
        defer { withExtendedLifetime(fake) {} }
        let pipeline = Pipeline(
            "\(source) camera.video ! tee name=tee allow-not-linked=true "
                + "fakesink name=sink async=false sync=false")
        let tee = staticPad("sink", of: pipeline["tee"])
        let first = Monitor(true)
        let late = PadProbe(tee, GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
            let isFirst = first.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isFirst else { return }
            #expect(linkBranch(of: pad, to: "sink"))
            info.refuse(GST_FLOW_NOT_LINKED)
        }
        let sink = staticPad("sink", of: pipeline["sink"])
        let downstream = Downstream(sink, answers: GST_FLOW_EOS, at: 5)
        pipeline.set(GST_STATE_PLAYING)
        #expect(eventually { downstream.seen == 6 })
        #expect(pipeline.bus.errors() == [])
        withExtendedLifetime(late) {}
    }

    @Test(arguments: ["depthalign", "depthunpack"], answers)
    func `an element with one input hands an answer on to upstream`(factory: String, answer: GstFlowReturn) {
        let (depth, video) = (DepthShape("GRAY16_LE", 16, 4), VideoShape("I420", 32, 4))
        let isAlign = factory == "depthalign"
        let kind = Bench.Kind(factory: factory, leading: "sink", output: isAlign ? "src" : "video")
        let bench = Bench([], of: kind)
        let downstream = Downstream(bench.output.pad, answers: answer, at: 2)
        bench.leading.start(isAlign ? DepthReader.depthAlign.caps(depth) : video.caps)
        let frame = isAlign ? depth.bytes(counts: [Int](repeating: 2000, count: 64)) : [UInt8](repeating: 9, count: 192)
        for number in 0..<3 { bench.leading.push(frame, at: time(ofFrame: number)) }
        #expect(bench.leading.settle() == answer && downstream.seen == 3)
        #expect(bench.bus.errors() == [])
    }
}

/// Links the element of a pad, a tee, to another element of its bin.
private func linkBranch(of pad: UnsafeMutablePointer<GstPad>, to name: String) -> Bool {
    guard let tee = gst_pad_get_parent_element(pad) else { return false }
    defer { gst_object_unref(tee) }
    guard let bin = gst_object_get_parent(UnsafeMutableRawPointer(tee).assumingMemoryBound(to: GstObject.self)) else {
        return false
    }
    defer { gst_object_unref(bin) }
    guard let sink = gst_bin_get_by_name(UnsafeMutableRawPointer(bin).assumingMemoryBound(to: GstBin.self), name) else {
        return false
    }
    defer { gst_object_unref(sink) }
    return gst_element_link(tee, sink) != 0
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
