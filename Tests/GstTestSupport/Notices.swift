package import CGStreamer
import GstBridge

/// Hears which properties of an element change, as an application does by the signal `notify`.
package final class Notices {
    private let element: UnsafeMutablePointer<GstElement>
    private let heard: Heard
    private let handler: gulong

    private final class Heard {
        let names = Monitor([String]())
        let then: (String) -> Void

        init(_ then: @escaping (String) -> Void) { self.then = then }
    }

    /// - Parameter then: called for each, on the thread that changes it.
    package init(_ element: UnsafeMutablePointer<GstElement>, then: @escaping (String) -> Void = { _ in }) {
        gst_object_ref(element)
        self.element = element
        heard = Heard(then)
        let callback: @convention(c) (gpointer?, UnsafeMutablePointer<GParamSpec>?, gpointer?) -> Void = {
            _, spec, data in
            guard let data, let name = g_param_spec_get_name(spec).map({ String(cString: $0) }) else { return }
            let heard = Unmanaged<Heard>.fromOpaque(data).takeUnretainedValue()
            heard.names.withLock { $0.append(name) }
            heard.then(name)
        }
        handler = g_signal_connect_data(
            element, "notify", unsafeBitCast(callback, to: GCallback.self), Unmanaged.passUnretained(heard).toOpaque(),
            nil, GConnectFlags(rawValue: 0))
    }

    /// The properties, in the order in which they changed.
    package var names: [String] { heard.names.withLock { $0 } }

    deinit {
        g_signal_handler_disconnect(element, handler)
        gst_object_unref(element)
    }
}
