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
    var video = RequestPadInput<GstVideoInfo>(DepthLedPad.video)

    /// The depth map of a frame of the leading pad.
    func map(of frame: BufferPointer) -> BufferPointer {
        depth?.carrier == nil ? frame : attachedDepth.content(of: frame)?.buffer ?? frame
    }
}

/// An element with these pads. Where its depth pad is not linked, video with attached maps leads it; such video leads on the depth
/// pad too, as GRAY8 is also a format of pictures.
protocol DepthLedElement: ReferencePadAggregator where Role == DepthLedPad, Settings: ColoringSettings {
    var inputs: DepthLedInputs { get }
    /// The frames that leave; nil before the output is negotiated.
    var frames: OutputFrames? { get }
}

extension DepthLedElement {
    func propertyChanged(_ name: String) { if name == "depth-ts-offset" { timeShiftChanged() } }

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

    func advanceInputs(to moment: Moment, mayWait: Bool, _ settings: Settings) throws(FlowStop) {
        try advanceVideo(to: moment, mayWait: mayWait)
    }

    /// The depth's times are those of the output. So it is the video that moves, the other way.
    func timeShift(of role: DepthLedPad, _ settings: Settings) -> Int64 {
        role == .video ? 0 &- settings.depthTimeOffset : 0
    }

    /// Advances the video pad to a frame of the depth pad, unless the video leads.
    func advanceVideo(to moment: Moment, mayWait: Bool) throws(FlowStop) {
        inputs.video.refresh(self)
        if leader == .video { return }
        if mayWait && inputs.video.isEmpty(in: self, at: moment) { throw .needData }
        try inputs.video.advance(in: self, to: moment, mayWait: mayWait)
    }

    func selectedBuffer(_ role: DepthLedPad, at moment: Moment, _ settings: Settings) -> BufferPointer? {
        role == .video ? videoChoice(at: moment, settings)?.buffer : nil
    }

    /// The video frame of a moment.
    func videoChoice(at moment: Moment, _ settings: Settings) -> Pairing.Choice? {
        inputs.video.pairing(at: moment, maxSkew: settings.maxSkew, holdTime: settings.holdTime).choice
    }

    // MARK: Caps and allocation

    var isNegotiated: Bool { frames != nil }

    func decideAllocation(_ query: QueryPointer) -> Bool {
        frames?.decide(query)
        return true
    }

    func acceptCaps(_ caps: CapsPointer, on role: DepthLedPad) throws(CapsRefusal) {
        switch role {
        case .depth: _ = try DepthFormat(caps, maxPixels: maxPixels)
        case .video: _ = try StreamFormat(videoInfo(caps, maxPixels: maxPixels))
        }
    }
}

extension ReferencePadAggregator {
    /// Returns the part of the possible caps that downstream accepts, in our order; never empty. The caller owns it.
    func accepted(of possible: String, _ downstream: CapsPointer) throws(FlowStop) -> CapsPointer {
        guard let possible = OwnedCaps(taking: gst_caps_from_string(possible)),
            let common = gst_caps_intersect_full(possible.pointer, downstream, GST_CAPS_INTERSECT_FIRST)
        else { throw .failed(noMemoryForCaps) }
        guard gst_caps_is_empty(common) == 0 else {
            gst_caps_unref(common)
            throw .refused(GST_FLOW_NOT_NEGOTIATED)  // `negotiationFailed` says why
        }
        return common
    }
}
