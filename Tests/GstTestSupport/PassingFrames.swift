package import CGStreamer
import GstBridge

/// The bytes of every buffer that reaches a sink.
package final class PassingFrames {
    private let pad: UnsafeMutablePointer<GstPad>
    private let probe: gulong
    private let queue: OpaquePointer

    package init(_ sink: UnsafeMutablePointer<GstElement>) {
        guard let pad = gst_element_get_static_pad(sink, "sink"), let queue = g_async_queue_new() else {
            preconditionFailure("a sink has a sink pad")
        }
        self.pad = pad
        self.queue = queue
        probe = gst_pad_add_probe(
            pad, GST_PAD_PROBE_TYPE_BUFFER,
            { _, info, queue in
                guard let buffer = gst_pad_probe_info_get_buffer(info), let queue else { return GST_PAD_PROBE_OK }
                g_async_queue_push(OpaquePointer(queue), BufferRef(sharing: buffer).surrender())
                return GST_PAD_PROBE_OK
            }, UnsafeMutableRawPointer(queue), nil)
    }

    deinit {
        gst_pad_remove_probe(pad, probe)
        _ = take()
        gst_object_unref(pad)
        g_async_queue_unref(queue)
    }

    /// What came since the last time.
    package func take() -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let next = g_async_queue_try_pop(queue) {
            frames.append(BufferRef(taking: next.assumingMemoryBound(to: GstBuffer.self)).bytes)
        }
        return frames
    }
}
