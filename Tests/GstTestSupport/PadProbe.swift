package import CGStreamer

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
                if let pad, let info, let data { Unmanaged<Box>.fromOpaque(data).takeUnretainedValue().body(pad, info) }
                return GST_PAD_PROBE_OK
            }, Unmanaged.passRetained(Box(body)).toOpaque(),
            { data in if let data { Unmanaged<Box>.fromOpaque(data).release() } })
    }

    deinit {
        gst_pad_remove_probe(pad, identifier)
        gst_object_unref(pad)
    }
}

extension UnsafeMutablePointer<GstPadProbeInfo> {
    package var isOfBuffer: Bool { pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 }
}
