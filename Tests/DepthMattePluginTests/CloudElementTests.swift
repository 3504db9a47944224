import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

/// The pictures of `depthcloud`, and how the view is turned.
@Suite struct CloudElementTests {
    private static let depth = DepthShape("GRAY16_LE", 8, 4)
    private static let kind = Bench.Kind(factory: "depthcloud", leading: "depth")
    /// Points of one pixel: the cloud is then the picture.
    private static let sharp = ["point-size": "1"]

    private func bench(
        _ inputs: [String] = [], _ properties: [String: String] = CloudElementTests.sharp,
        downstream: String = "video/x-raw, format=RGBx"
    ) -> Bench {
        Bench(inputs, properties, downstream: downstream, of: CloudElementTests.kind)
    }

    private func wall(_ count: Int) -> [UInt8] {
        CloudElementTests.depth.bytes(counts: [Int](repeating: count, count: 8 * 4))
    }

    private func pixels(_ frame: Recorder.Frame) -> [[UInt8]] {
        stride(from: 0, to: frame.bytes.count - 3, by: 4).map { Array(frame.bytes[$0..<$0 + 4]) }
    }

    // MARK: Colors and formats

    @Test(arguments: templateFormats(ofPad: "src", of: "depthcloud"))
    func `every format shows the video's colors, opaque, over the background`(format: String) throws {
        let video = VideoShape("RGB", 8, 4)
        let bench = bench(
            ["video"], CloudElementTests.sharp.with(["background-color": "0x40102030"]),
            downstream: "video/x-raw, format=\(format)")
        bench.video.start(video)
        bench.video.push(flat(video, [200, 100, 50]), at: 0)
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(CloudElementTests.depth.bytes(counts: (0..<32).map { $0 % 3 == 0 ? 0 : 900 }), at: 0)
        let frame = try #require(bench.output.next())
        let shape = VideoShape(format, 8, 4)
        let samples = shape.components.map { component in
            (0..<32).map { frame.bytes[component.index($0 % 8, $0 / 8)] }
        }
        for (component, (cloud, background)) in [(200, 16), (100, 32), (50, 48)].enumerated() {
            #expect(samples[component].map { Int($0) } == (0..<32).map { $0 % 3 == 0 ? background : cloud })
        }
        if shape.hasAlpha { #expect(samples[3].map { Int($0) } == (0..<32).map { $0 % 3 == 0 ? 64 : 255 }) }
    }

    @Test(arguments: templateFormats(ofPad: "video", of: "depthcloud", isRequest: true))
    func `every video format colors the points`(format: String) throws {
        let video = VideoShape(format, 16, 8)
        let bench = bench(["video"])
        bench.video.start(video)
        bench.video.push([UInt8](repeating: 180, count: video.size), at: 0)
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        let colors = Set(pixels(try #require(bench.output.next())).map { Array($0.prefix(3)) })
        #expect(colors.count == 1 && colors != [[0, 0, 0]])
        if !video.isYUV { #expect(colors == [[180, 180, 180]]) }
    }

    @Test func `without a video the palette gives the colors, near red and far blue`() throws {
        for (inputs, properties) in [([], [:]), (["video"], ["colors": "palette"]), (["video"], [:])] {
            let bench = bench(inputs, CloudElementTests.sharp.with(properties))
            if !inputs.isEmpty {
                bench.video.start(VideoShape("RGB", 8, 4))
                if properties.isEmpty { bench.video.end() }  // it never brings a frame
                if !properties.isEmpty { bench.video.push([UInt8](repeating: 9, count: 8 * 4 * 3), at: 0) }
            }
            bench.depth.start(CloudElementTests.depth)
            bench.depth.push(CloudElementTests.depth.bytes(counts: (0..<32).map { $0 < 16 ? 800 : 3000 }), at: 0)
            let colors = pixels(try #require(bench.output.next()))
            #expect(Array(colors[0].prefix(3)) == [128, 0, 0] && Array(colors[31].prefix(3)) == [0, 0, 128])
        }
    }

    // MARK: Size

    @Test(arguments: [
        ("", 8, 4), (", width=80, height=20", 80, 20), (", width=80", 80, 40), (", height=80", 160, 80),
        (", width=[ 1, 6 ]", 6, 4), (", width=[ 20, 30 ], height=[ 50, 60 ]", 30, 50),
        (", width={ 5, 100 }, height=(int)7", 5, 7),
    ])
    func `the output has the size that downstream asks for, or else the depth's`(
        caps: String, width: Int, height: Int
    ) throws {
        let bench = bench(downstream: "video/x-raw, format=RGBx\(caps)")
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.bytes.count == width * height * 4)
        #expect(frame.caps.contains("width=(int)\(width), height=(int)\(height)"))
    }

    @Test func `a size over max-pixels is refused before memory is taken for it`() throws {
        let bench = bench(downstream: "video/x-raw, width=20000, height=20000")
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        #expect(try #require(bench.bus.nextError()).text.contains("20000x20000 is over the limit"))
    }

    @Test func `the next frame has the new size when downstream changes its mind`() throws {
        let pipeline = Pipeline(
            """
            depthtestsrc name=camera num-buffers=4 camera.depth ! video/x-raw,width=16,height=12
                ! depthcloud ! capsfilter name=filter caps=video/x-raw,width=16,height=12 ! appsink name=sink sync=false
            """)
        #expect(pipeline.set(GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        setProperty(pipeline["filter"], "caps", "video/x-raw,width=32,height=24")
        _ = pipeline.set(GST_STATE_PLAYING)
        let sizes = pipeline.frames(of: "sink").map { $0.bytes.count }
        #expect(sizes.last == 32 * 24 * 4, "\(sizes)")
    }

    @Test func `downstream's rate reaches the depth, its size does not`() {
        let bench = bench(downstream: "video/x-raw, width=80, height=40, framerate=15/1")
        let allowed = bench.depth.allowedCaps()
        #expect(allowed.contains("framerate=(fraction)15/1") && !allowed.contains("width=(int)80"))
    }

    // MARK: Faults

    @Test func `a faulty depth map shows the background, with a warning`() throws {
        let bench = bench([], CloudElementTests.sharp.with(["background-color": "0xff010203"]))
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push([1, 2, 3], at: 0)
        bench.depth.push(wall(900), at: time(ofFrame: 1))
        #expect(pixels(try #require(bench.output.next())).allSatisfy { Array($0.prefix(3)) == [1, 2, 3] })
        #expect(pixels(try #require(bench.output.next())).allSatisfy { Array($0.prefix(3)) != [1, 2, 3] })
        #expect(
            bench.bus.warnings().map(\.text) == [
                "A depth map on the depth pad is faulty: the buffer holds 3 bytes where its caps need 64, in rows of 16 bytes; "
                    + "nothing of it is shown."
            ])
    }

    @Test func `a faulty video frame leaves the palette, with a warning`() throws {
        let bench = bench(["video"])
        bench.video.start(VideoShape("RGBx", 8, 4))
        bench.video.push([1, 2, 3], at: 0)
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        #expect(Array(pixels(try #require(bench.output.next()))[0].prefix(3)) == [128, 0, 0])
        let warnings = bench.bus.warnings().map(\.text)
        #expect(warnings.count == 1 && warnings[0].hasPrefix("A frame on the video pad is faulty: "), "\(warnings)")
        #expect(warnings[0].hasSuffix("in rows of 32 bytes; the palette gives the colors."), "\(warnings)")
    }

    // MARK: Gestures

    /// A bench with a picture of 80 x 40, of which one frame has left.
    private func held(_ properties: [String: String] = [:]) throws -> Bench {
        let bench = bench([], properties, downstream: "video/x-raw, format=RGBx, width=80, height=40")
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        _ = try #require(bench.output.next())
        return bench
    }

    /// Sends an event as sinks do: without a timestamp. Whether it was used.
    @discardableResult
    private func send(_ bench: Bench, _ event: UnsafeMutablePointer<GstEvent>?) -> Bool {
        gst_pad_push_event(bench.output.pad, event) != 0
    }

    private let none = GST_NAVIGATION_MODIFIER_NONE
    private let left = GST_NAVIGATION_MODIFIER_BUTTON1_MASK

    private func drag(
        _ bench: Bench, button: gint = 1, from: (Double, Double), to: (Double, Double),
        _ modifiers: GstNavigationModifierType = GST_NAVIGATION_MODIFIER_NONE
    ) {
        send(bench, gst_navigation_event_new_mouse_button_press(button, from.0, from.1, modifiers))
        send(bench, gst_navigation_event_new_mouse_move(to.0, to.1, modifiers))
        send(bench, gst_navigation_event_new_mouse_button_release(button, to.0, to.1, modifiers))
    }

    @Test func `a drag turns the cloud and the properties tell`() throws {
        let bench = try held()
        drag(bench, from: (10, 10), to: (20, 30))
        #expect(number("yaw", of: bench.element) == 45 && number("pitch", of: bench.element) == 90)
        // The next picture shows the view that the properties say.
        bench.depth.push(wall(900), at: time(ofFrame: 1))
        let dragged = try #require(bench.output.next())
        let set = try held(["yaw": "45", "pitch": "90"])
        set.depth.push(wall(900), at: time(ofFrame: 1))
        #expect(dragged.bytes == (try #require(set.output.next())).bytes)
    }

    @Test func `each gesture changes its own properties and says so`() throws {
        let gestures: [(Set<String>, (Bench) -> Void)] = [
            (["yaw", "pitch"], { drag($0, from: (10, 10), to: (15, 30)) }),
            (["roll"], { drag($0, from: (60, 20), to: (40, 35), GST_NAVIGATION_MODIFIER_SHIFT_MASK) }),
            (["pan-x", "pan-y"], { drag($0, button: 3, from: (10, 10), to: (15, 30)) }),
            (["zoom"], { send($0, gst_navigation_event_new_mouse_scroll(5, 5, 0, -20, none)) }),
            (["zoom"], { send($0, gst_navigation_event_new_mouse_button_press(4, 5, 5, none)) }),
            (
                ["roll"],
                {
                    send($0, gst_navigation_event_new_key_press("Shift_L", none))
                    drag($0, from: (60, 20), to: (40, 35))
                }
            ),
        ]
        for (changed, gesture) in gestures {
            let bench = try held()
            let notices = Notices(bench.element)
            gesture(bench)
            #expect(Set(notices.names) == changed)
            for property in ["yaw", "pitch", "roll", "zoom", "pan-x", "pan-y"] {
                #expect((number(property, of: bench.element) != 0) == changed.contains(property), "\(property)")
            }
        }
    }

    private func click(_ bench: Bench) {
        send(bench, gst_navigation_event_new_mouse_button_press(1, 10, 10, none))
        send(bench, gst_navigation_event_new_mouse_button_release(1, 10, 10, none))
    }

    @Test func `a double click goes back to the camera's view`() throws {
        let bench = try held()
        let isQuick = eventually {
            bench.set("yaw", "30")
            bench.set("zoom", "0.2")
            let start = g_get_monotonic_time()
            for _ in 0..<2 { click(bench) }
            // On a machine that is slower than a hand it was none.
            return g_get_monotonic_time() - start < CloudElementTests.doubleClickTime
        }
        try #require(isQuick)
        #expect(number("yaw", of: bench.element) == 0 && number("zoom", of: bench.element) == 0)
    }

    private static let doubleClickTime = gint64(CloudGestures.doubleClickTime / 1000)

    @Test func `two clicks on one place, far apart in time, change nothing`() throws {
        let bench = try held(["yaw": "30", "zoom": "0.2"])
        click(bench)
        g_usleep(gulong(CloudElementTests.doubleClickTime) + 50_000)
        click(bench)
        #expect(number("yaw", of: bench.element) == 30 && number("zoom", of: bench.element) == 0.2)
    }

    @Test func `a second drag from where the first began goes on from where that ended`() throws {
        let bench = try held()
        for _ in 0..<2 { drag(bench, from: (10, 10), to: (20, 10)) }
        #expect(number("yaw", of: bench.element) == 90)
    }

    @Test(arguments: [1, 20, 120, 0.125])
    func `a turn of the wheel is one step, whatever the sink counts in`(delta: Double) throws {
        let bench = try held()
        send(bench, gst_navigation_event_new_mouse_scroll(5, 5, 0, delta, none))
        #expect(abs(number("zoom", of: bench.element) - 0.05) < 1e-9)
        for _ in 0..<2 { send(bench, gst_navigation_event_new_mouse_scroll(5, 5, 0, -delta, none)) }
        #expect(abs(number("zoom", of: bench.element) + 0.05) < 1e-9)
    }

    @Test func `a key that was used is answered so, though nobody upstream takes it`() throws {
        let bench = try held()
        bench.depth.refuseUpstreamEvents()
        #expect(send(bench, gst_navigation_event_new_key_press("Shift_L", none)))
        #expect(send(bench, gst_navigation_event_new_key_release("Shift_L", none)))
        #expect(!send(bench, gst_navigation_event_new_key_press("a", none)))
    }

    @Test func `auto-pan goes in a circle along the stream, and stops where a hand takes hold`() throws {
        let bench = try held(["auto-pan": "true", "yaw": "5"])
        // A quarter of the circle further on.
        bench.depth.push(wall(900), at: GstClockTime(CloudCircle.period / 4))
        let circling = try #require(bench.output.next())
        let set = try held()
        bench.set("auto-pan", "true")
        set.set("yaw", "5")
        set.set("pitch", "20")
        set.depth.push(wall(900), at: time(ofFrame: 1))
        #expect(circling.bytes == (try #require(set.output.next())).bytes)

        let notices = Notices(bench.element)
        drag(bench, from: (10, 10), to: (14, 10))
        #expect(Set(notices.names) == ["yaw", "pitch", "auto-pan"])
        #expect(integer("auto-pan", of: bench.element) == 0)
        #expect(abs(number("yaw", of: bench.element) - (5 + 18)) < 1e-6)
        #expect(abs(number("pitch", of: bench.element) - 20) < 1e-6)
    }

    @Test func `what is set during a drag stays set`() throws {
        let bench = try held()
        send(bench, gst_navigation_event_new_mouse_button_press(1, 10, 10, none))
        let hand = Repeater { round in
            send(bench, gst_navigation_event_new_mouse_move(10 + Double(round % 7), 10, left))
        }
        var lost = 0
        for round in 0..<50_000 {
            let zoom = round % 2 == 0 ? 0.25 : 0.5
            bench.set("zoom", "\(zoom)")
            if number("zoom", of: bench.element) != zoom { lost += 1 }
        }
        #expect(hand.finish() > 0)
        #expect(lost == 0)
    }

    @Test func `a second finger neither moves what the first one holds nor lets go of it`() throws {
        let bench = try held()
        send(bench, gst_navigation_event_new_touch_down(3, 10, 10, 0.5, none))
        send(bench, gst_navigation_event_new_touch_down(4, 60, 30, 0.5, none))
        send(bench, gst_navigation_event_new_touch_motion(4, 70, 30, 0.5, none))
        #expect(number("yaw", of: bench.element) == 0)
        send(bench, gst_navigation_event_new_touch_up(4, 70, 30, none))
        send(bench, gst_navigation_event_new_touch_motion(3, 20, 10, 0.5, none))
        #expect(number("yaw", of: bench.element) == 45)
        send(bench, gst_navigation_event_new_touch_up(3, 20, 10, none))
        send(bench, gst_navigation_event_new_touch_motion(3, 30, 10, 0.5, none))
        #expect(number("yaw", of: bench.element) == 45, "it is lifted")
    }

    @Test func `a button whose release was lost is let go of, where the window says which are held`() throws {
        let bench = try held()
        send(bench, gst_navigation_event_new_mouse_button_press(1, 10, 10, none))
        send(bench, gst_navigation_event_new_mouse_move(20, 10, left))
        #expect(number("yaw", of: bench.element) == 45)
        send(bench, gst_navigation_event_new_mouse_move(40, 10, none))
        send(bench, gst_navigation_event_new_mouse_move(50, 10, none))
        #expect(number("yaw", of: bench.element) == 45)
        send(bench, gst_navigation_event_new_mouse_button_press(1, 60, 10, none))
        send(bench, gst_navigation_event_new_mouse_move(70, 10, left))
        #expect(number("yaw", of: bench.element) == 90, "the next drag is one")
    }

    @Test func `pointers go no further, keys and commands go to whoever makes the depth`() throws {
        let bench = try held()
        let events = UpstreamEvents(bench.depth.pad)
        drag(bench, from: (10, 10), to: (15, 30))
        send(bench, gst_navigation_event_new_key_press("a", none))
        send(bench, gst_navigation_event_new_command(GST_NAVIGATION_COMMAND_MENU1))
        #expect(events.kinds == ["key-press", "command"])
    }

    @Test func `the strangest events from a window are no trap`() throws {
        let bench = try held()
        for number in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            drag(bench, from: (number, 1), to: (1, number))
            drag(bench, button: 3, from: (1, 1), to: (number, number))
            drag(bench, button: gint.min, from: (1, 1), to: (2, 2))
            send(bench, gst_navigation_event_new_mouse_scroll(number, number, number, number, none))
        }
        for text in ["x", "application/x-gst-navigation, event=(string)mouse-button-press", "y, event=(int)3"] {
            let structure = gst_structure_from_string(text, nil)
            send(bench, gst_event_new_navigation(structure))
        }
        bench.depth.push(wall(900), at: time(ofFrame: 1))
        #expect(bench.output.next() != nil)
    }

    // MARK: Snapshots

    @Test func `a snapshot is written whole and the property goes back`() throws {
        let folder = TemporaryFolder()
        let video = VideoShape("RGB", 8, 4)
        let bench = bench(["video"], ["location": folder["cloud.ply"], "fx": "10", "cx": "2"])
        let notices = Notices(bench.element)
        bench.video.start(video)
        bench.video.push(flat(video, [200, 100, 50]), at: 0)
        bench.depth.start(CloudElementTests.depth)
        bench.set("snapshot", "true")
        bench.depth.push(CloudElementTests.depth.bytes(counts: (0..<32).map { $0 * 100 }), at: 0)
        _ = try #require(bench.output.next())
        #expect(bench.bus.nextSnapshot() == folder["cloud.ply"])
        #expect(integer("snapshot", of: bench.element) == 0 && notices.names.contains("snapshot"))
        let bytes = folder.read("cloud.ply")
        let end = "end_header\n"
        let text = String(decoding: bytes.prefix(400), as: UTF8.self)
        #expect(text.contains("element vertex 31\n") && text.contains(end))
        // The last vertex: the last sample, 3.1 m away.
        let last = bytes.suffix(15)
        func float(_ index: Int) -> Double {
            let start = last.startIndex + 4 * index
            return Double(
                Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(last[start + $1]) << UInt32(8 * $1) }))
        }
        #expect(abs(float(0) - 3.1 * (7 - 2) / 10) < 1e-5 && abs(float(1) - 3.1 * 1.5 / 10) < 1e-5)
        #expect(abs(float(2) - 3.1) < 1e-5 && Array(last.suffix(3)) == [200, 100, 50])
        #expect(folder.names == ["cloud.ply"], "nothing else is left")
    }

