import CGStreamer
import GstTestSupport
import TestSupport
import Testing

/// A property that can be set, as its GParamSpec describes it.
struct SettableProperty {
    private let spec: UnsafeMutablePointer<GParamSpec>
    let name: String
    private let kind: String

    /// Those that are the element's own.
    static func all(of element: UnsafeMutablePointer<GstElement>) -> [SettableProperty] {
        let type = element.pointee.object.object.g_type_instance.g_class.pointee.g_type
        let table = UnsafeMutableRawPointer(element.pointee.object.object.g_type_instance.g_class)
            .assumingMemoryBound(to: GObjectClass.self)
        var count: guint = 0
        guard let list = g_object_class_list_properties(table, &count) else { return [] }
        defer { g_free(list) }
        return (0..<Int(count)).compactMap { index in
            guard let spec = list[index], spec.pointee.owner_type == type,
                spec.pointee.flags.rawValue & G_PARAM_WRITABLE.rawValue != 0
            else { return nil }
            return SettableProperty(spec)
        }
    }

    /// True where every value leaves the element sending a frame for each one that comes, without those after it.
    var keepsEveryFrame: Bool { !["on-missing-depth", "max-pixels", "depth-ts-offset"].contains(name) }

    /// True where the value is a real number.
    var isReal: Bool { kind == "gdouble" }

    /// Sets a real number as it is, as C code does: GObject checks the range, which NaN is not out of.
    func set(_ number: Double, on element: UnsafeMutablePointer<GstElement>) {
        var value = GValue()
        g_value_init(&value, g_type_from_name("gdouble"))
        g_value_set_double(&value, number)
        g_object_set_property(SettableProperty.object(element), name, &value)
        g_value_unset(&value)
    }

    /// The real number that the property has.
    func real(of element: UnsafeMutablePointer<GstElement>) -> Double { number(name, of: element) }

    private init(_ spec: UnsafeMutablePointer<GParamSpec>) {
        self.spec = spec
        name = String(cString: g_param_spec_get_name(spec))
        kind = String(cString: g_type_name(g_type_fundamental(spec.pointee.value_type)))
    }

    /// Gives the property a value out of all that it takes, often one of the ends of the range.
    func set(
        on element: UnsafeMutablePointer<GstElement>, _ random: inout RepeatableRandomNumberGenerator,
        strings: [String?] = [nil]
    ) {
        if kind == "gchararray" {
            let string: String? =
                switch name {
                case "background", "room-picture": strings.randomElement(using: &random) ?? nil
                case "location": "/dev/null"  // which is not written to
                default: "face"
                }
            return SettableProperty.setString(element, name, string)
        }
        var value = GValue()
        g_value_init(&value, spec.pointee.value_type)
        let share = [0, 1, Double.random(in: 0...1, using: &random)].randomElement(using: &random) ?? 0
        let raw = UnsafeMutableRawPointer(spec)
        switch kind {
        case "gdouble":
            let range = raw.assumingMemoryBound(to: GParamSpecDouble.self).pointee
            g_value_set_double(&value, range.minimum + share * (range.maximum - range.minimum))
        case "gint":
            let range = raw.assumingMemoryBound(to: GParamSpecInt.self).pointee
            g_value_set_int(&value, gint((Double(range.minimum) * (1 - share) + Double(range.maximum) * share)))
        case "guint":
            let range = raw.assumingMemoryBound(to: GParamSpecUInt.self).pointee
            g_value_set_uint(&value, guint((Double(range.minimum) * (1 - share) + Double(range.maximum) * share)))
        case "guint64":
            let range = raw.assumingMemoryBound(to: GParamSpecUInt64.self).pointee
            g_value_set_uint64(&value, share == 1 ? range.maximum : range.minimum + guint64(share * 1e9))
        case "gint64":
            let range = raw.assumingMemoryBound(to: GParamSpecInt64.self).pointee
            g_value_set_int64(&value, gint64(Double(range.minimum) * (1 - share) + Double(range.maximum) * share))
        case "gboolean": g_value_set_boolean(&value, share > 0.5 ? 1 : 0)
        case "GEnum":
            let choices = raw.assumingMemoryBound(to: GParamSpecEnum.self).pointee.enum_class.pointee
            let index = Int.random(in: 0..<Int(choices.n_values), using: &random)
            g_value_set_enum(&value, choices.values[index].value)
        default: Issue.record("\(name) is a \(kind), which this test cannot set")
        }
        g_object_set_property(SettableProperty.object(element), name, &value)
        g_value_unset(&value)
    }

    static func setString(_ element: UnsafeMutablePointer<GstElement>, _ name: String, _ string: String?) {
        var value = GValue()
        g_value_init(&value, g_type_from_name("gchararray"))
        g_value_set_string(&value, string)
        g_object_set_property(object(element), name, &value)
        g_value_unset(&value)
    }

    private static func object(_ element: UnsafeMutablePointer<GstElement>) -> UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    }
}
