/// How well outlines matched: sums by lag, by direction of the normal, by whether the outline moves there, and by shift.
///
/// Outlines that stand fix the offset, those that move fix the lag: a lag alone is a shift by velocity times lag. Hypotheses are compared by paired
/// sums g of the same pieces of time or picture, t = Σg / √Σg², which one lucky piece cannot raise above 1 (Efron, JASA 1969).
/// The offset counts where estimates from all halves of the tiles agree (McCarthy, 1969).
struct SyncSums: ~Copyable {
    /// For each piece of time the sums of moving points, for each lag and direction, and those of standing points at lag 0.
    private var pieceMemory = Scratch<Float>()
    /// For each piece the number of points, moving and standing for each direction.
    private var pointMemory = Scratch<Float>()
    /// For each lag, tile and direction the sums of all points; for each tile and direction the number of points.
    private var tileMemory = Scratch<Float>()
    private var tilePointMemory = Scratch<Float>()
    private var matchMemory = Scratch<Float>()
    private var gatherMemory = Scratch<Int32>()
    private var workMemory = Scratch<Float>()
    private var scoreMemory = Scratch<Float>()
    private var search = ShiftSearch()

    /// Pieces so far, and the first of them that is remembered.
    private var count = 0
    private var first = 0
    /// The frame that the last piece began with.
    private var start = 0
    /// The weight of a point of this look in the sums of the tiles: as they are not made smaller, it grows.
    private var weight: Float = 1
    /// The interval of the frames that were added, and the mean by which maps are later than their frames; in nanoseconds.
    private var interval = 0.0
    private var skew = 0.0
    private var skews = 0.0

    private static let directions = Sync.directions * Sync.row
    private static let piece = (Sync.frames + 1) * directions
    private static let cells = Sync.tiles * Sync.tiles * Sync.directions
    /// Pieces that a rest leaves.
    private static let kept = 24

    mutating func reset() { (count, first, start, weight, skew, skews) = (0, 0, 0, 1, 0, 0) }

    /// Forgets all but the newest pieces: after a rest the lag may be another.
    mutating func forgetOld() { first = max(first, count &- SyncSums.kept) }

    mutating func note(skew: Double) {
        skews = min(skews + 1, 100)
        self.skew += (skew - self.skew) / skews
    }

    // MARK: Add

    /// Begins a look at an outline.
    mutating func begin(_ outline: SyncOutline, frame: Int, interval: Double) {
        if abs(interval - self.interval) > self.interval / 4 { reset() }
        self.interval = interval
        if count == first || frame &- start >= Sync.piece {
            start = frame
            count &+= 1
            first = max(first, count &- Sync.pieces)
            unsafe piece(count &- 1).update(repeating: 0, count: SyncSums.piece)
            unsafe points(count &- 1).update(repeating: 0, count: 2 * Sync.directions)
        }
        let (sums, tilePoints) = unsafe (tiles, tilePoints)
        if count == 1, start == frame {
            unsafe sums.update(repeating: 0, count: Sync.frames * SyncSums.cells * Sync.row)
            unsafe tilePoints.update(repeating: 0, count: SyncSums.cells)
        }
        weight /= Sync.keep
        if weight > 1e12 {
            for index in 0..<(Sync.frames * SyncSums.cells * Sync.row) { unsafe sums[index] /= weight }
            for index in 0..<SyncSums.cells { unsafe tilePoints[index] /= weight }
            weight = 1
        }
        for index in 0..<outline.groups {
            let group = unsafe outline.madeGroups[index]
            unsafe tilePoints[group.cell] += weight * group.count
            unsafe points(count &- 1)[group.direction &+ (group.isMoving ? 0 : Sync.directions)] += group.count
        }
    }

    /// Adds the matches of the outline with a frame's gradients.
    ///
    /// - Parameter lag: by how many frames the outline's frame is later, plus `Sync.lags`.
    mutating func add(
        _ outline: SyncOutline, _ picture: UnsafePointer<Int32>, damping: Float, lag: Int, _ loops: Loops
    ) {
        let gathered = unsafe gatherMemory.reserve(Sync.points * Sync.row)
        unsafe loops.gatherCells(picture, outline.indices, count: outline.count &* Sync.row, into: gathered)
        let matches = unsafe matchMemory.reserve(Sync.points * Sync.row)
        unsafe loops.sumMatches(
            gathered, normals: outline.normals, ends: outline.ends, groups: outline.groups, damping: damping,
            into: matches)
        let (piece, tiles) = unsafe (piece(count &- 1), tiles + lag &* SyncSums.cells &* Sync.row)
        for index in 0..<outline.groups {
            let (group, row) = unsafe (outline.madeGroups[index], matches + index &* Sync.row)
            unsafe addShifts(row, times: weight, to: tiles + group.cell &* Sync.row)
            let part = group.isMoving ? lag : Sync.frames
            if group.isMoving || lag == Sync.lags {
                unsafe addShifts(row, to: piece + part &* SyncSums.directions + group.direction &* Sync.row)
            }
        }
    }

