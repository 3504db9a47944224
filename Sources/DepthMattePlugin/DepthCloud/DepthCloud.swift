import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthcloud`: depth as a cloud of points, seen by a camera that goes about it.
///
/// Pads: `depth` (always) is what is shown, and its timing is the output's; `video` (request) gives the points their
/// colours, which come from a palette otherwise. The output has the size that downstream asks for.
///
/// What the points are and how they are drawn says `CloudRenderer`; what the pointer does, `CloudGestures`. The defaults
/// are those of Apple's sample "Streaming depth data from the TrueDepth camera": points of five pixels, 70° from top to
/// bottom, turned about a point half a metre ahead.
///
///     depthtestsrc name=camera  depthcloud name=cloud ! videoconvert ! autovideosink
///         camera.depth ! cloud.depth  camera.video ! cloud.video
enum DepthCloud {
    static let factory = "depthcloud"

    typealias PadRole = DepthLedPad

    /// The formats that leave: four bytes a pixel, those without an alpha channel first.
    static let formats: [VideoFormat] = {
        let packed = VideoFormat.all.filter { $0.family == .rgb && $0.layout.planes == [.full(bytesPerSample: 4)] }
        return packed.filter { $0.alphaByte == nil } + packed.filter { $0.alphaByte != nil }
    }()

    static let definition = ElementDefinition(
        typeName: "GstDepthCloud",
        factory: factory,
        parent: .aggregator,
        longName: "Depth point cloud",
        klass: "Filter/Effect/Video",
        description: "Shows depth as a cloud of points that a pointer turns, moves and brings nearer. "
            + "Pads: depth, the depth map; video, the picture that gives the points their colours",
        pads: PadRole.templates + [PadTemplate("src", GST_PAD_SRC, .always, caps: VideoFormat.caps(of: formats))],
        properties: DepthCloudProperties.all,
        defaults: DepthCloudSettings(),
        make: { DepthCloudElement($0) })
}
