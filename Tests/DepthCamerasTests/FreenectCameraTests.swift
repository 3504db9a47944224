import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// The stand-in for libfreenect.
private final class FakeFreenect: FakeLibrary {
    let driver: FreenectDriver

    init(_ settings: [String: Int] = [:]) throws {
        let source = "fake_freenect.c"
        driver = try FreenectDriver(library: CompiledLibrary.build(source))
        try super.init(source)
        for (key, value) in settings { set(key, value) }
    }

    func expectNothingIsLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        for key in ["contexts", "devices", "running", "registrations", "attributes", "closed_while_running"] {
            #expect(self[key] == 0, "\(key)", sourceLocation: sourceLocation)
        }
    }
}

extension CameraSettings {
    /// Both streams at 640x480.
    static var both: CameraSettings {
        var settings = CameraSettings()
        settings.video = CameraMode(width: 640, height: 480, rate: (30, 1), format: .rgb)
        settings.depth = CameraMode(width: 640, height: 480, rate: (30, 1), format: .gray16)
        return settings
    }
}

/// The error that something ends in; nil where there is none.
func error(_ body: () throws -> Void) -> CameraError? {
    do { try body() } catch { return error as? CameraError }
    return nil
}

/// Expects an error of this case, whose words hold all of these parts.
func expectError(
    _ kind: (String) -> CameraError, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    by body: () throws -> Void
) {
    let error = error(body)
    let words = error.flatMap { Mirror(reflecting: $0).children.first?.value as? String } ?? ""
    #expect(
        error == kind(words) && parts.allSatisfy { words.contains($0) }, "\(String(describing: error))",
        sourceLocation: sourceLocation)
}

/// A copy of what one call of `next` returned.
struct FetchedFrames {
    struct Picture {
        var bytes: [UInt8]
        var stride: Int
        var time: Int64

        // Inlined where nobody reads the copy, the optimizer of Swift 6.3 frees the array before it is filled.
        @inline(never) init(_ frame: borrowing CameraFrame) {
            bytes = Array(frame.bytes)
            stride = frame.stride
            time = frame.time
        }

        /// The first byte.
        var byte: UInt8 { bytes.first ?? 0 }
        var samples: [UInt16] { bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt16.self)) } }
        /// The last sample.
        var count: UInt16 { samples.last ?? 0 }
    }
    var video: Picture?
    var depth: Picture?

    init?(_ frames: consuming CameraFrames?) {
        guard let frames else { return nil }
        self.init(copying: frames)
    }

    init(copying frames: borrowing CameraFrames) {
        switch frames.video {
        case .some(let frame): video = Picture(frame)
        case .none: break
        }
        switch frames.depth {
        case .some(let frame): depth = Picture(frame)
        case .none: break
        }
    }
}

/// Frames that are not dropped.
private final class KeptFrames {
    private final class Link {
        let frames: CameraFrames
        let next: Link?

        init(_ frames: consuming CameraFrames, _ next: Link?) {
            self.frames = frames
            self.next = next
        }
    }

    private var last: Link?
    private(set) var count = 0
    var newest: FetchedFrames? { last.map { FetchedFrames(copying: $0.frames) } }

    /// - Returns: false where there is nothing to keep.
    func keep(_ frames: consuming CameraFrames?) -> Bool {
        guard let frames else { return false }
        last = Link(frames, last)
        count += 1
        return true
    }

    func drop() { last = nil }
}

