import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The request pads as the streaming thread follows them: each with what its caps said and what it last brought.
struct DepthMatteInputs: ~Copyable {
    private(set) var depth = RequestPadInput<DepthFormat>(DepthMatte.PadRole.depth)
    private(set) var face = RequestPadInput<GstVideoInfo>(DepthMatte.PadRole.face)
    private(set) var background = RequestPadInput<GstVideoInfo>(DepthMatte.PadRole.background, holdsThroughGaps: true)
    private(set) var segmentation = RequestPadInput<FrameLayout>(DepthMatte.PadRole.segmentation)

    /// Nanoseconds for which a segmentation holds: who walks is then 0.35 m farther on, nearly as much as they are wide.
    private static let segmentationHoldTime: RunningTime = 250_000_000

    private var foundFaces = Faces()
    /// The background pad's picture as it was last asked for.
    private var lastBackground: Picture?

    /// The picture that the background pad shows now.
    mutating func backgroundPicture() -> Picture? {
        let shown = picture(background)
        if lastBackground?.buffer.pointer != shown?.buffer {
            lastBackground = shown.map { Picture(BufferRef(sharing: $0.buffer), $0.info) }
        }
        return lastBackground
    }

    /// The buffer that holds now on a pad, and its meaning.
    private func picture(
        _ input: borrowing RequestPadInput<GstVideoInfo>
    ) -> (buffer: BufferPointer, info: GstVideoInfo)? {
        guard let info = input.format, let choice = input.currentChoice else { return nil }
        return (choice.buffer, info)
    }

    /// Notes pads that came or went since the last frame.
    mutating func refresh(_ element: any Aggregator) {
        depth.refresh(element)
        face.refresh(element)
        background.refresh(element)
        segmentation.refresh(element)
        if !background.isThere { lastBackground = nil }
    }

    /// New caps on a pad.
    mutating func setDepthFormat(_ format: DepthFormat, _ element: any Aggregator) {
        depth.setFormatIfNew(format, element)
    }

    mutating func setPictureInfo(_ info: GstVideoInfo, _ role: DepthMatte.PadRole, _ element: any Aggregator) {
        switch role {
        case .face: face.setFormat(info, element)
        case .background:
            background.setFormat(info, element)
            lastBackground = nil
        case .segmentation: segmentation.setFormatIfNew(FrameLayout(info), element)
        case .video, .depth: break
        }
    }

    /// Brings every input up to the video frame.
    ///
    /// - Parameter mayWait: see `SecondaryInput.advance`. The pictures of a live pipeline are taken as they are.
    mutating func advance(in element: any Aggregator, to moment: Moment, mayWait: Bool) throws(FlowStop) {
        let mayWaitForPictures = mayWait && !moment.isLive
        // A pad may have come since GstAggregator looked. Until it brings something nothing may be taken off the others:
        // GstAggregator would wait for them again, although this frame needs no more of them.
        if mayWait && depth.isEmpty(in: element, at: moment) { throw .needData }
        if mayWaitForPictures
            && (face.isEmpty(in: element, at: moment) || background.isEmpty(in: element, at: moment)
                || segmentation.isEmpty(in: element, at: moment))
        {
            throw .needData
        }
        try depth.advance(in: element, to: moment, mayWait: mayWait)
        try face.advance(in: element, to: moment, mayWait: mayWaitForPictures)
        try background.advance(in: element, to: moment, mayWait: mayWaitForPictures)
        try segmentation.advance(in: element, to: moment, mayWait: mayWaitForPictures)
    }

    /// A flush: what was taken is over.
    mutating func reset() {
        depth.reset()
        face.reset()
        background.reset()
        segmentation.reset()
        lastBackground = nil
    }

    /// The segmentation of the frame of the moment that the inputs were last brought to; nil where none is new enough.
    func segmentation(at moment: Moment) -> (buffer: BufferPointer, layout: FrameLayout)? {
        guard let layout = segmentation.format, let choice = segmentation.currentChoice else { return nil }
        if let time = moment.time, let start = choice.time, time &- start > DepthMatteInputs.segmentationHoldTime {
            return nil
        }
        return (choice.buffer, layout)
    }

    /// The boxes on the video buffer and on the face pad's, in video pixels.
    mutating func faces(on video: BufferPointer, width: Int, height: Int, types: String) -> [Rectangle<Double>] {
        foundFaces.begin(types: types)
        foundFaces.add(on: video)
        if let (buffer, info) = picture(face) {
            foundFaces.add(
                on: buffer, scaleX: Double(width) / Double(info.width), scaleY: Double(height) / Double(info.height))
        }
        return foundFaces.boxes
    }
}
