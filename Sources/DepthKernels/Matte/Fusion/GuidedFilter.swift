import CDepthKernels

/// A linear model of the matte in the video's colors for every small window: P ≈ a · color + b by least squares.
///
///     a = (Σ + ε)⁻¹ cov(color, P),   b = mean(P) − a · mean(color)
///
/// and box means of a and b. The statistics are those of cells of 4x4 samples, a close approximation.
///
/// Source: He, Sun, Tang, "Guided Image Filtering", ECCV 2010, eq. 19; cells: He and Sun, "Fast Guided Filter",
/// arXiv 1505.00996. Stage 5 of the method (`Fusion`).
struct GuidedFilter: ~Copyable {
    /// Samples of the grid along each side of a cell.
    static let cell = 4
    /// Half the window, in samples of a grid 640 wide; other grids scale it.
    static let radius = 8.0
    /// The smallest variance of a color that is an edge: (2.5/255)².
    private static let epsilon: Float = 1e-4

    /// The lines of a row of cells: three of color, P, and their nine products (`LoopSet.sumProducts`).
    private static let lineCount = 13
    /// The model's: a for each color, and b.
    static let modelPlanes = 4

    private var lastCells: Cells?
    private var tiles = Scratch<UInt64>()
    private var statistics = Scratch<Float>()
    private var models = Scratch<Float>()
    private var result = Scratch<Float>()

    /// The cells of a grid.
    @safe
    final class Cells {
        let grid: WorkGrid
        let width: Int
        let height: Int
        /// Half the window, in cells.
        let radius: Int
        /// Numbers from one line of cells to the next. A line has half a window of padding before and after it, and room
        /// for the rest of a vector.
        let stride: Int
        fileprivate let columns: AreaTaps
        fileprivate let rows: AreaTaps
        /// The cells that stand in for those of each row, from half a window before the first to half a window after the
        /// last: mirrored beyond the edge, with the outermost cell repeated. The same for columns.
        fileprivate let mirroredRows: UnsafePointer<Int32>
        fileprivate let mirroredColumns: UnsafePointer<Int32>
        private var mirrored = Scratch<Int32>()

        init(of grid: WorkGrid) {
            self.grid = grid
            width = max(1, grid.width / GuidedFilter.cell)
            height = max(1, grid.height / GuidedFilter.cell)
            radius = nearestIndex(grid.samples(GuidedFilter.radius) / Double(GuidedFilter.cell), in: 1...1024)
            stride = width + 2 * radius + 7
            columns = AreaTaps(count: width, pixels: grid.width, first: 0, size: Double(grid.width) / Double(width))
            rows = AreaTaps(count: height, pixels: grid.height, first: 0, size: Double(grid.height) / Double(height))
            let memory = unsafe mirrored.reserve(height + width + 4 * radius)
            for index in 0..<(height + 2 * radius) { unsafe memory[index] = Cells.mirrored(index - radius, height) }
            unsafe mirroredRows = UnsafePointer(memory)
            let others = unsafe memory + (height + 2 * radius)
            for index in 0..<(width + 2 * radius) { unsafe others[index] = Cells.mirrored(index - radius, width) }
            unsafe mirroredColumns = UnsafePointer(others)
        }

        private static func mirrored(_ index: Int, _ count: Int) -> Int32 {
            let period = 2 * count
            let inside = ((index % period) + period) % period
            return Int32(truncatingIfNeeded: inside < count ? inside : period - 1 - inside)
        }

        /// True where all cells are of 4x4 samples.
        fileprivate var isWhole: Bool {
            grid.width == width * GuidedFilter.cell && grid.height == height * GuidedFilter.cell
        }

        /// The largest distance of a sample from the cells that its model depends on, in samples: two windows and one
        /// cell of interpolation more.
        fileprivate var reach: Int {
            (2 * radius + 2) * max(groups(of: width, in: grid.width), groups(of: height, in: grid.height))
        }
    }

    mutating func cells(of grid: WorkGrid) -> Cells {
        if let lastCells, lastCells.grid == grid { return lastCells }
        let cells = Cells(of: grid)
        lastCells = cells
        return cells
    }

    /// Fits the model.
    ///
    /// - Parameters:
    ///   - colors: three planes of the grid's size.
    ///   - matte: P of every sample.
    ///   - drawn: the columns of samples that the model is for; a row for each strip of the drawing.
    ///   - map: of the bytes of the video to those colors.
    /// - Returns: a and b of the cells about those samples for the bytes of the video, valid until the next call: four
    ///   lines for each row of cells. Other cells are undefined.
    mutating func fit(
        _ colors: UnsafePointer<Float>, _ matte: UnsafePointer<Float>, for drawn: SampleSet, _ map: ColorMap,
        _ context: FusionContext
    ) -> UnsafePointer<Float> {
        let (grid, cells) = (context.grid, cells(of: context.grid))
        let tiles = findTiles(drawn, cells)
        func reserve(_ memory: inout Scratch<Float>, lines: Int) -> UnsafeMutablePointer<Float> {
            unsafe memory.reserve(lines * cells.height * cells.stride, filler: 0)
        }
        let lines = unsafe (
            reserve(&statistics, lines: GuidedFilter.lineCount), reserve(&models, lines: GuidedFilter.modelPlanes),
            reserve(&result, lines: GuidedFilter.modelPlanes)
        )
        for pass in [Fit.Pass.statistics, .models, .means] {
            let fit = unsafe Fit(
                pass: pass, cells: cells, tiles: tiles, map: map, colors: colors, matte: matte, statistics: lines.0,
                models: lines.1, result: lines.2, loops: context.loops)
            // The cost of a cell is that of its samples.
            context.bands.share(fit, rows: cells.height, width: grid.width * GuidedFilter.cell)
        }
        return unsafe UnsafePointer(lines.2)
    }