    private mutating func piece(_ index: Int) -> UnsafeMutablePointer<Float> {
        unsafe pieceMemory.reserve(Sync.pieces * SyncSums.piece, filler: 0) + index % Sync.pieces &* SyncSums.piece
    }

    private mutating func points(_ index: Int) -> UnsafeMutablePointer<Float> {
        let size = 2 * Sync.directions
        return unsafe pointMemory.reserve(Sync.pieces * size, filler: 0) + index % Sync.pieces &* size
    }

    private var tiles: UnsafeMutablePointer<Float> {
        mutating get { unsafe tileMemory.reserve(Sync.frames * SyncSums.cells * Sync.row, filler: 0) }
    }

    private var tilePoints: UnsafeMutablePointer<Float> {
        mutating get { unsafe tilePointMemory.reserve(SyncSums.cells, filler: 0) }
    }

    // MARK: Report

    /// Reports what is known; nil before the first look.
    mutating func report(_ grid: SyncGrid) -> SyncReport? {
        guard count > first else { return nil }
        let lag = lag()
        var report = SyncReport()
        let time = lag.frames * interval + skew
        report.lag = Int64(exactly: time.rounded()) ?? 0
        report.lagError = Int64(exactly: (lag.error * interval).rounded()) ?? 0
        report.isLagKnown = lag.isKnown
        report.isLate = lag.isLate && abs(time) > Sync.late * interval
        let (x, y, match) = offset(lag)
        let place = grid.samples.placement
        let size = (
            place.width / Double(grid.samples.width) * Double(grid.side),
            place.height / Double(grid.samples.height) * Double(grid.side)
        )
        (report.x, report.y, report.match) = (x, y, match)
        (report.x.cell, report.y.cell) = size
        report.x.pixels *= size.0
        report.y.pixels *= size.1
        return report
    }

    private struct Lag {
        var index = 0
        var frames = 0.0
        var error = 9.0
        var isKnown = false
        var isLate = false
        /// t of each lag against this one.
        var t = InlineArray<17, Float>(repeating: 0)
    }

