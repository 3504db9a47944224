package import CDepthKernels

extension LoopSet {
    /// Converts the alpha of a run of pixels to the alpha of each byte of their samples: the mean of the pixels that share
    /// the sample, rounded to nearest, halves up, repeated for each byte of the sample.
    ///
    /// - Parameters:
    ///   - alpha: the alpha of the run's first pixel in the first row; rows are `stride` bytes apart.
    ///   - target: receives the bytes, contiguous.
    package static func expandAlpha(
        _ alpha: UnsafePointer<UInt8>, stride: Int, _ run: dm_alpha_run, into target: UnsafeMutablePointer<UInt8>
    ) {
        if run.columns == 1 && run.rows == 1 {
            return unsafe repeatEach(alpha, count: run.pixels, times: run.bytes, into: target)
        }
        let width = max(run.columns, 1)
        let samples = (run.pixels &+ width &- 1) / width
        if run.columns == 2 && run.rows <= 2 {
            unsafe meansOfPairs(
                upper: alpha, lower: alpha + (run.rows &- 1) &* stride, count: run.pixels, into: target)
        } else {
            for index in upTo(samples) {
                let first = index &* width
                unsafe target[index] = meanAlpha(
                    alpha + first, stride: stride, columns: min(width, run.pixels &- first), rows: run.rows)
            }
        }
        if run.bytes > 1 {
            unsafe repeatInPlace(target, count: samples, times: run.bytes)
        }
    }
}

/// The mean of the first columns of some rows, rounded to nearest, halves up.
private func meanAlpha(_ alpha: UnsafePointer<UInt8>, stride: Int, columns: Int, rows: Int) -> UInt8 {
    var sum = 0
    for y in upTo(rows) {
        for x in upTo(columns) { unsafe sum &+= Int(alpha[y &* stride &+ x]) }
    }
    let count = max(columns &* rows, 1)
    return UInt8(truncatingIfNeeded: (sum &+ count / 2) / count)
}

/// Means of 2 × 2 pixels; or of 2 × 1 where both rows are the same, as a doubled sum rounds like the single one. A last
/// column without a neighbour counts twice.
private func meansOfPairs(
    upper: UnsafePointer<UInt8>, lower: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<UInt8>
) {
    let pairs = count / 2
    for index in upTo(pairs) {
        // Two bytes as one 16-bit number, in either byte order: the sum needs no shuffle.
        let above = unsafe UnsafeRawPointer(upper).loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
        let below = unsafe UnsafeRawPointer(lower).loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
        let sum = (above & 255) &+ (above &>> 8) &+ (below & 255) &+ (below &>> 8)
        unsafe target[index] = UInt8(truncatingIfNeeded: (sum &+ 2) &>> 2)
    }
    if count & 1 == 1 {
        let column = unsafe UInt16(upper[count &- 1]) &+ UInt16(lower[count &- 1])
        unsafe target[pairs] = UInt8(truncatingIfNeeded: (column &+ 1) &>> 1)
    }
}

/// Repeats each byte `times` times.
private func repeatEach(
    _ source: UnsafePointer<UInt8>, count: Int, times: Int, into target: UnsafeMutablePointer<UInt8>
) {
    // A constant number of repetitions compiles to vector shuffles.
    switch times {
    case 1: unsafe target.update(from: source, count: count)
    case 2: unsafe repeatEach(source, count: count, fixed: 2, into: target)
    case 3: unsafe repeatEach(source, count: count, fixed: 3, into: target)
    case 4: unsafe repeatEach(source, count: count, fixed: 4, into: target)
    default: unsafe repeatEach(source, count: count, fixed: times, into: target)
    }
}

@inline(__always)
private func repeatEach(
    _ source: UnsafePointer<UInt8>, count: Int, fixed times: Int, into target: UnsafeMutablePointer<UInt8>
) {
    for index in upTo(count) {
        for copy in upTo(times) { unsafe target[index &* times &+ copy] = source[index] }
    }
}

/// The same in place, from the last sample to the first, so that none is overwritten before it is read.
private func repeatInPlace(_ samples: UnsafeMutablePointer<UInt8>, count: Int, times: Int) {
    var index = count &- 1
    while index >= 0 {
        let value = unsafe samples[index]
        for copy in upTo(times) { unsafe samples[index &* times &+ copy] = value }
        index &-= 1
    }
}

extension LoopSet {
    /// Converts the alpha of pixels to that of the bytes of packed 4:2:2: luma bytes take their own pixel's alpha, chroma
    /// bytes the mean of the two.
    package static func expandAlphaPacked422(
        _ source: UnsafePointer<UInt8>, count: Int, lumaFirst: Bool, into target: UnsafeMutablePointer<UInt8>
    ) {
        let luma = lumaFirst ? 0 : 1
        let chroma = 1 &- luma
        for pair in upTo((count &+ 1) / 2) {
            let left = unsafe source[pair &* 2]
            let right = unsafe pair &* 2 &+ 1 < count ? source[pair &* 2 &+ 1] : left
            let mean = UInt8(truncatingIfNeeded: (UInt16(left) &+ UInt16(right) &+ 1) &>> 1)
            unsafe target[pair &* 4 &+ luma] = left
            unsafe target[pair &* 4 &+ chroma] = mean
            unsafe target[pair &* 4 &+ luma &+ 2] = right
            unsafe target[pair &* 4 &+ chroma &+ 2] = mean
        }
    }
}
