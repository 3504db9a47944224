import Foundation
import Testing

/// Hands on a real window: xdotool moves the pointer of an X server, `ximagesink` sees it, and the screen is read again.
@Suite struct WindowTests {
    private static let (width, height) = (320, 240)
    private static let camera =
        "depthtestsrc name=camera num-buffers=3600 pattern=ramp camera.depth ! video/x-raw,width=320,height=240,framerate=30/1"

    /// What each gesture does, and the properties that tell of it.
    static let gestures: [(words: String, changes: [String: Double])] = [
        ("mousemove 100 100 mousedown 1 mousemove 160 124 mouseup 1", ["yaw": 45, "pitch": 18]),
        ("click 4 click 4", ["zoom": 0.1]),
        ("click 5", ["zoom": 0.05]),
        // At half a metre less 5 cm the picture of 240 lines is 2 · tan(35°) · 0.45 m high.
        (
            "mousemove 100 100 mousedown 3 mousemove 140 90 mouseup 3",
            ["pan-x": 40 * 0.63018678438 / 240, "pan-y": -10 * 0.63018678438 / 240]
        ),
        // From the right of the middle to below it.
        ("keydown shift mousemove 259 119 mousedown 1 mousemove 160 219 mouseup 1 keyup shift", ["roll": 90]),
        (
            "mousemove 50 50 click --repeat 2 --delay 50 1",
            ["yaw": 0, "pitch": 0, "roll": 0, "zoom": 0, "pan-x": 0, "pan-y": 0]
        ),
    ]

    @Test(.enabled(if: Screen.isPossible, "Xvfb and xdotool are not installed"))
    func `a hand on the window turns, moves and brings nearer what is in it`() throws {
        let folder = try Places.makeFolder()
        let screen = try Screen("\(WindowTests.camera) ! depthcloud name=cloud ! ximagesink sync=true", in: folder)
        var seen = try screen.wait(for: "a picture") { () -> Picture? in
            let picture = try screen.picture(width: WindowTests.width, height: WindowTests.height)
            return isShown(picture, try cloud([:], in: folder)) ? picture : nil
        }
        var values: [String: Double] = [:]
        for (words, changes) in WindowTests.gestures {
            try screen.act(words)
            for (property, expected) in changes {
                values[property] = try screen.wait(for: "\(property) = \(expected) after \(words)") {
                    // The roll is between two whole pixels.
                    screen.value(of: property).flatMap {
                        abs($0 - expected) <= (property == "roll" ? 0.5 : 1e-6) ? $0 : nil
                    }
                }
            }
            let expected = try cloud(values, in: folder)
            let after = try screen.wait(for: "another picture after \(words)") { () -> Picture? in
                let picture = try screen.picture(width: WindowTests.width, height: WindowTests.height)
                return isShown(picture, expected) ? picture : nil
            }
            #expect(after.bytes != seen.bytes, "\(words)")
            seen = after
        }
    }

    /// The picture that the element makes when the properties are set to begin with.
    private func cloud(_ values: [String: Double], in folder: URL) throws -> Picture {
        let properties = values.map { "\($0)=\($1)" }.joined(separator: " ")
        return try Picture(
            of: WindowTests.camera.replacing("num-buffers=3600", with: "num-buffers=1")
                + " ! depthcloud \(properties)", in: folder)
    }

    /// Whether two pictures have the same colours, but for what a rounded value moves by a pixel.
    private func isShown(_ picture: Picture, _ expected: Picture) -> Bool {
        guard picture.width == expected.width, picture.height == expected.height else { return false }
        let pixels = picture.width * picture.height
        let different = (0..<pixels).count { index in
            (0..<3).contains { abs(Int(picture.bytes[index * 4 + $0]) - Int(expected.bytes[index * 4 + $0])) > 2 }
        }
        return different * 1000 <= pixels
    }
}
