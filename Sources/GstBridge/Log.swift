package import CGStreamer

/// A GStreamer debug category. Messages are closures, run only when somebody listens at that level.
package struct LogCategory: @unchecked Sendable {  // guard: GStreamer never frees a category, and locks its threshold
    private let category: UnsafeMutablePointer<GstDebugCategory>

    /// Makes the category known to GStreamer.
    package init(name: String, description: String) { category = _gst_debug_category_new(name, 0, description) }

    /// Logs a message in the name of an element; GST_LEVEL_LOG is for what comes once a frame.
    package func callAsFunction(
        _ level: GstDebugLevel, _ element: any MessageSource, _ message: () -> String, file: StaticString = #fileID,
        function: StaticString = #function, line: Int = #line
    ) {
        guard level.rawValue <= gst_debug_category_get_threshold(category).rawValue else { return }
        gst_debug_log_literal(
            category, level, file.characters, function.characters, gint(clamping: line),
            element.instance.cast(to: GObject.self), message())
    }
}
