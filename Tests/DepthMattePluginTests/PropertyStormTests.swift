import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Properties that other threads change while frames flow.
@Suite struct PropertyStormTests {
    private let folder = TemporaryFolder()

    /// A picture of one colour, of the room's size.
    private func still(_ name: String, _ color: [UInt8]) -> String {
        folder.write(name, png(width: Room.shape.width, height: Room.shape.height) { _, _ in color })
    }

    @Test func `every property changed a thousand times a second loses no frame`() throws {
        let bench = Bench.room()
        let files = [still("one.png", [1, 2, 3]), still("two.png", [4, 5, 6]), folder["missing.png"], nil]
        let settable = SettableProperty.all(of: bench.element)
        #expect(settable.count > 25)
        var random = RepeatableRandomNumberGenerator(seed: 11)
        let element = bench.element
        let setter = Repeater(every: 1000) { round in
            settable[round % settable.count].set(on: element, &random, strings: files)
        }
        var starts: [GstClockTime] = []
        while setter.rounds < 1500 {
            let frame = try #require(bench.pair(starts.count, depth: Room.wall(700)), "frame \(starts.count)")
            starts.append(frame.timing.start)
        }
        #expect(setter.finish() >= 1500)
        #expect(starts == (0..<starts.count).map { time(ofFrame: $0) } && !starts.isEmpty)
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `a background swapped five hundred times shows in no frame with another`() throws {
        let (red, green, color): ([UInt8], [UInt8], [UInt8]) = ([250, 1, 2], [3, 240, 4], [5, 6, 230])
        let bench = Bench([], ["background-color": "0xff0506e6"])
        bench.video.start(Room.shape)
        let files = [still("red.png", red), still("green.png", green), folder["missing.png"], nil]
        let element = bench.element
        let setter = Repeater { round in
            // The last to be set is a good one, so that the end is known. Set again and again it would be read anew each
            // time, and with slow decoding never be ready.
            guard round <= 500 else { return g_usleep(1000) }
            SettableProperty.setString(element, "background", files[round < 500 ? round % 4 : 1])
        }
        var number = 0
        var seen: Set<[UInt8]> = []
        var isLast = false
        while !isLast, number < 200_000 {
            bench.video.push(Room.picture, at: time(ofFrame: number))
            let bytes = try #require(bench.output.next(), "frame \(number)").bytes
            number += 1
            let first = Array(bytes.prefix(3))
            try #require([red, green, color].contains(first), "\(first)")
            try #require(pixels(bytes, otherThan: first, Room.shape) == 0, "frame \(number) is mixed")
            seen.insert(first)
            isLast = setter.rounds > 500 && first == green
            if number.isMultiple(of: 100) { #expect(bench.bus.discardAll() == 0) }
        }
        setter.finish()
        #expect(isLast && seen.count > 1)
    }
}

/// A property that can be set, as its GParamSpec describes it.
private struct SettableProperty {
    private let spec: UnsafeMutablePointer<GParamSpec>
    private let name: String
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

    private init(_ spec: UnsafeMutablePointer<GParamSpec>) {
        self.spec = spec
        name = String(cString: g_param_spec_get_name(spec))
        kind = String(cString: g_type_name(g_type_fundamental(spec.pointee.value_type)))
    }

    /// Gives the property a value out of all that it takes, often one of the ends of the range.
    func set(
        on element: UnsafeMutablePointer<GstElement>, _ random: inout RepeatableRandomNumberGenerator,
        strings: [String?]
    ) {
        if kind == "gchararray" {
            let string = name == "background" ? strings.randomElement(using: &random) ?? nil : "face"
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
