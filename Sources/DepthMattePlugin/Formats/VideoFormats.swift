package import CGStreamer
package import DepthKernels

/// Fields of pad templates' caps that allow everything that the elements can make.
let anySize = "width=(int)[ 1, 32768 ], height=(int)[ 1, 32768 ]"
let anyRate = "framerate=(fraction)[ 0/1, 2147483647/1 ]"

/// One video format that the elements work on: its name in caps, and how its bytes share the matte's samples.
package struct VideoFormat: Sendable {
    package let format: GstVideoFormat
    package let name: String
    package let layout: PixelLayout
    /// Byte of each 4-byte pixel that holds its alpha; nil where the pixels are not packed or have none.
    let alphaByte: Int?
    /// Nil where the format has none.
    var alphaChannel: AlphaChannel? {
        alphaByte.map { AlphaChannel(byte: $0) } ?? (layout.planes.count == 4 ? AlphaChannel(plane: 3) : nil)
    }
    /// The format that carries this one's picture together with an alpha channel: itself where it has one.
    let withAlpha: GstVideoFormat?
    let family: Family
    /// The meaning of each byte of a sample, for each plane.
    let byteRoles: [[ByteRole]]

    /// How a gray picture is written in the format.
    enum Family: Sendable {
        case rgb, gray
        /// Full or limited range, as the colorimetry says.
        case yuv
    }

    private init(
        _ format: GstVideoFormat, _ name: String, _ family: Family, _ planes: [PlaneLayout], alphaByte: Int? = nil,
        withAlpha: GstVideoFormat? = nil
    ) {
        self.format = format
        self.name = name
        self.family = family
        self.alphaByte = alphaByte
        self.withAlpha = withAlpha
        layout = PixelLayout(planes: planes)
        let unusedByte = name.first == "x" ? 0 : name.last == "x" ? 3 : nil
        byteRoles = VideoFormat.byteRoles(family, planes, alphaByte: alphaByte, unusedByte: unusedByte)
    }

    private static func byteRoles(
        _ family: Family, _ planes: [PlaneLayout], alphaByte: Int?, unusedByte: Int?
    ) -> [[ByteRole]] {
        switch (family, planes[0]) {
        case (.gray, _): return [[.gray]]
        case (.rgb, .full(let count)):
            return [(0..<count).map { $0 == alphaByte ? .opaque : $0 == unusedByte ? .unused : .gray }]
        case (.yuv, .full(bytesPerSample: 4)): return [[.opaque, .gray]]
        default: return planes.indices.map { [[.gray], [], [], [.opaque]][$0] }
        }
    }

    /// Every format the elements take, in the order in which they are preferred: least bytes first, gray last.
    package static let all: [VideoFormat] = [
        VideoFormat(GST_VIDEO_FORMAT_I420, "I420", .yuv, planar420, withAlpha: GST_VIDEO_FORMAT_A420),
        VideoFormat(GST_VIDEO_FORMAT_YV12, "YV12", .yuv, planar420),
        VideoFormat(GST_VIDEO_FORMAT_NV12, "NV12", .yuv, semiPlanar420),
        VideoFormat(GST_VIDEO_FORMAT_NV21, "NV21", .yuv, semiPlanar420),
        VideoFormat(GST_VIDEO_FORMAT_YUY2, "YUY2", .yuv, [.packed422(lumaFirst: true)]),
        VideoFormat(GST_VIDEO_FORMAT_UYVY, "UYVY", .yuv, [.packed422(lumaFirst: false)]),
        VideoFormat(GST_VIDEO_FORMAT_Y42B, "Y42B", .yuv, [full(1), half(2, 1, 1), half(2, 1, 1)]),
        VideoFormat(GST_VIDEO_FORMAT_Y444, "Y444", .yuv, [full(1), full(1), full(1)]),
        VideoFormat(GST_VIDEO_FORMAT_BGRx, "BGRx", .rgb, [full(4)], withAlpha: GST_VIDEO_FORMAT_BGRA),
        VideoFormat(GST_VIDEO_FORMAT_RGBx, "RGBx", .rgb, [full(4)], withAlpha: GST_VIDEO_FORMAT_RGBA),
        VideoFormat(GST_VIDEO_FORMAT_xBGR, "xBGR", .rgb, [full(4)], withAlpha: GST_VIDEO_FORMAT_ABGR),
        VideoFormat(GST_VIDEO_FORMAT_xRGB, "xRGB", .rgb, [full(4)], withAlpha: GST_VIDEO_FORMAT_ARGB),
        VideoFormat(GST_VIDEO_FORMAT_BGRA, "BGRA", .rgb, [full(4)], alphaByte: 3, withAlpha: GST_VIDEO_FORMAT_BGRA),
        VideoFormat(GST_VIDEO_FORMAT_RGBA, "RGBA", .rgb, [full(4)], alphaByte: 3, withAlpha: GST_VIDEO_FORMAT_RGBA),
        VideoFormat(GST_VIDEO_FORMAT_ABGR, "ABGR", .rgb, [full(4)], alphaByte: 0, withAlpha: GST_VIDEO_FORMAT_ABGR),
        VideoFormat(GST_VIDEO_FORMAT_ARGB, "ARGB", .rgb, [full(4)], alphaByte: 0, withAlpha: GST_VIDEO_FORMAT_ARGB),
        VideoFormat(GST_VIDEO_FORMAT_BGR, "BGR", .rgb, [full(3)]),
        VideoFormat(GST_VIDEO_FORMAT_RGB, "RGB", .rgb, [full(3)]),
        VideoFormat(GST_VIDEO_FORMAT_A420, "A420", .yuv, planar420 + [full(1)], withAlpha: GST_VIDEO_FORMAT_A420),
        VideoFormat(GST_VIDEO_FORMAT_AYUV, "AYUV", .yuv, [full(4)], alphaByte: 0, withAlpha: GST_VIDEO_FORMAT_AYUV),
        VideoFormat(GST_VIDEO_FORMAT_GRAY8, "GRAY8", .gray, [full(1)]),
    ]

    static func of(_ format: GstVideoFormat) -> VideoFormat? { all.first { $0.format == format } }

    /// Pad template caps for every format of the table.
    static let caps = caps(of: all)

    /// Caps of some formats; width, height and rate are values or ranges as caps strings write them.
    static func caps(
        of formats: [VideoFormat], width: String = "[ 1, 2147483647 ]", height: String = "[ 1, 2147483647 ]",
        rate: String = "[ 0/1, 2147483647/1 ]"
    ) -> String {
        let names = formats.map(\.name).joined(separator: ", ")
        return "video/x-raw, format=(string){ \(names) }, width=(int)\(width), height=(int)\(height), "
            + "framerate=(fraction)\(rate)"
    }

    private static let planar420 = [full(1), half(2, 2, 1), half(2, 2, 1)]
    private static let semiPlanar420 = [full(1), half(2, 2, 2)]

    private static func full(_ bytes: Int) -> PlaneLayout { .full(bytesPerSample: bytes) }

    private static func half(_ horizontal: Int, _ vertical: Int, _ bytes: Int) -> PlaneLayout {
        .subsampled(horizontal: horizontal, vertical: vertical, bytesPerSample: bytes)
    }
}
