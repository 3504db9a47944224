import CGStreamer
import GstBridge

/// The custom meta `DepthMapMeta`: the depth map of a video frame, in the field `depth` of its structure, as a GstSample whose caps are
/// those of a depth pad. Depth sources attach it, and elements take it where nothing is linked to their depth pad.
///
/// It stays with the frame as long as that shows the same field of view: a place in the map is a share of the picture's sides.
let attachedDepth = SampleMeta("DepthMapMeta", field: "depth") { from, to in
    // A scaler with add-borders=true lays a picture of another shape between borders, and does not tell the meta so.
    let (one, other) = (from.shape, to.shape)
    let shared = min(one, other) / max(one, other)
    return (1 - shared) * Double(max(to.width, to.height)) < 2
}

/// The error of a map whose caps are refused.
func ofAttachedDepth(_ refusal: CapsRefusal) -> FlowStop {
    .notNegotiated(
        ElementError(.core(GST_CORE_ERROR_NEGOTIATION), "The depth map attached to the video: \(refusal.reason)."))
}

/// The way by which video comes from a depth source, where such a source is above a pad.
struct DepthPath {
    /// The name of the source.
    let source: String
    /// Says where the map is lost.
    var loss: String {
        let place = loser.map { "in \($0)" } ?? "on the way, as where a scaler changes the shape"
        return "The depth map of \(source) is lost \(place)"
    }
    /// Name and kind of the first element below it that may lose the map; nil where none does by itself.
    private var loser: String?

    /// Kinds of elements that keep the field of view.
    private static let keepers: Set<String> = [
        "queue", "queue2", "multiqueue", "tee", "identity", "capsfilter", "valve", "videoconvert", "videoscale",
        "videoconvertscale", "videorate", "videobalance", "input-selector", "output-selector", "textoverlay",
        "timeoverlay", "clockoverlay",
    ]

    /// Walks up from a sink pad, through the first sink pad of each element.
    init?(above pad: PadPointer?) {
        guard let pad else { return nil }
        var (sink, loser): (PadPointer?, String?) = (pad, nil)
        gst_object_ref(pad)
        while let pad = sink {
            defer { gst_object_unref(pad) }
            guard let peer = gst_pad_get_peer(pad) else { return nil }
            defer { gst_object_unref(peer) }
            guard let element = gst_pad_get_parent_element(peer) else { return nil }
            defer { gst_object_unref(element) }
            let name = objectName(UnsafeMutableRawPointer(element))
            let kind = gst_element_get_factory(element).map { objectName(UnsafeMutableRawPointer($0)) } ?? "bin"
            if [DepthCamSrc.factory, DepthTestSrc.factory].contains(kind) {
                (source, self.loser) = (name, loser)
                return
            }
            if !DepthPath.keepers.contains(kind) { loser = "\(name) (\(kind))" }
            sink = nil
            gst_element_foreach_sink_pad(
                element,
                { _, pad, found in
                    guard let pad else { return 1 }
                    gst_object_ref(pad)
                    found?.assumingMemoryBound(to: PadPointer?.self).pointee = pad
                    return 0
                }, &sink)
        }
        return nil
    }
}

extension GstVideoInfo {
    /// The width of the picture by its height, as it is shown.
    fileprivate var shape: Double {
        Double(width) * Double(max(par_n, 1)) / (Double(max(height, 1)) * Double(max(par_d, 1)))
    }
}