    /// Finds the lag: of each its best offset, of these the best.
    private mutating func lag() -> Lag {
        let pieces = count &- first
        let scores = unsafe scoreMemory.reserve(Sync.pieces * Sync.frames * Sync.directions, filler: 0)
        let curves = unsafe workMemory.reserve(SyncSums.directions + (Sync.pieces + 1) * Sync.frames, filler: 0)
        let sums = unsafe curves + (Sync.pieces + 1) * Sync.frames
        var (all, busy) = (Float(0), 0)
        for number in 0..<pieces { all += pointCount(number, moving: true) + pointCount(number, moving: false) }

        // Each lag's best offset.
        var best = InlineArray<17, ShiftSearch.Hypothesis>(repeating: ShiftSearch.Hypothesis())
        var (result, most) = (Lag(), -Float.infinity)
        for lag in 0..<Sync.frames {
            unsafe sums.update(repeating: 0, count: SyncSums.directions)
            for number in 0..<pieces {
                let piece = unsafe piece(first &+ number)
                for index in stride(from: 0, to: SyncSums.directions, by: Sync.row) {
                    unsafe addShifts(piece + lag &* SyncSums.directions + index, to: sums + index)
                    unsafe addShifts(piece + Sync.frames &* SyncSums.directions + index, to: sums + index)
                }
            }
            unsafe search.search(sums, points: all)
            best[lag] = search.overall
            let score = best[lag].score - 1e-6 * Float(abs(lag - Sync.lags))
            if score > most { (most, result.index) = (score, lag) }
        }

        // The shares of each piece and direction in the score of each lag with its offset, and in those with the offset of the best.
        let size = Sync.frames * Sync.directions
        let chosen = best[result.index].shifts
        for lag in 0..<Sync.frames {
            let shifts = best[lag].shifts
            for number in 0..<pieces {
                var curve: Float = 0
                for direction in 0..<Sync.directions {
                    let row = unsafe row(number, lag, direction, sums)
                    unsafe scores[number &* size &+ lag &* Sync.directions &+ direction] = ShiftSearch.value(
                        row, at: shifts[direction])
                    unsafe curve += ShiftSearch.value(row, at: chosen[direction])
                }
                unsafe curves[number &* Sync.frames &+ lag] = curve
            }
        }
        for lag in 0..<Sync.frames {
            var (sum, squares) = (Float(0), Float(1e-9))
            for number in 0..<pieces {
                for direction in 0..<Sync.directions {
                    let at = number &* size &+ direction
                    let g = unsafe scores[at &+ result.index &* Sync.directions] - scores[at &+ lag &* Sync.directions]
                    (sum, squares) = (sum + g, squares + g * g)
                }
            }
            result.t[lag] = sum / squares.squareRoot()
        }

        // The vertex of the curve, and its jackknife error.
        var total = InlineArray<17, Float>(repeating: 0)
        for number in 0..<pieces {
            for lag in 0..<Sync.frames { unsafe total[lag] += curves[number &* Sync.frames &+ lag] }
        }
        result.frames = SyncSums.vertex(total, near: result.index) - Double(Sync.lags)
        var (sum, squares) = (0.0, 0.0)
        for number in 0..<pieces {
            let (moving, standing) = (pointCount(number, moving: true), pointCount(number, moving: false))
            guard moving >= 0.1 * (moving + standing) else { continue }
            var others = total
            for lag in 0..<Sync.frames { unsafe others[lag] -= curves[number &* Sync.frames &+ lag] }
            let vertex = SyncSums.vertex(others, near: result.index)
            (sum, squares, busy) = (sum + vertex, squares + vertex * vertex, busy &+ 1)
        }
        if busy > 1 {
            let n = Double(busy)
            result.error = (max(squares - sum * sum / n, 0) * (n - 1) / n).squareRoot()
        }
        var apart: Float = 9
        for lag in 0..<Sync.frames where abs(lag - result.index) >= 2 { apart = min(apart, result.t[lag]) }
        result.isKnown =
            busy >= Sync.busyPieces && apart > Sync.sure && result.error < Sync.error && result.index > 0
            && result.index < Sync.frames - 1
        result.isLate =
            result.isKnown && abs(result.frames) - 2 * result.error > Sync.late && result.t[Sync.lags] > Sync.sure
        return result
    }

    private mutating func pointCount(_ number: Int, moving: Bool) -> Float {
        let points = unsafe points(first &+ number)
        var sum: Float = 0
        for direction in 0..<Sync.directions { unsafe sum += points[direction &+ (moving ? 0 : Sync.directions)] }
        return sum
    }

    /// The moving sums of a piece at a lag and the standing ones, with their mean, in `target`.
    private mutating func row(_ number: Int, _ lag: Int, _ direction: Int, _ target: UnsafeMutablePointer<Float>)
        -> UnsafePointer<Float>
    {
        let piece = unsafe piece(first &+ number) + direction &* Sync.row
        unsafe target.update(from: piece + lag &* SyncSums.directions, count: Sync.row)
        unsafe addShifts(piece + Sync.frames &* SyncSums.directions, to: target)
        unsafe ShiftSearch.finish(target)
        return unsafe UnsafePointer(target)
    }

    /// Where the parabola through the highest of three numbers and its neighbours is highest.
    private static func vertex(_ y: InlineArray<17, Float>, near index: Int) -> Double {
        var highest = max(index - 1, 0)
        for other in max(index - 1, 0)...min(index + 1, Sync.frames - 1) where y[other] > y[highest] { highest = other }
        let middle = min(max(highest, 1), Sync.frames - 2)
        let (a, b, c) = (Double(y[middle - 1]), Double(y[middle]), Double(y[middle + 1]))
        return Double(middle) + min(max(0.5 * (a - c) / min(a - 2 * b + c, -1e-9), -1), 1)
    }

    // MARK: Offset

