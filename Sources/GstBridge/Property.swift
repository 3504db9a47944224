package import CGStreamer
import CGStreamerShims
import Synchronization

/// An enumeration that is the type of a property. Its raw values are the numbers that C and Python see.
package protocol PropertyEnum: RawRepresentable<Int>, CaseIterable, Sendable {
    /// The GType's name, in GStreamer's CamelCase.
    static var typeName: String { get }
    /// The short name that launch lines use: the case's own, in words parted by hyphens. To rename a case is to change it
    /// for users.
    var nick: String { get }
    /// Its effect, as `gst-inspect-1.0` shows it.
    var blurb: String { get }
}

extension PropertyEnum {
    package var nick: String {
        String(describing: self).reduce(into: "") { nick, letter in
            nick += letter.isUppercase ? "-\(letter.lowercased())" : String(letter)
        }
    }

    /// The registered GType; registering happens the first time.
    static var gType: GType {
        let known = g_type_from_name(typeName)
        guard known == 0 else { return known }
        // GLib keeps the table and its strings for the life of the process.
        let values = UnsafeMutablePointer<GEnumValue>.allocate(capacity: allCases.count + 1)
        for (index, value) in allCases.enumerated() {
            values[index] = GEnumValue(
                value: CInt(truncatingIfNeeded: value.rawValue), value_name: UnsafePointer(g_strdup(value.blurb)),
                value_nick: UnsafePointer(g_strdup(value.nick)))
        }
        values[allCases.count] = GEnumValue(value: 0, value_name: nil, value_nick: nil)
        let type = g_enum_register_static(typeName, values)
        gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(rawValue: 0))
        return type
    }
}

/// A value that a property may leave to others.
package protocol AutoValue: CaseIterable, Equatable, Sendable {
    static var typeName: String { get }
    /// The blurb of `auto`: by whom the value is then decided.
    static var autoBlurb: String { get }
    var nick: String { get }
    var blurb: String { get }
}

/// A value, or `auto`, with the number 0.
package struct Auto<Value: AutoValue>: PropertyEnum {
    /// Nil for `auto`.
    package let value: Value?

    package init(_ value: Value? = nil) { self.value = value }

    package init?(rawValue: Int) {
        guard Auto.allCases.indices.contains(rawValue) else { return nil }
        self = Auto.allCases[rawValue]
    }

    package static var allCases: [Auto] { [Auto()] + Value.allCases.map { Auto($0) } }
    package static var typeName: String { Value.typeName + "Choice" }
    package var rawValue: Int { Auto.allCases.firstIndex { $0.value == value } ?? 0 }
    package var nick: String { value?.nick ?? "auto" }
    package var blurb: String { value?.blurb ?? Value.autoBlurb }
}

