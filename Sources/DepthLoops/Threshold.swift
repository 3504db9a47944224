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

/// Turns the bits of a block of 16 samples into opacities of 0 and 1.
package func expandBits(_ row: UnsafePointer<UInt64>, block: Int, into target: UnsafeMutablePointer<Float>) {
    let bits = unsafe UInt32(truncatingIfNeeded: row[block &>> 2] &>> UInt64(truncatingIfNeeded: (block & 3) &* 16))
    for lane in 0..<16 { unsafe target[lane] = bits & (1 &<< UInt32(lane)) != 0 ? 1 : 0 }
}
