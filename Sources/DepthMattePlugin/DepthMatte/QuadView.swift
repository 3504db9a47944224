import CGStreamer
import DepthKernels
import GstBridge

/// The view `quad`: four pictures in one, to see why a matte is as it is.
///
///     original, with the face and the anchor   |   depth, with its histogram and the cutoff
///     matte                                    |   composite
///
/// Over the original stand depth's lag in milliseconds and its offset in pixels, where they are known.
///
/// The histogram counts depth samples by distance in 64 bars, from 0 m at the left to `DepthBars.limit` at the right, a power
/// of two in metres. Its red line is the cutoff, with the distance in centimetres.
///
/// A picture of fewer than four pixels along an axis shows the composite alone. Streaming thread only.
final class QuadView {
    /// The marks drawn over the original and the depth.
    struct Marks {
        /// Video pixels; nil where no face sets the cutoff.
        var face: Rectangle<Double>?
        var anchor: (x: Double, y: Double)?
        /// Metres; nil where there is no cutoff.
        var cutoff: Double?
        /// Written over the original where it is known.
        var sync = SyncReport()
    }

    private let format: StreamFormat
    private let depthView: DepthView
    /// A frame to draw the quarters on at full size.
    private var spare: BufferRef?

    init(_ format: StreamFormat) {
        self.format = format
        depthView = DepthView(format)
    }

    /// The areas of the four pictures.
    struct Quarters {
        let original: Rectangle<Int>
        let depth: Rectangle<Int>
        let matte: Rectangle<Int>
        let composite: Rectangle<Int>

        /// Returns nil for pictures that are too small to be divided.
        init?(width: Int, height: Int) {
            guard width >= 4, height >= 4 else { return nil }
            // Even, so that no chroma sample belongs to two quarters.
            let (left, top) = (width / 2 & ~1, height / 2 & ~1)
            original = Rectangle(x: 0, y: 0, width: left, height: top)
            depth = Rectangle(x: left, y: 0, width: width - left, height: top)
            matte = Rectangle(x: 0, y: top, width: left, height: height - top)
            composite = Rectangle(x: left, y: top, width: width - left, height: height - top)
        }

        /// Returns the quarter that a position is in.
        func area(at place: Gesture.Place) -> Rectangle<Int> {
            let isRight = place.x >= Double(depth.x)
            let isLow = place.y >= Double(matte.y)
            if isLow { return isRight ? composite : matte }
            return isRight ? depth : original
        }
    }

    /// Converts a position in the quad to one in the video, all of which every quarter shows.
    static func videoPlace(_ place: Gesture.Place, width: Int, height: Int) -> Gesture.Place {
        guard let area = Quarters(width: width, height: height)?.area(at: place) else { return place }
        return Gesture.Place(
            x: (place.x - Double(area.x)) * Double(width) / Double(area.width),
            y: (place.y - Double(area.y)) * Double(height) / Double(area.height))
    }

    /// Draws the quad on `target`. `video` is not changed.
    ///
    /// - Parameter composite: draws the composite on a copy of the video.
    func draw(
        on target: BufferPointer, video: BufferPointer, depth: DepthFrame?, matte: FinishedMatte?,
        compositor: Compositor, marks: Marks, composite: (BufferPointer) throws(FrameFault) -> Void
    ) throws(FrameFault) {
        let spare = try spareFrame()
        try copyFrame(video, to: spare.pointer)
        try composite(spare.pointer)
        guard let quarters = Quarters(width: format.width, height: format.height) else {
            return try copyFrame(spare.pointer, to: target)
        }
        try shrink(spare.pointer, into: target, quarters.composite)
        try compositor.drawMatte(spare.pointer, matte: matte)
        try shrink(spare.pointer, into: target, quarters.matte)
        try depthView.draw(depth, on: target, area: quarters.depth)
        try shrink(video, into: target, quarters.original)
        try draw(marks, depth, on: target, quarters, compositor.overlayColors())
    }

    private func spareFrame() throws(FrameFault) -> BufferRef {
        if let spare { return spare }
        let made = try newSharedBuffer(size: format.layout.size)
        spare = made
        return made
    }

    private func copyFrame(_ source: BufferPointer, to target: BufferPointer) throws(FrameFault) {
        try withFrame(reading: source, format.layout) { source throws(FrameFault) in
            try withFrame(changing: target, format.layout) { target in copy(source, to: target) }
        }
    }

    private func shrink(_ source: BufferPointer, into target: BufferPointer, _ area: Rectangle<Int>) throws(FrameFault)
    {
        try withFrame(reading: source, format.layout) { source throws(FrameFault) in
            try withFrame(changing: target, format.layout) { target throws(FrameFault) in
                let isDrawn = DepthKernels.downscale(
                    source, into: target, layout: format.format.layout, width: format.width, height: format.height,
                    area: area)
                if !isDrawn { throw .contradiction("the planes of a quarter are not those of the format") }
            }
        }
    }

