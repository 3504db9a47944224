/// The part of the interpolation that does not depend on the opacities: taps, weights and ranges.
final class UpscaleGeometry {
    /// Rows of the map that a strip of video rows takes, less those that it shares with its neighbours.
    private static let sourceRowsOfStrip = 8.0
    private static let leastStrips = 32

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
    /// For each first tap of a column from −2 on, the first column with that or a later one; then the number of columns.
    let columnStarts: [Int32]
    /// The first weight of each column, the second of each and so on, then zeros.
    let columnWeights: [Float]
    /// For every segment of a row of alpha, the samples that its pixels depend on; nil where no pixel lies on the map.
    /// `isInside` is true where all pixels do.
    let segments: [(samples: Range<Int>, isInside: Bool)?]
    /// The strip of each video row.
    let stripOfRow: [Int32]

    /// - Precondition: the grid is one of the placement's depth map.
    init(placement: DepthPlacement, upscale: Upscale, grid: CellGrid) {
        self.placement = placement
        self.upscale = upscale
        self.grid = grid
        func makeTaps(_ count: Int, samples: Int, start: Double, extent: Double) -> ResampleTaps {
            let scale = Double(samples) / extent
            return ResampleTaps(
                upscale, count: count, samples: samples, scale: scale, origin: -start * scale, grid: grid)
        }
        let (width, height) = (placement.videoWidth, placement.videoHeight)
        let taps = makeTaps(width, samples: placement.depthWidth, start: placement.left, extent: placement.width)
        columnTaps = taps
        rowTaps = makeTaps(height, samples: placement.depthHeight, start: placement.top, extent: placement.height)
        let columns = UpscaleGeometry.pixels(width, onMapOf: Double(placement.depthWidth)) {
            placement.depthPoint(videoX: $0, videoY: 0).x
        }
        self.columns = columns
        rows = UpscaleGeometry.pixels(height, onMapOf: Double(placement.depthHeight)) {
            placement.depthPoint(videoX: 0, videoY: $0).y
        }
        let samplesPerRow = Double(placement.depthHeight) / placement.height
        // No fewer strips than keep the threads busy.
        let perStrip = floorIndex(
            UpscaleGeometry.sourceRowsOfStrip * Double(grid.cellSize) / samplesPerRow,
            in: 1...max(height / UpscaleGeometry.leastStrips, 1))
        rowsPerStrip = perStrip
        stripOfRow = (0..<height).map { Int32(truncatingIfNeeded: $0 / perStrip) }
        columnStarts = (-2...taps.sources - 1).map { first in
            Int32(truncatingIfNeeded: partitionPoint(width) { taps.first[$0] >= first })
        }
        columnWeights =
            (0..<4).flatMap { tap in taps.weights.map { $0[tap] } } + [Float](repeating: 0, count: loopOverrun)
        segments = stride(from: 0, to: width, by: AlphaCovers.segmentWidth).map { start in
            let pixels = start..<min(start + AlphaCovers.segmentWidth, width)
            let mine = pixels.clamped(to: columns)
            return mine.isEmpty ? nil : (taps.sources(of: mine), mine == pixels)
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
