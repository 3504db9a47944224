import CDepthKernels

extension LoopSet {
    /// Classifies each opacity in a run of blocks of 16 as clear, opaque or neither.
    ///
    /// - Parameters:
    ///   - opacities: those of the blocks, contiguous.
    ///   - blocks: the indices of the blocks in their row.
    ///   - clear: the largest opacity that counts as 0.
    ///   - opaque: the smallest opacity that counts as 1.
    ///   - clearBits: a bit for each opacity of the row, 64 in a word.
    ///   - opaqueBits: the same for opaque ones.
    package static func classify(
        _ opacities: UnsafePointer<Float>, blocks: Range<Int>, clear: Float, opaque: Float,
        clearBits: UnsafeMutablePointer<UInt64>, opaqueBits: UnsafeMutablePointer<UInt64>
    ) {
        var (place, block) = unsafe (opacities, blocks.lowerBound)
        while block < blocks.upperBound {
            let word = block &>> 2
            var (clears, opaques) = unsafe (clearBits[word], opaqueBits[word])
            repeat {
                let bits = unsafe dm_compare_floats(place, clear, opaque)
                let shift = UInt64(truncatingIfNeeded: (block & 3) &* 16)
                clears = clears & ~(0xffff &<< shift) | UInt64(bits.at_most) &<< shift
                opaques = opaques & ~(0xffff &<< shift) | UInt64(bits.at_least) &<< shift
                unsafe place += 16
                block &+= 1
            } while block & 3 != 0 && block < blocks.upperBound
            unsafe (clearBits[word], opaqueBits[word]) = (clears, opaques)
        }
    }

    /// Converts the bits of a run of blocks of 16 samples to opacities of 0 and 1.
    ///
    /// - Parameters:
    ///   - bits: a bit for each sample of the row, 64 in a word.
    ///   - row: the row's first opacity.
    package static func expand(_ bits: UnsafePointer<UInt64>, blocks: Range<Int>, into row: UnsafeMutablePointer<Float>)
    {
        for block in each(blocks) {
            let shift = UInt64(truncatingIfNeeded: (block & 3) &* 16)
            let samples = unsafe UInt32(truncatingIfNeeded: bits[block &>> 2] &>> shift)
            let target = unsafe row + block &* 16
            for lane in 0..<16 { unsafe target[lane] = samples & (1 &<< UInt32(lane)) != 0 ? 1 : 0 }
        }
    }

    /// Tests each of a row of little-endian 16-bit counts for a range: a bit for each that is inside, 64 in a word.
    ///
    /// - Parameters:
    ///   - counts: `words · 64` counts, aligned or not.
    ///   - span: distance from the first count inside to the last.
    package static func compare(
        _ counts: UnsafeRawPointer, words: Int, first: UInt16, span: UInt16, into mask: UnsafeMutablePointer<UInt64>
    ) {
        for word in upTo(words) { unsafe mask[word] = dm_compare_counts(counts + word &* 128, first, span) }
    }
}
