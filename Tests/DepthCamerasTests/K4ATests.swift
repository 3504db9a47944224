import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// The driver `k4a` with a stand-in of the cameras' library. `K4ARecordingTests` play through the library itself.
@Suite(.serialized) struct K4ATests {
    private let fake: FakeLibrary

    init() throws { fake = try FakeLibrary("fake_k4a.c") }

    private func driver() throws(CameraError) -> K4ADriver { try K4ADriver(library: fake.path) }

    private func camera(_ serial: String = "") throws -> any Camera {
        var choice = CameraChoice()
        choice.serial = serial
        return try driver().open(choice)
    }

    @Test func `cameras are listed, and opened by place or serial number`() throws {
        fake.set("cameras", 2)
        let cameras = try driver().list()
        #expect(cameras.map(\.serial) == ["0", "1"] && fake["open"] == 0)
        #expect(try camera().info.serial == "000123450001")
        for serial in ["1", "000123450002"] { #expect(try camera(serial).info.serial == "000123450002") }
        expectError(CameraError.noCamera, "000123450001, 000123450002") { _ = try self.camera("7777") }
        fake.set("cameras", 0)
        #expect(try driver().list() == [])
        expectError(CameraError.noCamera, "plugged in") { _ = try self.camera() }
        #expect(fake["open"] == 0)
    }

    @Test(arguments: [0, 1])
    func `frames come in pairs, with their bytes and times`(apart: Int) throws {
        fake.set("apart", apart)
        let camera = try camera()
        #expect(camera.info.videoModes.first?.width == 1280 && camera.info.depthModes.first?.width == 640)
        let streams = try camera.start(settings(camera.info))
        #expect(!streams.isAligned && streams.depthUnit == 0.001)
        let optics = try #require(streams.calibration)
        #expect(optics.depth.fx == 500 && optics.color?.cx == 639.5 && optics.depthToColor.translation.x == -0.032)
        var kept: [CameraFrame] = []
        while kept.count < 10 {
            let frames = try #require(try camera.next(timeout: 2000))
            let (video, depth) = (try #require(frames.video), try #require(frames.depth))
            let number = kept.count + 1
            #expect(video.time == 5_000_000_000 + Int64(number) * 33_000_000 && depth.time == video.time)
            #expect(video.bytes.count == 1280 * 720 * 4 && video.bytes.first == UInt8(number))
            #expect(sample(depth) == 1000 + number)
            kept.append(video)
        }
        camera.stop()
        #expect(fake["running"] == 0 && Int(fake["images"]) >= kept.count, "valid after a stop")
        #expect(kept.enumerated().allSatisfy { $0.element.bytes.last == UInt8($0.offset + 1) })
    }

    @Test func `frames of other moments come alone`() throws {
        fake.set("skew", 20_000)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        var (alone, pairs) = (0, 0)
        while alone + pairs < 20 {
            let frames = try #require(try camera.next(timeout: 2000))
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

    @Test func `depth alone, and an exposure`() throws {
        let camera = try camera()
        var settings = settings(camera.info)
        (settings.video, settings.exposure) = (nil, 8333)
        let streams = try camera.start(settings)
        #expect(
            streams.calibration?.color == nil && streams.calibration?.depth.width == 640 && fake["exposure"] == 8333)
        let frames = try #require(try camera.next(timeout: 2000))
        #expect(frames.video == nil && frames.depth?.bytes.count == 640 * 576 * 2)
    }

    @Test func `video and depth have one rate`() throws {
        let camera = try camera()
        var settings = settings(camera.info)
        settings.depth = camera.info.depthModes.first { $0.rate.numerator == 15 }
        expectError(CameraError.setting, "30 and 15") { _ = try camera.start(settings) }
    }

    @Test func `a frame of another size has no bytes`() throws {
        fake.set("wrong-size", 2)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        let counts = try (0..<3).map { _ in try #require(try camera.next(timeout: 2000)?.video).bytes.count }
        #expect(counts == [1280 * 720 * 4, 0, 1280 * 720 * 4])
    }

    // MARK: Faults

    @Test(arguments: [
        ("device_open", CameraError.busy), ("device_start_cameras", CameraError.failed),
        ("device_get_capture", CameraError.failed), ("device_set_color_control", CameraError.setting),
    ])
    func `a call that fails is an error`(function: String, error: @Sendable (String) -> CameraError) throws {
        fake.set("fail", function)
        expectError(error) {
            let camera = try self.camera()
            var settings = settings(camera.info)
            settings.exposure = 100
            _ = try camera.start(settings)
            _ = try camera.next(timeout: 100)
        }
        #expect(fake["open"] == 0 && fake["running"] == 0)
    }

    @Test func `without a calibration frames come all the same`() throws {
        fake.set("fail", "device_get_calibration")
        let camera = try camera()
        #expect(try camera.start(settings(camera.info)).calibration == nil)
        #expect(try camera.next(timeout: 2000)?.depth != nil)
    }

    @Test func `an unplugged camera is told from a silent one`() throws {
        fake.set("unplug-after", 3)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        expectError(CameraError.unplugged, "not there") { while true { _ = try camera.next(timeout: 100) } }
        fake.reset()
        fake.set("silent-after", 3)
        _ = try camera.start(settings(camera.info))
        for _ in 0..<3 { #expect(try camera.next(timeout: 2000) != nil) }
        #expect(try camera.next(timeout: 100) == nil)
    }

    @Test(arguments: [0, 1])
    func `of two cameras that is unplugged which is, and that comes back which was`(place: Int) throws {
        fake.set("cameras", 2)
        fake.set("unplug", place)
        fake.set("unplug-after", 3)
        let serial = "00012345000\(place + 1)"
        var (choice, other) = (CameraChoice(), try camera("\(1 - place)"))
        choice.serial = "\(place)"
        let camera = try driver().open(choice)
        for each in [camera, other] { _ = try each.start(settings(each.info)) }
        expectError(CameraError.unplugged, "not there") { while true { _ = try camera.next(timeout: 100) } }
        #expect(try other.next(timeout: 2000) != nil)
        // As depthcamsrc looks for it.
        choice.serial = camera.info.serial
        #expect(choice.serial == serial)
        expectError(CameraError.noCamera, serial) { _ = try driver().open(choice) }
        for key in ["unplug-after", "unplugged"] { fake.set(key, 0) }
        let returned = try driver().open(choice)
        _ = try returned.start(settings(returned.info))
        #expect(try returned.next(timeout: 2000) != nil && returned.info.serial == serial)
        fake.set("fail", "device_get_capture")
        expectError(CameraError.failed, "no more frames") { while true { _ = try returned.next(timeout: 100) } }
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
        var choice = CameraChoice()
        (choice.recording, choice.isLooped) = ("x.mkv", isLooped)
        return try K4ADriver(library: folder.appending(path: names[0]).path()).open(choice)
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
            var settings = settings(camera.info)
            if !hasVideo { settings.video = nil }
            if !hasDepth { settings.depth = nil }
            _ = try camera.start(settings)
            let isThere = hasVideo && tracks & 1 != 0 || hasDepth && tracks & 2 != 0
            if isThere {
                for _ in 0..<10 { #expect(try camera.next(timeout: 100) != nil) }
            } else {
                for _ in 0..<2 { #expect(throws: CameraError.ended) { _ = try camera.next(timeout: 100) } }
            }
        }
    }

    @Test func `a thousand starts leave nothing behind`() throws {
        fake.set("interval", 0)
        let camera = try camera()
        for _ in 0..<1000 {
            _ = try camera.start(settings(camera.info))
            camera.stop()
        }
        #expect(fake["images"] == 0 && fake["running"] == 0 && fake["open"] == 1)
    }
}
