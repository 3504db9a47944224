import CGStreamer
import DepthKernels
import GstBridge

/// `depthunpack`: takes video and depth out of one picture, as `depthpack`, Record3D, RealSense's colorizer and Depthkit write it.
///
///     filesrc location=a.mkv ! matroskademux ! vp8dec ! depthunpack ! depthmatte background=bg.png ! videoconvert ! autovideosink
///
/// Pads: `sink`; `video` and `depth` (always). Where nothing is linked to `depth`, the map is attached to the video.
enum DepthUnpack {
    static let factory = "depthunpack"

    enum PadRole: String, SourceRole { case video, depth }

    static let definition = ElementDefinition(
        typeName: "GstDepthUnpack",
        factory: factory,
        parent: .element,
        longName: "Depth unpacker",
        klass: "Filter/Converter/Video",
        description: "Takes video and its depth map out of one picture that holds both",
        log: DepthUnpackElement.log,
        pads: [
            PadTemplate(
                "sink", GST_PAD_SINK, .always, "Video and depth in one picture",
                caps: VideoFormat.caps(of: DepthPack.formats)),
            PadTemplate(
                PadRole.video.rawValue, GST_PAD_SRC, .always, "Video, the color half of the picture",
                caps: VideoFormat.caps(of: DepthPack.formats)),
            PadTemplate(
                PadRole.depth.rawValue, GST_PAD_SRC, .always, "Depth map in millimetres, as large as the video",
                caps: "video/x-raw, format=(string)GRAY16_LE, \(anySize), \(anyRate)"),
        ],
        properties: properties,
        defaults: DepthUnpackSettings(),
        make: { DepthUnpackElement($0) })

    static let properties: [Property<DepthUnpackSettings>] = [
        .choice("coding", "Way in which depth is written as a picture", \.coding),
        .choice("layout", "Places of color and depth in the picture", \.layout),
        .double(
            "near", "Distance of the nearest code, in metres; 0 = as the stream says, else as the coding has it",
            0...1000,
            \.near),
        .double(
            "far", "Distance of the farthest code, in metres; 0 = as the stream says, else as the coding has it",
            0...1000,
            \.far),
        .choice("edges", "Treatment of codes that a codec has smeared between two surfaces", \.edges),
        .string(
            "calibration",
            "The optics of the depth map: JSON, or the path of a file with it; also Record3D's metadata, and its MP4. Empty = as the "
                + "stream says. Read when the element leaves the state READY", \.calibration),
        .bool("attach-depth", "Attach the depth map to the video while the depth pad is not linked", \.attachesDepth),
        .uint("max-pixels", "Largest picture accepted, in pixels", 1...UInt32.max, \.maxPixels),
    ]
}

/// The values of `depthunpack`'s properties. The initial values here are the only defaults.
struct DepthUnpackSettings: Sendable {
    var coding = Auto<DepthCoding>()
    var layout = Auto<PackedLayout>()
    /// Metres; 0 is the stream's or the coding's own.
    var near = 0.0
    var far = 0.0
    var edges = Auto<CodedEdges>()
    var calibration: String?
    var attachesDepth = true
    var maxPixels: UInt32 = 67_108_864
}

extension CodedEdges: AutoValue {
    static let typeName = "GstDepthMatteDepthEdges"
    static let autoBlurb = "keep for gray, snap for other codings"
    var nick: String { rawValue }

    var blurb: String {
        switch self {
        case .keep: "They stay"
        case .snap: "They become the nearer of the two surfaces"
        case .reject: "They count as not measured; for point clouds"
        }
    }
}
