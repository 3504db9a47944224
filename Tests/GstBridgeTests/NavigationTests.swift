import CGStreamer
import GstBridge
import GstTestSupport
import Testing

@Suite struct NavigationTests {
    init() { loadElements() }

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let place = Gesture.Place(x: 3.5, y: 7)

    private func gesture(_ event: UnsafeMutablePointer<GstEvent>?) -> Gesture? {
        guard let event else { return nil }
        defer { gst_event_unref(event) }
        return Gesture(event)
    }

    @Test func buttonsMovesAndKeysAreRead() {
        let held = GstNavigationModifierType(
            rawValue: GST_NAVIGATION_MODIFIER_SHIFT_MASK.rawValue | GST_NAVIGATION_MODIFIER_BUTTON3_MASK.rawValue)
        #expect(
            gesture(gst_navigation_event_new_mouse_button_press(1, 3.5, 7, none)) == .press(button: 1, at: place, []))
        #expect(
            gesture(gst_navigation_event_new_mouse_button_release(3, 3.5, 7, held))
                == .release(button: 3, at: place, [.shift, .button3]))
        #expect(
            gesture(gst_navigation_event_new_mouse_move(3.5, 7, held)) == .move(to: place, [.shift, .button3]))
        #expect(gesture(gst_navigation_event_new_key_press("4", none)) == .keyPress("4", []))
        #expect(gesture(gst_navigation_event_new_key_release("Left", none)) == .keyRelease("Left", []))
    }

    @Test(arguments: [0.125, 1, 20, 120, 1e300])
    func aTurnOfTheWheelIsOneStepWhateverTheSinkCountsIn(delta: Double) {
        #expect(gesture(gst_navigation_event_new_mouse_scroll(3.5, 7, 0, delta, none)) == .scroll(at: place, up: 1, []))
        #expect(
            gesture(gst_navigation_event_new_mouse_scroll(3.5, 7, 0, -delta, none)) == .scroll(at: place, up: -1, []))
        #expect(gesture(gst_navigation_event_new_mouse_scroll(3.5, 7, delta, 0, none)) == .scroll(at: place, up: 0, []))
    }

    @Test func theWheelIsReadAsButtonsToo() {
        #expect(
            gesture(gst_navigation_event_new_mouse_button_press(4, 3.5, 7, none)) == .scroll(at: place, up: 1, []))
        #expect(
            gesture(gst_navigation_event_new_mouse_button_press(5, 3.5, 7, none)) == .scroll(at: place, up: -1, []))
        #expect(gesture(gst_navigation_event_new_mouse_button_release(5, 3.5, 7, none)) == nil)
    }

    @Test func aFingerIsTheLeftButton() {
        #expect(
            gesture(gst_navigation_event_new_touch_down(9, 3.5, 7, 0.5, none)) == .press(button: 1, at: place, []))
        #expect(
            gesture(gst_navigation_event_new_touch_motion(9, 3.5, 7, 0.5, none)) == .move(to: place, .button1))
        #expect(gesture(gst_navigation_event_new_touch_up(9, 3.5, 7, none)) == .release(button: 1, at: place, []))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func aPlaceThatIsNoneIsNoGesture(number: Double) {
        #expect(gesture(gst_navigation_event_new_mouse_button_press(1, number, 7, none)) == nil)
        #expect(gesture(gst_navigation_event_new_mouse_move(3, number, none)) == nil)
        #expect(gesture(gst_navigation_event_new_mouse_scroll(3, 3, 0, number, none)) == nil)
        #expect(gesture(gst_navigation_event_new_touch_up(9, number, 7, none)) == nil)
    }

    @Test func placesFarAwayAreBroughtWithinReach() {
        #expect(
            gesture(gst_navigation_event_new_mouse_move(1e300, -1e300, none))
                == .move(to: Gesture.Place(x: 1e6, y: -1e6), []))
    }

    @Test func whatIsNotReadIsNoGesture() {
        #expect(gesture(gst_event_new_eos()) == nil)
        #expect(gesture(gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_UP)) == nil)
        #expect(gesture(gst_event_new_navigation(gst_structure_new_empty("application/x-gst-navigation"))) == nil)
        #expect(gesture(gst_event_new_navigation(gst_structure_new_empty("something-else"))) == nil)
        let half = gst_structure_new_empty("application/x-gst-navigation")
        var name = GValue()
        g_value_init(&name, g_type_from_name("gchararray"))
        g_value_set_string(&name, "mouse-button-press")
        gst_structure_take_value(half, "event", &name)
        #expect(gesture(gst_event_new_navigation(half)) == nil)
    }
}
