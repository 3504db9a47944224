/// Says of each of a row of little-endian 16-bit counts whether it is inside a range: one bit each, 64 in a word.
///
/// - parameter span: how far the last count inside lies behind the first.
/// - Precondition: `counts` holds `words · 64` counts, aligned or not.
package func cutRow(
    counts: UnsafeRawPointer, words: Int, first: UInt16, span: UInt16, into mask: UnsafeMutablePointer<UInt64>
) {
    // One comparison for both ends: counts below the first wrap around to large numbers.
    let (first, span) = (SIMD16(repeating: first), SIMD16(repeating: span))
    let laneBits = SIMD16<UInt16>(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
    for word in 0..<words {
        var bits: UInt64 = 0
        for quarter in 0..<4 {
            let loaded = unsafe counts.loadUnaligned(
                fromByteOffset: (word &* 4 &+ quarter) &* 32, as: SIMD16<UInt16>.self)
            #if _endian(big)
                let inside = ((loaded &<< 8 | loaded &>> 8) &- first) .<= span
            #else
                let inside = (loaded &- first) .<= span
            #endif
            let lanes = laneBits.replacing(with: 0, where: .!inside).wrappedSum()
            bits |= UInt64(lanes) &<< UInt64(truncatingIfNeeded: quarter &* 16)
        }
        unsafe mask[word] = bits
    }
}

/// Turns the bits of a run of blocks of 16 samples into opacities of 0 and 1.
package func expandBits(
    _ row: UnsafePointer<UInt64>, firstBlock: Int, blocks: Int, into target: UnsafeMutablePointer<Float>
) {
    for block in 0..<blocks {
        let index = firstBlock &+ block
        let bits = unsafe UInt32(truncatingIfNeeded: row[index &>> 2] &>> UInt64(truncatingIfNeeded: (index & 3) &* 16))
        let place = unsafe target + block &* 16
        for lane in 0..<16 { unsafe place[lane] = bits & (1 &<< UInt32(lane)) != 0 ? 1 : 0 }
    }
}
