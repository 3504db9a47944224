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
        unsafe mixPairs(video + start, background + start, alpha + start, as: SIMD16<UInt16>.self)
        start &+= 32
    }
    // What is left of a run is most often 16 or 8 bytes.
    if start &+ 16 <= count {
        unsafe mixPairs(video + start, background + start, alpha + start, as: SIMD8<UInt16>.self)
        start &+= 16
    }
    if start &+ 8 <= count {
        unsafe mixPairs(video + start, background + start, alpha + start, as: SIMD4<UInt16>.self)
        start &+= 8
    }
    for index in start..<max(start, count) {
        unsafe video[index] = blendedByte(video: video[index], background: background[index], alpha: alpha[index])
    }
}

/// `blendedByte` for as many bytes as `Pairs` has, two in each lane: the products of bytes need 16 bits, and this way no
/// byte has to be moved to get them.
@inline(__always)
private func mixPairs<Pairs: SIMD & BitwiseCopyable>(
    _ video: UnsafeMutablePointer<UInt8>, _ background: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>,
    as pairs: Pairs.Type
) where Pairs.Scalar == UInt16 {
    let target = UnsafeMutableRawPointer(video)
    let video = unsafe target.loadUnaligned(as: Pairs.self)
    let background = unsafe UnsafeRawPointer(background).loadUnaligned(as: Pairs.self)
    let alpha = unsafe UnsafeRawPointer(alpha).loadUnaligned(as: Pairs.self)
    let byte = Pairs(repeating: 255)
    let low = mixed(video & byte, background & byte, alpha & byte)
    let high = mixed(video &>> 8, background &>> 8, alpha &>> 8)
    unsafe target.storeBytes(of: low | high &<< 8, as: Pairs.self)
}

/// `blendedByte`, one in each lane.
@inline(__always)
private func mixed<Lanes: SIMD>(_ video: Lanes, _ background: Lanes, _ alpha: Lanes) -> Lanes
where Lanes.Scalar == UInt16 {
    let biased = video &* alpha &+ background &* (255 &- alpha) &+ 128
    return (biased &+ biased &>> 8) &>> 8
}
