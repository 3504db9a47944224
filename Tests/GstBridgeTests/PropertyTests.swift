import CGStreamer
import CGStreamerShims
import GstBridge
import GstTestSupport
import Testing

/// The property tables against live objects.
@Suite struct PropertyTests {
    static let factories = [
        "depthmatte", "depthcolorize", "depthcloud", "depthtestsrc", "depthcamsrc", "depthalign", "depthpack",
        "depthunpack",
    ]

    /// The repository's folder.
    private let root = #filePath.split(separator: "/Tests/")[0]

    /// Runs for every property that the element's own class adds and that can be set.
    private func forEachProperty(
        of factory: String,
        _ body: (UnsafeMutablePointer<GObject>, _ name: String, UnsafeMutablePointer<GParamSpec>) throws -> Void
    ) rethrows {
        let element = makeElement(factory)
        defer {
            gst_element_set_state(element, GST_STATE_NULL)
            gst_object_unref(element)
        }
        let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
        let type = object.pointee.g_type_instance.g_class.pointee.g_type
        var count: guint = 0
        guard
            let specs = g_object_class_list_properties(
                UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class).assumingMemoryBound(
                    to: GObjectClass.self),
                &count)
        else { return }
        defer { g_free(specs) }
        for index in 0..<Int(count) {
            guard let spec = specs[index], spec.pointee.owner_type == type,
                spec.pointee.flags.rawValue & G_PARAM_WRITABLE.rawValue != 0
            else { continue }
            try body(object, String(cString: spec.pointee.name), spec)
        }
    }

    private func text(_ object: UnsafeMutablePointer<GObject>, _ name: String) -> String? {
        var value = GValue()
        g_object_get_property(object, name, &value)
        defer { g_value_unset(&value) }
        return takeString(gst_value_serialize(&value))
    }

    @Test(arguments: factories)
    func `a number that GObject takes for one in range is moved into the range`(factory: String) {
        forEachProperty(of: factory) { object, name, spec in
            guard spec.pointee.value_type == GSTSHIMS_TYPE_DOUBLE else { return }
            var value = GValue()
            g_value_init(&value, GSTSHIMS_TYPE_DOUBLE)
            g_value_set_double(&value, -1e-175)
            if g_param_value_is_valid(spec, &value) != 0 { g_object_set_property(object, name, &value) }
            g_object_get_property(object, name, &value)
            #expect(g_param_value_validate(spec, &value) == 0, "\(name)")
        }
    }

    @Test(arguments: factories)
    func `every default is in range and what a new object has`(factory: String) {
        var count = 0
        forEachProperty(of: factory) { object, name, spec in
            var initial = GValue()
            g_value_init(&initial, spec.pointee.value_type)
            g_param_value_set_default(spec, &initial)
            #expect(g_param_value_validate(spec, &initial) == 0, "\(name): the default is out of range")
            #expect(text(object, name) == takeString(gst_value_serialize(&initial)), "\(name)")
            g_value_unset(&initial)
            count += 1
        }
        #expect(count >= 3)
    }

    @Test(arguments: factories)
    func `every property can be read in every state, and its value written back`(factory: String) {
        forEachProperty(of: factory) { object, name, _ in
            let before = text(object, name)
            let element = UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self)
            for state in [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_READY] {
                gst_element_set_state(element, state)
                var value = GValue()
                g_object_get_property(object, name, &value)
                g_object_set_property(object, name, &value)
                g_value_unset(&value)
                #expect(text(object, name) == before, "\(name) in \(state)")
            }
        }
    }

    @Test(arguments: factories)
    func `a text that was set can be taken back`(factory: String) {
        forEachProperty(of: factory) { object, name, spec in
            guard spec.pointee.value_type == GSTSHIMS_TYPE_STRING else { return }
            for written in ["text", nil] {
                var (value, read) = (GValue(), GValue())
                g_value_init(&value, GSTSHIMS_TYPE_STRING)
                g_value_set_string(&value, written)
                g_object_set_property(object, name, &value)
                g_object_get_property(object, name, &read)
                #expect(g_value_get_string(&read).map { String(cString: $0) } == written, "\(name)")
                g_value_unset(&value)
                g_value_unset(&read)
            }
        }
    }

    @Test(arguments: factories)
    func `every property is described`(factory: String) {
        forEachProperty(of: factory) { _, name, spec in
            let (nick, blurb) = (
                String(cString: g_param_spec_get_nick(spec)), String(cString: g_param_spec_get_blurb(spec))
            )
            #expect(!nick.isEmpty && nick != name, "\(name)")
            #expect(blurb.count > 10 && blurb != nick && !blurb.hasSuffix("."), "\(name): \(blurb)")
            let flags = spec.pointee.flags.rawValue
            #expect(flags & G_PARAM_READWRITE.rawValue == G_PARAM_READWRITE.rawValue, "\(name)")
            #expect(
                guint(bitPattern: flags) & (GSTSHIMS_PARAM_MUTABLE_PLAYING | GSTSHIMS_PARAM_MUTABLE_READY) != 0,
                "\(name): says when it may change")
        }
    }

    @Test(arguments: factories)
    func `the element says since when it is there, and what each pad is for`(factory: String) throws {
        loadElements()
        let found = try #require(gst_element_factory_find(factory))
        defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
        func metadata(_ key: String) -> String {
            gst_element_factory_get_metadata(found, key).map { String(cString: $0) } ?? ""
        }
        let page = metadata(GST_ELEMENT_METADATA_DOC_URI).split(separator: "/blob/HEAD/")
        #expect(page.first == "https://example.org")
        #expect(page.count == 2 && g_file_test("\(root)/\(page[1])", GSTSHIMS_FILE_TEST_IS_REGULAR) != 0, "\(page)")
        #expect(metadata("since").wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
        var (pads, notes) = (0, Set<String>())
        var templates = gst_element_factory_get_static_pad_templates(found)
        while let template = templates {
            let pad = template.pointee.data.assumingMemoryBound(to: GstStaticPadTemplate.self).pointee
            let note = metadata("pad-\(String(cString: pad.name_template))")
            #expect(note.count > 20 && !note.hasSuffix("."), "\(note)")
            notes.insert(note)
            pads += 1
            templates = UnsafePointer(template.pointee.next)
        }
        #expect(pads > 1 && notes.count == pads)
    }

    @Test(arguments: factories)
    func `every choice has nicks of its own, each described`(factory: String) {
        forEachProperty(of: factory) { object, name, spec in
            guard g_type_fundamental(spec.pointee.value_type) == g_type_from_name("GEnum"),
                let raw = g_type_class_ref(spec.pointee.value_type)
            else { return }
            defer { g_type_class_unref(raw) }
            var flags = GstPluginAPIFlags(rawValue: 0)
            #expect(gst_type_is_plugin_api(spec.pointee.value_type, &flags) != 0, "\(name): is in the documentation")
            let choices = raw.assumingMemoryBound(to: GEnumClass.self).pointee
            let values = (0..<Int(choices.n_values)).map { choices.values[$0] }
            let nicks = values.map { String(cString: $0.value_nick) }
            let blurbs = values.map { String(cString: $0.value_name) }
            #expect(Set(nicks).count == nicks.count, "\(name): \(nicks)")
            #expect(
                Set(blurbs).count == blurbs.count && blurbs.allSatisfy { $0.contains(where: \.isLowercase) }, "\(name)")
            #expect(Set(values.map(\.value)).count == values.count, "\(name)")
            for nick in nicks {
                gst_util_set_object_arg(object, name, nick)
                #expect(text(object, name) == nick, "\(name)")
            }
        }
    }

    @Test(arguments: factories)
    func `the limits of every number can be set, and nothing beyond`(factory: String) {
        forEachProperty(of: factory) { object, name, spec in
            guard let value = Limits(spec) else { return }
            for limit in [value.lowest, value.highest] {
                gst_util_set_object_arg(object, name, limit)
                #expect(text(object, name).flatMap(Double.init) == Double(limit), "\(name) = \(limit)")
            }
        }
    }

    @Test(arguments: factories)
    func `a change is notified once`(factory: String) {
        forEachProperty(of: factory) { object, name, spec in
            let notices = Notices(UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self))
            var value = GValue()
            g_object_get_property(object, name, &value)
            g_object_set_property(object, name, &value)
            g_value_unset(&value)
            #expect(notices.names.count { $0 == name } == 1, "\(name)")
        }
    }

    /// The limits of a numeric property, as text.
    private struct Limits {
        let lowest: String
        let highest: String

        init?(_ spec: UnsafeMutablePointer<GParamSpec>) {
            let raw = UnsafeMutableRawPointer(spec)
            switch spec.pointee.value_type {
            case GSTSHIMS_TYPE_DOUBLE:
                let own = raw.assumingMemoryBound(to: GParamSpecDouble.self).pointee
                (lowest, highest) = ("\(own.minimum)", "\(own.maximum)")
            case GSTSHIMS_TYPE_INT:
                let own = raw.assumingMemoryBound(to: GParamSpecInt.self).pointee
                (lowest, highest) = ("\(own.minimum)", "\(own.maximum)")
            case GSTSHIMS_TYPE_UINT:
                let own = raw.assumingMemoryBound(to: GParamSpecUInt.self).pointee
                (lowest, highest) = ("\(own.minimum)", "\(own.maximum)")
            default: return nil
            }
        }
    }
}
