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

/// Files whose reading or writing fails at any call: the element works, or says which file it is, and keeps nothing open.
@Suite(.serialized, .enabled(if: can_fail_calls())) struct FileFaultTests {
    private let folder = TemporaryFolder()

    /// A call of the C library that fails with an error number.
    struct Fault: CustomTestStringConvertible {
        let call: system_calls
        let error: CInt
        var testDescription: String { "\(call.rawValue): \(String(cString: strerror(error)))" }
    }

    static let reading = [
        Fault(call: CALL_OPEN, error: EMFILE), Fault(call: CALL_OPEN, error: ENOENT),
        Fault(call: CALL_READ, error: EIO),
        Fault(call: CALL_SEEK, error: EIO),
    ]

    /// Calls `body` with call number 0, 1, 2… failing, until none is left to fail; how many were.
    ///
    /// - Parameter check: called after each time, when no call fails.
    private func failEach(
        _ fault: Fault, _ body: (Int) throws -> Void, then check: (Int) -> Void = { _ in }
    ) rethrows -> Int {
        var number = 0
        while number < 500 {
            fail_calls(folder.path, fault.call.rawValue, fault.error, number, 1)
            defer { end_failing_calls() }
            try body(number)
            let hits = end_failing_calls()
            check(number)
            if hits == 0 { break }
            number += 1
        }
        #expect(number < 500, "there is no end")
        return number
    }

    // MARK: Backgrounds

    /// A file of each way that a background is read.
    private func background(_ name: String) throws -> String {
        switch name {
        case "a.png": folder.write(name, png(width: 64, height: 48) { x, y in [UInt8(x * 4), UInt8(y * 5), 9] })
        case "a.gif": folder.write(name, gif(width: 16, height: 16, [([1, 2, 3], 10), ([4, 5, 6], 10)]))
        default: try video(name, frames: 4)
        }
    }

    /// A video of ten frames a second, uncompressed.
    private func video(_ name: String, frames: Int) throws -> String {
        try #require(
            Pipeline(
                "videotestsrc num-buffers=\(frames) ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 "
                    + "! matroskamux ! filesink location=\(folder[name])"
            ).run() == .ended)
        return folder[name]
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
    func `a background of which any call fails is refused by its name, or shown`(name: String, fault: Fault) throws {
        let path = try background(name)
        _ = start(path)  // what GStreamer opens once
        let files = openFiles()
        var failed = 0
        let criticals = criticals {
            failed = failEach(fault) { number in
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
        #expect(error.text == "The background \"\(path)\" cannot be read: Input/output error.")
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
        let path = try video("a.mkv", frames: 20)
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
            let path = try video("\(round).mkv", frames: 20)
            let changer = Repeater(every: 500 * round) { number in
                if number == 1 { try? self.change(path, change) }
            }
            let (error, warnings) = start(path)
            changer.finish()
            for report in warnings + (error.map { [$0] } ?? []) { #expect(report.text.contains(path), "\(report)") }
        }
    }

    @Test func `a video whose pictures change their size is fitted anew`() throws {
        let path = folder["grows.mkv"]
        let part = { (width: Int, height: Int) in
            "videotestsrc num-buffers=5 pattern=white ! video/x-raw,width=\(width),height=\(height),framerate=10/1 "
                + "! jpegenc ! parts. "
        }
        try #require(
            Pipeline(
                part(64, 48) + part(320, 240) + part(17, 9)
                    + "concat name=parts ! capssetter caps=image/jpeg,width=64,height=48 ! matroskamux "
                    + "! filesink location=\(path)"
            ).run() == .ended)
        let bench = Bench.room(["background": path])
        for number in 0..<90 {
            let frame = try #require(bench.pair(number, depth: Room.wall(3000)), "frame \(number)")
            #expect(frame.bytes.allSatisfy { $0 > 220 }, "frame \(number): white, whatever its size")
        }
        #expect(bench.bus.errors() == [] && bench.bus.warnings() == [])
    }

    // MARK: Calibration

    @Test(arguments: [Fault(call: CALL_OPEN, error: EMFILE), Fault(call: CALL_READ, error: EIO)])
    func `a calibration of which any call fails is refused by its name`(fault: Fault) {
        let path = folder.write("calibration.json", Array("{\"depth\": 1}".utf8))
        let element = makeElement("depthalign", ["calibration": path])
        defer { gst_object_unref(element) }
        let bus = Bus()
        gst_element_set_bus(element, bus.pointer)
        let failed = failEach(fault) { _ in
            #expect(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
            let errors = bus.errors()
            #expect(errors.count == 1 && errors.first?.text.contains(path) == true, "\(errors)")
            gst_element_set_state(element, GST_STATE_NULL)
        }
        #expect(failed > 0)
        gst_element_set_bus(element, nil)
    }

    // MARK: Point clouds

    @Test(
        arguments: [
            Fault(call: CALL_OPEN, error: EMFILE), Fault(call: CALL_WRITE, error: ENOSPC),
            Fault(call: CALL_WRITE, error: EIO), Fault(call: CALL_SYNC, error: EIO),
            Fault(call: CALL_RENAME, error: EACCES),
        ])
    func `a snapshot of which any call fails leaves the old file, and nothing else`(fault: Fault) throws {
        let shape = DepthShape("GRAY16_LE", 64, 48)
        let path = folder.write("cloud.ply", Array("old".utf8))
        let bench = Bench([], ["location": path], of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        bench.leading.start(shape)
        let map = shape.bytes(counts: [Int](repeating: 900, count: 64 * 48))
        bench.leading.push(map, at: 0)
        _ = try #require(bench.output.next())
        let files = openFiles()
        var (frame, content, isWritten) = (1, folder.read("cloud.ply"), false)
        let failed = try failEach(fault) { number in
            bench.set("snapshot", "true")
            bench.leading.push(map, at: time(ofFrame: frame))
            frame += 1
            _ = try #require(bench.output.next())
            var warning: Bus.Report?
            #expect(
                eventually {
                    warning = bench.bus.warnings().first
                    isWritten = !bench.bus.structures("snapshot").isEmpty
                    return warning != nil || isWritten
                })
            if let warning {
                #expect(warning.text.contains("The snapshot was not written: ") && warning.text.contains(path))
            }
        } then: { number in
            if isWritten { content = folder.read("cloud.ply") }
            #expect(folder.read("cloud.ply") == content && folder.names == ["cloud.ply"], "call \(number)")
        }
        #expect(content.count > 64 * 48 * 15)
        #expect(failed > 0)
        #expect(eventually { openFiles() <= files })
        #expect(bench.bus.errors() == [])
    }

    @Test func `a snapshot whose calls are interrupted is written`() throws {
        let shape = DepthShape("GRAY16_LE", 64, 48)
        let bench = Bench(
            [], ["location": folder["cloud.ply"], "snapshot": "true"],
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        let calls = CALL_OPEN.rawValue | CALL_WRITE.rawValue
        fail_calls(folder.path, calls, EINTR, 0, .max)
        defer { end_failing_calls() }
        bench.leading.start(shape)
        bench.leading.push(shape.bytes(counts: [Int](repeating: 900, count: 64 * 48)), at: 0)
        bench.leading.end()
        _ = bench.output.rest()
        #expect(end_failing_calls() > 0)
        #expect(folder.read("cloud.ply").count > 64 * 48 * 15 && folder.names == ["cloud.ply"])
        #expect(bench.bus.warnings() == [])
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

/// How many files this process has open.
func openFiles() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}
