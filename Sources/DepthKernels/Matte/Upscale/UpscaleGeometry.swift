/// The part of the interpolation that does not depend on the opacities: taps, weights and ranges.
final class UpscaleGeometry {
    /// The largest number of rows of the map that a video row depends on.
    private static let taps = 4
    /// Size of the ring buffer of resampled rows of the map: a power of two, and larger than `taps`.
    static let rowsKept = 8
    /// The largest number of video rows that are computed at a time.
    static let largestStrip = 32
    /// Padding of a line before the map's first sample. The first tap of a pixel lies at most two samples before it.
    static let lineMargin = 16

    let placement: DepthPlacement
    let upscale: Upscale
    let grid: CellGrid
    /// Video pixels whose center lies on the map.
    let columns: Range<Int>
    let rows: Range<Int>
    /// The number of video rows that the ring buffer suffices for, approximately.
    let rowsPerStrip: Int
    let rowTaps: ResampleTaps
    /// The taps of the columns in the layout of `dm_column_taps`.
    let columnTable: [Int32]
    /// The taps of the columns.
    private let columnTaps: ResampleTaps
    /// For each edge between samples of the map, the first video column that depends on no sample to the left of it…
    let firstClearOfLeft: [Int]
    /// …and the first one that depends on a sample to the right of it.
    let firstReachingRight: [Int]

    /// - Precondition: the grid is one of the placement's depth map.
    init(placement: DepthPlacement, upscale: Upscale, grid: CellGrid) {
        self.placement = placement
        self.upscale = upscale
        self.grid = grid
        let scaleX = Double(placement.depthWidth) / placement.width
        let scaleY = Double(placement.depthHeight) / placement.height
        let taps = ResampleTaps(
            upscale, count: placement.videoWidth, samples: placement.depthWidth, scale: scaleX,
            origin: -placement.left * scaleX, grid: grid, unit: ResampleTaps.columnUnit)
        columnTaps = taps
        rowTaps = ResampleTaps(
            upscale, count: placement.videoHeight, samples: placement.depthHeight, scale: scaleY,
            origin: -placement.top * scaleY, grid: grid, unit: ResampleTaps.rowUnit)
        let columns = UpscaleGeometry.pixels(placement.videoWidth, onMapOf: Double(placement.depthWidth)) {
            placement.depthPoint(videoX: $0, videoY: 0).x
        }
        self.columns = columns
        rows = UpscaleGeometry.pixels(placement.videoHeight, onMapOf: Double(placement.depthHeight)) {
            placement.depthPoint(videoX: 0, videoY: $0).y
        }
        rowsPerStrip = floorIndex(
            Double((UpscaleGeometry.rowsKept - UpscaleGeometry.taps) * grid.cellSize) / scaleY,
            in: 1...UpscaleGeometry.largestStrip)
        func pair(_ one: Int16, _ other: Int16) -> Int32 {
            Int32(truncatingIfNeeded: UInt32(UInt16(bitPattern: one)) | UInt32(UInt16(bitPattern: other)) << 16)
        }
        columnTable =
            taps.first.map { Int32(truncatingIfNeeded: $0 + UpscaleGeometry.lineMargin) }
            + taps.weights.map { pair($0[0], $0[1]) } + taps.weights.map { pair($0[2], $0[3]) }
        func firstColumn(where predicate: (Int) -> Bool) -> Int {
            columns.lowerBound + partitionPoint(columns.count) { predicate(columns.lowerBound + $0) }
        }
        firstClearOfLeft = (0...grid.width).map { edge in firstColumn { taps.sources(of: $0).lowerBound >= edge } }
        firstReachingRight = (0...grid.width).map { edge in firstColumn { taps.sources(of: $0).upperBound > edge } }
    }

    /// The pixels whose center `position` maps into 0..<`extent`.
    private static func pixels(
        _ count: Int, onMapOf extent: Double, position: (Double) -> Double
    ) -> Range<Int> {
        let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
        return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
    }

    /// The blocks of a row of the map that a range of columns depends on.
    ///
    /// - Precondition: the columns are on the map, and there is at least one.
    func blocks(of columns: Range<Int>) -> ClosedRange<Int> {
        let samples = columnTaps.sources(of: columns)
        return (samples.lowerBound / blockWidth)...((samples.upperBound &- 1) / blockWidth)
    }
}
