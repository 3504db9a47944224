package import CDepthKernels

/// Turns opacities of 0…1 into whole numbers: 1, and sums that rounding left above it, become 2^15 − 1.
package func toFixed(_ opacities: UnsafePointer<Float>, count: Int, into target: UnsafeMutablePointer<Int16>) {
    for index in 0..<count {
        let opacity = unsafe opacities[index]
        unsafe target[index] = Int16(truncatingIfNeeded: nearestWhole((opacity > 1 ? 1 : opacity) * 32767))
    }
}

/// Resamples a row of opacities, by four taps a pixel.
///
/// In whole numbers: opacities of 2^15, weights of 2^15, results of 2^14.
///
/// - Parameter line: the opacities, and seven numbers of any value behind them.
package func resample(
    _ line: UnsafePointer<Int16>, _ taps: dm_column_taps, columns: Range<Int>, into target: UnsafeMutablePointer<Int16>
) {
    unsafe dm_resample(line, taps, columns.lowerBound, columns.upperBound, target)
}

/// Makes rows of alpha, each of which is the weighted sum of four rows of opacities.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In whole numbers: opacities of 2^14, weights of 255 · 2^7, sums of 255 · 2^5; wrong by less than an eighth of a byte's
/// step.
///
/// - Parameters:
///   - taps: those of each row.
///   - columns: the opacities that are added up; only these bytes are written.
///   - alpha: column 0 of the first row.
package func filterVertically(
    _ taps: UnsafePointer<dm_row_taps>, rows: Int, columns: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>,
    stride: Int
) {
    // Rounding down takes 2 off the sum of four upper halves, on average; the rest rounds the shift to nearest.
    let (bias, shift): (Int16, Int16) = (2 + 16, 5)
    for row in 0..<rows {
        let bytes = unsafe alpha + row &* stride
        if columns.count >= 32 {
            unsafe dm_filter_vertically(taps + row, columns.lowerBound, columns.upperBound, bias, shift, bytes)
        } else {
            for x in columns {
                let sum = unsafe upperHalves(taps[row], x) &+ bias
                unsafe bytes[x] = UInt8(truncatingIfNeeded: min(max(sum &>> shift, 0), 255))
            }
        }
    }
}

/// The upper halves of four products, added up.
@inline(__always)
private func upperHalves(_ taps: dm_row_taps, _ x: Int) -> Int16 {
    let (rows, weights) = unsafe (taps.rows, taps.weights)
    guard let row0 = unsafe rows.0, let row1 = unsafe rows.1, let row2 = unsafe rows.2, let row3 = unsafe rows.3 else {
        return 0
    }
    func upperHalf(_ a: Int16, _ b: Int16) -> Int16 { Int16(truncatingIfNeeded: (Int32(a) &* Int32(b)) &>> 16) }
    return unsafe upperHalf(row0[x], weights.0) &+ upperHalf(row1[x], weights.1) &+ upperHalf(row2[x], weights.2)
        &+ upperHalf(row3[x], weights.3)
}
