import DepthCameras
import DepthKernels
import DepthScene
import Foundation
import Testing

/// A folder as `fakenect-record` writes it, with frames of the scene of `depthtestsrc`.
private final class Dump {
    let folder: URL
    /// The frames of each stream, again and again.
    private(set) var videos: [Data] = []
    private(set) var depths: [Data] = []
    private var index = ""

    /// - Parameters:
    ///   - distinct: frames that differ; later ones repeat them.
    ///   - largest: the largest value in the depth's header: 10000 for millimetres, 65535 for raw counts.
    init(distinct: Int = 3, largest: Int = 10_000) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "freenect-dump-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let scene = SceneRenderer(scene: Scene(pattern: .person, seed: 1), width: 640, height: 480)
        for number in 0..<distinct {
            let seconds = Double(number) / 30
            let bgra = Self.draw { scene.drawVideo(seconds: seconds, into: $0) }
            var rgb: [UInt8] = []
            rgb.reserveCapacity(640 * 480 * 3)
            for pixel in 0..<640 * 480 { rgb += [bgra[pixel * 4 + 2], bgra[pixel * 4 + 1], bgra[pixel * 4]] }
            let floats = Self.draw {
                scene.drawDepth(seconds: seconds, frame: UInt64(number), noise: 0.002, holes: 0.02, into: $0)
            }
            let counts = floats.withUnsafeBytes { bytes in
                (0..<640 * 480).map { sample in
                    let metres = bytes.loadUnaligned(fromByteOffset: sample * 4, as: Float.self)
                    // Of raw counts, any do.
                    return largest == 10_000 ? UInt16(metres * 1000) : UInt16(metres * 1000) % 2048
                }
            }
            videos.append(Data(rgb))
            depths.append(counts.withUnsafeBytes { Data($0) })
            try (Data("P6 640 480 255\n".utf8) + videos[number]).write(to: folder.appending(path: "video\(number)"))
            try (Data("P5 640 480 \(largest)\n".utf8) + depths[number]).write(
                to: folder.appending(path: "depth\(number)"))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func draw(_ body: (MutablePlane) -> Void) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 640 * 480 * 4)
        bytes.withUnsafeMutableBytes { memory in
            guard let base = memory.baseAddress else { return }
            let plane = MutablePlane(base: base, length: memory.count, rowBytes: 2560, rows: 480, stride: 2560)
            if let plane { body(plane) }
        }
        return bytes
    }

    /// Adds a frame.
    ///
    /// - Parameter seconds: when the host received it.
    func add(_ type: String, number: Int, ticks: UInt32, seconds: Double) throws {
        let isDepth = type == "d"
        let name = "\(type)-\(1_288_634_398 + seconds)-\(ticks).\(isDepth ? "pgm" : "ppm")"
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: name),
            withDestinationURL: folder.appending(path: "\(isDepth ? "depth" : "video")\(number % videos.count)"))
        index += name + "\n"
    }

    /// Adds a line to the index.
    func add(line: String) { index += line + "\n" }

    /// Adds pairs of frames, the depth 2 ms after the video.
    ///
    /// - Parameter interval: between two frames for the host; for the camera it is a thirtieth of a second.
    func addPairs(_ count: Int, firstTick: UInt32 = 1_735_028_192, interval: Double = 0.001) throws {
        for number in 0..<count {
            let ticks = firstTick &+ UInt32(number) &* 2_000_000
            try add("r", number: number, ticks: ticks, seconds: Double(number) * interval)
            try add("d", number: number, ticks: ticks &+ 120_000, seconds: Double(number) * interval + interval / 10)
        }
    }

    /// Writes the index.
    func finish() throws -> CameraChoice {
        try Data(index.utf8).write(to: folder.appending(path: "INDEX.txt"))
        var choice = CameraChoice()
        choice.recording = folder.path()
        return choice
    }
}

private let fakenect = FreenectDriver.players.first { FileManager.default.fileExists(atPath: $0) }

/// Debian's fakenect plays what `fakenect-record` would have written.
@Suite(.serialized, .enabled(if: fakenect != nil, "libfreenect0.5 with fakenect is not installed"))
struct FreenectRecordingTests {
    private func driver() throws -> FreenectDriver { try FreenectDriver(library: fakenect) }

    private func error(_ body: () throws -> Void) -> CameraError? {
        do { try body() } catch { return error as? CameraError }
        return nil
    }

