import CGStreamer
import GstBridge
import GstTestSupport
import SystemFaults
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Backgrounds whose reading fails at any call, or that change: they are shown, or named, and nothing is kept open.
@Suite(.serialized, .enabled(if: can_fail_calls())) struct BackgroundFaultTests {
    private let folder = TemporaryFolder()

    static let reading = [
        CallFault(call: CALL_OPEN, error: EMFILE), CallFault(call: CALL_OPEN, error: ENOENT),
        CallFault(call: CALL_READ, error: EIO),
        CallFault(call: CALL_SEEK, error: EIO),
    ]

    // MARK: Backgrounds

    /// A file of each way that a background is read.
    private func background(_ name: String) throws -> String {
        switch name {
        case "a.png": folder.write(name, png(width: 64, height: 48) { x, y in [UInt8(x * 4), UInt8(y * 5), 9] })
        case "a.gif": folder.write(name, gif(width: 16, height: 16, [([1, 2, 3], 10), ([4, 5, 6], 10)]))
        default: try folder.video(name, frames: 4)
        }
    }

    /// Starts an element with a background, plays some frames, and stops it; the error, if it did not start.
    private func start(_ path: String) -> (error: Bus.Report?, warnings: [Bus.Report]) {
        let pipeline = Pipeline(
            "depthtestsrc num-buffers=6 name=camera camera.video ! video/x-raw,width=32,height=24,framerate=5/1 "
                + "! depthmatte name=matte background=\(path) ! fakesink sync=false")
        let outcome = pipeline.run()
        let warnings = pipeline.bus.warnings()
        switch outcome {
        case .ended: return (nil, warnings)
        case .failed(let report): return (report, warnings)
        case .stuck:
            Issue.record("stuck")
            return (nil, warnings)
        }
    }

    @Test(arguments: ["a.png", "a.gif", "a.mkv"], reading)
    func `a background of which any call fails is refused by its name, or shown`(name: String, fault: CallFault) throws
    {
        let path = try background(name)
        _ = start(path)  // what GStreamer opens once
        let files = openFiles()
        var failed = 0
        let criticals = criticals {
            failed = failEach(fault, in: folder) { number in
                let (error, warnings) = start(path)
                for report in warnings + (error.map { [$0] } ?? []) {
                    #expect(report.text.contains(path), "call \(number): \(report)")
                }
            }
        }
        #expect(criticals == [])
        if fault.call != CALL_SEEK { #expect(failed > 0, "no call was made") }
        #expect(eventually { openFiles() <= files }, "\(openFiles()) files are open, \(files) were")
    }

    @Test(arguments: ["a.png", "a.gif", "a.mkv"])
    func `a read error is named`(name: String) throws {
        let path = try background(name)
        fail_calls(folder.path, CALL_READ.rawValue, EIO, 0, .max)
        defer { end_failing_calls() }
        let error = try #require(start(path).error)
        #expect(error.text == "The file \"\(path)\" cannot be read: Input/output error.")
    }

    @Test(arguments: ["a.png", "a.gif", "a.mkv"])
    func `calls that are interrupted are made again`(name: String) throws {
        let path = try background(name)
        // A video is opened by GStreamer's filesrc.
        let calls = CALL_READ.rawValue | (name == "a.mkv" ? 0 : CALL_OPEN.rawValue)
        fail_calls(folder.path, calls, EINTR, 0, .max)
        defer { end_failing_calls() }
        let (error, warnings) = start(path)
        #expect(error == nil && warnings == [])
        #expect(end_failing_calls() > 1)
    }

    @Test func `a background on a slow disk holds up no frame, and is given up in time`() throws {
        let path = folder.write("a.png", png(width: 400, height: 400) { x, y in [UInt8(x & 255), UInt8(y & 255), 9] })
        let bench = Bench.room()
        delay_calls(folder.path, CALL_READ.rawValue, 500_000)
        defer { end_failing_calls() }
        bench.set("background", path)
        var frames = 0
        var warning: Bus.Report?
        while warning == nil && frames < 100_000 {
            let frame = try #require(bench.pair(frames, depth: Room.wall(3000)))
            #expect(Room.shown(frame) == 0, "the old background")
            frames += 1
            warning = bench.bus.warnings().first
        }
        #expect(
            warning?.text.contains("no picture came out of it in 2 seconds") == true, "\(String(describing: warning))")
        #expect(frames > 10)
    }

    /// True while a thread opens a background.
    private var isLoading: Bool { ThreadStormTests.ownThreads().contains { $0.hasPrefix("depthmatte-back") } }

    @Test func `a stop does not wait for a background whose disk does not answer`() throws {
        let path = try background("a.png")
        let bench = Bench.room()
        #expect(bench.pair(0, depth: Room.wall(3000)) != nil)
        delay_calls(folder.path, CALL_OPEN.rawValue, 4_000_000)
        defer { end_failing_calls() }
        bench.set("background", path)
        #expect(eventually { isLoading })
        gst_element_set_state(bench.element, GST_STATE_READY)
        #expect(isLoading, "it waited")
        // What it opens at last is closed, and not shown by the next start.
        end_failing_calls()
        #expect(gst_element_set_state(bench.element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
        let files = openFiles()
        #expect(eventually { ThreadStormTests.ownThreads().isEmpty }, "\(ThreadStormTests.ownThreads())")
        #expect(eventually { openFiles() <= files })
    }

    // MARK: Files that change

    /// The ways in which a file changes while it is shown.
    enum Change: CaseIterable { case removed, emptied, cut, overwritten, replaced, becomesFolder }

    private func change(_ path: String, _ change: Change) throws {
        switch change {
        case .removed: unlink(path)
        case .emptied: truncate(path, 0)
        case .cut: truncate(path, 5000)
        case .overwritten:
            let file = try #require(fopen(path, "r+b"))
            for byte in noise(VideoShape("GRAY8", 300, 100), seed: 5) { fputc(CInt(byte), file) }
            fclose(file)
        case .replaced:
            folder.write("other.png", png(width: 8, height: 8) { _, _ in [7, 8, 9] })
            rename(folder["other.png"], path)
        case .becomesFolder:
            unlink(path)
            mkdir(path, 0o700)
        }
    }

    @Test(arguments: Change.allCases)
    func `a video that changes on the disk while it loops costs no frame, and shows no room`(change: Change) throws {
        let path = try folder.video("a.mkv", frames: 20)
        let bench = Bench.room(["background": path])
        for number in 0..<60 {
            if number == 5 { try self.change(path, change) }
            // A loop takes 60 of these frames.
            let frame = try #require(bench.pair(number, depth: Room.wall(3000)), "frame \(number)")
            #expect(Room.leaked(frame) == 0, "frame \(number)")
        }
        #expect(bench.bus.errors() == [])
        for warning in bench.bus.warnings() { #expect(warning.text.contains(path), "\(warning)") }
    }

    @Test(arguments: Change.allCases)
    func `a background that changes while it is opened is shown or refused by its name`(change: Change) throws {
        for round in 0..<4 {
            let path = try folder.video("\(round).mkv", frames: 20)
            let changer = Repeater(every: 500 * round) { number in
                if number == 1 { try? self.change(path, change) }
            }
            let (error, warnings) = start(path)
            changer.finish()
            for report in warnings + (error.map { [$0] } ?? []) { #expect(report.text.contains(path), "\(report)") }
        }
    }

    @Test func `a video whose pictures change their size is fitted anew`() throws {
        let path = try folder.changingVideo(
            "grows.mkv", pattern: "white", [(5, 64, 48), (5, 320, 240), (5, 17, 9)])
        let bench = Bench.room(["background": path])
        for number in 0..<90 {
            let frame = try #require(bench.pair(number, depth: Room.wall(3000)), "frame \(number)")
            #expect(frame.bytes.allSatisfy { $0 > 220 }, "frame \(number): white, whatever its size")
        }
        #expect(bench.bus.errors() == [] && bench.bus.warnings() == [])
    }
}

/// Runs `body` while no critical ends the process.
///
/// - Returns: the criticals, but for those of GStreamer's own `typefind`, which sends its end of stream before it has begun
///   where a file cannot be read.
private func criticals(during body: () -> Void) -> [String] {
    let record = Monitor([String]())
    g_log_set_default_handler(
        { domain, level, text, data in
            guard let data, let text, level.rawValue & G_LOG_LEVEL_CRITICAL.rawValue != 0 else { return }
            let (domain, words) = (domain.map { String(cString: $0) } ?? "", String(cString: text))
            let record = Unmanaged<Monitor<[String]>>.fromOpaque(data).takeUnretainedValue()
            if !words.contains("typefind:src") { record.withLock { $0.append("\(domain): \(words)") } }
        }, Unmanaged.passUnretained(record).toOpaque())
    let fatal = g_log_set_always_fatal(G_LOG_LEVEL_ERROR)
    defer {
        g_log_set_always_fatal(fatal)
        g_log_set_default_handler(g_log_default_handler, nil)
    }
    body()
    return record.withLock { $0 }
}
