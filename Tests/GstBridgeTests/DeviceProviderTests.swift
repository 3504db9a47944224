import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import Testing

/// `DeviceProviderDefinition`, by a provider of the tests' own whose devices are read by `fakesrc`.
@Suite(.serialized) struct DeviceProviderTests {
    private static let devices = Mutex<[DeviceDescription]>([])
    /// Held by a test that wants lists to hang; and the number of lists that were asked for.
    private static let gate = Mutex(())
    private static let asked = Mutex(0)

    private static let isRegistered: Bool = {
        loadElements()
        return DeviceProviderDefinition(
            typeName: "GstDepthMatteTestProvider", deviceTypeName: "GstDepthMatteTestDevice",
            factory: "depthmattetestprovider", longName: "Test provider", klass: "Source/Video",
            description: "Lists what the test says", element: "fakesrc",
            list: {
                asked.withLock { $0 += 1 }
                gate.withLock { _ in }
                return devices.withLock { $0 }
            }
        ).register(in: nil)
    }()

    /// A provider of a type derived from that of the tests' provider.
    private static let isDerivedRegistered: Bool = {
        let parent = g_type_from_name("GstDepthMatteTestProvider")
        let initialize: GClassInitFunc = { _, _ in }
        return gst_device_provider_register(
            nil, "depthmattetestderived", 0, registerClass("DerivedProvider", deriving: parent, initialize)) != 0
    }()

    private let provider: UnsafeMutablePointer<GstDeviceProvider>

    init() throws {
        try #require(DeviceProviderTests.isRegistered)
        DeviceProviderTests.devices.withLock { $0 = [DeviceProviderTests.camera("One")] }
        provider = try #require(gst_device_provider_factory_get_by_name("depthmattetestprovider"))
    }

    private static func camera(_ name: String) -> DeviceDescription {
        DeviceDescription(
            name: name, caps: "video/x-raw, format=(string)RGB, width=(int)64", facts: ["device.serial": "s-\(name)"],
            settings: ["num-buffers": "3"])
    }

    private func text(_ string: UnsafeMutablePointer<CChar>?) -> String {
        defer { g_free(string) }
        return string.map { String(cString: $0) } ?? ""
    }

    @Test func `devices have their names, caps and facts, and give a working element`() throws {
        defer { gst_object_unref(provider) }
        let list = gst_device_provider_get_devices(provider)
        defer { g_list_free(list) }
        #expect(g_list_length(list) == 1)
        let device = try #require(list?.pointee.data?.assumingMemoryBound(to: GstDevice.self))
        defer { gst_object_unref(device) }
        #expect(text(gst_device_get_display_name(device)) == "One")
        #expect(text(gst_device_get_device_class(device)) == "Source/Video")
        let caps = try #require(gst_device_get_caps(device))
        defer { gst_caps_unref(caps) }
        #expect(caps.text.contains("width=(int)64"))
        let facts = try #require(gst_device_get_properties(device))
        defer { gst_structure_free(facts) }
        #expect(gst_structure_get_string(facts, "device.serial").map { String(cString: $0) } == "s-One")
        let element = try #require(gst_device_create_element(device, "reader"))
        gst_object_ref_sink(element)
        defer { gst_object_unref(element) }
        #expect(integer("num-buffers", of: element) == 3)
        let other = makeElement("fakesrc")
        defer { gst_object_unref(other) }
        #expect(gst_device_reconfigure_element(device, other) != 0 && integer("num-buffers", of: other) == 3)
    }

    /// True once no thread keeps the provider: only the factory and the test do.
    private var isUnwatched: Bool { provider.pointee.parent.object.ref_count == 2 }

    /// The device of a provider's next message of a type.
    private func next(
        _ type: GstMessageType, of provider: UnsafeMutablePointer<GstDeviceProvider>
    ) throws -> String? {
        let bus = try #require(gst_device_provider_get_bus(provider))
        defer { gst_object_unref(bus) }
        guard let message = gst_bus_timed_pop_filtered(bus, 20_000_000_000, type) else { return nil }
        defer { gst_message_unref(message) }
        var device: UnsafeMutablePointer<GstDevice>?
        if type == GST_MESSAGE_DEVICE_ADDED {
            gst_message_parse_device_added(message, &device)
        } else {
            gst_message_parse_device_removed(message, &device)
        }
        guard let device else { return nil }
        defer { gst_object_unref(device) }
        return text(gst_device_get_display_name(device))
    }

