import GstBridge

/// `background-mode=auto`: the background pad, else the file, else the color.
final class AutoBackdrop: BackdropMode {
    static let nick = "auto"
    static let blurb = "The background pad if it is linked, else the file of property background, else background-color"

    private let image = ImageBackdrop()
    private let stream = StreamBackdrop()

    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? {
        request.hasPad ? try stream.backdrop(request) : try image.backdrop(request)
    }
}
