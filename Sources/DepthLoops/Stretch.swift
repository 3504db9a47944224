import CVectors

/// Turns opacities of 0…1 into whole numbers: 1, and what rounding left above it, is 2^15 − 1.
///
/// - parameter blocks: of 16 opacities each.
package func fixOpacities(_ opacities: UnsafePointer<Float>, blocks: Int, into target: UnsafeMutablePointer<Int16>) {
    for index in 0..<(blocks &* 16) {
        // Added to 1.5 · 2²³, a number is rounded to a whole one in the low bits.
        let opacity = unsafe opacities[index]
        let sum = (opacity > 1 ? 1 : opacity) * 32767 + 12_582_912
        unsafe target[index] = Int16(truncatingIfNeeded: sum.bitPattern)
    }
}

/// Stretches some samples of a row to a whole number of pixels each, by four taps a pixel.
///
/// In whole numbers: samples of 2^15, weights of 2^15, pixels of 2^14.
///
/// - parameter window: the samples, with two before the first and two behind the last.
/// - parameter weights: for each of the four taps its weights for the `ratio` pixels of a sample. The taps of the pixels in
///   a sample's left half begin two samples before it, those of the others one.
/// - Precondition: `target` has room for `samples · ratio` pixels.
package func stretchEvenly(
    _ window: UnsafePointer<Int16>, samples: Int, ratio: Int, weights: UnsafePointer<Int16>,
    into target: UnsafeMutablePointer<Int16>
) {
    // Loops with a known ratio become shuffles; the general one does not.
    switch ratio {
    case 1: unsafe stretch(window, samples, 1, weights, target)
    case 2: unsafe stretch(window, samples, 2, weights, target)
    case 3: unsafe stretch(window, samples, 3, weights, target)
    case 4: unsafe stretch(window, samples, 4, weights, target)
    case 6: unsafe stretch(window, samples, 6, weights, target)
    case 8: unsafe stretch(window, samples, 8, weights, target)
    case 12: unsafe stretch(window, samples, 12, weights, target)
    default: unsafe stretchFar(window, samples, ratio, weights, target)
    }
}

@inline(__always)
private func stretch(
    _ window: UnsafePointer<Int16>, _ samples: Int, _ ratio: Int, _ weights: UnsafePointer<Int16>,
    _ target: UnsafeMutablePointer<Int16>
) {
    for sample in 0..<samples {
        for phase in 0..<ratio {
            let taps = unsafe window + (sample &+ (2 &* phase &+ 1 < ratio ? 0 : 1))
            unsafe target[sample &* ratio &+ phase] = weighed(taps, weights + phase, stride: ratio)
        }
    }
}

/// The same, a sample after the other: good for many pixels of each.
@inline(__always)
private func stretchFar(
    _ window: UnsafePointer<Int16>, _ samples: Int, _ ratio: Int, _ weights: UnsafePointer<Int16>,
    _ target: UnsafeMutablePointer<Int16>
) {
    func stretchHalf(_ taps: UnsafePointer<Int16>, _ pixels: UnsafeMutablePointer<Int16>, _ phases: Range<Int>) {
        var phase = phases.lowerBound
        while phase &+ 8 <= phases.upperBound {
            let first = unsafe weights + phase
            unsafe add_four_numbers(
                taps, first, first + ratio, first + (2 &* ratio), first + (3 &* ratio), lostByFour, pixels + phase)
            phase &+= 8
        }
        while phase < phases.upperBound {
            unsafe pixels[phase] = weighed(taps, weights + phase, stride: ratio)
            phase &+= 1
        }
    }
    for sample in 0..<samples {
        let pixels = unsafe target + sample &* ratio
        unsafe stretchHalf(window + sample, pixels, 0..<(ratio / 2))
        unsafe stretchHalf(window + (sample &+ 1), pixels, (ratio / 2)..<ratio)
    }
}

/// Stretches samples to pixels that lie anywhere among them, by four taps a pixel.
///
/// - parameter first: for each pixel the number of its first sample.
/// - parameter weights: four for each pixel.
/// - parameter base: the number of the sample that `window` starts with.
package func stretchAnyhow(
    _ window: UnsafePointer<Int16>, base: Int, first: UnsafePointer<Int>, weights: UnsafePointer<Int16>, pixels: Int,
    into target: UnsafeMutablePointer<Int16>
) {
    for pixel in 0..<pixels {
        unsafe target[pixel] = weighed(window + (first[pixel] &- base), weights + 4 &* pixel, stride: 1)
    }
}

/// One pixel.
///
/// - parameter stride: from the weight of one tap to that of the next.
@inline(__always)
private func weighed(_ taps: UnsafePointer<Int16>, _ weights: UnsafePointer<Int16>, stride: Int) -> Int16 {
    unsafe upperHalf(taps[0], weights[0]) &+ upperHalf(taps[1], weights[stride])
        &+ upperHalf(taps[2], weights[2 &* stride]) &+ upperHalf(taps[3], weights[3 &* stride]) &+ lostByFour
}