    @Test(arguments: ["missing/cloud.ply", "."])
    func `a snapshot that cannot be written is a warning with file and reason, and the stream goes on`(
        name: String
    ) throws {
        let folder = TemporaryFolder()
        let bench = bench([], ["location": folder[name], "snapshot": "true"])
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        _ = try #require(bench.output.next())
        let text = try #require(bench.bus.nextWarning()).text
        #expect(text.contains(folder[name]))
        #expect(text.contains(name == "." ? "not a regular file" : "No such file or directory"))
        bench.depth.push(wall(900), at: time(ofFrame: 1))
        #expect(bench.output.next() != nil && bench.bus.errors().isEmpty)
        #expect(folder.names == [])
    }

    @Test func `a snapshot without a location is a warning`() throws {
        let bench = bench([], ["snapshot": "true"])
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        #expect(try #require(bench.bus.nextWarning()).text.contains("location"))
        _ = try #require(bench.output.next())
        #expect(integer("snapshot", of: bench.element) == 0)
    }

    @Test func `a snapshot goes to where it is asked for last, even while the frame is drawn`() throws {
        let folder = TemporaryFolder()
        let bench = bench(["video"], ["location": folder["first.ply"], "snapshot": "true"])
        let second = SettingAtWarning(bench, "location", folder["second.ply"])
        bench.video.start(VideoShape("RGBx", 8, 4))
        bench.video.push([1, 2, 3], at: 0)  // it is warned of, in the midst of drawing
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        _ = try #require(bench.output.next())
        #expect(bench.bus.nextSnapshot() == folder["second.ply"])
        #expect(folder.names == ["second.ply"])
        withExtendedLifetime(second) {}
    }

