import GstTestSupport
import TestSupport
import Testing

/// Every video format in its own color space.
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
        let oracle = Oracle(VideoShape(format, size.0, size.1), DepthShape("GRAY16_LE", 31, 24)) { $0.blurRadius = 2 }
        oracle.check()
        oracle.checkOriginal()
    }

    @Test(arguments: ["I420", "YUY2", "AYUV"])
    func `the matte uses the full range where the video does`(format: String) {
        let video = VideoShape(format, 32, 24, fields: "colorimetry=(string)1:4:0:0")
        Oracle(video, DepthShape("GRAY16_LE", 32, 24)).check(["matte"], isFullRange: true)
    }
}
