import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// The driver `orbbec` with a stand-in of its library. `OrbbecLibraryTests` load the library itself.
@Suite(.serialized) struct OrbbecTests {
    private let fake: FakeLibrary

    init() throws { fake = try FakeLibrary("fake_orbbec.c") }

    private func driver() throws(CameraError) -> OrbbecDriver { try OrbbecDriver(library: fake.path) }

    private func camera(_ serial: String = "", recording: String = "", isLooped: Bool = false) throws -> any Camera {
        var choice = CameraChoice()
        (choice.serial, choice.recording, choice.isLooped) = (serial, recording, isLooped)
        return try driver().open(choice)
    }

    @Test func `cameras are listed, and opened by serial number or address`() throws {
        fake.set("cameras", 2)
        let cameras = try driver().list()
        #expect(cameras.map(\.serial) == ["FAKE1", "FAKE2"] && cameras[0].name == "Fake Gemini")
        // No JPEG, which the library offers as RGB, and no packed depth, which it unpacks.
        #expect(
            Set(cameras[0].videoModes.map(\.format)) == [.rgb, .yuy2] && cameras[0].videoModes.count == 3
                && cameras[0].depthModes.count == 3)
        #expect(try camera().info.serial == "FAKE1" && camera("FAKE2").info.serial == "FAKE2")
        expectError(CameraError.noCamera, "found: FAKE1, FAKE2") { _ = try self.camera("7777") }
        fake.set("fail", "device_list_get_device")
        #expect(try driver().list() == cameras, "a camera is opened once to see its modes")
        fake.set("cameras", 0)
        #expect(try driver().list() == [])
        fake.set("cameras", 2)
        #expect(try driver().list().map(\.videoModes) == [[], []], "what another program has is listed, too")
        fake.reset()
        fake.set("cameras", 0)
        expectError(CameraError.noCamera, "plugged in") { _ = try self.camera() }
        expectError(CameraError.noCamera, "192.0.2.9") { _ = try self.camera("192.0.2.9") }
        fake.reset()
        fake.set("address", "192.0.2.9")
        let remote = try camera("192.0.2.9")
        _ = try remote.start(settings(remote.info))
        #expect(remote.info.serial == "192.0.2.9", "by which it is found again")
        #expect(try remote.next(timeout: 2000) != nil)
    }

    @Test func `a list does not open a camera that streams`() throws {
        fake.set("cameras", 0)
        #expect(try driver().list() == [], "what earlier lists have seen is forgotten")
        fake.set("cameras", 3)
        fake.set("address", "192.0.2.9")
        let cameras = [try camera("FAKE2"), try camera("192.0.2.9")]
        fake.set("fail", "device_list_get_device")
        let list = try driver().list()
        #expect(
            list.map(\.serial) == ["FAKE1", "FAKE2", "FAKE3"]
                && list.map { $0.videoModes.isEmpty } == [true, false, false])
        #expect(list[1] == cameras[0].info)
    }

    /// Under another name the library is one that has not been used yet.
    @Test func `the library is silent, finds its extensions, and has one context`() throws {
        let link = FileManager.default.temporaryDirectory.appending(path: "orbbec-\(UInt64.random(in: 0...(.max)))")
            .path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fake.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        for function in ["create_context", "set_logger_severity", "set_extensions_directory"] {
            fake.set("fail", function)
            expectError(CameraError.failed, "the test wants it") { _ = try OrbbecDriver(library: link) }
        }
        fake.reset()
        for _ in 0..<3 { _ = try OrbbecDriver(library: link) }
        #expect(fake["log"] == 5 && fake["extensions"] == 1 && fake["contexts"] == 1 && fake["objects"] == 0)
    }

    @Test(arguments: [0, 3])
    func `frames come in pairs of one moment, however late the depth`(late: Int) throws {
        fake.set("late", late)
        fake.set("interval", 5)
        let camera = try camera()
        let streams = try camera.start(settings(camera.info))
        #expect(fake["aggregation"] == 3 && fake["synced"] == 0, "pairs of the library's")
        #expect(!streams.isAligned && streams.video?.width == 640 && streams.depth?.height == 400)
        var (kept, lone) = ([CameraFrame](), 0)
        while kept.count < 20 {
            let frames = try #require(try camera.next(timeout: 2000))
            guard let video = frames.video, let depth = frames.depth, let number = video.number else {
                lone += 1
                continue
            }
            #expect(depth.time == video.time && video.time == 5_000_000_000 + Int64(number) * 1_000_000 / 30 * 1000)
            #expect(video.bytes.count == 640 * 480 * 3 && video.bytes.last == UInt8(truncatingIfNeeded: number))
            #expect(sample(depth) == 1000 + Int(number) % 1000)
            kept.append(video)
        }
        #expect(lone == late)
        let before = fake["objects"]
        camera.stop()
        #expect(fake["running"] == 0 && fake["objects"] <= before)
        #expect(kept.allSatisfy { $0.bytes.first == UInt8(truncatingIfNeeded: $0.number ?? 0) }, "valid after a stop")
    }

    /// The sensors of some cameras run on clocks of their own, 150 millionths apart; here 5,000, to see three frames of slip.
    @Test func `sensors that run free are paired with the nearest`() throws {
        fake.set("interval", 1)
        fake.set("drift", 5000)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        var (lone, slips) = (0, Set<UInt64>())
        for _ in 0..<600 {
            let frames = try #require(try camera.next(timeout: 2000))
            guard let video = frames.video, let depth = frames.depth else {
                lone += 1
                continue
            }
            #expect(abs(video.time - depth.time) <= 16_666_667)
            slips.insert((video.number ?? 0) - (depth.number ?? 0))
        }
        #expect(slips.count == 4 && (3...6).contains(lone))
    }

    @Test(arguments: [(0.1, 0.0001), (1, 0.001), (0.8, 0.0008)])
    func `the unit is that of the frames`(scale: Double, unit: Double) throws {
        fake.set("scale", scale)
        let camera = try camera()
        let streams = try camera.start(settings(camera.info))
        #expect(streams.depthUnit == unit && streams.calibration?.depthUnit == unit)
        let optics = try #require(streams.calibration)
        #expect(optics.depth.fx == 500 && optics.depth.cx == 319.5 && optics.color?.fx == 600)
        #expect(optics.depthToColor.translation.x == -0.025)
        let lens = try #require(optics.color?.distortion)
        #expect(
            [lens.k1, lens.k2, lens.k3, lens.k6, lens.p1, lens.p2].map(Float.init) == [0.1, 0.2, 0.3, 0.6, 0.01, 0.02])
    }

    @Test func `a unit that changes is an error`() throws {
        fake.set("rescale", 3)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        expectError(CameraError.failed, "unit of its depth to 0.002 m") {
            while true { _ = try camera.next(timeout: 2000) }
        }
    }

    @Test func `one stream alone`() throws {
        let camera = try camera()
        var settings = settings(camera.info)
        (settings.video, settings.depth) = (settings.video, nil)
        #expect(try camera.start(settings).calibration == nil)
        #expect(try camera.next(timeout: 2000)?.video?.number == 1)
        (settings.video, settings.depth) = (nil, camera.info.depthModes.first)
        #expect(try camera.start(settings).calibration?.color == nil)
        #expect(try camera.next(timeout: 2000)?.depth?.number == 1)
    }

    @Test(arguments: [0, 1])
    func `projector and presets`(old: Int) throws {
        fake.set("old", old)
        let camera = try camera()
        var settings = settings(camera.info)
        settings.emitter = false
        settings.preset = "high accuracy"
        _ = try camera.start(settings)
        #expect(fake["emitter"] == 0 && fake["preset"] == 2)
        settings.preset = "Nothing"
        expectError(CameraError.setting, "the presets are Default, High Accuracy") { _ = try camera.start(settings) }
        settings.exposure = 100
        expectError(CameraError.setting, "exposure must be 0") { _ = try camera.start(settings) }
    }

    @Test func `a frame of another size has no bytes`() throws {
        fake.set("wrong-size", 2)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        let counts = try (0..<3).map { _ in try #require(try camera.next(timeout: 2000)?.video).bytes.count }
        #expect(counts == [640 * 480 * 3, 0, 640 * 480 * 3])
    }

    // MARK: Faults

    /// Every call of opening and streaming.
    @Test(arguments: [
        "query_device_list", "device_list_get_count", "device_list_get_device_serial_number",
        "device_list_get_device", "device_get_device_info", "device_info_get_name", "device_info_get_serial_number",
        "create_pipeline_with_device", "create_config", "config_enable_stream_with_stream_profile",
        "config_set_frame_aggregate_output_mode", "pipeline_disable_frame_sync", "pipeline_start_with_config",
        "pipeline_wait_for_frameset", "frameset_get_color_frame", "frameset_get_depth_frame", "frame_get_data",
        "frame_get_data_size", "video_frame_get_width", "video_frame_get_height", "frame_get_format",
        "frame_get_timestamp_us", "frame_get_index", "depth_frame_get_value_scale", "device_is_property_supported",
        "device_set_int_property", "device_get_available_preset_list", "device_preset_list_get_count",
        "device_preset_list_get_name", "device_load_preset",
    ])
    func `a call that fails is an error`(function: String) throws {
        fake.set("fail", function)
        let errors: [(Int, @Sendable (String) -> CameraError)] = [
            (0, CameraError.failed), (2, CameraError.unplugged), (10, CameraError.busy),
        ]
        for (type, error) in errors {
            fake.set("error-type", type)
            expectError(error, "the test wants it") {
                let camera = try self.camera()
                var settings = settings(camera.info)
                (settings.emitter, settings.preset) = (true, "Default")
                _ = try camera.start(settings)
                _ = try camera.next(timeout: 100)
            }
            #expect(fake["objects"] == 0 && fake["running"] == 0, "\(type)")
        }
    }

    @Test(arguments: [
        "video_stream_profile_get_intrinsic", "video_stream_profile_get_distortion", "stream_profile_get_extrinsic_to",
    ])
    func `without a calibration frames come all the same`(function: String) throws {
        fake.set("fail", function)
        let camera = try camera()
        #expect(try camera.start(settings(camera.info)).calibration == nil)
        #expect(try camera.next(timeout: 2000)?.depth != nil)
    }

    @Test func `an unplugged camera is told from a silent one`() throws {
        fake.set("unplug-after", 3)
        let camera = try camera()
        _ = try camera.start(settings(camera.info))
        expectError(CameraError.unplugged, "FAKE1 is not there") { while true { _ = try camera.next(timeout: 100) } }
        camera.stop()
        fake.reset()
        fake.set("silent-after", 3)
        _ = try camera.start(settings(camera.info))
        for _ in 0..<2 { #expect(try camera.next(timeout: 2000) != nil) }
        #expect(try camera.next(timeout: 100) == nil)
        fake.set("no-depth", 1)
        expectError(CameraError.failed, "sends no depth") { _ = try camera.start(settings(camera.info)) }
        fake.set("unplug-after", 1)
        expectError(CameraError.unplugged, "FAKE1 is not there") { _ = try camera.start(settings(camera.info)) }
        #expect(fake["running"] == 0)
    }

    @Test func `a thousand starts leave nothing behind`() throws {
        fake.set("interval", 0)
        var camera: (any Camera)? = try camera()
        let info = try #require(camera?.info)
        let before = fake["objects"]
        for _ in 0..<1000 {
            _ = try camera?.start(settings(info))
            camera?.stop()
        }
        #expect(fake["objects"] == before && fake["running"] == 0)
        camera = nil
        #expect(fake["objects"] == 0)
    }

    // MARK: Recordings

    @Test(arguments: [false, true])
    func `a recording is played to its end, or again`(isLooped: Bool) throws {
        fake.set("frames", 5)
        fake.set("interval", 15)
        fake.set("late", 3)
        let camera = try camera(recording: "x.bag", isLooped: isLooped)
        _ = try camera.start(settings(camera.info))
        var numbers: [UInt64] = []
        while numbers.count < 12 {
            do {
                // The player has read everything by now.
                guard let frames = try camera.next(timeout: 5) else { continue }
                let (video, depth) = (try #require(frames.video), try #require(frames.depth))
                #expect(video.number == depth.number)
                numbers.append(video.number ?? 0)
            } catch CameraError.ended {
                break
            }
        }
        #expect(numbers == (isLooped ? [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2] : [1, 2, 3, 4, 5]))
        for function in ["playback_device_pause", "playback_device_resume"] {
            fake.set("fail", function)
            expectError(CameraError.failed, "the test wants it") { _ = try camera.start(settings(camera.info)) }
            #expect(fake["running"] == 0)
        }
        fake.set("fail", "create_playback_device")
        expectError(CameraError.recording, "the test wants it") { _ = try self.camera(recording: "x.bag") }
    }
}
