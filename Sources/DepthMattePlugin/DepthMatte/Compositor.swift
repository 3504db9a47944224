import CGStreamer
import DepthKernels
import GstBridge

/// Turns a video buffer and its matte into the output buffer, for one pair of formats.
///
/// Made when caps are negotiated. Streaming thread only.
final class Compositor {
    let input: StreamFormat
    /// The input's format, or its variant with an alpha channel.
    let output: StreamFormat
    let hasStraightAlpha: Bool
    /// Allocates the frames that cannot be drawn in place.
    let frames: OutputFrames
    /// Made when first needed.
    private(set) lazy var depthView = DepthView(output)
    private(set) lazy var quadView = QuadView(output)
    let flattener = Flattener()
    private let blender: Blender
    /// A matte without a person, one byte a pixel; nil before the first frame that needs it.
    private var emptyMatte: BufferRef?
    private var cachedOverlayColors: OverlayColors?
    private var cachedMatteMeta: MatteMeta?

    init(_ input: StreamFormat, transparent: Bool) {
        let sibling = transparent ? input.withAlpha : nil
        let output = sibling ?? input
        self.input = input
        self.output = output
        frames = OutputFrames(output.layout)
        hasStraightAlpha = sibling != nil
        blender = Blender(layout: output.format.layout, colors: output.colors, width: input.width, height: input.height)
    }

    /// Makes a video frame writable, in the output's layout, without old data around the picture. The frame is used in place
    /// if nothing else references it, else copied.
    func makeCanvas(of frame: inout OwnedBuffer) throws(FrameFault) {
        let isWidened = output.format.format != input.format.format
        if !isWidened, frame.pointer.isExclusive, frames.areReadable(frame.pointer),
            try clearAround(frame.pointer)
        {
            return
        }
        let canvas = try newCanvas(for: frame.pointer)
        try withFrame(reading: frame.pointer, input.layout) { source throws(FrameFault) in
            try withFrame(changing: canvas.pointer, output.layout) { target in
                copy(source, to: target)
                output.layout.clearSpareLuma(target)
                if isWidened { makeOpaque(target) }
            }
        }
        frame = canvas
    }

    /// Zeroes the memory around a writable frame's picture.
    ///
    /// - Returns: false, and nothing is zeroed, if there is more of it than of the picture: a copy takes less time then.
    private func clearAround(_ frame: BufferPointer) throws(FrameFault) -> Bool {
        if input.layout.fillsAll(of: frame) { return true }
        let around = Int(clamping: gst_buffer_get_size(frame)) &- input.layout.pictureSize
        if around > input.layout.pictureSize { return false }
        return try input.layout.clearAround(frame)
    }

    /// Replaces a video frame by a new canvas.
    ///
    /// - Throws: for a faulty frame, although its pixels are not needed, so that a fault shows in every view.
    func makeNewCanvas(of frame: inout OwnedBuffer) throws(FrameFault) {
        try withFrame(reading: frame.pointer, input.layout) { _ in }
        frame = try newCanvas(for: frame.pointer)
    }

    /// Returns a canvas with the video's timestamps, all of which is to be drawn.
    func newCanvas(for video: BufferPointer) throws(FrameFault) -> OwnedBuffer {
        try frames.undrawn(stampedLike: video)
    }

    /// Blends the person on the canvas over the background; without a matte there is no person.
    func composite(
        _ canvas: BufferPointer, matte: FinishedMatte?, background: BufferRef, edge: EdgeSettings
    ) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { video throws(FrameFault) in
            try withFrame(reading: background.pointer, output.layout) { background throws(FrameFault) in
                let isDrawn =
                    if hasStraightAlpha {
                        try withAlpha(matte) { alpha in
                            if let matte { blender.changeEdge(of: video, matte: matte, edge) }
                            return cutOut(video, alpha: alpha, hidden: background)
                        }
                    } else if let matte {
                        blender.blend(
                            video: video, background: background, matte: matte, edge: edge,
                            own: output.format.alphaChannel)
                    } else {
                        blender.cover(video: video, background: background)
                    }
                // An undrawn canvas still shows the real background.
                if !isDrawn { throw .contradiction("video and background have other planes than their format") }
            }
        }
    }

    /// Draws the matte; without one there is no person.
    func drawMatte(_ canvas: BufferPointer, matte: FinishedMatte?) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { canvas throws(FrameFault) in
            let isDrawn = try withAlpha(matte) { alpha in
                DepthKernels.drawMatte(
                    alpha: alpha, into: canvas, width: output.width, height: output.height,
                    layout: output.format.layout, bytes: output.format.byteRoles, grays: output.grays)
            }
            if !isDrawn { throw .contradiction("the planes that a matte is drawn on are not those of the format") }
        }
    }

    /// Writes a distance beside a position of the picture, in pixels.
    func write(_ metres: Double?, at place: Gesture.Place, on canvas: BufferPointer) throws(FrameFault) {
        try overlayColors().write(metres, at: place, on: canvas, output)
    }

    /// Made when first needed.
    func overlayColors() throws(FrameFault) -> OverlayColors {
        if let cachedOverlayColors { return cachedOverlayColors }
        let made = try OverlayColors(output)
        cachedOverlayColors = made
        return made
    }

    /// Made when first needed.
    func matteMeta() throws(FrameFault) -> MatteMeta {
        if let cachedMatteMeta { return cachedMatteMeta }
        let made = try MatteMeta(width: output.width, height: output.height)
        cachedMatteMeta = made
        return made
    }

    // MARK: Straight alpha

    /// Makes everything but the person transparent. Fully transparent pixels get the background's color, so that an
    /// encoder that drops alpha does not show the real background.
    private func cutOut(_ video: Planes<MutablePlane>, alpha: Plane, hidden: Planes<Plane>) -> Bool {
        if let alphaByte = output.format.alphaByte, let pixels = video[0], let color = hidden[0] {
            return writeStraightAlpha(
                pixels: pixels, width: output.width, height: output.height, alpha: alpha, alphaByteIndex: alphaByte,
                hidden: color.firstPixel)
        } else if let y = hidden[0], let u = hidden[1], let v = hidden[2] {
            return writeStraightAlpha(
                a420: video, width: output.width, height: output.height, alpha: alpha,
                hidden: (y.firstByte, u.firstByte, v.firstByte))
        }
        return false
    }

    /// Sets alpha to opaque on a canvas whose video had no alpha.
    private func makeOpaque(_ canvas: Planes<MutablePlane>) {
        if let alphaByte = output.format.alphaByte, let pixels = canvas[0] {
            DepthKernels.makeOpaque(pixels, alphaByteIndex: alphaByte)
        } else if let opacity = canvas[3] {
            fill(opacity, with: 255)
        }
    }

    /// Calls `body` with one byte of alpha for each pixel; all are 0 without a matte.
    private func withAlpha(_ matte: FinishedMatte?, _ body: (Plane) -> Bool) throws(FrameFault) -> Bool {
        if let matte { return body(matte.alpha) }
        let layout = FrameLayout(width: input.width, height: input.height, bytesPerSample: 1)
        let empty = if let emptyMatte { emptyMatte } else { try newSharedBuffer(size: layout.size) }
        emptyMatte = empty
        return try withFrame(reading: empty.pointer, layout) { planes throws(FrameFault) in body(try planes.first()) }
    }
}
