package import CGStreamer
import GstBridge

/// A pipeline from a launch line, taken down with the last reference.
package final class Pipeline {
    package let pointer: UnsafeMutablePointer<GstElement>
    package let bus: Bus

    package init(_ line: String) {
        loadElements()
        var error: UnsafeMutablePointer<GError>?
        guard let parsed = gst_parse_launch(line, &error), error == nil else {
            preconditionFailure("bad launch line: \(error.map { String(cString: $0.pointee.message) } ?? line)")
        }
        pointer = parsed
        gst_object_ref_sink(parsed)
        bus = Bus(of: parsed)
    }

    deinit {
        gst_element_set_state(pointer, GST_STATE_NULL)
        gst_object_unref(pointer)
    }

    @discardableResult
    package func set(_ state: GstState) -> GstStateChangeReturn { gst_element_set_state(pointer, state) }

    /// Waits until the last state change is done, for a bounded while.
    package func reached() -> GstStateChangeReturn { gst_element_get_state(pointer, nil, nil, patience * 1000) }

    /// Plays to the end.
    ///
    /// - Parameter patience: seconds after which it counts as stuck.
    package func run(patience: Int = 20) -> Bus.Outcome {
        set(GST_STATE_PLAYING)
        return bus.waitForEnd(seconds: patience)
    }

    package func seek(to time: GstClockTime) -> Bool {
        let flags = GstSeekFlags(rawValue: GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
        return gst_element_seek_simple(pointer, GST_FORMAT_TIME, flags, gint64(time)) != 0
    }

    /// The element of that name, lent for as long as the pipeline lives.
    package subscript(name: String) -> UnsafeMutablePointer<GstElement> {
        guard
            let found = gst_bin_get_by_name(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GstBin.self), name)
        else { preconditionFailure("no element \(name)") }
        gst_object_unref(found)
        return found
    }

    /// Pulls every buffer out of the app sink of that name, until its stream ends.
    package func frames(of name: String) -> [Frame] {
        var frames: [Frame] = []
        while let frame = nextFrame(of: name) { frames.append(frame) }
        return frames
    }

    package func nextFrame(of name: String) -> Frame? {
        let sink = UnsafeMutableRawPointer(self[name]).assumingMemoryBound(to: GstAppSink.self)
        guard let sample = gst_app_sink_try_pull_sample(sink, patience * 1000) else { return nil }
        defer { gst_sample_unref(sample) }
        guard let buffer = gst_sample_get_buffer(sample) else { return nil }
        return Frame(buffer: BufferRef(sharing: buffer), caps: gst_sample_get_caps(sample)?.text ?? "")
    }

    package typealias Frame = Recorder.Frame
}
