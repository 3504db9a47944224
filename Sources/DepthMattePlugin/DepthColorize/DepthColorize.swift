import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthcolorize`: shows depth in colors, alone or blended with the video.
///
/// Pads: `depth` (always, the reference pad) is the depth map, whose timing the output has; `video` (request) is the video
/// to blend it with, whose size the output then has.
///
/// The default is the view of Apple's sample "Streaming depth data from the TrueDepth camera": histogram-equalized
/// distances in the colors of JET, near red and far blue, blended half and half with the video.
///
///     depthtestsrc ! depthcolorize ! videoconvert ! autovideosink
enum DepthColorize {
    static let factory = "depthcolorize"

    typealias PadRole = DepthLedPad

    /// The output formats in order of preference: those without an alpha channel first.
    static let formats: [VideoFormat] = {
        let colored = VideoFormat.all.filter { $0.family == .rgb }
        return colored.filter { $0.alphaByte == nil } + colored.filter { $0.alphaByte != nil }
    }()

    static let definition = ElementDefinition(
        typeName: "GstDepthColorize",
        factory: factory,
        parent: .aggregator,
        longName: "Depth colorizer",
        klass: "Filter/Effect/Video",
        description: "Shows depth in colors, near red and far blue, alone or blended with the video",
        log: DepthColorizeElement.log,
        pads: PadRole.templates(video: "Video to blend the colors with; any size and rate") + [
            PadTemplate(
                "src", GST_PAD_SRC, .always, "Depth in colors, in the size of the video, or of the depth map alone",
                caps: VideoFormat.caps(of: formats))
        ],
        properties: DepthColorizeProperties.all,
        defaults: DepthColorizeSettings(),
        make: { DepthColorizeElement($0) })
}
