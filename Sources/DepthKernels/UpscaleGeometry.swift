import DepthLoops

/// What an enlargement needs to know besides the opacities, made anew where the sizes, the placement, the kind of enlargement
/// or the matte's grid change. What is called a sample here is one of the map of opacities: a cell of the grid.
struct UpscaleGeometry {
    let placement: DepthPlacement
    let upscale: Upscale
    let grid: MatteGrid
    /// Video pixels whose centre lies on the map.
    let columns: Range<Int>
    let rows: Range<Int>
    /// Rows that are best read together: about as many as the rows of the map that are kept suffice for, so that what is
    /// found out once for all of them costs little.
    let rowsPerStrip: Int
    /// What the pixels of each column and of each row are made of.
    let columnTaps: FixedTaps
    let rowTaps: FixedTaps
    /// For each row of the video the four rows of the map that it is made of, unless it lies on a line between others.
    let rowSources: [SIMD4<Int>]
    /// Which rows of the video are made of others of its rows.
    let lines: RowLines
    /// For each edge between samples of the map, the first video column that needs nothing on its left…
    let firstBehind: [Int]
    /// …and the first one that needs something on its right.
    let firstAcross: [Int]
    /// For each group of samples, the first of the pixels that are stretched with it; and the end of the last.
    let firstOwned: [Int]
    /// For each video column, the group that it is stretched with.
    let owner: [Int]
    /// Where every sample of a group is stretched in the same way.
    let even: EvenGroups

    /// - Precondition: the grid is one of the placement's depth map.
    init(placement: DepthPlacement, upscale: Upscale, grid: MatteGrid) {
        self.placement = placement
        self.upscale = upscale
        self.grid = grid
        let scaleX = Double(placement.depthWidth) / placement.width
        let scaleY = Double(placement.depthHeight) / placement.height
        columnTaps = FixedTaps(
            upscale, count: placement.videoWidth, samples: placement.depthWidth, scale: scaleX,
            origin: -placement.left * scaleX, grid: grid, unit: FixedTaps.columnUnit)
        rowTaps = FixedTaps(
            upscale, count: placement.videoHeight, samples: placement.depthHeight, scale: scaleY,
            origin: -placement.top * scaleY, grid: grid, unit: FixedTaps.rowUnit)
        columns = UpscaleGeometry.pixels(placement.videoWidth, onMapOf: Double(placement.depthWidth)) {
            placement.depthPoint(videoX: $0, videoY: 0).x
        }
        rows = UpscaleGeometry.pixels(placement.videoHeight, onMapOf: Double(placement.depthHeight)) {
            placement.depthPoint(videoX: 0, videoY: $0).y
        }
        rowSources = (0..<placement.videoHeight).map { [rowTaps] in rowTaps.foldedSources(of: $0) }
        let rowsPerSource = Double(grid.cellSize) / scaleY
        rowsPerStrip = floorIndex(
            Double(AlphaRows.rowsKept - AlphaRows.taps) * rowsPerSource, in: 1...AlphaRows.largestStrip)
        lines = RowLines(rows, grid, rowsPerCell: rowsPerSource)
        (firstBehind, firstAcross) = UpscaleGeometry.crossings(
            Array(0...grid.width), taps: columnTaps, columns: columns)
        let isWhole = placement.left == 0 && placement.width == Double(placement.videoWidth)
        let pixelsPerSample = isWhole ? placement.videoWidth / placement.depthWidth : 0
        let isEven = pixelsPerSample > 0 && pixelsPerSample * placement.depthWidth == placement.videoWidth
        // A pixel goes with the sample that it lies on, or with its second tap: so all its taps are within two samples of that.
        let (taps, last) = (columnTaps, grid.width - 1)
        let owner = (0..<placement.videoWidth).map { x in
            let sample = isEven ? grid.cell(of: x / pixelsPerSample) : taps.first[x] + 1
            return min(max(sample, 0), last) / AlphaRows.groupWidth
        }
        let columns = columns
        firstOwned = (0...groups(of: AlphaRows.groupWidth, in: grid.width)).map { group in
            columns.lowerBound + partitionPoint(columns.count) { owner[columns.lowerBound + $0] >= group }
        }
        self.owner = owner
        even = isEven ? EvenGroups(taps, grid, pixelsPerSample: pixelsPerSample) : .none
    }

    /// The pixels whose centre `position` puts into 0..<`extent`.
    private static func pixels(
        _ count: Int, onMapOf extent: Double, position: (Double) -> Double
    ) -> Range<Int> {
        let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
        return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
    }

    private static func crossings(
        _ edges: [Int], taps: FixedTaps, columns: Range<Int>
    ) -> (behind: [Int], across: [Int]) {
        func first(where predicate: (Int) -> Bool) -> Int {
            columns.lowerBound + partitionPoint(columns.count) { predicate(columns.lowerBound + $0) }
        }
        let behind = edges.map { edge in first { taps.sources(of: $0).lowerBound >= edge } }
        let across = edges.map { edge in first { taps.sources(of: $0).upperBound > edge } }
        return (behind, across)
    }