    private func names(of provider: UnsafeMutablePointer<GstDeviceProvider>) -> [String] {
        var list = gst_device_provider_get_devices(provider)
        var names: [String] = []
        while let device = list?.pointee.data?.assumingMemoryBound(to: GstDevice.self) {
            names.append(text(gst_device_get_display_name(device)))
            gst_object_unref(device)
            list = g_list_delete_link(list, list)
        }
        return names
    }

    @Test func `devices that come and go are told while somebody watches`() throws {
        defer { gst_object_unref(provider) }
        #expect(gst_device_provider_start(provider) != 0)
        #expect(names(of: provider) == ["One"], "as gst-device-monitor-1.0 asks")
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "One")
        DeviceProviderTests.devices.withLock { $0.append(DeviceProviderTests.camera("Two")) }
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "Two")
        DeviceProviderTests.devices.withLock { $0 = Array($0.dropFirst()) }
        #expect(try next(GST_MESSAGE_DEVICE_REMOVED, of: provider) == "One")
        gst_device_provider_stop(provider)
    }

    @Test func `devices are told on a thread of the provider's own`() throws {
        defer { gst_object_unref(provider) }
        let bus = try #require(gst_device_provider_get_bus(provider))
        defer { gst_object_unref(bus) }
        let caller = g_thread_self()
        gst_bus_set_sync_handler(
            bus,
            { _, message, caller in
                let isCaller = UnsafeMutableRawPointer(g_thread_self()) == caller
                if isCaller, let message { gst_message_unref(message) }
                return isCaller ? GST_BUS_DROP : GST_BUS_PASS
            }, caller, nil)
        #expect(gst_device_provider_start(provider) != 0)
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "One")
        gst_device_provider_stop(provider)
        gst_bus_set_sync_handler(bus, nil, nil, nil)
    }

    @Test func `a handler of a device's message may stop the provider`() throws {
        defer { gst_object_unref(provider) }
        DeviceProviderTests.devices.withLock { $0.append(DeviceProviderTests.camera("Two")) }
        let bus = try #require(gst_device_provider_get_bus(provider))
        defer { gst_object_unref(bus) }
        gst_bus_set_sync_handler(
            bus,
            { _, message, provider in
                gst_device_provider_stop(provider?.assumingMemoryBound(to: GstDeviceProvider.self))
                if let message { gst_message_unref(message) }
                return GST_BUS_DROP
            }, provider, nil)
        #expect(gst_device_provider_start(provider) != 0)
        #expect(eventually { isUnwatched })
        gst_bus_set_sync_handler(bus, nil, nil, nil)
        #expect(provider.pointee.devices == nil)
    }

    @Test func `a list that comes after the stop is told to nobody`() throws {
        defer { gst_object_unref(provider) }
        #expect(gst_device_provider_start(provider) != 0)
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "One")
        DeviceProviderTests.gate.withLock { _ in
            let asked = DeviceProviderTests.asked.withLock { $0 }
            DeviceProviderTests.devices.withLock { $0 = [DeviceProviderTests.camera("Two")] }
            #expect(eventually { DeviceProviderTests.asked.withLock { $0 } > asked })
            gst_device_provider_stop(provider)
        }
        #expect(eventually { isUnwatched })
        #expect(provider.pointee.devices == nil)
    }

    @Test func `a start, a stop and a start again tell each device once`() throws {
        defer { gst_object_unref(provider) }
        DeviceProviderTests.gate.withLock { _ in
            #expect(gst_device_provider_start(provider) != 0)
            gst_device_provider_stop(provider)
            #expect(gst_device_provider_start(provider) != 0)
        }
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "One")
        DeviceProviderTests.devices.withLock { $0.append(DeviceProviderTests.camera("Two")) }
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "Two")
        #expect(names(of: provider).sorted() == ["One", "Two"])
        gst_device_provider_stop(provider)
    }

    @Test func `a provider of a derived type watches beside the other one`() throws {
        defer { gst_object_unref(provider) }
        try #require(DeviceProviderTests.isDerivedRegistered)
        let derived = try #require(gst_device_provider_factory_get_by_name("depthmattetestderived"))
        defer { gst_object_unref(derived) }
        #expect(names(of: derived) == ["One"])
        for one in [provider, derived] {
            #expect(gst_device_provider_start(one) != 0)
            #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: one) == "One")
        }
        gst_device_provider_stop(derived)
        DeviceProviderTests.devices.withLock { $0.append(DeviceProviderTests.camera("Two")) }
        #expect(try next(GST_MESSAGE_DEVICE_ADDED, of: provider) == "Two")
        gst_device_provider_stop(provider)
    }
}
