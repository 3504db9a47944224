/// The input of a matte: one depth map and the video frame that it belongs to.
package struct MatteFrame {
    package let depth: DepthImage
    /// The frame's own pixels, for stages that look at colour; nil where there are none to look at.
    package let video: VideoPicture?
    /// Pixels of the video; sizes below 1 count as 1, those above `Matte.largestSide` as that.
    package let width: Int
    package let height: Int
    /// Faces, in video pixels.
    package let faces: [Box]
    /// A network's opinion of the frame; nil where there is none.
    package let segmentation: SegmentationPicture?
    /// Running time in nanoseconds; nil where the frame has none.
    package let time: Int64?
    /// Seconds since the frame before, negative where time went back; nil where that is not known. Set by `Matte`.
    var elapsed: Double?

    package init(
        depth: DepthImage, video: VideoPicture? = nil, width: Int, height: Int, faces: [Box] = [],
        segmentation: SegmentationPicture? = nil, time: Int64? = nil
    ) {
        self.depth = depth
        self.video = video
        self.width = min(max(width, 1), Matte.largestSide)
        self.height = min(max(height, 1), Matte.largestSide)
        self.faces = faces
        self.segmentation = segmentation
        self.time = time
    }
}

/// The planes of a video frame and how they share its pixels.
package struct VideoPicture {
    package let planes: Planes<Plane>
    package let layout: PixelLayout
    /// Nil where nobody looks at the colours.
    package let colors: VideoColors?

    package init(planes: Planes<Plane>, layout: PixelLayout, colors: VideoColors? = nil) {
        self.planes = planes
        self.layout = layout
        self.colors = colors
    }
}
