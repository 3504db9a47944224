/// Means of 2 × 2 pixels, or of 2 × 1 where both rows are the same one: the doubled sum then rounds just as the single
/// one would, and so does a last column that stands in for its missing neighbour.
package func meansOfPairs(
    upper: UnsafePointer<UInt8>, lower: UnsafePointer<UInt8>, count: Int, into target: UnsafeMutablePointer<UInt8>
) {
    let pairs = count / 2
    for index in 0..<pairs {
        // Two bytes as one number, whichever of them is its lower half: no byte has to be moved to add them.
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

/// Each byte `times` times over.
package func repeatEach(
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

/// The same in place: from the last sample to the first, so that none is overwritten before it was read.
package func repeatInPlace(_ samples: UnsafeMutablePointer<UInt8>, count: Int, times: Int) {
    var index = count &- 1
    while index >= 0 {
        let value = unsafe samples[index]
        for copy in 0..<times { unsafe samples[index &* times &+ copy] = value }
        index &-= 1
    }
}

/// Luma bytes take their own pixel's alpha, chroma bytes the mean of the two.
package func spreadPacked422(
    _ source: UnsafePointer<UInt8>, count: Int, lumaFirst: Bool, into target: UnsafeMutablePointer<UInt8>
) {
    let luma = lumaFirst ? 0 : 1
    let chroma = 1 &- luma
    for pair in 0..<((count &+ 1) / 2) {
        let left = unsafe source[pair &* 2]
        let right = unsafe pair &* 2 &+ 1 < count ? source[pair &* 2 &+ 1] : left
        let mean = UInt8(truncatingIfNeeded: (UInt16(left) &+ UInt16(right) &+ 1) &>> 1)
        unsafe target[pair &* 4 &+ luma] = left
        unsafe target[pair &* 4 &+ chroma] = mean
        unsafe target[pair &* 4 &+ luma &+ 2] = right
        unsafe target[pair &* 4 &+ chroma &+ 2] = mean
    }
}
