import CGStreamer
import CGStreamerShims
import DepthCameras
import GstBridge

/// A copy of a file of the network, in the folder for temporary files. It is removed with the object.
///
/// The file is downloaded whole before it is read: it passes the checks of a local file, and the network holds up no frame.
final class RemoteFile {
    let path: String

    /// The largest file that is downloaded, in bytes.
    private static let mostBytes = 268_435_456
    /// Timeout for the download, in seconds.
    private static let timeToDownload = 10
    /// Nanoseconds of one wait for the end of the download: short, so that an interruption is noticed soon.
    private static let waitStep: GstClockTime = 20_000_000

    /// True for the URIs that can be downloaded.
    static func isRemote(_ location: String) -> Bool {
        ["http://", "https://"].contains { location.lowercased().hasPrefix($0) }
    }

    /// Downloads a file; the calling thread waits.
    ///
    /// - Parameter isCancelled: set by another thread to stop.
    /// - Throws: an error that names the URI and the reason.
    init(_ uri: String, isCancelled: CancelFlag) throws(ElementError) {
        path = try newTemporaryFile(for: uri)
        let deadline = Deadline(seconds: RemoteFile.timeToDownload, isCancelled)
        do throws(ElementError) {
            let download = try Download(of: uri, to: path)
            while try !download.hasEnded(within: RemoteFile.waitStep) {
                if download.bytes > RemoteFile.mostBytes { break }
                if deadline.isOver {
                    throw unreadable(uri, "it was not downloaded in \(RemoteFile.timeToDownload) seconds")
                }
            }
            guard download.bytes <= RemoteFile.mostBytes else {
                throw unreadable(uri, "it has more than \(RemoteFile.mostBytes) bytes")
            }
        } catch {
            removeFile(path)
            throw error
        }
    }

    deinit { removeFile(path) }
}

/// A pipeline that writes what it gets from a URI to a file. It stops with the object.
private final class Download {
    private let uri: String
    private let pipeline: ElementPointer

    init(of uri: String, to path: String) throws(ElementError) {
        self.uri = uri
        var error: UnsafeMutablePointer<GError>?
        guard let source = gst_element_make_from_uri(GST_URI_SRC, uri, nil, &error) else {
            throw unreadable(uri, takeText(error) ?? "GStreamer has no element that reads it")
        }
        guard let sink = gst_element_factory_make("filesink", nil), let pipeline = gst_pipeline_new(nil) else {
            gst_object_unref(source)
            throw ElementError(.core(GST_CORE_ERROR_MISSING_PLUGIN), "GStreamer's filesink is missing.")
        }
        gst_object_ref_sink(pipeline)
        self.pipeline = pipeline
        setLocation(of: sink, path)
        let bin = pipeline.cast(to: GstBin.self)
        gst_bin_add(bin, source)
        gst_bin_add(bin, sink)
        gst_element_link(source, sink)
        gst_element_set_state(pipeline, GST_STATE_PLAYING)
    }

    deinit {
        gst_element_set_state(pipeline, GST_STATE_NULL)
        gst_object_unref(pipeline)
    }

    /// How many bytes were written.
    var bytes: Int {
        var bytes: gint64 = 0
        return gst_element_query_position(pipeline, GST_FORMAT_BYTES, &bytes) != 0 ? Int(bytes) : 0
    }

    /// Waits for the end of the file.
    ///
    /// - Parameter wait: nanoseconds.
    func hasEnded(within wait: GstClockTime) throws(ElementError) -> Bool {
        let types = GstMessageType(rawValue: GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_EOS.rawValue)
        guard let bus = gst_element_get_bus(pipeline) else { return true }
        defer { gst_object_unref(UnsafeMutableRawPointer(bus)) }
        guard let message = gst_bus_timed_pop_filtered(bus, wait, types) else { return false }
        defer {
            gst_mini_object_unref(message.cast(to: GstMiniObject.self))
        }
        if message.pointee.type == GST_MESSAGE_EOS { return true }
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        throw unreadable(uri, takeText(error) ?? "it cannot be downloaded")
    }
}

private func newTemporaryFile(for uri: String) throws(ElementError) -> String {
    var error: UnsafeMutablePointer<GError>?
    var name: UnsafeMutablePointer<CChar>?
    let file = g_file_open_tmp("depthmatte-XXXXXX", &name, &error)
    guard file >= 0, let path = takeString(name) else {
        throw unreadable(uri, takeText(error) ?? "no temporary file can be made")
    }
    closeFile(file)
    return path
}
