import CGStreamer
import CGStreamerShims
import Synchronization

/// A device of a provider, as applications see it.
package struct DeviceDescription: Equatable, Sendable {
    /// For users.
    package var name: String
    /// Caps of all its streams, in their string form.
    package var caps: String
    /// Facts for applications, by name.
    package var facts: [String: String]
    /// Properties of the element that reads it, by name.
    package var settings: [String: String]

    package init(name: String, caps: String, facts: [String: String], settings: [String: String]) {
        self.name = name
        self.caps = caps
        self.facts = facts
        self.settings = settings
    }
}

/// The definition of a device provider class: it lists the devices that an element can read.
///
/// While an application watches, the list is made every two seconds and compared, on a thread of its own.
package struct DeviceProviderDefinition: Sendable {
    package let typeName: String
    package let deviceTypeName: String
    package let factory: String
    package let longName: String
    /// As `Source/Video`; applications filter by it.
    package let klass: String
    package let description: String
    /// The factory of the element that reads the devices.
    package let element: String
    /// The devices that are there now; may block.
    package let list: @Sendable () -> [DeviceDescription]

    package init(
        typeName: String, deviceTypeName: String, factory: String, longName: String, klass: String,
        description: String, element: String, list: @escaping @Sendable () -> [DeviceDescription]
    ) {
        self.typeName = typeName
        self.deviceTypeName = deviceTypeName
        self.factory = factory
        self.longName = longName
        self.klass = klass
        self.description = description
        self.element = element
        self.list = list
    }

    /// Registers the class with GObject and its factory with the plugin.
    package func register(in plugin: OpaquePointer?) -> Bool {
        let deviceType = registeredType(deviceTypeName, gst_device_get_type(), initializeDeviceClass)
        // It lives as long as the type: for ever.
        let watcher = Unmanaged.passRetained(Watcher(self, deviceType)).toOpaque()
        let type = registeredType(typeName, gst_device_provider_get_type(), initializeProviderClass, watcher)
        g_type_set_qdata(type, watcherKey, watcher)
        return gst_device_provider_register(plugin, factory, GST_RANK_PRIMARY.rawValue, type) != 0
    }
}

// MARK: - Watching

private typealias Provider = UnsafeMutablePointer<GstDeviceProvider>
private typealias Device = UnsafeMutablePointer<GstDevice>

/// Lists the devices of one provider class, and watches them for its instances.
private final class Watcher: Sendable {
    let definition: DeviceProviderDefinition
    private let deviceType: GType
    private let shared = Monitor(Shared())

    private struct Shared {
        /// Changes with each start and stop: a thread of an earlier start ends.
        var generation = 0
        /// The list that is being made, for those who wait for it.
        var isListing = false
        var devices: [DeviceDescription] = []
    }

    /// Microseconds between two lists while an application watches.
    private static let interval: Int64 = 2_000_000
    /// Microseconds that an application waits for a list: a library that hangs must not take it along.
    private static let patience: Int64 = 5_000_000

    init(_ definition: DeviceProviderDefinition, _ deviceType: GType) {
        self.definition = definition
        self.deviceType = deviceType
    }

    /// The devices that are there, as far as the libraries answer in time.
    func probe() -> [DeviceDescription] {
        let isMine = shared.withLock { shared in
            defer { shared.isListing = true }
            return !shared.isListing
        }
        if isMine && !onThread("device list", { [self] in list() }) { shared.withLock { $0.isListing = false } }
        _ = shared.wait(microseconds: Watcher.patience) { !$0.isListing }
        return shared.withLock { $0.devices }
    }

    private func list() {
        let devices = definition.list()
        shared.withLock {
            $0.devices = devices
            $0.isListing = false
        }
    }

    /// Adds the devices to a provider, and then those that come; removes those that go. Returns at once.
    func start(_ provider: Provider) -> Bool {
        let generation = shared.withLock { shared in
            shared.generation &+= 1
            return shared.generation
        }
        let reference = ProviderReference(provider)
        var known: [(description: DeviceDescription, device: DeviceReference)] = []
        update(&known, of: reference)
        return onThread("device watch") { [self, known] in
            var known = known
            while !shared.wait(microseconds: Watcher.interval, until: { $0.generation != generation }) {
                update(&known, of: reference)
            }
        }
    }

    func stop() { shared.withLock { $0.generation &+= 1 } }

    private func update(
        _ known: inout [(description: DeviceDescription, device: DeviceReference)], of provider: ProviderReference
    ) {
        let devices = probe()
        for (description, device) in known where !devices.contains(description) {
            gst_device_provider_device_remove(provider.pointer, device.pointer)
        }
        known.removeAll { !devices.contains($0.description) }
        for description in devices where !known.contains(where: { $0.description == description }) {
            guard let device = device(description) else { continue }
            known.append((description, DeviceReference(device)))
            gst_device_provider_device_add(provider.pointer, device)
        }
    }

