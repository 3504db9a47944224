/// The median of many depth samples, without storing or sorting them.
///
/// Every measured sample has a key, an integer that is monotone in its distance. Radix selection finds the k-th
/// smallest key digit by digit: a histogram of the top eight bits gives the bin of the k-th key, and only samples of
/// that bin count for the next eight bits. Each digit is one pass over the samples.
struct MedianSearch {
    let image: DepthImage
    let scale: DepthScale
    private let counts: CountRange?

    init(image: DepthImage, scale: DepthScale) {
        self.image = image
        self.scale = scale
        counts = image.encoding.fullScale.map { CountRange(measuredBy: scale, fullScale: $0) }
    }

    /// Bits in a key: counts have 16, and the bit pattern of a positive float, which orders as the float does, has 32.
    private var keyBits: Int { counts == nil ? 32 : 16 }

    /// The key of a sample, nil where it was not measured.
    ///
    /// - Precondition: the sample is inside the map.
    @inline(__always)
    func key(x: Int, y: Int) -> UInt32? {
        if let counts {
            let count = image.count(x: x, y: y)
            return counts.contains(count) ? UInt32(truncatingIfNeeded: count) : nil
        }
        let metres = image.storedMetres(x: x, y: y)
        return metres > 0 && metres <= .greatestFiniteMagnitude ? metres.bitPattern : nil
    }

    /// The distance that a key stands for.
    @inline(__always)
    func metres(key: UInt32) -> Double {
        guard let fullScale = image.encoding.fullScale else { return Double(Float(bitPattern: key)) }
        return scale.distance(count: Int(key), fullScale: fullScale)
    }

    /// The median of the measured samples of `grid` for which `counts` is true, in metres; nil if there is none. For an
    /// even number of samples it is the mean of the two in the middle, in double precision.
    func median(of grid: SampleGrid, where counts: (_ metres: Double) -> Bool = { _ in true }) -> Double? {
        var total = 0
        grid.forEach { x, y in
            if let key = key(x: x, y: y), counts(metres(key: key)) { total &+= 1 }
        }
        guard total > 0 else { return nil }
        let upper = metres(key: key(rank: total / 2, of: grid, where: counts))
        guard total.isMultiple(of: 2) else { return upper }
        return (metres(key: key(rank: total / 2 - 1, of: grid, where: counts)) + upper) / 2
    }

    /// The `rank`-th smallest key, counted from 0.
    private func key(rank: Int, of grid: SampleGrid, where counts: (Double) -> Bool) -> UInt32 {
        var prefix: UInt32 = 0
        var remaining = rank
        var shift = keyBits - 8
        while shift >= 0 {
            let histogram = histogram(of: grid, where: counts, prefix: prefix, shift: shift)
            let bins = histogram.span  // each access to an element of the array itself may copy it whole
            var digit = 0
            while digit < 255, remaining >= bins[digit] {
                remaining -= bins[digit]
                digit += 1
            }
            prefix = prefix << 8 | UInt32(truncatingIfNeeded: digit)
            shift -= 8
        }
        return prefix
    }

    /// Histogram of the digits that follow `prefix` in the keys.
    private func histogram(
        of grid: SampleGrid, where counts: (Double) -> Bool, prefix: UInt32, shift: Int
    ) -> InlineArray<256, Int> {
        var bins = InlineArray<256, Int>(repeating: 0)
        grid.forEach { x, y in
            guard let key = key(x: x, y: y), counts(metres(key: key)) else { return }
            // Swift's >> by 32 or more gives 0, as needed for the first digit of a 32-bit key.
            guard key >> UInt32(truncatingIfNeeded: shift + 8) == prefix else { return }
            bins[Int(truncatingIfNeeded: key >> UInt32(truncatingIfNeeded: shift) & 255)] &+= 1
        }
        return bins
    }
}

/// Every `step`-th sample, along both axes, of a rectangle of a depth map.
struct SampleGrid {
    private let columns: Range<Int>
    private let rows: Range<Int>
    private let step: Int

    /// The part of the rectangle that lies inside the map; it may be empty.
    init(columns: Range<Int>, rows: Range<Int>, step: Int = 1, in image: DepthImage) {
        self.columns = columns.clamped(to: 0..<image.width)
        self.rows = rows.clamped(to: 0..<image.height)
        self.step = max(step, 1)
    }

    @inline(__always)
    func forEach(_ body: (_ x: Int, _ y: Int) -> Void) {
        var y = rows.lowerBound
        while y < rows.upperBound {
            var x = columns.lowerBound
            while x < columns.upperBound {
                body(x, y)
                x &+= step
            }
            y &+= step
        }
    }
}