    /// Plays up to the end.
    private func play(_ camera: any Camera, limit: Int = 10_000) throws -> [FetchedFrames] {
        var all: [FetchedFrames] = []
        do {
            while all.count < limit, let frames = try FetchedFrames(camera.next(timeout: 5000)) { all.append(frames) }
        } catch CameraError.ended {
            return all
        }
        return all
    }

    @Test func `a hundred and fifty frames keep their pixels, pairs and times`() throws {
        let dump = try Dump(distinct: 10)
        // The counter wraps after 100 frames.
        try dump.addPairs(150, firstTick: UInt32.max - 200_000_000)
        let camera = try driver().open(dump.finish())
        #expect(camera.info.driver == "freenect" && camera.info.videoModes.count == 1)
        let streams = try camera.start(.both)
        #expect(streams.isAligned && streams.depthUnit == 0.001)
        #expect(streams.calibration?.depth.fx == 525 && streams.calibration?.color == nil)
        var first: Int64?
        for number in 0..<150 {
            let frames = try #require(try FetchedFrames(camera.next(timeout: 5000)))
            let video = try #require(frames.video)
            let depth = try #require(frames.depth)
            #expect(dump.videos[number % 10] == Data(video.bytes))
            #expect(dump.depths[number % 10] == Data(depth.bytes))
            #expect(video.stride == 1920 && depth.stride == 1280)
            #expect(depth.time - video.time == 2_000_000)
            let start = first ?? video.time
            first = start
            let expected = Int64(number) * 100_000_000 / 3
            #expect(abs(video.time - start - expected) <= 1)
        }
        for _ in 0..<2 { #expect(error { _ = try camera.next(timeout: 5000) } == .ended) }
    }

    @Test func `a recording starts again a hundred times`() throws {
        let dump = try Dump()
        try dump.addPairs(3)
        let choice = try dump.finish()
        var camera: (any Camera)?
        for round in 0..<100 {
            if round % 10 == 0 {
                camera = nil  // one recording at a time
                camera = try driver().open(choice)
            }
            _ = try camera?.start(.both)
            for number in 0..<3 {
                let frames = try #require(try FetchedFrames(camera?.next(timeout: 5000)))
                #expect(frames.video.map { dump.videos[number] == Data($0.bytes) } == true)
            }
            if round % 3 == 0 { #expect(error { _ = try camera?.next(timeout: 5000) } == .ended) }
            if round % 2 == 0 { camera?.stop() }
        }
    }

    @Test func `a recording that is looped goes on in time`() throws {
        let dump = try Dump()
        try dump.addPairs(4, firstTick: UInt32.max - 10_000_000)
        var choice = try dump.finish()
        choice.isLooped = true
        let camera = try driver().open(choice)
        _ = try camera.start(.both)
        let frames = try play(camera, limit: 50)
        let times = frames.compactMap { $0.video?.time }
        #expect(times.count == 50)
        #expect(zip(times, times.dropFirst()).allSatisfy { ($1 - $0 - 33_333_333).magnitude <= 2_100_000 })
    }

    @Test func `frames come no faster than they were recorded`() throws {
        let dump = try Dump()
        try dump.addPairs(6, interval: 0.05)
        let camera = try driver().open(dump.finish())
        _ = try camera.start(.both)
        let start = ContinuousClock.now
        #expect(try play(camera).count == 6)
        #expect(ContinuousClock.now - start >= .milliseconds(249))
    }

    @Test func `a gap in a recording is silence`() throws {
        let dump = try Dump()
        try dump.add("r", number: 0, ticks: 0, seconds: 0)
        try dump.add("d", number: 0, ticks: 1, seconds: 0)
        try dump.add("d", number: 1, ticks: 4_000_000_000, seconds: 3600)
        let camera = try driver().open(dump.finish())
        _ = try camera.start(.both)
        #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil)
        #expect(try FetchedFrames(camera.next(timeout: 30)) == nil)
    }

    @Test func `raw counts become millimetres that are not registered`() throws {
        let dump = try Dump(largest: 65_535)
        try dump.addPairs(2)
        let camera = try driver().open(dump.finish())
        let streams = try camera.start(.both)
        #expect(!streams.isAligned)
        #expect(abs((streams.calibration?.depth.fx ?? 0) - 575.8) < 0.1 && streams.calibration?.color?.fx == 525)
        let frames = try #require(try FetchedFrames(camera.next(timeout: 5000)))
        let depth = try #require(frames.depth)
        let samples = depth.samples
        let counts = dump.depths[0].withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) }
        var seen = 0
        for (count, millimetres) in zip(counts, samples) where (400...1000).contains(count) {
            // Stéphane Magnenat's fit, another source.
            let metres = 0.1236 * tan(Double(count) / 2842.5 + 1.1863)
            #expect(abs(Double(millimetres) / 1000 - metres) < 0.02 * metres)
            seen += 1
        }
        #expect(seen > 1000)
        #expect(zip(counts, samples).allSatisfy { $0 < 2047 || $1 == 0 })
    }

