/// A grid of square cells over a picture, for quantities that vary slowly.
struct PictureCells: Equatable {
    let width: Int
    let height: Int
    /// Pixels along each side; a power of two.
    let size: Int
    let columns: Int
    let rows: Int

    /// Weights of the cells at a distance of one and of two: e^−2 and e^−4.
    private static let (nearWeight, farWeight): (Float, Float) = (0.135_335, 0.018_316)
    /// Radius of the kernel, in cells.
    static let reach = 2

    /// - Precondition: `width` and `height` are above 0.
    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        size = height >= 32 * 60 ? 32 : height >= 16 * 60 ? 16 : 8
        columns = groups(of: size, in: width)
        rows = groups(of: size, in: height)
    }

    var count: Int { columns &* rows }
    /// Columns with one cell of padding at each end of a row.
    var paddedColumns: Int { columns &+ 2 }
    var paddedCount: Int { paddedColumns &* rows }
    /// Size of the scratch line that `convolve` needs.
    var lineCount: Int { 2 &* columns &+ 4 }

    /// Convolves a grid with a kernel of 5x5 cells, e^(−2 (|dx| + |dy|)), which is not normalised; cells beyond the
    /// picture count as 0.
    ///
    /// - Parameters:
    ///   - sums: a number for each cell.
    ///   - target: rows of `paddedColumns` numbers, whose padding repeats the first and the last cell.
    ///   - line: scratch memory of `lineCount` numbers.
    func convolve(
        _ sums: UnsafePointer<Float>, into target: UnsafeMutablePointer<Float>, line: UnsafeMutablePointer<Float>,
        _ loops: Loops
    ) {
        let nothing = unsafe line + (columns &+ 4)
        unsafe line.update(repeating: 0, count: lineCount)
        func row(_ y: Int) -> UnsafePointer<Float> {
            unsafe 0..<rows ~= y ? sums + y &* columns : UnsafePointer(nothing)
        }
        let (near, far) = (PictureCells.nearWeight, PictureCells.farWeight)
        for y in 0..<rows {
            unsafe loops.convolveVertically(
                { unsafe row(y &+ $0) }, nearWeight: near, farWeight: far, count: columns, into: line + 2)
            let target = unsafe target + (y &* paddedColumns &+ 1)
            unsafe loops.convolveHorizontally(line + 2, nearWeight: near, farWeight: far, count: columns, into: target)
            unsafe target[-1] = target[0]
            unsafe target[columns] = target[columns &- 1]
        }
    }

    /// The rows of cells between whose centers a row of samples lies, and the interpolation weight of the lower one,
    /// 0…1.
    func rows(around y: Int, cellHeight: Int) -> (above: Int, below: Int, share: Float) {
        let place = 2 &* y &+ 1 &+ cellHeight
        let below = place / (2 &* cellHeight)
        return (
            max(below &- 1, 0), min(below, rows &- 1), Float(place % (2 &* cellHeight)) / Float(2 &* cellHeight)
        )
    }
}
