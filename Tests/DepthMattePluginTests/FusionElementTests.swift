import CGStreamer
import DepthKernels
import GstTestSupport
import TestSupport
import Testing

/// `method=fusion` of the element; its arithmetic is tested beside the kernels.
@Suite struct FusionElementTests {
    private static let (width, height) = (96, 72)

    /// A person at 0.8 m before a wall at 1.6 m, the top of whose head was not measured.
    private static func counts() -> [Int] {
        (0..<width * height).map { index in
            let (x, y) = (index % width, index / width)
            guard isPerson(x, y) else { return 1600 }
            return y < 20 ? 0 : 800
        }
    }

    private static func isPerson(_ x: Int, _ y: Int) -> Bool {
        let (dx, dy) = (Double(x) - 48, Double(y) - 40)
        return dx * dx / 400 + dy * dy / 900 < 1
    }

    /// A dark person before a bright wall.
    private static func picture() -> [UInt8] {
        (0..<width * height).map { isPerson($0 % width, $0 / width) ? 40 : 200 }
    }

    private static func matte(_ format: String, _ settings: [String: String] = [:], fields: String = "") -> [UInt8]? {
        let video =
            fields.isEmpty ? VideoShape(format, width, height) : VideoShape(format, width, height, fields: fields)
        let depth = DepthShape("GRAY16_LE", width, height)
        let isFull = fields.contains("1:")
        return Bench(["depth"], ["anchor": "fixed", "method": "fusion", "view": "matte"].with(settings)).process(
            video: Reference.matteView(alpha: picture(), video, fullRange: isFull), video,
            depth: depth.bytes(counts: counts()), depth)
    }

    @Test func `what depth lost is found by its color`() throws {
        func mean(_ alpha: [UInt8], where isCounted: (Int, Int) -> Bool) -> Double {
            let counted = alpha.indices.filter {
                isCounted($0 % FusionElementTests.width, $0 / FusionElementTests.width)
            }
            return Double(counted.reduce(0) { $0 + Int(alpha[$1]) }) / Double(counted.count)
        }
        func lost(_ x: Int, _ y: Int) -> Bool { FusionElementTests.isPerson(x, y) && y < 19 }
        let fused = try #require(FusionElementTests.matte("GRAY8"))
        #expect(mean(fused, where: lost) > 240)
        #expect(mean(fused) { !FusionElementTests.isPerson($0, $1) } < 3)
        let plain = try #require(
            FusionElementTests.matte("GRAY8", ["method": "threshold", "blur-radius": "1", "gamma": "1"]))
        #expect(mean(plain, where: lost) < 60)
    }

    @Test(arguments: FormatTests.videoFormats)
    func `the matte is alike in every video format`(format: String) throws {
        let alpha = try #require(FusionElementTests.matte("GRAY8", fields: "colorimetry=(string)1:4:0:0"))
        let video = VideoShape(format, FusionElementTests.width, FusionElementTests.height)
        let matte = try #require(FusionElementTests.matte(format))
        let difference = Difference(matte, Reference.matteView(alpha: alpha, video), video)
        #expect(difference.largest <= 4, "\(video): \(difference)")
    }

    @Test(arguments: ["high-pass", "band-pass"])
    func `a mask about a focus is what it was`(mask: String) throws {
        let settings = ["mask": mask, "focus": "0.8"]
        let fused = try #require(FusionElementTests.matte("I420", settings))
        #expect(fused == FusionElementTests.matte("I420", settings.with(["method": "threshold"])))
    }
}
