import CGStreamer
import GstBridge
import GstTestSupport
import TestSupport
import Testing

/// Depth that measures nothing, and faces that are none: nobody is shown, and nothing stops.
@Suite struct BadDepthTests {
    private static let float = DepthShape("F32LE", 32, 24)

    /// Bit patterns of samples that are no distance.
    static let unmeasured: [UInt32] = [
        0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xff80_0001, 0xffff_ffff,  // quiet and signalling NaN, of both signs
        0x7f80_0000, 0xff80_0000,  // ±infinity
        0x0000_0000, 0x8000_0000,  // ±0
        0xbf80_0000, 0x8000_0001, 0xff7f_ffff,  // -1, the smallest and the largest negative number
    ]

    static let modes: [[String: String]] = [
        ["anchor": "fixed", "cutoff": "100"], ["anchor": "nearest"], ["anchor": "point"], ["anchor": "face"],
        ["anchor": "auto"], ["anchor": "fixed", "feather-near": "1", "feather-far": "1"],
        ["anchor": "fixed", "invert": "true"], ["anchor": "nearest", "invert": "true"],
    ]

    static func bytes(_ patterns: [UInt32]) -> [UInt8] {
        patterns.flatMap { pattern in (0..<4).map { UInt8(truncatingIfNeeded: pattern >> (8 * $0)) } }
    }

    private func shown(_ depth: [UInt8], _ shape: DepthShape, _ properties: [String: String], face: Bool = true) -> Int?
    {
        let bench = Bench(["depth"], properties)
        bench.depth.start(shape)
        bench.depth.push(depth, at: 0)
        bench.video.start(Room.shape)
        let buffer = guardedBuffer(Room.picture)
        if face { buffer.addRegion(10, 10, 30, 30) }
        bench.video.push(buffer, at: 0)
        return Room.shown(bench.output.next())
    }

    @Test(arguments: modes)
    func `a map in which nothing is measured shows nobody`(properties: [String: String]) {
        func whole(_ samples: [UInt32]) -> [UInt8] {
            BadDepthTests.bytes((0..<32 * 24).map { samples[$0 % samples.count] })
        }
        for pattern in BadDepthTests.unmeasured {
            #expect(shown(whole([pattern]), BadDepthTests.float, properties) == 0, "\(pattern)")
        }
        #expect(shown(whole(BadDepthTests.unmeasured), BadDepthTests.float, properties) == 0, "all at once")
        #expect(shown(Room.wall(0), Room.depth, properties) == 0, "counts of 0")
    }

    @Test func `half-precision NaN and infinities show nobody`() {
        let half = DepthShape("F16LE", 32, 24)
        for pattern: UInt16 in [0x7e00, 0xfe00, 0x7c01, 0x7c00, 0xfc00, 0, 0x8000, 0xbc00, 0x8001] {
            let map = (0..<32 * 24).flatMap { _ in [UInt8(pattern & 255), UInt8(pattern >> 8)] }
            #expect(shown(map, half, ["anchor": "fixed", "cutoff": "100"]) == 0, "\(pattern)")
        }
    }

