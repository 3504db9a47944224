import DepthCameras
import DepthKernels
import Foundation
import TestSupport
import Testing

/// What holds for every driver, with the stand-ins of the makers' libraries.
@Suite(.serialized) struct CameraContractTests {
    private func describe(_ calibration: Calibration?) -> String {
        guard let calibration else { return "none" }
        let lenses = [calibration.depth, calibration.color].compactMap(\.self)
        let shift = calibration.depthToColor.translation
        return lenses.map { String(format: "%.1f %.1f, ", $0.fx, $0.cx) }.joined()
            + String(format: "(%.3f, %.3f, %.3f)", shift.x, shift.y, shift.z)
    }

    private func describe(_ modes: [CameraMode]) -> [String] {
        modes.map { "\($0.width)x\($0.height)@\($0.rate.numerator) \($0.format.rawValue)" }
    }

    // MARK: Cameras

    @Test(arguments: CameraRow.all)
    func `cameras are listed with their modes, and opened by serial number`(row: CameraRow) throws {
        let fake = try row.fake()
        let before = fake.objects
        fake.set("cameras", 2)
        let list = try row.driver.init(library: fake.library).list()
        #expect(list.map(\.serial) == row.listed)
        #expect(list.allSatisfy { $0.name == row.name && $0.driver == row.driver.name })
        #expect(list.allSatisfy { !$0.depthModes.isEmpty && !$0.videoModes.isEmpty })
        let info = try row.open(fake).info
        #expect(describe(info.videoModes).starts(with: row.modes.video))
        #expect(describe(info.depthModes).starts(with: row.modes.depth))
        #expect([info.videoModes.count, info.depthModes.count] == row.modes.count)
        let serials = row.opened ?? row.listed
        #expect(info.serial == serials[0])
        for serial in [row.listed[1], serials[1]] {
            #expect(try row.open(fake, serial: serial).info.serial == serials[1])
        }
        expectError(CameraError.noCamera, row.noCamera.other) { _ = try row.open(fake, serial: "7777") }
        fake.set("cameras", 0)
        #expect(try row.driver.init(library: fake.library).list() == [])
        expectError(CameraError.noCamera, row.noCamera.none) { _ = try row.open(fake) }
        #expect(fake.objects == before)
    }

    @Test(arguments: CameraRow.all)
    func `another library does not suit`(row: CameraRow) {
        expectError(CameraError.libraryUnsuitable, "libm.so.6") { _ = try row.driver.init(library: "libm.so.6") }
    }

    // MARK: Frames

