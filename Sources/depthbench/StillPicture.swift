import CGStreamer
import GstBridge

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A picture file for the background, which goes with the last reference.
final class StillPicture {
    let path: String

    init() throws {
        var name: UnsafeMutablePointer<CChar>?
        let file = g_file_open_tmp("depthbench-XXXXXX.png", &name, nil)
        guard file >= 0, let path = takeString(name) else {
            throw Failure.cannot("there is no room for a temporary file")
        }
        close(file)
        self.path = path
        let line = """
            videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format=RGB,width=480,height=270
            ! pngenc ! filesink name=file
            """
        guard let pipeline = gst_parse_launch(line, nil) else { throw StillPicture.failure }
        gst_object_ref_sink(pipeline)
        defer {
            gst_element_set_state(pipeline, GST_STATE_NULL)
            gst_object_unref(pipeline)
        }
        guard
            let sink = gst_bin_get_by_name(
                UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self), "file"),
            let bus = gst_element_get_bus(pipeline)
        else { throw StillPicture.failure }
        defer {
            gst_object_unref(sink)
            gst_object_unref(bus)
        }
        gst_util_set_object_arg(UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GObject.self), "location", path)
        gst_element_set_state(pipeline, GST_STATE_PLAYING)
        let ends = GstMessageType(rawValue: GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
        guard let message = gst_bus_timed_pop_filtered(bus, 20_000_000_000, ends) else { throw StillPicture.failure }
        defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
        if message.pointee.type != GST_MESSAGE_EOS { throw StillPicture.failure }
    }

    deinit { unlink(path) }

    private static var failure: Failure {
        .cannot("no picture for the background can be made; GStreamer's base and good plugins must be installed")
    }
}
