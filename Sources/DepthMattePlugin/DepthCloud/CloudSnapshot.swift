import CGStreamer
import DepthKernels
import GstBridge

/// Writes clouds to files, one at a time, on a thread of its own, because a disk may be slow.
///
/// At most one file is in memory. EOS and stopping wait for it, so a pipeline that ends has written every requested
/// snapshot and posted its message, unless the disk is too slow: then the file gets its name when it is whole.
final class CloudSnapshot: Sendable {
    private let work = Monitor((isWriting: false, isStopping: false))

    /// True if no file is being written. Only the streaming thread starts one.
    var isFree: Bool { work.withLock { !$0.isWriting } }

    func setStopping(_ isStopping: Bool) { work.withLock { $0.isStopping = isStopping } }

    func begin(_ file: PointCloudFile, to path: String, for element: DepthCloudElement) {
        work.withLock { $0.isWriting = true }
        let isBegun = element.onThread("depthcloud-snapshot") { [self] element in
            write(file, to: path, for: element)
            work.withLock { $0.isWriting = false }
        }
        guard !isBegun else { return }
        work.withLock { $0.isWriting = false }
        element.warn(
            ElementError(
                .resource(GST_RESOURCE_ERROR_FAILED),
                "The snapshot \(path) was not written: no thread could be started."))
    }

    /// Waits until nothing is being written, for ten seconds at the end of the stream and two in a stop.
    ///
    /// - Returns: false where the disk takes longer.
    func finish() -> Bool {
        _ = work.wait(microseconds: 8_000_000) { !$0.isWriting || $0.isStopping }
        return work.wait(microseconds: 2_000_000) { !$0.isWriting }
    }

    private func write(_ file: PointCloudFile, to path: String, for element: ElementReference) {
        do throws(FileFault) {
            try writeWhole(file.bytes, to: path)
            announce(file, at: path, for: element)
        } catch {
            element.warn(
                ElementError(.resource(GST_RESOURCE_ERROR_WRITE), "The snapshot was not written: \(error.reason)."))
        }
    }

    /// Posts the element message "snapshot".
    private func announce(_ file: PointCloudFile, at path: String, for element: ElementReference) {
        DepthCloudElement.log(GST_LEVEL_DEBUG, element) { "\(file.points) points are in \(path)" }
        guard let structure = gst_structure_new_empty("snapshot") else { return }
        structure.set("location", to: path)
        structure.set("points", to: UInt64(file.points))
        element.post(gst_message_new_element(element.object, structure))
    }
}
