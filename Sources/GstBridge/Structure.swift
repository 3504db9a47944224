import CGStreamer
import CGStreamerShims

extension StructurePointer {
    package func set(_ name: String, to number: UInt64) {
        take(name, GSTSHIMS_TYPE_UINT64) { g_value_set_uint64($0, guint64(number)) }
    }

    package func set(_ name: String, to number: Int64) {
        take(name, GSTSHIMS_TYPE_INT64) { g_value_set_int64($0, gint64(number)) }
    }

    package func set(_ name: String, toInt number: Int) {
        take(name, GSTSHIMS_TYPE_INT) { g_value_set_int($0, gint(clamping: number)) }
    }

    package func set(_ name: String, to text: String) {
        take(name, GSTSHIMS_TYPE_STRING) { g_value_set_string($0, text) }
    }

    package func set(_ name: String, to truth: Bool) {
        take(name, GSTSHIMS_TYPE_BOOLEAN) { g_value_set_boolean($0, gboolean(truth)) }
    }

    package func set(_ name: String, toFraction numerator: Int, _ denominator: Int) {
        take(name, gst_fraction_get_type()) {
            gst_value_set_fraction($0, gint(clamping: numerator), gint(clamping: denominator))
        }
    }

    package func set(_ name: String, to number: Double) {
        take(name, GSTSHIMS_TYPE_DOUBLE) { g_value_set_double($0, number) }
    }

    private func take(_ name: String, _ type: GType, _ fill: (ValuePointer) -> Void) {
        var value = newValue(type, fill)
        gst_structure_take_value(self, name, &value)
    }
}

/// A value of a type, filled by the caller, who is to unset it or to hand it on.
func newValue(_ type: GType, _ fill: (ValuePointer) -> Void) -> GValue {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    return value
}
