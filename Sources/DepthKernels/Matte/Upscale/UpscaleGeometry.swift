/// The part of the interpolation that does not depend on the opacities: taps, weights and ranges.
final class UpscaleGeometry {
    /// Rows of the map that a strip of video rows takes, less those that it shares with its neighbours.
    private static let sourceRowsOfStrip = 8.0

    let placement: DepthPlacement
    let upscale: Upscale
    let grid: CellGrid
    /// Video pixels whose center lies on the map.
    let columns: Range<Int>
    let rows: Range<Int>
    /// Video rows that are computed at a time.
    let rowsPerStrip: Int
    let rowTaps: ResampleTaps
    let columnTaps: ResampleTaps
    /// The taps of the columns in the layout of `dm_column_taps`, whose numbers start a margin before the map.
    let columnTable: [Int32]
    /// For every segment of a row of alpha, the blocks that its pixels depend on; nil where no pixel lies on the map.
    /// `isInside` is true where all pixels do.
    let segments: [(blocks: ClosedRange<Int>, isInside: Bool)?]
    /// The strip of each video row.
    let stripOfRow: [Int32]

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
        let perStrip = floorIndex(
            UpscaleGeometry.sourceRowsOfStrip * Double(grid.cellSize) / scaleY, in: 1...placement.videoHeight)
        rowsPerStrip = perStrip
        stripOfRow = (0..<placement.videoHeight).map { Int32(truncatingIfNeeded: $0 / perStrip) }
        func pair(_ one: Int16, _ other: Int16) -> Int32 {
            Int32(truncatingIfNeeded: UInt32(UInt16(bitPattern: one)) | UInt32(UInt16(bitPattern: other)) << 16)
        }
        columnTable =
            taps.first.map { Int32(truncatingIfNeeded: $0 + OpacityMap.margin) }
            + taps.weights.map { pair($0[0], $0[1]) } + taps.weights.map { pair($0[2], $0[3]) }
        segments = stride(from: 0, to: placement.videoWidth, by: AlphaCovers.segmentWidth).map { start in
            let pixels = start..<min(start + AlphaCovers.segmentWidth, placement.videoWidth)
            let mine = pixels.clamped(to: columns)
            if mine.isEmpty { return nil }
            let samples = taps.sources(of: mine)
            return (samples.lowerBound / blockWidth...(samples.upperBound - 1) / blockWidth, mine == pixels)
        }
    }

    func fits(_ placement: DepthPlacement, _ upscale: Upscale, _ grid: CellGrid) -> Bool {
        self.placement == placement && self.upscale == upscale && self.grid == grid
    }

    /// The pixels whose center `position` maps into 0..<`extent`.
    private static func pixels(
        _ count: Int, onMapOf extent: Double, position: (Double) -> Double
    ) -> Range<Int> {
        let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
        return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
    }
}
