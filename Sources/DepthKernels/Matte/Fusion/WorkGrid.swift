/// What the stages of a fused frame share: its depth, the settings, the threads that compute its bands, and the loops that they
/// run.
struct FusionContext {
    let field: DepthField
    let settings: MatteSettings
    let bands: MatteBands
    let loops: Loops

    var grid: WorkGrid { field.grid }
}

/// The grid that a fused matte is computed on: the samples of the depth map, subsampled where there are more than the
/// method needs.
///
/// Lengths that are stated for a grid of 640 samples scale with it. Source: stage 0 of the method (`Fusion`).
struct WorkGrid: Equatable {
    /// Depth samples from one sample of the grid to the next, along both axes.
    let step: Int
    let width: Int
    let height: Int
    /// The place of the grid on the video, which is that of the depth map.
    let placement: DepthPlacement
    /// Focal length in samples: converts metres to samples.
    let focal: Double

    /// - Parameters:
    ///   - longest: the largest number of samples along the longer side.
    ///   - reading: gives the lens.
    init(_ placement: DepthPlacement, longest: Int, _ reading: DepthReading) {
        self.placement = placement
        step = groups(of: longest, in: max(placement.depthWidth, placement.depthHeight))
        width = groups(of: step, in: max(placement.depthWidth - step / 2, 1))
        height = groups(of: step, in: max(placement.depthHeight - step / 2, 1))
        focal = reading.focalLength(longerSide: max(width, height))
    }

    /// Samples for each metre at a distance in metres, and the other way round.
    func samplesPerMetre(at distance: Double) -> Double { focal / max(distance, 1e-3) }
    func metresPerSample(at distance: Double) -> Double { distance / focal }
    /// Metres for each pixel of the video at a distance in metres.
    func metresPerPixel(at distance: Double) -> Double {
        metresPerSample(at: distance) * Double(width) / placement.width
    }

    /// True where a sample is where it was on the last frame's grid, or within about a pixel of the video: what is known of it holds.
    func continues(_ last: WorkGrid) -> Bool {
        step == last.step && width == last.width && height == last.height && focal == last.focal
            && placement.continues(last.placement)
    }

    var count: Int { width * height }
    private var scale: Double { Double(max(width, height)) / 640 }

    /// A length of a grid of 640 samples, in samples of this one.
    func samples(_ length: Double) -> Double { length * scale }

    /// The same as a whole number, and not below 1.
    func wholeSamples(_ length: Double) -> Int { nearestIndex(length * scale, in: 1...max(width, height)) }

    /// The column of the depth map that a column of samples is.
    func depthColumn(_ x: Int) -> Int { min(step / 2 + x * step, placement.depthWidth - 1) }

    /// The row of the depth map that a row of samples is.
    func depthRow(_ y: Int) -> Int { min(step / 2 + y * step, placement.depthHeight - 1) }

    /// The edges of a box of the video.
    func edges(_ box: Rectangle<Double>) -> (left: Double, right: Double, top: Double, bottom: Double) {
        let (first, end) = (
            point(videoX: box.x, videoY: box.y), point(videoX: box.x + box.width, videoY: box.y + box.height)
        )
        return (first.x, end.x, first.y, end.y)
    }

    /// The position of a point of the video between the samples; whole numbers are their edges.
    func point(videoX x: Double, videoY y: Double) -> (x: Double, y: Double) {
        (
            (x - placement.left) * Double(width) / placement.width,
            (y - placement.top) * Double(height) / placement.height
        )
    }
}
