import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

extension FreenectDump {
    /// Writes the index.
    func finish(isLooped: Bool = false) throws -> CameraChoice {
        try writeIndex()
        return CameraChoice(recording: folder.path(), isLooped: isLooped)
    }
}

/// The driver plays what `fakenect-record` would have written.
@Suite(.serialized) struct FreenectRecordingTests {
    /// libfreenect's second build, which plays one recording as if it were a camera.
    private static let fakenect = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib"))?
        .map { "/usr/lib/\($0)/fakenect/libfreenect.so.0.5" }.first { FileManager.default.fileExists(atPath: $0) }

    private func driver() throws -> FreenectDriver {
        try FreenectDriver(library: CompiledLibrary.build("fake_freenect.c"))
    }

    /// Plays up to the end.
    ///
    /// - Returns: how many frames there were.
    private func play(_ camera: any Camera) throws -> Int {
        var count = 0
        #expect(try camera.play(timeout: 5000) { _ in count += 1 } == .ended)
        return count
    }

    @Test func `a hundred and fifty frames keep their pixels, pairs and times`() throws {
        let dump = try FreenectDump(distinct: 10)
        // The counter wraps after 100 frames.
        try dump.addPairs(150, firstTick: UInt32.max - 200_000_000)
        let camera = try driver().open(dump.finish())
        #expect(camera.info.driver == "freenect" && camera.info.videoModes.count == 1)
        let streams = try camera.start(isAligned: true)
        #expect(streams.isAligned && streams.depthUnit == 0.001)
        #expect(streams.calibration?.depth.fx == 525 && streams.calibration?.color == nil)
        var first: Int64?
        for number in 0..<150 {
            let (video, depth) = try camera.pair()
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
        let dump = try FreenectDump()
        try dump.addPairs(3)
        let choice = try dump.finish()
        for _ in 0..<10 {
            let camera = try driver().open(choice)
            for round in 0..<10 {
                try camera.start(isAligned: true)
                for number in 0..<3 { #expect(try dump.videos[number] == Data(camera.pair().video.bytes)) }
                if round % 3 == 0 { #expect(error { _ = try camera.next(timeout: 5000) } == .ended) }
                if round % 2 == 0 { camera.stop() }
            }
        }
    }

    @Test func `a recording that is looped goes on in time`() throws {
        let dump = try FreenectDump()
        try dump.addPairs(4, firstTick: UInt32.max - 10_000_000)
        let camera = try driver().open(dump.finish(isLooped: true))
        try camera.start(isAligned: true)
        let times = try (0..<50).map { _ in try camera.pair().video.time }
        #expect(zip(times, times.dropFirst()).allSatisfy { ($1 - $0 - 33_333_333).magnitude <= 2_100_000 })
    }

    @Test func `frames come no faster than they were recorded`() throws {
        let dump = try FreenectDump()
        try dump.addPairs(6, interval: 0.05)
        let camera = try driver().open(dump.finish())
        try camera.start(isAligned: true)
        let start = ContinuousClock.now
        #expect(try play(camera) == 6)
        #expect(ContinuousClock.now - start >= .milliseconds(249))
    }

    @Test func `a gap in a recording is silence`() throws {
        let dump = try FreenectDump()
        try dump.add("r", number: 0, ticks: 0, seconds: 0)
        try dump.add("d", number: 0, ticks: 1, seconds: 0)
        try dump.add("d", number: 1, ticks: 4_000_000_000, seconds: 3600)
        let camera = try driver().open(dump.finish())
        try camera.start(isAligned: true)
        #expect(try camera.next(timeout: 1000) != nil)
        #expect(try camera.next(timeout: 30) == nil)
    }

    @Test func `raw counts become millimetres that are not registered`() throws {
        let dump = try FreenectDump(largest: 65_535)
        try dump.addPairs(2)
        let camera = try driver().open(dump.finish())
        let streams = try camera.start(isAligned: true)
        #expect(!streams.isAligned)
        #expect(abs((streams.calibration?.depth.fx ?? 0) - 575.8) < 0.1 && streams.calibration?.color?.fx == 525)
        let depth = try camera.pair().depth
        let samples = depth.bytes.bindMemory(to: UInt16.self)
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
        let dump = try FreenectDump()
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
        try camera.start(isAligned: true)
        #expect(try play(camera) == 3)
    }

    @Test func `a recording whose files are removed ends`() throws {
        let dump = try FreenectDump()
        try dump.addPairs(5)
        let camera = try driver().open(dump.finish(isLooped: true))
        try camera.start(isAligned: true)
        #expect(try camera.next(timeout: 5000) != nil)
        try FileManager.default.removeItem(at: dump.folder)
        #expect(try play(camera) == 0)
        #expect(error { _ = try camera.next(timeout: 5000) } == .ended)
    }

    @Test func `what is no recording is an error, and the program goes on`() throws {
        #expect(
            error { _ = try driver().open(CameraChoice(recording: "/nonexistent")) }
                == .recording("/nonexistent/INDEX.txt: No such file or directory."))
        let dump = try FreenectDump(distinct: 1)
        let choice = try dump.finish()
        for line in ["", "d-1-1.pgm\nr-2-2.ppm\n", String(repeating: "d", count: 100_000)] {
            try Data(line.utf8).write(to: dump.folder.appending(path: "INDEX.txt"))
            expectError(CameraError.recording) { _ = try driver().open(choice) }
        }
    }

    @Test func `a recording of one stream has one`() throws {
        let dump = try FreenectDump()
        for number in 0..<3 { try dump.add("d", number: number, ticks: UInt32(number) * 2_000_000, seconds: 0) }
        let camera = try driver().open(dump.finish())
        #expect(camera.info.videoModes.isEmpty && camera.info.depthModes.count == 1)
        try camera.start()
        #expect(try play(camera) == 3)
    }

    @Test func `two recordings play at a time, and one of them twice`() throws {
        let dumps = [try FreenectDump(distinct: 1), try FreenectDump(distinct: 2)]
        defer { withExtendedLifetime(dumps) {} }
        for dump in dumps { try dump.addPairs(2) }
        let cameras = try [dumps[0], dumps[1], dumps[1]].map { try driver().open($0.finish()) }
        for camera in cameras { try camera.start(isAligned: true) }
        #expect(cameras[0].info.name == "Recording of a Kinect v1")
        for _ in 0..<2 {
            for camera in cameras { #expect(try camera.pair().depth.bytes.count == 640 * 480 * 2) }
        }
        for camera in cameras { #expect(error { _ = try camera.next(timeout: 5000) } == .ended) }
    }

    @Test func `a looped recording of one stream ends where nobody wants that`() throws {
        let dump = try FreenectDump()
        for number in 0..<3 { try dump.add("d", number: number, ticks: UInt32(number) * 2_000_000, seconds: 0) }
        let camera = try driver().open(dump.finish(isLooped: true))
        expectError(CameraError.failed, "no such stream") {
            try camera.start { $0.video = CameraMode(width: 640, height: 480, rate: (30, 1), format: .rgb) }
        }
        expectError(CameraError.failed, "not started") { _ = try camera.next(timeout: 0) }
    }

    @Test(.enabled(if: fakenect != nil, "libfreenect0.5 with fakenect is not installed"))
    func `fakenect alone has no camera, and plays what location names`() throws {
        let driver = try FreenectDriver(library: Self.fakenect)
        #expect(try driver.list().isEmpty)
        expectError(CameraError.noCamera) { _ = try driver.open() }
        let dump = try FreenectDump()
        try dump.addPairs(2)
        let camera = try driver.open(dump.finish())
        try camera.start(isAligned: true)
        #expect(try play(camera) == 2)
    }
}
