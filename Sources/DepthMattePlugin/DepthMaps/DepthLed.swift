import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The sink pads of an element that shows depth: led by that, it follows video.
enum DepthLedPad: Int, PadRole {
    case depth, video

    static let reference = DepthLedPad.depth

    var name: StaticString {
        switch self {
        case .depth: "depth"
        case .video: "video"
        }
    }

    /// - Parameter video: the note of the video pad.
    static func templates(video: String) -> [PadTemplate] {
        [
            PadTemplate(
                DepthLedPad.depth.description, GST_PAD_SINK, .always,
                "Depth map; each frame gives one output frame", caps: DepthFormat.caps),
            PadTemplate(DepthLedPad.video.description, GST_PAD_SINK, .request, video, caps: VideoFormat.caps),
        ]
    }
}

/// The format of a depth stream and its caps.
struct DepthStream {
    let format: DepthFormat
    let caps: CapsRef

    init(_ caps: UnsafeMutablePointer<GstCaps>, maxPixels: Int) throws(CapsRefusal) {
        format = try DepthFormat(caps, maxPixels: maxPixels)
        self.caps = CapsRef(sharing: caps)
    }

    /// Frames in a second; 0/1 where that is not said.
    var rate: (Int, Int) { caps.pointer.fraction("framerate") ?? (0, 1) }
}

/// Caps of elements with these pads.
extension ReferencePadAggregator where Role == DepthLedPad {
    func acceptCaps(_ caps: UnsafeMutablePointer<GstCaps>, on role: DepthLedPad) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        }
    }

    /// Answers what may come in on a pad: what the pad's template says, limited in some fields by what downstream takes.
    ///
    /// - Returns: false where there is no answer.
    func answerCaps(_ query: UnsafeMutablePointer<GstQuery>, on pad: Pad, limitedIn fields: [String]) -> Bool {
        guard let downstream = gst_pad_peer_query_caps(sourcePad, nil) else { return false }
        defer { gst_caps_unref(downstream) }
        guard let template = gst_pad_get_pad_template_caps(pad.pad) else { return false }
        defer { gst_caps_unref(template) }
        guard let limited = template.limited(by: downstream, in: fields) else { return false }
        defer { gst_caps_unref(limited) }
        var filter: UnsafeMutablePointer<GstCaps>?
        gst_query_parse_caps(query, &filter)
        let filtered = filter.map { gst_caps_intersect_full($0, limited, GST_CAPS_INTERSECT_FIRST) }
        defer { if let filtered { gst_caps_unref(filtered) } }
        gst_query_set_caps_result(query, filtered ?? limited)
        return true
    }

    /// Returns the part of the possible caps that downstream accepts, in our order; never empty. The caller owns it.
    func accepted(
        of possible: String, _ downstream: UnsafeMutablePointer<GstCaps>
    ) throws(FlowStop) -> UnsafeMutablePointer<GstCaps> {
        guard let possible = gst_caps_from_string(possible) else { throw .failed(noMemoryForCaps) }
        defer { gst_caps_unref(possible) }
        guard let common = gst_caps_intersect_full(possible, downstream, GST_CAPS_INTERSECT_FIRST) else {
            throw .failed(noMemoryForCaps)
        }
        guard gst_caps_is_empty(common) == 0 else {
            gst_caps_unref(common)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)  // `negotiationFailed` says why
        }
        return common
    }
}
