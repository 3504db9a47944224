import CGStreamer
import DepthKernels
import GstBridge
import GstTestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `depthalign`, and the calibration that travels with a stream.
@Suite struct DepthAlignTests {
    private static let kind = Bench.Kind(factory: "depthalign", leading: "sink")
    private static let depth = DepthShape("GRAY16_LE", 16, 4)

    /// Two equal cameras 8 cm apart: a wall 2 m away moves by 4 columns.
    private static let calibration: Calibration = {
        let camera = CameraIntrinsics(width: 16, height: 4, fx: 100, fy: 100, cx: 7.5, cy: 1.5)
        return Calibration(
            depth: camera, color: camera,
            depthToColor: CameraPose(rotation: CameraPose.identity.rotation, translation: SIMD3(0.08, 0, 0)))
    }()

    private let folder = TemporaryFolder()

    private func file(_ text: String) -> String { folder.write("calibration.json", Array(text.utf8)) }

    private func bench(_ properties: [String: String], downstream: String = "ANY") -> Bench {
        Bench([], properties, downstream: downstream, of: DepthAlignTests.kind)
    }

    private func caps(_ shape: DepthShape = depth, unit: Double? = nil, _ calibration: Calibration?) -> String {
        var text = shape.caps
        if let unit { text += ", depth-unit=(double)\(unit)" }
        if let calibration {
            text += ", calibration=(string)\"" + calibration.json.replacing("\"", with: "\\\"") + "\""
        }
        return text
    }

    private static let wall = [Int](repeating: 2000, count: 64)
    private static let movedRow = [0, 0, 0, 0] + [Int](repeating: 2000, count: 12)
    private static let moved = movedRow + movedRow + movedRow + movedRow

    // MARK: Registration

    @Test(arguments: ["GRAY16_LE", "GRAY16_BE", "F32LE"])
    func `a map is registered by the calibration of a file`(format: String) throws {
        let shape = DepthShape(format, 16, 4)
        func bytes(_ counts: [Int]) -> [UInt8] {
            shape.isFloat ? shape.bytes(metres: counts.map { Float($0) / 1000 }) : shape.bytes(counts: counts)
        }
        let bench = bench(["calibration": file(DepthAlignTests.calibration.json)])
        bench.leading.start(shape)
        bench.leading.push(bytes(DepthAlignTests.wall), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.bytes == bytes(DepthAlignTests.moved))
        #expect(bench.bus.errors().isEmpty && bench.bus.warnings().isEmpty)
    }