@Suite(.serialized) struct FreenectCameraTests {
    @Test func `cameras are listed with serial and modes`() throws {
        let fake = try FakeFreenect(["cameras": 2])
        let list = try fake.driver.list()
        #expect(list.map(\.serial) == ["A00360", "A00361"])
        #expect(list.map(\.driver) == ["freenect", "freenect"])
        #expect(
            list.first?.videoModes.map { "\($0.width)x\($0.height)@\($0.rate.numerator)" } == [
                "1280x1024@10", "640x480@30",
            ])
        #expect(list.first?.depthModes == [CameraMode(width: 640, height: 480, rate: (30, 1), format: .gray16)])
        fake["cameras"] = 0
        #expect(try fake.driver.list().isEmpty)
        fake.expectNothingIsLeft()
    }

    @Test func `a camera is found by its serial, and its motor is left alone`() throws {
        let fake = try FakeFreenect(["cameras": 3])
        var choice = CameraChoice()
        choice.serial = "A00362"
        #expect(try fake.driver.open(choice).info.serial == "A00362")
        #expect(fake["opened"] == 2)
        #expect(fake["subdevices"] == 2)
        #expect(try fake.driver.open(CameraChoice()).info.serial == "A00360")
        choice.serial = "B"
        let absent = error { _ = try fake.driver.open(choice) }
        #expect(absent == .noCamera("No Kinect has the serial B; plugged in: A00360, A00361, A00362."))
        fake.expectNothingIsLeft()
    }

    @Test func `the errors of opening are told apart`() throws {
        let fake = try FakeFreenect(["cameras": 0])
        let open = { _ = try fake.driver.open(CameraChoice()) }
        #expect(error(open) == .noCamera("No Kinect is plugged in."))
        fake["cameras"] = 1
        fake["fail_open"] = -6
        #expect(
            error(open)
                == .busy("Another program uses the Kinect (Failed to claim camera interface: LIBUSB_ERROR_BUSY)."))
        fake["fail_open"] = -3
        expectError(CameraError.failed, "no permission", "udev", by: open)
        fake["fail_open"] = -4
        #expect(error(open) == .noCamera("libusb reports no device (Could not open camera: -4)."))
        fake["fail_open"] = 0
        for call in ["fail_init", "fail_num_devices", "fail_list"] {
            fake[call] = -99
            expectError(CameraError.failed, by: open)
            fake[call] = 0
        }
        fake.expectNothingIsLeft()
    }

    @Test(arguments: ["video_mode", "depth_mode", "video_buffer", "depth_buffer", "start_video", "start_depth"])
    func `a start that fails leaves nothing running`(call: String) throws {
        let fake = try FakeFreenect(["fail_\(call)": -99])
        do {
            let camera = try fake.driver.open(CameraChoice())
            expectError(CameraError.failed) { _ = try camera.start(.both) }
            #expect(fake["running"] == 0)
            expectError(CameraError.failed) { _ = try camera.next(timeout: 0) }
            fake["fail_\(call)"] = 0
            _ = try camera.start(.both)
            #expect(try FetchedFrames(camera.next(timeout: 1000))?.video != nil)
        }
        fake.expectNothingIsLeft()
    }

    @Test func `a start is busy or unplugged as libusb says`() throws {
        let fake = try FakeFreenect(["fail_start_depth": -6])
        let camera = try fake.driver.open(CameraChoice())
        #expect(
            error { _ = try camera.start(.both) } == .busy("Another program uses the Kinect (Failed to start: -6)."))
        fake["fail_start_depth"] = -4
        #expect(error { _ = try camera.start(.both) } == .unplugged("libusb reports no device (Failed to start: -4)."))
    }

    @Test func `modes that the camera has not are refused`() throws {
        let fake = try FakeFreenect()
        let camera = try fake.driver.open(CameraChoice())
        var settings = CameraSettings.both
        settings.video?.format = .bgr
        expectError(CameraError.failed) { _ = try camera.start(settings) }
        settings = .both
        settings.depth?.width = 320
        #expect(
            error { _ = try camera.start(settings) } == .failed("The Kinect has no depth of 320x480 in GRAY16_LE."))
        #expect(error { _ = try camera.start(CameraSettings()) } == .failed("No stream was asked for."))
    }

    @Test func `pairs arrive in order, with the camera's time, over the counter's wrap`() throws {
        // The wrap comes after 100 frames; the depth is 4 ms later than the video.
        let fake = try FakeFreenect(["first_tick": (1 << 32) - 200_000_000, "depth_phase": 240_000])
        do {
            let camera = try fake.driver.open(CameraChoice())
            let streams = try camera.start(.both)
            #expect(streams.isAligned && streams.depthUnit == 0.001)
            #expect(fake["depth_format"] == 4)
            var first: Int64?
            for frame in 0..<300 {
                let frames = try #require(try FetchedFrames(camera.next(timeout: 1000)))
                let video = try #require(frames.video)
                let depth = try #require(frames.depth)
                #expect(Int(video.byte) == frame % 200 + 1)
                #expect(Int(depth.count) == 1000 + frame % 200 + 1)
                #expect(depth.time - video.time == 4_000_000)
                let start = first ?? video.time
                first = start
                #expect(abs(video.time - start - Int64(frame) * 100_000_000 / 3) <= 1)
            }
        }
        fake.expectNothingIsLeft()
    }

    @Test func `a lost frame leaves its partner alone`() throws {
        let fake = try FakeFreenect(["lose_depth": 2, "depth_phase": 240_000])
        let camera = try fake.driver.open(CameraChoice())
        _ = try camera.start(.both)
        var bytes: [String] = []
        for _ in 0..<5 {
            let frames = try #require(try FetchedFrames(camera.next(timeout: 1000)))
            bytes.append("\(frames.video?.byte ?? 0) \(frames.depth?.count ?? 0)")
        }
        #expect(bytes == ["1 1001", "2 1002", "3 0", "4 1004", "5 1005"])
    }

    @Test func `one stream alone comes at once`() throws {
        let fake = try FakeFreenect()
        let camera = try fake.driver.open(CameraChoice())
        var settings = CameraSettings.both
        settings.video = nil
        #expect(try camera.start(settings).calibration?.color == nil)
        #expect(try FetchedFrames(camera.next(timeout: 1000))?.depth?.count == 1001)
        #expect(fake["process_calls"] == 1)
        settings = .both
        settings.depth = nil
        #expect(try camera.start(settings).calibration == nil)
        #expect(try FetchedFrames(camera.next(timeout: 1000))?.video?.byte == 1)
        #expect(fake["process_calls"] == 2)
    }

    @Test func `frames stay as they are until they are dropped`() throws {
        let fake = try FakeFreenect()
        var camera: (any Camera)? = try fake.driver.open(CameraChoice())
        _ = try camera?.start(.both)
        let kept = KeptFrames()
        #expect(kept.keep(try camera?.next(timeout: 1000)))
        for _ in 0..<50 { _ = try camera?.next(timeout: 1000) }
        camera?.stop()
        camera = nil
        let video = try #require(kept.newest?.video)
        let depth = try #require(kept.newest?.depth)
        #expect(video.bytes.count == 640 * 480 * 3 && video.stride == 1920)
        #expect(video.bytes.allSatisfy { $0 == 1 })
        #expect(depth.samples.allSatisfy { $0 == 1001 })
    }

    @Test func `a consumer that keeps all frames loses the later ones`() throws {
        let fake = try FakeFreenect()
        let camera = try fake.driver.open(CameraChoice())
        var settings = CameraSettings.both
        settings.video = nil
        _ = try camera.start(settings)
        let frames = KeptFrames()
        while frames.keep(try camera.next(timeout: 20)) {}
        #expect((10...40).contains(frames.count))
        frames.drop()
        #expect(try FetchedFrames(camera.next(timeout: 1000))?.depth != nil)
    }

    @Test func `unplugging is an error, and the camera can be closed and opened again`() throws {
        let fake = try FakeFreenect(["unplug_after": 7])
        do {
            let camera = try fake.driver.open(CameraChoice())
            _ = try camera.start(.both)
            for _ in 0..<3 { #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil) }
            let unplugged = CameraError.unplugged(
                "libfreenect lost the device: USB camera marked dead, stopping streams.")
            for _ in 0..<2 {
                #expect(error { while try FetchedFrames(camera.next(timeout: 1000)) != nil {} } == unplugged)
            }
        }
        fake.expectNothingIsLeft()
        fake["unplug_after"] = 1000
        let camera = try fake.driver.open(CameraChoice())
        _ = try camera.start(.both)
        #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil)
    }

    @Test func `a silent camera gives nothing, in time`() throws {
        let fake = try FakeFreenect(["silent_after": 6])
        let camera = try fake.driver.open(CameraChoice())
        _ = try camera.start(.both)
        for _ in 0..<3 { #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil) }
        let start = ContinuousClock.now
        #expect(try FetchedFrames(camera.next(timeout: 50)) == nil)
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        for timeout in [0, -1, .min] { #expect(try FetchedFrames(camera.next(timeout: timeout)) == nil) }
    }

    @Test func `interrupted calls are made again, and other errors are told`() throws {
        let fake = try FakeFreenect(["interrupts": 5])
        let camera = try fake.driver.open(CameraChoice())
        _ = try camera.start(.both)
        #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil)
        fake["fail_process"] = -9
        #expect(error { _ = try camera.next(timeout: 1000) } == .failed("The Kinect cannot be read: error -9."))
        fake["fail_process"] = -4
        #expect(error { _ = try camera.next(timeout: 1000) } == .unplugged("libusb reports no device (error -4)."))
    }

    @Test func `callbacks during the stop, on two threads, are ignored`() throws {
        let fake = try FakeFreenect(["calls_in_stop": 1])
        do {
            let camera = try fake.driver.open(CameraChoice())
            for _ in 0..<20 {
                _ = try camera.start(.both)
                let frames = try #require(try FetchedFrames(camera.next(timeout: 1000)))
                #expect(frames.video?.byte == 1 && frames.depth?.count == 1001)
                camera.stop()
                camera.stop()
            }
        }
        fake.expectNothingIsLeft()
    }

    @Test func `registration needs the video of 640x480`() throws {
        let fake = try FakeFreenect(["depth_phase": 240_000])
        let camera = try fake.driver.open(CameraChoice())
        var settings = CameraSettings.both
        settings.isAligned = false
        #expect(try !camera.start(settings).isAligned)
        #expect(fake["depth_format"] == 5)
        settings.isAligned = true
        settings.video?.width = 1280
        settings.video?.height = 1024
        let streams = try camera.start(settings)
        #expect(!streams.isAligned && fake["depth_format"] == 5 && fake["video_width"] == 1280)
        #expect(streams.video?.rate.numerator == 10)
        let color = try #require(streams.calibration?.color)
        #expect(color == CameraIntrinsics(width: 1280, height: 1024, fx: 1050, fy: 1050, cx: 639.5, cy: 479.5))
        let frames = try #require(try FetchedFrames(camera.next(timeout: 1000)))
        #expect(frames.video != nil && frames.depth != nil)
    }

    @Test func `the calibration is the camera's own where it is plausible`() throws {
        let fake = try FakeFreenect()
        let camera = try fake.driver.open(CameraChoice())
        var settings = CameraSettings.both
        settings.isAligned = false
        var calibration = try #require(try camera.start(settings).calibration)
        #expect(abs(calibration.depth.fx - 600) < 0.01)
        #expect(calibration.depth.cx == 320 && calibration.depth.cy == 240)
        #expect(abs(calibration.depthToColor.translation.x + 0.023) < 1e-6)
        #expect(calibration.color?.fx == 525 && calibration.depthUnit == 0.001)
        for distance in [0, -120, 0x1p40] {
            fake["reference_distance"] = distance
            calibration = try #require(try camera.start(settings).calibration)
            #expect(abs(calibration.depth.fx - 575.8) < 0.1)
        }
        settings.isAligned = true
        calibration = try #require(try camera.start(settings).calibration)
        #expect(calibration.color == nil && calibration.depth.fx == 525 && calibration.depthToColor == .identity)
    }

    @Test func `exposure is set while it is asked for`() throws {
        let fake = try FakeFreenect(["automatic_exposure": -1])
        let camera = try fake.driver.open(CameraChoice())
        _ = try camera.start(.both)
        #expect(fake["automatic_exposure"] == -1)
        var settings = CameraSettings.both
        settings.exposure = 20_000
        _ = try camera.start(settings)
        #expect(fake["automatic_exposure"] == 0 && fake["exposure"] == 20_000)
        _ = try camera.start(.both)
        #expect(fake["automatic_exposure"] == 1)
    }

    @Test func `two hundred starts and fifty openings leave nothing behind`() throws {
        let fake = try FakeFreenect()
        for _ in 0..<50 {
            let camera = try fake.driver.open(CameraChoice())
            for _ in 0..<4 {
                _ = try camera.start(.both)
                #expect(try FetchedFrames(camera.next(timeout: 1000)) != nil)
            }
        }
        fake.expectNothingIsLeft()
    }
}

/// The settings of a camera's first modes.
func settings(_ info: CameraInfo, isAligned: Bool = false) -> CameraSettings {
    var settings = CameraSettings()
    settings.video = info.videoModes.first
    settings.depth = info.depthModes.first
    settings.isAligned = isAligned
    return settings
}

/// The first sample of the second row of a depth frame.
func sample(_ frame: CameraFrame?) -> Int? {
    frame.map { Int($0.bytes.loadUnaligned(fromByteOffset: $0.stride, as: UInt16.self)) }
}
