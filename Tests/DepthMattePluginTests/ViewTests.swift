import AllocationCounter
import CGStreamer
import DepthKernels
import DepthMattePlugin
import GstTestSupport
import TestSupport
import Testing

@Suite struct ViewTests {
    private let shape = VideoShape("RGB", 64, 48)
    private let depth = DepthShape("GRAY16_LE", 16, 12)

    private func pixel(_ bytes: [UInt8], _ x: Int, _ y: Int) -> [UInt8] {
        Array(bytes[(y * 192 + x * 3)..<(y * 192 + x * 3 + 3)])
    }

    // MARK: Depth

    @Test func `the depth view shows near in red, far in blue and what is not measured in black`() throws {
        let counts = (0..<16 * 12).map { $0 % 16 < 4 ? 0 : ($0 % 16 < 10 ? 800 : 2500) }
        let bytes = try #require(
            Bench(["depth"], ["view": "depth"]).process(
                video: flat(shape, Room.secret), shape, depth: depth.bytes(counts: counts), depth))
        for (x, y) in [(0, 0), (15, 47)] { #expect(pixel(bytes, x, y) == [0, 0, 0]) }
        for (x, y) in [(16, 0), (39, 47)] { #expect(pixel(bytes, x, y) == [128, 0, 0]) }
        for (x, y) in [(40, 0), (63, 47)] { #expect(pixel(bytes, x, y) == [0, 0, 128]) }
    }

    @Test(arguments: FormatTests.videoFormats, [(64, 48), (7, 5), (1, 1)])
    func `every format has a depth view with nothing of the video in it`(format: String, size: (Int, Int)) throws {
        let shape = VideoShape(format, size.0, size.1)
        let counts = depth.bytes(counts: (0..<16 * 12).map { 500 + $0 })
        func frame(_ seed: UInt64) -> [UInt8]? {
            Bench(["depth"], ["view": "depth"]).process(video: noise(shape, seed: seed), shape, depth: counts, depth)
        }
        let (first, second) = (try #require(frame(1)), try #require(frame(2)))
        #expect(Difference(first, second, shape).isNone)
    }

    @Test(arguments: ["depth", "matte", "quad"], ["YUY2", "UYVY"])
    func `what memory held before shows in no view, not even beside an odd row`(view: String, format: String) throws {
        let shape = VideoShape(format, 33, 17)
        let counts = depth.bytes(counts: (0..<16 * 12).map { 500 + $0 })
        let frames = try [85, 170].map { (filler: CInt) in
            _ = fill_new_memory(filler)
            defer { _ = fill_new_memory(0) }
            let bench = Bench(["depth"], ["view": view])
            return try #require(bench.process(video: noise(shape, seed: 1), shape, depth: counts, depth))
        }
        #expect(frames[0] == frames[1])
    }

    @Test(arguments: ["depth", "quad", "matte"])
    func `a view that has lost its depth, or got a faulty one, goes on`(view: String) throws {
        let bench = Bench.room(["view": view])
        let first = try #require(bench.pair(0, depth: Room.wall(700)))
        let faulty = try #require(bench.pair(1, depth: [1, 2]))
        if view != "quad" { #expect(Room.leaked(faulty) == 0) }
        let again = try #require(bench.pair(2, depth: Room.wall(700)))
        #expect(again.bytes == first.bytes)
        bench.depth.push(Room.wall(700), at: time(ofFrame: 3))
        bench.video.push([7], at: time(ofFrame: 3))
        let short = try #require(bench.output.next())
        #expect(Room.leaked(short) == 0)
        bench.depth.end()
        bench.video.push(Room.picture, at: time(ofFrame: 90))
        let lost = try #require(bench.output.next())
        #expect(view == "quad" || Room.leaked(lost) == 0)
    }

    @Test func `the depth view lies where depth-fit puts the map`() throws {
        let square = DepthShape("GRAY16_LE", 12, 12)
        let bytes = try #require(
            Bench(["depth"], ["view": "depth", "depth-fit": "contain"]).process(
                video: flat(shape, Room.secret), shape,
                depth: square.bytes(counts: [Int](repeating: 900, count: 144)), square))
        // 48 pixels wide, in the middle of 64.
        #expect(pixel(bytes, 7, 20) == [0, 0, 0] && pixel(bytes, 56, 20) == [0, 0, 0])
        #expect(pixel(bytes, 8, 20) == [128, 0, 0] && pixel(bytes, 55, 20) == [128, 0, 0])
    }

    // MARK: Quad

    private func quad(_ properties: [String: String] = [:], face: Bool = false) throws -> [UInt8] {
        let counts = (0..<16 * 12).map { $0 % 16 < 8 ? 700 : 2500 }
        return try #require(
            Bench(
                ["depth"],
                ["view": "quad", "anchor": "fixed", "blur-radius": "0", "background-color": "0xff2040e0"].with(
                    properties)
            ).process(
                video: flat(shape, Room.secret), shape, depth: depth.bytes(counts: counts), depth,
                face: face ? (4, 4, 20, 20) : nil))
    }

    private func isNear(_ pixel: [UInt8], _ color: [UInt8]) -> Bool {
        zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) <= 3 }
    }

