/// The alpha of a sample that several pixels share: their mean, rounded to nearest, halves up.
///
/// - Precondition: both ranges lie inside the plane and are not empty.
package func meanAlpha(_ alpha: Plane, columns: Range<Int>, rows: Range<Int>) -> UInt8 {
    unsafe meanAlpha(
        alpha.row(rows.lowerBound).assumingMemoryBound(to: UInt8.self), stride: alpha.stride, columns: columns,
        rows: rows.count)
}

private func meanAlpha(_ upper: UnsafePointer<UInt8>, stride: Int, columns: Range<Int>, rows: Int) -> UInt8 {
    var sum = 0
    for y in 0..<rows {
        for x in columns { unsafe sum &+= Int(upper[y &* stride &+ x]) }
    }
    let count = columns.count &* rows
    return UInt8(truncatingIfNeeded: (sum &+ count / 2) / count)
}

/// Where the samples of pixels begin and end in a row.
struct SampleBytes: BitwiseCopyable {
    private let columns: Int
    private let shift: Int
    private let bytes: Int

    init(_ spread: AlphaSpread) {
        columns = spread.columnsPerSample
        shift = columns.trailingZeroBitCount
        bytes = spread.bytesPerSample
    }

    /// The first byte of the sample that pixel `x` belongs to.
    @inline(__always)
    private func start(_ x: Int) -> Int { (x &>> shift) &* bytes }

    /// The first byte behind the sample of the pixel before `x`.
    @inline(__always)
    private func end(_ x: Int) -> Int { start(x &+ columns &- 1) }

    /// Where the samples of pixels `first`..<`end` begin, and how many bytes they have.
    @inline(__always)
    func place(from first: Int, to end: Int) -> (start: Int, count: Int) {
        let start = start(first)
        return (start, self.end(end) &- start)
    }
}

extension AlphaSpread {
    /// Writes the alpha of every byte that belongs to a run of pixels, one after the other.
    ///
    /// - parameter upper: the run's alpha in the first of the rows that share the samples.
    /// - parameter rows: how many rows those are, each `stride` bytes after the one before.
    /// - Precondition: the run starts where a sample does; `target` has room for the run's bytes.
    func spread(
        upper: UnsafePointer<UInt8>, stride: Int, rows: Int, pixels: Int, into target: UnsafeMutablePointer<UInt8>,
        _ loops: Loops
    ) {
        switch self {
        case .full(let bytes):
            unsafe loops.repeatEach(upper, count: pixels, times: max(bytes, 1), into: target)
        case .subsampled(let horizontal, let vertical, let bytes):
            if horizontal == 2, vertical == 1 || vertical == 2 {
                unsafe loops.meansOfPairs(
                    upper: upper, lower: upper + (rows &- 1) &* stride, count: pixels, into: target)
            } else {
                unsafe means(upper, stride: stride, rows: rows, pixels: pixels, into: target)
            }
            if bytes > 1 {
                unsafe loops.repeatInPlace(target, count: groups(of: columnsPerSample, in: pixels), times: bytes)
            }
        case .packed422(let lumaFirst):
            unsafe loops.spreadPacked422(upper, count: pixels, lumaFirst: lumaFirst, into: target)
        }
    }

    private func means(
        _ upper: UnsafePointer<UInt8>, stride: Int, rows: Int, pixels: Int, into target: UnsafeMutablePointer<UInt8>
    ) {
        for index in 0..<groups(of: columnsPerSample, in: pixels) {
            let first = index &* columnsPerSample
            unsafe target[index] = meanAlpha(
                upper, stride: stride, columns: first..<min(first &+ columnsPerSample, pixels), rows: rows)
        }
    }
}
