import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A viewer's clicks and keys on the picture, by the events that a sink sends.
@Suite struct NavigationTests {
    /// 2 m, but for the columns from 32 to 47, which are at 0.5 m, and those behind them, which were not measured.
    private static let depth = DepthShape("GRAY16_LE", 64, 48)
    private static let counts = (0..<64 * 48).map { $0 % 64 < 32 ? 2000 : $0 % 64 < 48 ? 500 : 0 }

    private func bench(_ properties: [String: String] = [:]) -> Bench {
        let bench = Bench(["depth"], ["anchor": "fixed", "blur-radius": "0"].with(properties))
        bench.depth.start(NavigationTests.depth)
        bench.video.start(Room.shape)
        return bench
    }

    private func show(_ number: Int, on bench: Bench) throws -> Recorder.Frame {
        try #require(bench.pair(number, depth: NavigationTests.depth.bytes(counts: NavigationTests.counts)))
    }

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let left = GST_NAVIGATION_MODIFIER_BUTTON1_MASK

    /// True where the element, or anything before it, says that it used the event.
    @discardableResult
    private func send(_ event: UnsafeMutablePointer<GstEvent>?, to bench: Bench) -> Bool {
        gst_pad_push_event(bench.output.pad, event) != 0
    }

    @discardableResult
    private func press(_ x: Double, _ y: Double, button: Int32 = 1, on bench: Bench) -> Bool {
        send(gst_navigation_event_new_mouse_button_press(button, x, y, none), to: bench)
    }

    @discardableResult
    private func release(_ x: Double, _ y: Double, on bench: Bench) -> Bool {
        send(gst_navigation_event_new_mouse_button_release(1, x, y, none), to: bench)
    }

    @discardableResult
    private func move(_ x: Double, _ y: Double, on bench: Bench) -> Bool {
        send(gst_navigation_event_new_mouse_move(x, y, none), to: bench)
    }

    @discardableResult
    private func scroll(_ up: Double, on bench: Bench) -> Bool {
        send(gst_navigation_event_new_mouse_scroll(3, 3, 0, up, none), to: bench)
    }

    @discardableResult
    private func key(_ name: String, on bench: Bench) -> Bool {
        send(gst_navigation_event_new_key_press(name, none), to: bench)
    }

    private func probes(_ bench: Bench) -> [String] { bench.bus.structures("depth-probe") }

    private func text(x: Double, y: Double, metres: Double?) -> String {
        "depth-probe, x=(double)\(plain(x)), y=(double)\(plain(y)), measured=(boolean)\(metres != nil), "
            + "metres=(double)\(plain(metres ?? 0));"
    }

    /// As GStreamer prints it.
    private func plain(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }

    // MARK: Probe

