import DepthCameras
import DepthKernels
import SystemFaults
import TestSupport
import Testing

/// What only `realsense` does, against the stand-in for its library.
@Suite(.serialized) final class RealSenseTests {
    private let fake: FakeRealSense
    private let before: Int

    init() throws {
        fake = try FakeRealSense()
        before = fake.objects
    }

    deinit { #expect(fake.objects == before, "something is left behind") }

    private func driver() throws(CameraError) -> RealSenseDriver { try RealSenseDriver(library: fake.path) }

    /// Where a stream has no metadata of the camera's, its frames are timed by the host.
    @Test(arguments: [(1, 400), (1, -400), (1, 7), (2, 1.7e12), (0, 3e6), (0, -3e6)], ["", "room.bag"])
    func `depth of another clock is paired by its arrival, and nothing waits`(
        clock: (domain: Int, ahead: Double), recording: String
    ) throws {
        fake.set("domain", clock.domain)
        fake.set("depth-ahead", clock.ahead)
        let camera = try driver().open(CameraChoice(recording: recording))
        try camera.start()
        let start = ContinuousClock.now
        var last: Int64?
        for number in 1...10 {
            let (video, depth) = try camera.pair()
            #expect(video.number == UInt64(number) && depth.number == UInt64(number))
            #expect(abs(video.time - depth.time) <= 16_666_667)
            if let last { #expect((20_000_000...50_000_000).contains(video.time - last)) }
            last = video.time
        }
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func `depth that librealsense has not aligned is left out`() throws {
        fake.set("no-align", 3)
        fake.set("lone-depth", 5)
        let camera = try driver().open()
        try camera.start(isAligned: true)
        var (videos, depths): ([UInt64], [UInt64]) = ([], [])
        while videos.last ?? 0 < 9 {
            let frames = try camera.frames()
            if let number = frames.video?.number { videos.append(number) }
            if let number = frames.depth?.number { depths.append(number) }
        }
        #expect(videos == [1, 2, 3, 4, 6, 7, 8, 9])
        #expect(depths == [1, 2, 4, 6, 7, 8, 9])
    }

    // MARK: Recordings

    private let recording = CameraChoice(recording: "room.bag")

    @Test(arguments: [false, true])
    func `a recording is whole from its first frame to its last, again and again`(isAligned: Bool) throws {
        let camera = try driver().open(recording)
        for _ in 0..<3 {
            try camera.start(isAligned: isAligned)
            var numbers: [UInt64] = []
            let end = try camera.play { frames in
                #expect(frames.video?.number == frames.depth?.number)
                numbers.append(frames.depth?.number ?? 0)
            }
            #expect(end == .ended && numbers == Array(1...10))
            camera.stop()
        }
    }

    @Test func `a recording stops before any frame was taken`() throws {
        let camera = try driver().open(recording)
        for _ in 0..<20 {
            try camera.start()
            camera.stop()
        }
    }

    @Test(arguments: [("fail", "playback_device_resume"), ("stays-paused", "1")])
    func `a player that does not resume is an error of the recording`(key: String, value: String) throws {
        fake.set(key, value)
        let camera = try driver().open(recording)
        try camera.start()
        expectError(CameraError.recording) { while true { _ = try camera.next(timeout: 20) } }
    }

    @Test(.enabled(if: can_fail_calls(), "calls cannot be made to fail here"))
    func `no thread for the player is an error of the recording`() throws {
        let camera = try driver().open(recording)
        refuse_threads(0)
        defer { _ = end_refusing_threads() }
        expectError(CameraError.recording, "no thread for the player") { try camera.start() }
    }

    // MARK: Calibration and faults

    @Test func `the calibration is read, with the rotation by rows`() throws {
        let camera = try driver().open()
        let raw = try #require(try camera.start().calibration)
        let color = try #require(raw.color)
        #expect(raw.depth.fx == 60 && raw.depth.fy == 61 && raw.depth.cx == 31.5 && raw.depth.cy == 23.5)
        #expect(color.fx == 70 && raw.depthUnit == 0.001)
        #expect(raw.depth.distortion.isInverse && Float(raw.depth.distortion.k1) == 0.1)
        #expect(Float(raw.depth.distortion.p1) == 0.3 && Float(raw.depth.distortion.k3) == 0.5)
        // x goes to y.
        #expect(raw.depthToColor.rotation == [0, -1, 0, 1, 0, 0, 0, 0, 1])
        #expect(abs(raw.depthToColor.translation.y - 0.02) < 1e-6)
        let aligned = try #require(try camera.start(isAligned: true).calibration)
        #expect(aligned.color == nil && aligned.depth.fx == 70)
    }

    @Test func `a finer unit is told, without the error of its float`() throws {
        fake.set("unit", 0.0001)
        let camera = try driver().open()
        #expect(try camera.start().depthUnit == 0.0001)
    }

    @Test(arguments: ["bad-stride", "no-data"])
    func `a malformed frame is handed out as it is, within its bytes`(fault: String) throws {
        fake.set("interval", 2)
        fake.set(fault, 1)
        let camera = try driver().open()
        try camera.start()
        let video = try #require(try camera.frames().video)
        #expect(fault == "bad-stride" ? video.stride == 1 : video.bytes.isEmpty)
    }

    @Test func `optics that librealsense does not tell are not guessed`() throws {
        let camera = try driver().open()
        fake.set("fail", "get_video_stream_intrinsics")
        #expect(try camera.start().calibration == nil)
        fake.set("fail", "get_extrinsics")
        let calibration = try #require(try camera.start().calibration)
        #expect(calibration.color == nil)
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
        let camera = try driver().open()
        try camera.start { $0.exposure = exposure }
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
        fake.set("one-sensor", isOneSensor ? 1 : 0)
        let camera = try driver().open()
        let sentence = "exposure=\(exposure) is out of the camera's range of \(range) microseconds"
        #expect(throws: CameraError.setting(sentence)) {
            try camera.start { $0.exposure = exposure }
        }
        #expect(fake["option-changes"] == 0)
    }

    @Test func `what nobody asked for stays as the camera was left`() throws {
        let camera = try driver().open()
        try camera.start()
        camera.stop()
        #expect(fake["option-changes"] == 0)
    }

    @Test func `after a stop the exposure is as before`() throws {
        let camera = try driver().open()
        for _ in 0..<2 { try camera.start { $0.exposure = 5_000 } }
        #expect(fake.value(.exposure, of: .color) == 50 && fake.value(.automaticExposure, of: .color) == 0)
        try camera.start()
        #expect(fake.value(.exposure, of: .color) == 156 && fake.value(.automaticExposure, of: .color) == 1)
    }

    @Test func `an exposure is set although it cannot be read`() throws {
        fake.set("fail", "get_option")
        let camera = try driver().open()
        try camera.start { $0.exposure = 5_000 }
        #expect(fake.value(.exposure, of: .color) == 50)
        let slim = try RealSenseDriver(library: try slimmer(["get_option"])).open()
        try slim.start { $0.exposure = 5_000 }
        #expect(try slim.next(timeout: 2000) != nil)
    }

    @Test func `an unknown preset is refused with those that there are`() throws {
        let camera = try driver().open()
        try camera.start { $0.preset = "hand" }
        #expect(throws: CameraError.setting("no preset Nothing; the presets are Default, Hand")) {
            try camera.start { $0.preset = "Nothing" }
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
        let camera = try driver.open()
        let streams = try camera.start(isAligned: true)
        #expect(!streams.isAligned && streams.calibration == nil)
        let frames = try camera.frames()
        #expect(frames.video != nil && frames.depth != nil)
        // What it has not is told where it is asked for.
        for body in [{ _ = try driver.open(self.recording) }, { try camera.start { $0.exposure = 10_000 } }] {
            expectError(CameraError.libraryUnsuitable, "has no function rs2_", by: body)
        }
    }

    @Test func `a library that is too old, or is another one, does not suit`() throws {
        fake.set("version", 24900)
        expectError(CameraError.libraryUnsuitable, "2.49") { _ = try driver() }
        expectError(CameraError.libraryUnsuitable) { _ = try RealSenseDriver(library: "libm.so.6") }
    }
}
