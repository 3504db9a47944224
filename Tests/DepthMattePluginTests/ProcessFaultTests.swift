import CGStreamer
import GstBridge
import GstTestSupport
import SystemFaults
import Testing

#if canImport(Glibc)
    import Glibc

    /// A process that gets no more threads or files, or whose calls are interrupted all the time.
    @Suite(.serialized) struct ProcessFaultTests {
        // MARK: Threads

        private static let looks: [(Follower, [String: String])] = [
            (.depthMatte, ["method": "fusion", "cutoff": "0.8", "anchor": "fixed"]), (.depthCloud, ["yaw": "10"]),
        ]

        @Test(.enabled(if: can_fail_calls()), arguments: 0..<looks.count)
        func `with fewer threads than are asked for the picture is the same`(look: Int) throws {
            let (follower, properties) = ProcessFaultTests.looks[look]
            let (video, depth) = (VideoShape("RGBx", 1024, 512), DepthShape("GRAY16_LE", 1024, 512))
            let (picture, map) = (noise(video, seed: 1), depth.bytes(counts: sceneCounts(1024, 512)))
            func frame(threads: Int, granted: Int?) throws -> [UInt8] {
                let bench = Bench(
                    [follower.partner], properties.with(["max-threads": "\(threads)"]),
                    of: Bench.Kind(factory: follower.factory, leading: follower.leading.pad))
                bench.video.start(video)
                bench.depth.start(depth)
                bench.video.push(picture, at: 0)
                if let granted { refuse_threads(granted) }
                bench.depth.push(map, at: 0)
                let made = try #require(bench.output.next()).bytes
                if let granted { #expect(end_refusing_threads() == threads - 1 - granted) }
                #expect(bench.bus.errors() == [] && bench.bus.warnings() == [])
                return made
            }
            let alone = try frame(threads: 1, granted: nil)
            for granted in 0..<7 { #expect(try frame(threads: 8, granted: granted) == alone, "\(granted) threads") }
        }

        // MARK: Files

        @Test func `sixteen files more are enough for a background`() async {
            await #expect(processExitsWith: .success) {
                loadElements()
                let folder = TemporaryFolder()
                let still = folder.write("a.png", png(width: 64, height: 48) { _, _ in [9, 9, 9] })
                let video = try folder.video("a.mkv", frames: 20)
                try #require(leaveFiles(16))
                let files = openFiles()
                for round in 0..<20 {
                    try #require(eventually { openFiles() <= files }, "those of the round before")
                    let bench = Bench.room(["background": round % 2 == 0 ? still : video])
                    for number in 0..<10 {
                        try #require(Room.leaked(bench.pair(number, depth: Room.wall(3000))) == 0)
                    }
                    try #require(bench.bus.errors() == [] && bench.bus.warnings() == [])
                }
            }
        }

        // MARK: Signals

        // Under ThreadSanitizer, which keeps signals back, frames do not come in time.
        @Test(.enabled(if: can_fail_calls()))
        func `a signal every millisecond disturbs neither files nor frames`() async {
            await #expect(processExitsWith: .success) {
                loadElements()
                var action = sigaction()
                action.__sigaction_handler.sa_handler = { _ in }
                sigemptyset(&action.sa_mask)
                action.sa_flags = 0  // interrupted calls are not made again by the system
                try #require(sigaction(SIGALRM, &action, nil) == 0)
                let millisecond = timeval(tv_sec: 0, tv_usec: 1000)
                var interval = itimerval(it_interval: millisecond, it_value: millisecond)
                try #require(setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &interval, nil) == 0)

                let folder = TemporaryFolder()
                let still = folder.write("a.png", png(width: 640, height: 480) { _, _ in [9, 9, 9] })
                let video = try folder.video("a.mkv", frames: 20)
                for background in [still, video] {
                    let pipeline = Pipeline(
                        "depthtestsrc name=camera num-buffers=100 camera.video ! video/x-raw,width=64,height=48 "
                            + "! depthmatte name=matte background=\(background) ! fakesink sync=false "
                            + "camera.depth ! tee name=both ! queue ! matte.depth "
                            + "both. ! queue ! depthcloud snapshot=true location=\(folder["cloud.ply"]) ! fakesink sync=false"
                    )
                    try #require(pipeline.run() == .ended)
                    try #require(pipeline.bus.warnings() == [])
                    try #require(folder.read("cloud.ply").count > 1000)
                }
                var never = itimerval()
                setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &never, nil)
            }
        }
    }

    /// Lets this process open so many files more.
    private func leaveFiles(_ count: Int) -> Bool {
        var (end, free) = (CInt(0), 0)
        while free < count {
            if fcntl(end, F_GETFD) < 0 { free += 1 }
            end += 1
        }
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return false }
        limit.rlim_cur = rlim_t(end)
        return setrlimit(kind, &limit) == 0
    }
#endif
