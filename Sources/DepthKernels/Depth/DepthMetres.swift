import CDepthKernels

/// Reads a depth map row by row as metres, in single precision.
///
/// A sample that is not measured (`DepthImage.metres(x:y:scale:)` is nil) is 0, negative, infinite or NaN in the row.
struct DepthMetres: ~Copyable {
    private var counts = Scratch<UInt16>()
    private var metres = Scratch<Float>()
    /// The counts that the last scale measures.
    private var measured: (scale: DepthScale, fullScale: Int, counts: CountRange)?

    /// The largest number of samples that follow the map's last one in memory.
    static let padding = 16

    /// The samples of row `y`, and zeros up to the next multiple of 16.
    ///
    /// - Precondition: the row is in the map.
    mutating func row(
        _ y: Int, of depth: DepthImage, scale: DepthScale, _ loops: Loops
    ) -> UnsafePointer<Float> {
        let width = depth.width
        let metres = unsafe metres.reserve(width + DepthMetres.padding, filler: 0)
        for index in width..<(width + DepthMetres.padding) { unsafe metres[index] = 0 }
        unsafe read(y, of: depth, scale: scale, into: metres, loops)
        return unsafe UnsafePointer(metres)
    }

    /// Reads the samples of row `y`.
    ///
    /// - Precondition: the row is in the map.
    mutating func read(
        _ y: Int, of depth: DepthImage, scale: DepthScale, into metres: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        let width = depth.width
        guard let fullScale = depth.encoding.fullScale else {
            for x in 0..<width { unsafe metres[x] = depth.storedMetres(x: x, y: y) }
            return
        }
        let isSame = measured?.scale == scale && measured?.fullScale == fullScale
        let known = isSame ? measured?.counts : nil
        let counts = known ?? CountRange(measuredBy: scale, fullScale: fullScale)
        measured = (scale, fullScale, counts)
        let (unit, bias) =
            switch scale.kind {
            case .metric, .disparity: (scale.unit, scale.bias)
            case .relative: (1 / Double(fullScale), 0)
            case .relativeInverted: (-1 / Double(fullScale), 1)
            }
        unsafe loops.metresOfCounts(
            nativeCounts(y, of: depth), count: width,
            .init(
                unit: Float(unit), bias: Float(bias),
                first: Int32(truncatingIfNeeded: counts.start), end: Int32(truncatingIfNeeded: counts.end),
                hole: Int32(clamping: counts.hole), is_inverse: scale.kind != .metric),
            into: metres)
    }

    /// The counts of a row as 16-bit integers in native byte order; the map's own memory where it has that format.
    private mutating func nativeCounts(_ y: Int, of depth: DepthImage) -> UnsafeRawPointer {
        let row = unsafe depth.plane.row(y)
        if UInt16(littleEndian: 1) == 1 && depth.encoding == .gray16LE { return unsafe row }
        let counts = unsafe counts.reserve(depth.width, filler: 0)
        switch depth.encoding {
        case .gray16LE:
            for x in 0..<depth.width {
                unsafe counts[x] = UInt16(
                    littleEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self))
            }
        case .gray16BE:
            for x in 0..<depth.width {
                unsafe counts[x] = UInt16(bigEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self))
            }
        case .gray8, .float32LE, .float16LE:
            for x in 0..<depth.width { unsafe counts[x] = UInt16(truncatingIfNeeded: depth.count(x: x, y: y)) }
        }
        return UnsafeRawPointer(counts)
    }
}
