import DepthCameras
import DepthKernels
import SystemFaults
import TestSupport
import Testing

/// The driver `realsense` against the stand-in for its library.
@Suite(.serialized) struct RealSenseTests {
    private let fake: FakeRealSense

    init() throws { fake = try FakeRealSense() }

    private func driver() throws(CameraError) -> RealSenseDriver { try RealSenseDriver(library: fake.path) }

    /// Runs something that uses the driver, and checks that it leaves nothing behind.
    private func withoutLeaks(_ body: () throws -> Void) rethrows {
        let before = fake.objects
        try body()
        #expect(fake.objects == before)
    }

    @Test func `cameras are listed with their modes`() throws {
        try withoutLeaks {
            fake.set("cameras", 2)
            let cameras = try driver().list()
            #expect(cameras.map(\.serial) == ["0001", "0002"])
            let first = try #require(cameras.first)
            #expect(first.name == "Fake RealSense" && first.driver == "realsense")
            #expect(Set(first.videoModes.map(\.format)) == [.rgb, .rgba])
            #expect(first.depthModes.count == 3 && first.depthModes.allSatisfy { $0.format == .gray16 })
            fake.set("cameras", 0)
            #expect(try driver().list() == [])
        }
    }

    @Test(arguments: [false, true])
    func `frames come in pairs, with their bytes, numbers and times`(isAligned: Bool) throws {
        try withoutLeaks {
            fake.set("interval", 2)
            let camera = try driver().open(CameraChoice())
            let streams = try camera.start(settings(camera.info, isAligned: isAligned))
            #expect(streams.isAligned == isAligned && streams.depthUnit == 0.001)
            var kept: [CameraFrame] = []
            for number in 1...20 {
                let frames = try #require(try camera.next(timeout: 2000))
                let (video, depth) = (try #require(frames.video), try #require(frames.depth))
                #expect(video.number == UInt64(number) && depth.number == UInt64(number))
                #expect(video.time == 5_000_000_000 + Int64(number) * 2_000_000)
                #expect(video.bytes.first == UInt8(number))
                #expect(
                    depth.bytes.loadUnaligned(fromByteOffset: depth.stride, as: UInt16.self) == 1000 + UInt16(number))
                kept.append(video)
            }
            camera.stop()
            #expect(kept.enumerated().allSatisfy { $1.bytes.first == UInt8($0 + 1) }, "frames stay valid after a stop")
        }
    }