    /// Finds the offset at a lag, in cells, and whether it holds in all halves of the picture.
    private mutating func offset(_ lag: Lag) -> (x: SyncReport.Shift, y: SyncReport.Shift, match: Double) {
        let (groups, half) = (8, SyncSums.directions)
        let sums = unsafe workMemory.reserve((groups + 1) * half + (Sync.pieces + 1) * Sync.frames, filler: 0)
        var points = InlineArray<8, Float>(repeating: 0)
        let all = unsafe sums + groups &* half
        unsafe sums.update(repeating: 0, count: (groups + 1) * half)
        for tile in 0..<(Sync.tiles * Sync.tiles) {
            let group = (3 &* (tile / Sync.tiles) &+ tile % Sync.tiles) % groups
            for direction in 0..<Sync.directions {
                let cell = tile &* Sync.directions &+ direction
                let row = unsafe tiles + (lag.index &* SyncSums.cells &+ cell) &* Sync.row
                unsafe addShifts(row, to: sums + group &* half + direction &* Sync.row)
                unsafe addShifts(row, to: all + direction &* Sync.row)
                unsafe points[group] += tilePoints[cell]
            }
        }
        var allPoints: Float = 0
        for group in 0..<groups { allPoints += points[group] }
        unsafe search.search(all, points: allPoints)
        let best = search.overall
        let unmoved = (search.bestUnmoved(isAcross: true), search.bestUnmoved(isAcross: false))
        var spread = SIMD2<Float>()
        func compare(_ other: ShiftSearch.Hypothesis) {
            let (x, y) = (abs(other.dx - best.dx), abs(other.dy - best.dy))
            spread = SIMD2(max(spread.x, x), max(spread.y, y))
        }
        for fat in 0..<ShiftSearch.fats where search.best[fat].score > best.score - Sync.alike {
            compare(search.best[fat])
        }
        // 14 balanced halves of the groups, by the parity of their bits.
        for half in 1..<16 where half != 8 {
            unsafe all.update(repeating: 0, count: SyncSums.directions)
            var count: Float = 0
            for group in 0..<groups where ((half & group).nonzeroBitCount &+ half / 8) % 2 == 1 {
                for index in stride(from: 0, to: SyncSums.directions, by: Sync.row) {
                    unsafe addShifts(sums + group &* SyncSums.directions + index, to: all + index)
                }
                count += points[group]
            }
            unsafe search.search(all, points: count)
            compare(search.overall)
        }
        for other in 0..<Sync.frames where lag.t[other] <= Sync.sure && other != lag.index {
            unsafe all.update(repeating: 0, count: SyncSums.directions)
            for cell in 0..<SyncSums.cells {
                unsafe addShifts(
                    tiles + (other &* SyncSums.cells &+ cell) &* Sync.row, to: all + (cell & 7) &* Sync.row)
            }
            unsafe search.search(all, points: allPoints)
            compare(search.overall)
        }
        func shift(_ cells: Float, spread: Float, _ unmoved: ShiftSearch.Hypothesis) -> SyncReport.Shift {
            let gain = best.score - unmoved.score
            let isKnown =
                spread <= Sync.agree && best.score > Sync.score && abs(cells) < Float(Sync.shift)
            let isBeside =
                isKnown && abs(cells) >= Sync.beside && gain > Sync.gain
                && difference(lag.index, best, unmoved) > Sync.better
            return SyncReport.Shift(pixels: Double(cells), isKnown: isKnown, isBeside: isBeside)
        }
        return (
            shift(best.dx, spread: spread.x, unmoved.0), shift(best.dy, spread: spread.y, unmoved.1), Double(best.score)
        )
    }

    /// t of two hypotheses, over tiles and directions.
    private mutating func difference(
        _ lag: Int, _ one: ShiftSearch.Hypothesis, _ other: ShiftSearch.Hypothesis
    ) -> Float {
        let row = unsafe matchMemory.reserve(Sync.points * Sync.row)
        var (sum, squares) = (Float(0), Float(1e-9))
        let (one, other) = (one.shifts, other.shifts)
        for cell in 0..<SyncSums.cells {
            unsafe row.update(from: tiles + (lag &* SyncSums.cells &+ cell) &* Sync.row, count: Sync.row)
            unsafe ShiftSearch.finish(row)
            let difference =
                unsafe ShiftSearch.value(row, at: one[cell & 7]) - ShiftSearch.value(row, at: other[cell & 7])
            let g = difference / weight
            (sum, squares) = (sum + g, squares + g * g)
        }
        return sum / squares.squareRoot()
    }
}
