import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthcolorize`: depth as colours, alone or mixed with the video.
///
/// Pads: `depth` (always) is what is shown, and its timing is the output's; `video` (request) is the picture to mix it
/// with, and then the output has that picture's size.
///
/// The default is the view of Apple's sample "Streaming depth data from the TrueDepth camera": a histogram of the
/// distances equalised over the colours of JET, near red and far blue, half mixed with the video.
///
///     depthtestsrc ! depthcolorize ! videoconvert ! autovideosink
enum DepthColorize {
    static let factory = "depthcolorize"

    typealias PadRole = DepthLedPad

    /// The formats that leave, in the order in which they are preferred: those that hide what is beneath first.
    static let formats: [VideoFormat] = {
        let colored = VideoFormat.all.filter { $0.family == .rgb }
        return colored.filter { $0.alphaByte == nil } + colored.filter { $0.alphaByte != nil }
    }()

    static let definition = ElementDefinition(
        typeName: "GstDepthColorize",
        factory: factory,
        parent: .aggregator,
        longName: "Depth colours",
        klass: "Filter/Effect/Video",
        description: "Shows depth as colours, near red and far blue, alone or mixed with the video. "
            + "Pads: depth, the depth map; video, the picture to mix it with",
        pads: PadRole.templates + [PadTemplate("src", GST_PAD_SRC, .always, caps: VideoFormat.caps(of: formats))],
        properties: DepthColorizeProperties.all,
        defaults: DepthColorizeSettings(),
        make: { DepthColorizeElement($0) })
}
