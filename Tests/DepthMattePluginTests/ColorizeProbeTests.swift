import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// A click on the colored picture reads the depth there.
@Suite struct ColorizeProbeTests {
    private static let depth = DepthShape("GRAY16_LE", 64, 48)

    /// Everything on the left is 1.234 m away, nothing on the right is measured.
    private static let map = depth.bytes(counts: (0..<64 * 48).map { $0 % 64 < 32 ? 1234 : 0 })

    private func bench(_ inputs: [String] = [], format: String = "RGB") -> Bench {
        let bench = Bench(
            inputs, ["palette": "gray", "range": "fixed", "min": "0", "max": "0.1"],
            downstream: "video/x-raw, format=\(format)", of: Bench.Kind(factory: "depthcolorize", leading: "depth"))
        bench.depth.start(ColorizeProbeTests.depth)
        return bench
    }

    private func send(_ event: UnsafeMutablePointer<GstEvent>?, to bench: Bench) {
        gst_pad_push_event(bench.output.pad, event)
    }

    private func press(_ x: Double, _ y: Double, on bench: Bench) {
        send(gst_navigation_event_new_mouse_button_press(1, x, y, GST_NAVIGATION_MODIFIER_NONE), to: bench)
    }

    private func release(_ x: Double, _ y: Double, on bench: Bench) {
        send(gst_navigation_event_new_mouse_button_release(1, x, y, GST_NAVIGATION_MODIFIER_NONE), to: bench)
    }

    private func show(_ number: Int, on bench: Bench) throws -> [UInt8] {
        bench.depth.push(ColorizeProbeTests.map, at: time(ofFrame: number))
        return try #require(bench.output.next()).bytes
    }

    /// Bytes that show text: all else is black in these colors.
    private func isWritten(_ bytes: [UInt8]) -> Bool { bytes.contains(255) }

    private func told(_ bench: Bench) -> [String] { bench.bus.structures("depth-probe") }

    @Test func `a click is told once, at once, with its place and metres`() throws {
        let bench = bench()
        #expect(!isWritten(try show(0, on: bench)))
        press(10, 20, on: bench)
        let told = told(bench)
        #expect(told.count == 1, "\(told)")
        for field in ["x=(double)10", "y=(double)20", "measured=(boolean)true", "metres=(double)1.234"] {
            #expect(told.first?.contains(field) == true, "\(told)")
        }
        release(10, 20, on: bench)
        #expect(!isWritten(try show(1, on: bench)), "it is over before the frame")
        #expect(self.told(bench).isEmpty)
    }

    @Test func `what is held is written on the picture, wherever it moves`() throws {
        let bench = bench()
        _ = try show(0, on: bench)
        press(10, 20, on: bench)
        let held = try (1..<4).map { try show($0, on: bench) }
        #expect(held.allSatisfy(isWritten) && Set(held).count == 1)
        send(gst_navigation_event_new_mouse_move(50, 20, GST_NAVIGATION_MODIFIER_BUTTON1_MASK), to: bench)
        let moved = try show(4, on: bench)
        #expect(isWritten(moved) && moved != held[0])
        #expect(told(bench).count == 1)
        release(50, 20, on: bench)
        #expect(!isWritten(try show(5, on: bench)))
    }

    @Test func `an event that was used is answered so, though nobody upstream takes it`() throws {
        let bench = bench()
        _ = try show(0, on: bench)
        bench.depth.refuseUpstreamEvents()
        func isUsed(_ event: UnsafeMutablePointer<GstEvent>?) -> Bool {
            gst_pad_push_event(bench.output.pad, event) != 0
        }
        let none = GST_NAVIGATION_MODIFIER_NONE
        #expect(!isUsed(gst_navigation_event_new_mouse_move(5, 5, none)))
        #expect(isUsed(gst_navigation_event_new_mouse_button_press(1, 5, 5, none)))
        #expect(isUsed(gst_navigation_event_new_mouse_move(6, 5, none)))
        #expect(isUsed(gst_navigation_event_new_mouse_button_release(1, 6, 5, none)))
        #expect(!isUsed(gst_navigation_event_new_key_press("2", none)))
    }

    @Test func `a move without a button, and other buttons, read nothing`() throws {
        let bench = bench()
        _ = try show(0, on: bench)
        send(gst_navigation_event_new_mouse_move(5, 5, GST_NAVIGATION_MODIFIER_NONE), to: bench)
        send(gst_navigation_event_new_mouse_button_press(3, 5, 5, GST_NAVIGATION_MODIFIER_NONE), to: bench)
        #expect(!isWritten(try show(1, on: bench)))
        #expect(told(bench).isEmpty)
    }

    @Test(arguments: [(-1e9, 3.0), (1e300, 1e300), (63.9, 47.9), (64, 48), (-0.5, 0)])
    func `any place can be pointed at`(x: Double, y: Double) throws {
        let bench = bench()
        _ = try show(0, on: bench)
        press(x, y, on: bench)
        #expect(told(bench).first?.contains("measured=(boolean)false") == true)
        _ = try show(1, on: bench)
    }

    @Test func `the text is opaque where the picture is transparent`() throws {
        let bench = bench(format: "RGBA")
        _ = try show(0, on: bench)
        press(50, 20, on: bench)
        let bytes = try show(1, on: bench)
        let letters = stride(from: 0, to: bytes.count, by: 4).filter { bytes[$0] == 255 }
        #expect(!letters.isEmpty && letters.allSatisfy { bytes[$0 + 3] == 255 })
    }

    @Test func `a faulty map is pointed at without harm`() throws {
        let bench = bench()
        bench.depth.push([1], at: 0)
        _ = try #require(bench.output.next())
        press(10, 20, on: bench)
        #expect(told(bench).first?.contains("measured=(boolean)false") == true)
        #expect(isWritten(try show(1, on: bench)))
    }

    @Test(arguments: [["video"], []])
    func `the place of a click goes on to the video, or to the depth where there is none`(inputs: [String]) {
        let bench = bench(inputs)
        let feeds = [bench.depth] + inputs.map { bench[$0] }
        let passing = feeds.map { PassingEvents($0.pad) }
        press(1, 2, on: bench)
        let clicks = passing.map { $0.types.count { $0 == GST_EVENT_NAVIGATION } }
        #expect(clicks == (inputs.isEmpty ? [1] : [0, 1]))
    }

    @Test func `nobody points after a stop`() throws {
        let bench = bench()
        _ = try show(0, on: bench)
        press(10, 20, on: bench)
        gst_element_set_state(bench.element, GST_STATE_READY)
        gst_element_set_state(bench.element, GST_STATE_PLAYING)
        bench.depth.start(ColorizeProbeTests.depth)
        #expect(!isWritten(try show(0, on: bench)))
        press(10, 20, on: bench)
        #expect(told(bench).count == 2, "one before it, and one after")
    }
}
