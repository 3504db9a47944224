import CGStreamer
import GstTestSupport
import Testing

extension TemporaryFolder {
    /// Writes a video of 64 by 48 pixels and ten frames a second, uncompressed, in Matroska.
    ///
    /// - Returns: its path.
    func video(_ name: String, frames: Int) throws -> String {
        let pipeline = Pipeline(
            "videotestsrc num-buffers=\(frames) ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 "
                + "! matroskamux ! filesink location=\(self[name])")
        try #require(pipeline.run() == .ended)
        return self[name]
    }
}

/// The error with which depthmatte does not start, for its background; nil where it starts.
func refusal(ofBackground path: String, maxPixels: Int? = nil) -> Bus.Report? {
    let element = makeElement("depthmatte", maxPixels.map { ["max-pixels": "\($0)"] } ?? [:])
    // As it stands: a launch line's quotes and escapes would be resolved.
    SettableProperty.setString(element, "background", path)
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
