import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// How a depth map of another shape is laid over the video.
@Suite struct PlacementTests {
    private static let video = VideoShape("GRAY8", 200, 100)
    private static let depth = DepthShape("GRAY16_LE", 64, 48)

    @Test(arguments: ["contain", "cover", "width"])
    func `pixels that are not square have the shape that they are shown with`(fit: String) {
        // 4:3 in 64x48 of square pixels, or in 32x48 of twice as wide ones, on 200x100 of half as wide ones.
        func matte(_ width: Int, _ aspect: String, _ video: VideoShape) -> [UInt8]? {
            let depth = DepthShape("GRAY16_LE", width, 48, fields: "pixel-aspect-ratio=(fraction)\(aspect)")
            let counts = (0..<(width * 48)).map { _ in 700 }
            return Bench(["depth"], ["anchor": "fixed", "blur-radius": "0", "view": "matte", "depth-fit": fit]).process(
                video: noise(video, seed: 1), video, depth: depth.bytes(counts: counts), depth)
        }
        func columns(_ frame: [UInt8]?) -> Int { (0..<200).count { frame?[50 * 200 + $0] ?? 0 > 128 } }
        let half = VideoShape("GRAY8", 200, 100, fields: "pixel-aspect-ratio=(fraction)1/2")
        let square = PlacementTests.video
        let plain = columns(matte(64, "1/1", square))
        #expect(plain == (fit == "contain" ? 133 : 200) || plain == 134)
        #expect(columns(matte(32, "2/1", square)) == plain)
        #expect(columns(matte(64, "1/1", half)) == 200)  // 4:3 on 1:1
    }

    @Test func `a face is looked up where the map lies`() {
        // The map is shifted right by half the frame: the box lies over the map's left half.
        let counts = (0..<64 * 48).map { $0 % 64 < 32 ? 700 : 3000 }
        let matte = Bench(
            ["depth"],
            unsmoothed.with([
                "anchor": "face", "blur-radius": "0", "gamma": "1", "view": "matte", "depth-offset-x": "100",
            ])
        ).process(
            video: noise(PlacementTests.video, seed: 1), PlacementTests.video,
            depth: PlacementTests.depth.bytes(counts: counts), PlacementTests.depth, face: (140, 40, 20, 20))
        #expect(matte?[50 * 200 + 150] == 255)
        #expect(matte?[50 * 200 + 50] == 0, "off the map is not measured")
    }
}
