import CGStreamer
import GstBridge
import GstTestSupport
import Testing

/// Several threads use one element at once. Under ThreadSanitizer these tests find data that no lock guards.
@Suite struct ThreadTests {
    /// Values that every frame can be made with, a few for each kind of property.
    private static let values: [(name: String, values: [String])] = [
        ("anchor", ["fixed", "auto"]), ("background-color", ["0xff0a141e", "0xff281e14"]),
        ("background-fit", ["contain", "cover"]), ("background-mode", ["color", "auto"]),
        ("blur-radius", ["0", "2"]), ("cutoff", ["1", "4"]), ("depth-offset-x", ["0", "3"]),
        ("face-types", ["face", "face,head"]), ("gamma", ["1", "2"]), ("invert", ["false", "true"]),
        ("max-skew", ["50000000", "60000000"]), ("max-threads", ["1", "3"]),
        ("on-missing-depth", ["cover", "pass"]), ("segmentation-weight", ["0", "1"]),
        ("stats-interval", ["0", "1"]), ("view", ["composite", "matte", "original"]),
    ]

    @Test func `four threads set and read everything while frames flow`() {
        let bench = Bench.room()
        let element = Shared(bench.element)
        let texts = ThreadTests.values.map { name, values in
            values.map { value in
                setProperty(bench.element, name, value)
                return propertyText(name, of: bench.element)
            }
        }
        let threads = Threads(4) { thread, complain in
            for round in 0..<60 {
                for (index, (name, values)) in ThreadTests.values.enumerated() {
                    setProperty(element.pointer, name, values[(round + thread) % values.count])
                    let text = propertyText(name, of: element.pointer)
                    if !texts[index].contains(text) { complain("\(name) = \(text)") }
                }
                if !element.countsEveryFrameOnce { complain("frames that are not counted once") }
                element.ask()
            }
        }
        bench.pushPairs(until: threads)
        #expect(threads.join() == [])
        #expect(bench.bus.errors().isEmpty)
    }

