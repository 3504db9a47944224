package import CGStreamer
import CGStreamerShims

package typealias BufferPointer = UnsafeMutablePointer<GstBuffer>
package typealias CapsPointer = UnsafeMutablePointer<GstCaps>
package typealias ElementPointer = UnsafeMutablePointer<GstElement>
package typealias EventPointer = UnsafeMutablePointer<GstEvent>
package typealias ObjectPointer = UnsafeMutablePointer<GObject>
package typealias PadPointer = UnsafeMutablePointer<GstPad>
package typealias PoolPointer = UnsafeMutablePointer<GstBufferPool>
package typealias QueryPointer = UnsafeMutablePointer<GstQuery>
package typealias StructurePointer = UnsafeMutablePointer<GstStructure>
package typealias TemplatePointer = UnsafeMutablePointer<GstPadTemplate>
package typealias ValuePointer = UnsafeMutablePointer<GValue>

/// Takes an event to whoever handles it next, and its ownership with it; false where it is refused.
package typealias EventHandler = (EventPointer) -> Bool

extension UnsafeMutablePointer {
    /// The same object as an instance of a class that it is derived from, or that is derived from it.
    package func cast<Other>(to type: Other.Type) -> UnsafeMutablePointer<Other> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: type)
    }
}

extension UnsafeMutableRawPointer {
    /// The same object, whose class is known.
    package func cast<Other>(to type: Other.Type) -> UnsafeMutablePointer<Other> { assumingMemoryBound(to: type) }
}

package let noClockTime = GSTSHIMS_CLOCK_TIME_NONE

extension gboolean {
    package init(_ value: Bool) { self = value ? 1 : 0 }
}

// MARK: Swift objects that C keeps

/// A Swift object as C keeps it, until `releaseOwned` or `taken`.
package func owned(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

/// The Swift object that C keeps.
package func lent<Object: AnyObject>(_ data: UnsafeMutableRawPointer?, as: Object.Type = Object.self) -> Object? {
    data.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}

/// The Swift object that C gives back.
package func taken<Object: AnyObject>(_ data: UnsafeMutableRawPointer?, as: Object.Type = Object.self) -> Object? {
    data.map { Unmanaged<Object>.fromOpaque($0).takeRetainedValue() }
}

/// A value as a Swift object, for C to keep.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// C needs the Swift object no longer.
package let releaseOwned: GDestroyNotify = { data in if let data { Unmanaged<AnyObject>.fromOpaque(data).release() } }

// MARK: Texts

/// Copies a C string that the callee allocated, and frees it.
package func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}

/// A SEGMENT event of everything, in time.
package func newSegmentInTime() -> EventPointer? {
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    return gst_event_new_segment(&segment)
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
