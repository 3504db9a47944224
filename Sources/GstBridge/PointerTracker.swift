import CGStreamer
import Synchronization

/// Reads the gestures of one pointer out of a window's events: the mouse, or the first of several fingers.
///
/// Whatever was pressed is also released: touches that the window takes back are lifted where they last were, and a
/// button whose release was lost, as it is when the pointer leaves some windows, is released by the first move that says
/// that no button is held. Not every window says so: only one that did since the press is believed.
///
/// Any thread.
package final class PointerTracker: Sendable {
    private let pointer = Mutex(Pointer())

    package init() {}

    /// The gesture of an event, which stays the caller's; nil for none, and for another pointer's.
    package func gesture(_ event: EventPointer) -> Gesture? {
        let touch = Touch(event)
        let gesture = Gesture(event)
        return pointer.withLock { pointer in
            if let touch { return pointer.follow(touch, gesture) }
            return gesture.flatMap { pointer.follow($0) }
        }
    }

    /// Nothing is held any more.
    package func letGo() { pointer.withLock { $0 = Pointer() } }
}

/// The part of an event about fingers.
private enum Touch {
    case down(guint), motion(guint), up(guint), cancel

    /// - Returns: nil for an event that is not about fingers.
    init?(_ event: EventPointer) {
        guard event.pointee.type == GST_EVENT_NAVIGATION else { return nil }
        var (finger, x, y) = (guint(0), gdouble(0), gdouble(0))
        let type = gst_navigation_event_get_type(event)
        switch type {
        case GST_NAVIGATION_EVENT_TOUCH_DOWN, GST_NAVIGATION_EVENT_TOUCH_MOTION:
            guard gst_navigation_event_parse_touch_event(event, &finger, &x, &y, nil) != 0 else { return nil }
            self = type == GST_NAVIGATION_EVENT_TOUCH_DOWN ? .down(finger) : .motion(finger)
        case GST_NAVIGATION_EVENT_TOUCH_UP:
            guard gst_navigation_event_parse_touch_up_event(event, &finger, &x, &y) != 0 else { return nil }
            self = .up(finger)
        case GST_NAVIGATION_EVENT_TOUCH_CANCEL: self = .cancel
        default: return nil
        }
    }
}

private struct Pointer {
    /// The finger that is followed.
    private var finger: guint?
    /// Mouse buttons that are down.
    private var pressed: Set<Int> = []
    /// The window has said so since the last press.
    private var isVouchedFor = false
    /// Where the pointer was last.
    private var place = Gesture.Place(x: 0, y: 0)

    /// - Parameter gesture: nil where the place of the touch is none.
    mutating func follow(_ touch: Touch, _ gesture: Gesture?) -> Gesture? {
        switch touch {
        case .down(let other):
            guard finger == nil || finger == other, case .press(_, let place, _) = gesture else { return nil }
            (finger, self.place) = (other, place)
            return gesture
        case .motion(let other):
            guard finger == other, case .move(let place, _) = gesture else { return nil }
            self.place = place
            return gesture
        case .up(let other):
            guard finger == other else { return nil }
            finger = nil
            return gesture ?? .release(button: 1, at: place, [])
        case .cancel:
            guard finger != nil else { return nil }
            finger = nil
            return .release(button: 1, at: place, [])
        }
    }

    /// The gesture of the mouse or a key. The mouse neither presses nor moves while a finger does.
    mutating func follow(_ gesture: Gesture) -> Gesture? {
        switch gesture {
        case .press(let button, let place, _):
            guard finger == nil else { return nil }
            if 1...3 ~= button { pressed.insert(button) }
            (isVouchedFor, self.place) = (false, place)
        case .move(let place, let modifiers):
            guard finger == nil else { return nil }
            if !pressed.isEmpty && !modifiers.isDisjoint(with: .buttons) { isVouchedFor = true }
            if isVouchedFor, modifiers.isDisjoint(with: .buttons), let lost = pressed.min() {
                pressed.remove(lost)
                return .release(button: lost, at: self.place, modifiers)
            }
            self.place = place
        case .release(let button, _, _): pressed.remove(button)
        case .scroll, .keyPress, .keyRelease: break
        }
        return gesture
    }
}

extension Gesture.Modifiers {
    fileprivate static let buttons: Gesture.Modifiers = [.button1, .button2, .button3]
}
