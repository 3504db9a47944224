package import CGStreamer

/// A poster of messages and log lines in the name of an element.
package protocol MessageSource {
    /// The element's C half.
    var instance: ElementPointer { get }
}

extension MessageSource {
    package var object: UnsafeMutablePointer<GstObject> { instance.cast(to: GstObject.self) }
}

/// A reference to an element for threads that are not its own: they post messages and log in its name, and touch nothing
/// else of it.
package final class ElementReference: MessageSource, @unchecked Sendable {  // guard: GStreamer locks what these use
    package let instance: ElementPointer

    init(_ element: some Element) {
        instance = element.instance
        gst_object_ref(instance)
    }

    deinit { gst_object_unref(instance) }
}
