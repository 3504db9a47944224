import DepthAggregator
import GstBridge

/// `background-mode=image`: the file that the property `background` names, still or moving.
final class ImageBackdrop: BackdropMode {
    static let nick = "image"
    static let blurb = "The still picture, animation or video file of property background"

    private let fitter = PictureFitter()

    func backdrop(_ request: BackdropRequest) throws(FrameFault) -> Backdrop? {
        guard let reader = request.file.reader else {
            fitter.reset()
            return nil
        }
        if let fault = reader.takeFault() { request.element.warn(fault) }
        if let still = reader.still { return .picture(try fitter.still(still, request)) }
        let picture = reader.picture(at: request.moment.time ?? 0, block: !request.moment.isLive)
        return .picture(try fitter.moving(picture, request))
    }

    static func complaint(_ settings: DepthMatteSettings, hasPad: Bool) -> String? {
        guard settings.background == nil else { return nil }
        return "background-mode=image shows the file of property background, which is not set."
    }
}