    @Test func `the end comes after the word of the snapshot`() throws {
        let folder = TemporaryFolder()
        let bench = bench([], ["location": folder["cloud.ply"], "snapshot": "true"])
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        bench.depth.end()
        #expect(bench.output.rest().count == 1)
        #expect(bench.bus.count(of: GST_MESSAGE_ELEMENT) == 1)
    }

    /// A bench with a wish for a snapshot that came after the last map, which was in the video's color.
    private func wishing(_ folder: TemporaryFolder) throws -> Bench {
        let video = VideoShape("RGB", 8, 4)
        let bench = bench(["video"], ["location": folder["cloud.ply"]])
        bench.video.start(video)
        bench.video.push(flat(video, [200, 100, 50]), at: 0)
        bench.depth.start(CloudElementTests.depth)
        bench.depth.push(wall(900), at: 0)
        _ = try #require(bench.output.next())
        bench.set("snapshot", "true")
        return bench
    }

    @Test(arguments: [true, false])
    func `a snapshot that is asked for after the last map is made of that one, at the end or the stop`(
        atEnd: Bool
    ) throws {
        let folder = TemporaryFolder()
        let bench = try wishing(folder)
        if atEnd {
            bench.depth.end()
            #expect(bench.output.rest().isEmpty)
        } else {
            gst_element_set_state(bench.element, GST_STATE_READY)
        }
        #expect(integer("snapshot", of: bench.element) == 0)
        #expect(bench.bus.count(of: GST_MESSAGE_ELEMENT) == 1 && bench.bus.warnings().isEmpty)
        let bytes = folder.read("cloud.ply")
        #expect(String(decoding: bytes.prefix(400), as: UTF8.self).contains("element vertex 32\n"))
        #expect(Array(bytes.suffix(3)) == [200, 100, 50])
    }