    /// A GstDevice with a floating reference.
    func device(_ description: DeviceDescription) -> Device? {
        guard let caps = gst_caps_from_string(description.caps), let facts = gst_structure_new_empty("properties")
        else { return nil }
        defer {
            gst_caps_unref(caps)
            gst_structure_free(facts)
        }
        for (name, value) in description.facts.sorted(by: { $0.key < $1.key }) { facts.set(name, to: value) }
        var values = [GValue](repeating: GValue(), count: 4)
        g_value_init(&values[0], GSTSHIMS_TYPE_STRING)
        g_value_set_string(&values[0], description.name)
        g_value_init(&values[1], GSTSHIMS_TYPE_STRING)
        g_value_set_string(&values[1], definition.klass)
        g_value_init(&values[2], gst_caps_get_type())
        g_value_set_boxed(&values[2], caps)
        g_value_init(&values[3], gst_structure_get_type())
        g_value_set_boxed(&values[3], facts)
        defer { for index in values.indices { g_value_unset(&values[index]) } }
        let names: [StaticString] = ["display-name", "device-class", "caps", "properties"]
        var keys: [UnsafePointer<CChar>?] = names.map { $0.characters }
        guard let object = g_object_new_with_properties(deviceType, guint(values.count), &keys, values) else {
            return nil
        }
        let maker = ElementMaker(factory: definition.element, settings: description.settings)
        g_object_set_qdata_full(object, makerKey, Unmanaged.passRetained(maker).toOpaque()) { data in
            if let data { Unmanaged<ElementMaker>.fromOpaque(data).release() }
        }
        return UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstDevice.self)
    }
}

/// Makes the element that reads one device.
private final class ElementMaker: Sendable {
    private let factory: String
    private let settings: [String: String]

    init(factory: String, settings: [String: String]) {
        self.factory = factory
        self.settings = settings
    }

    func make(_ name: UnsafePointer<CChar>?) -> UnsafeMutablePointer<GstElement>? {
        guard let element = gst_element_factory_make(factory, name) else { return nil }
        configure(element)
        return element
    }

    func configure(_ element: UnsafeMutablePointer<GstElement>) {
        let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
        for (name, value) in settings { gst_util_set_object_arg(object, name, value) }
    }
}

private final class ProviderReference: @unchecked Sendable {  // guard: GStreamer locks what is called on it
    let pointer: Provider

    init(_ pointer: Provider) {
        self.pointer = pointer
        gst_object_ref(pointer)
    }

    deinit { gst_object_unref(pointer) }
}

private final class DeviceReference: @unchecked Sendable {  // guard: GStreamer locks what is called on it
    let pointer: Device

    /// - Parameter pointer: with a floating reference, which stays for the provider that takes it.
    init(_ pointer: Device) {
        self.pointer = pointer
        g_object_ref(pointer)
    }

    deinit { g_object_unref(pointer) }
}

// MARK: - The C side

private let watcherKey = g_quark_from_static_string("depthmatte-device-watcher")
private let makerKey = g_quark_from_static_string("depthmatte-element-maker")

private func registeredType(
    _ name: String, _ parent: GType, _ initialize: GClassInitFunc?, _ data: UnsafeRawPointer? = nil
) -> GType {
    let known = g_type_from_name(name)
    guard known == 0 else { return known }
    var query = GTypeQuery()
    g_type_query(parent, &query)
    var info = GTypeInfo()
    info.class_size = guint16(truncatingIfNeeded: query.class_size)
    info.instance_size = guint16(truncatingIfNeeded: query.instance_size)
    info.class_init = initialize
    info.class_data = data
    return g_type_register_static(parent, name, &info, GTypeFlags(rawValue: 0))
}

private func watcher(_ provider: Provider?) -> Watcher? {
    guard let provider,
        let type = UnsafeMutableRawPointer(provider).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class?
            .pointee
            .g_type,
        let data = g_type_get_qdata(type, watcherKey)
    else { return nil }
    return Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue()
}

private let initializeProviderClass: GClassInitFunc = { classPointer, data in
    guard let providerClass = classPointer?.assumingMemoryBound(to: GstDeviceProviderClass.self), let data else {
        return
    }
    let definition = Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue().definition
    gst_device_provider_class_set_metadata(
        providerClass, definition.longName, definition.klass, definition.description, "The gst-depthmatte authors")
    providerClass.pointee.probe = { provider in
        guard let watcher = watcher(provider) else { return nil }
        var list: UnsafeMutablePointer<GList>?
        for description in watcher.probe() {
            if let device = watcher.device(description) { list = g_list_append(list, device) }
        }
        return list
    }
    providerClass.pointee.start = { provider in
        guard let provider, let watcher = watcher(provider) else { return 0 }
        return gboolean(watcher.start(provider))
    }
    providerClass.pointee.stop = { provider in watcher(provider)?.stop() }
}

private let initializeDeviceClass: GClassInitFunc = { classPointer, _ in
    guard let deviceClass = classPointer?.assumingMemoryBound(to: GstDeviceClass.self) else { return }
    deviceClass.pointee.create_element = { device, name in elementMaker(device)?.make(name) }
    deviceClass.pointee.reconfigure_element = { device, element in
        guard let element, let maker = elementMaker(device) else { return 0 }
        maker.configure(element)
        return 1
    }
}

private func elementMaker(_ device: Device?) -> ElementMaker? {
    guard let device,
        let data = g_object_get_qdata(
            UnsafeMutableRawPointer(device).assumingMemoryBound(to: GObject.self), makerKey)
    else { return nil }
    return Unmanaged<ElementMaker>.fromOpaque(data).takeUnretainedValue()
}
