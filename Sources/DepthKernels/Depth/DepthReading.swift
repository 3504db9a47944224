/// The scale of a depth map and its place on the video.
package struct DepthReading: Equatable, Sendable {
    package var scale = DepthScale()
    package var fit = DepthFit.stretch
    /// Video pixels by which the map is moved right and down.
    package var offsetX = 0.0
    package var offsetY = 0.0
    /// Enlarges the map about the center of the frame.
    package var zoom = 1.0
    /// The width of the map's samples by that of the video's pixels, as they are shown, where both are as high.
    package var pixelAspect = 1.0
    /// Focal length of the camera whose view the map has, in lengths of the map's longer side; nil where it is not known.
    package var focal: Double?
    /// Field of view along the longer side, in degrees; takes the place of `focal` where it is above 0.
    package var fieldOfView = 0.0

    package init(
        scale: DepthScale = DepthScale(), fit: DepthFit = .stretch, offsetX: Double = 0, offsetY: Double = 0,
        zoom: Double = 1
    ) {
        self.scale = scale
        self.fit = fit
        self.offsetX = offsetX
        self.offsetY = offsetY
        self.zoom = zoom
    }

    /// The place of a map on a picture.
    package func placement(depthWidth: Int, depthHeight: Int, videoWidth: Int, videoHeight: Int) -> DepthPlacement {
        DepthPlacement(
            depthWidth: depthWidth, depthHeight: depthHeight, videoWidth: videoWidth, videoHeight: videoHeight,
            fit: fit, offsetX: offsetX, offsetY: offsetY, scale: zoom, pixelAspect: pixelAspect)
    }

    /// Focal length in samples of a map, or of a grid over it, whose longer side is so long. Lenses of 1 to 157 degrees; 60
    /// where it is not known.
    func focalLength(longerSide: Int) -> Double {
        let usual = 1 / 1.15
        let share = fieldOfView > 0 ? 0.5 / tangent(degrees: min(fieldOfView, 157) / 2) : focal ?? usual
        return clamped(share, to: 0.1...60, orIfNaN: usual) * Double(longerSide)
    }
}
