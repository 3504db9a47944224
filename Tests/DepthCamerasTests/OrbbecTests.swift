import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// What only `orbbec` does. `OrbbecLibraryTests` load the library itself.
@Suite(.serialized) struct OrbbecTests {
    private let fake: FakeLibrary

    init() throws { fake = try FakeLibrary("fake_orbbec.c") }

    private func driver() throws(CameraError) -> OrbbecDriver { try OrbbecDriver(library: fake.path) }

    @Test func `a camera is opened once to see its modes, and by its address`() throws {
        fake.set("cameras", 2)
        let cameras = try driver().list()
        fake.set("fail", "device_list_get_device")
        #expect(try driver().list() == cameras)
        fake.set("cameras", 0)
        #expect(try driver().list() == [])
        fake.set("cameras", 2)
        #expect(try driver().list().map(\.videoModes) == [[], []], "what another program has is listed, too")
        fake.reset()
        fake.set("cameras", 0)
        expectError(CameraError.noCamera, "192.0.2.9") { _ = try driver().open(serial: "192.0.2.9") }
        fake.reset()
        fake.set("address", "192.0.2.9")
        let remote = try driver().open(serial: "192.0.2.9")
        try remote.start()
        #expect(remote.info.serial == "192.0.2.9", "by which it is found again")
        #expect(try remote.next(timeout: 2000) != nil)
    }

    @Test func `a list does not open a camera that streams`() throws {
        fake.set("cameras", 0)
        #expect(try driver().list() == [], "what earlier lists have seen is forgotten")
        fake.set("cameras", 3)
        fake.set("address", "192.0.2.9")
        let cameras = [try driver().open(serial: "FAKE2"), try driver().open(serial: "192.0.2.9")]
        fake.set("fail", "device_list_get_device")
        let list = try driver().list()
        #expect(
            list.map(\.serial) == ["FAKE1", "FAKE2", "FAKE3"]
                && list.map { $0.videoModes.isEmpty } == [true, false, false])
        #expect(list[1] == cameras[0].info)
    }

    /// Under another name the library is one that has not been used yet.
    @Test func `the library is silent, finds its extensions, and has one context`() throws {
        let link = FileManager.default.temporaryDirectory.appending(path: "orbbec-\(UUID())").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fake.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let before = fake.objects
        for function in ["create_context", "set_logger_severity", "set_extensions_directory"] {
            fake.set("fail", function)
            expectError(CameraError.failed, "the test wants it") { _ = try OrbbecDriver(library: link) }
        }
        fake.reset()
        for _ in 0..<3 { _ = try OrbbecDriver(library: link) }
        #expect(fake["log"] == 5 && fake["extensions"] == 1 && fake["contexts"] == 1 && fake.objects == before)
    }

    @Test func `depth that comes late is that of the picture`() throws {
        fake.set("late", 3)
        fake.set("interval", 5)
        let camera = try driver().open()
        try camera.start()
        #expect(fake["aggregation"] == 3 && fake["synced"] == 0, "pairs of the library's")
        var (pairs, lone) = (0, 0)
        while pairs < 20 {
            let frames = try camera.frames()
            guard let video = frames.video, let depth = frames.depth else {
                lone += 1
                continue
            }
            #expect(depth.time == video.time && depth.number == video.number)
            pairs += 1
        }
        #expect(lone == 3)
    }

    /// The sensors of some cameras run on clocks of their own, 150 millionths apart; here 5,000, to see three frames of slip.
    @Test func `sensors that run free are paired with the nearest`() throws {
        fake.set("interval", 1)
        fake.set("drift", 5000)
        let camera = try driver().open()
        try camera.start()
        var (lone, slips) = (0, Set<UInt64>())
        for _ in 0..<600 {
            let frames = try camera.frames()
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
        let streams = try driver().open().start()
        #expect(streams.depthUnit == unit && streams.calibration?.depthUnit == unit)
        let lens = try #require(streams.calibration?.color?.distortion)
        #expect(
            [lens.k1, lens.k2, lens.k3, lens.k6, lens.p1, lens.p2].map(Float.init) == [0.1, 0.2, 0.3, 0.6, 0.01, 0.02])
    }

    @Test func `a unit that changes is an error`() throws {
        fake.set("rescale", 3)
        let camera = try driver().open()
        try camera.start()
        expectError(CameraError.failed, "unit of its depth to 0.002 m") { throw try camera.play(timeout: 2000) }
    }

    @Test(arguments: [0, 1])
    func `projector and presets`(old: Int) throws {
        fake.set("old", old)
        let camera = try driver().open()
        try camera.start { ($0.emitter, $0.preset) = (false, "high accuracy") }
        #expect(fake["emitter"] == 0 && fake["preset"] == 2)
        expectError(CameraError.setting, "the presets are Default, High Accuracy") {
            try camera.start { $0.preset = "Nothing" }
        }
    }

    @Test func `a camera without depth, and one that goes before it comes, do not start`() throws {
        let camera = try driver().open()
        fake.set("no-depth", 1)
        expectError(CameraError.failed, "sends no depth") { try camera.start() }
        fake.set("unplug-after", 1)
        expectError(CameraError.unplugged, "FAKE1 is not there") { try camera.start() }
        #expect(fake["running"] == 0)
    }

    // MARK: Recordings

    @Test(arguments: [false, true])
    func `a recording is played to its end, or again`(isLooped: Bool) throws {
        for (key, value) in [("frames", 5), ("interval", 15), ("late", 3)] { fake.set(key, value) }
        let choice = CameraChoice(recording: "x.bag", isLooped: isLooped)
        let camera = try driver().open(choice)
        try camera.start()
        var numbers: [UInt64] = []
        // The player has read everything by now.
        let end = try camera.play(timeout: 5) { frames in
            let (video, depth) = (try #require(frames.video), try #require(frames.depth))
            #expect(video.number == depth.number)
            numbers.append(video.number ?? 0)
            if numbers.count == 12 { throw CameraError.ended }
        }
        #expect(end == .ended)
        #expect(numbers == (isLooped ? [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2] : [1, 2, 3, 4, 5]))
        for function in ["playback_device_pause", "playback_device_resume"] {
            fake.set("fail", function)
            expectError(CameraError.failed, "the test wants it") { try camera.start() }
            #expect(fake["running"] == 0)
        }
        fake.set("fail", "create_playback_device")
        expectError(CameraError.recording, "the test wants it") { _ = try driver().open(choice) }
    }
}
