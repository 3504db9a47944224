package import DepthKernels

/// A value of the property `background-fit`: the placement of a background of another aspect ratio.
package enum PictureFit: Int, Sendable, CaseIterable {
    /// Fills the frame with one scale; the rest is cropped on both sides.
    case cover
    /// Shows the whole picture with one scale, with borders.
    case contain
    /// Fills the frame, each axis with its own scale.
    case stretch

    /// Returns the part of the picture that is drawn, and the rectangle that it takes in the frame's pixels.
    ///
    /// Both are whole pixels. A scale that would cut the picture between two of its pixels draws some more of it, so that the rectangle
    /// reaches beyond the frame, alike on both sides. Where a border is odd, the left or top one is smaller.
    ///
    /// - Parameter pixelAspect: the width of the picture's pixels by that of the frame's, where both are as high.
    package func rectangles(
        sourceWidth: Int, sourceHeight: Int, targetWidth: Int, targetHeight: Int, pixelAspect: Double = 1
    ) -> (from: Rectangle<Int>, into: Rectangle<Int>) {
        let aspect = min(max(pixelAspect, 0.001), 1000)
        var x = Double(targetWidth) / Double(sourceWidth)
        var y = Double(targetHeight) / Double(sourceHeight)
        switch self {
        case .cover: (x, y) = (max(x, y * aspect), max(x / aspect, y))
        case .contain: (x, y) = (min(x, y * aspect), min(x / aspect, y))
        case .stretch: break
        }
        let (columns, rows) = (Axis(sourceWidth, targetWidth, scale: x), Axis(sourceHeight, targetHeight, scale: y))
        return (
            Rectangle(
                x: columns.cut, y: rows.cut, width: sourceWidth - 2 * columns.cut, height: sourceHeight - 2 * rows.cut),
            Rectangle(x: columns.start, y: rows.start, width: columns.length, height: rows.length)
        )
    }
}

/// One axis of a picture in a frame, centered.
private struct Axis {
    /// Pixels of the picture that are left out at each end.
    private(set) var cut = 0
    /// The rest in the frame's pixels.
    private(set) var start: Int
    private(set) var length: Int

    /// Steps by which more of the picture is drawn, to find whole pixels of the frame for whole pixels of the picture.
    private static let mostSteps = 16

    /// - Parameter scale: pixels of the frame for each pixel of the picture.
    init(_ source: Int, _ target: Int, scale: Double) {
        let whole = Double(source) * scale
        length = min(target, max(1, Int(min(whole, Double(target)).rounded())))
        start = (target - length) / 2
        guard whole > Double(target) * (1 + 1e-9) else { return }
        let most = Int((Double(source) - Double(target) / scale) / 2)
        var least = Double.infinity
        for cut in stride(from: most, through: max(most - Axis.mostSteps, 0), by: -1) {
            let exact = Double(source - 2 * cut) * scale
            let beyond = Int(min(((exact - Double(target)) / 2).rounded(), Double(target)))
            // The frame's edge is off by this many of its pixels.
            let error = abs(Double(target + 2 * beyond) / exact - 1) * Double(target) / 2
            guard error < least else { continue }
            (least, self.cut, start, length) = (error, cut, -beyond, target + 2 * beyond)
            if error < 1 / 16 { break }
        }
    }
}