/// One property of an element: all that installing, reading and writing it needs.
///
/// The default is never typed here: it is what a fresh `Settings` holds. Every property may be set in every state and
/// takes effect on the next frame, unless its blurb says otherwise. Values that are only read are fields of a
/// `StructureProperty`.
package struct Property<Settings: Sendable>: Sendable {
    package let name: String
    package let blurb: String
    let spec: @Sendable (Settings) -> UnsafeMutablePointer<GParamSpec>?
    let read: @Sendable (Settings, ValuePointer) -> Void
    let write: @Sendable (inout Settings, UnsafePointer<GValue>) -> Void

    package typealias Path<Value> = WritableKeyPath<Settings, Value> & Sendable

    /// - Parameter onlyBeforeStart: true for a property that is read at the start; no GstController drives it.
    package static func double(
        _ name: String, _ blurb: String, _ range: ClosedRange<Double>, _ path: any Path<Double>,
        onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name, blurb, path, onlyBeforeStart ? ready : controllable) {
            g_param_spec_double($0, $1, $2, range.lowerBound, range.upperBound, $3, $4)
        } read: {
            g_value_set_double($0, $1)
        } write: {
            // GObject lets pass what is out of range by less than 1e-90.
            min(max(g_value_get_double($0), range.lowerBound), range.upperBound)
        }
    }

    package static func int(_ name: String, _ blurb: String, _ range: ClosedRange<Int>, _ path: any Path<Int>) -> Self {
        Property(name, blurb, path, controllable) {
            g_param_spec_int(
                $0, $1, $2, gint(clamping: range.lowerBound), gint(clamping: range.upperBound), gint(clamping: $3), $4)
        } read: {
            g_value_set_int($0, gint(clamping: $1))
        } write: {
            Int(g_value_get_int($0))
        }
    }

    package static func uint(
        _ name: String, _ blurb: String, _ range: ClosedRange<UInt32>, _ path: any Path<UInt32>
    ) -> Self {
        Property(name, blurb, path, controllable) {
            g_param_spec_uint($0, $1, $2, range.lowerBound, range.upperBound, $3, $4)
        } read: {
            g_value_set_uint($0, $1)
        } write: {
            g_value_get_uint($0)
        }
    }

    /// A span of time, in nanoseconds.
    package static func time(
        _ name: String, _ blurb: String, _ range: ClosedRange<GstClockTime>, _ path: any Path<GstClockTime>
    ) -> Self {
        Property(name, blurb, path, controllable) {
            g_param_spec_uint64($0, $1, $2, range.lowerBound, range.upperBound, $3, $4)
        } read: {
            g_value_set_uint64($0, $1)
        } write: {
            g_value_get_uint64($0)
        }
    }

    /// A difference of times, in nanoseconds. No GstController drives it, as a change may make the pipeline ask for latencies.
    package static func timeDifference(
        _ name: String, _ blurb: String, _ range: ClosedRange<Int64>, _ path: any Path<Int64>
    ) -> Self {
        Property(name, blurb, path, GSTSHIMS_PARAM_MUTABLE_PLAYING) {
            g_param_spec_int64($0, $1, $2, gint64(range.lowerBound), gint64(range.upperBound), gint64($3), $4)
        } read: {
            g_value_set_int64($0, gint64($1))
        } write: {
            Int64(g_value_get_int64($0))
        }
    }

    package static func bool(
        _ name: String, _ blurb: String, _ path: any Path<Bool>, onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name, blurb, path, onlyBeforeStart ? ready : controllable) {
            g_param_spec_boolean($0, $1, $2, gboolean($3), $4)
        } read: {
            g_value_set_boolean($0, gboolean($1))
        } write: {
            g_value_get_boolean($0) != 0
        }
    }

    package static func string(_ name: String, _ blurb: String, _ path: any Path<String?>) -> Self {
        Property(name, blurb, path, GSTSHIMS_PARAM_MUTABLE_PLAYING) {
            g_param_spec_string($0, $1, $2, $3, $4)
        } read: {
            g_value_set_string($0, $1)
        } write: {
            // No string is a value of its own: a plain nil would leave the old one.
            .some(g_value_get_string($0).map { String(cString: $0) })
        }
    }

    package static func choice<Choice: PropertyEnum>(
        _ name: String, _ blurb: String, _ path: any Path<Choice>, isControllable: Bool = true
    ) -> Self {
        Property(name, blurb, path, isControllable ? controllable : GSTSHIMS_PARAM_MUTABLE_PLAYING) {
            g_param_spec_enum($0, $1, $2, Choice.gType, gint(truncatingIfNeeded: $3.rawValue), $4)
        } read: {
            g_value_set_enum($0, gint(truncatingIfNeeded: $1.rawValue))
        } write: {
            // GObject has refused numbers that are no member, so a nil cannot come from outside.
            Choice(rawValue: Int(g_value_get_enum($0)))
        }
    }

    /// The flags of a property that a GstController may drive, and of one that may only change before the start.
    private static var controllable: guint { GSTSHIMS_PARAM_MUTABLE_PLAYING | GSTSHIMS_PARAM_CONTROLLABLE }
    private static var ready: guint { GSTSHIMS_PARAM_MUTABLE_READY }

    /// - Parameters:
    ///   - flags: when the property may change.
    ///   - spec: gets the name, title, blurb, default and flags of the property.
    ///   - write: nil leaves the value as it is.
    private init<Value>(
        _ name: String, _ blurb: String, _ path: any Path<Value>, _ flags: guint,
        spec:
            @escaping @Sendable (
                _ name: String, _ title: String, _ blurb: String, Value, GParamFlags
            ) -> UnsafeMutablePointer<GParamSpec>?,
        read: @escaping @Sendable (ValuePointer, Value) -> Void,
        write: @escaping @Sendable (UnsafePointer<GValue>) -> Value?
    ) {
        self.name = name
        self.blurb = blurb
        let flags = GParamFlags(rawValue: GSTSHIMS_PARAM_READWRITE.rawValue | .init(truncatingIfNeeded: flags))
        self.spec = { spec(name, title(name), blurb, $0[keyPath: path], flags) }
        self.read = { read($1, $0[keyPath: path]) }
        self.write = { if let value = write($1) { $0[keyPath: path] = value } }
    }
}

/// A read-only property of type GstStructure, built each time it is read.
package struct StructureProperty: Sendable {
    let name: String
    let blurb: String

    package init(_ name: String, _ blurb: String) {
        self.name = name
        self.blurb = blurb
    }

    var spec: UnsafeMutablePointer<GParamSpec>? {
        g_param_spec_boxed(name, title(name), blurb, gst_structure_get_type(), GSTSHIMS_PARAM_READABLE)
    }
}

/// A property's name as people read it: "blur-radius" is "Blur radius".
func title(_ name: String) -> String {
    let words = String(name.map { $0 == "-" ? " " : $0 })
    return words.prefix(1).uppercased() + words.dropFirst()
}

/// A property table as the C side needs it, without the settings' type or the element.
package protocol PropertyAccess: AnyObject, Sendable {
    /// Returns false where the table has no such property.
    func get(_ id: Int, into value: ValuePointer) -> Bool
    /// Returns the name of the property that was set; nil where the table has no such property.
    func set(_ id: Int, from value: UnsafePointer<GValue>) -> String?
    /// Sets several as one: nobody sees some of them without the others. Names that the table has not are passed over.
    func set(_ values: [(name: String, value: UnsafePointer<GValue>)])
}

/// The settings of one element instance behind their lock, and the table that names them.
package final class Properties<Settings: Sendable>: PropertyAccess {
    private let table: [Property<Settings>]
    private let settings: Mutex<Settings>

    package init(_ table: [Property<Settings>], initial: Settings) {
        self.table = table
        settings = Mutex(initial)
    }

    /// A copy that belongs together: no setter runs between two of its fields.
    package var current: Settings { settings.withLock { $0 } }

    /// Changes several settings as one, on the element's own account: nobody is notified.
    package func update(_ change: (inout Settings) -> Void) { settings.withLock { change(&$0) } }

    package func get(_ id: Int, into value: ValuePointer) -> Bool {
        guard table.indices.contains(id) else { return false }
        table[id].read(current, value)
        return true
    }

    package func set(_ id: Int, from value: UnsafePointer<GValue>) -> String? {
        guard table.indices.contains(id) else { return nil }
        settings.withLock { table[id].write(&$0, value) }
        return table[id].name
    }

    package func set(_ values: [(name: String, value: UnsafePointer<GValue>)]) {
        settings.withLock { settings in
            for (name, value) in values { table.first { $0.name == name }?.write(&settings, value) }
        }
    }
}
