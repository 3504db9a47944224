import CGStreamer
import DepthAggregator
import DepthCameras
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

extension RequestPadInput<DepthFormat> {
    /// Takes the depth map that comes with a frame of the leading pad, where there is no depth pad.
    ///
    /// - Returns: true where its format is another than the last. See `takeAttached`.
    mutating func takeAttachedDepth(
        of frame: BufferPointer, at moment: Moment, maxPixels: Int
    ) throws(FlowStop) -> Bool {
        if exists { return false }
        do throws(CapsRefusal) {
            return try takeAttached(attachedDepth.content(of: frame), at: moment) { caps throws(CapsRefusal) in
                try DepthFormat(caps, maxPixels: maxPixels)
            }
        } catch {
            throw ofAttachedDepth(error)
        }
    }
}

/// The way by which video comes from a depth source, where such a source is above a pad.
struct DepthPath {
    /// Names of the source, and of the element that the video comes to.
    private let source: String
    private let target: String
    private let cause: Cause

    /// The cause of video without maps.
    private enum Cause: Equatable {
        case noDepth, notAttached, padIsLinked, notSent
        case lost(String)
    }

    /// True where the source has no depth that could come in any way.
    var hasNoDepth: Bool { cause == .noDepth }

    /// The cause and the remedy, as sentences.
    var advice: String {
        let link = "ink the depth pad: \(source).depth ! \(target).depth."
        return switch cause {
        case .noDepth: "\(source) has no depth, so no frame has. Choose a camera or recording with depth."
        case .notAttached: "attach-depth of \(source) is off, so no frame has depth. Switch it on, or l\(link)"
        case .padIsLinked:
            "The depth pad of \(source) is linked elsewhere, so its video brings no depth. Put a tee behind that pad, and "
                + "l\(link)"
        case .notSent: "\(source) sends no depth map with its video. L\(link)"
        case .lost(let place):
            "The depth map of \(source) is lost \(place), so no frame has depth. Put \(target) before it, or l\(link)"
        }
    }

    /// Kinds of elements that keep the field of view; scalers do where they keep the picture's shape.
    private static let keepers: Set<String> = [
        "queue", "queue2", "multiqueue", "tee", "identity", "capsfilter", "valve", "videoconvert", "videoscale",
        "videoconvertscale", "videorate", "videobalance", "input-selector", "output-selector", "textoverlay",
        "timeoverlay", "clockoverlay",
    ]

    /// Walks up from a sink pad, through the first sink pad of each element.
    init?(above input: SinkPad?, of element: some Element) {
        guard let input else { return nil }
        var (sink, loser, isScaled): (PadPointer?, String?, Bool) = (input.pad.pad, nil, false)
        withExtendedLifetime(input) { _ = gst_object_ref(input.pad.pad) }
        while let pad = sink {
            defer { gst_object_unref(pad) }
            guard let peer = gst_pad_get_peer(pad) else { return nil }
            defer { gst_object_unref(peer) }
            guard let above = gst_pad_get_parent_element(peer) else { return nil }
            defer { gst_object_unref(above) }
            let name = objectName(UnsafeMutableRawPointer(above))
            if let cause = DepthPath.cause(at: swiftElement(above)) {
                let place =
                    loser.map { "in \($0)" } ?? (isScaled ? "on the way, where a scaler changes the shape" : nil)
                (source, target) = (name, objectName(UnsafeMutableRawPointer(element.instance)))
                self.cause = cause == .notSent ? place.map { .lost($0) } ?? cause : cause
                return
            }
            let kind = gst_element_get_factory(above).map { objectName(UnsafeMutableRawPointer($0)) } ?? "bin"
            isScaled = isScaled || kind.hasSuffix("scale")
            if !DepthPath.keepers.contains(kind) { loser = "\(name) (\(kind))" }
            sink = nil
            gst_element_foreach_sink_pad(
                above,
                { _, pad, found in
                    guard let pad else { return 1 }
                    gst_object_ref(pad)
                    found?.assumingMemoryBound(to: PadPointer?.self).pointee = pad
                    return 0
                }, &sink)
        }
        return nil
    }

    /// The cause that the source itself is, `notSent` where it should send maps; nil for any other element.
    private static func cause(at element: (any Element)?) -> Cause? {
        let (attaches, depth): (Bool, PadPointer?)
        switch element {
        case let camera as DepthCamSrcElement:
            if camera.session?.info?.depthModes.isEmpty == true { return .noDepth }
            (attaches, depth) = (camera.table.current.attachDepth, camera.streams.first { $0.role == .depth }?.pad)
        case let camera as DepthTestSrcElement:
            (attaches, depth) = (camera.table.current.attachDepth, camera.streams.first { $0.role == .depth }?.pad)
        default: return nil
        }
        return !attaches ? .notAttached : depth?.isLinked == true ? .padIsLinked : .notSent
    }
}

extension GstVideoInfo {
    /// The picture's width divided by its height, as it is shown.
    fileprivate var shape: Double {
        Double(width) * Double(max(par_n, 1)) / (Double(max(height, 1)) * Double(max(par_d, 1)))
    }
}
