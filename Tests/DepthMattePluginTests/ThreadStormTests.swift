import CGStreamer
import GstBridge
import GstTestSupport
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Every element used by several threads, and the threads that are left of it.
@Suite struct ThreadStormTests {
    private let folder = TemporaryFolder()

    /// Four threads set and read every property; the caps of all streams, and the picture behind the person, change meanwhile.
    @Test(arguments: Follower.all)
    func `four threads set and read every property while caps and background change`(follower: Follower) throws {
        let files: [String?] = [
            folder.write("one.png", png(width: 9, height: 7) { _, _ in [1, 2, 3] }),
            folder.write("two.png", png(width: 64, height: 48) { _, _ in [4, 5, 6] }), folder["missing.png"], nil,
        ]
        let bench = Bench.numbered(follower)
        let settable = SettableProperty.all(of: bench.element).filter(\.keepsEveryFrame)
        try #require(settable.count >= follower.leastProperties - 2)
        let element = bench.element
        let wrong = Atomic(0)
        let storms = (0..<4).map { thread in
            var random = RepeatableRandomNumberGenerator(seed: UInt64(thread))
            return Repeater { round in
                let property = settable[(round + thread * 7) % settable.count]
                property.set(on: element, &random, strings: files)
                if property.isReal && !property.real(of: element).isFinite { wrong.add(1, ordering: .relaxed) }
                g_usleep(50)
            }
        }
        let partner = follower.stream(follower.partner)
        var starts: [GstClockTime] = []
        while storms.contains(where: { $0.rounds < 300 }) || starts.count < 60 {
            let number = starts.count
            if number % 10 == 9 {
                let isOther = number % 20 == 9
                bench[partner.pad].setCaps(isOther ? partner.otherCaps : partner.caps)
                bench[partner.pad].setCaps(partner.caps)
            }
            bench[partner.pad].push(follower.numbered(5), at: time(ofFrame: number))
            bench.leading.push(follower.leading.frame, at: time(ofFrame: number))
            starts.append(try #require(bench.output.next(), "frame \(number)").timing.start)
            _ = bench.bus.discardAll()
        }
        for storm in storms { storm.finish() }
        #expect(starts == (0..<starts.count).map { time(ofFrame: $0) })
        #expect(bench.bus.errors().isEmpty && wrong.load(ordering: .relaxed) == 0)
    }

    /// Values that every frame can be made with, a few for each kind of property.
    private static let values: [(name: String, values: [String])] = [
        ("anchor", ["fixed", "auto"]), ("background-color", ["0xff0a141e", "0xff281e14"]),
        ("background-fit", ["contain", "cover"]), ("background-mode", ["color", "auto"]),
        ("blur-radius", ["0", "2"]), ("cutoff", ["1", "4"]), ("depth-offset-x", ["0", "3"]),
        ("depth-ts-offset", ["0", "20000000"]),
        ("face-types", ["face", "face,head"]), ("gamma", ["1", "2"]), ("invert", ["false", "true"]),
        ("max-skew", ["50000000", "60000000"]), ("max-threads", ["1", "3"]),
        ("on-missing-depth", ["cover", "pass"]), ("segmentation-weight", ["0", "1"]),
        ("stats-interval", ["0", "1"]), ("view", ["composite", "matte", "original"]),
    ]

    @Test func `what is read while frames flow is what some thread has set, and each frame is counted once`() {
        let bench = Bench.room()
        let element = bench.element
        let texts = ThreadStormTests.values.map { name, values in
            values.map { value in
                setProperty(element, name, value)
                return propertyText(name, of: element)
            }
        }
        let complaints = Monitor(Set<String>())
        let threads = (0..<4).map { thread in
            Repeater { round in
                for (index, (name, values)) in ThreadStormTests.values.enumerated() {
                    setProperty(element, name, values[(round + thread) % values.count])
                    let text = propertyText(name, of: element)
                    if !texts[index].contains(text) { complaints.withLock { _ = $0.insert("\(name) = \(text)") } }
                }
                let stats = Stats(of: bench)
                let sum = ["paired", "reused", "covered", "passed", "dropped"].reduce(0) { $0 + (stats[$1] ?? 0) }
                if stats["frames"] != sum { complaints.withLock { _ = $0.insert("frames that are not counted once") } }
                ask(element)
            }
        }
        var frame = 0
        while threads.contains(where: { $0.rounds < 60 }) {
            #expect(bench.pair(frame, depth: Room.wall(700)) != nil, "frame \(frame)")
            frame += 1
        }
        for thread in threads { thread.finish() }
        #expect(complaints.withLock { $0 } == [] && bench.bus.errors().isEmpty)
    }

    /// Asks what applications ask.
    private func ask(_ element: UnsafeMutablePointer<GstElement>) {
        for format in [GST_FORMAT_TIME, GST_FORMAT_BYTES] {
            gst_element_query_position(element, format, nil)
            gst_element_query_duration(element, format, nil)
        }
        for name in ["src", "video", "depth"] {
            guard let pad = gst_element_get_static_pad(element, name) else { continue }
            if let caps = gst_pad_query_caps(pad, nil) { gst_caps_unref(caps) }
            gst_object_unref(pad)
        }
        if let query = gst_query_new_latency() {
            gst_element_query(element, query)
            gst_query_unref(query)
        }
    }

    /// Work that is cut into parts: the bands of the threshold, with a soft limit too; those of the fusion, whose threads
    /// share more; and the cloud's.
    private static let sharedWork =
        [
            ("threshold", "I420", "0"), ("threshold", "RGB", "0"), ("threshold", "I420", "0.3"),
            ("fusion", "I420", "0"),
            ("fusion", "RGB", "0"),
        ].map { method, format, feather in
            DepthReader(
                factory: "depthmatte",
                properties: [
                    "method": method, "anchor": "fixed", "background-color": "0xff203040", "feather-far": feather,
                ], videoPad: "video", videoFormat: format, testDescription: "\(method), \(format), feather \(feather)")
        } + [
            DepthReader(
                factory: "depthcloud", properties: ["yaw": "25", "roll": "8"], downstream: "video/x-raw, format=BGRx",
                testDescription: "cloud")
        ]

    @Test(arguments: sharedWork)
    func `any number of threads makes the frames that one makes`(reader: DepthReader) throws {
        let (video, depth) = (reader.video(640, 480), DepthShape("GRAY16_LE", 320, 240))
        let picture = noise(video, seed: 5)
        // 0 is a number by the machine's.
        let counts = [1, 2, 3, 7, 16, 0]
        let runs = try (counts + [nil]).map { threads -> [[UInt8]] in
            let bench = reader.bench()
            reader.start(bench, depth, video)
            return try (0..<6).map { number in
                // The last run changes the number in each frame. Every map is another: no worker leaves anything to the next.
                bench.set("max-threads", "\(threads ?? counts[number % counts.count])")
                let map = depth.bytes(counts: sceneCounts(320, 240, seed: UInt64(number), largest: 2000 + 150 * number))
                let frame = reader.frame(bench, number, depth: guardedBuffer(map), video: guardedBuffer(picture))
                return try #require(frame).bytes
            }
        }
        #expect(Set(runs[0][0]).count > 20 && runs[0][0] != picture)
        for (run, threads) in zip(runs, counts + [nil]) {
            #expect(run == runs[0], "\(threads.map { "\($0) threads" } ?? "changing numbers")")
        }
    }

    /// Each makes its own frames, as if the others were not there.
    @Test func `elements of every kind, with settings of their own, do not disturb each other`() throws {
        let depth = DepthShape("GRAY16_LE", 64, 48)
        let map = depth.bytes(counts: sceneCounts(64, 48, largest: 2000))
        let readers = DepthReader.all + DepthReader.all.reversed()
        let looks = readers.indices.map { $0 < DepthReader.all.count ? [:] : ["depth-unit": "0.002"] }
        let alone = try zip(readers, looks).map { reader, look in
            try #require(reader.picture(map, depth, reader.video(80, 60), look))
        }
        let wrong = Atomic(0)
        let threads = zip(readers, looks).enumerated().map { index, reader -> Repeater in
            let bench = reader.0.bench(reader.1)
            reader.0.start(bench, depth, reader.0.video(80, 60))
            let picture = noise(reader.0.video(80, 60), seed: 7)
            return Repeater { round in
                let frame = reader.0.frame(bench, round, depth: guardedBuffer(map), video: guardedBuffer(picture))
                if frame?.bytes != alone[index] { wrong.add(1, ordering: .relaxed) }
            }
        }
        #expect(eventually { threads.allSatisfy { $0.rounds >= 10 } })
        for thread in threads { thread.finish() }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    // MARK: Backgrounds

    @Test func `of backgrounds that two threads swap the last is shown, and no frame shows two`() throws {
        func still(_ name: String, _ color: [UInt8]) -> String {
            folder.write(name, png(width: Room.shape.width, height: Room.shape.height) { _, _ in color })
        }
        let (red, green, color): ([UInt8], [UInt8], [UInt8]) = ([250, 1, 2], [3, 240, 4], [5, 6, 230])
        let bench = Bench([], ["background-color": "0xff0506e6"])
        bench.video.start(Room.shape)
        let files = [still("red.png", red), still("green.png", green), folder["missing.png"], nil]
        let element = bench.element
        var (number, seen) = (0, Set<[UInt8]>())
        func shown() throws -> [UInt8] {
            bench.video.push(Room.picture, at: time(ofFrame: number))
            let bytes = try #require(bench.output.next(), "frame \(number)").bytes
            number += 1
            let first = Array(bytes.prefix(3))
            try #require([red, green, color].contains(first), "\(first)")
            try #require(pixels(bytes, otherThan: first, Room.shape) == 0, "frame \(number) is mixed")
            seen.insert(first)
            return first
        }
        for round in 0..<100 {
            let setters = (0..<2).map { thread in
                Repeater { turn in
                    guard turn < 4 else { return g_usleep(1000) }
                    SettableProperty.setString(element, "background", files[(round + thread + turn) % 4])
                }
            }
            repeat { _ = try shown() } while setters.contains { $0.rounds < 4 }
            for setter in setters { setter.finish() }
            let named = propertyText("background", of: element)
            if named.contains("missing") { continue }
            let expected = named.contains("red") ? red : named.contains("green") ? green : color
            // The old file is shown for as long as the other is being opened.
            let end = g_get_monotonic_time() + 20_000_000
            while try shown() != expected { try #require(g_get_monotonic_time() < end, "round \(round)") }
            #expect(bench.bus.discardAll() == 0)
        }
        #expect(seen.count == 3)
    }

    @Test func `a background named while the element starts and stops does no harm`() {
        let files = (0..<2).map { number in
            folder.write("\(number).png", png(width: 8, height: 6) { _, _ in [9, UInt8(number), 7] })
        }
        let element = makeElement("depthmatte")
        let setters = (0..<2).map { thread in
            Repeater { setProperty(element, "background", files[(thread + $0) % 2]) }
        }
        for _ in 0..<30 {
            #expect(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_SUCCESS)
            #expect(gst_element_set_state(element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS)
        }
        for setter in setters { setter.finish() }
        gst_element_set_state(element, GST_STATE_NULL)
        gst_object_unref(element)
    }

    // MARK: The test source

    @Test func `a test source that is set, asked and sought by several threads goes on`() throws {
        let pipeline = Pipeline(
            "depthtestsrc name=camera camera.video ! video/x-raw,width=64,height=48 ! appsink name=sink sync=false "
                + "max-buffers=4 drop=true camera.depth ! video/x-raw,width=32,height=24 ! fakesink sync=false "
                + "camera.matte ! fakesink sync=false")
        pipeline.set(GST_STATE_PLAYING)
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        let camera = pipeline["camera"]
        let faceless = Atomic(0)
        let threads = (0..<2).map { thread in
            Repeater { round in
                setProperty(camera, "pattern", ["person", "ramp", "blank"][(round + thread) % 3])
                setProperty(camera, "noise", ["0", "0.01"][round % 2])
                setProperty(camera, "seed", "\(round % 3)")
                setProperty(camera, "num-buffers", ["-1", "100000"][(round + thread) % 2])
                if propertyText("face", of: camera) != "true" { faceless.add(1, ordering: .relaxed) }
                ask(camera)
            }
        }
        for round in 0..<20 {
            #expect(pipeline.seek(to: time(ofFrame: round * 7)))
            #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS, "round \(round)")
        }
        #expect(eventually { threads.allSatisfy { $0.rounds >= 100 } })
        for thread in threads { thread.finish() }
        #expect(faceless.load(ordering: .relaxed) == 0)
        try #require(pipeline.seek(to: time(ofFrame: 3)))
        #expect(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
        #expect(pipeline.nextFrame(of: "sink") != nil)
        #expect(pipeline.bus.errors().isEmpty)
    }

    // MARK: What is left

    /// Threads of the process that are the elements' own: their names begin so.
    static func ownThreads() -> [String] {
        guard let tasks = g_dir_open("/proc/self/task", 0, nil) else { return [] }
        defer { g_dir_close(tasks) }
        var names: [String] = []
        while let task = g_dir_read_name(tasks) {
            var text: UnsafeMutablePointer<CChar>?
            let path = "/proc/self/task/\(String(cString: task))/comm"
            guard g_file_get_contents(path, &text, nil, nil) != 0, let text else { continue }
            let name = String(cString: text)
            g_free(text)
            if name.hasPrefix("depthmatte-") { names.append(name) }
        }
        return names
    }

    @Test(.enabled(if: access("/proc/self/task", R_OK) == 0))
    func `no thread of an element is left after NULL`() throws {
        try #require(eventually { ThreadStormTests.ownThreads().isEmpty }, "\(ThreadStormTests.ownThreads())")
        let video = folder["loop.mkv"]
        try #require(
            Pipeline(
                "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48 ! jpegenc ! matroskamux "
                    + "! filesink location=\(video)"
            ).run() == .ended)
        for round in 0..<3 {
            let pipeline = Pipeline(
                """
                depthtestsrc name=camera camera.video ! video/x-raw,width=640,height=480 ! tee name=video
                camera.depth ! video/x-raw,width=640,height=480 ! tee name=depth
                video. ! queue ! matte.video depth. ! queue ! matte.depth
                depthmatte name=matte max-threads=4 thermal=report background="\(video)" ! fakesink name=sink
                video. ! queue ! colors.video depth. ! queue ! colors.depth depthcolorize name=colors ! fakesink
                depth. ! queue ! depthcloud name=cloud max-threads=3 location="\(folder["cloud.ply"])" snapshot=true ! fakesink
                """)
            pipeline.set(GST_STATE_PLAYING)
            try #require(pipeline.reached() == GST_STATE_CHANGE_SUCCESS)
            let passing = PassingFrames(pipeline["sink"])
            #expect(eventually { !passing.take().isEmpty })
            #expect(!ThreadStormTests.ownThreads().isEmpty, "they have names that can be looked for")
            if round == 1 { setProperty(pipeline["matte"], "background", folder["missing.png"]) }
            pipeline.set(GST_STATE_NULL)
            #expect(
                eventually { ThreadStormTests.ownThreads().isEmpty }, "round \(round): \(ThreadStormTests.ownThreads())"
            )
        }
    }
}
