/// An event of the pointer or the keyboard in the picture.
///
/// Positions are pixels of the picture from its upper left corner; times are nanoseconds from an arbitrary origin.
package enum PointerEvent: Equatable, Sendable {
    /// Buttons count from 1: left, middle, right.
    case press(button: Int, at: SIMD2<Double>, withShift: Bool, time: UInt64)
    case release(button: Int, at: SIMD2<Double>)
    case move(to: SIMD2<Double>)
    /// Notches of the wheel; above 0 away from the user.
    case scroll(notches: Double)
    /// From sinks that detect double clicks themselves.
    case doubleClick
    /// The shift key is pressed or released; from sinks that do not report modifiers with each press.
    case shift(isDown: Bool)
}

/// Translates events of the pointer into changes of the view.
///
/// | gesture | effect |
/// |---|---|
/// | drag | turns: yaw and pitch, half a turn for a drag over the height of the picture |
/// | shift and drag | rolls, about the middle of the picture, with the pointer |
/// | right or middle drag | moves the cloud, so that its center stays under the pointer |
/// | wheel | moves the cloud nearer or farther by 5 cm a notch |
/// | double click | resets the view to that of the camera |
///
/// The result depends on the events and the view alone: no clock, no window.
package struct CloudGestures: Sendable {
    /// The picture in which the pointer moves.
    package struct Picture: Equatable, Sendable {
        package var width: Int
        package var height: Int
        /// Vertical angle, in degrees.
        package var fieldOfView: Double

        package init(width: Int, height: Int, fieldOfView: Double) {
            self.width = width
            self.height = height
            self.fieldOfView = fieldOfView
        }
    }

    /// Two presses no farther apart than this in time (nanoseconds) and place (pixels), with no drag between them, are
    /// a double click.
    package static let doubleClickTime: UInt64 = 500_000_000
    package static let doubleClickDistance = 6.0
    package static let metresPerNotch = 0.05

    private enum Drag { case turn, roll, move }

    private var drag: (kind: Drag, button: Int, from: SIMD2<Double>)?
    private var lastPress: (at: SIMD2<Double>, time: UInt64)?
    private var isShiftDown = false

    package init() {}

    /// The view after an event; nil where it changes nothing.
    package mutating func view(
        after event: PointerEvent, from view: CloudView, in picture: Picture
    ) -> CloudView? {
        switch event {
        case .press(let button, let place, let withShift, let time):
            return press(button, place, withShift, time)
        case .release(let button, let place):
            let moved = self.view(after: .move(to: place), from: view, in: picture)
            if drag?.button == button { drag = nil }
            return moved
        case .move(let place):
            guard isUsable(place), let current = drag, place != current.from else { return nil }
            drag?.from = place
            // A drag: the next press begins a new double click.
            if let press = lastPress, !isNear(press.at, place) { lastPress = nil }
            return moved(view, current.kind, from: current.from, to: place, in: picture)
        case .scroll(let notches):
            guard notches.isFinite, notches != 0 else { return nil }
            var view = view
            view.zoom += notches * CloudGestures.metresPerNotch
            return view.clamped
        case .doubleClick:
            (drag, lastPress) = (nil, nil)
            return CloudView()
        case .shift(let isDown):
            isShiftDown = isDown
            return nil
        }
    }

    private mutating func press(
        _ button: Int, _ place: SIMD2<Double>, _ withShift: Bool, _ time: UInt64
    ) -> CloudView? {
        guard isUsable(place), drag == nil else { return nil }
        switch button {
        case 1: drag = (withShift || isShiftDown ? .roll : .turn, button, place)
        case 2, 3: drag = (.move, button, place)
        default: return nil
        }
        guard button == 1 else {
            lastPress = nil
            return nil
        }
        if let last = lastPress, time >= last.time, time - last.time <= CloudGestures.doubleClickTime,
            isNear(last.at, place)
        {
            lastPress = nil  // a third press begins a new double click
            return CloudView()
        }
        lastPress = (place, time)
        return nil
    }

    private func moved(
        _ view: CloudView, _ kind: Drag, from: SIMD2<Double>, to: SIMD2<Double>, in picture: Picture
    ) -> CloudView? {
        var view = view
        let height = Double(max(picture.height, 1))
        switch kind {
        case .turn:
            let degrees = (to - from) * (180 / height)
            view.yaw += degrees.x
            view.pitch += degrees.y
        case .roll:
            let middle = SIMD2(Double(picture.width) - 1, Double(picture.height) - 1) / 2
            // Closer to the middle the direction is ill-conditioned.
            guard length(from - middle) >= 1, length(to - middle) >= 1 else { return nil }
            view.roll +=
                direction(x: to.x - middle.x, y: to.y - middle.y)
                - direction(x: from.x - middle.x, y: from.y - middle.y)
        case .move:
            let lens = CloudLens(width: picture.width, height: picture.height, fieldOfView: picture.fieldOfView)
            let metres = (to - from) * (max(CloudView.center - view.zoom, 0.05) / lens.focalLength)
            view.panX += metres.x
            view.panY += metres.y
        }
        return view.clamped
    }

    private func isUsable(_ place: SIMD2<Double>) -> Bool { abs(place.x) <= 1e6 && abs(place.y) <= 1e6 }

    private func isNear(_ one: SIMD2<Double>, _ other: SIMD2<Double>) -> Bool {
        length(one - other) <= CloudGestures.doubleClickDistance
    }

    private func length(_ way: SIMD2<Double>) -> Double { (way * way).sum().squareRoot() }
}

/// The slow circle in which `auto-pan` turns the cloud, as in Apple's sample: 20° to each side, once in 200 frames of a
/// thirtieth of a second.
package enum CloudCircle {
    /// Duration of one turn, in nanoseconds.
    package static let period: UInt64 = 6_666_666_667
    package static let degrees = 20.0

    /// The angles, in degrees, to be added to yaw and pitch at a time; the circle begins at the right.
    package static func offset(at time: UInt64) -> (yaw: Double, pitch: Double) {
        let angle = Double(time % period) / Double(period) * 360
        return (degrees * cosine(degrees: angle), degrees * sine(degrees: angle))
    }
}
