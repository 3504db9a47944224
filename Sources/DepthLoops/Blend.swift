package import CDepthKernels

/// Blends one byte of the video with one of the background.
///
///     (video · alpha + background · (255 − alpha)) / 255, rounded to nearest (255 is odd: there are no halves)
///
/// The division is exact for every sum up to 255 · 255: s/255 rounded = (t + t/256)/256 with t = s + 128 (Blinn, "Three
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

extension LoopSet {
    /// Computes `blendedByte` for bytes `start`..<`start + count` of each row of a plane, in place.
    ///
    /// - Parameter alpha: the alpha of the first row's first byte; rows are `alphaStride` bytes apart.
    package static func blend(
        _ part: dm_blend_part, start: Int, count: Int, alpha: UnsafePointer<UInt8>, alphaStride: Int
    ) {
        for row in upTo(unsafe part.rows) {
            let video = unsafe part.video + (row &* part.video_stride &+ start)
            let background = unsafe part.background + (row &* part.background_stride &+ start)
            if unsafe part.rows_ahead > 0 {
                unsafe dm_prefetch_row(video + part.rows_ahead &* part.video_stride, count)
                unsafe dm_prefetch_row(background + part.rows_ahead &* part.background_stride, count)
            }
            unsafe blendRow(video, background, alpha + row &* alphaStride, count)
        }
    }
}

@inline(__always)
private func blendRow(
    _ video: UnsafeMutablePointer<UInt8>, _ background: UnsafePointer<UInt8>, _ alpha: UnsafePointer<UInt8>,
    _ count: Int
) {
    if count >= 32 { return unsafe dm_blend_32_or_more(video, background, alpha, count) }
    if count >= 8 { return unsafe dm_blend_8_or_more(video, background, alpha, count) }
    for index in upTo(count) {
        unsafe video[index] = blendedByte(video: video[index], background: background[index], alpha: alpha[index])
    }
}

extension LoopSet {
    /// Copies bytes with stores that bypass the cache (`dm_copy_past_cache`).
    ///
    /// - Parameter ahead: prefetch distance in the source, in bytes.
    package static func copyPastCache(
        _ source: UnsafePointer<UInt8>, count: Int, ahead: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        unsafe dm_copy_past_cache(target, source, count, ahead)
    }
}