    @Test(arguments: [true, false])
    func `a snapshot for which there was no map is a warning at the end or the stop, and the property goes back`(
        atEnd: Bool
    ) {
        let folder = TemporaryFolder()
        let bench = bench([], ["location": folder["cloud.ply"], "snapshot": "true"])
        bench.depth.start(CloudElementTests.depth)
        if atEnd {
            bench.depth.end()
            #expect(bench.output.rest().isEmpty)
        } else {
            bench.depth.settle()
            gst_element_set_state(bench.element, GST_STATE_READY)
        }
        #expect(integer("snapshot", of: bench.element) == 0 && folder.names == [])
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && warnings.first?.text.contains(folder["cloud.ply"]) == true, "\(warnings)")
    }

    @Test func `a map of before a flush is no longer there for a snapshot`() throws {
        let folder = TemporaryFolder()
        let bench = try wishing(folder)
        bench.depth.beginFlush()
        bench.depth.endFlush()
        bench.depth.end()
        #expect(bench.output.rest().isEmpty)
        #expect(integer("snapshot", of: bench.element) == 0 && folder.names == [])
        #expect(bench.bus.warnings().count == 1)
    }

    @Test func `who asks for the next snapshot whenever one is begun does not keep the stream from ending`() throws {
        let folder = TemporaryFolder()
        let bench = try wishing(folder)
        let wishes = Notices(bench.element) { name in
            guard name == "snapshot", integer("snapshot", of: bench.element) == 0 else { return }
            bench.set("location", folder["again.ply"])
            bench.set("snapshot", "true")
        }
        bench.depth.end()
        #expect(bench.output.rest().isEmpty)
        #expect(folder.names == ["cloud.ply"])
        let warnings = bench.bus.warnings()
        #expect(warnings.count == 1 && warnings.first?.text.contains(folder["again.ply"]) == true, "\(warnings)")
        withExtendedLifetime(wishes) {}
    }

    @Test func `a pipeline that ends at once has written its snapshot`() throws {
        let folder = TemporaryFolder()
        for run in 0..<20 {
            let pipeline = Pipeline(
                """
                depthtestsrc name=camera num-buffers=1 camera.depth ! video/x-raw,width=160,height=120
                    ! depthcloud snapshot=true location="\(folder["\(run).ply"])" ! fakesink
                """)
            #expect(pipeline.run() == .ended)
            _ = pipeline.set(GST_STATE_NULL)
            #expect(folder.read("\(run).ply").count > 1000)
        }
        #expect(folder.names.count == 20)
    }
}

