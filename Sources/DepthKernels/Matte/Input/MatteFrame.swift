/// The input of a matte: one depth map and the video frame that it belongs to.
package struct MatteFrame {
    package let depth: DepthImage
    /// The frame's own pixels, for stages that use color; nil where they are not available.
    package let video: VideoPicture?
    /// The size of the video in pixels, clamped to 1…`VideoPicture.largestSide`.
    package let width: Int
    package let height: Int
    /// Faces, in video pixels.
    package let faces: [Rectangle<Double>]
    /// The output of a segmentation network; nil for none.
    package let segmentation: SegmentationPicture?
    /// Running time in nanoseconds; nil where the frame has none.
    package let time: Int64?
    /// Seconds since the frame before, negative where time went back; nil where unknown. Set by `Matte`.
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
