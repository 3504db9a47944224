import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Hands on a `depthcloud` beside other hands, and hands that are lost sight of.
@Suite struct CloudNavigationTests {
    private static let depth = DepthShape("GRAY16_LE", 8, 4)

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let left = GST_NAVIGATION_MODIFIER_BUTTON1_MASK

    /// A bench with a picture of 80 x 40, of which one frame has left: a drag of 10 pixels turns by 45°.
    private func bench() throws -> Bench {
        let bench = Bench(
            [], [:], downstream: "video/x-raw, format=RGBx, width=80, height=40",
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        bench.depth.start(CloudNavigationTests.depth)
        bench.depth.push(CloudNavigationTests.depth.bytes(counts: [Int](repeating: 900, count: 8 * 4)), at: 0)
        _ = try #require(bench.output.next())
        return bench
    }

    private func send(_ event: UnsafeMutablePointer<GstEvent>?, to bench: Bench) {
        gst_pad_push_event(bench.output.pad, event)
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
            if number("zoom", of: bench.element) != zoom { lost += 1 }
        }
        #expect(hand.finish() > 0)
        #expect(lost == 0)
    }

    @Test func `a second finger neither moves what the first one holds nor lets go of it`() throws {
        let bench = try bench()
        send(gst_navigation_event_new_touch_down(3, 10, 10, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_down(4, 60, 30, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_motion(4, 70, 30, 0.5, none), to: bench)
        #expect(number("yaw", of: bench.element) == 0)
        send(gst_navigation_event_new_touch_up(4, 70, 30, none), to: bench)
        send(gst_navigation_event_new_touch_motion(3, 20, 10, 0.5, none), to: bench)
        #expect(number("yaw", of: bench.element) == 45)
        send(gst_navigation_event_new_touch_up(3, 20, 10, none), to: bench)
        send(gst_navigation_event_new_touch_motion(3, 30, 10, 0.5, none), to: bench)
        #expect(number("yaw", of: bench.element) == 45, "it is lifted")
    }

    @Test func `touches that the window takes back are lifted`() throws {
        let bench = try bench()
        send(gst_navigation_event_new_touch_down(3, 10, 10, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_cancel(none), to: bench)
        send(gst_navigation_event_new_mouse_move(20, 10, none), to: bench)
        #expect(number("yaw", of: bench.element) == 0)
        send(gst_navigation_event_new_touch_down(5, 60, 30, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_motion(5, 70, 30, 0.5, none), to: bench)
        #expect(number("yaw", of: bench.element) == 45, "another finger may take hold")
    }

    @Test func `a button whose release was lost is let go of, where the window says which are held`() throws {
        let bench = try bench()
        send(gst_navigation_event_new_mouse_button_press(1, 10, 10, none), to: bench)
        send(gst_navigation_event_new_mouse_move(20, 10, left), to: bench)
        #expect(number("yaw", of: bench.element) == 45)
        send(gst_navigation_event_new_mouse_move(40, 10, none), to: bench)
        send(gst_navigation_event_new_mouse_move(50, 10, none), to: bench)
        #expect(number("yaw", of: bench.element) == 45)
        send(gst_navigation_event_new_mouse_button_press(1, 60, 10, none), to: bench)
        send(gst_navigation_event_new_mouse_move(70, 10, left), to: bench)
        #expect(number("yaw", of: bench.element) == 90, "the next drag is one")
    }

    @Test func `a window that never says which buttons are held drags nevertheless`() throws {
        let bench = try bench()
        send(gst_navigation_event_new_mouse_button_press(1, 10, 10, none), to: bench)
        send(gst_navigation_event_new_mouse_move(15, 10, none), to: bench)
        send(gst_navigation_event_new_mouse_move(20, 10, none), to: bench)
        #expect(number("yaw", of: bench.element) == 45)
    }
}
