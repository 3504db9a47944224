import GstBridge

/// `background-mode=stream`: the video of the `background` pad.
final class StreamBackdrop: BackdropMode {
    static let nick = "stream"
    static let blurb = "The video of the background pad"

    private let fitter = PictureFitter()

    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? {
        guard let picture = request.padPicture else {
            fitter.reset()
            return nil
        }
        return .picture(try fitter.moving(picture, request))
    }

    static func complaint(_ settings: DepthMatteSettings, hasPad: Bool) -> String? {
        guard !hasPad else { return nil }
        return "background-mode=stream shows the background pad, which is not linked."
    }
}
