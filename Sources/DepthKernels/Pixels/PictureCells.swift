/// The square cells that a picture is cut into, and the means of what is known of them.
struct PictureCells: Equatable {
    let width: Int
    let height: Int
    /// Pixels along each side; a power of two.
    let size: Int
    let columns: Int
    let rows: Int

    /// Weights of cells beside the middle one, and of those beyond.
    private static let (nearWeight, farWeight): (Float, Float) = (0.135_335, 0.018_316)
    /// Cells on each side that the weights reach.
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
    /// With one cell more at each end of a row.
    var paddedColumns: Int { columns &+ 2 }
    var paddedCount: Int { paddedColumns &* rows }
    /// Numbers that `weigh` works in.
    var lineCount: Int { 2 &* columns &+ 4 }

    /// Adds up 5x5 cells by their weights, e^(−2 (|dx| + |dy|)); what lies beyond the picture weighs nothing.
    ///
    /// - Parameters:
    ///   - sums: a number for each cell.
    ///   - target: the same with padded rows, whose first and last cells are repeated.
    ///   - line: `lineCount` numbers.
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
                row(y), (row(y &- 1), row(y &+ 1)), (row(y &- 2), row(y &+ 2)), nearWeight: near, farWeight: far,
                count: columns, into: line + 2)
            let target = unsafe target + (y &* paddedColumns &+ 1)
            unsafe loops.convolveHorizontally(line + 2, nearWeight: near, farWeight: far, count: columns, into: target)
            unsafe target[-1] = target[0]
            unsafe target[columns] = target[columns &- 1]
        }
    }

    /// The rows of cells whose centres a row of samples lies between, and the share of the lower one.
    func rows(around y: Int, cellHeight: Int) -> (above: Int, below: Int, share: Float) {
        let place = 2 &* y &+ 1 &+ cellHeight
        let below = place / (2 &* cellHeight)
        return (
            max(below &- 1, 0), min(below, rows &- 1), Float(place % (2 &* cellHeight)) / Float(2 &* cellHeight)
        )
    }
}
