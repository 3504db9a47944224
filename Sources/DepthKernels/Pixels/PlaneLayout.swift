import CDepthKernels

/// The layout of one plane of a video format: the pixels that share a sample, and the bytes of a sample.
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

/// Converts columns of pixels to byte offsets in a row of samples.
struct SampleBytes: BitwiseCopyable {
    private let columns: Int
    private let shift: Int
    private let bytes: Int

    init(_ layout: PlaneLayout) {
        columns = layout.columnsPerSample
        shift = columns.trailingZeroBitCount
        bytes = layout.bytesPerSample
    }

    /// The first byte of the sample that pixel `x` belongs to.
    @inline(__always)
    private func start(_ x: Int) -> Int { (x &>> shift) &* bytes }

    /// The byte after the sample that pixel `x − 1` belongs to.
    @inline(__always)
    private func end(_ x: Int) -> Int { start(x &+ columns &- 1) }

    /// The offset of the first byte of the samples of pixels `first`..<`end`, and the number of their bytes.
    @inline(__always)
    func place(from first: Int, to end: Int) -> (start: Int, count: Int) {
        let start = start(first)
        return (start, self.end(end) &- start)
    }
}

extension PlaneLayout {
    /// Converts the alpha of a run of pixels into one byte of alpha for each byte of their samples.
    ///
    /// - Parameters:
    ///   - upper: the run's alpha in the first of the rows that share the samples.
    ///   - rows: the number of those rows, `stride` bytes apart.
    /// - Precondition: the run starts at the first pixel of a sample; `target` has room for the run's bytes.
    func expandAlpha(
        upper: UnsafePointer<UInt8>, stride: Int, rows: Int, pixels: Int, into target: UnsafeMutablePointer<UInt8>,
        _ loops: Loops
    ) {
        if case .packed422(let lumaFirst) = self {
            return unsafe loops.expandAlphaPacked422(upper, count: pixels, lumaFirst: lumaFirst, into: target)
        }
        unsafe loops.expandAlpha(
            upper, stride: stride,
            dm_alpha_run(pixels: pixels, rows: rows, columns: columnsPerSample, bytes: bytesPerSample), into: target)
    }
}
