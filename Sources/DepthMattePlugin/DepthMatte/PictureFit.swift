package import DepthKernels

/// The way in which a background of another shape fills a frame.
package enum PictureFit: Int, Sendable, CaseIterable {
    /// One scale, so that the frame is full; what is too much is cut off evenly.
    case cover
    /// One scale, so that the whole picture is seen; the rest is border.
    case contain
    /// Each axis by its own scale.
    case stretch

    /// Returns the part of the picture that is shown, and its place in the frame.
    ///
    /// Sizes are rounded to nearest, and are at least 1. The smaller half of what is cut off or left over is at the left and
    /// top.
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
    /// The largest rectangle in the middle of this one with the other's aspect.
    fileprivate func middle(aspect other: Rectangle<Int>) -> Rectangle<Int> {
        let scale = min(Double(width) / Double(other.width), Double(height) / Double(other.height))
        let innerWidth = min(width, max(1, Int((Double(other.width) * scale).rounded())))
        let innerHeight = min(height, max(1, Int((Double(other.height) * scale).rounded())))
        return Rectangle(
            x: (width - innerWidth) / 2, y: (height - innerHeight) / 2, width: innerWidth, height: innerHeight)
    }
}
