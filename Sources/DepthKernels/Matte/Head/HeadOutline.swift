/// The evidence of the rows above and below a head: it is the top of a body, as a knee, a hand in the lap or a sofa's arm is not.
///
/// Rows of cells in the column through the head, which goes towards the middle of each row. A row goes on to both sides over what
/// is nearer than its start or as far away, and ends at what is farther or at a hole, but not at the picture's border. Rows
/// that end at both sides are a body: none is above a head, and one is below it, wider than the head.
struct HeadOutline {
    /// Metres: between two rows, between the cells of a row that are looked at, and from its start to where it must end.
    private static let (spacing, stride, reach) = (0.03, 0.02, 0.45)
    /// The rows above and below the head, counted from it.
    private static let (above, below) = (3..<26, 6..<15)
    /// Metres by which a body is farther than the head below it and above it; negative where it is nearer.
    private static let (behindAbove, behindBelow) = (-0.30..<Float(0.60), -0.25..<Float(0.30))
    /// Metres by which a neighbour is nearer who hides a part of the body below.
    private static let over: Float = 0.20
    /// Metres: the widths of a body above a head, and the least of one below.
    private static let (widths, leastTrunk) = (0.06..<0.75, 0.22)

    private let cells: DepthField.Cells
    private let metres: Float
    private let perMetre: Double

    /// - Parameter distance: of the head, in metres.
    init(_ cells: DepthField.Cells, distance: Double) {
        (self.cells, metres, perMetre) = (cells, Float(distance), cells.focal / distance)
    }

    /// The log odds that the outline adds to those of a head whose middle is a cell.
    ///
    /// - Parameter width: of the head, in metres.
    func logOdds(x: Int, y: Int, width: Double) -> Double {
        let wide = max(HeadOutline.leastTrunk, 1.3 * clamped(width, to: 0.09...0.2, orIfNaN: 0.09))
        var (body, trunk, open) = (0.0, 0.0, 0.0)
        walk(HeadOutline.above, upwards: 1, x, y, nearer: .infinity, share: 4) { _, row in
            if row.ends == 2, HeadOutline.behindAbove.contains(row.behind), HeadOutline.widths.contains(row.width) {
                body += 1
            }
        }
        let below = HeadOutline.below
        walk(0..<below.upperBound, upwards: -1, x, y, nearer: HeadOutline.over, share: 7) { index, row in
            guard index >= below.lowerBound, HeadOutline.behindBelow.contains(row.behind) else { return }
            // What the picture's border cuts off may end beyond it.
            if row.ends + row.cuts < 2 || row.cuts == 2 { open += 1 }
            if row.ends == 2, row.width > wide, row.width < HeadOutline.widths.upperBound { trunk += 1 }
        }
        return (1.5 * trunk - 5 * max(open - trunk, 0)) / Double(below.count)
            - 20 * min(max(HeadOutline.spacing * body - 0.12, 0), 0.3)
    }

    /// Metres by which a row is farther than the head, its width in metres, on how many sides it ends, and on how many the picture.
    private typealias Row = (behind: Float, width: Double, ends: Int, cuts: Int)

    /// Looks at rows along the middle of what is seen.
    ///
    /// - Parameter share: the inverse of the share of the way to a row's middle that the column goes.
    @inline(__always)
    private func walk(
        _ rows: Range<Int>, upwards: Double, _ x: Int, _ y: Int, nearer: Float, share: Int,
        _ look: (_ index: Int, _ row: Row) -> Void
    ) {
        var x = x
        for index in rows {
            let place = Double(y) - upwards * (Double(index) * HeadOutline.spacing * perMetre)
            guard place > -1, place < Double(cells.height) else { return }
            let y = floorIndex(place, in: 0...(cells.height &- 1))
            guard cells[x, y] > 0 else { continue }
            let (left, right) = (end(of: x, y, toRight: -1, nearer), end(of: x, y, toRight: 1, nearer))
            let width = Double(left.cells &+ right.cells &+ 1) / perMetre
            look(index, (cells[x, y] - metres, width, left.ends &+ right.ends, left.cuts &+ right.cuts))
            x &+= (right.cells &- left.cells) / share
        }
    }

    /// Follows a row from a cell to a side.
    ///
    /// - Returns: the cells to where it was measured last, and 1 where it ends, or where the picture does.
    private func end(of x: Int, _ y: Int, toRight direction: Int, _ nearer: Float) -> (cells: Int, ends: Int, cuts: Int)
    {
        let step = nearestIndex(HeadOutline.stride * perMetre, in: 1...cells.width)
        let (low, high) = (cells[x, y] - nearer, cells[x, y] + HeadProbes.tolerance(metres))
        var (last, holes) = (0, 0)
        for index in 1...max(floorIndex(HeadOutline.reach * perMetre / Double(step), in: 0...cells.width), 1) {
            let column = x &+ direction &* index &* step
            guard column >= 0, column < cells.width else { return (last, 0, 1) }
            let cell = cells[column, y]
            holes = cell > 0 ? 0 : holes &+ 1
            guard holes < 2, cell == 0 || cell >= low && cell <= high else { return (last, 1, 0) }
            if cell > 0 { last = index &* step }
        }
        return (last, 0, 0)
    }
}
