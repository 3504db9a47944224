import DepthKernels
import Testing

@Suite struct CloudGestureTests {
    private let picture = CloudGestures.Picture(width: 640, height: 480, fieldOfView: 70)

    /// The view after some events, from the camera's own.
    private func view(
        after events: [PointerEvent], from start: CloudView = CloudView(), in picture: CloudGestures.Picture? = nil
    ) -> CloudView {
        var gestures = CloudGestures()
        return events.reduce(start) { view, event in
            gestures.view(after: event, from: view, in: picture ?? self.picture) ?? view
        }
    }

    private func press(
        _ x: Double, _ y: Double, button: Int = 1, shift: Bool = false, time: UInt64 = 0
    ) -> PointerEvent { .press(button: button, at: [x, y], withShift: shift, time: time) }

    @Test func `a drag over the height of the picture is half a turn`() {
        let view = view(after: [press(100, 100), .move(to: [340, 100]), .release(button: 1, at: [340, 160])])
        #expect(view.yaw == 90 && view.pitch == 22.5)
        #expect(view.roll == 0 && view.zoom == 0 && view.panX == 0 && view.panY == 0)
    }

    @Test func `a drag in many steps does what one in a single step does`() {
        let steps = (1...24).map { PointerEvent.move(to: [100 + Double($0) * 10, 100]) }
        #expect(view(after: [press(100, 100)] + steps).yaw == 90)
    }

    @Test func `the pointer does nothing where no button is down`() {
        #expect(view(after: [.move(to: [5, 5]), .move(to: [50, 50])]) == CloudView())
        let ended: [PointerEvent] = [press(0, 0), .release(button: 1, at: [0, 0]), .move(to: [90, 90])]
        #expect(view(after: ended) == CloudView())
    }

    @Test func `shift and drag rolls about the middle`() {
        let (x, y) = (319.5, 239.5)
        let quarter: [PointerEvent] = [press(x + 100, y, shift: true), .move(to: [x, y + 100])]
        #expect(abs(view(after: quarter).roll - 90) < 1e-9)
        let byKey: [PointerEvent] = [.shift(isDown: true), press(x + 100, y), .move(to: [x, y - 50])]
        #expect(abs(view(after: byKey).roll + 90) < 1e-9)
        let released: [PointerEvent] = [
            .shift(isDown: true), .shift(isDown: false), press(x + 100, y), .move(to: [x + 100, y + 24]),
        ]
        #expect(view(after: released).roll == 0 && view(after: released).pitch == 9)
    }

    @Test func `the middle of the picture has no direction to roll from`() {
        #expect(view(after: [press(319.5, 239.5, shift: true), .move(to: [400, 239.5])]) == CloudView())
    }

    @Test(arguments: [2, 3], [0, 0.3, -2])
    func `with the right button the center stays under the pointer`(button: Int, zoom: Double) {
        var start = CloudView()
        start.zoom = zoom
        let view = view(after: [press(10, 10, button: button), .move(to: [110, 60])], from: start)
        // The picture spans 2 · tan(35°) times the distance over 480 pixels.
        let metresPerPixel = (0.5 - zoom) * 2 * 0.700_207_538_209_709_8 / 480
        #expect(abs(view.panX - 100 * metresPerPixel) < 1e-12 && abs(view.panY - 50 * metresPerPixel) < 1e-12)
        #expect(view.yaw == 0 && view.zoom == zoom)
    }

    @Test func `the wheel comes nearer and goes away`() {
        #expect(abs(view(after: [.scroll(notches: 1), .scroll(notches: 1)]).zoom - 0.1) < 1e-12)
        #expect(view(after: [.scroll(notches: -2)]).zoom == -0.1)
    }

    @Test func `a double click goes back to the camera's view`() {
        var turned = CloudView()
        (turned.yaw, turned.roll, turned.zoom, turned.panX) = (50, 20, 0.2, 1)
        let clicks: [PointerEvent] = [
            press(50, 50, time: 1_000), .release(button: 1, at: [50, 50]), press(53, 50, time: 400_000_000),
        ]
        #expect(view(after: clicks, from: turned) == CloudView())
        #expect(view(after: [.doubleClick], from: turned) == CloudView())
        // And drags on from there.
        #expect(view(after: clicks + [.move(to: [53, 74])], from: turned).pitch == 9)
    }

