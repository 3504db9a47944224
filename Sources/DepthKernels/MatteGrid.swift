/// What a matte is blurred on and enlarged from: the samples of a depth map, or cells of several of them.
///
/// A wide blur leaves nothing that cells would not show as well, at a fraction of the price. A map is halved (`Coarse`, or for most masks `StepWork`) as
/// long as sigma is 2.5 cells or more. Each halving puts a ring of cells around the map, which hold its edge
/// samples, as the blur repeats those without end.
struct MatteGrid: Equatable {
    /// Samples along each side of a cell: 1, 2, 4, 8 or 16.
    let cellSize: Int
    /// Samples of the depth map.
    let depthWidth: Int
    let depthHeight: Int

    /// Cells of a row, and of a column.
    var width: Int { cells(along: depthWidth) }
    var height: Int { cells(along: depthHeight) }

    /// As coarse as the blur allows. The steeper curves of gamma show what cells get wrong: they are left to the samples, as
    /// are maps of less than two sigmas, which are soon done.
    init(depthWidth: Int, depthHeight: Int, sigma: Double, gamma: Double) {
        let isFit = gamma >= 0.5 && gamma <= 2 && Double(min(depthWidth, depthHeight)) >= 2 * sigma
        cellSize = isFit ? [16, 8, 4, 2].first { sigma >= 2.5 * Double($0) } ?? 1 : 1
        self.depthWidth = depthWidth
        self.depthHeight = depthHeight
    }

    /// What is left of a blur by `sigma` samples to be done on the cells, and is to reach no farther there.
    ///
    /// Variances add up: the first halving has one of 3/4 of a squared sample, the next four times that, and so on.
    func bell(of sigma: Double) -> Bell {
        let (whole, size) = (Bell(sigma: sigma), Double(cellSize))
        return Bell(
            sigma: (sigma * sigma - (size * size - 1) / 4).squareRoot() / size, reach: whole.reach / size)
    }

    /// Cells along an axis of so many samples.
    func cells(along samples: Int) -> Int {
        var (count, size) = (samples, cellSize)
        while size > 1 {
            count = groups(of: 2, in: count) + 2
            size /= 2
        }
        return count
    }

    /// The first sample of a cell, on the map or before it.
    func firstSample(of cell: Int) -> Int { cellSize * cell - 2 * (cellSize - 1) }

    /// The cell that a sample belongs to.
    func cell(of sample: Int) -> Int { (sample + 2 * (cellSize - 1)) / cellSize }

    /// Where a point between the samples lies between the cells; whole numbers are their centres.
    func position(ofSample sample: Double) -> Double { (sample + 1.5 * Double(cellSize - 1)) / Double(cellSize) }

    /// How much of a cell lies on a map of so many samples.
    func share(of cell: Int, samples: Int) -> Double {
        let first = firstSample(of: cell)
        return Double(max(min(first + cellSize, samples) - max(first, 0), 0)) / Double(cellSize)
    }
}
