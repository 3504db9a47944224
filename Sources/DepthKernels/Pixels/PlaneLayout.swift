import CDepthKernels

/// How the bytes in one plane of a video format share the alpha samples of the full-size matte.
package enum PlaneLayout: Equatable, Sendable, BitwiseCopyable {
    /// Every pixel has `bytesPerSample` bytes of its own.
    case full(bytesPerSample: Int)
    /// `horizontal` × `vertical` pixels share `bytesPerSample` bytes; `horizontal` is a power of two.
    case subsampled(horizontal: Int, vertical: Int, bytesPerSample: Int)
    /// Four bytes for two neighbours: Y U Y V where luma comes first, U Y V Y where it does not.
    case packed422(lumaFirst: Bool)

    /// Pixels along x that share a sample.
    var columnsPerSample: Int {
        switch self {
        case .full: return 1
        case .subsampled(let horizontal, _, _): return max(horizontal, 1)
        case .packed422: return 2
        }
    }

    /// Rows that share a sample.
    var rowsPerSample: Int {
        switch self {
        case .full, .packed422: return 1
        case .subsampled(_, let vertical, _): return max(vertical, 1)
        }
    }

    var bytesPerSample: Int {
        switch self {
        case .full(let bytes), .subsampled(_, _, let bytes): return max(bytes, 1)
        case .packed422: return 4
        }
    }
}

/// Where the samples of pixels begin and end in a row.
struct SampleBytes: BitwiseCopyable {
    private let columns: Int
    private let shift: Int
    private let bytes: Int

    init(_ spread: PlaneLayout) {
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

extension PlaneLayout {
    /// Writes the alpha of every byte that belongs to a run of pixels, one after the other.
    ///
    /// - Parameters:
    ///   - upper: the run's alpha in the first of the rows that share the samples.
    ///   - rows: how many rows those are, each `stride` bytes after the one before.
    /// - Precondition: the run starts where a sample does; `target` has room for the run's bytes.
    func spread(
        upper: UnsafePointer<UInt8>, stride: Int, rows: Int, pixels: Int, into target: UnsafeMutablePointer<UInt8>,
        _ loops: Loops
    ) {
        if case .packed422(let lumaFirst) = self {
            return unsafe loops.spreadPacked422(upper, count: pixels, lumaFirst: lumaFirst, into: target)
        }
        unsafe loops.spread(
            upper, stride: stride,
            dm_spread(pixels: pixels, rows: rows, columns: columnsPerSample, bytes: bytesPerSample), into: target)
    }
}
