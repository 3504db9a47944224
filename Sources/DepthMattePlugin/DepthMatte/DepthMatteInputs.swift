import CGStreamer
import DepthAggregator
import DepthKernels
import GstBridge

/// The request pads' state on the streaming thread: each pad's format and current buffer.
struct DepthMatteInputs: ~Copyable {
    private(set) var depth = RequestPadInput<DepthFormat>(DepthMatte.PadRole.depth)
    private(set) var face = RequestPadInput<GstVideoInfo>(DepthMatte.PadRole.face)
    private(set) var background = RequestPadInput<GstVideoInfo>(DepthMatte.PadRole.background, holdsThroughGaps: true)
    private(set) var segmentation = RequestPadInput<FrameLayout>(DepthMatte.PadRole.segmentation)

    /// Nanoseconds for which a segmentation is reused. A walking person moves 0.35 m meanwhile, nearly their width.
    private static let segmentationHoldTime: RunningTime = 250_000_000

    private var found = Detections()
    private var masks = AttachedMasks()
    /// The last result of `backgroundPicture`, so that one buffer stays one object.
    private var lastBackground: Picture?

    /// Returns the background pad's current picture; nil while it has none.
    mutating func backgroundPicture() -> Picture? {
        let shown = picture(background)
        if lastBackground?.buffer.pointer != shown?.buffer {
            lastBackground = shown.map { Picture(BufferRef(sharing: $0.buffer), $0.info) }
        }
        return lastBackground
    }

    /// Returns a pad's current buffer and its format.
    private func picture(
        _ input: borrowing RequestPadInput<GstVideoInfo>
    ) -> (buffer: BufferPointer, info: GstVideoInfo)? {
        guard let info = input.format, let choice = input.currentChoice else { return nil }
        return (choice.buffer, info)
    }

    /// Updates which pads exist.
    mutating func refresh(_ element: some ReferencePadAggregator) {
        depth.refresh(element)
        face.refresh(element)
        background.refresh(element)
        segmentation.refresh(element)
        if !background.exists { lastBackground = nil }
    }

    mutating func setDepthFormat(_ format: DepthFormat, _ element: some ReferencePadAggregator) {
        depth.setFormatIfNew(format, element)
    }

    /// See `RequestPadInput.takeAttachedDepth`.
    mutating func takeAttachedDepth(
        of video: BufferPointer, at moment: Moment, maxPixels: Int
    ) throws(FlowStop) -> Bool { try depth.takeAttachedDepth(of: video, at: moment, maxPixels: maxPixels) }

    /// Sets the format of any other request pad.
    mutating func setPictureInfo(
        _ info: GstVideoInfo, _ role: DepthMatte.PadRole, _ element: some ReferencePadAggregator
    ) {
        switch role {
        case .face: face.setFormat(info, element)
        case .background:
            background.setFormat(info, element)
            lastBackground = nil
        case .segmentation: segmentation.setFormatIfNew(FrameLayout(info), element)
        case .video, .depth: break
        }
    }

    /// Advances every input to the video frame.
    ///
    /// - Parameter mayWait: see `SecondaryInput.advance`. A live pipeline waits for depth only.
    mutating func advance(in element: some ReferencePadAggregator, to moment: Moment, mayWait: Bool) throws(FlowStop) {
        let mayWaitForPictures = mayWait && !moment.isLive
        // A pad may be new since GstAggregator checked, or have no more than what lies before the frame. What belongs to the
        // frame is popped from no pad before all have that, because GstAggregator would wait for more from those that have
        // nothing left, although this frame needs no more of them: upstream may be waiting for the frame.
        if mayWait && depth.isEmpty(in: element, at: moment) { throw .needData }
        if mayWaitForPictures
            && (face.isEmpty(in: element, at: moment) || background.isEmpty(in: element, at: moment)
                || segmentation.isEmpty(in: element, at: moment))
        {
            throw .needData
        }
        if mayWait { try depth.approach(moment, in: element) }
        if mayWaitForPictures {
            try face.approach(moment, in: element)
            try background.approach(moment, in: element)
            try segmentation.approach(moment, in: element)
        }
        try depth.advance(in: element, to: moment, mayWait: mayWait)
        try face.advance(in: element, to: moment, mayWait: mayWaitForPictures)
        try background.advance(in: element, to: moment, mayWait: mayWaitForPictures)
        try segmentation.advance(in: element, to: moment, mayWait: mayWaitForPictures)
    }

    /// Drops all buffers, after a flush.
    mutating func reset() {
        depth.reset()
        face.reset()
        background.reset()
        segmentation.reset()
        lastBackground = nil
    }

    /// Returns the segmentation for a frame; nil where none is recent enough.
    ///
    /// - Precondition: the inputs were advanced to the moment.
    func segmentation(at moment: Moment) -> (buffer: BufferPointer, layout: FrameLayout)? {
        guard let layout = segmentation.format, let choice = segmentation.currentChoice,
            DepthMatteInputs.holds(choice, at: moment)
        else { return nil }
        return (choice.buffer, layout)
    }

    private static func holds(_ choice: Pairing.Choice, at moment: Moment) -> Bool {
        guard let time = moment.time, let start = choice.time else { return true }
        return time &- start <= segmentationHoldTime
    }

    /// Returns the people in the masks on the video's buffer and on the face pad's, as a segmentation; nil where there are none.
    ///
    /// - Precondition: `detections` was called for the frame.
    mutating func attachedSegmentation(
        on video: BufferPointer, width: Int, height: Int, at moment: Moment
    ) throws(FrameFault) -> (buffer: BufferPointer, layout: FrameLayout)? {
        masks = AttachedMasks()
        guard Analytics.isInUse, let analytics = Analytics.library else { return nil }
        try masks.add(analytics, on: video, width: width, height: height, found)
        if let info = face.format, let choice = face.currentChoice, DepthMatteInputs.holds(choice, at: moment) {
            try masks.add(analytics, on: choice.buffer, width: Int(info.width), height: Int(info.height), found)
        }
        return masks.picture.map { ($0.buffer.pointer, $0.layout) }
    }

    /// Returns the faces and people that detectors marked on the video's buffer and on the face pad's.
    mutating func detections(
        on video: BufferPointer, width: Int, height: Int, _ settings: AnchorSettings
    ) -> Detections {
        found.begin(width: width, height: height, faces: settings.faceTypes ?? "", people: settings.personTypes ?? "")
        found.add(on: video)
        if let (buffer, info) = picture(face) {
            found.add(
                on: buffer, scaleX: Double(width) / Double(info.width), scaleY: Double(height) / Double(info.height))
        }
        return found
    }
}
