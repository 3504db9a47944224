import DepthKernels
import GstBridge

/// `background-mode=comic`: the video, drawn as a comic.
final class ComicBackdrop: EffectBackdrop {
    static let nick = "comic"
    static let blurb = "The video itself, drawn as a comic"

    private let comic = ComicEffect()
    private var canvases = Canvases()

    func picture(_ scene: EffectScene) throws(FrameFault) -> BufferRef {
        let format = scene.format
        let canvas = try canvases.canvas(0, format)
        let isDone = try withFrame(reading: scene.video, format.layout) { source throws(FrameFault) in
            try withFrame(changing: canvas.pointer, format.layout) { target in
                comic.draw(
                    source, into: target, layout: format.format.layout, width: format.width, height: format.height,
                    bytes: format.format.byteRoles, grays: format.grays)
            }
        }
        guard isDone else { throw undrawnCanvas }
        return canvas
    }
}
