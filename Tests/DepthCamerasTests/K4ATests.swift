import DepthCameras
import Foundation
import TestSupport
import Testing

/// What only `k4a` does. `K4ARecordingTests` play through the library itself.
@Suite(.serialized) struct K4ATests {
    private let fake: FakeLibrary

    init() throws { fake = try FakeLibrary("fake_k4a.c") }

    private func driver() throws(CameraError) -> K4ADriver { try K4ADriver(library: fake.path) }

    @Test func `color and depth of one time that come apart are a pair`() throws {
        fake.set("apart", 1)
        let camera = try driver().open()
        try camera.start()
        for number in 1...10 {
            let (video, depth) = try camera.pair()
            #expect(video.time == depth.time && video.bytes.first == UInt8(number) && sample(depth) == 1000 + number)
        }
    }

    @Test func `frames of other moments come alone`() throws {
        fake.set("skew", 20_000)
        let camera = try driver().open()
        try camera.start()
        var (alone, pairs) = (0, 0)
        while alone + pairs < 20 {
            let frames = try camera.frames()
            // A depth map is 13 ms before the next picture, and 20 ms behind its own.
            if let video = frames.video, let depth = frames.depth {
                #expect(video.time - depth.time == 13_000_000)
                pairs += 1
            } else {
                alone += 1
            }
        }
        #expect(alone == 1 && pairs == 19)
    }

    @Test func `an exposure is set, and video and depth have one rate`() throws {
        let camera = try driver().open()
        try camera.start { $0.exposure = 8333 }
        #expect(fake["exposure"] == 8333)
        let slow = camera.info.depthModes.first { $0.rate.numerator == 15 }
        expectError(CameraError.setting, "30 and 15") { try camera.start { $0.depth = slow } }
    }

    @Test(arguments: [0, 1])
    func `of two cameras that is unplugged which is, and that comes back which was`(place: Int) throws {
        fake.set("cameras", 2)
        fake.set("unplug", place)
        fake.set("unplug-after", 3)
        let serial = "00012345000\(place + 1)"
        let (camera, other) = (try driver().open(serial: "\(place)"), try driver().open(serial: "\(1 - place)"))
        for each in [camera, other] { try each.start() }
        expectError(CameraError.unplugged, "not there") { throw try camera.play() }
        #expect(try other.next(timeout: 2000) != nil)
        // As depthcamsrc looks for it.
        #expect(camera.info.serial == serial)
        expectError(CameraError.noCamera, serial) { _ = try driver().open(serial: serial) }
        fake.set("unplugged", 0)
        let returned = try driver().open(serial: serial)
        try returned.start()
        #expect(try returned.next(timeout: 2000) != nil && returned.info.serial == serial)
        fake.set("fail", "device_get_capture")
        expectError(CameraError.failed, "no more frames") { throw try returned.play() }
        other.stop()
    }

    // MARK: Recordings

    /// Opens a recording with the stand-in under these names, in a folder of its own.
    private func recording(_ names: [String], isLooped: Bool = false) throws -> any Camera {
        let folder = FileManager.default.temporaryDirectory.appending(path: "k4a-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in names {
            try FileManager.default.createSymbolicLink(
                atPath: folder.appending(path: name).path(), withDestinationPath: fake.path)
        }
        let driver = try K4ADriver(library: folder.appending(path: names[0]).path())
        return try driver.open(CameraChoice(recording: "x.mkv", isLooped: isLooped))
    }

    @Test func `without the library for recordings that is named`() throws {
        expectError(CameraError.libraryUnsuitable, "to play recordings", "libk4arecord.so.1.4") {
            _ = try self.recording(["libk4a.so.1.4"])
        }
    }

    @Test(arguments: [1, 2, 3])
    func `a looped recording starts again, but one without the wanted track ends`(tracks: Int) throws {
        fake.set("tracks", tracks)
        let camera = try recording(["libk4a.so.1.4", "libk4arecord.so.1.4"], isLooped: true)
        for (hasVideo, hasDepth) in [(true, false), (false, true), (true, true)] {
            try camera.start {
                if !hasVideo { $0.video = nil }
                if !hasDepth { $0.depth = nil }
            }
            let isThere = hasVideo && tracks & 1 != 0 || hasDepth && tracks & 2 != 0
            if isThere {
                for _ in 0..<10 { #expect(try camera.next(timeout: 100) != nil) }
            } else {
                for _ in 0..<2 { #expect(throws: CameraError.ended) { _ = try camera.next(timeout: 100) } }
            }
        }
    }
}