    // MARK: Marks

    private func draw(
        _ marks: Marks, _ depth: DepthFrame?, on target: BufferPointer, _ quarters: Quarters, _ colors: OverlayColors
    ) throws(FrameFault) {
        let bars = try depth?.withImage { image in
            DepthBars(of: image, scale: depth?.reading.scale ?? DepthScale(), showing: marks.cutoff ?? 1)
        }
        try withFrame(changing: target, format.layout) { planes throws(FrameFault) in
            let painter = try painter(planes, format)
            draw(marks, by: painter, on: quarters.original, colors)
            draw(marks.sync, by: painter, on: quarters.original, colors)
            if let bars { draw(bars, cutoff: marks.cutoff, by: painter, on: quarters.depth, colors) }
        }
    }

    /// The width of lines, in pixels.
    private var thickness: Int { max(1, format.height / 360) }

    private func draw(_ marks: Marks, by painter: Painter, on area: Rectangle<Int>, _ colors: OverlayColors) {
        var painter = painter
        painter.clip = area
        let scaleX = Double(area.width) / Double(format.width)
        let scaleY = Double(area.height) / Double(format.height)
        if let face = marks.face {
            let box = Rectangle(
                left: area.x + pixel(face.x * scaleX), top: area.y + pixel(face.y * scaleY),
                right: area.x + pixel((face.x + face.width) * scaleX),
                bottom: area.y + pixel((face.y + face.height) * scaleY))
            painter.frame(box.grown(by: thickness), thickness: 3 * thickness, colors.black)
            painter.frame(box, thickness: thickness, colors.green)
        }
        if let anchor = marks.anchor {
            let (x, y) = (area.x + pixel(anchor.x * scaleX), area.y + pixel(anchor.y * scaleY))
            let arm = 5 * thickness
            let across = Rectangle(left: x - arm, top: y, right: x + arm + thickness, bottom: y + thickness)
            let down = Rectangle(left: x, top: y - arm, right: x + thickness, bottom: y + arm + thickness)
            painter.fill(across.grown(by: thickness), colors.black)
            painter.fill(down.grown(by: thickness), colors.black)
            painter.fill(across, colors.amber)
            painter.fill(down, colors.amber)
        }
    }

    /// Writes what is known of the lag and the offset into the upper left corner, one below the other.
    private func draw(_ sync: SyncReport, by painter: Painter, on area: Rectangle<Int>, _ colors: OverlayColors) {
        var painter = painter
        painter.clip = area
        var top = area.y + 4 * thickness
        func write(_ text: String) {
            let text = DigitText(text, scale: DigitText.scale(forHeight: area.height))
            text.draw(on: painter, x: area.x + 4 * thickness, y: top, light: colors.white, dark: colors.black)
            top += text.height + 2 * thickness
        }
        if sync.isLagKnown { write("\(pixel((Double(sync.lag) / 1e6).rounded())) ms") }
        if sync.x.isKnown { write("x \(pixel(sync.x.pixels.rounded()))") }
        if sync.y.isKnown { write("y \(pixel(sync.y.pixels.rounded()))") }
    }

    /// Draws the histogram over the lower third of the area, and the cutoff as a line with its distance in centimetres.
    private func draw(
        _ bars: DepthBars, cutoff: Double?, by painter: Painter, on area: Rectangle<Int>, _ colors: OverlayColors
    ) {
        var painter = painter
        painter.clip = area
        let height = area.height / 3
        let bottom = area.y + area.height
        for index in 0..<DepthBars.count where bars.height(index) > 0 {
            let bar = Rectangle(
                left: area.x + index * area.width / DepthBars.count,
                top: bottom - max(thickness, pixel(Double(height) * bars.height(index))),
                right: area.x + (index + 1) * area.width / DepthBars.count, bottom: bottom)
            painter.fill(bar.grown(by: thickness), colors.black)
            painter.fill(bar, colors.white)
        }
        guard let cutoff, cutoff < bars.limit else { return }
        let x = area.x + pixel(cutoff / bars.limit * Double(area.width))
        let line = Rectangle(left: x, top: bottom - height, right: x + thickness, bottom: bottom)
        painter.fill(line.grown(by: thickness), colors.black)
        painter.fill(line, colors.red)
        DigitText(centimetresOf: cutoff, scale: DigitText.scale(forHeight: area.height))
            .draw(on: painter, besideX: x, y: bottom - height, light: colors.white, dark: colors.black)
    }

    /// Converts to a whole number of pixels. NaN and values out of range are limited.
    private func pixel(_ value: Double) -> Int {
        guard value > -1e6 else { return -1_000_000 }
        return value < 1e6 ? Int(value) : 1_000_000
    }
}

extension Rectangle<Int> {
    fileprivate func grown(by pixels: Int) -> Rectangle<Int> {
        Rectangle(left: left - pixels, top: top - pixels, right: right + pixels, bottom: bottom + pixels)
    }
}
