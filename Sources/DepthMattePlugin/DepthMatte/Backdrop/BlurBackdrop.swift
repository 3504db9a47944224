import DepthKernels
import GstBridge

/// `background-mode=blur`: the video, blurred without the person in it.
///
/// `background-blur` is the standard deviation in pixels of a picture of 720 lines. With `background-blur-depth` the blur
/// grows with the distance behind the person: three pictures, blurred more and more, are blended by distance.
final class BlurBackdrop: EffectBackdrop {
    static let nick = "blur"
    static let blurb = "The video itself without the person, blurred by background-blur"

    private let blur = RoomBlur()
    private let distance = RoomDistance()
    private var canvases = Canvases()
    private var blender: (format: StreamFormat, blender: Blender)?

    func picture(_ scene: EffectScene) throws(FrameFault) -> BufferRef {
        let (sigma, growth) = (scene.settings.backgroundBlur, scene.settings.backgroundBlurDepth)
        if growth > 0, let matte = scene.matte, let depth = scene.depth {
            return try layered(scene, sigma: sigma, growth: growth, matte, depth)
        }
        // Without depth everything counts as infinitely far away. Without a matte the person, if any, is blurred as well.
        let canvas = try canvases.canvas(0, scene.format)
        let isDone = try withFrame(reading: scene.video, scene.format.layout) { source throws(FrameFault) in
            try draw(source, on: canvas, scene.format, alpha: scene.matte?.alpha, sigma: sigma + growth)
        }
        guard isDone else { throw undrawnCanvas }
        return canvas
    }

    private func layered(
        _ scene: EffectScene, sigma: Double, growth: Double, _ matte: FinishedMatte,
        _ depth: (frame: DepthFrame, focus: RoomDistance.Focus)
    ) throws(FrameFault) -> BufferRef {
        let format = scene.format
        let near = try canvases.canvas(0, format)
        let (middle, far) = (try canvases.canvas(1, format), try canvases.canvas(2, format))
        let isDone = try withFrame(reading: scene.video, format.layout) { source throws(FrameFault) in
            let alpha = matte.alpha
            let layers = try depth.frame.withImage { image in
                distance.layers(
                    of: image, scale: depth.frame.reading.scale,
                    depth.frame.placement(videoWidth: format.width, videoHeight: format.height), focus: depth.focus,
                    alpha: alpha)
            }
            guard let layers else { return false }
            guard try draw(source, on: near, format, alpha: alpha, sigma: sigma) else { return false }
            guard try draw(source, on: middle, format, alpha: alpha, sigma: sigma + growth / 2) else { return false }
            guard try draw(source, on: far, format, alpha: alpha, sigma: sigma + growth) else { return false }
            guard try blend(middle, over: near, format, opacity: layers.first) else { return false }
            return try blend(far, over: near, format, opacity: layers.second)
        }
        guard isDone else { throw undrawnCanvas }
        return near
    }

    private func draw(
        _ source: Planes<Plane>, on canvas: BufferRef, _ format: StreamFormat, alpha: Plane?, sigma: Double
    ) throws(FrameFault) -> Bool {
        try withFrame(changing: canvas.pointer, format.layout) { target in
            blur.blur(
                source, into: target, layout: format.format.layout, width: format.width, height: format.height,
                alpha: alpha, sigma: sigma * Double(format.height) / 720)
        }
    }

    private func blend(
        _ layer: BufferRef, over canvas: BufferRef, _ format: StreamFormat, opacity: Plane
    ) throws(FrameFault) -> Bool {
        let blender = blender(format)
        return try withFrame(changing: canvas.pointer, format.layout) { target throws(FrameFault) in
            try withFrame(reading: layer.pointer, format.layout) { layer in
                blender.blend(video: target, background: layer, alpha: opacity)
            }
        }
    }

    private func blender(_ format: StreamFormat) -> Blender {
        if let blender, blender.format.isSame(as: format) { return blender.blender }
        let made = Blender(layout: format.format.layout, width: format.width, height: format.height)
        blender = (format, made)
        return made
    }
}
