import CGStreamer
import DepthKernels
import GstBridge

/// The view `depth`: the depth map in colors, on pictures of one format.
///
/// Streaming thread only.
final class DepthView {
    /// The range of the histogram in metres, so that each millimetre of a 16-bit map has a bin.
    private static let farthest = 65.536

    private let format: StreamFormat
    private let colorMap = DepthColorMap()
    private var overlay = DepthOverlay()
    private var samples = RGBAPicture()
    private var canvas = RGBAPicture()
    /// Converts the canvas to the output's format, into an area of the picture.
    private var converter: (area: Rectangle<Int>, converter: PictureConverter)?

    init(_ format: StreamFormat) { self.format = format }

    /// Draws into an area of a picture; without depth the area becomes black.
    func draw(_ depth: DepthFrame?, on picture: BufferPointer, area: Rectangle<Int>) throws(FrameFault) {
        let canvas = try canvas.sized(area.width, area.height)
        try withFrame(changing: canvas.pointer, self.canvas.layout) { planes throws(FrameFault) in
            let plane = try planes.first()
            fill(plane, with: SIMD4(0, 0, 0, 255))
            if let depth { try paint(depth, on: plane, area: area) }
        }
        try converter(to: area).convert(canvas.pointer, into: picture)
    }

    private func paint(_ depth: DepthFrame, on plane: MutablePlane, area: Rectangle<Int>) throws(FrameFault) {
        let samples = try samples.sized(depth.format.layout.width, depth.format.layout.height)
        try withFrame(changing: samples.pointer, self.samples.layout) { planes throws(FrameFault) in
            let pixels = try planes.first()
            try depth.withImage { image in
                colorMap.paint(
                    image, scale: depth.reading.scale, range: .equalize(max: DepthView.farthest),
                    colors: DepthColors(), into: pixels)
            }
            overlay.draw(
                pixels.readOnly, placement: depth.placement(videoWidth: format.width, videoHeight: format.height),
                into: plane, width: area.width, height: area.height, outside: SIMD4(0, 0, 0, 255))
        }
    }

    private func converter(to area: Rectangle<Int>) throws(FrameFault) -> PictureConverter {
        if let converter, converter.area == area { return converter.converter }
        let made = try PictureConverter(canvas.info, to: format.info, into: area)
        converter = (area, made)
        return made
    }
}

/// An RGBA picture, allocated again only when its size changes.
struct RGBAPicture {
    private(set) var info = GstVideoInfo()
    private(set) var layout = FrameLayout(width: 0, height: 0, bytesPerSample: 4)
    private var buffer: BufferRef?

    mutating func sized(_ width: Int, _ height: Int) throws(FrameFault) -> BufferRef {
        if let buffer, layout.width == width, layout.height == height { return buffer }
        let info = try GstVideoInfo.of(GST_VIDEO_FORMAT_RGBA, width: width, height: height)
        let fresh = try newSharedBuffer(size: Int(clamping: info.size))
        self.info = info
        layout = FrameLayout(info)
        buffer = fresh
        return fresh
    }
}
