import CGStreamer
import GstTestSupport
import Testing

extension TemporaryFolder {
    /// Writes a video of 64 by 48 pixels and ten frames a second, uncompressed, in Matroska.
    ///
    /// - Returns: its path.
    func video(_ name: String, frames: Int) throws -> String {
        try make(
            name,
            "videotestsrc num-buffers=\(frames) ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 "
                + "! matroskamux")
    }

    /// Writes a video of ten frames a second whose pictures change their size, which the file says is 64 by 48.
    ///
    /// - Parameter pattern: of `videotestsrc`.
    func changingVideo(
        _ name: String, pattern: String, _ parts: [(frames: Int, width: Int, height: Int)]
    ) throws -> String {
        let sources = parts.map { frames, width, height in
            "videotestsrc num-buffers=\(frames) pattern=\(pattern) "
                + "! video/x-raw,width=\(width),height=\(height),framerate=10/1 ! jpegenc ! parts. "
        }
        return try make(
            name, sources.joined() + "concat name=parts ! capssetter caps=image/jpeg,width=64,height=48 ! matroskamux")
    }

    /// Writes what the elements of a launch line make.
    ///
    /// - Returns: its path.
    func make(_ name: String, _ line: String) throws -> String {
        try #require(Pipeline("\(line) ! filesink location=\(self[name])").run() == .ended)
        return self[name]
    }
}

/// The error with which depthmatte does not start, for its background; nil where it starts.
func refusal(ofBackground path: String, maxPixels: Int? = nil) -> Bus.Report? {
    // As it stands: a launch line's quotes and escapes would be resolved.
    refusal(maxPixels.map { ["max-pixels": "\($0)"] } ?? [:]) { SettableProperty.setString($0, "background", path) }
}

/// The error with which an element does not start; nil where it starts.
///
/// - Parameter prepare: sets it up further.
func refusal(
    of factory: String = "depthmatte", _ properties: [String: String],
    _ prepare: (UnsafeMutablePointer<GstElement>) -> Void = { _ in }
) -> Bus.Report? {
    let element = makeElement(factory, properties)
    prepare(element)
    let bus = Bus()
    gst_element_set_bus(element, bus.pointer)
    defer {
        gst_element_set_state(element, GST_STATE_NULL)
        gst_element_set_bus(element, nil)
        gst_object_unref(element)
    }
    let isRefused = gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE
    let errors = bus.errors()
    #expect(errors.count == (isRefused ? 1 : 0), "\(errors)")
    return errors.first
}
