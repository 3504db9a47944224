/// The grid that a matte is smoothed on and upscaled from: the samples of a depth map, or square cells of several
/// samples.
///
/// A wide Gaussian leaves no detail that cells could not represent, so the mask is decimated to the largest cells
/// of which sigma is at least 2.5, which saves most of the cost. The cells reach beyond the map until they hold its edge samples only, as
/// the Gaussian replicates those without end.
struct CellGrid: Equatable {
    /// Samples along each side of a cell: 1, 2, 4, 8 or 16.
    let cellSize: Int
    /// Samples of the depth map.
    let depthWidth: Int
    let depthHeight: Int

    /// Cells of a row, and of a column.
    var width: Int { cells(along: depthWidth) }
    var height: Int { cells(along: depthHeight) }

    /// Chooses the coarsest grid that the Gaussian allows. Cells are not used with steep curves of gamma, which would
    /// amplify their error, nor for maps smaller than two sigmas, which cost little.
    init(depthWidth: Int, depthHeight: Int, sigma: Double, gamma: Double) {
        let isFit = gamma >= 0.5 && gamma <= 2 && Double(min(depthWidth, depthHeight)) >= 2 * sigma
        cellSize = isFit ? [16, 8, 4, 2].first { sigma >= 2.5 * Double($0) } ?? 1 : 1
        self.depthWidth = depthWidth
        self.depthHeight = depthHeight
    }

    /// The number of cells along an axis of so many samples: the first and the last hold nothing but the map's edge.
    func cells(along samples: Int) -> Int {
        cellSize == 1 ? samples : groups(of: cellSize, in: samples + 3 * cellSize - 4) + 1
    }

    /// The first sample that counts in a cell, of `3 * cellSize - 2` (`DecimatedRows`); it may be before the map.
    func firstSample(of cell: Int) -> Int { cellSize * cell - 3 * (cellSize - 1) }

    /// Converts a position from samples to cells; whole numbers are centers.
    func position(ofSample sample: Double) -> Double { (sample + 1.5 * Double(cellSize - 1)) / Double(cellSize) }

    /// The share of a cell that lies on a map of so many samples.
    func share(of cell: Int, samples: Int) -> Double {
        let first = cellSize * cell - 2 * (cellSize - 1)
        return Double(max(min(first + cellSize, samples) - max(first, 0), 0)) / Double(cellSize)
    }
}