    /// Where a stream has no metadata of the camera's, its frames are timed by the host.
    @Test(arguments: [(1, 400), (1, -400), (1, 7), (2, 1.7e12), (0, 3e6), (0, -3e6)], ["", "room.bag"])
    func `depth of another clock is paired by its arrival, and nothing waits`(
        clock: (domain: Int, ahead: Double), recording: String
    ) throws {
        fake.set("domain", clock.domain)
        fake.set("depth-ahead", clock.ahead)
        var choice = CameraChoice()
        choice.recording = recording
        let camera = try driver().open(choice)
        _ = try camera.start(settings(camera.info))
        let start = ContinuousClock.now
        var last: Int64?
        for number in 1...10 {
            let frames = try #require(try camera.next(timeout: 1000))
            let (video, depth) = (try #require(frames.video), try #require(frames.depth))
            #expect(video.number == UInt64(number) && depth.number == UInt64(number))
            #expect(abs(video.time - depth.time) <= 16_666_667)
            if let last { #expect((20_000_000...50_000_000).contains(video.time - last)) }
            last = video.time
        }
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func `depth that librealsense has not aligned is left out`() throws {
        try withoutLeaks {
            fake.set("no-align", 3)
            fake.set("lone-depth", 5)
            let camera = try driver().open(CameraChoice())
            _ = try camera.start(settings(camera.info, isAligned: true))
            var (videos, depths): ([UInt64], [UInt64]) = ([], [])
            while videos.last ?? 0 < 9 {
                let frames = try #require(try camera.next(timeout: 2000))
                if let number = frames.video?.number { videos.append(number) }
                if let number = frames.depth?.number { depths.append(number) }
            }
            #expect(videos == [1, 2, 3, 4, 6, 7, 8, 9])
            #expect(depths == [1, 2, 4, 6, 7, 8, 9])
        }
    }

    // MARK: Recordings

    private func recording() -> CameraChoice {
        var choice = CameraChoice()
        choice.recording = "room.bag"
        return choice
    }

    @Test(arguments: [false, true])
    func `a recording is whole from its first frame to its last, again and again`(isAligned: Bool) throws {
        try withoutLeaks {
            let camera = try driver().open(recording())
            for _ in 0..<3 {
                _ = try camera.start(settings(camera.info, isAligned: isAligned))
                var numbers: [UInt64] = []
                var end: CameraError?
                while end == nil {
                    do throws(CameraError) {
                        guard let frames = try camera.next(timeout: 100) else { continue }
                        #expect(frames.video?.number == frames.depth?.number)
                        numbers.append(frames.depth?.number ?? 0)
                    } catch {
                        end = error
                    }
                }
                #expect(end == .ended && numbers == Array(1...10))
                camera.stop()
            }
        }
    }

    @Test func `a recording stops before any frame was taken`() throws {
        try withoutLeaks {
            let camera = try driver().open(recording())
            for _ in 0..<20 {
                _ = try camera.start(settings(camera.info))
                camera.stop()
            }
        }
    }

    @Test(arguments: [("fail", "playback_device_resume"), ("stays-paused", "1")])
    func `a player that does not resume is an error of the recording`(key: String, value: String) throws {
        try withoutLeaks {
            fake.set(key, value)
            let camera = try driver().open(recording())
            _ = try camera.start(settings(camera.info))
            expectError(CameraError.recording) { while true { _ = try camera.next(timeout: 20) } }
        }
    }

    @Test(.enabled(if: can_fail_calls(), "calls cannot be made to fail here"))
    func `no thread for the player is an error of the recording`() throws {
        try withoutLeaks {
            let camera = try driver().open(recording())
            refuse_threads(0)
            defer { _ = end_refusing_threads() }
            expectError(CameraError.recording, "no thread for the player") {
                _ = try camera.start(settings(camera.info))
            }
        }
    }

    // MARK: Calibration and faults

    @Test func `the calibration is read, with the rotation by rows`() throws {
        let camera = try driver().open(CameraChoice())
        let raw = try #require(try camera.start(settings(camera.info)).calibration)
        let color = try #require(raw.color)
        #expect(raw.depth.fx == 60 && raw.depth.fy == 61 && raw.depth.cx == 31.5 && raw.depth.cy == 23.5)
        #expect(color.fx == 70 && raw.depthUnit == 0.001)
        #expect(raw.depth.distortion.isInverse && Float(raw.depth.distortion.k1) == 0.1)
        #expect(Float(raw.depth.distortion.p1) == 0.3 && Float(raw.depth.distortion.k3) == 0.5)
        // x goes to y.
        #expect(raw.depthToColor.rotation == [0, -1, 0, 1, 0, 0, 0, 0, 1])
        #expect(abs(raw.depthToColor.translation.y - 0.02) < 1e-6)
        let aligned = try #require(try camera.start(settings(camera.info, isAligned: true)).calibration)
        #expect(aligned.color == nil && aligned.depth.fx == 70)
    }

    @Test func `a finer unit is told, without the error of its float`() throws {
        fake.set("unit", 0.0001)
        let camera = try driver().open(CameraChoice())
        #expect(try camera.start(settings(camera.info)).depthUnit == 0.0001)
    }

    @Test(arguments: ["bad-stride", "no-data", "wrong-size"])
    func `a malformed frame is handed out as it is, within its bytes`(fault: String) throws {
        try withoutLeaks {
            fake.set("interval", 2)
            fake.set(fault, 1)
            let camera = try driver().open(CameraChoice())
            _ = try camera.start(settings(camera.info))
            let video = try #require(try camera.next(timeout: 2000)?.video)
            #expect(fault == "bad-stride" ? video.stride == 1 : video.bytes.isEmpty)
        }
    }

    private static let openCalls = [
        "get_api_version", "create_context", "query_devices", "get_device_count", "create_device", "get_device_info",
        "query_sensors", "get_sensors_count", "create_sensor", "get_stream_profiles", "get_stream_profile_data",
        "get_video_stream_resolution", "create_pipeline",
    ]
    private static let startCalls = [
        "create_config", "config_enable_device", "config_enable_stream", "config_resolve",
        "pipeline_profile_get_device",
        "pipeline_start_with_config", "get_depth_scale", "set_option", "get_option_range",
        "pipeline_profile_get_streams", "create_align", "create_frame_queue", "start_processing_queue",
    ]
    private static let frameCalls = [
        "pipeline_try_wait_for_frames", "extract_frame", "get_frame_data", "frame_add_ref", "process_frame",
        "poll_for_frame",
    ]

    @Test(arguments: openCalls + startCalls + frameCalls)
    func `an error of each call is told, and leaves nothing behind`(call: String) {
        withoutLeaks {
            expectError(CameraError.failed, "the test wants it", call) {
                fake.set("interval", 2)
                if RealSenseTests.openCalls.contains(call) { fake.set("fail", call) }
                let camera = try driver().open(CameraChoice())
                if RealSenseTests.startCalls.contains(call) { fake.set("fail", call) }
                var settings = settings(camera.info, isAligned: true)
                settings.exposure = 10_000
                _ = try camera.start(settings)
                if RealSenseTests.frameCalls.contains(call) { fake.set("fail", call) }
                _ = try camera.next(timeout: 1000)
            }
            fake.set("fail", "")
        }
    }

    @Test func `optics that librealsense does not tell are not guessed`() throws {
        let camera = try driver().open(CameraChoice())
        fake.set("fail", "get_video_stream_intrinsics")
        #expect(try camera.start(settings(camera.info)).calibration == nil)
        fake.set("fail", "get_extrinsics")
        let calibration = try #require(try camera.start(settings(camera.info)).calibration)
        #expect(calibration.color == nil)
    }

    @Test func `an unplugged camera, a busy one and none are told apart`() throws {
        fake.set("interval", 2)
        fake.set("unplug-after", 3)
        let camera = try driver().open(CameraChoice())
        _ = try camera.start(settings(camera.info))
        expectError(CameraError.unplugged) { for _ in 0..<10 { _ = try camera.next(timeout: 1000) } }
        expectError(CameraError.noCamera) { _ = try driver().open(CameraChoice()) }

        fake.set("cameras", 1)
        fake.set("fail", "pipeline_start_with_config")
        fake.set("error-type", 7)
        expectError(CameraError.busy) {
            let camera = try driver().open(CameraChoice())
            _ = try camera.start(settings(camera.info))
        }
    }

    @Test func `a camera is found by its serial number`() throws {
        fake.set("cameras", 2)
        var choice = CameraChoice()
        choice.serial = "0002"
        #expect(try driver().open(choice).info.serial == "0002")
        choice.serial = "9"
        #expect(throws: CameraError.noCamera("none has the serial number 9")) { _ = try driver().open(choice) }
    }

    @Test func `silence is no error`() throws {
        fake.set("silent-after", 0)
        let camera = try driver().open(CameraChoice())
        _ = try camera.start(settings(camera.info))
        let frames = try camera.next(timeout: 20)
        #expect(frames == nil)
    }

    // MARK: Options

    /// The color sensor counts 100 microseconds, and the depth sensor, which is a D405's color camera too, 1.
    @Test(arguments: [
        (false, 10_000, 100.0), (false, 100, 1), (false, 1_000_000, 10_000), (false, 33_333, 333),
        (true, 10_000, 10_000),
        (true, 165_000, 165_000),
    ])
    func `the exposure is in microseconds`(isOneSensor: Bool, exposure: Int, counts: Double) throws {
        fake.set("one-sensor", isOneSensor ? 1 : 0)
        let camera = try driver().open(CameraChoice())
        var settings = settings(camera.info)
        settings.exposure = exposure
        _ = try camera.start(settings)
        let sensors: [FakeRealSense.Sensor] = [.color, .depth]
        let (sensor, other) = (sensors[isOneSensor ? 1 : 0], sensors[isOneSensor ? 0 : 1])
        #expect(fake.value(.exposure, of: sensor) == counts && fake.value(.automaticExposure, of: sensor) == 0)
        #expect(fake.value(.automaticExposure, of: other) == 1 && fake["option-changes"] == 2)
    }

    @Test(arguments: [
        (false, 99, "100 to 1000000"), (false, 1_000_001, "100 to 1000000"), (false, 10_000_000, "100 to 1000000"),
        (true, 165_001, "1 to 165000"),
    ])
    func `an exposure that the camera has not is refused with its range`(
        isOneSensor: Bool, exposure: Int, range: String
    ) throws {
        try withoutLeaks {
            fake.set("one-sensor", isOneSensor ? 1 : 0)
            let camera = try driver().open(CameraChoice())
            var settings = settings(camera.info)
            settings.exposure = exposure
            let sentence = "exposure=\(exposure) is out of the camera's range of \(range) microseconds"
            #expect(throws: CameraError.setting(sentence)) { _ = try camera.start(settings) }
            #expect(fake["option-changes"] == 0)
        }
    }

    @Test func `what nobody asked for stays as the camera was left`() throws {
        let camera = try driver().open(CameraChoice())
        _ = try camera.start(settings(camera.info))
        camera.stop()
        #expect(fake["option-changes"] == 0)
    }

    @Test func `after a stop the exposure is as before`() throws {
        let camera = try driver().open(CameraChoice())
        var settings = settings(camera.info)
        settings.exposure = 5_000
        for _ in 0..<2 { _ = try camera.start(settings) }
        #expect(fake.value(.exposure, of: .color) == 50 && fake.value(.automaticExposure, of: .color) == 0)
        settings.exposure = nil
        _ = try camera.start(settings)
        #expect(fake.value(.exposure, of: .color) == 156 && fake.value(.automaticExposure, of: .color) == 1)
    }

    @Test func `an exposure is set although it cannot be read`() throws {
        fake.set("fail", "get_option")
        let camera = try driver().open(CameraChoice())
        var settings = settings(camera.info)
        settings.exposure = 5_000
        _ = try camera.start(settings)
        #expect(fake.value(.exposure, of: .color) == 50)
        let slim = try RealSenseDriver(library: try slimmer(["get_option"])).open(CameraChoice())
        _ = try slim.start(settings)
        #expect(try slim.next(timeout: 2000) != nil)
    }

    @Test func `an unknown preset is refused with those that there are`() throws {
        let camera = try driver().open(CameraChoice())
        var settings = settings(camera.info)
        settings.preset = "hand"
        _ = try camera.start(settings)
        settings.preset = "Nothing"
        #expect(throws: CameraError.setting("no preset Nothing; the presets are Default, Hand")) {
            _ = try camera.start(settings)
        }
    }

    // MARK: Libraries

    /// The stand-in without the functions of these names.
    private func slimmer(_ names: [String]) throws -> String {
        try CompiledLibrary.build("fake_realsense.c", without: names.map { "rs2_\($0)" })
    }

    @Test func `a library plays that has only what a camera needs`() throws {
        let library = try slimmer([
            "get_option", "set_option", "supports_option", "get_option_range", "get_option_value_description",
            "get_video_stream_intrinsics", "get_extrinsics", "create_align", "create_frame_queue",
            "start_processing_queue", "process_frame", "poll_for_frame", "delete_processing_block",
            "delete_frame_queue", "frame_add_ref", "config_enable_device_from_file_repeat_option",
            "playback_device_set_real_time", "playback_device_pause", "playback_device_resume",
            "playback_device_get_current_status",
        ])
        let driver = try RealSenseDriver(library: library)
        let camera = try driver.open(CameraChoice())
        let streams = try camera.start(settings(camera.info, isAligned: true))
        #expect(!streams.isAligned && streams.calibration == nil)
        let frames = try #require(try camera.next(timeout: 2000))
        #expect(frames.video != nil && frames.depth != nil)
        // What it has not is told where it is asked for.
        var exposed = settings(camera.info)
        exposed.exposure = 10_000
        for body in [{ _ = try driver.open(recording()) }, { _ = try camera.start(exposed) }] {
            expectError(CameraError.libraryUnsuitable, "has no function rs2_", by: body)
        }
    }

    @Test func `a library that is too old, or is another one, does not suit`() throws {
        fake.set("version", 24900)
        expectError(CameraError.libraryUnsuitable, "2.49") { _ = try driver() }
        expectError(CameraError.libraryUnsuitable) { _ = try RealSenseDriver(library: "libm.so.6") }
    }
}
