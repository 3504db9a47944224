/// The alpha of a sample that several pixels share: their mean, rounded to nearest, halves up.
///
/// - Precondition: both ranges lie inside the plane and are not empty.
package func meanAlpha(_ alpha: Plane, columns: Range<Int>, rows: Range<Int>) -> UInt8 {
    var sum = 0
    for y in rows {
        for x in columns { unsafe sum &+= Int(alpha.row(y).load(fromByteOffset: x, as: UInt8.self)) }
    }
    let count = columns.count &* rows.count
    return UInt8(truncatingIfNeeded: (sum &+ count / 2) / count)
}

extension AlphaSpread {
    /// The bytes of a row that belong to the pixels `start..<end`.
    @inline(__always)
    func bytes(ofPixels start: Int, to end: Int) -> (start: Int, count: Int) {
        let first = start / columnsPerSample &* bytesPerSample
        return (first, groups(of: columnsPerSample, in: end) &* bytesPerSample &- first)
    }

    /// Writes the alpha of every byte that belongs to the pixels of `run`, one after the other.
    ///
    /// - parameter rows: the rows of alpha that share the samples.
    /// - Precondition: the run starts where a sample does; `target` has room for the run's bytes.
    func spread(
        _ alpha: Plane, rows: Range<Int>, run: AlphaRun, width: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        let source = unsafe (alpha.row(rows.lowerBound) + run.start).assumingMemoryBound(to: UInt8.self)
        switch self {
        case .full(let bytes):
            unsafe repeatEach(source, count: run.end &- run.start, times: max(bytes, 1), into: target)
        case .subsampled(let horizontal, let vertical, let bytes):
            let samples = groups(of: columnsPerSample, in: run.end &- run.start)
            if horizontal == 2, vertical == 1 || vertical == 2 {
                let below = unsafe (alpha.row(rows.upperBound &- 1) + run.start).assumingMemoryBound(to: UInt8.self)
                unsafe meansOfPairs(upper: source, lower: below, count: run.end &- run.start, into: target)
            } else {
                unsafe means(alpha, rows: rows, run: run, samples: samples, into: target)
            }
            unsafe repeatInPlace(target, count: samples, times: max(bytes, 1))
        case .packed422(let lumaFirst):
            unsafe spreadPacked422(source, count: run.end &- run.start, lumaFirst: lumaFirst, into: target)
        }
    }

    private func means(
        _ alpha: Plane, rows: Range<Int>, run: AlphaRun, samples: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<samples {
            let first = run.start &+ index &* columnsPerSample
            let columns = first..<min(first &+ columnsPerSample, run.end)
            unsafe target[index] = meanAlpha(alpha, columns: columns, rows: rows)
        }
    }
}

/// Means of 2 × 2 pixels, or of 2 × 1 where both rows are the same one: the doubled sum then rounds just as the single
/// one would, and so does a last column that stands in for its missing neighbour.
@inline(__always)
private func meansOfPairs(
    upper: UnsafePointer<UInt8>, lower: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<UInt8>
) {
    let pairs = count / 2
    for index in 0..<pairs {
        let above = unsafe UInt16(upper[index &* 2]) &+ UInt16(upper[index &* 2 &+ 1])
        let below = unsafe UInt16(lower[index &* 2]) &+ UInt16(lower[index &* 2 &+ 1])
        unsafe target[index] = UInt8(truncatingIfNeeded: (above &+ below &+ 2) &>> 2)
    }
    if count & 1 == 1 {
        let column = unsafe UInt16(upper[count &- 1]) &+ UInt16(lower[count &- 1])
        unsafe target[pairs] = UInt8(truncatingIfNeeded: (column &+ 1) &>> 1)
    }
}

@inline(__always)
private func repeatEach(
    _ source: UnsafePointer<UInt8>, count: Int, times: Int, into target: UnsafeMutablePointer<UInt8>
) {
    // Loops with a known step become shuffles; the general one does not.
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
    for index in 0..<count {
        for copy in 0..<times { unsafe target[index &* times &+ copy] = source[index] }
    }
}

/// From the last sample to the first, so that none is overwritten before it was read.
@inline(__always)
private func repeatInPlace(_ samples: UnsafeMutablePointer<UInt8>, count: Int, times: Int) {
    guard times > 1 else { return }
    var index = count &- 1
    while index >= 0 {
        let value = unsafe samples[index]
        for copy in 0..<times { unsafe samples[index &* times &+ copy] = value }
        index &-= 1
    }
}

/// Luma bytes take their own pixel's alpha, chroma bytes the mean of the two.
@inline(__always)
private func spreadPacked422(
    _ source: UnsafePointer<UInt8>, count: Int, lumaFirst: Bool, into target: UnsafeMutablePointer<UInt8>
) {
    let luma = lumaFirst ? 0 : 1
    let chroma = 1 &- luma
    for pair in 0..<groups(of: 2, in: count) {
        let left = unsafe source[pair &* 2]
        let right = unsafe pair &* 2 &+ 1 < count ? source[pair &* 2 &+ 1] : left
        let mean = UInt8(truncatingIfNeeded: (UInt16(left) &+ UInt16(right) &+ 1) &>> 1)
        unsafe target[pair &* 4 &+ luma] = left
        unsafe target[pair &* 4 &+ chroma] = mean
        unsafe target[pair &* 4 &+ luma &+ 2] = right
        unsafe target[pair &* 4 &+ chroma &+ 2] = mean
    }
}
