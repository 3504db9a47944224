import DepthCameras
import Foundation
import TestSupport
import Testing

/// What only `openni2` does: Debian's library with a driver of the tests' own.
@Suite(.serialized, .enabled(if: FakeOpenNI.isInstalled, "libopenni2-0 is not installed")) struct OpenNITests {
    private let fake: FakeOpenNI

    init() throws { fake = try FakeOpenNI() }

    private func driver() throws(CameraError) -> OpenNIDriver { try OpenNIDriver(library: fake.library) }

    /// OpenNI does not tell whether its streams have one clock.
    @Test(arguments: [3_600_000, -3_600, 1e12])
    func `streams whose times never come near each other are paired by arrival`(ahead: Double) throws {
        fake.set("depth-ahead", ahead)
        let camera = try driver().open(serial: "0001")
        try camera.start()
        var (pairs, times): (Int, [Int64]) = (0, [])
        for _ in 0..<30 {
            let frames = try camera.frames()
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
        let camera = try driver().open()
        let small = camera.info.depthModes.last
        let streams = try camera.start(isAligned: true) { ($0.video, $0.depth) = (nil, small) }
        #expect(streams.depthUnit == 0.0001 && streams.calibration == nil && !streams.isAligned)
        #expect(try camera.frames().depth?.bytes.count == 32 * 24 * 2)
    }

    @Test func `maps of the video's size are registered, and no picture is mirrored`() throws {
        let camera = try driver().open()
        for (isAligned, place, isRegistered) in [(true, 0, true), (false, 0, false), (true, 1, false)] {
            let depth = camera.info.depthModes[place]
            let streams = try camera.start(isAligned: isAligned) { $0.depth = depth }
            #expect(streams.isAligned == isRegistered && fake["registered"] == (isRegistered ? 1 : 0))
        }
        #expect(fake["mirroring"] == 0)
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

    @Test func `a driver of the library's that does not start has no cameras`() throws {
        fake.set("fail", "Initialize")
        #expect(try driver().list() == [])
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

    @Test(.enabled(if: FakeOpenNI.canPlay, "the library's player has races of its own"))
    func `a recording is whole from its first frame to its last, and starts again`() throws {
        let path = try record()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let camera = try driver().open(CameraChoice(recording: path))
        #expect(camera.info.videoModes.map(\.width) == [64] && camera.info.depthModes.map(\.width) == [64])
        for _ in 0..<3 {
            let streams = try camera.start(isAligned: true)
            #expect(!streams.isAligned && streams.depthUnit == 0.001)
            // The recorder may have written some frames of a stream before those of the other.
            var (times, samples): ([Int64], [Int?]) = ([], [])
            let end = try camera.play(timeout: 1000) { frames in
                if let video = frames.video { times.append(video.time) }
                if frames.depth != nil { samples.append(sample(frames.depth)) }
            }
            #expect(end == .ended && times.count > 20 && samples.count == times.count)
            #expect(
                times == times.indices.map { Int64($0) * 33_000_000 } && samples == samples.indices.map { 1001 + $0 })
            camera.stop()
        }
        let looped = try driver().open(CameraChoice(recording: path, isLooped: true))
        try looped.start()
        var samples: [Int] = []
        while samples.count < 50 {
            if let depth = try looped.frames().depth { samples.append(sample(depth) ?? 0) }
        }
        #expect(samples.count { $0 == 1001 } > 1)
    }

    @Test func `what is no recording, and one that is cut off, are errors`() throws {
        expectError(CameraError.recording) { _ = try driver().open(CameraChoice(recording: #filePath)) }
        let path = try record()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let bytes = try Data(contentsOf: URL(filePath: path))
        try bytes.prefix(100).write(to: URL(filePath: path))
        expectError(CameraError.recording) { _ = try driver().open(CameraChoice(recording: path)) }
    }
}
