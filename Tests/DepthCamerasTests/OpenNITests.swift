import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// The driver `openni2`: Debian's library with a driver of the tests' own.
@Suite(.serialized, .enabled(if: FakeOpenNI.isInstalled, "libopenni2-0 is not installed")) struct OpenNITests {
    private let fake: FakeOpenNI

    init() throws { fake = try FakeOpenNI() }

    private func driver() throws(CameraError) -> OpenNIDriver { try OpenNIDriver(library: fake.library) }

    private func camera(_ serial: String = "") throws -> any Camera {
        var choice = CameraChoice()
        choice.serial = serial
        return try driver().open(choice)
    }

    @Test func `cameras are listed`() throws {
        fake.set("cameras", 2)
        let cameras = try driver().list()
        #expect(cameras.map(\.serial) == ["0001", "0002"])
        #expect(cameras.allSatisfy { $0.name == "Fake Xtion" && $0.driver == "openni2" && !$0.depthModes.isEmpty })
        fake.set("cameras", 0)
        #expect(try driver().list() == [])
    }

    @Test(arguments: [false, true])
    func `frames come in pairs, with their bytes, numbers and times`(isAligned: Bool) throws {
        let camera = try camera("0001")
        #expect(camera.info.depthModes.map(\.width) == [64, 32] && camera.info.videoModes.map(\.format) == [.rgb])
        let streams = try camera.start(settings(camera.info, isAligned: isAligned))
        #expect(streams.isAligned == isAligned && streams.depthUnit == 0.001)
        #expect(fake["registered"] == (isAligned ? 1 : 0) && fake["mirroring"] == 0)
        let optics = try #require(streams.calibration)
        #expect(optics.color == nil && abs(optics.depth.fx - 32 / 0.546302) < 0.01 && optics.depth.cx == 31.5)
        var kept: [CameraFrame] = []
        while kept.count < 20 {
            let frames = try #require(try camera.next(timeout: 2000))
            guard let video = frames.video, let depth = frames.depth else { continue }
            let number = try #require(depth.number)
            #expect(video.number == number && video.time == 5_000_000_000 + Int64(number) * 33_000_000)
            #expect(video.bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
            #expect(sample(depth) == 1000 + Int(number) + (isAligned ? 3000 : 0))
            kept.append(video)
        }
        camera.stop()
        #expect(fake["streams"] == 0)
        #expect(kept.allSatisfy { $0.bytes.first == UInt8(truncatingIfNeeded: $0.number ?? 0) }, "valid after a stop")
    }

    /// OpenNI does not tell whether its streams have one clock.
    @Test(arguments: [3_600_000, -3_600, 1e12])
    func `streams whose times never come near each other are paired by arrival`(ahead: Double) throws {
        fake.set("depth-ahead", ahead)
        let camera = try camera("0001")
        _ = try camera.start(settings(camera.info))
        var (pairs, times): (Int, [Int64]) = (0, [])
        for _ in 0..<30 {
            let frames = try #require(try camera.next(timeout: 2000))
            times.append(try #require(frames.video ?? frames.depth).time)
            guard let video = frames.video?.number, let depth = frames.depth?.number else { continue }
            #expect(abs(Int(video) - Int(depth)) <= 1)
            pairs += 1
        }
        #expect(
            pairs >= 25 && zip(times, times.dropFirst()).allSatisfy { (0...100_000_000).contains($1 - $0) }, "\(times)")
    }

    @Test func `depth alone, in tenths of a millimetre, without optics or registration`() throws {
        for key in ["micrometres", "no-fields", "no-registration"] { fake.set(key, 1) }
        let camera = try camera()
        var settings = settings(camera.info, isAligned: true)
        settings.video = nil
        settings.depth = camera.info.depthModes.last
        let streams = try camera.start(settings)
        #expect(streams.depthUnit == 0.0001 && streams.calibration == nil && !streams.isAligned)
        let frames = try #require(try camera.next(timeout: 2000))
        #expect(frames.video == nil && frames.depth?.bytes.count == 32 * 24 * 2)
    }

    @Test func `maps of another size than the video's are not registered`() throws {
        let camera = try camera()
        var settings = settings(camera.info, isAligned: true)
        settings.depth = camera.info.depthModes.last
        #expect(try !camera.start(settings).isAligned)
        #expect(fake["registered"] == 0)
    }

    @Test func `a frame of another size has no bytes`() throws {
        fake.set("wrong-size", 2)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        var counts: [UInt64: Int] = [:]
        while counts[3] == nil {
            let frames = try #require(try camera.next(timeout: 2000))
            if let depth = frames.depth { counts[depth.number ?? 0] = depth.bytes.count }
        }
        #expect(counts[2] == 0 && counts[3] == 64 * 48 * 2)
    }

    // MARK: Faults

    @Test func `a thread that called the library may end`() throws {
        // OpenNI asks the system for threads that called it before. Memory of that size goes when the thread ends, and the next
        // thread, which is larger, does not come in its place.
        for megabytes in [64, 96, 128] {
            let thread = Thread { [library = fake.library] in _ = try? OpenNIDriver(library: library).list() }
            thread.stackSize = megabytes << 20
            thread.start()
            while !thread.isFinished { Thread.sleep(forTimeInterval: 0.01) }
            Thread.sleep(forTimeInterval: 0.05)
        }
        #expect(try driver().list().count == 1)
    }

    @Test(arguments: ["DeviceOpen", "DeviceCreateStream", "StreamSetProperty", "StreamStart"])
    func `a call that fails is an error`(function: String) throws {
        fake.set("fail", function)
        expectError(CameraError.failed) {
            let camera = try self.camera()
            _ = try camera.start(settings(camera.info))
        }
        #expect(fake["streams"] == 0)
    }

    @Test func `an exposure, of which the library tells no unit, is an error`() throws {
        let camera = try camera()
        var settings = settings(camera.info)
        settings.exposure = 100
        expectError(CameraError.setting, "exposure") { _ = try camera.start(settings) }
    }

    @Test func `a driver of the library's that does not start has no cameras`() throws {
        fake.set("fail", "Initialize")
        #expect(try driver().list() == [])
    }

    @Test func `no camera, and none of that name`() throws {
        fake.set("cameras", 0)
        expectError(CameraError.noCamera, "plugged in") { _ = try self.camera() }
        fake.set("cameras", 1)
        expectError(CameraError.noCamera, "0001") { _ = try self.camera("0009") }
    }

    @Test func `an unplugged camera is told from a silent one`() throws {
        fake.set("interval", 5)
        fake.set("unplug-after", 3)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        expectError(CameraError.unplugged, "0001") { while true { _ = try camera.next(timeout: 100) } }
    }

    @Test func `a silent camera is waited for`() throws {
        fake.set("interval", 5)
        fake.set("silent-after", 3)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        var (last, silences) = (0, 0)
        while silences < 2 {
            let frames = try camera.next(timeout: 100)
            last = frames?.depth.map { Int($0.number ?? 0) } ?? last
            silences = frames == nil ? silences + 1 : 0
        }
        #expect(last == 3)
    }

    @Test func `a thousand starts leave nothing behind`() throws {
        fake.set("interval", 1)
        let camera = try camera()
        for _ in 0..<1000 {
            _ = try camera.start(settings(camera.info))
            camera.stop()
        }
        #expect(fake["streams"] == 0)
    }

    // MARK: Recordings

    /// Records a second of the first camera with the library's own recorder.
    ///
    /// - Returns: the path of the recording.
    private func record() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).oni").path()
        let recorder = try Process.run(
            URL(filePath: CompiledLibrary.build("record_openni.c", isProgram: true)),
            arguments: [fake.library, path, "1"])
        recorder.waitUntilExit()
        try #require(recorder.terminationStatus == 0)
        return path
    }

    private func open(_ path: String, isLooped: Bool = false) throws -> any Camera {
        var choice = CameraChoice()
        (choice.recording, choice.isLooped) = (path, isLooped)
        return try driver().open(choice)
    }

    @Test(.enabled(if: FakeOpenNI.canPlay, "the library's player has races of its own"))
    func `a recording is whole from its first frame to its last, again and again`() throws {
        let path = try record()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let camera = try open(path)
        #expect(camera.info.videoModes.map(\.width) == [64] && camera.info.depthModes.map(\.width) == [64])
        for _ in 0..<3 {
            let streams = try camera.start(settings(camera.info, isAligned: true))
            #expect(!streams.isAligned && streams.depthUnit == 0.001)
            // The recorder may have written some frames of a stream before those of the other.
            var (times, samples): ([Int64], [Int?]) = ([], [])
            var end: CameraError?
            while end == nil {
                do throws(CameraError) {
                    guard let frames = try camera.next(timeout: 1000) else { break }
                    if let video = frames.video { times.append(video.time) }
                    if frames.depth != nil { samples.append(sample(frames.depth)) }
                } catch {
                    end = error
                }
            }
            #expect(end == .ended && times.count > 20 && samples.count == times.count)
            #expect(
                times == times.indices.map { Int64($0) * 33_000_000 } && samples == samples.indices.map { 1001 + $0 })
            camera.stop()
        }
    }

    @Test(.enabled(if: FakeOpenNI.canPlay, "the library's player has races of its own"))
    func `a looped recording starts again`() throws {
        let path = try record()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let camera = try open(path, isLooped: true)
        _ = try camera.start(settings(camera.info))
        var samples: [Int] = []
        while samples.count < 50 {
            guard let depth = try #require(try camera.next(timeout: 1000)).depth else { continue }
            samples.append(sample(depth) ?? 0)
        }
        #expect(samples.count { $0 == 1001 } > 1)
    }

    @Test func `what is no recording, and one that is cut off, are errors`() throws {
        expectError(CameraError.recording) { _ = try self.open(#filePath) }
        let path = try record()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(100).write(to: URL(filePath: path))
        expectError(CameraError.recording) { _ = try self.open(path) }
    }
}
