import CGStreamer
import DepthKernels
import GstBridge

/// The request pads as the streaming thread follows them: each with what its caps said and what it last brought.
struct DepthMatteInputs {
    /// A followed pad and the meaning of its buffers; nil format until caps came.
    struct Input<Format> {
        var followed: FollowedInput
        var format: Format?
    }

    private(set) var depth: Input<DepthFormat>?
    private(set) var face: Input<GstVideoInfo>?
    private(set) var background: Input<GstVideoInfo>?

    /// The buffer on the face pad that holds now, with the boxes on it.
    private var facePicture: (buffer: BufferRef, info: GstVideoInfo)? {
        guard let face, let info = face.format, let buffer = face.followed.current?.buffer else { return nil }
        return (buffer, info)
    }

    /// The picture that the background pad shows now.
    var backgroundPicture: (buffer: BufferRef, info: GstVideoInfo)? {
        guard let background, let info = background.format, let buffer = background.followed.current?.buffer else {
            return nil
        }
        return (buffer, info)
    }

    /// Notes pads that came or went since the last frame.
    mutating func refresh(_ element: any Aggregator) {
        refresh(&depth, .depth, element)
        refresh(&face, .face, element)
        refresh(&background, .background, element)
    }

    /// New caps on a pad: what came before them means something else.
    mutating func setDepthFormat(_ format: DepthFormat, _ element: any Aggregator) {
        refresh(element)
        guard depth?.format != format else { return }
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
        case .video, .depth: break
        }
    }

    /// Brings every input up to the video frame.
    ///
    /// - Parameter mayWait: see `FollowedInput.advance`. Faces and backgrounds of a live pipeline are taken as they are.
    mutating func advance(
        in element: any Aggregator, to time: RunningTime?, frame: UInt64, mayWait: Bool, isLive: Bool
    ) throws(FlowStop) {
        try depth?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWait)
        try face?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWait && !isLive)
        try background?.followed.advance(in: element, to: time, frame: frame, mayWait: mayWait && !isLive)
    }

    /// A flush: what was taken is over.
    mutating func reset() {
        depth?.followed.reset()
        face?.followed.reset()
        background?.followed.reset()
    }

    /// The boxes on the video buffer and on the face pad's, in video pixels.
    func faces(on video: BufferRef, width: Int, height: Int, types: String) -> [Box] {
        var boxes = Faces.boxes(on: video.pointer, types: types)
        if let (buffer, info) = facePicture {
            boxes += Faces.boxes(
                on: buffer.pointer, types: types, scaleX: Double(width) / Double(info.width),
                scaleY: Double(height) / Double(info.height))
        }
        return boxes
    }

    private func refresh<Format>(
        _ input: inout Input<Format>?, _ role: DepthMatte.PadRole, _ element: any Aggregator
    ) {
        let pad = PadRef(role.rawValue, of: element)
        guard pad?.pad != input?.followed.pad else { return }
        input = pad.map { Input(followed: FollowedInput($0, holdsThroughGaps: role == .background), format: nil) }
    }
}
