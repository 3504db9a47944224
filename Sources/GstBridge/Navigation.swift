import CGStreamer

/// A viewer's action with the mouse, a finger or the keyboard, parsed from a navigation event.
///
/// Places are in pixels of the picture that the event passes: the sink has mapped its window to them, and elements that
/// scale map them further on their way upstream. They are always finite, and within ±1e6.
package enum Gesture: Equatable, Sendable {
    /// Button 1 is the left one, 2 the middle, 3 the right. A finger that touches counts as button 1.
    case press(button: Int, at: Place, Modifiers)
    case release(button: Int, at: Place, Modifiers)
    /// Moved, whether or not a button is held; which are held, if any, `Modifiers` says.
    case move(to: Place, Modifiers)
    /// The wheel: 1 step away from the user, -1 towards the user, or 0 where it only went sideways.
    case scroll(at: Place, up: Int, Modifiers)
    /// A key by its name in X, as "a", "Left" or "space".
    case keyPress(String, Modifiers)
    case keyRelease(String, Modifiers)

    package struct Place: Equatable, Sendable {
        package var x: Double
        package var y: Double

        package init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        /// Returns nil unless both are numbers and finite.
        fileprivate init?(_ x: gdouble, _ y: gdouble) {
            guard x.isFinite, y.isFinite else { return nil }
            self.init(x: min(max(x, -1e6), 1e6), y: min(max(y, -1e6), 1e6))
        }
    }

    /// Modifier keys held during it.
    package struct Modifiers: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let shift = Modifiers(rawValue: GST_NAVIGATION_MODIFIER_SHIFT_MASK.rawValue)
        package static let button1 = Modifiers(rawValue: GST_NAVIGATION_MODIFIER_BUTTON1_MASK.rawValue)
        package static let button2 = Modifiers(rawValue: GST_NAVIGATION_MODIFIER_BUTTON2_MASK.rawValue)
        package static let button3 = Modifiers(rawValue: GST_NAVIGATION_MODIFIER_BUTTON3_MASK.rawValue)
    }

    /// Reads an event, which stays the caller's.
    ///
    /// - Returns: nil for any other event, for commands, and for one whose numbers are none.
    package init?(_ event: EventPointer) {
        guard event.pointee.type == GST_EVENT_NAVIGATION else { return nil }
        var state = GST_NAVIGATION_MODIFIER_NONE
        _ = gst_navigation_event_parse_modifier_state(event, &state)
        let modifiers = Modifiers(rawValue: state.rawValue)
        let gesture: Gesture? =
            switch gst_navigation_event_get_type(event) {
            case GST_NAVIGATION_EVENT_MOUSE_BUTTON_PRESS:
                Gesture.button(event).flatMap { button, place in
                    switch button {
                    // Sinks of old know the wheel as two more buttons.
                    case 4: .scroll(at: place, up: 1, modifiers)
                    case 5: .scroll(at: place, up: -1, modifiers)
                    default: .press(button: button, at: place, modifiers)
                    }
                }
            case GST_NAVIGATION_EVENT_MOUSE_BUTTON_RELEASE:
                Gesture.button(event).flatMap { button, place in
                    4...5 ~= button ? nil : .release(button: button, at: place, modifiers)
                }
            case GST_NAVIGATION_EVENT_MOUSE_MOVE:
                Gesture.place { gst_navigation_event_parse_mouse_move_event(event, $0, $1) }
                    .map { .move(to: $0, modifiers) }
            case GST_NAVIGATION_EVENT_MOUSE_SCROLL: Gesture.scroll(event, modifiers)
            case GST_NAVIGATION_EVENT_TOUCH_DOWN:
                Gesture.touch(event).map { .press(button: 1, at: $0, modifiers) }
            case GST_NAVIGATION_EVENT_TOUCH_MOTION:
                Gesture.touch(event).map { .move(to: $0, modifiers.union(.button1)) }
            case GST_NAVIGATION_EVENT_TOUCH_UP:
                Gesture.touchEnd(event).map { .release(button: 1, at: $0, modifiers) }
            case GST_NAVIGATION_EVENT_KEY_PRESS: Gesture.key(event).map { .keyPress($0, modifiers) }
            case GST_NAVIGATION_EVENT_KEY_RELEASE: Gesture.key(event).map { .keyRelease($0, modifiers) }
            default: nil
            }
        guard let gesture else { return nil }
        self = gesture
    }

    // MARK: The kinds of events

    private typealias Event = EventPointer

    private static func button(_ event: Event) -> (button: Int, place: Place)? {
        var (button, x, y) = (gint(0), gdouble(0), gdouble(0))
        guard gst_navigation_event_parse_mouse_button_event(event, &button, &x, &y) != 0 else { return nil }
        return Place(x, y).map { (Int(button), $0) }
    }

    private static func place(
        _ parse: (UnsafeMutablePointer<gdouble>, UnsafeMutablePointer<gdouble>) -> gboolean
    ) -> Place? {
        var (x, y) = (gdouble(0), gdouble(0))
        return parse(&x, &y) != 0 ? Place(x, y) : nil
    }

    private static func touch(_ event: Event) -> Place? {
        var finger: guint = 0
        return place { gst_navigation_event_parse_touch_event(event, &finger, $0, $1, nil) }
    }

    private static func touchEnd(_ event: Event) -> Place? {
        var finger: guint = 0
        return place { gst_navigation_event_parse_touch_up_event(event, &finger, $0, $1) }
    }

    /// An event is one step: how far a notch goes, each kind of sink counts in a unit of its own (1, 20 or 120).
    private static func scroll(_ event: Event, _ modifiers: Modifiers) -> Gesture? {
        var (x, y, across, up) = (gdouble(0), gdouble(0), gdouble(0), gdouble(0))
        guard gst_navigation_event_parse_mouse_scroll_event(event, &x, &y, &across, &up) != 0,
            let place = Place(x, y), up.isFinite
        else { return nil }
        return .scroll(at: place, up: up > 0 ? 1 : up < 0 ? -1 : 0, modifiers)
    }

    private static func key(_ event: Event) -> String? {
        var name: UnsafePointer<CChar>?
        guard gst_navigation_event_parse_key_event(event, &name) != 0 else { return nil }
        return name.map { String(cString: $0) }
    }
}
