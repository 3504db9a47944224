package import CGStreamer
import GstBridge

/// The bytes of every buffer that reaches a sink.
package final class PassingFrames {
    private let probe: PadProbe
    private let frames: Monitor<[[UInt8]]>

    package init(_ sink: UnsafeMutablePointer<GstElement>) {
        let pad = staticPad("sink", of: sink)
        let frames = Monitor<[[UInt8]]>([])
        self.frames = frames
        probe = PadProbe(pad, GST_PAD_PROBE_TYPE_BUFFER) { _, info in
            guard let bytes = gst_pad_probe_info_get_buffer(info).map({ BufferRef(sharing: $0).bytes }) else { return }
            frames.withLock { $0.append(bytes) }
        }
    }

    /// The frames since the last call.
    package func take() -> [[UInt8]] {
        frames.withLock { frames in
            defer { frames = [] }
            return frames
        }
    }
}
