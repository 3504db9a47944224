import CGStreamer
import DepthKernels
import GstBridge

/// Writes clouds to files, one at a time, on a thread of GStreamer's: a disk takes as long as it likes.
///
/// At most one file is in memory. The end of the stream waits for it, and so does stopping, so that a pipeline that ends
/// has written what it was asked for and said so.
final class CloudSnapshot: Sendable {
    private let isWriting = Monitor(false)

    /// Whether another file may be begun. Only the streaming thread begins them.
    var isFree: Bool { isWriting.withLock { !$0 } }

    func begin(_ file: PointCloudFile, to path: String, for element: DepthCloudElement) {
        isWriting.withLock { $0 = true }
        let work = Unmanaged.passRetained(Work(file: file, path: path, snapshot: self, element: element)).toOpaque()
        gst_element_call_async(
            element.instance,
            { _, data in
                if let data { Unmanaged<Work>.fromOpaque(data).takeUnretainedValue().run() }
            }, work, { data in if let data { Unmanaged<Work>.fromOpaque(data).release() } })
    }

    /// Waits until nothing is being written.
    func finish() { isWriting.wait(until: { !$0 }, then: { _ in }) }

    /// One file on its way. GStreamer keeps the element for as long.
    private final class Work {
        private let file: PointCloudFile
        private let path: String
        private let snapshot: CloudSnapshot
        private let element: DepthCloudElement

        init(file: PointCloudFile, path: String, snapshot: CloudSnapshot, element: DepthCloudElement) {
            self.file = file
            self.path = path
            self.snapshot = snapshot
            self.element = element
        }

        func run() {
            do throws(FileFault) {
                try writeWhole(file.bytes, to: path)
                element.tellOfSnapshot(path, points: file.points)
            } catch {
                element.warn(
                    ElementError(
                        .resource(GST_RESOURCE_ERROR_WRITE), "The snapshot was not written. \(error.reason)."))
            }
            snapshot.isWriting.withLock { $0 = false }
        }
    }
}
