import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthmatte`: cuts a person out of a video along the depth, and lays them over another picture.
///
/// Pads: `video` (always) is what leaves, cut out; `depth` (request) is the depth camera's stream; `face` (request) is
/// a smaller copy of the video on which a detector has left its boxes; `background` (request) is a stream to put behind;
/// `segmentation` (request) is where a network sees the person.
///
/// The stages, their order and their defaults are those of Apple's sample "Enhancing live video by leveraging TrueDepth
/// camera data": anchor on the face, threshold the depth a margin behind it, soften the mask, widen or narrow it by a
/// power, bring it to the video's size, blend.
///
///     depthtestsrc name=camera  depthmatte name=matte background=bg.png ! videoconvert ! autovideosink
///         camera.video ! matte.video  camera.depth ! matte.depth
enum DepthMatte {
    static let factory = "depthmatte"

    enum PadRole: Int, DepthAggregator.PadRole {
        case video, depth, face, background, segmentation

        static let reference = PadRole.video

        var name: StaticString {
            switch self {
            case .video: "video"
            case .depth: "depth"
            case .face: "face"
            case .background: "background"
            case .segmentation: "segmentation"
            }
        }
    }

    static let definition = ElementDefinition(
        typeName: "GstDepthMatte",
        factory: factory,
        parent: .aggregator,
        longName: "Depth matte",
        klass: "Filter/Editor/Video/Compositor",
        description: "Cuts a person out of a video along the depth and lays them over another background. "
            + "Pads: video, the picture to cut; depth, its depth map; face, a smaller copy of it with a detector's "
            + "boxes; background, the picture behind; segmentation, where a network sees the person",
        pads: [
            PadTemplate(PadRole.video.description, GST_PAD_SINK, .always, caps: VideoFormat.caps),
            PadTemplate(PadRole.depth.description, GST_PAD_SINK, .request, caps: DepthFormat.caps),
            PadTemplate(PadRole.face.description, GST_PAD_SINK, .request, caps: VideoFormat.caps),
            PadTemplate(PadRole.background.description, GST_PAD_SINK, .request, caps: VideoFormat.caps),
            PadTemplate(
                PadRole.segmentation.description, GST_PAD_SINK, .request,
                caps: VideoFormat.caps(of: [GST_VIDEO_FORMAT_GRAY8].compactMap(VideoFormat.of))),
            PadTemplate("src", GST_PAD_SRC, .always, caps: VideoFormat.caps),
        ],
        properties: DepthMatteProperties.all,
        defaults: DepthMatteSettings(),
        structures: [
            StructureProperty(
                "stats",
                "Frames and what became of them (frames = paired + reused + covered + passed + dropped), skew and "
                    + "largest skew in nanoseconds, cutoff and anchor depth in metres, coverage and share of depth "
                    + "not measured as 0 to 1, time per frame in nanoseconds")
        ],
        presets: DepthMattePresets.all,
        make: { DepthMatteElement($0) })
}
