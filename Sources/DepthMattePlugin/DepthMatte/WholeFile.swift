import CGStreamer
import CGStreamerShims
import GstBridge

/// The reason why a file could not be written, as a sentence for the user.
package struct FileFault: Error, Equatable {
    package let reason: String
}

/// Writes a file atomically: its name keeps the old content until all of the new content is on disk.
///
/// The bytes go to a temporary file in the same folder, whose name is seven bytes longer and which is removed on an error.
///
/// - Throws: also if the path exists and is not a regular file.
package func writeWhole(_ bytes: [UInt8], to path: String) throws(FileFault) {
    // GLib would replace a device or a FIFO.
    guard g_file_test(path, GSTSHIMS_FILE_TEST_EXISTS) == 0 || g_file_test(path, GSTSHIMS_FILE_TEST_IS_REGULAR) != 0
    else {
        throw FileFault(reason: "\(path): not a regular file")
    }
    for attempt in 1... {
        var error: UnsafeMutablePointer<GError>?
        let isWritten = bytes.withUnsafeBytes { bytes in
            g_file_set_contents_full(
                path, bytes.assumingMemoryBound(to: CChar.self).baseAddress, gssize(bytes.count),
                GSTSHIMS_FILE_SET_CONTENTS_SAFELY, 0o666, &error)
        }
        if isWritten != 0 { return }
        // A signal, as of a timer, interrupts calls for files on the network.
        let isInterrupted = g_error_matches(error, g_file_error_quark(), gint(G_FILE_ERROR_INTR.rawValue)) != 0
        let reason = takeText(error) ?? "\(path): it cannot be written"
        guard isInterrupted, attempt < mostAttempts else { throw FileFault(reason: reason) }
    }
}

private let mostAttempts = 10
