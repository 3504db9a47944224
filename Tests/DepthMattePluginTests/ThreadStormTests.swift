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
            folder.write("two.png", png(width: 64, height: 48) { _, _ in [4, 5, 6] }), nil,
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

    /// The fusion, whose threads share more than those of the threshold do.
    @Test(arguments: ["threshold", "fusion"], ["I420", "RGB"])
    func `any number of threads makes the frames that one makes`(method: String, format: String) throws {
        let (shape, depth) = (VideoShape(format, 640, 480), DepthShape("GRAY16_LE", 320, 240))
        let picture = noise(shape, seed: 5)
        let counts = [1, 2, 3, 8, 16]
        let runs = try (counts + [0]).map { threads -> [[UInt8]] in
            let bench = Bench(
                ["depth"], ["method": method, "anchor": "fixed", "background-color": "0xff203040"])
            bench.depth.start(depth)
            bench.video.start(shape)
            return try (0..<6).map { number in
                // The last run changes the number in each frame.
                bench.set("max-threads", "\(threads == 0 ? counts[number % counts.count] : threads)")
                let map = depth.bytes(counts: sceneCounts(320, 240, seed: UInt64(number), largest: 2000))
                bench.depth.push(map, at: time(ofFrame: number))
                bench.video.push(picture, at: time(ofFrame: number))
                return try #require(bench.output.next()).bytes
            }
        }
        #expect(runs[0][0] != picture)
        for (run, threads) in zip(runs, counts + [0]) { #expect(run == runs[0], "\(threads) threads") }
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
