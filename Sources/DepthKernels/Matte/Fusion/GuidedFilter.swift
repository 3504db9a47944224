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

    /// The planes of a fit: three of color, P, six products of colors, three products with P.
    private static let planeCount = 13
    /// The model's: a for each color, and b.
    static let modelPlanes = 4
    /// Pairs of planes: colors with colors, then colors with P.
    fileprivate static let products = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3)]

    private var lastCells: Cells?
    private var statistics = Scratch<Float>()
    private var models = Scratch<Float>()
    private var result = Scratch<Float>()

    /// The cells of a grid.
    final class Cells {
        let grid: WorkGrid
        let width: Int
        let height: Int
        /// Half the window, in cells.
        let radius: Int
        fileprivate let columns: AreaTaps
        fileprivate let rows: AreaTaps

        init(of grid: WorkGrid) {
            self.grid = grid
            width = max(1, grid.width / GuidedFilter.cell)
            height = max(1, grid.height / GuidedFilter.cell)
            radius = nearestIndex(grid.samples(GuidedFilter.radius) / Double(GuidedFilter.cell), in: 1...1024)
            columns = AreaTaps(count: width, pixels: grid.width, first: 0, size: Double(grid.width) / Double(width))
            rows = AreaTaps(count: height, pixels: grid.height, first: 0, size: Double(grid.height) / Double(height))
        }

        var count: Int { width * height }

        /// True where all cells are of 4x4 samples.
        fileprivate var isWhole: Bool {
            grid.width == width * GuidedFilter.cell && grid.height == height * GuidedFilter.cell
        }

        /// The cells that the model of a region of samples depends on: two windows and one cell of interpolation more
        /// on each side.
        func region(rows: Range<Int>, columns: Range<Int>) -> Region {
            let margin = 2 * radius + 2
            func range(_ samples: Range<Int>, _ all: Int, _ cells: Int) -> Range<Int> {
                let (first, end) = (samples.lowerBound * cells / all, groups(of: all, in: samples.upperBound * cells))
                return max(first - margin, 0)..<min(end + margin, cells)
            }
            return Region(rows: range(rows, grid.height, height), columns: range(columns, grid.width, width))
        }
    }

    /// A rectangle of cells.
    struct Region {
        let rows: Range<Int>
        let columns: Range<Int>
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
    ///   - map: of the bytes of the video to those colors.
    /// - Returns: a and b of the region's cells for the bytes of the video: four planes of all cells, valid until the
    ///   next call. Those within two windows of an edge of the region, unless it is one of the grid, are undefined.
    mutating func fit(
        _ colors: UnsafePointer<Float>, _ matte: UnsafePointer<Float>, _ region: Region, _ map: ColorMap,
        _ context: FusionContext
    ) -> UnsafePointer<Float> {
        let (grid, bands, loops) = (context.grid, context.bands, context.loops)
        let cells = cells(of: grid)
        let fit = unsafe Fit(
            cells: cells, region: region, map: map, colors: colors, matte: matte,
            statistics: statistics.reserve(GuidedFilter.planeCount * cells.count, filler: 0),
            models: models.reserve(GuidedFilter.modelPlanes * cells.count, filler: 0),
            result: result.reserve(GuidedFilter.modelPlanes * cells.count, filler: 0), loops: loops)
        // The cost of a cell is that of its samples.
        let width = grid.width * GuidedFilter.cell
        bands.share(Statistics(fit: fit), rows: region.rows.count, width: width)
        bands.share(Models(fit: fit), rows: region.rows.count, width: width)
        bands.share(Means(fit: fit), rows: region.rows.count, width: width)
        return unsafe UnsafePointer(fit.result)
    }

    /// Everything that the passes share.
    @safe
    fileprivate struct Fit {
        let cells: Cells
        let region: Region
        let map: ColorMap
        let colors: UnsafePointer<Float>
        let matte: UnsafePointer<Float>
        /// The planes of the fit, summed along rows.
        let statistics: UnsafeMutablePointer<Float>
        /// a and b, summed along rows.
        let models: UnsafeMutablePointer<Float>
        let result: UnsafeMutablePointer<Float>
        let loops: Loops

        var factor: Float { 1 / Float((2 * cells.radius + 1) * (2 * cells.radius + 1)) }

        /// Numbers from one line of the scratch memory to the next: a row with half a window of padding before and
        /// after it.
        var stride: Int { cells.width + 2 * cells.radius }

        /// Sums up the neighbours along a row; beyond the edge the cells are mirrored.
        ///
        /// - Parameter line: a row, with half a window of padding before and after it.
        func sumAlong(_ line: UnsafeMutablePointer<Float>, into target: UnsafeMutablePointer<Float>) {
            let columns = region.columns
            for offset in 1...cells.radius {
                let (left, right) = (columns.lowerBound - offset, columns.upperBound - 1 + offset)
                unsafe line[left] = line[Fit.mirrored(left, cells.width, in: columns)]
                unsafe line[right] = line[Fit.mirrored(right, cells.width, in: columns)]
            }
            unsafe loops.sumNeighbours(
                line + columns.lowerBound, radius: cells.radius, count: columns.count,
                into: target + columns.lowerBound)
        }

        /// Computes the means of windows from sums along rows.
        func average(_ plane: UnsafePointer<Float>, row y: Int, into target: UnsafeMutablePointer<Float>) {
            let columns = region.columns
            for offset in -cells.radius...cells.radius {
                let row = Fit.mirrored(y + offset, cells.height, in: region.rows)
                unsafe loops.addRow(
                    plane + row &* cells.width + columns.lowerBound, weight: factor,
                    isFirst: offset == -cells.radius, count: columns.count, into: target + columns.lowerBound)
            }
        }

        /// The cell that stands in for one beyond the edge: mirrored, with the outermost cell repeated. Beyond an edge
        /// of the region inside the grid it is an arbitrary cell of the region.
        private static func mirrored(_ index: Int, _ count: Int, in range: Range<Int>) -> Int {
            let period = 2 * count
            let inside = ((index % period) + period) % period
            let cell = inside < count ? inside : period - 1 - inside
            return min(max(cell, range.lowerBound), range.upperBound - 1)
        }
    }

    /// Averages samples over cells, multiplies, and sums up along rows.
    private struct Statistics: BandWork {
        let fit: Fit

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (cells, grid, loops) = (fit.cells, fit.cells.grid, fit.loops)
            let stride = fit.stride
            let lines = unsafe memory.line.reserve(GuidedFilter.planeCount * stride + grid.width, filler: 0)
            let samples = unsafe lines + GuidedFilter.planeCount &* stride
            func line(_ plane: Int) -> UnsafeMutablePointer<Float> { unsafe lines + plane &* stride + cells.radius }
            for y in rows {
                let y = fit.region.rows.lowerBound &+ y
                for plane in 0..<4 {
                    let source = unsafe plane < 3 ? fit.colors + plane &* grid.count : fit.matte
                    unsafe average(source, row: y, samples, into: line(plane))
                }
                let columns = fit.region.columns
                var product = 4
                for (one, other) in GuidedFilter.products {
                    unsafe loops.multiply(
                        line(one) + columns.lowerBound, line(other) + columns.lowerBound, count: columns.count,
                        into: line(product) + columns.lowerBound)
                    product &+= 1
                }
                for plane in 0..<GuidedFilter.planeCount {
                    let target = unsafe fit.statistics + (plane &* cells.height &+ y) &* cells.width
                    unsafe fit.sumAlong(line(plane), into: target)
                }
            }
        }

        /// - Parameter line: scratch memory for a row of samples.
        private func average(
            _ source: UnsafePointer<Float>, row y: Int, _ line: UnsafeMutablePointer<Float>,
            into target: UnsafeMutablePointer<Float>
        ) {
            let (cells, grid, loops, size) = (fit.cells, fit.cells.grid, fit.loops, GuidedFilter.cell)
            let columns = fit.region.columns
            if cells.isWhole {
                return unsafe loops.averageSquares(
                    source + size &* (y &* grid.width &+ columns.lowerBound), stride: grid.width, side: size,
                    count: columns.count, into: target + columns.lowerBound)
            }
            for tap in 0..<cells.rows.taps {
                unsafe loops.addRow(
                    source + (Int(cells.rows.first[y]) &+ tap) &* grid.width,
                    weight: cells.rows.weight(of: y, tap: tap), isFirst: tap == 0, count: grid.width, into: line)
            }
            unsafe cells.columns.average(line, into: target, loops)
        }
    }

    /// Computes a and b from the statistics of windows, and sums them along rows.
    private struct Models: BandWork {
        let fit: Fit

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (cells, columns) = (fit.cells, fit.region.columns)
            let stride = fit.stride
            let lines = unsafe memory.line.reserve(GuidedFilter.planeCount * stride, filler: 0)
            func line(_ plane: Int) -> UnsafeMutablePointer<Float> { unsafe lines + plane &* stride + cells.radius }
            for y in rows {
                let y = fit.region.rows.lowerBound &+ y
                for plane in 0..<GuidedFilter.planeCount {
                    unsafe fit.average(fit.statistics + plane &* cells.count, row: y, into: line(plane))
                }
                unsafe fit.loops.solveModel(
                    line(0) + columns.lowerBound, stride: stride, count: columns.count,
                    epsilon: GuidedFilter.epsilon)
                for plane in 0..<GuidedFilter.modelPlanes {
                    unsafe fit.sumAlong(
                        line(plane), into: fit.models + (plane &* cells.height &+ y) &* cells.width)
                }
            }
        }
    }

    /// Computes the means of a and b over windows.
    private struct Means: BandWork {
        let fit: Fit

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (cells, columns) = (fit.cells, fit.region.columns)
            for y in rows {
                let y = fit.region.rows.lowerBound &+ y
                for plane in 0..<GuidedFilter.modelPlanes {
                    unsafe fit.average(
                        fit.models + plane &* cells.count, row: y,
                        into: fit.result + (plane &* cells.height &+ y) &* cells.width)
                }
                unsafe fit.map.pullBack(
                    fit.result + y &* cells.width + columns.lowerBound, stride: cells.count, count: columns.count)
            }
        }
    }
}
