import CVectors

/// Adds up the opacities of a row's blocks of 16: those of its mixed blocks, and 1 for each in an opaque one.
///
/// In single precision, sixteen sums beside each other, from left to right: every instruction set gives the same bits.
///
/// - parameter mixed: a bit for each block, 64 in a word; none of them is in `opaque` too.
/// - Precondition: bits behind the row's last block are 0 in both.
package func sumOfBlocks(
    _ row: UnsafePointer<Float>, mixed: UnsafePointer<UInt64>, opaque: UnsafePointer<UInt64>, words: Int
) -> Double {
    var sums = SIMD16<Float>(repeating: 0)
    var opaqueBlocks = 0
    for word in 0..<words {
        unsafe opaqueBlocks &+= opaque[word].nonzeroBitCount
        var left = unsafe mixed[word]
        while left != 0 {
            let block = word &* 64 &+ left.trailingZeroBitCount
            unsafe sums += UnsafeRawPointer(row + block &* 16).loadUnaligned(as: SIMD16<Float>.self)
            left &= left &- 1
        }
    }
    return Double(sums.sum()) + Double(opaqueBlocks &* 16)
}

/// How many of a row of little-endian 16-bit counts, aligned or not, are inside a range.
///
/// - parameter span: how far the last count inside lies behind the first.
/// - parameter hole: a count that is not inside all the same, or -1.
package func sizeOfRange(_ counts: UnsafeRawPointer, count: Int, first: UInt16, span: UInt16, hole: Int32) -> Int {
    let (lastStart, hole) = (count & ~63, UInt16(exactly: hole))
    var size = 0
    for start in stride(from: 0, to: lastStart, by: 64) {
        var inside = unsafe comparison_bits_of_counts(counts + start &* 2, first, span)
        if let hole { unsafe inside &= ~comparison_bits_of_counts(counts + start &* 2, hole, 0) }
        size &+= inside.nonzeroBitCount
    }
    for index in lastStart..<count {
        let sample = unsafe UInt16(littleEndian: counts.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
        if sample &- first <= span && sample != hole { size &+= 1 }
    }
    return size
}
