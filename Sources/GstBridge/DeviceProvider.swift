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
        let deviceType = registeredType(deviceTypeName, gst_device_get_type(), initializeDeviceClass, nil, nil)
        // It lives as long as the type: for ever.
        let watcher = owned(Watcher(self, deviceType))
        let type = registeredType(typeName, gst_device_provider_get_type(), initializeProviderClass, nil, watcher)
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
        /// Those of the providers that were started, by their addresses.
        var watches: [UInt: Watch] = [:]
        /// True while a list is being made, for those who wait for it.
        var isListing = false
        var devices: [DeviceDescription] = []
    }

    /// Microseconds between two lists while an application watches.
    private static let interval: Int64 = 2_000_000
    /// Microseconds that an application waits for a list that it asks for: a library that hangs must not take it along.
    private static let patience: Int64 = 5_000_000
    /// Microseconds that a start waits for the first list. Applications ask for the devices right after it, as
    /// `gst-device-monitor-1.0` does, and then get those that were told by then.
    private static let startPatience: Int64 = 800_000

    init(_ definition: DeviceProviderDefinition, _ deviceType: GType) {
        self.definition = definition
        self.deviceType = deviceType
    }

    /// Lists the devices; returns the last list where the libraries do not answer in time.
    func probe() -> [DeviceDescription] { devices { onThread("device list", $0) } }

    /// Makes a new list, unless another thread is at it, and waits for it.
    ///
    /// - Parameter run: does work that may hang; false where it cannot.
    private func devices(by run: (@escaping @Sendable () -> Void) -> Bool) -> [DeviceDescription] {
        let isMine = shared.withLock { shared in
            defer { shared.isListing = true }
            return !shared.isListing
        }
        let list = { @Sendable [self] in
            let devices = definition.list()
            shared.withLock { ($0.devices, $0.isListing) = (devices, false) }
        }
        if isMine && !run(list) { shared.withLock { $0.isListing = false } }
        _ = shared.wait(microseconds: Watcher.patience) { !$0.isListing }
        return shared.withLock { $0.devices }
    }

    /// Has a thread add the devices to a provider, and then those that come, and remove those that go.
    func start(_ provider: Provider) -> Bool {
        let watch = Watch(provider)
        let address = UInt(bitPattern: provider)
        shared.withLock { $0.watches[address] = watch }
        let isRunning = onThread("device watch") { [self] in
            var known: Watch.Devices = []
            repeat {
                let listed = devices { list in
                    list()
                    return true
                }
                watch.update(&known, to: listed, make: device)
            } while !watch.phase.wait(microseconds: Watcher.interval) { $0 == .over }
        }
        if !isRunning { stop(provider) }
        _ = watch.phase.wait(microseconds: Watcher.startPatience) { $0 != .starting }
        return isRunning
    }

    func stop(_ provider: Provider) {
        let address = UInt(bitPattern: provider)
        shared.withLock { $0.watches.removeValue(forKey: address) }?.end()
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
        var values = [
            newValue(GSTSHIMS_TYPE_STRING) { g_value_set_string($0, description.name) },
            newValue(GSTSHIMS_TYPE_STRING) { g_value_set_string($0, definition.klass) },
            newValue(gst_caps_get_type()) { g_value_set_boxed($0, caps) },
            newValue(gst_structure_get_type()) { g_value_set_boxed($0, facts) },
        ]
        defer { for index in values.indices { g_value_unset(&values[index]) } }
        let names: [StaticString] = ["display-name", "device-class", "caps", "properties"]
        var keys: [UnsafePointer<CChar>?] = names.map { $0.characters }
        guard let object = g_object_new_with_properties(deviceType, guint(values.count), &keys, values) else {
            return nil
        }
        let maker = ElementMaker(factory: definition.element, settings: description.settings)
        g_object_set_qdata_full(object, makerKey, owned(Box(maker)), releaseOwned)
        return object.cast(to: GstDevice.self)
    }
}

/// Makes the element that reads one device.
private struct ElementMaker {
    let factory: String
    let settings: [String: String]

    func make(_ name: UnsafePointer<CChar>?) -> ElementPointer? {
        guard let element = gst_element_factory_make(factory, name) else { return nil }
        configure(element)
        return element
    }

    func configure(_ element: ElementPointer) {
        for (name, value) in settings { gst_util_set_object_arg(element.cast(to: GObject.self), name, value) }
    }
}

/// Tells a provider of devices, from a start to its stop.
private final class Watch: @unchecked Sendable {  // guard: GStreamer locks what is called on the provider
    typealias Devices = [(description: DeviceDescription, device: DeviceReference)]

    enum Phase { case starting, listed, over }

    let phase = Monitor(Phase.starting)
    private let provider: Provider
    /// Held while the provider is told, so that nothing comes once `end` returned. Recursive, as a handler of a message
    /// may stop the provider.
    private let telling = RecursiveLock()

    init(_ provider: Provider) {
        self.provider = provider
        gst_object_ref(provider)
    }

    deinit { gst_object_unref(provider) }

    private var isOver: Bool { phase.withLock { $0 == .over } }

    func end() {
        phase.withLock { $0 = .over }
        telling.withLock {}
    }

    /// Tells the provider what has come and gone.
    ///
    /// - Parameters:
    ///   - known: the devices that it was told of.
    ///   - make: makes a device with a floating reference.
    func update(_ known: inout Devices, to devices: [DeviceDescription], make: (DeviceDescription) -> Device?) {
        telling.withLock {
            for (description, device) in known where !devices.contains(description) && !isOver {
                gst_device_provider_device_remove(provider, device.pointer)
            }
            known.removeAll { !devices.contains($0.description) }
            for description in devices where !known.contains(where: { $0.description == description }) && !isOver {
                guard let device = make(description) else { continue }
                known.append((description, DeviceReference(device)))
                gst_device_provider_device_add(provider, device)
            }
        }
        phase.withLock { if $0 == .starting { $0 = .listed } }
    }
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

private func watcher(_ provider: Provider?) -> Watcher? {
    provider.flatMap { lent(typeData(watcherKey, of: UnsafeMutableRawPointer($0))) }
}

private let initializeProviderClass: GClassInitFunc = { classPointer, data in
    guard let providerClass = classPointer?.cast(to: GstDeviceProviderClass.self),
        let definition = lent(data, as: Watcher.self)?.definition
    else { return }
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
    providerClass.pointee.stop = { provider in
        if let provider { watcher(provider)?.stop(provider) }
    }
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
    guard let device else { return nil }
    return lent(g_object_get_qdata(device.cast(to: GObject.self), makerKey), as: Box<ElementMaker>.self)?.value
}
