import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthpack`: puts video and its depth map side by side into one picture, which any video codec carries.
///
///     depthtestsrc ! depthpack ! vp8enc ! matroskamux ! filesink location=a.mkv
///
/// Pads: `video` (always, the reference pad); `depth` (request). Where nothing is linked to that, the map that comes with the video is
/// taken.
enum DepthPack {
    static let factory = "depthpack"

    enum PadRole: Int, DepthAggregator.PadRole {
        case video, depth

        static let reference = PadRole.video

        var name: StaticString {
            switch self {
            case .video: "video"
            case .depth: "depth"
            }
        }
    }

    /// The formats of pictures that hold both, in the order of preference.
    static let formats = VideoFormat.all.filter { ["I420", "NV12", "YV12", "NV21"].contains($0.name) }

    static let definition = ElementDefinition(
        typeName: "GstDepthPack",
        factory: factory,
        parent: .aggregator,
        longName: "Depth packer",
        klass: "Filter/Converter/Video",
        description: "Puts video and its depth map side by side into one picture, for any video codec",
        log: DepthPackElement.log,
        pads: [
            PadTemplate(
                PadRole.video.description, GST_PAD_SINK, .always, "Video; each frame gives one output frame",
                caps: VideoFormat.caps),
            PadTemplate(
                PadRole.depth.description, GST_PAD_SINK, .request,
                "Depth map, registered to the video; any size and rate", caps: DepthFormat.caps),
            PadTemplate(
                "src", GST_PAD_SRC, .always, "Video and depth in one picture", caps: VideoFormat.caps(of: formats)),
        ],
        properties: properties,
        defaults: DepthPackSettings(),
        make: { DepthPackElement($0) })

    static let properties: [Property<DepthPackSettings>] =
        Property.depthRows + Property.depthPairing(offset: \.depthTimeOffset, maxSkew: \.maxSkew, holdTime: \.holdTime)
        + [
            .choice("coding", "Way in which depth is written as a picture", \.coding),
            .choice("layout", "Places of color and depth in the picture", \.layout),
            .double(
                "near", "Distance of the nearest code, in metres; 0 = as the coding has it", 0...1000, \.near),
            .double("far", "Distance of the farthest code, in metres; 0 = as the coding has it", 0...1000, \.far),
            .bool("send-tag", "Say in the stream's comment tag how depth is written", \.sendsTag),
            .uint("max-pixels", "Largest picture accepted on any pad, in pixels", 1...UInt32.max, \.maxPixels),
        ]
}

/// The values of `depthpack`'s properties. The initial values here are the only defaults.
struct DepthPackSettings: AggregatorSettings, DepthReadingSettings {
    var depth = DepthReading.ofStream
    var coding = DepthCoding.gray
    var layout = Auto<PackedLayout>()
    /// Metres; 0 is the coding's own.
    var near = 0.0
    var far = 0.0
    var depthTimeOffset: Int64 = 0
    var sendsTag = true
    var maxSkew: GstClockTime = 50_000_000
    var holdTime: GstClockTime = 500_000_000
    var maxPixels: UInt32 = 67_108_864

    var packedLayout: PackedLayout { layout.value ?? coding.usualLayout }
}

extension DepthCoding: PropertyEnum, AutoValue {
    package static let typeName = "GstDepthMatteDepthCoding"
    static let autoBlurb = "As the stream's comment says, else gray"

    package var blurb: String {
        switch self {
        case .gray: "Luma is nearness, U says what was not measured: least error and bits after a codec"
        case .black: "Luma is nearness, black is what was not measured"
        case .record3d: "Hue is distance, as Record3D writes it"
        case .realsense: "Hue is nearness, as RealSense's colorized depth"
        case .depthkit: "Hue is distance, as Depthkit's combined pictures"
        }
    }
}

extension DepthSpan {
    /// The range that the properties `near` and `far` choose, where 0 leaves an end of the usual range.
    ///
    /// - Returns: the usual range, and a sentence on what is wrong, where they are none.
    static func chosen(
        near: Double, far: Double, usual: DepthSpan, for coding: DepthCoding
    ) -> (span: DepthSpan, complaint: String?) {
        let (near, far) = (near > 0 ? near : usual.near, far > 0 ? far : usual.far)
        if let span = DepthSpan(near: near, far: far, for: coding) { return (span, nil) }
        return (
            usual,
            "near=\(near) and far=\(far) are no range: far must be above near, and near a millimetre or more."
        )
    }
}

extension PackedLayout: AutoValue {
    static let typeName = "GstDepthMatteDepthLayout"
    static let autoBlurb = "As the coding's own writers have it; for depthunpack, first as the stream's comment says"
    var nick: String { rawValue }

    var blurb: String {
        switch self {
        case .sideBySide: "Color left, depth right"
        case .sideBySideSwapped: "Depth left, color right"
        case .topBottom: "Color above, depth below"
        case .topBottomSwapped: "Depth above, color below"
        }
    }
}
