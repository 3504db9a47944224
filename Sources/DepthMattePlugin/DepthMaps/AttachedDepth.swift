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

extension GstVideoInfo {
    /// The width of the picture by its height, as it is shown.
    fileprivate var shape: Double {
        Double(width) * Double(max(par_n, 1)) / (Double(max(height, 1)) * Double(max(par_d, 1)))
    }
}
