package import CGStreamer
import GstBridge

/// A probe of a pad's data; removed together with this object.
package final class PadProbe {
    package typealias Body = @Sendable (UnsafeMutablePointer<GstPad>, UnsafeMutablePointer<GstPadProbeInfo>) -> Void

    private let pad: UnsafeMutablePointer<GstPad>
    private let identifier: gulong

    private final class Box: Sendable {
        let body: Body

        init(_ body: @escaping Body) { self.body = body }
    }

    /// - Parameter body: sees what passes, on the thread that sends it.
    package init(_ pad: UnsafeMutablePointer<GstPad>, _ types: GstPadProbeType..., body: @escaping Body) {
        gst_object_ref(pad)
        self.pad = pad
        identifier = gst_pad_add_probe(
            pad, GstPadProbeType(rawValue: types.reduce(0) { $0 | $1.rawValue }),
            { pad, info, data in
                guard let pad, let info, let data else { return GST_PAD_PROBE_OK }
                let buffer = info.pointee.data
                Unmanaged<Box>.fromOpaque(data).takeUnretainedValue().body(pad, info)
                return info.pointee.data == buffer ? GST_PAD_PROBE_OK : GST_PAD_PROBE_HANDLED
            }, Unmanaged.passRetained(Box(body)).toOpaque(),
            { data in if let data { Unmanaged<Box>.fromOpaque(data).release() } })
    }

    deinit {
        gst_pad_remove_probe(pad, identifier)
        gst_object_unref(pad)
    }
}

extension UnsafeMutablePointer<GstPadProbeInfo> {
    /// Takes the buffer away, and answers whoever pushed it.
    package func refuse(_ answer: GstFlowReturn) {
        if let buffer = gst_pad_probe_info_get_buffer(self) { _ = BufferRef(taking: buffer) }
        pointee.data = nil
        pointee.ABI.abi.flow_ret = answer
    }

    package var isOfBuffer: Bool { pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 }
}