    @Test(arguments: CameraRow.all, [false, true])
    func `frames come in pairs, with their bytes, numbers and times`(row: CameraRow, isAligned: Bool) throws {
        let fake = try row.fake()
        let before = fake.objects
        var kept: [(number: Int, video: CameraFrame, depth: CameraFrame)] = []
        do {
            let camera = try row.open(fake)
            let streams = try camera.start {
                row.asked(&$0)
                $0.isAligned = isAligned
            }
            let isRegistered = isAligned && row.registered != nil
            #expect(streams.isAligned == isRegistered && streams.depthUnit == 0.001)
            #expect(describe(streams.calibration) == (isRegistered ? row.optics.registered : row.optics.raw))
            let (video, depth) = (try #require(streams.video), try #require(streams.depth))
            var first: Int64?
            for count in 1...20 {
                let frames = try camera.frames()
                guard row.startsTogether || frames.video != nil && frames.depth != nil else { continue }
                let pair = (video: try #require(frames.video), depth: try #require(frames.depth))
                let number = (sample(pair.depth) ?? 0) - 1000 - (isRegistered ? row.registered ?? 0 : 0)
                if row.startsTogether { #expect(number == count) }
                for (frame, mode) in [(pair.video, video), (pair.depth, depth)] {
                    #expect(frame.number.map(Int.init) == (row.hasNumbers ? number : nil))
                    #expect(frame.stride == mode.width * mode.format.bytesPerPixel + row.padding)
                    #expect(frame.bytes.count == frame.stride * mode.height)
                }
                let start = row.start ?? first ?? pair.video.time
                first = start
                #expect(abs(pair.video.time - start - Int64(number - 1) * row.step) <= 1000)
                #expect(abs(pair.depth.time - pair.video.time - row.lag) <= 1000)
                #expect(pair.video.bytes.first == UInt8(truncatingIfNeeded: number))
                // The memory of the others is used again.
                if count.isMultiple(of: 2) { kept.append((number, pair.video, pair.depth)) }
            }
            #expect(kept.count >= 8)
            camera.stop()
            camera.stop()
            #expect(fake["running"] == 0)
        }
        // Frames stay valid when the camera is closed.
        for (number, video, depth) in kept {
            #expect(video.bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) })
            let samples = depth.bytes.bindMemory(to: UInt16.self)
            #expect(sample(depth).map { $0 % 1000 } == number && samples.allSatisfy { $0 == samples.first })
        }
        kept = []
        #expect(fake.objects == before)
    }

    @Test(arguments: CameraRow.all)
    func `one stream comes alone`(row: CameraRow) throws {
        let camera = try row.open(row.fake())
        var streams = try camera.start { $0.video = nil }
        #expect(streams.video == nil && streams.calibration != nil && streams.calibration?.color == nil)
        var frames = try camera.frames()
        #expect(frames.video == nil && sample(frames.depth) == 1001)
        streams = try camera.start { $0.depth = nil }
        #expect(streams.depth == nil && streams.calibration == nil)
        frames = try camera.frames()
        #expect(frames.depth == nil && frames.video?.bytes.first == 1)
    }

    @Test(arguments: CameraRow.all.filter(\.canBeNarrow))
    func `a frame of another size has no bytes`(row: CameraRow) throws {
        let fake = try row.fake()
        fake.set("wrong-every", 2)
        let camera = try row.open(fake)
        let mode = try #require(try camera.start { $0.depth = nil }.video)
        let size = (mode.width * mode.format.bytesPerPixel + row.padding) * mode.height
        let counts = try (0..<3).map { _ in try #require(try camera.frames().video).bytes.count }
        #expect(counts == [size, 0, size])
    }

    @Test(arguments: CameraRow.all)
    func `a thousand starts and twenty openings leave nothing behind`(row: CameraRow) throws {
        let fake = try row.fake()
        let before = fake.objects
        fake.set("interval", 1)
        for _ in 0..<20 {
            let camera = try row.open(fake)
            for number in 0..<50 {
                try camera.start()
                if number == 0 { #expect(try camera.next(timeout: 2000) != nil) }
                if number.isMultiple(of: 2) { camera.stop() }
            }
        }
        #expect(fake.objects == before && fake["running"] == 0)
    }

    // MARK: Faults

    @Test(arguments: CameraRow.all.flatMap { row in row.faults.map { (row, $0) } })
    func `a call that fails is told, and leaves nothing behind`(row: CameraRow, fault: CameraRow.Fault) throws {
        let fake = try row.fake()
        let before = fake.objects
        func fail(in phase: CameraRow.Fault.Phase) {
            guard phase == fault.phase else { return }
            fake.set("fail", fault.call)
            if let number = fault.number { fake.set("error-type", number) }
        }
        var camera: (any Camera)?
        expectError(fault.kind, fault.words) {
            fail(in: .opening)
            camera = try row.open(fake)
            fail(in: .starting)
            try camera?.start(row.asked)
            fail(in: .streaming)
            _ = try camera?.next(timeout: 1000)
        }
        #expect(fake["running"] == 0 || fault.phase == .streaming)
        fake.set("fail", "")
        if let camera, fault.phase == .starting {
            #expect((try? camera.next(timeout: 0)) == nil)
            try camera.start(row.asked)
            #expect(try camera.frames().depth != nil)
        }
        camera = nil
        #expect(fake.objects == before && fake["running"] == 0)
    }

    @Test(arguments: CameraRow.all)
    func `without a calibration frames come all the same`(row: CameraRow) throws {
        for call in row.calibrationCalls {
            let fake = try row.fake()
            fake.set("fail", call)
            let camera = try row.open(fake)
            #expect(try camera.start().calibration == nil, "\(call)")
            #expect(try camera.frames().depth != nil, "\(call)")
        }
    }

    @Test(arguments: CameraRow.all)
    func `an unplugged camera is told, and one that is plugged in again goes on`(row: CameraRow) throws {
        let fake = try row.fake()
        let before = fake.objects
        fake.set("unplug-after", 3 * row.framesOfExposure)
        do {
            let camera = try row.open(fake)
            try camera.start(row.asked)
            let end = try camera.play()
            expectError(CameraError.unplugged, row.unplugged) { throw end }
        }
        expectError(CameraError.noCamera) { _ = try row.open(fake) }
        #expect(fake.objects == before && fake["running"] == 0)
        fake.set("unplugged", 0)
        let camera = try row.open(fake)
        try camera.start(row.asked)
        #expect(try camera.frames().depth != nil)
    }

    @Test(arguments: CameraRow.all)
    func `a silent camera gives nothing, in time`(row: CameraRow) throws {
        let fake = try row.fake()
        fake.set("silent-after", 3 * row.framesOfExposure)
        let camera = try row.open(fake)
        try camera.start(row.asked)
        var (last, silences): (Int?, Int) = (nil, 0)
        while silences < 2 {
            let start = ContinuousClock.now
            let frames = try camera.next(timeout: 100)
            last = sample(frames?.depth) ?? last
            silences = frames == nil ? silences + 1 : 0
            #expect(frames != nil || ContinuousClock.now - start >= .milliseconds(99))
        }
        #expect(last == 1000 + row.lastBeforeSilence)
        for timeout in [0, -1, .min] { #expect(try camera.next(timeout: timeout) == nil) }
    }

    // MARK: Properties

    /// The properties that change a camera of each kind, which a setting of the stand-in makes.
    private static let kinds: [(driver: String, setting: String?, value: Int, changeable: [String])] = [
        ("realsense", nil, 0, ["emitter", "exposure", "preset"]), ("realsense", "no-options", 1, []),
        ("freenect", nil, 0, ["exposure"]), ("k4a", nil, 0, ["exposure"]),
        ("orbbec", nil, 0, ["emitter", "preset"]), ("orbbec", "old", 2, ["preset"]), ("openni2", nil, 0, []),
    ]

    @Test(
        arguments: kinds.filter { FakeLibrary.drivers.contains($0.driver) }, ["emitter", "exposure", "preset"])
    func `a property that the camera cannot follow is an error that names it`(
        kind: (driver: String, setting: String?, value: Int, changeable: [String]), property: String
    ) throws {
        let row = try #require(CameraRow.all.first { $0.driver.name == kind.driver })
        let fake = try row.fake()
        if let setting = kind.setting { fake.set(setting, kind.value) }
        let camera = try row.open(fake)
        func start() throws(CameraError) {
            try camera.start {
                switch property {
                case "emitter": $0.emitter = true
                case "exposure": $0.exposure = 10_000
                default: $0.preset = "Default"
                }
            }
        }
        if kind.changeable.contains(property) {
            try start()
        } else {
            expectError(CameraError.setting, "driver=\(kind.driver)", "\(property) must be", by: start)
        }
    }

    @Test(arguments: [
        ("x.bag", ["realsense", "orbbec"]), ("x.BAG", ["realsense", "orbbec"]), ("x.Db3", ["realsense"]),
        ("x.ONI", ["openni2"]), ("x.MKV", ["k4a"]), ("x.mkv.txt", []),
    ])
    func `the ending of a recording tells its drivers, in small and capital letters`(name: String, drivers: [String]) {
        #expect(cameraDrivers.filter { $0.plays(recording: name) }.map { $0.name } == drivers)
    }

    /// Other threads of the program may read it meanwhile.
    @Test func `no driver changes the environment`() throws {
        unsetenv("K4A_ENABLE_LOG_TO_STDOUT")
        let before = ProcessInfo.processInfo.environment
        for row in CameraRow.all { _ = try row.open(row.fake()) }
        let dump = try FreenectDump()
        try dump.addPairs(1)
        let driver = try FreenectDriver(library: CompiledLibrary.build("fake_freenect.c"))
        try driver.open(dump.finish()).start()
        #expect(ProcessInfo.processInfo.environment == before)
    }
}
