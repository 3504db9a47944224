/// The interpolation that brings the matte from the depth map's size to the video's.
package enum Upscale: Int, Sendable, CaseIterable {
    /// Keys' cubic with B = 0, C = 0.75: four taps along each axis.
    case bicubic
    /// Two taps along each axis.
    case bilinear

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .bicubic: "Cubic convolution with B = 0, C = 0.75"
        case .bilinear: "Linear between neighbours"
        }
    }
}

/// The stage that brings the matte to the video's size, as its rows are read (`UpscaleReader`).
///
/// The state is the last frame's opacities, which reads refer to, and the geometry, which depends on sizes and settings
/// alone.
///
/// Source: step 5 of Apple's sample, `CIBicubicScaleTransform` with B = 0 and C = 0.75.
struct Upscaler {
    private var geometry: UpscaleGeometry?
    /// Nil where nothing of the frame is shown.
    private var opacities: OpacityMap?

    /// Makes the alpha of the frame 0.
    mutating func hideAll() { opacities = nil }

    /// - Precondition: the map has the size of the grid, and the grid is one of the placement's depth map.
    mutating func show(_ opacities: OpacityMap, on grid: MatteGrid, _ placement: DepthPlacement, _ upscale: Upscale) {
        if geometry?.placement != placement || geometry?.upscale != upscale || geometry?.grid != grid {
            geometry = UpscaleGeometry(placement: placement, upscale: upscale, grid: grid)
        }
        self.opacities = opacities
    }

    /// The number of rows that are best read together.
    var rowsPerStrip: Int {
        guard opacities != nil, let geometry else { return rowsPerPlainStrip }
        return geometry.rowsPerStrip
    }

    /// True where the alpha of a pixel depends on video pixels beside it (`AlphaSource`).
    var looksAround: Bool { false }

    /// The reader of the frame's alpha on one thread.
    ///
    /// - Parameter video: the frame's own pixels, for interpolations that follow them.
    /// - Returns: nil where nothing is shown.
    func reader(over video: VideoPicture?, _ memory: MatteMemory, _ loops: Loops) -> (any AlphaReader)? {
        guard let opacities, let geometry else { return nil }
        let reader = memory.part(UpscaleReader.self)
        reader.begin(opacities, geometry, loops)
        return reader
    }
}

/// Everything about the interpolation that does not depend on the opacities.
final class UpscaleGeometry {
    let placement: DepthPlacement
    let upscale: Upscale
    let grid: MatteGrid
    /// Video pixels whose centre lies on the map.
    let columns: Range<Int>
    let rows: Range<Int>
    /// About as many rows as the rows of the map that are kept suffice for.
    let rowsPerStrip: Int
    let rowTaps: ResampleTaps
    /// The taps of the columns as the loops read them.
    let columnTable: [Int32]
    /// The samples of the map that the pixels of columns depend on.
    private let columnTaps: ResampleTaps
    /// For each edge between samples of the map, the first video column that depends on nothing on its left…
    let firstBehind: [Int]
    /// …and the first one that depends on something on its right.
    let firstAcross: [Int]

    /// - Precondition: the grid is one of the placement's depth map.
    init(placement: DepthPlacement, upscale: Upscale, grid: MatteGrid) {
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
            Double((UpscaleReader.rowsKept - UpscaleReader.taps) * grid.cellSize) / scaleY,
            in: 1...UpscaleReader.largestStrip)
        func pair(_ one: Int16, _ other: Int16) -> Int32 {
            Int32(truncatingIfNeeded: UInt32(UInt16(bitPattern: one)) | UInt32(UInt16(bitPattern: other)) << 16)
        }
        columnTable =
            taps.first.map { Int32(truncatingIfNeeded: $0 + UpscaleReader.lineMargin) }
            + taps.weights.map { pair($0[0], $0[1]) } + taps.weights.map { pair($0[2], $0[3]) }
        func firstColumn(where predicate: (Int) -> Bool) -> Int {
            columns.lowerBound + partitionPoint(columns.count) { predicate(columns.lowerBound + $0) }
        }
        firstBehind = (0...grid.width).map { edge in firstColumn { taps.sources(of: $0).lowerBound >= edge } }
        firstAcross = (0...grid.width).map { edge in firstColumn { taps.sources(of: $0).upperBound > edge } }
    }

    /// The pixels whose centre `position` puts into 0..<`extent`.
    private static func pixels(
        _ count: Int, onMapOf extent: Double, position: (Double) -> Double
    ) -> Range<Int> {
        let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
        return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
    }

    /// The blocks of a row of the map that some pixels depend on.
    ///
    /// - Precondition: the columns are on the map, and not none.
    func blocks(of columns: Range<Int>) -> ClosedRange<Int> {
        let samples = columnTaps.sources(of: columns)
        return (samples.lowerBound / blockWidth)...((samples.upperBound &- 1) / blockWidth)
    }
}
