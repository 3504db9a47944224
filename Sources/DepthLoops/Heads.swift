extension LoopSet {
    /// The surface in front of a row of blocks: of four samples of a block the second smallest, which is no single flying sample;
    /// the smallest where fewer than three were measured; 0 where none was.
    ///
    /// - Parameters:
    ///   - rows: two of the blocks, in metres; what is not above 0 and finite was not measured.
    ///   - columns: those of a block that are read.
    ///   - step: the width of a block.
    package static func frontOfFour(
        _ rows: (upper: UnsafePointer<Float>, lower: UnsafePointer<Float>), columns: (Int, Int), step: Int, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        let (upper, lower) = unsafe rows
        for index in upTo(count) {
            let (left, right) = (index &* step &+ columns.0, index &* step &+ columns.1)
            let (a, b) = unsafe (measured(upper[left]), measured(upper[right]))
            let (c, d) = unsafe (measured(lower[left]), measured(lower[right]))
            let (low, otherLow) = (a < b ? a : b, c < d ? c : d)
            let (high, otherHigh) = (a < b ? b : a, c < d ? d : c)
            let (smallest, middle) = (low < otherLow ? low : otherLow, low < otherLow ? otherLow : low)
            let otherMiddle = high < otherHigh ? high : otherHigh
            let (second, third) = (
                middle < otherMiddle ? middle : otherMiddle, middle < otherMiddle ? otherMiddle : middle
            )
            let front = third < .infinity ? second : smallest
            unsafe target[index] = front < .infinity ? front : 0
        }
    }
}

@inline(__always)
private func measured(_ metres: Float) -> Float { metres > 0 ? metres : .infinity }
