import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Hands on a `depthcloud` beside other hands.
@Suite struct CloudHandsTests {
    private static let depth = DepthShape("GRAY16_LE", 8, 4)

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let left = GST_NAVIGATION_MODIFIER_BUTTON1_MASK

    /// A bench with a picture of 80 x 40, of which one frame has left: a drag of 10 pixels turns by 45°.
    private func bench() throws -> Bench {
        let bench = Bench(
            [], [:], downstream: "video/x-raw, format=RGBx, width=80, height=40",
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        bench.depth.start(CloudHandsTests.depth)
        bench.depth.push(CloudHandsTests.depth.bytes(counts: [Int](repeating: 900, count: 8 * 4)), at: 0)
        _ = try #require(bench.output.next())
        return bench
    }

    private func send(_ event: UnsafeMutablePointer<GstEvent>?, to bench: Bench) {
        gst_pad_push_event(bench.output.pad, event)
    }

    private func value(_ name: String, of bench: Bench) -> Double {
        var value = GValue()
        g_value_init(&value, g_type_from_name("gdouble"))
        defer { g_value_unset(&value) }
        g_object_get_property(
            UnsafeMutableRawPointer(bench.element).assumingMemoryBound(to: GObject.self), name, &value)
        return g_value_get_double(&value)
    }

    @Test func `what is set during a drag stays set`() throws {
        let bench = try bench()
        send(gst_navigation_event_new_mouse_button_press(1, 10, 10, none), to: bench)
        let hand = Repeater { round in
            send(gst_navigation_event_new_mouse_move(10 + Double(round % 7), 10, left), to: bench)
        }
        var lost = 0
        for round in 0..<50_000 {
            let zoom = round % 2 == 0 ? 0.25 : 0.5
            bench.set("zoom", "\(zoom)")
            if value("zoom", of: bench) != zoom { lost += 1 }
        }
        #expect(hand.finish() > 0)
        #expect(lost == 0)
    }
}
