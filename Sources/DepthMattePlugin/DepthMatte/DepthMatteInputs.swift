import CGStreamer
import DepthKernels
import GstBridge

/// The request pads as the streaming thread follows them: each with what its caps said and what it last brought.
struct DepthMatteInputs: ~Copyable {
    /// A followed pad and the meaning of its buffers; nil format until caps came.
    struct Input<Format>: ~Copyable {
        var followed: FollowedInput
        var format: Format?
    }

    private(set) var depth: Input<DepthFormat>?
    private(set) var face: Input<GstVideoInfo>?
    private(set) var background: Input<GstVideoInfo>?

    private var foundFaces = Faces()
    /// What the depth caps said; nil until they came.
    var depthFormat: DepthFormat? {
        switch depth {
        case .some(let depth): depth.format
        case .none: nil
        }
    }
    var hasDepth: Bool { depth != nil }
    var hasBackground: Bool { background != nil }
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
    private func picture(_ input: borrowing Input<GstVideoInfo>?) -> (buffer: BufferPointer, info: GstVideoInfo)? {
        switch input {
        case .some(let input):
            guard let info = input.format, let choice = input.followed.currentChoice else { return nil }
            return (choice.buffer, info)
        case .none: return nil
        }
    }

    /// Notes pads that came or went since the last frame.
    mutating func refresh(_ element: any Aggregator) {
        DepthMatteInputs.refresh(&depth, .depth, element)
        DepthMatteInputs.refresh(&face, .face, element)
        DepthMatteInputs.refresh(&background, .background, element)
        if !hasBackground { lastBackground = nil }
    }

    /// New caps on a pad: what came before them means something else.
    mutating func setDepthFormat(_ format: DepthFormat, _ element: any Aggregator) {
        refresh(element)
        if depth?.format == format { return }
        depth?.format = format
        depth?.followed.reset()
    }

    mutating func setPictureInfo(_ info: GstVideoInfo, _ role: DepthMatte.PadRole, _ element: any Aggregator) {
        refresh(element)
        switch role {
        case .face:
            face?.format = info
            face?.followed.reset()
        case .background:
            background?.format = info
            background?.followed.reset()
            lastBackground = nil
        case .video, .depth: break
        }
    }

    /// Brings every input up to the video frame.
    ///
    /// - Parameter mayWait: see `FollowedInput.advance`. Faces and backgrounds of a live pipeline are taken as they are.
    mutating func advance(
        in element: any Aggregator, to time: RunningTime?, frame: UInt64, mayWait: Bool, isLive: Bool
    ) throws(FlowStop) {
        let mayWaitForPictures = mayWait && !isLive
        // A pad may have come since GstAggregator looked. Until it brings something nothing may be taken off the others:
        // GstAggregator would wait for them again, although this frame needs no more of them.
        if mayWait && depth?.followed.isEmpty(in: element, at: time, frame: frame) == true { throw .needData }
        if mayWaitForPictures
            && (face?.followed.isEmpty(in: element, at: time, frame: frame) == true
                || background?.followed.isEmpty(in: element, at: time, frame: frame) == true)
        {
            throw .needData
        }
        try depth?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWait)
        try face?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWaitForPictures)
        try background?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWaitForPictures)
    }

    /// A flush: what was taken is over.
    mutating func reset() {
        depth?.followed.reset()
        face?.followed.reset()
        background?.followed.reset()
        lastBackground = nil
    }

    /// The boxes on the video buffer and on the face pad's, in video pixels.
    mutating func faces(on video: BufferPointer, width: Int, height: Int, types: String) -> [Box] {
        foundFaces.begin(types: types)
        foundFaces.add(on: video)
        if let (buffer, info) = picture(face) {
            foundFaces.add(
                on: buffer, scaleX: Double(width) / Double(info.width), scaleY: Double(height) / Double(info.height))
        }
        return foundFaces.boxes
    }

    private static func refresh<Format>(
        _ input: inout Input<Format>?, _ role: DepthMatte.PadRole, _ element: any Aggregator
    ) {
        guard let pad = element.sinkPad(role.name) else {
            input = nil
            return
        }
        if input?.followed.pad == pad.pad { return }
        input = Input(followed: FollowedInput(pad, holdsThroughGaps: role == .background), format: nil)
    }
}
