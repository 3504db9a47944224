import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

@Suite struct FocusTests {
    private let shape = VideoShape("GRAY8", 40, 30)

    private func properties(_ mask: String, _ others: [String: String] = [:]) -> [String: String] {
        ["mask": mask, "background-color": "0xff000000", "view": "matte"].with(others)
    }

    @Test func `a focus needs no face and no anchor`() throws {
        let bench = Bench(["depth"], properties("high-pass", ["anchor": "face", "slope": "100", "blur-radius": "0"]))
        let depth = DepthShape("GRAY16_LE", 4, 3)
        let counts = [900, 900, 3000, 3000, 900, 900, 3000, 3000, 900, 900, 3000, 3000]
        let frame = try #require(
            bench.process(video: noise(shape, seed: 1), shape, depth: depth.bytes(counts: counts), depth))
        #expect(frame[0] == 255 && frame[39] == 0)
    }

    @Test(arguments: ["high-pass", "band-pass"])
    func `what was not measured and what is faulty shows nothing of the room`(mask: String) throws {
        for invert in ["false", "true"] {
            let bench = Bench.room(["mask": mask, "invert": invert, "gamma": "1"])
            #expect(Room.leaked(bench.pair(0, depth: Room.wall(0))) == 0)
            #expect(Room.leaked(bench.pair(1, depth: [1, 2, 3])) == 0)
            // 2 m are a nearness of 0.5: in the middle of both masks.
            let seen = bench.pair(2, depth: Room.wall(2000))
            #expect(Room.leaked(seen) == (invert == "true" ? 0 : Room.all))
        }
    }
}