    /// The rows of the map that a row of the video depends on.
    func sourceRows(of y: Int) -> Range<Int> {
        guard lines.rows.contains(y) else { return rowTaps.sources(of: y) }
        let knot = knot(above: y)
        return rowTaps.sources(of: knot).lowerBound..<rowTaps.sources(of: knot &+ rowsPerKnot).upperBound
    }
}

/// The rows that lie between others, the knots, where alpha goes straight along each column.
///
/// A blur on cells (`MatteGrid`) has a sigma of 2.5 of them at least. The second derivative of a step so blurred, and of its
/// powers of 0.5 to 2, is at most 0.4/σ²: over half a cell a straight line is wrong by half a byte's step at most. To that
/// comes that rows lie on cells as an enlarged map would have them (`FixedTaps`), which is straight neither between the
/// samples nor beyond the outermost. In cells of 8 samples that is little; in smaller ones it is not.
struct RowLines: Equatable {
    /// Those with a knot at or above and one below them, both on the map.
    let rows: Range<Int>

    private static let leastCellSize = 8

    /// - parameter onMap: rows whose centre lies on the map.
    fileprivate init(_ onMap: Range<Int>, _ grid: MatteGrid, rowsPerCell: Double) {
        // Knots do not depend on where a strip or a band begins.
        let first = groups(of: rowsPerKnot, in: onMap.lowerBound) * rowsPerKnot
        let last = knot(above: max(onMap.upperBound - 1, 0))
        let isSmooth = grid.cellSize >= RowLines.leastCellSize && rowsPerCell >= 2 * Double(rowsPerKnot)
        rows = isSmooth && first < last ? first..<last : 0..<0
    }
}

/// - Precondition: `y >= 0`.
func knot(above y: Int) -> Int { y & ~(rowsPerKnot &- 1) }

/// The groups of samples that are all stretched to the same whole number of pixels with the same weights, as
/// `Loops.stretchEvenly` does.
struct EvenGroups {
    let groups: Range<Int>
    /// Pixels for each sample.
    let ratio: Int
    /// For each of the four taps the weights of those pixels.
    let weights: [Int16]

    static let none = EvenGroups(groups: 0..<0, ratio: 1, weights: [0])

    private init(groups: Range<Int>, ratio: Int, weights: [Int16]) {
        self.groups = groups
        self.ratio = ratio
        self.weights = weights
    }

    /// - parameter pixelsPerSample: pixels for each sample of the depth map.
    /// - Precondition: pixel 0 is the first of the depth map's first sample.
    init(_ taps: FixedTaps, _ grid: MatteGrid, pixelsPerSample: Int) {
        let ratio = grid.cellSize * pixelsPerSample
        /// What a pixel of a sample takes from the two samples before it, from itself and from the two behind.
        func five(_ sample: Int, _ phase: Int) -> SIMD8<Int16>? {
            let x = grid.firstSample(of: sample) * pixelsPerSample + phase
            guard taps.first.indices.contains(x) else { return nil }
            let (offset, weights) = (taps.first[x] - (sample - 2), taps.weights(of: x))
            guard offset == 0 || offset == 1 else { return nil }
            var five = SIMD8<Int16>()
            for tap in 0..<4 { five[offset + tap] = weights[tap] }
            return five
        }
        /// The taps of a sample's left half begin one sample before those of its right half.
        func firstTap(_ phase: Int) -> Int { 2 * phase + 1 < ratio ? 0 : 1 }
        let usual = (0..<ratio).compactMap { five(grid.width / 2, $0) }
        guard ratio <= EvenGroups.largestRatio, usual.count == ratio,
            usual.indices.allSatisfy({ -1...1 ~= usual[$0][4 - 4 * firstTap($0)] })
        else {
            self = .none
            return
        }
        func isUsual(_ sample: Int) -> Bool {
            (0..<ratio).allSatisfy { phase in
                // Positions are rounded: the last digit of a weight differs from sample to sample.
                guard let difference = five(sample, phase).map({ $0 &- usual[phase] }) else { return false }
                return difference.min() >= -1 && difference.max() <= 1
            }
        }
        func isEven(_ group: Int) -> Bool {
            let start = group * AlphaRows.groupWidth
            return (start..<min(start + AlphaRows.groupWidth, grid.width)).allSatisfy(isUsual)
        }
        let count = DepthKernels.groups(of: AlphaRows.groupWidth, in: grid.width)
        let start = (0..<count).first(where: isEven) ?? count
        self.init(
            groups: start..<((start..<count).first { !isEven($0) } ?? count), ratio: ratio,
            weights: (0..<4).flatMap { tap in
                (0..<ratio).map { phase in usual[phase][firstTap(phase) + tap] }
            })
    }

    private static let largestRatio = 64
}
