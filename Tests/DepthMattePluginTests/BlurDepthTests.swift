import CGStreamer
import DepthKernels
import GstTestSupport
import Testing

/// `background-blur-depth` of the element; its arithmetic is tested beside the kernels.
@Suite struct BlurDepthTests {
    private static let (width, height) = (192, 144)
    private static let depth = DepthShape("GRAY16_LE", 48, 36)

    /// A person within the cutoff of a metre, and a room that far behind them.
    private static func map(_ room: Int) -> [UInt8] {
        depth.bytes(counts: (0..<48 * 36).map { abs($0 % 48 - 24) < 8 && $0 / 48 > 12 ? 800 : room })
    }

    private static func frame(
        _ format: String, room: Int, _ settings: [String: String], map: [UInt8]? = nil
    ) -> [UInt8]? {
        let video = VideoShape(format, width, height)
        return Bench(
            ["depth"],
            ["anchor": "fixed", "blur-radius": "1", "background-mode": "blur", "background-blur": "20"].with(settings)
        )
        .process(video: Reference.opaque(noise(video, seed: 3), video), video, depth: map ?? self.map(room), depth)
    }

    @Test(arguments: FormatTests.videoFormats)
    func `holes and infinity have all of it, the person's distance none`(format: String) throws {
        let video = VideoShape(format, BlurDepthTests.width, BlurDepthTests.height)
        let growing = ["background-blur-depth": "40"]
        let full = try #require(BlurDepthTests.frame(format, room: 0, ["background-blur": "60"]))
        let none = try #require(BlurDepthTests.frame(format, room: 1001, [:]))
        let hole = try #require(BlurDepthTests.frame(format, room: 0, growing))
        let near = try #require(BlurDepthTests.frame(format, room: 1001, growing))
        #expect(Difference(hole, full, video).largest <= 1, "\(Difference(hole, full, video))")
        #expect(Difference(near, none, video).largest <= 1, "\(Difference(near, none, video))")
        #expect(Difference(full, none, video).largest > 1)
    }

    @Test func `at 0 it changes nothing`() {
        for room in [0, 1500, 4000] {
            let frame = BlurDepthTests.frame("I420", room: room, ["background-blur-depth": "0"])
            #expect(frame != nil && frame == BlurDepthTests.frame("I420", room: room, [:]))
        }
    }

    @Test func `detail goes with the distance, and is never more than without it`() throws {
        func detail(_ room: Int, _ settings: [String: String]) throws -> Int {
            let frame = try #require(BlurDepthTests.frame("GRAY8", room: room, settings))
            let row = frame[(20 * BlurDepthTests.width)..<(21 * BlurDepthTests.width)]
            return zip(row, row.dropFirst()).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        let without = try detail(4000, [:])
        let distances = try [1001, 1400, 2500, 8000, 0].map { try detail($0, ["background-blur-depth": "60"]) }
        #expect(distances.allSatisfy { $0 <= without } && distances[4] < without, "\(distances) \(without)")
        #expect(zip(distances, distances.dropFirst()).allSatisfy { $0 + 2 >= $1 }, "\(distances)")
    }

    @Test func `nothing of the room is shown sharper where there is no depth`() throws {
        let video = VideoShape("GRAY8", BlurDepthTests.width, BlurDepthTests.height)
        func uncovered(_ settings: [String: String]) throws -> [UInt8] {
            let bench = Bench(["depth"], ["background-mode": "blur"].with(settings))
            bench.video.start(video)
            bench.video.push(noise(video, seed: 3), at: 0)
            bench.depth.start(BlurDepthTests.depth)
            bench.depth.end()
            return try #require(bench.output.next()).bytes
        }
        let all = try uncovered(["background-blur": "60"])
        #expect(try uncovered(["background-blur": "20", "background-blur-depth": "40"]) == all)
    }
}
