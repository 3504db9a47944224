import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// `depthmatte`: mattes a person out of a video by depth, and blends them over another background.
///
/// Pads: `video` (always, the reference pad) is the video that is cut; `depth` (request) is its depth map; `face`
/// (request) is a copy of the video, of any size, with the metas of a face detector; `background` (request) is a
/// background video; `segmentation` (request) is the mask of a segmentation network.
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
        description: "Mattes a person out of a video by depth and blends them over another background",
        log: DepthMatteElement.log,
        pads: [
            PadTemplate(
                PadRole.video.description, GST_PAD_SINK, .always,
                "Video to matte; each frame gives one output frame", caps: VideoFormat.caps),
            PadTemplate(
                PadRole.depth.description, GST_PAD_SINK, .request,
                "Depth map, registered to the video; any size and rate", caps: DepthFormat.caps),
            PadTemplate(
                PadRole.face.description, GST_PAD_SINK, .request,
                "Copy of the video with a face detector's metas; any size", caps: VideoFormat.caps),
            PadTemplate(
                PadRole.background.description, GST_PAD_SINK, .request,
                "Background video; any size and rate", caps: VideoFormat.caps),
            PadTemplate(
                PadRole.segmentation.description, GST_PAD_SINK, .request,
                "Person probability from a segmentation network, 255 = certain; any size and rate",
                caps: VideoFormat.caps(of: [GST_VIDEO_FORMAT_GRAY8].compactMap(VideoFormat.of))),
            PadTemplate(
                "src", GST_PAD_SRC, .always, "Person over the background, or the picture that view selects",
                caps: VideoFormat.caps),
        ],
        properties: DepthMatteProperties.all,
        defaults: DepthMatteSettings(),
        structures: [
            StructureProperty(
                "stats",
                "Counts of video frames since start: frames = paired (with depth of their time) + reused (older "
                    + "depth) + "
                    + "covered (background alone) + passed (unchanged) + dropped. skew, skew-max: depth time minus "
                    + "video time in ns, last and largest. cutoff, anchor-depth: metres, 0 = none. head-depth, "
                    + "head-confidence: of the head in the depth map that is followed, in metres and 0 to 1; 0 = none. "
                    + "present: true while the person or thing that set the cutoff is seen. coverage: mean of the "
                    + "matte, 0 to 1. invalid-share: share of unmeasured depth samples, 0 to 1. time-per-frame: "
                    + "mean processing time in ns. detail: resolution of the last fused matte. room-known: share of the "
                    + "room that is remembered, room-agree: share of the visible room that is as it is remembered, "
                    + "room-used: share of the undecided samples that the memory decides, 0 to 1; room-forgotten: times "
                    + "that it was forgotten because it no longer held. depth-lag, depth-lag-error: by how many ns depth is "
                    + "late, and the standard error; depth-shift-x, depth-shift-y: video pixels to be added to "
                    + "depth-offset-x and -y; each with -known, which is false while the pictures do not say. "
                    + "outline-match: share of edges, 0 to 1, that the outline of depth lies on")
        ],
        actions: DepthMatteElement.RoomRequest.allCases.map(\.rawValue),
        presets: DepthMattePresets.all,
        make: { DepthMatteElement($0) })
}
