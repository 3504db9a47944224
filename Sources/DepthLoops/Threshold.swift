import CVectors

/// Says of each of a row of little-endian 16-bit counts whether it is inside a range: one bit each, 64 in a word.
///
/// - parameter span: how far the last count inside lies behind the first.
/// - Precondition: `counts` holds `words · 64` counts, aligned or not.
package func cutRow(
    counts: UnsafeRawPointer, words: Int, first: UInt16, span: UInt16, into mask: UnsafeMutablePointer<UInt64>
) {
    for word in 0..<words {
        unsafe mask[word] = comparison_bits_of_counts(counts + word &* 128, first, span)
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
