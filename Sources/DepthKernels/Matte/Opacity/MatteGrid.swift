/// The samples of a depth map, or square cells of several of them: what a matte is smoothed on and enlarged from.
///
/// A wide Gaussian leaves nothing that cells would not show as well, at a fraction of the cost, so the mask is decimated
/// as long as sigma is 2.5 cells or more. Each decimation halves the map and puts a ring of cells around it, which hold
/// its edge samples, as the Gaussian repeats those without end.
struct MatteGrid: Equatable {
    /// Samples along each side of a cell: 1, 2, 4, 8 or 16.
    let cellSize: Int
    /// Samples of the depth map.
    let depthWidth: Int
    let depthHeight: Int

    /// Cells of a row, and of a column.
    var width: Int { cells(along: depthWidth) }
    var height: Int { cells(along: depthHeight) }

    /// Makes the grid as coarse as the Gaussian allows. The steeper curves of gamma would show the cells' errors: those are
    /// left to the samples, as are maps of less than two sigmas, which cost little.
    init(depthWidth: Int, depthHeight: Int, sigma: Double, gamma: Double) {
        let isFit = gamma >= 0.5 && gamma <= 2 && Double(min(depthWidth, depthHeight)) >= 2 * sigma
        cellSize = isFit ? [16, 8, 4, 2].first { sigma >= 2.5 * Double($0) } ?? 1 : 1
        self.depthWidth = depthWidth
        self.depthHeight = depthHeight
    }

    /// Cells along an axis of so many samples.
    func cells(along samples: Int) -> Int {
        var (count, size) = (samples, cellSize)
        while size > 1 {
            count = MatteGrid.decimated(count)
            size /= 2
        }
        return count
    }

    /// Cells of twice the size along an axis of so many samples.
    static func decimated(_ samples: Int) -> Int { groups(of: 2, in: samples) + 2 }

    /// The position between the cells of a point between the samples; whole numbers are centres.
    func position(ofSample sample: Double) -> Double { (sample + 1.5 * Double(cellSize - 1)) / Double(cellSize) }

    /// The share of a cell that lies on a map of so many samples.
    func share(of cell: Int, samples: Int) -> Double {
        let first = cellSize * cell - 2 * (cellSize - 1)
        return Double(max(min(first + cellSize, samples) - max(first, 0), 0)) / Double(cellSize)
    }
}
