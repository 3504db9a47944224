import CGStreamer
import CGStreamerShims

extension UnsafeMutablePointer<GstStructure> {
    package func set(_ name: String, to number: UInt64) {
        var value = GValue()
        g_value_init(&value, GSTSHIMS_TYPE_UINT64)
        g_value_set_uint64(&value, guint64(number))
        gst_structure_take_value(self, name, &value)
    }

    package func set(_ name: String, to number: Int64) {
        var value = GValue()
        g_value_init(&value, GSTSHIMS_TYPE_INT64)
        g_value_set_int64(&value, gint64(number))
        gst_structure_take_value(self, name, &value)
    }

    package func set(_ name: String, to text: String) {
        var value = GValue()
        g_value_init(&value, GSTSHIMS_TYPE_STRING)
        g_value_set_string(&value, text)
        gst_structure_take_value(self, name, &value)
    }

    package func set(_ name: String, to truth: Bool) {
        var value = GValue()
        g_value_init(&value, GSTSHIMS_TYPE_BOOLEAN)
        g_value_set_boolean(&value, gboolean(truth))
        gst_structure_take_value(self, name, &value)
    }

    package func set(_ name: String, toFraction numerator: Int, _ denominator: Int) {
        var value = GValue()
        g_value_init(&value, gst_fraction_get_type())
        gst_value_set_fraction(&value, gint(clamping: numerator), gint(clamping: denominator))
        gst_structure_take_value(self, name, &value)
    }

    package func set(_ name: String, to number: Double) {
        var value = GValue()
        g_value_init(&value, GSTSHIMS_TYPE_DOUBLE)
        g_value_set_double(&value, number)
        gst_structure_take_value(self, name, &value)
    }
}

/// A property that can only be read, and is made when it is: a structure with what the element has to tell.
package struct StructureProperty: Sendable {
    let name: String
    let blurb: String

    package init(_ name: String, _ blurb: String) {
        self.name = name
        self.blurb = blurb
    }

    var spec: UnsafeMutablePointer<GParamSpec>? {
        g_param_spec_boxed(name, title(name), blurb, gst_structure_get_type(), G_PARAM_READABLE)
    }
}
