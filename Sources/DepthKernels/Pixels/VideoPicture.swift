/// The planes of a video frame with their layout.
package struct VideoPicture {
    /// The largest width and height, in pixels.
    package static let largestSide = 1 << 16

    package let planes: Planes<Plane>
    package let layout: PixelLayout
    /// Nil where no stage reads the colors.
    package let colors: VideoColors?

    package init(planes: Planes<Plane>, layout: PixelLayout, colors: VideoColors? = nil) {
        self.planes = planes
        self.layout = layout
        self.colors = colors
    }
}
