/// A linear model of the matte in the video's colours for every small window: P ≈ a · colour + b by least squares.
///
///     a = (Σ + ε)⁻¹ cov(colour, P),   b = mean(P) − a · mean(colour)
///
/// and box means of a and b. The statistics are made of cells of 4x4 samples, which hardly changes them.
///
/// Source: He, Sun, Tang, "Guided Image Filtering", ECCV 2010, eq. 19; cells: He and Sun, "Fast Guided Filter",
/// arXiv 1505.00996. Stage 5 of the method (`Fusion`).
struct GuidedFilter: ~Copyable {
    /// Samples of the grid along each side of a cell.
    static let cell = 4
    /// Half the window, in samples (of a grid of 640).
    static let radius = 8.0
    /// The smallest variance of a colour that is an edge: (2.5/255)².
    private static let epsilon: Float = 1e-4

    private(set) var width = 1
    private(set) var height = 1
    private var columns: AreaTaps?
    private var rows: AreaTaps?
    private var grid: WorkGrid?
    private var planes = Scratch<Float>()
    private var line = Scratch<Float>()
    private var sums = Scratch<Float>()

    /// The planes of the memory: three of colour, P, six products of colours, three products with P; a and b take the place
    /// of the first four.
    private static let planeCount = 13

    /// Fits the model.
    ///
    /// - Parameters:
    ///   - colors: three planes of the grid's size.
    ///   - matte: P of every sample.
    /// - Returns: a and b of every cell: four planes, `width · height` numbers each, the caller's to change; valid until the next call.
    mutating func fit(
        _ colors: UnsafePointer<Float>, _ matte: UnsafePointer<Float>, on grid: WorkGrid, _ loops: Loops
    ) -> UnsafeMutablePointer<Float> {
        prepare(grid)
        let count = width * height
        let planes = unsafe planes.reserve(GuidedFilter.planeCount * count, filler: 0)
        for channel in 0..<3 {
            unsafe average(colors + channel &* grid.count, on: grid, into: planes + channel &* count, loops)
        }
        unsafe average(matte, on: grid, into: planes + 3 &* count, loops)
        var product = 4
        for (one, other) in GuidedFilter.products {
            let target = unsafe planes + product &* count
            for index in 0..<count {
                unsafe target[index] = planes[one &* count &+ index] * planes[other &* count &+ index]
            }
            product += 1
        }
        let radius = nearestIndex(grid.samples(GuidedFilter.radius) / Double(GuidedFilter.cell), in: 1...1024)
        for plane in 0..<GuidedFilter.planeCount { unsafe boxMean(planes + plane &* count, radius) }
        unsafe solve(planes, count)
        for plane in 0..<4 { unsafe boxMean(planes + plane &* count, radius) }
        return unsafe planes
    }

    /// Pairs of planes: colours with colours, then colours with P.
    private static let products = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3)]

    private mutating func prepare(_ grid: WorkGrid) {
        if self.grid == grid { return }
        self.grid = grid
        width = max(1, grid.width / GuidedFilter.cell)
        height = max(1, grid.height / GuidedFilter.cell)
        columns = AreaTaps(count: width, pixels: grid.width, first: 0, size: Double(grid.width) / Double(width))
        rows = AreaTaps(count: height, pixels: grid.height, first: 0, size: Double(grid.height) / Double(height))
    }

    private mutating func average(
        _ source: UnsafePointer<Float>, on grid: WorkGrid, into target: UnsafeMutablePointer<Float>,
        _ loops: Loops
    ) {
        guard let columns, let rows else { return }
        let line = unsafe line.reserve(grid.width, filler: 0)
        for y in 0..<height {
            unsafe line.update(repeating: 0, count: grid.width)
            for tap in 0..<rows.taps {
                let weight = rows.weight(of: y, tap: tap)
                let row = unsafe source + (Int(rows.first[y]) &+ tap) &* grid.width
                for x in 0..<grid.width { unsafe line[x] += weight * row[x] }
            }
            unsafe columns.average(line, into: target + y &* width, loops)
        }
    }

    /// Takes the mean of a square of 2r + 1 cells about each; beyond the edge the cells are mirrored.
    private mutating func boxMean(_ plane: UnsafeMutablePointer<Float>, _ radius: Int) {
        let sums = unsafe sums.reserve(width * height, filler: 0)
        let line = unsafe line.reserve(width + 2 * radius, filler: 0) + radius
        for y in 0..<height {
            let row = unsafe plane + y &* width
            unsafe line.update(from: row, count: width)
            for x in 1...radius {
                unsafe line[-x] = row[GuidedFilter.mirrored(-x, width)]
                unsafe line[width &- 1 &+ x] = row[GuidedFilter.mirrored(width &- 1 &+ x, width)]
            }
            let target = unsafe sums + y &* width
            for x in 0..<width { unsafe target[x] = line[x &- radius] }
            for offset in (1 - radius)...radius { for x in 0..<width { unsafe target[x] += line[x &+ offset] } }
        }
        let factor = 1 / Float((2 * radius + 1) * (2 * radius + 1))
        for y in 0..<height {
            let target = unsafe plane + y &* width
            unsafe target.update(repeating: 0, count: width)
            for offset in -radius...radius {
                let row = unsafe sums + GuidedFilter.mirrored(y &+ offset, height) &* width
                for x in 0..<width { unsafe target[x] += row[x] }
            }
            for x in 0..<width { unsafe target[x] *= factor }
        }
    }

    /// The cell that takes the place of one beyond the edge: the outermost is repeated first.
    private static func mirrored(_ index: Int, _ count: Int) -> Int {
        let period = 2 * count
        let inside = ((index % period) + period) % period
        return inside < count ? inside : period - 1 - inside
    }

    /// Makes a and b of the means.
    private func solve(_ planes: UnsafeMutablePointer<Float>, _ count: Int) {
        for index in 0..<count {
            func mean(_ plane: Int) -> Float { unsafe planes[plane &* count &+ index] }
            let (y, u, v, p) = (mean(0), mean(1), mean(2), mean(3))
            let s00 = mean(4) - y * y + GuidedFilter.epsilon
            let (s01, s02) = (mean(5) - y * u, mean(6) - y * v)
            let s11 = mean(7) - u * u + GuidedFilter.epsilon
            let s12 = mean(8) - u * v
            let s22 = mean(9) - v * v + GuidedFilter.epsilon
            let (c0, c1, c2) = (mean(10) - y * p, mean(11) - u * p, mean(12) - v * p)
            // The cofactors of the symmetric matrix.
            let (k00, k01, k02) = (s11 * s22 - s12 * s12, s02 * s12 - s01 * s22, s01 * s12 - s02 * s11)
            let (k11, k12, k22) = (s00 * s22 - s02 * s02, s01 * s02 - s00 * s12, s00 * s11 - s01 * s01)
            let determinant = s00 * k00 + s01 * k01 + s02 * k02
            let a0 = (k00 * c0 + k01 * c1 + k02 * c2) / determinant
            let a1 = (k01 * c0 + k11 * c1 + k12 * c2) / determinant
            let a2 = (k02 * c0 + k12 * c1 + k22 * c2) / determinant
            unsafe planes[index] = a0
            unsafe planes[count &+ index] = a1
            unsafe planes[2 &* count &+ index] = a2
            unsafe planes[3 &* count &+ index] = p - a0 * y - a1 * u - a2 * v
        }
    }
}
