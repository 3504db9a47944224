import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import Testing

/// `DeviceProviderDefinition`, by a provider of the tests' own whose devices are read by `fakesrc`.
@Suite(.serialized) struct DeviceProviderTests {
    private static let devices = Mutex<[DeviceDescription]>([])

    private static let isRegistered: Bool = {
        loadElements()
        return DeviceProviderDefinition(
            typeName: "GstDepthMatteTestProvider", deviceTypeName: "GstDepthMatteTestDevice",
            factory: "depthmattetestprovider", longName: "Test provider", klass: "Source/Video",
            description: "Lists what the test says", element: "fakesrc", list: { devices.withLock { $0 } }
        ).register(in: nil)
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

    @Test func `devices that come and go are told while somebody watches`() throws {
        defer { gst_object_unref(provider) }
        let bus = try #require(gst_device_provider_get_bus(provider))
        defer { gst_object_unref(bus) }
        func next(_ type: GstMessageType) -> String? {
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
        #expect(gst_device_provider_start(provider) != 0)
        #expect(next(GST_MESSAGE_DEVICE_ADDED) == "One")
        DeviceProviderTests.devices.withLock { $0.append(DeviceProviderTests.camera("Two")) }
        #expect(next(GST_MESSAGE_DEVICE_ADDED) == "Two")
        DeviceProviderTests.devices.withLock { $0 = Array($0.dropFirst()) }
        #expect(next(GST_MESSAGE_DEVICE_REMOVED) == "One")
        gst_device_provider_stop(provider)
    }
}
