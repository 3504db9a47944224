import CGStreamer
import DepthKernels
import GstBridge

/// The room behind the person, changed: a background that is made of the video itself.
///
/// Streaming thread only.
final class RoomPicture {
    private let blur = RoomBlur()
    private let comic = ComicEffect()
    private let distance = RoomDistance()
    /// What pictures are made in.
    private var made: Canvases?

    enum Effect {
        /// By `sigma` pixels of standard deviation, for a picture of 720 lines, and up to `depth` more behind the person.
        case blur(sigma: Double, depth: Double)
        case comic
    }

    /// The frame's depth map, and the distance of the person.
    struct Depth {
        let frame: DepthFrame
        let focus: RoomDistance.Focus
    }

    private struct Canvases {
        let format: StreamFormat
        let frame: BufferRef
        let blender: Blender
        /// The same, blurred more. Made when they are first asked for.
        var layers: [BufferRef] = []
    }

    /// Changes one frame of the video.
    ///
    /// - parameter matte: who is left out of the blur; nil where nobody is known: then all of the picture is blurred, and
    ///   nothing in it, the person included, is shown sharper than that.
    /// - parameter depth: nil where there is none; then everything is as far away as can be.
    /// - returns: a picture that is good until the next call.
    func picture(
        of video: BufferPointer, _ effect: Effect, matte: Matte?, depth: Depth?, format: StreamFormat
    ) throws(FrameFault) -> BufferRef {
        let frame = try canvases(format).frame
        if case .blur(let sigma, let growth) = effect, growth > 0, let matte, let depth {
            try blur(video, sigma: sigma, growth: growth, matte, depth, format)
            return frame
        }
        let isDone = try withFrame(reading: video, format.layout) { source throws(FrameFault) in
            try withFrame(changing: frame.pointer, format.layout) { target in
                let layout = format.format.layout
                switch effect {
                case .blur(let sigma, let growth):
                    return blur.blur(
                        source, into: target, layout: layout, width: format.width, height: format.height,
                        alpha: matte?.plane(),
                        sigma: (sigma + growth) * Double(format.height) / 720)
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

    /// Blurs the room the more, the farther it is from the person: three pictures over one another.
    private func blur(
        _ video: BufferPointer, sigma: Double, growth: Double, _ matte: Matte, _ depth: Depth, _ format: StreamFormat
    ) throws(FrameFault) {
        let layout = format.format.layout
        let canvases = try canvases(format, layers: 2)
        let isDone = try withFrame(reading: video, format.layout) { source throws(FrameFault) in
            let alpha = matte.plane()
            let layers = try depth.frame.withImage { image in
                distance.layers(
                    of: image, scale: depth.frame.reading.scale,
                    depth.frame.placement(videoWidth: format.width, videoHeight: format.height), focus: depth.focus,
                    alpha: alpha)
            }
            guard let layers else { return false }
            func fill(_ canvas: BufferRef, sigma: Double) throws(FrameFault) -> Bool {
                try withFrame(changing: canvas.pointer, format.layout) { target in
                    blur.blur(
                        source, into: target, layout: layout, width: format.width, height: format.height, alpha: alpha,
                        sigma: sigma * Double(format.height) / 720)
                }
            }
            func lay(_ opacity: Plane, over layer: BufferRef) throws(FrameFault) -> Bool {
                try withFrame(changing: canvases.frame.pointer, format.layout) { target throws(FrameFault) in
                    try withFrame(reading: layer.pointer, format.layout) { layer in
                        canvases.blender.blend(video: target, background: layer, alpha: opacity)
                    }
                }
            }
            let (second, third) = (canvases.layers[0], canvases.layers[1])
            guard try fill(canvases.frame, sigma: sigma) else { return false }
            guard try fill(second, sigma: sigma + growth / 2) else { return false }
            guard try fill(third, sigma: sigma + growth) else { return false }
            guard try lay(layers.first, over: second) else { return false }
            return try lay(layers.second, over: third)
        }
        if !isDone { throw .contradiction("the planes of the room are not those of the format") }
    }

    private func canvases(_ format: StreamFormat, layers: Int = 0) throws(FrameFault) -> Canvases {
        var canvases =
            if let made, made.format.isSame(as: format) { made } else {
                Canvases(
                    format: format, frame: try newSharedBuffer(size: format.layout.size),
                    blender: Blender(layout: format.format.layout, width: format.width, height: format.height))
            }
        while canvases.layers.count < layers { canvases.layers.append(try newSharedBuffer(size: format.layout.size)) }
        made = canvases
        return canvases
    }
}
