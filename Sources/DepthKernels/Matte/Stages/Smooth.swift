/// The stage that softens the mask: a Gaussian along the rows, then along the columns; the map's edges are replicated.
///
/// A wide Gaussian is computed on cells: the mask is decimated first (`CellGrid`). Single precision throughout: a
/// gamma of 0.25 makes the far tails of the Gaussian visible, which fewer bits would lose. Where the kernel covers only
/// clear samples, or only opaque ones, the result is 0 or 1 without arithmetic, and exact.
///
/// Source: step 3 of Apple's sample, `CIGaussianBlur`; the numbers are those of `cv2.GaussianBlur`.
struct Smooth: ~Copyable {
    private var kernel = GaussianKernel()
    private var decimated = OpacityStorage()
    private var decimatedTwice = OpacityStorage()
    private var rows = OpacityStorage()
    private var result = OpacityStorage()
    private var columnSets = ColumnSets()

    /// - Parameter sigma: in depth samples; 0 for none, which gives back the mask itself.
    /// - Returns: the smoothed mask on the grid, valid until the next call.
    /// - Precondition: the mask has the size of the grid's depth map.
    mutating func smooth(
        _ mask: OpacityMap, sigma: Double, on grid: CellGrid, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        guard sigma > 0 else { return mask }
        let source = decimate(mask, cellSize: grid.cellSize, bands, loops)
        let weights = kernel.weights(of: GaussianParameters(sigma: sigma, on: grid))
        let rows = rows.reserve(width: source.width, height: source.height)
        bands.share(
            GaussianRows(source: source, target: rows, weights: weights, loops: loops), rows: source.height,
            width: source.width)
        let result = result.reserve(width: source.width, height: source.height)
        columnSets.find(in: rows, radius: weights.radius, into: result)
        bands.share(
            GaussianColumns(source: rows, target: result, weights: weights, loops: loops), rows: source.height,
            width: source.width)
        return result
    }

    /// Halves the map until its cells have the given size, alternating between two buffers.
    private mutating func decimate(
        _ mask: OpacityMap, cellSize: Int, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        var (map, size) = (mask, 1)
        while size < cellSize {
            let (width, height) = (CellGrid.decimated(map.width), CellGrid.decimated(map.height))
            let isFirstMemory = size == 1 || size == 4
            let half =
                isFirstMemory
                ? decimated.reserve(width: width, height: height)
                : decimatedTwice.reserve(width: width, height: height)
            bands.share(Decimation(source: map, target: half, loops: loops), rows: height, width: width)
            (map, size) = (half, 2 * size)
        }
        return map
    }
}
