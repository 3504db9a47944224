import CGStreamer
import DepthKernels
import GstBridge

/// The room behind the person, changed: a background that is made of the video itself.
///
/// Streaming thread only.
final class RoomPicture {
    private let blur = RoomBlur()
    private let comic = ComicEffect()
    /// The last picture, and the format it is in.
    private var made: (format: StreamFormat, frame: BufferRef)?

    enum Effect {
        /// By this many pixels of standard deviation, for a picture of 720 lines.
        case blur(Double)
        case comic
    }

    /// Changes one frame of the video.
    ///
    /// - parameter matte: who is left out of the blur; nil where nobody is known: then all of the picture is blurred, and
    ///   nothing in it, the person included, is shown sharper than that.
    /// - returns: a picture that is good until the next call.
    func picture(
        of video: BufferPointer, _ effect: Effect, matte: Matte?, format: StreamFormat
    ) throws(FrameFault) -> BufferRef {
        let frame = try frame(format)
        let isDone = try withFrame(reading: video, format.layout) { source throws(FrameFault) in
            try withFrame(changing: frame.pointer, format.layout) { target in
                let layout = format.format.layout
                switch effect {
                case .blur(let sigma):
                    return blur.blur(
                        source, into: target, layout: layout, width: format.width, height: format.height,
                        alpha: matte?.plane(over: VideoPicture(planes: source, layout: layout)),
                        sigma: sigma * Double(format.height) / 720)
                case .comic:
                    return comic.draw(
                        source, into: target, layout: layout, width: format.width, height: format.height,
                        bytes: format.format.matteBytes, greys: format.greys)
                }
            }
        }
        // Nothing drawn would be an older picture shown.
        if !isDone { throw .contradiction("the planes of the room are not those of the format") }
        return frame
    }

    func reset() { made = nil }

    private func frame(_ format: StreamFormat) throws(FrameFault) -> BufferRef {
        if let made, made.format.isSame(as: format) { return made.frame }
        let frame = try newSharedBuffer(size: format.layout.size)
        made = (format, frame)
        return frame
    }
}
