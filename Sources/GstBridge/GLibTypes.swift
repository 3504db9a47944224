package import CGStreamer
import CGStreamerShims

package let noClockTime = GSTSHIMS_CLOCK_TIME_NONE

extension gboolean {
    package init(_ value: Bool) { self = value ? 1 : 0 }
}

/// Copies a C string that the callee allocated, and frees it.
package func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}

/// The name of a GstObject: an element, a pad, a factory.
package func objectName(_ object: UnsafeMutableRawPointer) -> String {
    takeString(gst_object_get_name(object.assumingMemoryBound(to: GstObject.self))) ?? ""
}

/// Copies the text of an error that the callee allocated, without the stop at its end, and frees the error.
package func takeText(_ error: UnsafeMutablePointer<GError>?) -> String? {
    guard let error else { return nil }
    defer { g_error_free(error) }
    var text = Substring(String(cString: error.pointee.message))
    while text.last == "." { text.removeLast() }
    return String(text)
}

/// Element `index` of a C array that Swift imports as a four-tuple; an index outside it reads the first.
func item<T>(_ index: Int, of tuple: (T, T, T, T)) -> T {
    switch index {
    case 1: tuple.1
    case 2: tuple.2
    case 3: tuple.3
    default: tuple.0
    }
}
