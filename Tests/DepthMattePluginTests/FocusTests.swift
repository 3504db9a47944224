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

    @Test(
        arguments: [
            ("high-pass", "GRAY16_LE", DepthScale(unit: 0.001)), ("band-pass", "GRAY16_LE", DepthScale(unit: 0.001)),
            ("high-pass", "GRAY16_BE", DepthScale(kind: .disparity, unit: 0.0002, bias: 0.1)),
            ("band-pass", "GRAY8", DepthScale(kind: .relative)),
            ("high-pass", "GRAY16_LE", DepthScale(kind: .disparity, unit: -0.0002, bias: 0.8)),
            ("band-pass", "GRAY8", DepthScale(kind: .relativeInverted)),
            ("high-pass", "GRAY16_BE", DepthScale(unit: -0.001, bias: 4.2)),
        ], [false, true])
    func `the matte is the reference's for every kind of depth`(
        input: (mask: String, format: String, scale: DepthScale), invert: Bool
    ) throws {
        let (mask, format, scale) = input
        let depth = DepthShape(format, 20, 15)
        let counts = sceneCounts(20, 15, largest: format == "GRAY8" ? 255 : 4000)
        let kind = ["metric", "disparity", "relative", "relative-inverted"][scale.kind.rawValue]
        let bench = Bench(
            ["depth"],
            properties(
                mask,
                [
                    "depth-kind": kind, "depth-unit": "\(scale.unit)", "depth-bias": "\(scale.bias)", "focus": "0.55",
                    "slope": "10", "width": "0.2", "blur-radius": "1", "gamma": "1", "invert": "\(invert)",
                ]))
        let frame = try #require(
            bench.process(video: noise(shape, seed: 1), shape, depth: depth.bytes(counts: counts), depth))
        var reference = ReferenceMatte()
        reference.focusMask = .init(isBand: mask == "band-pass", focus: 0.55, slope: 10, width: 0.2)
        reference.blurRadius = 1
        reference.gamma = 1
        reference.invert = invert
        let expected = reference.alpha(
            metres: scale.metres(counts, fullScale: format == "GRAY8" ? 255 : 65535), width: 20, height: 15,
            videoWidth: 40, videoHeight: 30)
        let difference = Difference(frame, Reference.matteView(alpha: expected, shape), shape)
        #expect(difference.isWithinPromise, "\(difference)")
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
