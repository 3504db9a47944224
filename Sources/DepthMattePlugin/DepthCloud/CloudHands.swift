import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// What a user's hands do to the view: sinks' threads tell of the events, the streaming thread of the picture. The lock is
/// held while that of the settings is taken.
final class CloudHands: Sendable {
    private struct State: Sendable {
        var gestures = CloudGestures()
        /// Size of the picture that leaves; nil while there is none.
        var size: (width: Int, height: Int)?
        /// What the slow circle added to the last view that was drawn.
        var circle: (yaw: Double, pitch: Double) = (0, 0)
    }

    private let state = Mutex(State())

    /// The picture that leaves has another size.
    func setSize(width: Int, height: Int) { state.withLock { $0.size = (width, height) } }

    /// The view to draw at a stream time.
    func view(_ settings: DepthCloudSettings, at time: GstClockTime) -> CloudView {
        let circle = settings.autoPan ? CloudCircle.offset(at: UInt64(time)) : (0, 0)
        state.withLock { $0.circle = circle }
        return settings.view.turned(by: circle)
    }

    /// Changes the view as an event asks for.
    ///
    /// Whoever takes hold of a cloud that turns by itself takes it from where it is.
    /// - Returns: the properties that have other values now.
    func take(_ event: PointerEvent, _ table: Properties<DepthCloudSettings>) -> [String] {
        state.withLock { state -> [String] in
            guard let size = state.size else { return [] }
            var changed: [String] = []
            // In one step: whoever sets a property meanwhile comes before the event or after it.
            table.update { settings in
                let before = settings
                let picture = CloudGestures.Picture(
                    width: size.width, height: size.height, fieldOfView: settings.fieldOfView)
                let shown = settings.autoPan ? settings.view.turned(by: state.circle) : settings.view
                guard let view = state.gestures.view(after: event, from: shown, in: picture) else { return }
                settings.view = view
                settings.autoPan = false
                changed = DepthCloudProperties.differences(before, settings)
            }
            return changed
        }
    }

    /// The stream is over, and with it whatever was held.
    func letGo() { state.withLock { $0 = State() } }
}

extension CloudView {
    fileprivate func turned(by circle: (yaw: Double, pitch: Double)) -> CloudView {
        var view = self
        view.yaw = wrapped(degrees: yaw + circle.yaw)
        view.pitch = wrapped(degrees: pitch + circle.pitch)
        return view
    }
}

extension PointerEvent {
    /// - Parameter time: nanoseconds at which it happened.
    init?(_ gesture: Gesture, time: UInt64) {
        switch gesture {
        case .press(let button, let place, let modifiers):
            self = .press(
                button: button, at: SIMD2(place.x, place.y), withShift: modifiers.contains(.shift), time: time)
        case .release(let button, let place, _): self = .release(button: button, at: SIMD2(place.x, place.y))
        case .move(let place, _): self = .move(to: SIMD2(place.x, place.y))
        case .scroll(_, let up, _): self = .scroll(notches: Double(up))
        case .keyPress(let name, _):
            guard name.isShift else { return nil }
            self = .shift(isDown: true)
        case .keyRelease(let name, _):
            guard name.isShift else { return nil }
            self = .shift(isDown: false)
        }
    }
}

extension String {
    fileprivate var isShift: Bool { self == "Shift_L" || self == "Shift_R" }
}
