/// A mask at the depth map's size whose samples are foreground or not: one bit each, 64 in a word.
///
/// Rows are padded to whole words; the padding repeats the last sample, as the blur asks for at the edge.
@safe
struct BinaryMask {
    private let words: UnsafeMutablePointer<UInt64>
    let width: Int
    let height: Int
    let wordsPerRow: Int

    fileprivate init(words: UnsafeMutablePointer<UInt64>, width: Int, height: Int) {
        unsafe self.words = words
        self.width = width
        self.height = height
        wordsPerRow = groups(of: 64, in: width)
    }

    /// - Precondition: `0 <= y < height`.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt64> { unsafe words + y &* wordsPerRow }

    /// Makes the padding of a row.
    func pad(row y: Int) {
        let last = width &- 1
        let rest = UInt64(truncatingIfNeeded: width & 63)
        guard rest != 0 else { return }
        let isSet = unsafe row(y)[last &>> 6] &>> UInt64(truncatingIfNeeded: last) & 1 != 0
        let padding = UInt64.max &<< rest
        if isSet { unsafe row(y)[last &>> 6] |= padding } else { unsafe row(y)[last &>> 6] &= ~padding }
    }

    /// The bits of a block of 16 samples; those of blocks behind the last one are its padding.
    ///
    /// - Precondition: the block is inside the padded row.
    @inline(__always)
    func block(_ block: Int, row y: Int) -> UInt16 {
        unsafe UInt16(truncatingIfNeeded: row(y)[block &>> 2] &>> UInt64(truncatingIfNeeded: (block & 3) &* blockWidth))
    }

    /// Turns some rows into opacities of 0 and 1.
    ///
    /// - Precondition: the map has the mask's size.
    func expand(rows: Range<Int>, into map: OpacityMap, _ loops: Loops) {
        for y in rows {
            map.clear(row: y)
            for word in 0..<wordsPerRow {
                unsafe map.mixedSamples(y).words[word] = 0
                unsafe map.opaqueSamples(y).words[word] = row(y)[word]
            }
            for index in 0..<map.blocks {
                switch block(index, row: y) {
                case 0: break
                case .max: map.opaque(y).insert(index)
                default:
                    map.mixed(y).insert(index)
                    unsafe loops.expandBits(row(y), index, map.row(y) + index &* blockWidth)
                }
            }
        }
    }
}

/// The memory of a mask, kept from frame to frame.
struct BinaryMaskStorage: ~Copyable {
    private var words = Scratch<UInt64>()

    mutating func reserve(width: Int, height: Int) -> BinaryMask {
        unsafe BinaryMask(
            words: words.reserve(groups(of: 64, in: width) * height, filler: 0), width: width, height: height)
    }
}
