import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthcloud`: draws depth as a cloud of points, seen by a camera that the pointer moves.
///
/// Pads: `depth` (always, the reference pad) is the depth map, whose timing the output has; `video` (request) colors the
/// points, which have the palette's colors otherwise. The output has the size that downstream asks for.
///
/// `CloudRenderer` defines the points and their drawing, `CloudGestures` the pointer's effect. The defaults are those of
/// Apple's sample "Streaming depth data from the TrueDepth camera": points of five pixels, a vertical field of view of
/// 70°, rotation about a point half a metre ahead.
///
///     depthtestsrc name=camera  depthcloud name=cloud ! videoconvert ! autovideosink
///         camera.depth ! cloud.depth  camera.video ! cloud.video
enum DepthCloud {
    static let factory = "depthcloud"

    typealias PadRole = DepthLedPad

    /// The output formats: four bytes a pixel, those without an alpha channel first.
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
        description: "Draws depth as a point cloud that pointer events rotate, move and zoom",
        log: DepthCloudElement.log,
        pads: PadRole.templates(video: "Video that colors the points; any size and rate") + [
            PadTemplate(
                "src", GST_PAD_SRC, .always, "Picture of the cloud, in the size that downstream asks for",
                caps: VideoFormat.caps(of: formats))
        ],
        properties: DepthCloudProperties.all,
        defaults: DepthCloudSettings(),
        make: { DepthCloudElement($0) })
}
