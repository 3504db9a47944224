package import DepthKernels

/// A value of the property `background-fit`: the placement of a background of another aspect ratio.
package enum PictureFit: Int, Sendable, CaseIterable {
    /// Fills the frame with one scale; the rest is cropped on both sides.
    case cover
    /// Shows the whole picture with one scale, with borders.
    case contain
    /// Fills the frame, each axis with its own scale.
    case stretch

    /// Returns the part of the picture that is shown, and its rectangle in the frame.
    ///
    /// Sizes are rounded to nearest, and are at least 1. Where a crop or border is odd, the left or top one is smaller.
    package func rectangles(
        sourceWidth: Int, sourceHeight: Int, targetWidth: Int, targetHeight: Int
    ) -> (from: Rectangle<Int>, into: Rectangle<Int>) {
        let source = Rectangle(width: sourceWidth, height: sourceHeight)
        let target = Rectangle(width: targetWidth, height: targetHeight)
        switch self {
        case .stretch: return (source, target)
        case .cover: return (source.middle(aspect: target), target)
        case .contain: return (source, target.middle(aspect: source))
        }
    }
}

extension Rectangle<Int> {
    /// Returns the largest centered rectangle within this one that has the other's aspect ratio.
    fileprivate func middle(aspect other: Rectangle<Int>) -> Rectangle<Int> {
        let scale = min(Double(width) / Double(other.width), Double(height) / Double(other.height))
        let innerWidth = min(width, max(1, Int((Double(other.width) * scale).rounded())))
        let innerHeight = min(height, max(1, Int((Double(other.height) * scale).rounded())))
        return Rectangle(
            x: (width - innerWidth) / 2, y: (height - innerHeight) / 2, width: innerWidth, height: innerHeight)
    }
}
