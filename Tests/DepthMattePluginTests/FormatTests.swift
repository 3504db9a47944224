import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// Every video and depth format, each in its own color space.
@Suite struct FormatTests {
    static let videoFormats = templateFormats(ofPad: "video", of: "depthmatte")

    @Test func `the formats are the promised ones`() {
        let promised = [
            "I420", "YV12", "NV12", "NV21", "YUY2", "UYVY", "Y42B", "Y444", "GRAY8", "RGB", "BGR", "RGBx", "BGRx",
            "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR", "A420", "AYUV",
        ]
        #expect(Set(FormatTests.videoFormats) == Set(promised))
    }

    @Test(arguments: FormatTests.videoFormats, [(64, 48), (7, 5), (1, 1), (33, 2)])
    func `every plane of every video format agrees with the reference`(format: String, size: (Int, Int)) {
        let video = VideoShape(format, size.0, size.1)
        let depth = DepthShape("GRAY16_LE", 31, 24)
        let counts = sceneCounts(31, 24)
        var reference = ReferenceMatte()
        reference.blurRadius = 2
        let alpha = reference.alpha(
            metres: DepthScale().metres(counts), width: 31, height: 24, videoWidth: size.0, videoHeight: size.1)
        let settings = ["anchor": "fixed", "blur-radius": "2"]
        let picture = noise(video, seed: 5)
        let background = noise(video, seed: 6)

        let composite = Bench(["depth", "background"], settings).process(
            video: picture, video, depth: depth.bytes(counts: counts), depth, background: background)
        let expected = Reference.composite(video: picture, background: background, alpha: alpha, video)
        let difference = Difference(composite ?? [], expected, video)
        #expect(difference.isWithinPromise, "\(video): composite \(difference)")

        let matte = Bench(["depth"], settings.with(["view": "matte"])).process(
            video: picture, video, depth: depth.bytes(counts: counts), depth)
        let matteDifference = Difference(matte ?? [], Reference.matteView(alpha: alpha, video), video)
        #expect(matteDifference.isWithinPromise, "\(video): matte \(matteDifference)")

        let original = Bench(["depth"], settings.with(["view": "original"])).process(
            video: picture, video, depth: depth.bytes(counts: counts), depth)
        #expect(Difference(original ?? [], picture, video).isNone, "\(video): original")
    }

    @Test(arguments: ["I420", "YUY2", "AYUV"])
    func `the matte uses the full range where the video does`(format: String) {
        let video = VideoShape(format, 32, 24, fields: "colorimetry=(string)1:4:0:0")
        let depth = DepthShape("GRAY16_LE", 32, 24)
        let counts = sceneCounts(32, 24)
        let alpha = ReferenceMatte().alpha(
            metres: DepthScale().metres(counts), width: 32, height: 24, videoWidth: 32, videoHeight: 24)
        let matte = Bench(["depth"], ["anchor": "fixed", "view": "matte"]).process(
            video: noise(video, seed: 5), video, depth: depth.bytes(counts: counts), depth)
        let difference = Difference(
            matte ?? [], Reference.matteView(alpha: alpha, video, fullRange: true), video)
        #expect(difference.isWithinPromise, "\(video): \(difference)")
    }

    // MARK: Depth

    private func checkDepth(
        _ depth: DepthShape, _ bytes: [UInt8], metres: [Double], cutoff: Double = 1, _ settings: [String: String] = [:]
    ) {
        let video = VideoShape("GRAY8", 70, 50)
        var reference = ReferenceMatte()
        reference.cutoff = cutoff
        let alpha = reference.alpha(
            metres: metres, width: depth.width, height: depth.height, videoWidth: 70, videoHeight: 50)
        let matte = Bench(["depth"], settings.with(["anchor": "fixed", "view": "matte", "cutoff": "\(cutoff)"]))
            .process(
                video: noise(video, seed: 7), video, depth: bytes, depth)
        let difference = Difference(matte ?? [], Reference.matteView(alpha: alpha, video), video)
        #expect(difference.isWithinPromise, "\(depth): \(difference)")
    }

    @Test(arguments: ["GRAY16_LE", "GRAY16_BE"])
    func `sixteen bit depth agrees with the reference in both byte orders`(format: String) {
        let depth = DepthShape(format, 35, 25)
        let counts = sceneCounts(35, 25)
        checkDepth(depth, depth.bytes(counts: counts), metres: DepthScale().metres(counts))
    }

    @Test(arguments: ["F32LE", "F16LE"])
    func `float depth agrees with the reference`(format: String) {
        let depth = DepthShape(format, 35, 25)
        let metres = sceneCounts(35, 25).map { count in Float(count) / 1000 }
        // A half-precision sample holds the measured depth.
        let held = metres.map { format == "F16LE" ? Double(Float16($0)) : Double($0) }
        checkDepth(depth, depth.bytes(metres: metres), metres: held)
    }

    @Test(arguments: [
        (DepthScale.Kind.disparity, 0.02, 0.1, -1), (.disparity, 0.02, 0.1, 0), (.disparity, 0.02, 0.1, 255),
        (.metric, 0.01, 0.2, 0), (.metric, 0.01, 0.2, -1), (.relative, 0.001, 0, 0),
    ])
    func `eight bit maps agree with the reference`(
        kind: DepthScale.Kind, unit: Double, bias: Double, invalid: Int
    ) {
        let depth = DepthShape("GRAY8", 35, 25)
        // Reversed: a disparity is larger where the scene is nearer.
        let counts = sceneCounts(35, 25, largest: 255).map { $0 == 0 ? 0 : max(1, 255 - $0) }
        let scale = DepthScale(kind: kind, unit: unit, bias: bias, invalidCount: invalid)
        let name = kind == .metric ? "metric" : kind == .disparity ? "disparity" : "relative"
        checkDepth(
            depth, depth.bytes(counts: counts), metres: scale.metres(counts, fullScale: 255), cutoff: 1.4,
            [
                "depth-kind": name, "depth-unit": "\(unit)", "depth-bias": "\(bias)", "depth-invalid": "\(invalid)",
            ])
    }
}
