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

/// A pipeline from a launch line, taken down with the last reference.
final class LaunchedPipeline {
    private let pipeline: UnsafeMutablePointer<GstElement>
    private let bus: UnsafeMutablePointer<GstBus>

    init(_ line: String) throws {
        var error: UnsafeMutablePointer<GError>?
        let parsed = gst_parse_launch(line, &error)
        defer { if let error { g_error_free(error) } }
        if let parsed { gst_object_ref_sink(parsed) }
        guard let parsed, error == nil, let bus = gst_element_get_bus(parsed) else {
            if let parsed { gst_object_unref(parsed) }
            let reason = error.map { String(cString: $0.pointee.message) } ?? "no pipeline"
            throw Failure.cannot("\(reason); GStreamer's base and good plugins must be installed")
        }
        pipeline = parsed
        self.bus = bus
    }

    deinit {
        gst_element_set_state(pipeline, GST_STATE_NULL)
        gst_object_unref(bus)
        gst_object_unref(pipeline)
    }

    /// Changes the state and waits until that is done.
    func set(_ state: GstState) throws {
        gst_element_set_state(pipeline, state)
        if gst_element_get_state(pipeline, nil, nil, LaunchedPipeline.patience) != GST_STATE_CHANGE_SUCCESS {
            throw Failure.cannot("a pipeline does not start: \(nextError() ?? "it is stuck")")
        }
    }

    func waitForEnd() throws {
        let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        guard let message = gst_bus_timed_pop_filtered(bus, LaunchedPipeline.patience, ends) else {
            throw Failure.cannot("a pipeline does not end")
        }
        defer { release(message) }
        if let text = LaunchedPipeline.errorText(message) { throw Failure.cannot("a pipeline failed: \(text)") }
    }

    private static let patience: GstClockTime = 120_000_000_000

    private func nextError() -> String? {
        guard let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else { return nil }
        defer { release(message) }
        return LaunchedPipeline.errorText(message)
    }

    private static func errorText(_ message: UnsafeMutablePointer<GstMessage>) -> String? {
        guard message.pointee.type == GST_MESSAGE_ERROR else { return nil }
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        defer { if let error { g_error_free(error) } }
        return error.map { String(cString: $0.pointee.message) } ?? "an error"
    }

    private func release(_ message: UnsafeMutablePointer<GstMessage>) {
        gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self))
    }
}
