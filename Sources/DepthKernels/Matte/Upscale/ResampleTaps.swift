/// For each video pixel along one axis, the four neighbouring samples of the matte that it is interpolated from, and
/// their weights in whole numbers.
///
/// Coordinates count sample edges: pixel x reaches from x to x + 1, which lies at `x · scale + origin` on the map. Taps
/// may lie up to two samples beyond either end of the map, which repeats its first and last sample there.
struct ResampleTaps {
    /// The sum of the weights of a column's pixels, and of a row's.
    static let columnUnit = 32768.0
    static let rowUnit = 255 * 128.0

    /// The first of the four samples of each pixel; −2 at least, and never falling from one pixel to the next.
    let first: [Int]
    let weights: [SIMD4<Int16>]
    /// The number of samples that a pixel may depend on, their offset from its first tap, and their largest first
    /// index.
    private let span: Int
    private let inset: Int
    private let last: Int

    /// - Parameters:
    ///   - count: pixels.
    ///   - samples: of the depth map.
    ///   - unit: the sum of a pixel's weights.
    /// - Precondition: `count` and `samples` are above 0, `scale` and `origin` are finite, `scale > 0`.
    init(
        _ upscale: Upscale, count: Int, samples: Int, scale: Double, origin: Double, grid: CellGrid, unit: Double
    ) {
        let isCubic = upscale != .bilinear
        let points = (0..<count).map { (Double($0) + 0.5) * scale + origin - 0.5 }
        let taps = points.map { ResampleTaps.taps(at: $0, samples: samples, isCubic ? keysWeights : linearWeights) }
        if grid.cellSize == 1 {
            self.init(taps, span: isCubic ? 4 : 2, sources: samples, unit: unit)
        } else {
            let cells = grid.cells(along: samples)
            // The taps move a position slightly: applied to the positions of the samples (a straight line) they give
            // the place where the cells are to be evaluated, so that decimated and full maps are upscaled alike.
            let ofCells = taps.map { taps in
                let numbers = SIMD4<Int>(0, 1, 2, 3) &+ taps.first
                let inside = numbers.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: samples - 1))
                let place = (taps.weights * SIMD4<Double>(inside)).sum()
                return ResampleTaps.taps(at: grid.position(ofSample: place), samples: cells, catmullRomWeights)
            }
            self.init(ofCells, span: 4, sources: cells, unit: unit)
        }
    }

    private typealias Taps = (first: Int, weights: SIMD4<Double>)

    /// - Parameter span: the number of taps with a weight.
    private init(_ taps: [Taps], span: Int, sources: Int, unit: Double) {
        first = taps.map(\.first)
        weights = taps.map { taps in
            SIMD4<Int16>(clamping: SIMD4<Int>((taps.weights * unit).rounded(.toNearestOrAwayFromZero)))
        }
        self.span = min(span, sources)
        inset = (4 - span) / 2
        last = sources - self.span
    }

    /// The four samples about a point, and their weights.
    private static func taps(at point: Double, samples: Int, _ weights: (Double) -> SIMD4<Double>) -> Taps {
        let left = floorIndex(point, in: -1...(samples - 1))
        return (left - 1, weights(clamped(point - Double(left), to: 0...1, orIfNaN: 0)))
    }

    /// The samples that a pixel may depend on, all of them on the map.
    func sources(of index: Int) -> Range<Int> {
        let start = min(max(first[index] &+ inset, 0), last)
        return start..<(start &+ span)
    }

    /// The samples that a range of pixels may depend on.
    ///
    /// - Precondition: the range is not empty.
    func sources(of pixels: Range<Int>) -> Range<Int> {
        sources(of: pixels.lowerBound).lowerBound..<sources(of: pixels.upperBound &- 1).upperBound
    }

    /// The sample for each of the four weights, on the map. A sample whose weight is 0 is replaced by another that the
    /// pixel depends on.
    func sampleOfEachTap(of index: Int) -> SIMD4<Int> {
        let (sources, weights) = (sources(of: index), weights[index])
        var samples = SIMD4<Int>(repeating: sources.lowerBound)
        for tap in 0..<4 where weights[tap] != 0 { samples[tap] = min(max(first[index] &+ tap, 0), last &+ span &- 1) }
        return samples
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