    @Test(arguments: [Float.leastNonzeroMagnitude, 1e-30, 3e38, .greatestFiniteMagnitude])
    func `extreme distances are distances`(value: Float) {
        let map = BadDepthTests.float.bytes(metres: [Float](repeating: value, count: 32 * 24))
        let expected = value < 100 ? Room.all : 0
        #expect(shown(map, BadDepthTests.float, ["anchor": "fixed", "cutoff": "100", "blur-radius": "0"]) == expected)
        for mode in BadDepthTests.modes { #expect(shown(map, BadDepthTests.float, mode) != nil) }
    }

    @Test func `random bits never stop the stream`() {
        var random = RepeatableRandomNumberGenerator(seed: 11)
        for mode in BadDepthTests.modes {
            let map = BadDepthTests.bytes((0..<32 * 24).map { _ in UInt32.random(in: 0...UInt32.max, using: &random) })
            #expect(shown(map, BadDepthTests.float, mode) != nil)
        }
    }

    @Test func `unmeasured samples among measured ones stay background`() {
        let metres = (0..<32 * 24).map { index -> Float in [0.5, .nan, .infinity, -1][index % 4] }
        let map = BadDepthTests.float.bytes(metres: metres)
        let properties = ["anchor": "fixed", "blur-radius": "0", "gamma": "1", "upscale": "bilinear"]
        let bench = Bench(["depth"], properties)
        let shape = VideoShape("RGB", 32, 24)
        bench.depth.start(BadDepthTests.float)
        bench.depth.push(map, at: 0)
        bench.video.start(shape)
        bench.video.push(flat(shape, Room.secret), at: 0)
        let bytes = bench.output.next()?.bytes ?? []
        #expect(pixels(bytes, otherThan: [0, 0, 0], shape) == 8 * 24)
    }

    // MARK: Faces that are none

    static let noFaces: [(String, [(UInt32, UInt32, UInt32, UInt32)])] = [
        ("wholly outside", [(1000, 1000, 10, 10)]),
        ("partly outside", [(60, 40, 10, 10)]),
        ("no width", [(10, 10, 0, 10)]),
        ("no height", [(10, 10, 10, 0)]),
        ("nothing at all", [(0, 0, 0, 0)]),
        ("x + w past 2^32", [(0xffff_fff0, 10, 0x20, 10)]),
        ("y + h past 2^32", [(10, 0xffff_fff0, 10, 0x20)]),
        ("the largest numbers there are", [(.max, .max, .max, .max)]),
        ("as wide as can be", [(0, 0, .max, .max)]),
        ("20,000 of them", (0..<20_000).map { (UInt32($0), 0xffff_ff00, 1000, 1000) }),
    ]

    @Test(arguments: noFaces)
    func `a box that is no face anchors nothing`(what: String, boxes: [(UInt32, UInt32, UInt32, UInt32)]) {
        for pad in ["video", "face"] {
            let bench = Bench(["depth", "face"], ["anchor": "face", "blur-radius": "0"])
            bench.depth.start(Room.depth)
            bench.depth.push(Room.wall(700), at: 0)
            let (video, face) = (guardedBuffer(Room.picture), guardedBuffer(Room.picture))
            for box in boxes { (pad == "video" ? video : face).addRegion(box.0, box.1, box.2, box.3) }
            bench.face.start(Room.shape)
            bench.face.push(face, at: 0)
            bench.video.start(Room.shape)
            bench.video.push(video, at: 0)
            #expect(Room.shown(bench.output.next()) == 0, "\(what) on \(pad)")
            #expect(bench.bus.errors().isEmpty)
        }
    }

    @Test func `a box over unmeasured depth anchors nothing`() {
        let counts = (0..<32 * 24).map { $0 % 32 < 16 ? 0 : 700 }
        let bench = Bench.room(["anchor": "face"])
        let video = guardedBuffer(Room.picture)
        video.addRegion(4, 10, 20, 20)
        bench.depth.push(Room.depth.bytes(counts: counts), at: 0)
        bench.video.push(video, at: 0)
        #expect(Room.shown(bench.output.next()) == 0)
    }

    @Test func `a face beside boxes that are none is found`() {
        let bench = Bench.room(["anchor": "face"])
        let video = guardedBuffer(Room.picture)
        for box in BadDepthTests.noFaces.dropLast().flatMap(\.1) { video.addRegion(box.0, box.1, box.2, box.3) }
        video.addRegion(10, 10, 20, 20)
        bench.depth.push(Room.wall(700), at: 0)
        bench.video.push(video, at: 0)
        #expect(Room.shown(bench.output.next()) == Room.all)
    }

    /// A type that is no string, parameters that make no sense, and a region that is its own parent.
    @Test(arguments: ["video", "face"])
    func `a region without a type or with strange parameters does no harm`(pad: String) throws {
        let bench = Bench(["depth", "face"], ["anchor": "face", "blur-radius": "0"])
        bench.depth.start(Room.depth)
        bench.face.start(Room.shape)
        bench.video.start(Room.shape)
        for number in 0..<3 {
            let (video, face) = (guardedBuffer(Room.picture), guardedBuffer(Room.picture))
            let target = (pad == "video" ? video : face).pointer
            for type in [0, GQuark.max, g_quark_from_string("car")] {
                let region = gst_buffer_add_video_region_of_interest_meta_id(target, type, 4, 4, 50, 40)
                region?.pointee.id = 7
                region?.pointee.parent_id = 7
                for text in ["face, confidence=(double)nan", "detection, x-min=(double)1e300, x-max=(int)-5"] {
                    gst_video_region_of_interest_meta_add_param(region, gst_structure_from_string(text, nil))
                }
            }
            if number == 2 { gst_buffer_add_video_region_of_interest_meta(target, "face", 10, 10, 20, 20) }
            bench.depth.push(Room.wall(700), at: time(ofFrame: number))
            bench.face.push(face, at: time(ofFrame: number))
            bench.video.push(video, at: time(ofFrame: number))
            let shown = Room.shown(bench.output.next())
            #expect(shown == (number == 2 ? Room.all : 0), "frame \(number)")
        }
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }

    // MARK: Caps that are not depth

    static let refusedCaps = [
        "video/x-raw, format=(string)RGB, width=(int)32, height=(int)24, framerate=(fraction)30/1",
        "video/x-raw, format=(string)GRAY10_LE32, width=(int)32, height=(int)24, framerate=(fraction)30/1",
        "video/x-depth, format=(string)F64LE, width=(int)32, height=(int)24, framerate=(fraction)30/1",
        "video/x-depth, width=(int)32, height=(int)24, framerate=(fraction)30/1",
        "video/x-depth, format=(string)F32LE, framerate=(fraction)30/1",
        "video/x-depth, format=(string)F32LE, width=(int)-5, height=(int)24, framerate=(fraction)30/1",
        "video/x-depth, format=(string)F32LE, width=(int)2147483647, height=(int)2147483647, framerate=(fraction)30/1",
        "video/x-raw, format=(string)GRAY16_LE, width=(int)30000, height=(int)30000, framerate=(fraction)30/1",
    ]

    @Test(arguments: refusedCaps)
    func `depth caps that are not listed are refused once, with a readable reason`(caps: String) {
        let bench = Bench(["depth"], ["anchor": "fixed"])
        bench.depth.start(caps)
        bench.depth.push([1, 2, 3, 4], at: 0)
        #expect(bench.depth.settle() == GST_FLOW_NOT_NEGOTIATED)
        let errors = bench.bus.errors()
        #expect(errors.count == 1)
        #expect(errors.first?.text.contains("depth") == true, "\(errors)")
        #expect(errors.first?.domain == "gst-core-error-quark")
    }
}