    /// Large enough to be cut into bands.
    @Test func `several threads make the frame that one makes`() throws {
        let shape = VideoShape("I420", 640, 480)
        let depth = DepthShape("GRAY16_LE", 640, 400)
        let bench = Bench(["depth"], ["anchor": "fixed", "cutoff": "1", "background-color": "0xff203040"])
        bench.depth.start(depth)
        bench.video.start(shape)
        let picture = noise(shape, seed: 5)
        let map = depth.bytes(counts: sceneCounts(640, 400, largest: 2000))
        var number = 0
        for feather in ["0", "0.3"] {
            bench.set("feather-far", feather)
            var frames: [[UInt8]] = []
            for threads in ["1", "2", "0", "3", "7", "1", "4"] {
                bench.set("max-threads", threads)
                bench.depth.push(map, at: time(ofFrame: number))
                bench.video.push(picture, at: time(ofFrame: number))
                frames.append(try #require(bench.output.next()).bytes)
                number += 1
            }
            #expect(frames[0] != picture)
            #expect(frames.allSatisfy { $0 == frames[0] })
        }
    }

    /// Every depth map is another, as no worker may leave anything to the next.
    @Test func `several threads draw the cloud that one draws`() throws {
        let depth = DepthShape("GRAY16_LE", 320, 200)
        let benches = ["1", "2", "0", "3", "16"].map { threads in
            let bench = Bench(
                [], ["max-threads": threads, "yaw": "25", "roll": "8"], downstream: "video/x-raw, format=BGRx",
                of: Bench.Kind(factory: "depthcloud", leading: "depth"))
            bench.depth.start(depth)
            return bench
        }
        for number in 0..<12 {
            let counts = sceneCounts(320, 200, largest: 700 + 150 * number)
            // While frames flow the number may change too.
            if number == 6 { benches[3].set("max-threads", "1") }
            if number == 9 { benches[3].set("max-threads", "2") }
            let frames = try benches.map { bench in
                bench.depth.push(depth.bytes(counts: counts), at: time(ofFrame: number))
                return try #require(bench.output.next()).bytes
            }
            #expect(Set(frames[0]).count > 20)
            #expect(frames.allSatisfy { $0 == frames[0] }, "frame \(number)")
        }
    }

    @Test func `elements with settings of their own do not disturb each other`() {
        let colors: [[UInt8]] = [[10, 20, 30], [40, 50, 60], [70, 80, 90]]
        let threads = Threads(colors.count) { thread, complain in
            let color = colors[thread]
            let argb = color.reduce(0xff) { $0 << 8 | Int($1) }
            let bench = Bench.room(["background-color": "\(argb)", "cutoff": "\(1 + thread)"])
            for frame in 0..<40 {
                // InstanceBox a metre before this element's cutoff and half a metre behind it.
                let isShown = frame.isMultiple(of: 2)
                let picture = bench.pair(frame, depth: Room.wall((1 + thread) * 1000 + (isShown ? -500 : 500)))
                let expected = isShown ? Room.secret : color
                let strangers = picture.map { pixels($0.bytes, otherThan: expected, Room.shape) }
                if strangers != 0 { complain("element \(thread), frame \(frame)") }
            }
        }
        #expect(threads.join() == [])
    }

    @Test func `pads come and go while frames flow`() {
        let bench = Bench.room()
        let element = Shared(bench.element)
        let threads = Threads(2) { thread, complain in
            for _ in 0..<100 {
                guard let pad = gst_element_request_pad_simple(element.pointer, ["face", "segmentation"][thread]) else {
                    return complain("no pad")
                }
                gst_element_release_request_pad(element.pointer, pad)
                gst_object_unref(pad)
            }
        }
        bench.pushPairs(until: threads)
        #expect(threads.join() == [])
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `the background that was named last is the one that is shown`() throws {
        let folder = TemporaryFolder()
        let colors: [[UInt8]] = [[200, 10, 20], [10, 180, 30]]
        let files = colors.enumerated().map { index, color in
            folder.write("\(index).png", png(width: 8, height: 6) { _, _ in color })
        }
        let bench = Bench([])
        bench.video.start(Room.shape)
        let element = Shared(bench.element)
        var frame = 0
        for round in 0..<100 {
            let threads = Threads(2) { thread, _ in
                for turn in 0..<3 { setProperty(element.pointer, "background", files[(thread + turn) % 2]) }
            }
            #expect(threads.join() == [])
            let named = propertyText("background", of: bench.element)
            let expected = try #require(files.firstIndex(of: named).map { colors[$0] })
            // The old file is shown for as long as the other is being opened.
            var shown: [UInt8] = []
            let deadline = g_get_monotonic_time() + 5_000_000
            while shown != expected && g_get_monotonic_time() < deadline {
                bench.video.push(Room.picture, at: time(ofFrame: frame))
                shown = Array(try #require(bench.output.next()).bytes.prefix(3))
                frame += 1
            }
            try #require(shown == expected, "round \(round)")
        }
    }

    @Test func `a background named while the element starts and stops does no harm`() {
        let folder = TemporaryFolder()
        let files = [[9, 8, 7], [7, 8, 9]].enumerated().map { index, color in
            folder.write("\(index).png", png(width: 8, height: 6) { _, _ in color.map(UInt8.init) })
        }
        let raw = makeElement("depthmatte")
        let element = Shared(raw)
        let isOver = Monitor(false)
        let threads = Threads(2) { thread, _ in
            var round = thread
            while !isOver.withLock({ $0 }) {
                setProperty(element.pointer, "background", files[round % 2])
                round += 1
            }
        }
        for _ in 0..<30 {
            #expect(gst_element_set_state(raw, GST_STATE_PAUSED) == GST_STATE_CHANGE_SUCCESS)
            #expect(gst_element_set_state(raw, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
        }
        isOver.withLock { $0 = true }
        #expect(threads.join() == [])
        gst_element_set_state(raw, GST_STATE_NULL)
        gst_object_unref(raw)
    }

    @Test func `a test source that is set, asked and sought by several threads goes on`() throws {
        let pipeline = Pipeline(
            "depthtestsrc name=camera camera.video ! video/x-raw,width=64,height=48 ! appsink name=sink sync=false "
                + "max-buffers=4 drop=true camera.depth ! video/x-raw,width=32,height=24 ! fakesink sync=false "
                + "camera.matte ! fakesink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let camera = Shared(pipeline["camera"])
        let threads = Threads(2) { thread, complain in
            for round in 0..<100 {
                setProperty(camera.pointer, "pattern", ["person", "ramp", "blank"][(round + thread) % 3])
                setProperty(camera.pointer, "noise", ["0", "0.01"][round % 2])
                setProperty(camera.pointer, "seed", "\(round % 3)")
                setProperty(camera.pointer, "num-buffers", ["-1", "100000"][(round + thread) % 2])
                if propertyText("face", of: camera.pointer) != "true" { complain("no face") }
                camera.ask()
            }
        }
        for round in 0..<20 {
            #expect(pipeline.seek(to: time(ofFrame: round * 7)))
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "round \(round)")
        }
        #expect(threads.join() == [])
        try #require(pipeline.seek(to: time(ofFrame: 3)))
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        #expect(pipeline.nextFrame(of: "sink") != nil)
        #expect(pipeline.bus.errors().isEmpty)
    }
}

/// An element that several threads use; who made it keeps it alive for as long.
private struct Shared: @unchecked Sendable {  // guard: GStreamer's elements take calls from any thread
    let pointer: UnsafeMutablePointer<GstElement>

    init(_ pointer: UnsafeMutablePointer<GstElement>) { self.pointer = pointer }

    /// True where the numbers of `stats` belong together.
    var countsEveryFrameOnce: Bool {
        var value = GValue()
        g_object_get_property(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self), "stats", &value)
        defer { g_value_unset(&value) }
        guard let stats = gst_value_get_structure(&value) else { return false }
        var sum: guint64 = 0
        for outcome in ["paired", "reused", "covered", "passed", "dropped"] {
            var count: guint64 = 0
            guard gst_structure_get_uint64(stats, outcome, &count) != 0 else { return false }
            sum += count
        }
        var frames: guint64 = 0
        return gst_structure_get_uint64(stats, "frames", &frames) != 0 && frames == sum
    }

    /// Asks what applications ask.
    func ask() {
        for format in [GST_FORMAT_TIME, GST_FORMAT_BYTES] {
            gst_element_query_position(pointer, format, nil)
            gst_element_query_duration(pointer, format, nil)
        }
        for name in ["src", "video", "depth"] {
            guard let pad = gst_element_get_static_pad(pointer, name) else { continue }
            if let caps = gst_pad_query_caps(pad, nil) { gst_caps_unref(caps) }
            gst_object_unref(pad)
        }
        if let query = gst_query_new_latency() {
            gst_element_query(pointer, query)
            gst_mini_object_unref(UnsafeMutableRawPointer(query).assumingMemoryBound(to: GstMiniObject.self))
        }
    }
}

/// Threads that run one body, each with its number. What they complain of is told when they have ended: the testing
/// library does not know which test a thread belongs to.
private final class Threads {
    typealias Body = @Sendable (_ thread: Int, _ complain: (String) -> Void) -> Void

    private let threads: [UnsafeMutablePointer<GThread>?]
    private let state: Monitor<State>

    private struct State {
        var running: Int
        var complaints: [String] = []
    }

    private final class Work: Sendable {
        let number: Int
        let state: Monitor<State>
        let body: Body

        init(_ number: Int, _ state: Monitor<State>, _ body: @escaping Body) {
            self.number = number
            self.state = state
            self.body = body
        }

        func run() {
            body(number) { complaint in state.withLock { $0.complaints.append(complaint) } }
            state.withLock { $0.running -= 1 }
        }
    }

    init(_ count: Int, _ body: @escaping Body) {
        let state = Monitor(State(running: count))
        self.state = state
        threads = (0..<count).map { number in
            g_thread_new(
                "test",
                { data in
                    if let data { Unmanaged<Work>.fromOpaque(data).takeRetainedValue().run() }
                    return nil
                }, Unmanaged.passRetained(Work(number, state, body)).toOpaque())
        }
    }

    var haveEnded: Bool { state.withLock { $0.running == 0 } }

    /// Waits until all have ended; call it once.
    func join() -> [String] {
        for thread in threads { g_thread_join(thread) }
        return state.withLock { $0.complaints }
    }
}

extension Bench {
    /// Pushes pair after pair, each of which has to come out, until the threads have ended.
    fileprivate func pushPairs(until threads: Threads) {
        var frame = 0
        repeat {
            #expect(pair(frame, depth: Room.wall(700)) != nil, "frame \(frame)")
            frame += 1
        } while !threads.haveEnded
    }
}
