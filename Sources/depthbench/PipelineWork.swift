import CGStreamer
import GstBridge

/// A whole pipeline, from the start of playing to the end of its streams.
///
/// Its timings are wall time, and as "own" time the processor time of all threads.
final class PipelineWork: Workload {
    let leastFrames = 200
    private let line: (_ frames: Int) -> String

    /// - Parameter line: the launch line of a pipeline that ends after so many frames.
    init(_ line: @escaping (_ frames: Int) -> String) { self.line = line }

    func run(frames: Int) throws -> Timing {
        let pipeline = try LaunchedPipeline(line(frames))
        try pipeline.set(GST_STATE_PAUSED)
        let (start, startOfWork) = (now(), processorTime())
        try pipeline.set(GST_STATE_PLAYING)
        try pipeline.waitForEnd()
        return Timing(
            frame: Double(now() - start) / Double(frames),
            own: Double(processorTime() - startOfWork) / Double(frames))
    }
}

/// Launch lines that are compared: depthmatte, a compositor with two layers, and the sources of each alone.
struct Pipelines {
    let wanted: Case
    let still: String
    let depthMap: String

    /// Each with the pipeline that has the same sources and nothing else.
    var all: [(name: String, whole: PipelineWork, sources: PipelineWork)] {
        [
            // The upper layer is half transparent: beneath an opaque one the compositor would draw nothing.
            (
                "compositor, two layers",
                PipelineWork {
                    "compositor name=to max-threads=\(wanted.threads) sink_1::alpha=0.5 ! \(sink)"
                        + " \(behind($0)) ! to.sink_0 \(video($0)) ! to.sink_1"
                }, PipelineWork { "\(video($0)) ! \(sink) \(behind($0)) ! \(sink)" }
            ),
            (
                "depthmatte, image behind",
                PipelineWork {
                    "\(depthmatte) background-mode=image background=\"\(still)\" ! \(sink)"
                        + " \(video($0)) ! to.video \(depth($0)) ! to.depth"
                }, PipelineWork { "\(video($0)) ! \(sink) \(depth($0)) ! \(sink)" }
            ),
            (
                "depthmatte, stream behind",
                PipelineWork {
                    "\(depthmatte) background-mode=stream ! \(sink)"
                        + " \(video($0)) ! to.video \(depth($0)) ! to.depth \(behind($0)) ! to.background"
                }, PipelineWork { "\(video($0)) ! \(sink) \(behind($0)) ! \(sink) \(depth($0)) ! \(sink)" }
            ),
        ]
    }

    private var depthmatte: String {
        "depthmatte name=to anchor=fixed cutoff=\(BenchScene.cutoff) blur-radius=\(wanted.sigma) gamma=\(wanted.gamma) "
            + "upscale=\(wanted.upscale) max-threads=\(wanted.threads)"
    }

    private let sink = "fakesink sync=false"

    /// Plain colors are next to no work for their source.
    private func video(_ frames: Int) -> String { source("black", frames) }
    private func behind(_ frames: Int) -> String { source("blue", frames) }

    private func source(_ pattern: String, _ frames: Int) -> String {
        "videotestsrc pattern=\(pattern) num-buffers=\(frames) ! video/x-raw,format=\(wanted.format),"
            + "width=\(wanted.size.width),height=\(wanted.size.height),framerate=30/1"
    }

    /// One map, sent again and again.
    private func depth(_ frames: Int) -> String {
        "multifilesrc location=\"\(depthMap)\" num-buffers=1 caps=video/x-raw,format=GRAY16_LE,"
            + "width=\(wanted.depth.width),height=\(wanted.depth.height),framerate=30/1 "
            + "! imagefreeze num-buffers=\(frames)"
    }
}

/// A pipeline from a launch line, taken down with the last reference.
final class LaunchedPipeline {
    private let pipeline: UnsafeMutablePointer<GstElement>
    private static let patience: GstClockTime = 120_000_000_000

    init(_ line: String) throws {
        var error: UnsafeMutablePointer<GError>?
        guard let parsed = gst_parse_launch_full(line, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error) else {
            throw Failure.cannot("\(takeText(error)); GStreamer's base and good plugins must be installed")
        }
        gst_object_ref_sink(parsed)
        pipeline = parsed
    }

    deinit {
        gst_element_set_state(pipeline, GST_STATE_NULL)
        gst_object_unref(pipeline)
    }

    /// Changes the state and waits until that is done.
    func set(_ state: GstState) throws {
        gst_element_set_state(pipeline, state)
        if gst_element_get_state(pipeline, nil, nil, LaunchedPipeline.patience) != GST_STATE_CHANGE_SUCCESS {
            try waitForEnd(atMost: 0)
        }
    }

    func waitForEnd(atMost time: GstClockTime = LaunchedPipeline.patience) throws {
        let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        let bus = gst_element_get_bus(pipeline)
        defer { gst_object_unref(bus) }
        guard let message = gst_bus_timed_pop_filtered(bus, time, ends) else {
            throw Failure.cannot("a pipeline is stuck")
        }
        defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
        guard message.pointee.type == GST_MESSAGE_ERROR else { return }
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        throw Failure.cannot("a pipeline failed: \(takeText(error))")
    }
}

/// The message of an error, which is freed.
private func takeText(_ error: UnsafeMutablePointer<GError>?) -> String {
    guard let error else { return "no reason is given" }
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
}
