/// Finds the offset d and the fatness f for which sums of matches, by direction of the normal n and shift s, are highest at
/// s = n · d + f.
///
/// Opposite directions see one axis, so the score of a hypothesis is a sum of four numbers: of dx, of dy, of dx + dy and of dx − dy.
struct ShiftSearch: ~Copyable {
    /// A hypothesis: offsets in half cells from −`Sync.shift` on, fatness in cells from −`Sync.fat` on.
    struct Hypothesis: Equatable {
        var x = ShiftSearch.count / 2
        var y = ShiftSearch.count / 2
        var fat = Sync.fat
        var score = -Float.infinity

        /// Cells.
        var dx: Float { ShiftSearch.cells(x) }
        var dy: Float { ShiftSearch.cells(y) }

        /// The shift at which edges lie, for each direction of the normal.
        var shifts: InlineArray<8, Float> {
            let (fat, half) = (Float(fat - Sync.fat), Float(0.5).squareRoot())
            let (falling, rising) = (half * (dx + dy), half * (dy - dx))
            return [fat + dx, fat + falling, fat + dy, fat + rising, fat - dx, fat - falling, fat - dy, fat - rising]
        }
    }

    /// Offsets of an axis, and fatnesses.
    static let count = 4 * Sync.shift + 1
    static let fats = 2 * Sync.fat + 1

    private var tables = Scratch<Float>()
    private var rows = Scratch<Float>()

    /// The numbers of one fatness, whose sums are the scores.
    @safe
    private struct Tables {
        let across: UnsafeMutablePointer<Float>
        /// Whole vectors.
        static let stride = 40
        static let size = 2 * stride + 4 * stride
        var down: UnsafeMutablePointer<Float> { unsafe across + Tables.stride }
        /// Of dx + dy and dy - dx.
        var falling: UnsafeMutablePointer<Float> { unsafe across + 2 * Tables.stride }
        var rising: UnsafeMutablePointer<Float> { unsafe across + 4 * Tables.stride }

        func score(_ x: Int, _ y: Int) -> Float {
            unsafe across[x] + (down[y] + falling[x &+ y] + rising[y &- x &+ count &- 1])
        }

        /// The highest scores of eight offsets down.
        func scores(_ x: Int, _ y: Int) -> ShiftLanes {
            func load(_ numbers: UnsafeMutablePointer<Float>, _ index: Int) -> ShiftLanes {
                unsafe UnsafeRawPointer(numbers + index).loadUnaligned(as: ShiftLanes.self)
            }
            return unsafe load(down, y) + load(falling, x &+ y) + load(rising, y &- x &+ count &- 1)
        }
    }

    /// The best hypothesis of each fatness.
    private(set) var best = InlineArray<5, Hypothesis>(repeating: Hypothesis())

    /// The best hypothesis; the first of equal ones.
    var overall: Hypothesis {
        var result = best[0]
        for fat in 1..<ShiftSearch.fats where best[fat].score > result.score { result = best[fat] }
        return result
    }

    static func cells(_ index: Int) -> Float { Float(index &- count / 2) / 2 }

    /// Interpolates a row of sums at a shift; beyond its ends the mean of the row counts.
    ///
    /// - Parameter row: with its mean as the last number.
    @inline(__always)
    static func value(_ row: UnsafePointer<Float>, at shift: Float) -> Float {
        let (place, last) = (shift + Float(Sync.reach), Float(2 * Sync.reach))
        if place < 0 || place > last {
            let beyond = place < 0 ? -place : place - last
            return unsafe max(0, 1 - beyond) * row[place < 0 ? 0 : 2 * Sync.reach]
                + (beyond > 0.01 ? row[Sync.row - 1] : 0)
        }
        let index = min(Int(floorWhole(place)), 2 * Sync.reach - 1)
        let share = place - Float(index)
        return unsafe row[index] * (1 - share) + row[index &+ 1] * share
    }

