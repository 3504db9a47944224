/// The way to fit a depth map to a video of another aspect ratio.
package enum DepthFit: Int, Sendable, CaseIterable {
    /// Fills the whole frame; each axis has a scale of its own.
    case stretch
    /// One scale, which makes the widths equal; centered.
    case width
    /// One scale, so that the frame is covered; centered.
    case cover
    /// One scale, so that all of the map is inside the frame; centered.
    case contain
}

/// The rectangle of the video, in video pixels, that a depth map covers; it may be larger than the frame.
///
/// Coordinates are continuous and count pixel edges: the frame reaches from 0 to its width, and the center of the
/// first pixel is 0.5. Sizes below 1 count as 1. Offsets are clamped to ±1e6 pixels and
/// scales to 0.001…1000; NaN counts as the default.
package struct DepthPlacement: Equatable, Sendable {
    package let depthWidth: Int
    package let depthHeight: Int
    package let videoWidth: Int
    package let videoHeight: Int
    /// The rectangle of the video that the map covers.
    package let left: Double
    package let top: Double
    package let width: Double
    package let height: Double

    /// - Parameters:
    ///   - offsetX: video pixels by which the map is moved to the right.
    ///   - offsetY: video pixels by which the map is moved down.
    ///   - scale: factor by which the map is enlarged about the center of the frame.
    ///   - pixelAspect: the width of the map's samples by that of the video's pixels, where both are as high; clamped to 0.001…1000.
    package init(
        depthWidth: Int, depthHeight: Int, videoWidth: Int, videoHeight: Int, fit: DepthFit = .stretch,
        offsetX: Double = 0, offsetY: Double = 0, scale: Double = 1, pixelAspect: Double = 1
    ) {
        self.depthWidth = max(depthWidth, 1)
        self.depthHeight = max(depthHeight, 1)
        self.videoWidth = max(videoWidth, 1)
        self.videoHeight = max(videoHeight, 1)
        let frame = (width: Double(self.videoWidth), height: Double(self.videoHeight))
        let aspect = clamped(pixelAspect, to: 0.001...1000, orIfNaN: 1)
        let map = (width: Double(self.depthWidth) * aspect, height: Double(self.depthHeight))
        let enlarged = DepthPlacement.size(of: map, in: frame, fit: fit)
        let zoom = clamped(scale, to: 0.001...1000, orIfNaN: 1)
        width = enlarged.width * zoom
        height = enlarged.height * zoom
        left = (frame.width - width) / 2 + clamped(offsetX, to: -1e6...1e6, orIfNaN: 0)
        top = (frame.height - height) / 2 + clamped(offsetY, to: -1e6...1e6, orIfNaN: 0)
    }

    private typealias Size = (width: Double, height: Double)

    private static func size(of map: Size, in frame: Size, fit: DepthFit) -> Size {
        let scale: Double
        switch fit {
        case .stretch: return frame
        case .width: scale = frame.width / map.width
        case .cover: scale = max(frame.width / map.width, frame.height / map.height)
        case .contain: scale = min(frame.width / map.width, frame.height / map.height)
        }
        return (map.width * scale, map.height * scale)
    }

    /// True where it is the last frame's, moved by a pixel at most along each axis; half a pixel more for rounding.
    package func continues(_ last: DepthPlacement) -> Bool {
        depthWidth == last.depthWidth && depthHeight == last.depthHeight && videoWidth == last.videoWidth
            && videoHeight == last.videoHeight && width == last.width && height == last.height
            && abs(left - last.left) < 1.5 && abs(top - last.top) < 1.5
    }

    /// The point of the depth map under a point of the video.
    package func depthPoint(videoX: Double, videoY: Double) -> (x: Double, y: Double) {
        // In this order of operations a stretched map gives x · depthWidth / videoWidth with the rounding of the test
        // oracle.
        (
            (videoX - left) * Double(depthWidth) / width,
            (videoY - top) * Double(depthHeight) / height
        )
    }

    /// The box of the depth map under a box of the video.
    func depthBox(_ box: Rectangle<Double>) -> Rectangle<Double> {
        let (x, y) = depthPoint(videoX: box.x, videoY: box.y)
        return Rectangle(
            x: x, y: y, width: box.width * Double(depthWidth) / width, height: box.height * Double(depthHeight) / height
        )
    }

    /// The box of the video under a box of the depth map.
    func videoBox(_ box: Rectangle<Double>) -> Rectangle<Double> {
        let (scaleX, scaleY) = (width / Double(depthWidth), height / Double(depthHeight))
        return Rectangle(
            x: left + box.x * scaleX, y: top + box.y * scaleY, width: box.width * scaleX, height: box.height * scaleY)
    }
}

extension DepthPlacement {
    /// The row of the map under the middle of a row of a picture that shows all of the video in `height` rows; −1 beside the map.
    func row(_ y: Int, of height: Int) -> Int {
        let videoY = (Double(y) + 0.5) * Double(videoHeight) / Double(height)
        return DepthPlacement.sample(depthPoint(videoX: 0, videoY: videoY).y, of: depthHeight)
    }

    fileprivate func column(_ x: Int, of width: Int) -> Int {
        let videoX = (Double(x) + 0.5) * Double(videoWidth) / Double(width)
        return DepthPlacement.sample(depthPoint(videoX: videoX, videoY: 0).x, of: depthWidth)
    }

    /// The sample that contains a point; −1 beside the map.
    private static func sample(_ place: Double, of count: Int) -> Int {
        place >= 0 && place < Double(count) ? floorIndex(place, in: 0...(count - 1)) : -1
    }
}

/// The column of a map under the middle of each column of a picture; −1 beside the map. They are kept while both lie alike.
struct SampleColumns: ~Copyable {
    private var columns = Scratch<Int32>()
    private var known: (placement: DepthPlacement, width: Int)?

    /// - Parameter width: the columns in which the picture shows all of the video.
    mutating func columns(of placement: DepthPlacement, width: Int) -> UnsafePointer<Int32> {
        let columns = unsafe columns.reserve(width, filler: -1)
        if known?.placement != placement || known?.width != width {
            for x in 0..<width { unsafe columns[x] = Int32(truncatingIfNeeded: placement.column(x, of: width)) }
            known = (placement, width)
        }
        return unsafe UnsafePointer(columns)
    }
}