    @Test func `the calibration of the caps does as well, and the output's caps have the color camera's`() throws {
        let bench = bench([:])
        bench.leading.start(caps(unit: 0.002, DepthAlignTests.calibration))
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall.map { $0 / 2 }), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.bytes == DepthAlignTests.depth.bytes(counts: DepthAlignTests.moved.map { $0 / 2 }))
        let caps = try #require(gst_caps_from_string(frame.caps))
        defer { gst_caps_unref(caps) }
        let structure = gst_caps_get_structure(caps, 0)
        var unit = 0.0
        #expect(gst_structure_get_double(structure, "depth-unit", &unit) != 0 && unit == 0.002)
        let text = try #require(gst_structure_get_string(structure, "calibration").map { String(cString: $0) })
        let color = try #require(DepthAlignTests.calibration.color)
        #expect(try Calibration(text: Array(text.utf8)) == Calibration(depth: color))
    }

    @Test func `the property wins over the caps`() throws {
        var other = DepthAlignTests.calibration
        other.depthToColor = .identity
        let bench = bench(["calibration": file(DepthAlignTests.calibration.json), "depth-unit": "0.001"])
        bench.leading.start(caps(unit: 0.5, other))
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        #expect(try #require(bench.output.next()).bytes == DepthAlignTests.depth.bytes(counts: DepthAlignTests.moved))
    }

    /// A unit below those that caps may have would be refused by the element itself.
    @Test func `the smallest unit of the property is one that caps may have`() throws {
        let bench = bench(["calibration": file(DepthAlignTests.calibration.json), "depth-unit": "1e-300"])
        bench.leading.start(DepthAlignTests.depth)
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.caps.contains("e-09"), "\(frame.caps)")
        #expect(bench.bus.errors().isEmpty)
    }

    @Test func `downstream chooses the size, and the optics follow`() throws {
        let bench = bench(
            ["calibration": file(DepthAlignTests.calibration.json)], downstream: "video/x-raw, width=32, height=8")
        bench.leading.start(DepthAlignTests.depth)
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        let frame = try #require(bench.output.next())
        let row = DepthAlignTests.movedRow.flatMap { [$0, $0] }
        #expect(frame.bytes == DepthShape("GRAY16_LE", 32, 8).bytes(counts: (0..<8).flatMap { _ in row }))
        #expect(frame.caps.contains("200.0"), "\(frame.caps)")
    }

    @Test func `a map that is registered passes, with the calibration in its caps`() throws {
        let bench = bench(["calibration": file(Calibration(depth: DepthAlignTests.calibration.depth).json)])
        bench.leading.start(DepthAlignTests.depth)
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        let frame = try #require(bench.output.next())
        #expect(frame.bytes == DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall))
        #expect(frame.caps.contains("calibration"))
    }

    @Test func `times and flags stay on the map, regions do not`() throws {
        let bench = bench(["calibration": file(DepthAlignTests.calibration.json)])
        bench.leading.start(DepthAlignTests.depth)
        let buffer = guardedBuffer(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall))
        (buffer.pointer.pointee.pts, buffer.pointer.pointee.duration) = (5_000, 3_000)
        buffer.pointer.pointee.mini_object.flags |= GST_BUFFER_FLAG_MARKER.rawValue
        gst_buffer_add_video_region_of_interest_meta(buffer.pointer, "face", 1, 1, 2, 1)
        bench.leading.push(buffer)
        let frame = try #require(bench.output.next())
        withExtendedLifetime(frame) {
            let output = frame.buffer.pointer
            #expect(output.pointee.pts == 5_000 && output.pointee.duration == 3_000)
            #expect(frame.buffer.flags.rawValue & GST_BUFFER_FLAG_MARKER.rawValue != 0)
            #expect(gst_buffer_get_meta(output, gst_video_region_of_interest_meta_api_get_type()) == nil)
        }
    }

    @Test func `a frame that is late is dropped where the application asks for that, and the next is not`() throws {
        let depth = DepthShape("GRAY16_LE", 32, 24)
        let reader = try #require(DepthReader.all.last)
        let bench = reader.bench(["qos": "true"])
        reader.start(bench, depth, reader.video(1, 1))
        let map = depth.bytes(counts: sceneCounts(32, 24, largest: 2000))
        bench.leading.push(map, at: 0)
        let first = try #require(bench.output.next()).bytes
        // Half a second late: frames before that are over.
        gst_pad_push_event(
            bench.output.pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1, 500_000_000, time(ofFrame: 0)))
        for number in [1, 2, 60] { bench.leading.push(map, at: time(ofFrame: number)) }
        let next = try #require(bench.output.next())
        #expect(next.timing.start == time(ofFrame: 60) && next.bytes == first)
        #expect(bench.leading.settle() == GST_FLOW_OK && bench.bus.errors().isEmpty)
    }

    // MARK: Faults

    @Test func `without a calibration the error says where it is set`() throws {
        let bench = bench([:])
        bench.leading.start(DepthAlignTests.depth)
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        #expect(bench.leading.settle() == GST_FLOW_NOT_NEGOTIATED)
        #expect(try #require(bench.bus.errors().first).text.contains("set the property calibration"))
    }

    @Test func `a file that is faulty or none is an error at the start, with its line`() throws {
        for (path, words) in [
            (file("depth:\n  width: 0"), "is faulty: line 2: width is 0.0"),
            (folder.write("zeros.json", [0, 0, 0]), "is faulty"),
            ("/nowhere/at/all", "/nowhere/at/all\" cannot be read"), (folder.path, "\(folder.path)\" cannot be read"),
            (folder.makeFIFO("pipe"), "\(folder["pipe"])\" cannot be read"),
        ] {
            let text = try #require(refusal(of: "depthalign", ["calibration": path])).text
            #expect(text.contains(words), "\(text)")
        }
    }

    @Test(arguments: [
        "depth-unit=(string)far", "depth-unit=(double)-1", "calibration=(int)3", "calibration=(string)\"{\"",
    ])
    func `fields of the caps that make no sense are refused with a reason`(fields: String) throws {
        let bench = bench([:])
        bench.leading.start(DepthAlignTests.depth.caps + ", " + fields)
        bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        #expect(bench.leading.settle() == GST_FLOW_NOT_NEGOTIATED)
        #expect(try #require(bench.bus.errors().first).text.contains("the caps field "))
    }

    @Test(arguments: [(0.99, false), (2.5, true), (-1.25, true)])
    func `cameras more than a metre apart are a warning that names the length and the unit`(x: Double, isWarned: Bool)
        throws
    {
        var calibration = DepthAlignTests.calibration
        calibration.depthToColor = CameraPose(rotation: CameraPose.identity.rotation, translation: SIMD3(x, 0, 0))
        for isInCaps in [false, true] {
            let bench = bench(isInCaps ? [:] : ["calibration": file(calibration.json)])
            bench.leading.start(caps(DepthAlignTests.depth, unit: nil, isInCaps ? calibration : nil))
            for frame in 0..<2 {
                bench.leading.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: time(ofFrame: frame))
                _ = try #require(bench.output.next())
            }
            let warnings = bench.bus.warnings().map(\.text)
            #expect(warnings.count == (isWarned ? 1 : 0), "\(warnings)")
            #expect(warnings.allSatisfy { $0.contains("\(abs(x)) m apart") && $0.contains("must be in metres") })
        }
    }

    // MARK: With other elements

    @Test func `the calibration passes queues and caps filters`() throws {
        let optics = CameraIntrinsics(width: 640, height: 480, fx: 500, fy: 500, cx: 320, cy: 240)
        let path = file(Calibration(depth: optics, depthUnit: 0.001).json)
        let pipeline = Pipeline(
            "depthtestsrc name=camera num-buffers=3 camera.video ! fakesink camera.depth ! video/x-raw,width=640,height=480 ! depthalign calibration=\(path) "
                + "! queue ! video/x-raw,format=GRAY16_LE ! queue ! depthcloud name=cloud ! fakesink")
        #expect(pipeline.run() == .ended)
        let pad = staticPad("depth", of: pipeline["cloud"])
        let caps = try #require(gst_pad_get_current_caps(pad))
        defer { gst_caps_unref(caps) }
        let text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "calibration").map { String(cString: $0) }
        #expect(try Calibration(text: Array(try #require(text).utf8)) == Calibration(depth: optics))
    }

    /// A wall of 600 counts is within a metre at a millimetre a count, and behind it at two.
    @Test(arguments: [
        ("", "0", true), (", depth-unit=(double)0.002", "0", false), (", depth-unit=(double)0.002", "0.001", true),
        (", depth-unit=(double)0.001", "0.002", false),
    ])
    func `depthmatte takes the unit of the caps, unless it is set by hand`(
        field: String, unit: String, isPerson: Bool
    ) throws {
        let bench = Bench.room(["depth-unit": unit])
        bench.depth.setCaps(Room.depth.caps + field)
        #expect(Room.shown(bench.pair(0, depth: Room.wall(600))) == (isPerson ? Room.all : 0))
    }

    @Test(arguments: [("", "0"), (", depth-unit=(double)0.004", "0"), (", depth-unit=(double)0.002", "0.004")])
    func `depthcolorize takes the unit of the caps, unless it is set by hand`(field: String, unit: String) throws {
        let bench = Bench(
            [], ["range": "fixed", "min": "0", "max": "4", "palette": "gray", "depth-unit": unit],
            downstream: "video/x-raw, format=RGB", of: Bench.Kind(factory: "depthcolorize", leading: "depth"))
        bench.depth.start(DepthAlignTests.depth.caps + field)
        bench.depth.push(DepthAlignTests.depth.bytes(counts: [Int](repeating: 500, count: 64)), at: 0)
        let metres = field.isEmpty ? 0.5 : 2
        let expected = 255 * (1 - metres / 4)
        #expect(abs(Double(try #require(bench.output.next()).bytes[0]) - expected) <= 1)
    }

    /// The file that depthcloud writes is in metres: the first sample's ray is (−cx / fx, −cy / fy, 1).
    @Test(arguments: [(["cx": "0"], -0.15), (["fx": "25", "fy": "25"], -0.3)])
    func `depthcloud takes the optics of the caps, unless they are set by hand`(
        properties: [String: String], x: Double
    ) throws {
        let bench = Bench(
            [], properties.with(["location": folder.path + "/cloud.ply", "snapshot": "true"]),
            of: Bench.Kind(factory: "depthcloud", leading: "depth"))
        let optics = CameraIntrinsics(width: 32, height: 8, fx: 100, fy: 100, cx: 15.5, cy: 3.5)
        bench.depth.start(caps(unit: 0.001, Calibration(depth: optics)))
        bench.depth.push(DepthAlignTests.depth.bytes(counts: DepthAlignTests.wall), at: 0)
        _ = try #require(bench.output.next())
        bench.depth.end()
        bench.depth.settle()
        for _ in 0..<200 where folder.read("cloud.ply").isEmpty { usleep(10_000) }
        let bytes = folder.read("cloud.ply")
        let header = try #require(bytes.firstRange(of: Array("end_header\n".utf8)))
        let first = bytes[header.upperBound...].prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        #expect(abs(Double(Float(bitPattern: first)) - 2 * x) < 0.001, "\(Float(bitPattern: first))")
    }
}
