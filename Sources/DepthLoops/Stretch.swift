/// Stretches some samples of a row to a whole number of pixels each, by four taps a pixel.
///
/// - parameter window: the samples, with two before the first and two behind the last.
/// - parameter weights: four for each of the `ratio` pixels of a sample. The taps of the pixels in a sample's left half
///   begin two samples before it, those of the others one.
/// - Precondition: `target` has room for `samples · ratio` floats.
package func stretchEvenly(
    _ window: UnsafePointer<Float>, samples: Int, ratio: Int, weights: UnsafePointer<Float>,
    into target: UnsafeMutablePointer<Float>
) {
    // Loops with a known ratio become shuffles; the general one does not.
    switch ratio {
    case 1: unsafe stretch(window, samples, 1, weights, target)
    case 2: unsafe stretch(window, samples, 2, weights, target)
    case 3: unsafe stretch(window, samples, 3, weights, target)
    case 4: unsafe stretch(window, samples, 4, weights, target)
    case 6: unsafe stretch(window, samples, 6, weights, target)
    default: unsafe stretch(window, samples, ratio, weights, target)
    }
}

@inline(__always)
private func stretch(
    _ window: UnsafePointer<Float>, _ samples: Int, _ ratio: Int, _ weights: UnsafePointer<Float>,
    _ target: UnsafeMutablePointer<Float>
) {
    for sample in 0..<samples {
        for phase in 0..<ratio {
            let taps = unsafe window + (sample &+ (2 &* phase &+ 1 < ratio ? 0 : 1))
            let weight = unsafe weights + 4 &* phase
            unsafe target[sample &* ratio &+ phase] =
                taps[0] * weight[0] + taps[1] * weight[1] + taps[2] * weight[2] + taps[3] * weight[3]
        }
    }
}

/// Stretches samples to pixels that lie anywhere among them.
///
/// - parameter first: for each pixel the number of its first sample.
/// - parameter weights: `taps` for each pixel.
/// - parameter base: the number of the sample that `window` starts with.
package func stretchAnyhow(
    _ window: UnsafePointer<Float>, base: Int, first: UnsafePointer<Int>, weights: UnsafePointer<Float>, taps: Int,
    pixels: Int, into target: UnsafeMutablePointer<Float>
) {
    for pixel in 0..<pixels {
        let source = unsafe window + (first[pixel] &- base)
        var sum: Float = 0
        for tap in 0..<taps { unsafe sum += source[tap] * weights[pixel &* taps &+ tap] }
        unsafe target[pixel] = sum
    }
}

/// Spreads a row of cells over `size` samples each, by linear interpolation from the middle of one cell to that of the
/// next.
///
/// - parameter count: cells less one: the spaces between their middles.
/// - parameter size: 2, 4, 8 or 16.
/// - Precondition: `target` has room for `count · size` floats.
package func spreadCells(
    _ cells: UnsafePointer<Float>, count: Int, size: Int, into target: UnsafeMutablePointer<Float>
) {
    switch size {
    case 2: unsafe spread(cells, count, 2, target)
    case 4: unsafe spread(cells, count, 4, target)
    case 8: unsafe spread(cells, count, 8, target)
    case 16: unsafe spread(cells, count, 16, target)
    default: unsafe spread(cells, count, size, target)
    }
}

@inline(__always)
private func spread(
    _ cells: UnsafePointer<Float>, _ count: Int, _ size: Int, _ target: UnsafeMutablePointer<Float>
) {
    let step = 1 / Float(size)
    for cell in 0..<count {
        let from = unsafe cells[cell]
        let change = unsafe (cells[cell &+ 1] - from) * step
        for sample in 0..<size {
            unsafe target[cell &* size &+ sample] = from + change * (Float(sample) + 0.5)
        }
    }
}