    @Test func `a click tells the depth under it, and says where nothing was measured`() throws {
        let bench = bench()
        press(3, 3, on: bench)
        #expect(probes(bench) == [], "there was no frame yet")
        _ = try show(0, on: bench)
        press(10, 20, on: bench)
        press(40.5, 20, on: bench)
        press(60, 47, on: bench)
        press(-5, 20, on: bench)
        press(64.5, 20, on: bench)
        #expect(
            probes(bench) == [
                text(x: 10, y: 20, metres: 2), text(x: 40.5, y: 20, metres: 0.5), text(x: 60, y: 47, metres: nil),
                text(x: -5, y: 20, metres: nil), text(x: 64.5, y: 20, metres: nil),
            ])
    }

    @Test func `only the left button asks, and numbers that are none ask nothing`() throws {
        let bench = bench(["anchor": "point", "navigation": "steer"])
        _ = try show(0, on: bench)
        press(10, 20, button: 3, on: bench)
        for number in [Double.nan, .infinity, -.infinity] {
            press(number, 20, on: bench)
            press(20, number, on: bench)
            move(number, number, on: bench)
            scroll(number, on: bench)
        }
        #expect(probes(bench) == [])
        press(1e300, -1e300, on: bench)
        #expect(probes(bench) == [text(x: 1e6, y: -1e6, metres: nil)])
        _ = try show(1, on: bench)
        #expect(number("anchor-x", of: bench.element) == 0.5)
    }

    @Test func `without depth a click is answered too`() throws {
        let bench = bench(["hold-time": "0"])
        _ = try show(0, on: bench)
        bench.depth.end()
        bench.video.push(Room.picture, at: time(ofFrame: 60))
        _ = bench.output.next()
        press(10, 20, on: bench)
        #expect(probes(bench) == [text(x: 10, y: 20, metres: nil)])
    }

    @Test func `in the quad a place counts within its quarter`() throws {
        let bench = bench(["view": "quad"])
        _ = try show(0, on: bench)
        for (x, y) in [(5.0, 10.0), (37, 10), (5, 34), (37, 34)] { press(x, y, on: bench) }
        #expect(probes(bench) == [String](repeating: text(x: 10, y: 20, metres: 2), count: 4))
        press(20, 10, on: bench)
        #expect(probes(bench) == [text(x: 40, y: 20, metres: 0.5)])
    }

    @Test func `while the button is held its depth stands on the picture, and moves along`() throws {
        for view in ["composite", "original", "matte", "depth", "quad"] {
            let bench = bench(["view": view])
            let before = try show(0, on: bench).bytes
            press(20, 30, on: bench)
            let held = try show(1, on: bench).bytes
            #expect(held != before, "\(view)")
            move(40, 30, on: bench)
            let moved = try show(2, on: bench).bytes
            #expect(moved != held && moved != before, "\(view)")
            release(40, 30, on: bench)
            #expect(try show(3, on: bench).bytes == before, "\(view)")
            move(20, 30, on: bench)
            #expect(try show(4, on: bench).bytes == before, "\(view)")
        }
    }

    @Test func `the number of a button whose release was lost does not stay on the picture`() throws {
        let bench = bench()
        let before = try show(0, on: bench).bytes
        press(20, 30, on: bench)
        send(gst_navigation_event_new_mouse_move(21, 30, left), to: bench)
        #expect(try show(1, on: bench).bytes != before)
        // Released outside of the window, which says so when the pointer comes back.
        send(gst_navigation_event_new_mouse_move(30, 30, none), to: bench)
        #expect(try show(2, on: bench).bytes == before)
        press(20, 30, on: bench)
        #expect(try show(3, on: bench).bytes != before, "the next press is one")
    }

    @Test func `a second finger neither moves the number, nor asks, nor takes it away`() throws {
        let bench = bench()
        let before = try show(0, on: bench).bytes
        send(gst_navigation_event_new_touch_down(3, 20, 30, 0.5, none), to: bench)
        let held = try show(1, on: bench).bytes
        #expect(held != before)
        send(gst_navigation_event_new_touch_down(4, 40, 30, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_motion(4, 42, 10, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_up(4, 42, 10, none), to: bench)
        #expect(try show(2, on: bench).bytes == held)
        send(gst_navigation_event_new_touch_up(3, 20, 30, none), to: bench)
        #expect(try show(3, on: bench).bytes == before)
        #expect(probes(bench) == [text(x: 20, y: 30, metres: 2)])
    }

    @Test func `touches that the window takes back leave no number`() throws {
        let bench = bench()
        let before = try show(0, on: bench).bytes
        send(gst_navigation_event_new_touch_down(3, 20, 30, 0.5, none), to: bench)
        send(gst_navigation_event_new_touch_cancel(none), to: bench)
        #expect(try show(1, on: bench).bytes == before)
    }

    // MARK: Permission

    @Test func `by default a viewer can ask for the depth, and change nothing`() throws {
        let bench = bench(["anchor": "point", "anchor-smoothing": "0", "margin": "0.1"])
        let before = try show(0, on: bench).bytes
        press(40, 12, on: bench)
        release(40, 12, on: bench)
        #expect(probes(bench) == [text(x: 40, y: 12, metres: 0.5)])
        for name in ["1", "2", "3", "4", "5"] { key(name, on: bench) }
        scroll(1, on: bench)
        bench.set("mask", "high-pass")
        scroll(1, on: bench)
        bench.set("mask", "cutoff")
        #expect(number("anchor-x", of: bench.element) == 0.5 && number("margin", of: bench.element) == 0.1)
        #expect(number("focus", of: bench.element) == 0.5 && propertyText("view", of: bench.element) == "composite")
        #expect(try show(1, on: bench).bytes == before)
    }

    @Test func `with navigation=none events go on, and nobody is told anything`() throws {
        let bench = bench(["navigation": "none", "anchor": "point"])
        let before = try show(0, on: bench).bytes
        let passing = PassingEvents(bench.video.pad)
        bench.video.refuseUpstreamEvents()
        #expect(!press(10, 20, on: bench))
        #expect(try show(1, on: bench).bytes == before)
        #expect(!move(12, 20, on: bench) && !release(12, 20, on: bench))
        #expect(!scroll(1, on: bench) && !key("2", on: bench))
        #expect(passing.types == [GstEventType](repeating: GST_EVENT_NAVIGATION, count: 5))
        #expect(probes(bench) == [] && propertyText("view", of: bench.element) == "composite")
    }

    @Test func `who may no longer ask has no number on the picture, and none that comes back`() throws {
        let bench = bench()
        let before = try show(0, on: bench).bytes
        press(20, 30, on: bench)
        #expect(try show(1, on: bench).bytes != before)
        bench.set("navigation", "none")
        #expect(try show(2, on: bench).bytes == before)
        release(20, 30, on: bench)
        bench.set("navigation", "probe")
        #expect(try show(3, on: bench).bytes == before)
    }

    @Test func `an event that was used is answered so, though nobody upstream takes it`() throws {
        let bench = bench()
        _ = try show(0, on: bench)
        bench.video.refuseUpstreamEvents()
        #expect(!move(5, 5, on: bench) && !release(5, 5, on: bench) && !press(5, 5, button: 3, on: bench))
        #expect(press(5, 5, on: bench) && move(6, 5, on: bench) && release(6, 5, on: bench))
        #expect(!scroll(1, on: bench) && !key("2", on: bench))
        bench.set("navigation", "steer")
        #expect(press(5, 5, on: bench) && scroll(1, on: bench) && key("2", on: bench))
        #expect(!scroll(0, on: bench) && !key("a", on: bench))
        #expect(!send(gst_navigation_event_new_key_release("2", none), to: bench))
    }

    // MARK: Steering

    private static let steered = ["navigation": "steer"]

    @Test func `a click moves the anchor point, and whoever watches is told`() throws {
        let bench = bench(
            NavigationTests.steered.with(["anchor": "point", "anchor-smoothing": "0", "margin": "0.1"]))
        let notices = Notices(bench.element)
        var told: Int { notices.names.count { $0 == "anchor-x" } }
        _ = try show(0, on: bench)
        press(40, 12, on: bench)
        #expect(number("anchor-x", of: bench.element) == 0.625 && number("anchor-y", of: bench.element) == 0.25)
        #expect(told == 1)
        release(40, 12, on: bench)
        // Only the columns at 0.5 m are left.
        #expect(Room.leaked(try show(1, on: bench)) == 16 * 48)
        press(10, 12, on: bench)
        #expect(told == 2)
        release(10, 12, on: bench)
        #expect(Room.leaked(try show(2, on: bench)) == 48 * 48)
        // Outside of the picture there is no anchor.
        press(-1, 12, on: bench)
        #expect(told == 2)
        let fixed = self.bench(NavigationTests.steered)
        _ = try show(0, on: fixed)
        press(40, 12, on: fixed)
        #expect(number("anchor-x", of: fixed.element) == 0.5)
    }

    @Test func `the wheel moves the margin, or the focus of a mask that has one`() throws {
        let bench = bench(NavigationTests.steered)
        for _ in 0..<2 { scroll(1, on: bench) }
        #expect(abs(number("margin", of: bench.element) - 0.35) < 1e-9)
        for _ in 0..<20 { scroll(-1, on: bench) }
        #expect(number("margin", of: bench.element) == 0)
        for _ in 0..<300 { scroll(1, on: bench) }
        #expect(number("margin", of: bench.element) == 10 && number("focus", of: bench.element) == 0.5)
        bench.set("mask", "high-pass")
        scroll(-1, on: bench)
        #expect(abs(number("focus", of: bench.element) - 0.48) < 1e-9 && number("margin", of: bench.element) == 10)
        for _ in 0..<50 { scroll(1, on: bench) }
        #expect(number("focus", of: bench.element) == 1)
    }

    /// `ximagesink` counts a notch as 1, `gtksink` as 20, Qt's sinks as 120; a touchpad sends parts of that.
    @Test(arguments: [1, 20, 120, 0.125, 1e300])
    func `a turn of the wheel is one step, whatever the sink counts in`(delta: Double) {
        let bench = bench(NavigationTests.steered)
        scroll(delta, on: bench)
        #expect(abs(number("margin", of: bench.element) - 0.3) < 1e-9)
        for _ in 0..<2 { scroll(-delta, on: bench) }
        #expect(abs(number("margin", of: bench.element) - 0.2) < 1e-9)
    }

    @Test func `keys choose the view in the order of its values`() throws {
        let bench = bench(NavigationTests.steered)
        for (index, view) in ["composite", "original", "depth", "matte", "quad"].enumerated() {
            key("\(index + 1)", on: bench)
            #expect(propertyText("view", of: bench.element) == view)
        }
        let others = [
            "0", "6", "a", "", "-1", "+3", "03", "99999999999999999999", "-9223372036854775808", "9223372036854775807",
            "Left",
        ]
        for other in others { key(other, on: bench) }
        #expect(propertyText("view", of: bench.element) == "quad")
    }

    @Test(arguments: ["none", "probe", "steer"])
    func `every event goes on to the video`(navigation: String) throws {
        let bench = bench(["navigation": navigation])
        _ = try show(0, on: bench)
        let passing = PassingEvents(bench.video.pad)
        press(10, 20, on: bench)
        move(12, 20, on: bench)
        release(12, 20, on: bench)
        scroll(1, on: bench)
        key("3", on: bench)
        press(.nan, 20, on: bench)
        #expect(passing.types == [GstEventType](repeating: GST_EVENT_NAVIGATION, count: 6))
    }

    @Test func `a stop lets go of the button and of the depth`() throws {
        let bench = bench()
        let before = try show(0, on: bench).bytes
        press(20, 30, on: bench)
        gst_element_set_state(bench.element, GST_STATE_READY)
        press(30, 30, on: bench)
        _ = bench.bus.discardAll()
        press(30, 30, on: bench)
        #expect(probes(bench) == [])
        release(30, 30, on: bench)
        #expect(!before.isEmpty)
    }
}
