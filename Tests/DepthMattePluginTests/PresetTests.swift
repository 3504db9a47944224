import CGStreamer
import GstBridge
import GstTestSupport
import Testing

@Suite struct PresetTests {
    private let element = makeElement("depthmatte")

    private var preset: OpaquePointer? { OpaquePointer(element) }

    private func value(_ name: String) -> String? { propertyText(name, of: element) }

    private var names: [String] {
        guard let list = gst_preset_get_preset_names(preset) else { return [] }
        defer { g_strfreev(list) }
        var names: [String] = []
        while let name = list[names.count] { names.append(String(cString: name)) }
        return names
    }

    @Test func `the presets are the promised ones, and say what they are for`() {
        let promised = ["apple-sample", "comic", "dream", "green-screen", "studio", "video-call"]
        #expect(Set(promised).isSubset(of: names))
        for name in promised {
            var comment: UnsafeMutablePointer<CChar>?
            #expect(gst_preset_get_meta(preset, name, "comment", &comment) != 0)
            #expect((takeString(comment) ?? "").count > 20)
        }
        gst_object_unref(element)
    }

    static let expected: [(String, [String: String])] = [
        (
            "apple-sample",
            [
                "mask": "cutoff", "anchor": "auto", "margin": "0.25", "cutoff": "1", "anchor-smoothing": "0",
                "blur-radius": "5", "gamma": "0.5", "upscale": "bicubic", "background-mode": "auto", "invert": "false",
            ]
        ),
        (
            "comic",
            [
                "mask": "high-pass", "slope": "4", "width": "0.1", "blur-radius": "0", "gamma": "1",
                "background-mode": "comic",
            ]
        ),
        (
            "green-screen",
            ["mask": "high-pass", "slope": "10", "blur-radius": "0", "gamma": "1", "background-mode": "image"]
        ),
        ("dream", ["mask": "band-pass", "slope": "4", "background-mode": "blur", "background-blur": "10"]),
        (
            "video-call",
            ["mask": "cutoff", "feather-far": "0", "background-mode": "blur", "background-blur": "15", "slope": "4"]
        ),
        ("studio", ["anchor": "nearest", "margin": "0.3", "background-mode": "auto", "settle": "0.5", "gamma": "0.5"]),
    ]

    @Test(arguments: PresetTests.expected)
    func `loading a preset sets what it says, whatever was set before`(name: String, values: [String: String]) throws {
        for (other, _) in PresetTests.expected {
            #expect(gst_preset_load_preset(preset, other) != 0)
            #expect(gst_preset_load_preset(preset, name) != 0)
            for (property, text) in values {
                let found = try #require(value(property))
                let isSame = Double(text).map { $0 == Double(found) } ?? (found == text)
                #expect(isSame, "\(name) after \(other): \(property) is \(found)")
            }
        }
        gst_object_unref(element)
    }

    private struct Watched: @unchecked Sendable {  // guard: read on the thread that loads the preset
        let element: UnsafeMutablePointer<GstElement>
    }

    @Test func `a preset is there whole before anybody hears of it`() throws {
        defer { gst_object_unref(element) }
        let names = ["mask", "invert", "slope", "background-mode", "background-blur", "view"]
        #expect(gst_preset_load_preset(preset, "apple-sample") != 0)
        setProperty(element, "view", "original")
        setProperty(element, "background-blur", "33")
        setProperty(element, "invert", "true")
        // With another mode of the background the element asks upstream for other caps, on the thread that sets it.
        let upstream = try #require(gst_pad_new("upstream", GST_PAD_SRC))
        gst_object_ref_sink(upstream)
        defer { gst_object_unref(upstream) }
        let sink = staticPad("video", of: element)
        #expect(gst_pad_link(upstream, sink) == GST_PAD_LINK_OK)
        gst_pad_set_active(upstream, 1)
        gst_pad_set_active(sink, 1)
        let glimpses = Monitor([[String]]())
        let watched = Watched(element: element)
        let probe = PadProbe(upstream, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) { _, _ in
            glimpses.withLock { $0.append(names.compactMap { propertyText($0, of: watched.element) }) }
        }
        #expect(gst_preset_load_preset(preset, "dream") != 0)
        withExtendedLifetime(probe) {}
        let loaded = names.compactMap(value)
        #expect(loaded.count == names.count && loaded.last == "composite")
        let seen = glimpses.withLock { $0 }
        #expect(!seen.isEmpty && seen.allSatisfy { $0 == loaded }, "\(seen)")
    }

    @Test func `whoever watches a property hears of it once`() {
        defer { gst_object_unref(element) }
        let notices = Notices(element)
        #expect(gst_preset_load_preset(preset, "dream") != 0)
        for name in ["mask", "background-mode", "view"] { #expect(notices.names.count { $0 == name } == 1, "\(name)") }
    }

    @Test func `a name that nobody knows is refused, and nothing is changed`() {
        setProperty(element, "margin", "0.5")
        #expect(gst_preset_load_preset(preset, "nobody") == 0)
        #expect(Double(value("margin") ?? "") == 0.5)
        gst_object_unref(element)
    }

    @Test func `a preset leaves the background picture, the focus and the depth as they are`() {
        setProperty(element, "background", "/tmp/picture.png")
        setProperty(element, "depth-unit", "0.002")
        setProperty(element, "focus", "0.8")
        setProperty(element, "on-missing-depth", "drop")
        for (name, _) in PresetTests.expected { #expect(gst_preset_load_preset(preset, name) != 0) }
        #expect(value("background")?.contains("picture.png") == true)
        #expect(Double(value("focus") ?? "") == 0.8)
        #expect(Double(value("depth-unit") ?? "") == 0.002 && value("on-missing-depth") == "drop")
        gst_object_unref(element)
    }
}
