import DepthCameras
import DepthKernels
import TestSupport
import Testing

/// What only `freenect` does, against the stand-in for its library.
@Suite(.serialized) struct FreenectCameraTests {
    private let fake: FakeLibrary

    init() throws { fake = try FakeLibrary("fake_freenect.c") }

    private func driver() throws(CameraError) -> FreenectDriver { try FreenectDriver(library: fake.path) }

    /// Starts both streams at 640x480.
    @discardableResult
    private func start(
        _ camera: any Camera, isAligned: Bool = true, _ change: (inout CameraSettings) -> Void = { _ in }
    ) throws(CameraError) -> CameraStreams {
        try camera.start(isAligned: isAligned) {
            $0.video = CameraMode(width: 640, height: 480, rate: (30, 1), format: .rgb)
            change(&$0)
        }
    }

    @Test func `the motor is left alone`() throws {
        fake.set("cameras", 3)
        _ = try driver().open(serial: "A00362")
        #expect(fake["opened"] == 2 && fake["subdevices"] == 2)
    }

    @Test func `modes that the camera has not are refused`() throws {
        let camera = try driver().open()
        expectError(CameraError.failed) { try start(camera) { $0.video?.format = .bgr } }
        #expect(
            error { try start(camera) { $0.depth?.width = 320 } }
                == .failed("The Kinect has no depth of 320x480 in GRAY16_LE."))
        #expect(error { _ = try camera.start(CameraSettings()) } == .failed("No stream was asked for."))
    }

    @Test func `pairs keep their times over the counter's wrap`() throws {
        // The wrap comes after 100 frames; the depth is 4 ms later than the video.
        fake.set("first-tick", (1 << 32) - 200_000_000)
        fake.set("depth-phase", 240_000)
        let camera = try driver().open()
        try start(camera)
        let first = try camera.pair().video.time
        for frame in 1..<300 {
            let (video, depth) = try camera.pair()
            #expect(video.bytes.first == UInt8(truncatingIfNeeded: frame + 1) && sample(depth) == 1001 + frame)
            #expect(depth.time - video.time == 4_000_000)
            #expect(abs(video.time - first - Int64(frame) * 100_000_000 / 3) <= 1)
        }
    }

    @Test func `a lost frame leaves its partner alone`() throws {
        fake.set("lose-depth", 3)
        fake.set("depth-phase", 240_000)
        let camera = try driver().open()
        try start(camera)
        let numbers = try (0..<5).map { _ in
            let frames = try camera.frames()
            return "\(frames.video?.bytes.first ?? 0) \(sample(frames.depth) ?? 0)"
        }
        #expect(numbers == ["1 1001", "2 1002", "3 0", "4 1004", "5 1005"])
    }

    @Test func `one stream alone comes at once`() throws {
        let camera = try driver().open()
        for (number, hasDepth) in [true, false].enumerated() {
            try start(camera) {
                if hasDepth { $0.video = nil } else { $0.depth = nil }
            }
            _ = try camera.frames()
            #expect(fake["process-calls"] == Double(number + 1))
        }
    }

    @Test func `a consumer that keeps all frames loses the later ones`() throws {
        let camera = try driver().open()
        try start(camera) { $0.video = nil }
        var kept: [CameraFrames] = []
        while let frames = try camera.next(timeout: 20) { kept.append(frames) }
        #expect((10...40).contains(kept.count))
        kept = []
        #expect(try camera.frames().depth != nil)
    }

    @Test func `interrupted calls are made again, and a lost device stays lost`() throws {
        fake.set("interrupts", 5)
        fake.set("unplug-after", 7)
        let camera = try driver().open()
        try start(camera)
        for _ in 0..<2 { expectError(CameraError.unplugged, "libfreenect lost") { throw try camera.play() } }
    }

    @Test func `callbacks during the stop, on two threads, are ignored`() throws {
        fake.set("calls-in-stop", 1)
        let camera = try driver().open()
        for _ in 0..<20 {
            try start(camera)
            let (video, depth) = try camera.pair()
            #expect(video.bytes.first == 1 && sample(depth) == 1001)
            camera.stop()
            camera.stop()
        }
    }

    @Test func `registration needs the video of 640x480`() throws {
        fake.set("depth-phase", 240_000)
        let camera = try driver().open()
        #expect(try start(camera).isAligned && fake["depth-format"] == 4)
        #expect(try !start(camera, isAligned: false).isAligned && fake["depth-format"] == 5)
        let large = camera.info.videoModes.first
        let streams = try start(camera) { $0.video = large }
        #expect(!streams.isAligned && fake["depth-format"] == 5 && fake["video-width"] == 1280)
        #expect(streams.video?.rate.numerator == 10)
        let color = try #require(streams.calibration?.color)
        #expect(color == CameraIntrinsics(width: 1280, height: 1024, fx: 1050, fy: 1050, cx: 639.5, cy: 479.5))
        let frames = try camera.frames()
        #expect(frames.video != nil && frames.depth != nil)
    }

    @Test func `the calibration is the camera's own where it is plausible`() throws {
        let camera = try driver().open()
        var calibration = try #require(try start(camera, isAligned: false).calibration)
        #expect(abs(calibration.depth.fx - 600) < 0.01)
        #expect(calibration.depth.cx == 320 && calibration.depth.cy == 240)
        #expect(abs(calibration.depthToColor.translation.x + 0.023) < 1e-6)
        #expect(calibration.color?.fx == 525 && calibration.depthUnit == 0.001)
        for distance in [0, -120, 0x1p40] {
            fake["reference-distance"] = distance
            calibration = try #require(try start(camera, isAligned: false).calibration)
            #expect(abs(calibration.depth.fx - 575.8) < 0.1)
        }
        calibration = try #require(try start(camera).calibration)
        #expect(calibration.color == nil && calibration.depth.fx == 525 && calibration.depthToColor == .identity)
    }

    @Test func `exposure is set while it is asked for`() throws {
        fake.set("automatic-exposure", -1)
        let camera = try driver().open()
        try start(camera)
        #expect(fake["automatic-exposure"] == -1)
        try start(camera) { $0.exposure = 20_000 }
        #expect(fake["automatic-exposure"] == 0 && fake["exposure"] == 20_000)
        try start(camera)
        #expect(fake["automatic-exposure"] == 1)
    }

    @Test func `libfreenect 0.5 sets no exposure`() throws {
        let library = try CompiledLibrary.build("fake_freenect.c", without: ["freenect_set_exposure"])
        let camera = try FreenectDriver(library: library).open()
        expectError(CameraError.setting, "exposure must be 0") { try start(camera) { $0.exposure = 10_000 } }
    }
}
