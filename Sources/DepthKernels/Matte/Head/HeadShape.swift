/// The shape of the thing about a cell: the runs of cells at its depth, row by row, up to its vertex and down to its neck.
///
/// Its width is a quantile of the runs, and its middle their median. A quadric z = a + b u + c v + d u² + e v², fitted in the
/// ellipse of a head, tells what is rounded from pictures, books and monitors.
struct HeadShape: ~Copyable {
    /// Metres.
    private static let (up, down, sideways, gap) = (0.2, 0.08, 0.17, 0.02)
    /// Radii of the ellipse that is fitted, in metres.
    private static let ellipse = (x: 0.085, y: 0.115)
    /// Half a head's width, where the relief is measured.
    private static let half = 0.07
    private static let leastCells = 8

    private var runs = ScratchList<Run>()
    private var depths = Scratch<Float>()
    private var widths = Scratch<Float>()

    private struct Run {
        let row: Int
        let first: Int
        let last: Int
    }

    /// Takes memory by the size of a map, before its content is known.
    mutating func reserve(_ cells: DepthField.Cells) {
        runs.removeAll(most: cells.height)
        _ = unsafe widths.reserve(2 &* (cells.height &+ 1), filler: 0)
        _ = unsafe depths.reserve(2 &* cells.width &* cells.height, filler: 0)
    }

    /// - Parameters:
    ///   - x, y: a measured cell.
    ///   - size: of the head that fits best.
    /// - Returns: the width in metres; the column in the middle, where halves lie between two cells; the uppermost row; the metres
    ///   by which a head's sides lie behind its middle; and the median of the distances, in metres.
    mutating func measure(
        _ cells: DepthField.Cells, x: Int, y: Int, size: Double
    ) -> (width: Double, middle: Double, vertex: Int, relief: Double, distance: Double) {
        let metres = cells[x, y]
        let perMetre = cells.focal / Double(metres)
        findRuns(cells, x: x, y: y, metres, perMetre)
        let count = runs.count
        let widths = unsafe widths.reserve(2 * (cells.height + 1), filler: 0)
        for index in 0..<count {
            unsafe widths[index] = Float(runs[index].last - runs[index].first + 1)
        }
        let width = unsafe Double(
            select(rank: floorIndex(0.7 * Double(count - 1), in: 0...(count - 1)), of: widths, count: count))
        for index in 0..<count { unsafe widths[index] = Float(runs[index].first + runs[index].last) }
        let middle = unsafe median(of: widths, count: count) / 2
        var vertex = y
        for run in runs.elements { vertex = min(vertex, run.row) }
        let (relief, distance) = fit(cells, row: y, metres, middle: middle, size: size)
        return (width / perMetre, middle, vertex, relief, distance)
    }

    // MARK: Runs

    private mutating func findRuns(
        _ cells: DepthField.Cells, x: Int, y: Int, _ metres: Float, _ perMetre: Double
    ) {
        runs.removeAll(most: cells.height)
        let gap = max(1, nearestIndex(HeadShape.gap * perMetre, in: 1...cells.width))
        let most = floorIndex(HeadShape.sideways * perMetre, in: 0...cells.width)
        /// How many cells from a column the run of a row goes on, over gaps of up to `gap` cells; -1: none there.
        func reach(_ row: Int, from start: Int, step: Int) -> Int {
            var last = -1
            for index in 0...most {
                let x = start + index * step
                guard index - max(last, 0) <= gap, x >= 0, x < cells.width else { break }
                if HeadShape.isOf(metres, cells[x, row]) { last = index }
            }
            return last
        }
        for isUp in [true, false] {
            var (row, middle) = (isUp ? y : y + 1, x)
            let last = Double(y) + perMetre * (isUp ? -HeadShape.up : HeadShape.down)
            while row >= 0, row < cells.height, isUp ? Double(row) >= last : Double(row) <= last {
                let left = reach(row, from: middle, step: -1)
                let right = reach(row, from: middle, step: 1)
                guard left >= 0 || right >= 0 else { break }
                let run = Run(row: row, first: middle - max(left, 0), last: middle + max(right, 0))
                runs.append(run)
                middle = nearestIndex(
                    0.7 * Double(middle) + 0.3 * Double(run.first + run.last) / 2, in: 0...(cells.width - 1))
                row += isUp ? -1 : 1
            }
        }
    }

    private static func isOf(_ metres: Float, _ cell: Float) -> Bool {
        abs(cell - metres) <= HeadProbes.tolerance(metres)
    }

    // MARK: Relief

    /// - Returns: the relief, 0 for too few cells, and the median of the depths in the ellipse, or of all where it has none.
    private mutating func fit(
        _ cells: DepthField.Cells, row y: Int, _ metres: Float, middle: Double, size: Double
    ) -> (relief: Double, distance: Double) {
        let perMetre = cells.focal / Double(metres)
        var quadric = Quadric()
        var (inside, all) = (0, 0)
        let depths = unsafe depths.reserve(2 * cells.width * cells.height, filler: 0)
        let others = unsafe depths + cells.width * cells.height
        for run in runs.elements {
            for x in run.first...run.last {
                let cell = cells[x, run.row]
                guard HeadShape.isOf(metres, cell) else { continue }
                let (u, v) = ((Double(x) - middle) / perMetre, Double(run.row - y) / perMetre)
                let (a, b) = (u / HeadShape.ellipse.x, v / HeadShape.ellipse.y)
                unsafe others[all] = cell
                all += 1
                guard a * a + b * b < size * size else { continue }
                unsafe depths[inside] = cell
                inside += 1
                quadric.add(u, v, Double(cell))
            }
        }
        let relief = inside >= HeadShape.leastCells ? quadric.curvatureAcross * HeadShape.half * HeadShape.half : 0
        return unsafe (relief, inside > 0 ? median(of: depths, count: inside) : median(of: others, count: all))
    }
}

/// The normal equations of z = a + b u + c v + e v² + d u².
private struct Quadric {
    /// The upper triangle of the sums of products of 1, u, v, v², u², z.
    private var sums = InlineArray<36, Double>(repeating: 0)

    @inline(__always)
    mutating func add(_ u: Double, _ v: Double, _ z: Double) {
        let terms: InlineArray<6, Double> = [1, u, v, v * v, u * u, z]
        for row in 0..<5 {
            for column in row..<6 { sums[row * 6 + column] += terms[row] * terms[column] }
        }
    }

    /// d; near 0 where the samples do not determine it, as in a single column.
    var curvatureAcross: Double {
        // Gauss's elimination without pivots: the matrix is positive, and a little more of its diagonal keeps it from being
        // singular. It stays symmetric, so that its upper triangle is enough.
        var rows = sums
        for row in 0..<5 { rows[row * 6 + row] *= 1 + 1e-12 }
        for pivot in 0..<4 {
            let diagonal = rows[pivot * 7]
            guard diagonal > 1e-300 else { return 0 }
            for row in (pivot + 1)..<5 {
                let factor = rows[pivot * 6 + row] / diagonal
                for column in row..<6 { rows[row * 6 + column] -= factor * rows[pivot * 6 + column] }
            }
        }
        return rows[4 * 7] > 1e-300 ? rows[4 * 6 + 5] / rows[4 * 7] : 0
    }
}
