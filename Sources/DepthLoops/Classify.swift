import CDepthKernels

extension LoopSet {
    /// Classifies each opacity in a run of blocks of 16 as clear, opaque or neither.
    ///
    /// - Parameters:
    ///   - opacities: those of the blocks, contiguous.
    ///   - blocks: the indices of the blocks in their row.
    ///   - clear: the largest opacity that counts as 0.
    ///   - opaque: the smallest opacity that counts as 1.
    ///   - bits: a bit for each opacity of the row, 64 in a word: set where it is clear, and where it is opaque.
    package static func classify(
        _ opacities: UnsafePointer<Float>, blocks: Range<Int>, clear: Float, opaque: Float,
        into bits: (clear: UnsafeMutablePointer<UInt64>, opaque: UnsafeMutablePointer<UInt64>)
    ) {
        var (place, block) = unsafe (opacities, blocks.lowerBound)
        while block < blocks.upperBound {
            let word = block &>> 2
            var (clears, opaques) = unsafe (bits.clear[word], bits.opaque[word])
            repeat {
                let comparison = unsafe dm_compare_floats(place, clear, opaque)
                let shift = UInt64(truncatingIfNeeded: (block & 3) &* 16)
                clears = clears & ~(0xffff &<< shift) | UInt64(comparison.at_most) &<< shift
                opaques = opaques & ~(0xffff &<< shift) | UInt64(comparison.at_least) &<< shift
                unsafe place += 16
                block &+= 1
            } while block & 3 != 0 && block < blocks.upperBound
            unsafe (bits.clear[word], bits.opaque[word]) = (clears, opaques)
        }
    }

    /// Finds which of a row of little-endian 16-bit counts lie in a range: 1 for those inside, 0 for the others.
    ///
    /// - Parameters:
    ///   - counts: aligned or not.
    ///   - below: the number of counts in the range, which begins with `first`.
    package static func compare(
        _ counts: UnsafeRawPointer, count: Int, first: UInt16, below: UInt32,
        into opacities: UnsafeMutablePointer<Float>
    ) {
        for x in upTo(count) {
            let number = unsafe UInt16(littleEndian: counts.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self))
            // One comparison for both ends: counts below the first wrap around to large numbers.
            unsafe opacities[x] = UInt32(number &- first) < below ? 1 : 0
        }
    }
}