    /// Puts the mean of a row's shifts behind them.
    static func finish(_ row: UnsafeMutablePointer<Float>) {
        var sum: Float = 0
        for shift in 0...(2 * Sync.reach) { unsafe sum += row[shift] }
        unsafe row[Sync.row - 1] = sum / Float(2 * Sync.reach + 1)
    }

    /// Searches all hypotheses.
    ///
    /// - Parameters:
    ///   - sums: a row of shifts for each direction.
    ///   - points: what the sums are divided by.
    mutating func search(_ sums: UnsafePointer<Float>, points: Float) {
        let rows = unsafe rows.reserve(Sync.directions * Sync.row, filler: 0)
        unsafe rows.update(repeating: 0, count: Sync.directions * Sync.row)
        for direction in 0..<Sync.directions {
            let row = unsafe rows + direction &* Sync.row
            unsafe addShifts(sums + direction &* Sync.row, times: 1 / max(points, 1e-9), to: row)
            unsafe ShiftSearch.finish(row)
        }
        for fat in 0..<ShiftSearch.fats {
            let tables = tables(fat)
            unsafe fill(tables, rows, fat: Float(fat &- Sync.fat))
            best[fat] = find(tables, fat: fat)
        }
    }

    private mutating func tables(_ fat: Int) -> Tables {
        unsafe Tables(across: tables.reserve(ShiftSearch.fats * Tables.size, filler: 0) + fat &* Tables.size)
    }

    private func fill(_ tables: Tables, _ rows: UnsafePointer<Float>, fat: Float) {
        func pair(_ direction: Int, _ distance: Float) -> Float {
            let (one, other) = unsafe (rows + direction &* Sync.row, rows + (direction &+ 4) &* Sync.row)
            return unsafe ShiftSearch.value(one, at: distance + fat) + ShiftSearch.value(other, at: fat - distance)
        }
        for index in 0..<ShiftSearch.count {
            let d = ShiftSearch.cells(index)
            unsafe tables.across[index] = pair(0, d) - Sync.prior * (d * d + fat * fat)
            unsafe tables.down[index] = pair(2, d) - Sync.prior * d * d
        }
        for index in ShiftSearch.count..<Tables.stride { unsafe tables.down[index] = -1e9 }
        for index in 0..<(2 * ShiftSearch.count - 1) {
            let d = Float(index &- ShiftSearch.count &+ 1) / 2 * Float(0.5).squareRoot()
            unsafe (tables.falling[index], tables.rising[index]) = (pair(1, d), pair(3, d))
        }
    }

    private func find(_ tables: Tables, fat: Int) -> Hypothesis {
        var result = Hypothesis(fat: fat)
        for x in 0..<ShiftSearch.count {
            var most = ShiftLanes(repeating: -1e9)
            for y in stride(from: 0, to: Tables.stride, by: ShiftLanes.scalarCount) {
                let scores = tables.scores(x, y)
                most = most.replacing(with: scores, where: scores .> most)
            }
            guard unsafe tables.across[x] + most.max() > result.score else { continue }
            result.score = -.infinity
            for y in 0..<ShiftSearch.count { note(tables.score(x, y), x, y, in: &result) }
        }
        return result
    }

    @inline(__always)
    private func note(_ score: Float, _ x: Int, _ y: Int, in best: inout Hypothesis) {
        if score > best.score { (best.x, best.y, best.score) = (x, y, score) }
    }

    /// The best hypothesis of the last search that leaves an axis alone.
    mutating func bestUnmoved(isAcross: Bool) -> Hypothesis {
        var result = Hypothesis()
        for fat in 0..<ShiftSearch.fats {
            var best = Hypothesis(fat: fat)
            let (tables, middle) = (tables(fat), ShiftSearch.count / 2)
            for index in 0..<ShiftSearch.count {
                let (x, y) = isAcross ? (middle, index) : (index, middle)
                note(tables.score(x, y), x, y, in: &best)
            }
            if best.score > result.score { result = best }
        }
        return result
    }
}
