/// The output of a segmentation network: a byte for each pixel, 0 = room, 255 = person. The picture covers the whole
/// video frame, at a size of its own.
package struct SegmentationPicture {
    /// `rowBytes` is the picture's width.
    package let plane: Plane

    package init(plane: Plane) { self.plane = plane }
}
