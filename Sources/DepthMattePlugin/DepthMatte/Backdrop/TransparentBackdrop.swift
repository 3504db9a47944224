import GstBridge

/// `background-mode=transparent`: nothing behind the person; the output carries the matte as straight alpha.
///
/// The hidden pixels have the RGB of `background-color`, in case something downstream drops the alpha channel. Where
/// downstream accepts no format with alpha, the color is shown.
final class TransparentBackdrop: BackdropMode {
    static let nick = "transparent"
    static let blurb = "Nothing: the output has a straight alpha channel"
    static let wantsAlpha = true

    private let frames = ColorFrames()

    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? {
        let color = request.settings.backgroundColor
        return .picture(try frames.frame(request.format, argb: request.hasAlpha ? color & 0x00ff_ffff : color))
    }
}
