/// Makes the matte: depth in, one byte of alpha for each video pixel out.
///
/// Four steps, each in a file of its own: threshold (`OpacityCurve`, `Threshold`), blur (`GaussianBlur`), gamma
/// (`GammaCurve`), enlargement (`AlphaUpscale`). The order is that of Apple's sample "Enhancing live video by
/// leveraging TrueDepth camera data". Between the steps opacities stay floats of 0…1 at the depth map's size; they
/// are rounded once, at the end.
///
/// Keeps its memory between frames and takes none in the steady state. Not for two threads at once.
package final class MatteRenderer {
    /// Larger frames are cut to this many pixels along each axis.
    package static let largestSide = 1 << 16

    private var opacities = OpacityStorage()
    private var threshold = Threshold()
    private var blur = GaussianBlur()
    private var upscale = AlphaUpscale()
    private var alpha = Scratch<UInt8>()

    /// Mean opacity of the last frame's mask, 0…1, after blur and gamma.
    package private(set) var coverage = 0.0

    package init() {}

    /// Renders one frame. Every number in `settings` is allowed, NaN included: they are brought into range first, and
    /// with a cutoff or near limit that is not a number nothing is shown.
    ///
    /// - parameter placement: where the map lies on the video. If it was made for other sizes than those of `depth` and
    ///   the video, the whole map is stretched over the frame.
    /// - returns: the alpha plane, `videoWidth` bytes in each of `videoHeight` rows, valid until the next call. Sizes
    ///   below 1 count as 1, those above `largestSide` as that.
    package func render(
        depth: DepthImage, scale: DepthScale, placement: DepthPlacement, videoWidth: Int, videoHeight: Int,
        settings: MatteSettings
    ) -> Plane {
        let width = min(max(videoWidth, 1), MatteRenderer.largestSide)
        let height = min(max(videoHeight, 1), MatteRenderer.largestSide)
        let pixels = unsafe alpha.reserve(width * height, filler: 0)
        let settings = settings.clamped
        if settings.showsAnything {
            let map = opacities.reserve(width: depth.width, height: depth.height)
            threshold.fill(map, from: depth, scale: scale, settings: settings)
            smooth(map, settings: settings)
            coverage = map.meanOpacity
            let fitting =
                placement.isMade(for: depth, videoWidth: width, videoHeight: height)
                ? placement
                : DepthPlacement(
                    depthWidth: depth.width, depthHeight: depth.height, videoWidth: width, videoHeight: height)
            unsafe upscale.fill(pixels, from: map, placement: fitting, upscale: settings.upscale)
        } else {
            unsafe pixels.update(repeating: 0, count: width * height)
            coverage = 0
        }
        return unsafe Plane(packed: pixels, width: width, height: height)
    }

    /// Blur and gamma, in place.
    private func smooth(_ map: OpacityMap, settings: MatteSettings) {
        if settings.blurRadius > 0 { blur.apply(to: map, sigma: settings.blurRadius) }
        let curve = GammaCurve(settings.gamma)
        // A step's zeros and ones are their own powers.
        guard curve != .identity, settings.blurRadius > 0 || settings.hasFeather else { return }
        for y in 0..<map.height {
            let row = unsafe map.row(y)
            let covers = unsafe map.coverRow(y)
            for block in 0..<map.blocks where unsafe covers[block] == .mixed {
                unsafe curve.apply(to: row + block &* blockWidth)
            }
        }
    }
}

extension DepthPlacement {
    fileprivate func isMade(for depth: DepthImage, videoWidth: Int, videoHeight: Int) -> Bool {
        depthWidth == depth.width && depthHeight == depth.height
            && self.videoWidth == videoWidth && self.videoHeight == videoHeight
    }
}
