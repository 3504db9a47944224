package import CDepthKernels

extension LoopSet {
    /// Resamples a row of numbers with four taps for each pixel.
    ///
    ///     target[x] = Σ weights[k · stride + x] · line[i + k], k = 0…3, starts[i] <= x < starts[i + 1]
    ///
    /// Fields and parameters:
    ///   - starts: for each number of the line, the first pixel with it or a later one as its first tap.
    ///   - stride: pixels of a row.
    ///   - first, end: the numbers that are the first taps of the columns.
    ///   - weights: after the last one seven more are readable.
    ///   - target: column 0. Up to seven numbers behind the last column are overwritten.
    package static func resample(
        _ line: UnsafePointer<Float>, _ taps: dm_resample_taps, columns: Range<Int>,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (starts, stride, weights) = unsafe (taps.starts, taps.stride, taps.weights)
        for index in unsafe upTo(taps.end, from: taps.first) {
            var x = unsafe max(Int(starts[index]), columns.lowerBound)
            let end = unsafe min(Int(starts[index &+ 1]), columns.upperBound)
            let taps = unsafe line + index
            while x < end {
                let place = unsafe weights + x
                let first = unsafe taps[0] * eight(place) + taps[1] * eight(place + stride)
                let last = unsafe taps[2] * eight(place + 2 &* stride) + taps[3] * eight(place + 3 &* stride)
                unsafe store(first + last, target + x)
                x &+= 8
            }
        }
    }

    /// Computes a row of alpha as a weighted sum of four rows: clipped to 0…255, rounded to nearest.
    ///
    /// - Parameters:
    ///   - columns: the bytes that are written.
    ///   - alpha: column 0, as of the rows.
    package static func filterVertically(
        _ rows: (UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>, UnsafePointer<Float>),
        weights: SIMD4<Float>, columns: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>
    ) {
        for x in each(columns) {
            let first = unsafe rows.0[x] * weights[0] + rows.1[x] * weights[1]
            let last = unsafe rows.2[x] * weights[2] + rows.3[x] * weights[3]
            unsafe alpha[x] = nearestByte(min(max(first + last, 0), 255))
        }
    }
}
