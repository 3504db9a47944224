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

    /// When a property may change, and whether a GstController may drive it.
    private enum Mutability {
        case playing, controllable, ready

        var flags: GParamFlags {
            let when: guint =
                switch self {
                case .playing: GSTSHIMS_PARAM_MUTABLE_PLAYING
                case .controllable: GSTSHIMS_PARAM_MUTABLE_PLAYING | GSTSHIMS_PARAM_CONTROLLABLE
                case .ready: GSTSHIMS_PARAM_MUTABLE_READY
                }
            return GParamFlags(rawValue: GSTSHIMS_PARAM_READWRITE.rawValue | .init(truncatingIfNeeded: when))
        }
    }

    package typealias Path<Value> = WritableKeyPath<Settings, Value> & Sendable

    package static func double(
        _ name: String, _ blurb: String, _ range: ClosedRange<Double>, _ path: any Path<Double>,
        onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_double(
                name, title(name), blurb, range.lowerBound, range.upperBound, $0[keyPath: path],
                onlyBeforeStart ? Mutability.ready.flags : Mutability.controllable.flags)
        } read: {
            g_value_set_double($1, $0[keyPath: path])
        } write: {
            // GObject lets pass what is out of range by less than 1e-90.
            $0[keyPath: path] = min(max(g_value_get_double($1), range.lowerBound), range.upperBound)
        }
    }

    package static func int(
        _ name: String, _ blurb: String, _ range: ClosedRange<Int>, _ path: any Path<Int>, onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_int(
                name, title(name), blurb, gint(clamping: range.lowerBound), gint(clamping: range.upperBound),
                gint(clamping: $0[keyPath: path]),
                onlyBeforeStart ? Mutability.ready.flags : Mutability.controllable.flags)
        } read: {
            g_value_set_int($1, gint(clamping: $0[keyPath: path]))
        } write: {
            $0[keyPath: path] = Int(g_value_get_int($1))
        }
    }

    package static func uint(
        _ name: String, _ blurb: String, _ range: ClosedRange<UInt32>, _ path: any Path<UInt32>,
        onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_uint(
                name, title(name), blurb, range.lowerBound, range.upperBound, $0[keyPath: path],
                onlyBeforeStart ? Mutability.ready.flags : Mutability.controllable.flags)
        } read: {
            g_value_set_uint($1, $0[keyPath: path])
        } write: {
            $0[keyPath: path] = g_value_get_uint($1)
        }
    }

    /// A span of time, in nanoseconds.
    package static func time(
        _ name: String, _ blurb: String, _ range: ClosedRange<GstClockTime>, _ path: any Path<GstClockTime>
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_uint64(
                name, title(name), blurb, range.lowerBound, range.upperBound, $0[keyPath: path],
                Mutability.controllable.flags)
        } read: {
            g_value_set_uint64($1, $0[keyPath: path])
        } write: {
            $0[keyPath: path] = g_value_get_uint64($1)
        }
    }

    package static func bool(
        _ name: String, _ blurb: String, _ path: any Path<Bool>, onlyBeforeStart: Bool = false
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_boolean(
                name, title(name), blurb, gboolean($0[keyPath: path]),
                onlyBeforeStart ? Mutability.ready.flags : Mutability.controllable.flags)
        } read: {
            g_value_set_boolean($1, gboolean($0[keyPath: path]))
        } write: {
            $0[keyPath: path] = g_value_get_boolean($1) != 0
        }
    }

    package static func string(_ name: String, _ blurb: String, _ path: any Path<String?>) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_string(name, title(name), blurb, $0[keyPath: path], Mutability.playing.flags)
        } read: {
            g_value_set_string($1, $0[keyPath: path])
        } write: {
            $0[keyPath: path] = g_value_get_string($1).map { String(cString: $0) }
        }
    }

    package static func choice<Choice: PropertyEnum>(
        _ name: String, _ blurb: String, _ path: any Path<Choice>, isControllable: Bool = true
    ) -> Self {
        Property(name: name, blurb: blurb) {
            g_param_spec_enum(
                name, title(name), blurb, Choice.gType, gint(truncatingIfNeeded: $0[keyPath: path].rawValue),
                isControllable ? Mutability.controllable.flags : Mutability.playing.flags)
        } read: {
            g_value_set_enum($1, gint(truncatingIfNeeded: $0[keyPath: path].rawValue))
        } write: {
            // GObject has refused numbers that are no member, so a nil cannot come from outside.
            if let choice = Choice(rawValue: Int(g_value_get_enum($1))) { $0[keyPath: path] = choice }
        }
    }

    private init(
        name: String, blurb: String, spec: @escaping @Sendable (Settings) -> UnsafeMutablePointer<GParamSpec>?,
        read: @escaping @Sendable (Settings, ValuePointer) -> Void,
        write: @escaping @Sendable (inout Settings, UnsafePointer<GValue>) -> Void
    ) {
        self.name = name
        self.blurb = blurb
        self.spec = spec
        self.read = read
        self.write = write
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
    /// Returns the name of the property that was set.
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
    package func update(_ change: (inout Settings) -> Void) {
        settings.withLock { change(&$0) }
    }

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
