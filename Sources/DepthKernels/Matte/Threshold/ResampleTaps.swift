/// For each video pixel along one axis, the four neighbouring samples of the matte that it is interpolated from, and
/// their weights.
///
/// Coordinates count sample edges: pixel x reaches from x to x + 1, which lies at `x · scale + origin` on the map. Taps
/// may lie up to two samples beyond either end of the map, which repeats its first and last sample there.
struct ResampleTaps {
    /// The first of the four sources of each pixel: −2 to `sources` − 2, and never falling from one pixel to the next.
    let first: [Int]
    let weights: [SIMD4<Float>]
    /// The samples, or cells, along the axis of the map.
    let sources: Int

    private typealias Taps = (first: Int, weights: SIMD4<Double>)

    /// - Parameters:
    ///   - count: pixels.
    ///   - samples: of the depth map.
    /// - Precondition: `count` and `samples` are above 0, `scale` and `origin` are finite, `scale > 0`.
    init(_ upscale: Upscale, count: Int, samples: Int, scale: Double, origin: Double, grid: CellGrid) {
        let weights = upscale == .bilinear ? linearWeights : keysWeights
        let cells = grid.cells(along: samples)
        let taps = (0..<count).map { pixel -> Taps in
            let point = (Double(pixel) + 0.5) * scale + origin - 0.5
            let onSamples = ResampleTaps.taps(at: point, samples: samples, weights)
            if grid.cellSize == 1 { return onSamples }
            // The taps move a position slightly: applied to the positions of the samples (a straight line) they give
            // the place where the cells are to be evaluated, so that decimated and full maps are upscaled alike.
            // At the map's edges that place falls back by up to 0.11 samples, but not into the cell before: there a
            // sample is half a sample away from every center of a cell.
            let numbers = SIMD4<Int>(0, 1, 2, 3) &+ onSamples.first
            let inside = numbers.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: samples - 1))
            let place = (onSamples.weights * SIMD4<Double>(inside)).sum()
            return ResampleTaps.taps(at: grid.position(ofSample: place), samples: cells, catmullRomWeights)
        }
        first = taps.map(\.first)
        self.weights = taps.map { SIMD4<Float>($0.weights) }
        sources = cells
    }

    /// The four samples about a point, and their weights.
    private static func taps(at point: Double, samples: Int, _ weights: (Double) -> SIMD4<Double>) -> Taps {
        let left = floorIndex(point, in: -1...(samples - 1))
        return (left - 1, weights(clamped(point - Double(left), to: 0...1, orIfNaN: 0)))
    }

    /// The sources that a range of pixels is interpolated from.
    ///
    /// - Precondition: the range is not empty.
    func sources(of pixels: Range<Int>) -> Range<Int> {
        max(first[pixels.lowerBound], 0)..<min(first[pixels.upperBound &- 1] &+ 4, sources)
    }
}

/// The weights of the samples at −1, 0, 1 and 2, for a point `t` (0…1) after sample 0: Keys' cubic convolution with
/// A = −0.75 (Keys, "Cubic convolution interpolation for digital image processing", IEEE Trans. ASSP 29(6), 1981). Four
/// taps when downscaling too, as `cv2.INTER_CUBIC`.
package func keysWeights(_ t: Double) -> SIMD4<Double> { keysWeights(t, a: -0.75) }

/// The same with A = −0.5, which is exact for parabolas.
private func catmullRomWeights(_ t: Double) -> SIMD4<Double> { keysWeights(t, a: -0.5) }

private func keysWeights(_ t: Double, a: Double) -> SIMD4<Double> {
    func inner(_ d: Double) -> Double { ((a + 2) * d - (a + 3)) * d * d + 1 }
    func outer(_ d: Double) -> Double { ((a * d - 5 * a) * d + 8 * a) * d - 4 * a }
    return [outer(1 + t), inner(t), inner(1 - t), outer(2 - t)]
}

/// The weights of linear interpolation.
private func linearWeights(_ t: Double) -> SIMD4<Double> { [0, 1 - t, t, 0] }
