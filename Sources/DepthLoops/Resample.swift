package import CDepthKernels

extension LoopSet {
    /// Converts opacities of 0…1 to 16-bit fixed point, in units of 1 / (2^15 − 1); opacities above 1 count as 1.
    package static func toFixed(_ opacities: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Int16>)
    {
        for index in upTo(count) {
            let opacity = unsafe opacities[index]
            unsafe target[index] = Int16(truncatingIfNeeded: nearestWhole((opacity > 1 ? 1 : opacity) * 32767))
        }
    }

    /// Resamples a row of opacities with four taps for each pixel.
    ///
    /// In fixed point: opacity 1 is 2^15, weight 1 is 2^15, and result 1 is 2^14.
    ///
    /// - Parameter line: the opacities, followed by seven numbers of any value.
    package static func resample(
        _ line: UnsafePointer<Int16>, _ taps: dm_column_taps, columns: Range<Int>,
        into target: UnsafeMutablePointer<Int16>
    ) {
        unsafe dm_resample(line, taps, columns.lowerBound, columns.upperBound, target)
    }

    /// Computes a row of alpha as a weighted sum of four rows of opacities.
    ///
    ///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
    ///
    /// In fixed point: opacity 1 is 2^14, weight 1 is 255 · 2^7, and sum 1 is 255 · 2^5. The error is below an eighth of a
    /// byte's step.
    ///
    /// - Parameters:
    ///   - columns: the bytes that are written.
    ///   - alpha: column 0.
    package static func filterVertically(
        _ taps: dm_row_taps, columns: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>
    ) {
        // The sum of four truncated products is 2 too small on average; 16 rounds the shift to nearest.
        let (bias, shift): (Int16, Int16) = (2 + 16, 5)
        if columns.upperBound &- columns.lowerBound >= 32 {
            unsafe dm_filter_vertically(taps, columns.lowerBound, columns.upperBound, bias, shift, alpha)
        } else {
            for x in each(columns) {
                let sum = upperHalves(taps, x) &+ bias
                unsafe alpha[x] = UInt8(truncatingIfNeeded: min(max(sum &>> shift, 0), 255))
            }
        }
    }
}

/// The sum of the upper halves of four products.
@inline(__always)
private func upperHalves(_ taps: dm_row_taps, _ x: Int) -> Int16 {
    let (rows, weights) = unsafe (taps.rows, taps.weights)
    func upperHalf(_ a: Int16, _ b: Int16) -> Int16 { Int16(truncatingIfNeeded: (Int32(a) &* Int32(b)) &>> 16) }
    return unsafe upperHalf(rows.0[x], weights.0) &+ upperHalf(rows.1[x], weights.1) &+ upperHalf(rows.2[x], weights.2)
        &+ upperHalf(rows.3[x], weights.3)
}
