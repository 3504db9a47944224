package import CGStreamer

/// The value of the property `stats`.
package final class Stats {
    private let structure: UnsafeMutablePointer<GstStructure>

    package convenience init(of bench: Bench) { self.init(of: bench.element) }

    package init(of element: UnsafeMutablePointer<GstElement>) {
        var value = GValue()
        g_value_init(&value, gst_structure_get_type())
        g_object_get_property(
            UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "stats", &value)
        guard let boxed = g_value_dup_boxed(&value) else { preconditionFailure("there are no stats") }
        g_value_unset(&value)
        structure = boxed.assumingMemoryBound(to: GstStructure.self)
    }

    deinit { gst_structure_free(structure) }

    package subscript(name: String) -> UInt64? {
        var number: guint64 = 0
        return gst_structure_get_uint64(structure, name, &number) != 0 ? UInt64(number) : nil
    }

    package func signed(_ name: String) -> Int64? {
        var number: gint64 = 0
        return gst_structure_get_int64(structure, name, &number) != 0 ? Int64(number) : nil
    }

    package func truth(_ name: String) -> Bool? {
        var truth: gboolean = 0
        return gst_structure_get_boolean(structure, name, &truth) != 0 ? truth != 0 : nil
    }

    package func real(_ name: String) -> Double? {
        var number = 0.0
        return gst_structure_get_double(structure, name, &number) != 0 ? (number * 1e6).rounded() / 1e6 : nil
    }
}