    @Test func `the quad shows original, depth, matte and composite`() throws {
        let bytes = try quad()
        #expect(isNear(pixel(bytes, 6, 12), Room.secret) && isNear(pixel(bytes, 26, 12), Room.secret))
        #expect(isNear(pixel(bytes, 36, 3), [128, 0, 0]) && isNear(pixel(bytes, 60, 3), [0, 0, 128]))
        #expect(isNear(pixel(bytes, 6, 36), [255, 255, 255]) && isNear(pixel(bytes, 26, 36), [0, 0, 0]))
        #expect(isNear(pixel(bytes, 38, 36), Room.secret) && isNear(pixel(bytes, 58, 36), [0x20, 0x40, 0xe0]))
    }

    @Test func `the quad marks the face, the anchor, the histogram and the cutoff`() throws {
        func count(_ bytes: [UInt8], _ color: [UInt8], _ columns: Range<Int>, _ rows: Range<Int>) -> Int {
            rows.reduce(0) { sum, y in sum + columns.count { isNear(pixel(bytes, $0, y), color) } }
        }
        let green: [UInt8] = [0x30, 0xff, 0x60]
        let amber: [UInt8] = [0xff, 0xc8, 0]
        let plain = try quad()
        #expect(count(plain, green, 0..<64, 0..<48) == 0 && count(plain, amber, 0..<64, 0..<48) == 0)
        #expect(count(plain, [255, 56, 56], 32..<64, 12..<24) > 4)
        #expect(count(plain, [255, 255, 255], 32..<64, 14..<24) > 4)
        let face = try quad(["anchor": "auto"], face: true)
        #expect(count(face, green, 0..<32, 0..<24) > 20 && count(face, green, 32..<64, 0..<48) == 0)
        #expect(count(face, amber, 0..<32, 0..<24) > 4)
        let point = try quad(["anchor": "point", "anchor-x": "0.25", "anchor-y": "0.5"])
        #expect(count(point, amber, 0..<32, 0..<24) > 4 && count(point, amber, 4..<12, 10..<15) > 0)
    }

    @Test(arguments: FormatTests.videoFormats, [(1, 1), (3, 9), (4, 4), (5, 7), (33, 22)])
    func `every format and size has a quad, without a fault`(format: String, size: (Int, Int)) throws {
        let shape = VideoShape(format, size.0, size.1)
        for mode in ["auto"] + effectModes {
            let bench = Bench(["depth"], ["view": "quad", "background-mode": mode])
            let counts = depth.bytes(counts: sceneCounts(16, 12))
            let frame = bench.process(video: noise(shape, seed: 4), shape, depth: counts, depth)
            #expect(frame != nil && bench.bus.warnings().isEmpty)
        }
    }
}