    /// The tiles with cells that the model of some samples depends on; a row for each strip of the drawing.
    private mutating func findTiles(_ drawn: SampleSet, _ cells: Cells) -> TileSet {
        let (size, height) = (TileSet.size, drawn.height)
        let memory = unsafe tiles.reserve(2 * height, filler: 0)
        let (wide, tiles) = unsafe (TileSet(memory), TileSet(memory + height))
        for strip in 0..<height {
            var row: UInt64 = 0
            for tile in 0..<groups(of: size, in: drawn.width) where drawn.bits(strip)[block: tile] != 0 {
                row |= 1 &<< UInt64(truncatingIfNeeded: tile)
            }
            for _ in 0..<groups(of: size, in: cells.reach) { row |= row &<< 1 | row &>> 1 }
            wide[strip] = row & TileSet.all(on: cells.grid)
        }
        let reach = groups(of: Drawing.stripRows, in: cells.reach)
        for strip in 0..<height {
            tiles[strip] = 0
            for other in max(strip - reach, 0)..<min(strip + reach + 1, height) { tiles[strip] |= wide[other] }
        }
        return tiles
    }

    /// A pass over the cells.
    @safe
    private struct Fit: BandWork {
        enum Pass {
            /// Averages samples over cells, multiplies, and sums up along rows.
            case statistics
            /// Computes a and b from the statistics of windows, and sums them along rows.
            case models
            /// Computes the means of a and b over windows.
            case means
        }

        let pass: Pass
        let cells: Cells
        /// Those to compute, a row for each strip of the drawing.
        let tiles: TileSet
        let map: ColorMap
        let colors: UnsafePointer<Float>
        let matte: UnsafePointer<Float>
        /// The lines of every row of cells, summed along rows.
        let statistics: UnsafeMutablePointer<Float>
        /// a and b, summed along rows.
        let models: UnsafeMutablePointer<Float>
        let result: UnsafeMutablePointer<Float>
        let loops: Loops

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (grid, window) = (cells.grid, 2 * cells.radius + 1)
            let room = GuidedFilter.modelPlanes * cells.stride
            let lines = unsafe memory.line.reserve(room + grid.width + cells.radius, filler: 0) + cells.radius
            for y in rows {
                let strip = y &* grid.height / cells.height / Drawing.stripRows
                let (sums, models) = unsafe (
                    statistics + y &* GuidedFilter.lineCount &* cells.stride, models + y &* room
                )
                TileSet.forEachRun(of: tiles[strip], on: grid) { samples in
                    let first = samples.lowerBound &* cells.width / grid.width
                    let run = unsafe dm_cell_run(
                        first: first, end: groups(of: grid.width, in: samples.upperBound &* cells.width),
                        width: cells.width, stride: cells.stride, radius: cells.radius, rows: cells.mirroredRows + y,
                        columns: cells.mirroredColumns + cells.radius, factor: 1 / Float(window * window))
                    switch pass {
                    case .statistics:
                        for plane in 0..<4 {
                            let source = unsafe plane < 3 ? colors + plane &* grid.count : matte
                            unsafe average(source, row: y, run, lines + room, into: lines + plane &* cells.stride)
                        }
                        unsafe loops.sumProducts(lines, run, into: sums)
                    case .models:
                        unsafe loops.solveModels(
                            statistics, run, epsilon: GuidedFilter.epsilon, lines: lines, into: models)
                    case .means:
                        let target = unsafe result + y &* room
                        unsafe loops.averageModels(self.models, run, into: target)
                        unsafe map.pullBack(target + first, stride: cells.stride, count: run.end &- first)
                    }
                }
            }
        }

        /// Averages samples over a run of cells, and half a window more on each side.
        ///
        /// - Parameter line: scratch memory for a row of samples.
        private func average(
            _ source: UnsafePointer<Float>, row y: Int, _ run: dm_cell_run, _ line: UnsafeMutablePointer<Float>,
            into target: UnsafeMutablePointer<Float>
        ) {
            let (width, size) = (cells.grid.width, GuidedFilter.cell)
            if cells.isWhole {
                let first = unsafe max(run.first &- run.radius, 0)
                return unsafe loops.averageSquares(
                    source + size &* (y &* width &+ first), stride: width, side: size,
                    count: min(run.end &+ run.radius, run.width) &- first, into: target + first)
            }
            for tap in 0..<cells.rows.taps {
                unsafe loops.addRow(
                    source + (Int(cells.rows.first[y]) &+ tap) &* width,
                    weight: cells.rows.weight(of: y, tap: tap), isFirst: tap == 0, count: width, into: line)
            }
            unsafe cells.columns.average(line, into: target, loops)
        }
    }
}
