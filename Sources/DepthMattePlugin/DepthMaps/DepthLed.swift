import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The sink pads of an element that shows depth: led by that, it follows video.
enum DepthLedPad: Int, PadRole {
    case depth, video

    static let reference = DepthLedPad.depth
    static let standIn: DepthLedPad? = .video

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
    /// The caps of the video that the maps come with; nil where they come by themselves.
    let carrier: CapsRef?

    init(_ caps: CapsPointer, maxPixels: Int, carrier: CapsRef? = nil) throws(CapsRefusal) {
        format = try DepthFormat(caps, maxPixels: maxPixels)
        self.caps = CapsRef(sharing: caps)
        self.carrier = carrier
    }

    /// Frames in a second; 0/1 where that is not said.
    var rate: (Int, Int) { (carrier ?? caps).pointer.fraction("framerate") ?? (0, 1) }
}

/// The inputs of an element with these pads.
///
/// Streaming thread, or while that is stopped.
final class DepthLedInputs {
    /// The depth stream's format; nil before its first caps.
    var depth: DepthStream?
    /// The video pad's input.
    var video = RequestPadInput<GstVideoInfo>(DepthLedPad.video)

    /// The depth map of a frame of the leading pad.
    func map(of frame: BufferPointer) -> BufferPointer {
        depth?.carrier == nil ? frame : attachedDepth.content(of: frame)?.buffer ?? frame
    }
}

/// An element with these pads. Where its depth pad is not linked, video with attached maps leads it; such video leads on the depth
/// pad too, as GRAY8 is also a format of pictures.
protocol DepthLedElement: ReferencePadAggregator where Role == DepthLedPad {
    var inputs: DepthLedInputs { get }
}

extension DepthLedElement {
    func bringsReference(_ buffer: BufferPointer) -> Bool {
        if attachedDepth.content(of: buffer) != nil { return true }
        warnOfUnlinkedDepth()
        return false
    }

    func prepare(_ frame: BufferPointer, at moment: Moment) throws(FlowStop) -> Bool {
        let (inputs, limit) = (inputs, maxPixels)
        inputs.video.dropAttached()
        guard let map = attachedDepth.content(of: frame), !map.buffer.isGap, let carrier = referencePad?.caps else {
            return leader == .depth && inputs.depth?.carrier == nil
        }
        do throws(CapsRefusal) {
            if leader == .video || streams.pads[DepthLedPad.video] == nil {
                _ = try inputs.video.takeAttached((frame, carrier.pointer, 0), at: moment) { caps throws(CapsRefusal) in
                    try videoInfo(caps, maxPixels: limit)
                }
            }
            if let known = inputs.depth, known.carrier === carrier, gst_caps_is_equal(known.caps.pointer, map.caps) != 0
            {
                return true
            }
            inputs.depth = try DepthStream(map.caps, maxPixels: limit, carrier: carrier)
        } catch {
            throw ofAttachedDepth(error)
        }
        gst_aggregator_negotiate(aggregator)
        return true
    }

    /// Advances the video pad to a frame of the depth pad, unless the video leads.
    func advanceVideo(to moment: Moment, mayWait: Bool) throws(FlowStop) {
        inputs.video.refresh(self)
        if leader == .video { return }
        if mayWait && inputs.video.isEmpty(in: self, at: moment) { throw .needData }
        try inputs.video.advance(in: self, to: moment, mayWait: mayWait)
    }
}

/// Caps of elements with these pads.
extension ReferencePadAggregator where Role == DepthLedPad {
    func acceptCaps(_ caps: CapsPointer, on role: DepthLedPad) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        }
    }

    /// Answers what may come in on a pad: what the pad's template says, limited in some fields by what downstream takes.
    ///
    /// - Returns: false where there is no answer.
    func answerCaps(_ query: QueryPointer, on pad: Pad, limitedIn fields: [String]) -> Bool {
        guard let downstream = gst_pad_peer_query_caps(sourcePad, nil) else { return false }
        defer { gst_caps_unref(downstream) }
        guard let template = gst_pad_get_pad_template_caps(pad.pad) else { return false }
        defer { gst_caps_unref(template) }
        guard let limited = template.limited(by: downstream, in: fields) else { return false }
        defer { gst_caps_unref(limited) }
        var filter: CapsPointer?
        gst_query_parse_caps(query, &filter)
        let filtered = filter.map { gst_caps_intersect_full($0, limited, GST_CAPS_INTERSECT_FIRST) }
        defer { if let filtered { gst_caps_unref(filtered) } }
        gst_query_set_caps_result(query, filtered ?? limited)
        return true
    }

    /// Returns the part of the possible caps that downstream accepts, in our order; never empty. The caller owns it.
    func accepted(of possible: String, _ downstream: CapsPointer) throws(FlowStop) -> CapsPointer {
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
