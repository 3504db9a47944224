import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// One pointer among those of a window.
@Suite struct PointerTrackerTests {
    init() { loadElements() }

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let left = GST_NAVIGATION_MODIFIER_BUTTON1_MASK
    private let tracker = PointerTracker()

    private func gesture(_ event: UnsafeMutablePointer<GstEvent>?) -> Gesture? {
        guard let event else { return nil }
        defer { gst_event_unref(event) }
        return tracker.gesture(event)
    }

    private func place(_ x: Double) -> Gesture.Place { Gesture.Place(x: x, y: 7) }

    private func down(_ finger: guint, _ x: Double) -> Gesture? {
        gesture(gst_navigation_event_new_touch_down(finger, x, 7, 0.5, none))
    }

    private func slide(_ finger: guint, _ x: Double) -> Gesture? {
        gesture(gst_navigation_event_new_touch_motion(finger, x, 7, 0.5, none))
    }

    private func up(_ finger: guint, _ x: Double) -> Gesture? {
        gesture(gst_navigation_event_new_touch_up(finger, x, 7, none))
    }

    private func press(_ x: Double, button: gint = 1) -> Gesture? {
        gesture(gst_navigation_event_new_mouse_button_press(button, x, 7, none))
    }

    private func move(_ x: Double, _ held: GstNavigationModifierType) -> Gesture? {
        gesture(gst_navigation_event_new_mouse_move(x, 7, held))
    }

    @Test func `only the finger that came first is followed, until it is lifted`() {
        #expect(slide(2, 1) == nil, "it is not down")
        #expect(down(2, 1) == .press(button: 1, at: place(1), []))
        #expect(down(5, 50) == nil)
        #expect(slide(5, 60) == nil)
        #expect(slide(2, 3) == .move(to: place(3), .button1))
        #expect(up(5, 60) == nil)
        #expect(up(2, 4) == .release(button: 1, at: place(4), []))
        #expect(down(5, 50) == .press(button: 1, at: place(50), []))
    }

    @Test func `touches that are taken back are lifted where they last were`() {
        #expect(gesture(gst_navigation_event_new_touch_cancel(none)) == nil)
        _ = down(2, 1)
        _ = slide(2, 3)
        #expect(gesture(gst_navigation_event_new_touch_cancel(none)) == .release(button: 1, at: place(3), []))
        #expect(down(7, 8) != nil)
    }

    @Test func `a finger that comes down nowhere does not, and one lifted nowhere is`() {
        #expect(down(2, .nan) == nil)
        #expect(down(5, 50) != nil)
        #expect(up(5, .nan) == .release(button: 1, at: place(50), []))
        #expect(down(2, 1) != nil)
    }

    @Test func `the mouse neither presses nor moves what a finger holds, but keys and its wheel work`() {
        _ = down(2, 1)
        #expect(press(9) == nil && move(10, none) == nil)
        #expect(gesture(gst_navigation_event_new_key_press("a", none)) == .keyPress("a", []))
        #expect(gesture(gst_navigation_event_new_mouse_scroll(3, 7, 0, 1, none)) != nil)
        _ = up(2, 1)
        #expect(move(10, none) != nil)
    }

    @Test func `a lost release is made up for where the window has said which buttons are held`() {
        _ = press(1)
        #expect(move(2, left) == .move(to: place(2), .button1))
        #expect(move(30, none) == .release(button: 1, at: place(2), []))
        #expect(move(31, none) == .move(to: place(31), []))
    }

    @Test func `a window that says nothing of buttons is not believed`() {
        _ = press(1)
        #expect(move(2, none) == .move(to: place(2), []))
        #expect(move(3, GST_NAVIGATION_MODIFIER_SHIFT_MASK) == .move(to: place(3), .shift))
    }

    @Test func `a release that came is not made up for`() {
        _ = press(1)
        _ = move(2, left)
        _ = gesture(gst_navigation_event_new_mouse_button_release(1, 2, 7, left))
        #expect(move(3, none) == .move(to: place(3), []))
    }

    @Test func `two buttons are released one after the other`() {
        _ = (press(1, button: 3), press(1))
        _ = move(2, left)
        #expect(move(4, none) == .release(button: 1, at: place(2), []))
        #expect(move(4, none) == .release(button: 3, at: place(2), []))
        #expect(move(4, none) == .move(to: place(4), []))
    }

    @Test func `a stop lets go of everything`() {
        _ = down(2, 1)
        tracker.letGo()
        #expect(down(5, 50) != nil)
        tracker.letGo()
        _ = press(1)
        _ = move(2, left)
        tracker.letGo()
        #expect(move(3, none) == .move(to: place(3), []))
    }
}