    @Test func `two clicks far apart in time or place are no double click`() {
        var turned = CloudView()
        turned.yaw = 50
        for (x, time) in [(50.0, UInt64(600_000_000)), (80, 100_000_000)] {
            let clicks: [PointerEvent] = [
                press(50, 50, time: 0), .release(button: 1, at: [50, 50]), press(x, 50, time: time),
            ]
            #expect(view(after: clicks, from: turned) == turned)
        }
        let backwards: [PointerEvent] = [
            press(50, 50, time: 9), .release(button: 1, at: [50, 50]), press(50, 50, time: 8),
        ]
        #expect(view(after: backwards, from: turned) == turned)
    }

    @Test func `a drag is no click, however soon the next press is where it began`() {
        let drag: [PointerEvent] = [press(50, 50), .move(to: [74, 50]), .release(button: 1, at: [74, 50])]
        #expect(view(after: drag + drag).yaw == 18)
        // As when only the release tells where the pointer went.
        let jump: [PointerEvent] = [press(50, 50), .release(button: 1, at: [74, 50])]
        #expect(view(after: jump + jump).yaw == 18)
        // A hand is never quite still.
        let shaky: [PointerEvent] = [press(50, 50), .move(to: [52, 50]), .release(button: 1, at: [52, 50])]
        #expect(view(after: shaky + [press(51, 50)]) == CloudView())
    }

    @Test func `a third click is a first one again`() {
        var gestures = CloudGestures()
        var resets = 0
        for click in 0..<3 {
            let event = press(50, 50, time: UInt64(click) * 1_000_000)
            if gestures.view(after: event, from: CloudView(), in: picture) != nil { resets += 1 }
            _ = gestures.view(after: .release(button: 1, at: [50, 50]), from: CloudView(), in: picture)
        }
        #expect(resets == 1)
    }

    @Test func `another button does not disturb a drag`() {
        let events: [PointerEvent] = [
            press(0, 0), press(0, 0, button: 3), .release(button: 3, at: [0, 0]), .move(to: [24, 0]),
        ]
        #expect(view(after: events).yaw == 9 && view(after: events).panX == 0)
    }

    @Test func `angles go round and stay numbers`() {
        let many = (0..<100).flatMap { _ in [press(0, 0), .move(to: [470, 0]), .release(button: 1, at: [470, 0])] }
        let view = view(after: many)
        #expect(view.yaw > -180 && view.yaw <= 180)
        #expect(wrapped(degrees: 540) == 180 && wrapped(degrees: -180) == 180 && wrapped(degrees: -181) == 179)
        #expect(wrapped(degrees: .nan) == 0 && wrapped(degrees: .infinity) == 0)
    }

    @Test func `no number from a window is a trap`() {
        let wild = [Double.nan, .infinity, -.infinity, 1e300, -1e300, .greatestFiniteMagnitude, 0, -1]
        for value in wild {
            for other in wild {
                for picture in [
                    picture, .init(width: 0, height: 0, fieldOfView: value),
                    .init(width: .min, height: .max, fieldOfView: 70),
                ] {
                    for shift in [false, true] {
                        let events: [PointerEvent] = [
                            press(value, other, shift: shift), .move(to: [other, value]), .scroll(notches: value),
                            press(3, 3, button: .min, shift: shift), press(3, 3, shift: shift, time: .max),
                            .move(to: [value, 9]), .release(button: 1, at: [other, other]), press(1, 1, button: 2),
                            .move(to: [1e6, other]), .move(to: [1e6, -1e6]),
                        ]
                        let view = view(after: events, in: picture)
                        for number in [view.yaw, view.pitch, view.roll, view.zoom, view.panX, view.panY] {
                            #expect(number.isFinite && abs(number) <= 1e4)
                        }
                    }
                }
            }
        }
    }

    @Test func `the circle goes round in 200 frames and begins at the right`() {
        #expect(CloudCircle.offset(at: 0) == (20, 0))
        let quarter = CloudCircle.offset(at: CloudCircle.period / 4)
        #expect(abs(quarter.yaw) < 1e-6 && abs(quarter.pitch - 20) < 1e-6)
        let later = CloudCircle.offset(at: .max / 2)
        #expect(abs((later.yaw * later.yaw + later.pitch * later.pitch).squareRoot() - 20) < 1e-9)
        #expect(CloudCircle.offset(at: CloudCircle.period) == CloudCircle.offset(at: 0))
        #expect(abs(Double(CloudCircle.period) - 200 * 1e9 / 30) < 1)
    }
}
