/// A wide Gaussian blur at the price of a narrow one: the map is made smaller by whole cells, blurred there, and
/// brought back to its size by linear interpolation.
///
/// What the cells and the interpolation blur by themselves is taken off the Gaussian: variances add up, and those of a
/// box of d samples and of a tent of 2 d are (d² − 1)/12 and d²/6. Against the direct blur a result is wrong by less
/// than a hundredth of itself but for the far tails. A gamma below a half makes those visible and one above 2 makes the
/// hundredth several; such gammas are left to the direct blur.
struct WideBlur: ~Copyable {
    private var cells = OpacityStorage()
    private var sums = Scratch<Float>()
    private var upper = Scratch<Float>()
    private var lower = Scratch<Float>()
    private var wide = Scratch<Float>()
    private var bits = Scratch<UInt16>()

    /// Samples along each axis of a cell; 1 where the direct blur does better, as with maps that are smaller than the
    /// kernel and hence soon done.
    static func cellSize(sigma: Double, gamma: Double, map: OpacityMap) -> Int {
        guard gamma >= 0.5, gamma <= 2, Double(min(map.width, map.height)) >= 2 * sigma else { return 1 }
        return [16, 8, 4, 2].first { sigma / Double($0) >= 4 } ?? 1
    }

    /// Blurs in place.
    ///
    /// - parameter blur: blurs the cells.
    mutating func apply(
        to map: OpacityMap, sigma: Double, size: Int, gamma: GammaCurve, _ loops: Loops,
        blur: (_ cells: OpacityMap, _ sigma: Double) -> Void
    ) {
        // A ring of cells around the map holds its edge samples, which the blur repeats without end.
        let columns = groups(of: size, in: map.width) + 2
        let rows = groups(of: size, in: map.height) + 2
        let cells = cells.reserve(width: columns, height: rows)
        let pass = unsafe WidePass(
            map: map, cells: cells, size: size, loops: loops,
            sums: sums.reserve(map.paddedWidth + size, filler: 0), upper: upper.reserve(cells.paddedWidth, filler: 0),
            lower: lower.reserve(cells.paddedWidth, filler: 0),
            wide: wide.reserve(max((columns + 1) * size, map.paddedWidth + size), filler: 0),
            sorting: Sorting(&bits, blocks: max(map.blocks, cells.blocks)))
        for row in 0..<rows { pass.fillCells(row: row) }
        let d = Double(size)
        blur(cells, ((sigma * sigma - (d * d - 1) / 12 - d * d / 6) / (d * d)).squareRoot())
        for y in 0..<map.height { pass.spread(row: y, gamma: gamma) }
    }
}

/// One frame's work.
@safe
private struct WidePass {
    let map: OpacityMap
    let cells: OpacityMap
    let size: Int
    private let loops: Loops
    /// Room for a row of the map and a cell.
    private let sums: UnsafeMutablePointer<Float>
    /// Room for a row of cells, twice.
    private let upper: UnsafeMutablePointer<Float>
    private let lower: UnsafeMutablePointer<Float>
    /// Room for a row of cells at the map's size.
    private let wide: UnsafeMutablePointer<Float>
    private let sorting: Sorting

    init(
        map: OpacityMap, cells: OpacityMap, size: Int, loops: Loops, sums: UnsafeMutablePointer<Float>,
        upper: UnsafeMutablePointer<Float>, lower: UnsafeMutablePointer<Float>, wide: UnsafeMutablePointer<Float>,
        sorting: Sorting
    ) {
        self.map = map
        self.cells = cells
        self.size = size
        self.loops = loops
        unsafe self.sums = sums
        unsafe self.upper = upper
        unsafe self.lower = lower
        unsafe self.wide = wide
        self.sorting = sorting
    }

    // MARK: To cells

    /// The means of one row of cells.
    func fillCells(row: Int) {
        unsafe sums.update(repeating: 0, count: map.paddedWidth &+ size)
        for offset in 0..<size {
            let y = row == 0 ? 0 : (row &- 1) &* size &+ offset
            addRow(min(y, map.height &- 1))
        }
        let last = unsafe sums[map.width &- 1]
        for x in map.width..<(map.paddedWidth &+ size) { unsafe sums[x] = last }
        let share = 1 / Float(size &* size)
        let edge = 1 / Float(size)
        unsafe upper[0] = sums[0] * edge
        for column in 1..<(cells.width &- 1) {
            var sum: Float = 0
            for offset in 0..<size { unsafe sum += sums[(column &- 1) &* size &+ offset] }
            unsafe upper[column] = sum * share
        }
        unsafe upper[cells.width &- 1] = last * edge
        unsafe cells.put(upper, row: row, sorting: sorting, loops)
    }

    private func addRow(_ y: Int) {
        let row = unsafe map.row(y)
        map.opaque(y).forEachRun(upTo: map.blocks) { run in
            for block in run {
                let target = unsafe sums + block &* blockWidth
                unsafe storeLanes(loadLanes(target) + 1, to: target)
            }
        }
        map.mixed(y).forEachRun(upTo: map.blocks) { run in
            for block in run {
                let target = unsafe sums + block &* blockWidth
                unsafe storeLanes(loadLanes(target) + loadLanes(row + block &* blockWidth), to: target)
            }
        }
    }

    // MARK: Back to samples

    /// One row of the map, between two rows of cells.
    func spread(row y: Int, gamma: GammaCurve) {
        let place = 2 &* y &+ 1 &+ size
        let above = place / (2 &* size)
        let share = Float(place % (2 &* size)) / Float(2 &* size)
        for block in 0..<cells.blocks {
            let start = block &* blockWidth
            unsafe cells.copyBlock(block, row: above, to: upper + start)
            unsafe cells.copyBlock(block, row: above &+ 1, to: lower + start)
            let from = unsafe loadLanes(upper + start)
            unsafe storeLanes(from + (loadLanes(lower + start) - from) * share, to: upper + start)
        }
        unsafe loops.spreadCells(upper, cells.width &- 1, size, wide)
        let target = unsafe map.row(y)
        unsafe target.update(from: wide + size / 2, count: map.width)
        for x in map.width..<map.paddedWidth { unsafe target[x] = target[map.width &- 1] }
        finish(row: y, gamma: gamma)
    }

    /// Gamma, where it matters, and what is known of the blocks.
    private func finish(row y: Int, gamma: GammaCurve) {
        map.clear(row: y)
        map.mixed(y).insert(0..<map.blocks)
        map.finish(row: y, low: 0, high: almostOpaque, sorting: sorting, loops)
        map.mixed(y).forEachRun(upTo: map.blocks) { run in
            unsafe gamma.apply(
                to: map.row(y) + run.lowerBound &* blockWidth, blocks: run.count, stride: blockWidth, loops)
        }
        map.finish(row: y, low: unseen, high: 1 - unseen, sorting: sorting, loops)
    }
}
