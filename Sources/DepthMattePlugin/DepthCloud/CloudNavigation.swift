import CGStreamer
import DepthKernels
import GstBridge
import Synchronization

/// Changes the view by the navigation events of the video sink.
///
/// Events arrive on the sinks' threads, sizes and view requests on the streaming thread. The lock is held while the
/// settings' lock is taken.
final class CloudNavigation: Sendable {
    private struct State: Sendable {
        var gestures = CloudGestures()
        /// Size of the output picture; nil before the first caps.
        var size: (width: Int, height: Int)?
        /// The rotation that `auto-pan` added to the last drawn view.
        var circle: (yaw: Double, pitch: Double) = (0, 0)
    }

    private let state = Mutex(State())

    /// Sets the size of the output picture.
    func setSize(width: Int, height: Int) { state.withLock { $0.size = (width, height) } }

    /// Returns the view to draw at a stream time.
    func view(_ settings: DepthCloudSettings, at time: GstClockTime) -> CloudView {
        let circle = settings.autoPan ? CloudCircle.offset(at: UInt64(time)) : (0, 0)
        state.withLock { $0.circle = circle }
        return settings.view.turned(by: circle)
    }

    /// Applies an event to the view. A cloud turned by `auto-pan` continues from the view that was drawn last.
    ///
    /// - Returns: the names of the changed properties.
    func apply(_ event: PointerEvent, _ table: Properties<DepthCloudSettings>) -> [String] {
        state.withLock { state -> [String] in
            guard let size = state.size else { return [] }
            var changed: [String] = []
            // Atomic, so that a property set on another thread comes either before the event or after it.
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

    /// Forgets the gestures under way and the size, at the end of the stream.
    func reset() { state.withLock { $0 = State() } }
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
    /// Returns nil for gestures that do not change the view.
    ///
    /// - Parameter time: the time of the event, in nanoseconds.
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
