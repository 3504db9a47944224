import CGStreamer

/// A set of property values that belong together, under a name.
package struct Preset: Sendable {
    package let name: String
    /// Its purpose: the metadata `comment` of GstPreset.
    package let comment: String
    /// Properties and values in the form that launch lines have; nil is the property's default.
    package let values: [(property: String, value: String?)]

    package init(_ name: String, _ comment: String, _ values: [(property: String, value: String?)]) {
        self.name = name
        self.comment = comment
        self.values = values
    }
}

extension ElementDefinition {
    /// Makes instances of the type know its presets, beside those that users save in files.
    ///
    /// The presets are part of the library, so they are there wherever that is; one that a user saves under the same name
    /// comes before ours, and theirs alone can be renamed and deleted.
    func addPresets(to type: GType) {
        var info = GInterfaceInfo()
        info.interface_init = { table, _ in
            guard let table else { return }
            let presets = table.assumingMemoryBound(to: GstPresetInterface.self)
            presets.pointee.get_preset_names = presetNames
            presets.pointee.load_preset = { instance, name in
                guard let instance, let name else { return 0 }
                guard let own = ownPreset(instance, name), !fileNames(instance).contains(own.name) else {
                    return filePresets()?.load_preset?(instance, name) ?? 0
                }
                return gboolean(load(own, on: UnsafeMutableRawPointer(instance).cast(to: GObject.self)))
            }
            presets.pointee.get_meta = { instance, name, tag, value in
                guard let tag, let value else { return 0 }
                guard let own = ownPreset(instance, name), String(cString: tag) == "comment",
                    !fileNames(instance).contains(own.name)
                else { return filePresets()?.get_meta?(instance, name, tag, value) ?? 0 }
                value.pointee = g_strdup(own.comment)
                return 1
            }
        }
        g_type_add_interface_static(type, gst_preset_get_type(), &info)
    }
}

private typealias PresetPointer = OpaquePointer

/// GstPreset's own implementation, which uses files.
private func filePresets() -> GstPresetInterface? {
    guard let table = g_type_default_interface_ref(gst_preset_get_type()) else { return nil }
    defer { g_type_default_interface_unref(table) }
    return table.assumingMemoryBound(to: GstPresetInterface.self).pointee
}

/// The names of the presets in files.
private func fileNames(_ instance: PresetPointer?) -> [String] {
    guard let list = filePresets()?.get_preset_names?(instance) else { return [] }
    defer { g_strfreev(list) }
    return (0..<Int(g_strv_length(list))).compactMap { list[$0].map { String(cString: $0) } }
}

private func ownPreset(_ instance: PresetPointer?, _ name: UnsafePointer<CChar>?) -> Preset? {
    guard let instance, let name = name.map({ String(cString: $0) }) else { return nil }
    return presets(of: UnsafeMutableRawPointer(instance)).first { $0.name == name }
}

private let presetNames: @convention(c) (PresetPointer?) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = {
    instance in
    let own = instance.map { presets(of: UnsafeMutableRawPointer($0)).map(\.name) } ?? []
    let names = Set(own).union(fileNames(instance)).sorted()
    let list = g_malloc0(gsize(MemoryLayout<UnsafeMutablePointer<CChar>?>.stride * (names.count + 1)))
    guard let list = list?.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self) else { return nil }
    for (index, name) in names.enumerated() { list[index] = g_strdup(name) }
    return list
}

/// Sets everything that a preset says as one, so that no frame is made with a part of it. Where a value is none nothing is
/// changed, and this returns false.
private func load(_ preset: Preset, on object: ObjectPointer) -> Bool {
    let values = UnsafeMutableBufferPointer<GValue>.allocate(capacity: preset.values.count)
    values.initialize(repeating: GValue())
    defer {
        for index in values.indices where values[index].g_type != 0 { g_value_unset(&values[index]) }
        values.deallocate()
    }
    guard let element = swiftElement(object), let first = values.baseAddress else { return false }
    let objectClass = UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class)?
        .assumingMemoryBound(to: GObjectClass.self)
    for (index, (property, text)) in preset.values.enumerated() {
        guard let spec = g_object_class_find_property(objectClass, property) else { return false }
        g_value_init(&values[index], spec.pointee.value_type)
        guard let text else {
            g_param_value_set_default(spec, &values[index])
            continue
        }
        guard gst_value_deserialize_with_pspec(&values[index], text, spec) != 0 else { return false }
        g_param_value_validate(spec, &values[index])
    }
    element.properties.set(preset.values.enumerated().map { (name: $1.property, value: UnsafePointer(first + $0)) })
    g_object_freeze_notify(object)
    for (property, _) in preset.values {
        element.propertyChanged(property)
        g_object_notify(object, property)
    }
    g_object_thaw_notify(object)
    return true
}
