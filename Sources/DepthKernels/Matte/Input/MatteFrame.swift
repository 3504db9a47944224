/// The input of a matte: one depth map and the video frame that it belongs to.
package struct MatteFrame {
    package let depth: DepthImage
    /// The frame's own pixels, for stages that look at color; nil where there are none to look at.
    package let video: VideoPicture?
    /// Pixels of the video; sizes below 1 count as 1, those above `VideoPicture.largestSide` as that.
    package let width: Int
    package let height: Int
    /// Faces, in video pixels.
    package let faces: [Rectangle<Double>]
    /// A network's opinion of the frame; nil where there is none.
    package let segmentation: SegmentationPicture?
    /// Running time in nanoseconds; nil where the frame has none.
    package let time: Int64?
    /// Seconds since the frame before, negative where time went back; nil where that is not known. Set by `Matte`.
    var elapsed: Double?

    package init(
        depth: DepthImage, video: VideoPicture? = nil, width: Int, height: Int, faces: [Rectangle<Double>] = [],
        segmentation: SegmentationPicture? = nil, time: Int64? = nil
    ) {
        self.depth = depth
        self.video = video
        self.width = min(max(width, 1), VideoPicture.largestSide)
        self.height = min(max(height, 1), VideoPicture.largestSide)
        self.faces = faces
        self.segmentation = segmentation
        self.time = time
    }
}
