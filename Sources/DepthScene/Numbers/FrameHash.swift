/// Random bits of one frame, by place.
struct FrameHash {
    private let key: UInt32

    init(seed: UInt32, frame: UInt64) {
        let low = UInt32(truncatingIfNeeded: frame)
        let high = UInt32(truncatingIfNeeded: frame >> 32)
        key = Hash.mix(low, Hash.mix(high, seed))
    }

    private init(key: UInt32) { self.key = key }

    /// Bits that are independent of these.
    func branch(_ number: UInt32) -> FrameHash { FrameHash(key: Hash.mix(number, key)) }

    @inline(__always)
    func row(_ row: Int) -> RowHash { RowHash(key: Hash.mix(UInt32(truncatingIfNeeded: row), key)) }
}

/// Random bits of one row, by column.
struct RowHash {
    fileprivate let key: UInt32

    @inline(__always)
    subscript(column: Int) -> UInt32 { Hash.mix(UInt32(truncatingIfNeeded: column) &* 0x9e37_79b9 ^ key) }

    /// An approximately normal number: see `Hash.normal`.
    @inline(__always)
    func normal(_ column: Int) -> Float {
        let first = self[column]
        return Hash.normal(first, Hash.mix(first ^ 0x6d2b_79f5))
    }
}

/// Noise of mean 0 and standard deviation 1 that neighbours share, one row at a time.
///
/// Independent numbers at the corners of square cells, interpolated with the weights w of `Numeric.smoothStep`, over
/// √Σw², which makes the deviation the same in a cell as at its corners.
struct NoiseField {
    private var cell = 1
    private var line: [Float] = []

    /// Makes the noise of a row.
    ///
    /// - Parameter cell: samples from corner to corner, at least 1.
    mutating func make(row: Int, width: Int, cell: Int, hash: FrameHash) {
        self.cell = cell
        let count = width / cell + 2
        if line.count != count { line = Array(repeating: 0, count: count) }
        let upper = hash.row(row / cell)
        let lower = hash.row(row / cell + 1)
        let share = Numeric.smoothStep(Float(row % cell) / Float(cell))
        for corner in line.indices {
            line[corner] = NoiseField.between(upper.normal(corner), lower.normal(corner), share)
        }
    }

    @inline(__always)
    func value(_ column: Int) -> Float {
        let (corner, rest) = column.quotientAndRemainder(dividingBy: cell)
        guard rest > 0 else { return line[corner] }
        return NoiseField.between(line[corner], line[corner + 1], Numeric.smoothStep(Float(rest) / Float(cell)))
    }

    @inline(__always)
    private static func between(_ first: Float, _ second: Float, _ share: Float) -> Float {
        let rest = 1 - share
        return (first * rest + second * share) / (rest * rest + share * share).squareRoot()
    }
}