    @Test func `frames that are cut off or missing are left out`() throws {
        let dump = try Dump()
        dump.add(line: "a-1288634398.5-12.dump")
        dump.add(line: "nonsense")
        dump.add(line: "d-1288634398.6-12.pgm")
        dump.add(line: "d-nan-12.pgm")
        dump.add(line: "r-1288634398.6-99999999999.ppm")
        dump.add(line: "d-../../etc/passwd")
        dump.add(line: "")
        try dump.addPairs(3)
        for name in ["d-1288634399-7.pgm", "r-1288634399-8.ppm"] {
            dump.add(line: name)
            try Data("P5 640 480 10000\nshort".utf8).write(to: dump.folder.appending(path: name))
        }
        let noHeader = "d-1288634399-9.pgm"
        dump.add(line: noHeader)
        try Data(repeating: 65, count: 700_000).write(to: dump.folder.appending(path: noHeader))
        let camera = try driver().open(dump.finish())
        _ = try camera.start(.both)
        #expect(try play(camera).count == 3)
    }

    @Test func `a recording whose files are removed ends`() throws {
        let dump = try Dump()
        try dump.addPairs(5)
        var choice = try dump.finish()
        choice.isLooped = true
        let camera = try driver().open(choice)
        _ = try camera.start(.both)
        #expect(try FetchedFrames(camera.next(timeout: 5000)) != nil)
        try FileManager.default.removeItem(at: dump.folder)
        #expect(try play(camera).isEmpty)
        #expect(error { _ = try camera.next(timeout: 5000) } == .ended)
    }

    @Test func `what is no recording is an error, and the program goes on`() throws {
        var choice = CameraChoice()
        choice.recording = "/nonexistent"
        #expect(
            error { _ = try driver().open(choice) }
                == .recording("/nonexistent/INDEX.txt: No such file or directory."))
        let dump = try Dump(distinct: 1)
        choice = try dump.finish()
        for line in ["", "d-1-1.pgm\nr-2-2.ppm\n", String(repeating: "d", count: 100_000)] {
            try Data(line.utf8).write(to: dump.folder.appending(path: "INDEX.txt"))
            guard case .recording = error({ _ = try driver().open(choice) }) else {
                Issue.record("no error for an index of \(line.prefix(20))")
                continue
            }
        }
    }

    @Test func `a recording of one stream has one`() throws {
        let dump = try Dump()
        for number in 0..<3 { try dump.add("d", number: number, ticks: UInt32(number) * 2_000_000, seconds: 0) }
        let camera = try driver().open(dump.finish())
        #expect(camera.info.videoModes.isEmpty && camera.info.depthModes.count == 1)
        var settings = CameraSettings.both
        settings.video = nil
        _ = try camera.start(settings)
        #expect(try play(camera).count == 3)
    }

    @Test func `one recording plays at a time`() throws {
        let dump = try Dump()
        try dump.addPairs(2)
        let choice = try dump.finish()
        var camera: (any Camera)? = try driver().open(choice)
        #expect(error { _ = try driver().open(choice) } == .busy("fakenect plays one recording at a time."))
        #expect(camera?.info.name == "Recording of a Kinect v1")
        camera = nil
        _ = try driver().open(choice)
    }

    @Test func `fakenect alone has no camera`() throws {
        #expect(try driver().list().isEmpty)
        guard case .noCamera = error({ _ = try driver().open(CameraChoice()) }) else {
            Issue.record("no error")
            return
        }
    }

    @Test func `the usual places are searched, and libfreenect stays what it is`() throws {
        let dump = try Dump()
        try dump.addPairs(2)
        let driver = try FreenectDriver(library: nil)
        let camera = try driver.open(dump.finish())
        _ = try camera.start(.both)
        #expect(try play(camera).count == 2)
        // A driver of cameras has no recording to play by itself.
        let message = error { _ = try FreenectDriver(library: nil).open(CameraChoice()) }
        if case .noCamera(let sentence)? = message { #expect(!sentence.contains("fakenect")) }
    }
}
