import CGStreamer
import DepthKernels
import GstBridge

/// Draws depth buffers in colors, over the video where there is one, in one output format.
///
/// Made when caps are negotiated. Streaming thread only.
final class ColorPainter {
    let output: StreamFormat
    let frames: OutputFrames
    private let overlay = ColorOverlay()
    private let order: PixelOrder
    private let bytesPerPixel: Int
    /// Made when first needed.
    private var overlayColors: OverlayColors?
    /// From the video's format and size to the output's.
    private var converter: (source: GstVideoInfo, converter: PictureConverter)?

    /// Returns nil for a format that is not packed RGB.
    init?(_ output: StreamFormat) {
        let description = output.info.finfo.pointee
        let (red, green, blue) = (description.poffset.0, description.poffset.1, description.poffset.2)
        guard output.format.family == .rgb,
            let order = PixelOrder(
                red: Int(red), green: Int(green), blue: Int(blue), alpha: 6 - Int(red) - Int(green) - Int(blue))
        else { return nil }
        self.output = output
        self.order = order
        bytesPerPixel = Int(description.pixel_stride.0)
        frames = OutputFrames(output.layout)
    }

    /// Fills a canvas with the video's picture.
    func draw(_ video: BufferPointer, _ info: GstVideoInfo, on canvas: BufferPointer) throws(FrameFault) {
        let isOurs = info.finfo.pointee.format == output.format.format
        if isOurs && Int(info.width) == output.width && Int(info.height) == output.height {
            return try withFrame(reading: video, output.layout) { source throws(FrameFault) in
                try withFrame(changing: canvas, output.layout) { copy(source, to: $0) }
            }
        }
        try converter(from: info).convert(video, into: canvas)
    }

    private func converter(from info: GstVideoInfo) throws(FrameFault) -> PictureConverter {
        if let converter, isSame(converter.source, info) { return converter.converter }
        let made = try PictureConverter(info, to: output.info)
        converter = (info, made)
        return made
    }

    /// Draws the colors of a depth map.
    ///
    /// - Parameter mix: opacity of the colors over the canvas's content; nil to replace it.
    func draw(
        _ map: DepthFrame, _ settings: DepthColorizeSettings, mix: Double?, on canvas: BufferPointer
    ) throws(FrameFault) {
        try map.withImage { image throws(FrameFault) in
            try withTarget(canvas, mix: mix) { target in
                overlay.draw(
                    image, scale: map.reading.scale, range: settings.colorRange, colors: colors(settings),
                    placement: map.placement(videoWidth: output.width, videoHeight: output.height), on: target)
            }
        }
    }

    /// Writes a distance beside a position in the picture.
    func write(_ metres: Double?, at place: Gesture.Place, on canvas: BufferPointer) throws(FrameFault) {
        if overlayColors == nil { overlayColors = try OverlayColors(output) }
        try overlayColors?.write(metres, at: place, on: canvas, output)
    }

    /// Draws a depth map without measured samples.
    func drawNothing(_ settings: DepthColorizeSettings, mix: Double?, on canvas: BufferPointer) throws(FrameFault) {
        try withTarget(canvas, mix: mix) { overlay.drawNothing(colors: colors(settings), on: $0) }
    }

    private func withTarget(
        _ canvas: BufferPointer, mix: Double?, _ body: (ColorOverlay.Target) -> Void
    ) throws(FrameFault) {
        try withFrame(changing: canvas, output.layout) { planes throws(FrameFault) in
            guard
                let target = ColorOverlay.Target(
                    plane: try planes.first(), width: output.width, height: output.height,
                    bytesPerPixel: bytesPerPixel, mix: mix)
            else { throw .contradiction("the picture is smaller than its format") }
            body(target)
        }
    }

    private func colors(_ settings: DepthColorizeSettings) -> DepthColors {
        DepthColors(palette: settings.palette, order: order, unmeasuredAlpha: output.format.alphaByte == nil ? 255 : 0)
    }
}
