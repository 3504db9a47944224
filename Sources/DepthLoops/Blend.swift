/// Mixes one byte of the video with one of the background.
///
///     (video · alpha + background · (255 − alpha)) / 255, rounded to nearest (255 is odd: there are no halves)
///
/// The division is exact for every sum up to 65535: s/255 rounded = (t + t/256)/256 with t = s + 128 (Blinn, "Three
/// Wrongs Make a Right", IEEE CG&A 15(6), 1995).
@inlinable
@inline(__always)
package func blendedByte(video: UInt8, background: UInt8, alpha: UInt8) -> UInt8 {
    let opacity = UInt16(alpha)
    let sum = UInt16(video) &* opacity &+ UInt16(background) &* (255 &- opacity)
    return dividedBy255(sum)
}

/// `a · b / 255`, rounded to nearest.
@inlinable
@inline(__always)
package func scaledByte(_ a: UInt8, _ b: UInt8) -> UInt8 { dividedBy255(UInt16(a) &* UInt16(b)) }

/// `sum / 255`, rounded to nearest.
///
/// - Precondition: `sum <= 255 · 255`.
@inlinable
@inline(__always)
func dividedBy255(_ sum: UInt16) -> UInt8 {
    let biased = sum &+ 128
    return UInt8(truncatingIfNeeded: (biased &+ (biased &>> 8)) &>> 8)
}

/// `blendedByte` for `count` bytes of a row, in place; each has its own byte of `alpha`.
package func mixBytes(
    video: UnsafeMutablePointer<UInt8>, background: UnsafePointer<UInt8>, alpha: UnsafePointer<UInt8>, count: Int
) {
    var start = 0
    while start &+ 32 <= count {
        let target = unsafe UnsafeMutableRawPointer(video + start)
        let mixed = unsafe mixPairs(
            target.loadUnaligned(as: BytePairs.self),
            UnsafeRawPointer(background + start).loadUnaligned(as: BytePairs.self),
            UnsafeRawPointer(alpha + start).loadUnaligned(as: BytePairs.self))
        unsafe target.storeBytes(of: mixed, as: BytePairs.self)
        start &+= 32
    }
    for index in start..<max(start, count) {
        unsafe video[index] = blendedByte(video: video[index], background: background[index], alpha: alpha[index])
    }
}

/// 32 bytes, two in each lane: the products of bytes need 16 bits, and this way no byte has to be moved to get them.
private typealias BytePairs = SIMD16<UInt16>

@inline(__always)
private func mixPairs(_ video: BytePairs, _ background: BytePairs, _ alpha: BytePairs) -> BytePairs {
    let byte = BytePairs(repeating: 255)
    let low = mixed(video & byte, background & byte, alpha & byte)
    let high = mixed(video &>> 8, background &>> 8, alpha &>> 8)
    return low | high &<< 8
}

/// `blendedByte`, one in each lane.
@inline(__always)
private func mixed(_ video: BytePairs, _ background: BytePairs, _ alpha: BytePairs) -> BytePairs {
    let biased = video &* alpha &+ background &* (255 &- alpha) &+ 128
    return (biased &+ biased &>> 8) &>> 8
}
