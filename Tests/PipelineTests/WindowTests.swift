import Foundation
import Testing

/// Hands on a real window: xdotool moves the pointer of an X server, `ximagesink` sees it, and the screen is read again.
@Suite struct WindowTests {
    private static let (width, height) = (320, 240)
    private static let camera =
        "depthtestsrc name=camera num-buffers=3600 pattern=ramp camera.depth ! video/x-raw,width=320,height=240,framerate=30/1"

    /// The effect of each gesture, and the properties that report it.
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

    // MARK: OpenGL

    private static let hasGL = Command("gst-inspect-1.0", ["glupload"]).run().status == 0

    @Test(.enabled(if: Screen.isPossible && hasGL, "Xvfb, xdotool or gstreamer1.0-gl is not installed"))
    func `video comes from the graphics card and goes back there`() throws {
        let folder = try Places.makeFolder()
        func line(_ before: String, _ after: String, _ file: String) -> String {
            // Without faces, whose metas the card's elements drop.
            "depthtestsrc name=camera face=false num-buffers=3 camera.video ! video/x-raw,format=BGRx,width=160,height=120 ! \(before) "
                + "depthmatte name=m background-color=0xff204080 ! \(after) video/x-raw,format=BGRx ! filesink location=\(file) "
                + "camera.depth ! video/x-raw,width=160,height=120 ! m.depth"
        }
        #expect(Command.launch(line("", "", "plain"), in: folder).run().status == 0)
        let expected = try Data(contentsOf: folder.appending(path: "plain"))
        let screen = try Screen(line("glupload ! gldownload !", "glupload ! gldownload !", "gl"), in: folder)
        let pictures = try screen.wait(for: "three pictures") { () -> Data? in
            let bytes = try? Data(contentsOf: folder.appending(path: "gl"))
            return bytes?.count == expected.count ? bytes : nil
        }
        let isNear = zip(pictures, expected).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
        #expect(isNear && !expected.isEmpty)
    }

    // MARK: depthmatte

    /// The ramp rises from 0.5 m at the left edge by 4 m; the window shows two pixels for each of the video's.
    private static let matte =
        """
        depthtestsrc name=camera num-buffers=3600 pattern=ramp camera.depth ! video/x-raw,width=160,height=120 ! matte.depth
        camera.video ! video/x-raw,width=160,height=120,framerate=30/1
        ! depthmatte name=matte navigation=steer anchor=point anchor-smoothing=0 blur-radius=0
        """
    private static let window = "videoscale ! video/x-raw,width=320,height=240"

    @Test(.enabled(if: Screen.isPossible, "Xvfb and xdotool are not installed"))
    func `a hand on the window changes the view, asks for a distance and moves the margin`() throws {
        let folder = try Places.makeFolder()
        let screen = try Screen(
            "\(WindowTests.matte) ! \(WindowTests.window) ! videoconvert ! ximagesink sync=true", in: folder)
        func wait(for what: String, until isSeen: (Picture) -> Bool) throws -> Picture {
            try screen.wait(for: what) {
                let picture = try screen.picture(width: WindowTests.width, height: WindowTests.height)
                return isSeen(picture) ? picture : nil
            }
        }
        let composite = try matte("", in: folder)
        _ = try wait(for: "the composite") { isShown($0, composite) }

        try screen.act("mousemove 100 60 key 4")
        let mask = try matte("view=matte", in: folder)
        _ = try wait(for: "the matte") { isShown($0, mask) }
        try screen.act("key 3")
        let depth = try matte("view=depth", in: folder)
        let before = try wait(for: "the depth") { isShown($0, depth) }

        // Row 30 of the video, and column 50, whose middle is 1.7625 m away; where the anchor is from now on.
        try screen.act("mousedown 1")
        let answer = try screen.wait(for: "an answer") { screen.message("depth-probe") }
        #expect(
            answer.hasPrefix("x=(double)50, y=(double)30, measured=(boolean)true, metres=(double)1.76"), "\(answer)")
        let held = try wait(for: "a number") { !isShown($0, before) }
        let marked = differences(held, before, above: 0)
        #expect(marked.allSatisfy { 100..<200 ~= $0.x && 30..<90 ~= $0.y })
        try screen.act("mouseup 1")
        _ = try wait(for: "the depth without the number") { isShown($0, before) }
        #expect(screen.value(of: "anchor-x") == 50.0 / 160 && screen.value(of: "anchor-y") == 30.0 / 120)

        try screen.act("key 1 click 4 click 4 click 5")
        let margin = try screen.wait(for: "a margin of 0.3 m") {
            screen.value(of: "margin").flatMap { abs($0 - 0.3) < 1e-9 ? $0 : nil }
        }
        let moved = try matte("anchor-x=0.3125 anchor-y=0.25 margin=\(margin)", in: folder)
        let narrower = try matte("anchor-x=0.3125 anchor-y=0.25", in: folder)
        #expect(!isShown(moved, narrower) && !isShown(moved, composite))
        _ = try wait(for: "the composite with another anchor and margin") { isShown($0, moved) }
    }

    /// The picture that the element makes when the properties are set to begin with, as large as the window.
    private func matte(_ properties: String, in folder: URL) throws -> Picture {
        try Picture(
            of: WindowTests.matte.replacing("num-buffers=3600", with: "num-buffers=1")
                + " \(properties) ! \(WindowTests.window)", in: folder)
    }

    // MARK: Pictures

    /// The picture that the element makes when the properties are set to begin with.
    private func cloud(_ values: [String: Double], in folder: URL) throws -> Picture {
        let properties = values.map { "\($0)=\($1)" }.joined(separator: " ")
        return try Picture(
            of: WindowTests.camera.replacing("num-buffers=3600", with: "num-buffers=1")
                + " ! depthcloud \(properties)", in: folder)
    }

    /// True where two pictures have the same colors, but for what a rounded value moves by a pixel.
    private func isShown(_ picture: Picture, _ expected: Picture) -> Bool {
        guard picture.width == expected.width, picture.height == expected.height else { return false }
        return differences(picture, expected, above: 2).count * 1000 <= picture.width * picture.height
    }

    /// The pixels of which a color differs by more than `tolerance` between two pictures of one size.
    private func differences(_ one: Picture, _ other: Picture, above tolerance: Int) -> [(x: Int, y: Int)] {
        var places: [(x: Int, y: Int)] = []
        for index in 0..<one.width * one.height {
            let isAnother = (index * 4..<index * 4 + 3).contains { byte in
                abs(Int(one.bytes[byte]) - Int(other.bytes[byte])) > tolerance
            }
            if isAnother { places.append((index % one.width, index / one.width)) }
        }
        return places
    }
}