// MARK: - What the tests look at

/// Sets a property of a bench's element when that posts a warning, on the thread that posts it.
private final class SettingAtWarning {
    private let bench: Bench
    private let name: String
    private let value: String

    init(_ bench: Bench, _ name: String, _ value: String) {
        self.bench = bench
        self.name = name
        self.value = value
        gst_bus_set_sync_handler(
            bench.bus.pointer,
            { _, message, data in
                if let data, message?.pointee.type == GST_MESSAGE_WARNING {
                    let change = Unmanaged<SettingAtWarning>.fromOpaque(data).takeUnretainedValue()
                    change.bench.set(change.name, change.value)
                }
                return GST_BUS_PASS
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
    }

    deinit { gst_bus_set_sync_handler(bench.bus.pointer, nil, nil, nil) }
}

/// The navigation events that reach a source pad.
private final class UpstreamEvents {
    private let probe: PadProbe
    private let seen: Monitor<[String]>

    init(_ pad: UnsafeMutablePointer<GstPad>) {
        let seen = Monitor<[String]>([])
        self.seen = seen
        probe = PadProbe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM) { _, info in
            guard let event = gst_pad_probe_info_get_event(info), let structure = gst_event_get_structure(event),
                let kind = gst_structure_get_string(structure, "event").map({ String(cString: $0) })
            else { return }
            seen.withLock { $0.append(kind) }
        }
    }

    var kinds: [String] { seen.withLock { $0 } }
}

extension Bus {
    /// Waits for a snapshot, for a bounded while; returns where it is.
    fileprivate func nextSnapshot() -> String? {
        guard let message = gst_bus_timed_pop_filtered(pointer, 20_000_000_000, GST_MESSAGE_ELEMENT) else { return nil }
        defer { gst_mini_object_unref(UnsafeMutableRawPointer(message).assumingMemoryBound(to: GstMiniObject.self)) }
        guard let structure = gst_message_get_structure(message), gst_structure_has_name(structure, "snapshot") != 0
        else { return nil }
        return gst_structure_get_string(structure, "location").map { String(cString: $0) }
    }
}
