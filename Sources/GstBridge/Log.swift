import CGStreamer

/// A GStreamer debug category. Messages are closures, run only when somebody listens at that level.
package struct LogCategory: @unchecked Sendable {  // guard: GStreamer never frees a category, and locks its threshold
    private let category: UnsafeMutablePointer<GstDebugCategory>

    package init(name: String, description: String) {
        category = _gst_debug_category_new(name, 0, description)
    }

    package func error(_ element: any Element, _ message: () -> String, function: StaticString = #function) {
        log(GST_LEVEL_ERROR, element, function, message)
    }

    package func warning(_ element: any Element, _ message: () -> String, function: StaticString = #function) {
        log(GST_LEVEL_WARNING, element, function, message)
    }

    package func info(_ element: any Element, _ message: () -> String, function: StaticString = #function) {
        log(GST_LEVEL_INFO, element, function, message)
    }

    package func debug(_ element: any Element, _ message: () -> String, function: StaticString = #function) {
        log(GST_LEVEL_DEBUG, element, function, message)
    }

    /// For lines that come once a frame.
    package func trace(_ element: any Element, _ message: () -> String, function: StaticString = #function) {
        log(GST_LEVEL_LOG, element, function, message)
    }

    private func log(_ level: GstDebugLevel, _ element: any Element, _ function: StaticString, _ message: () -> String)
    {
        guard level.rawValue <= gst_debug_category_get_threshold(category).rawValue else { return }
        function.withUTF8Buffer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                gst_debug_log_literal(
                    category, level, "", name.baseAddress, 0,
                    UnsafeMutableRawPointer(element.instance).assumingMemoryBound(to: GObject.self), message())
            }
        }
    }
}
