/// The outline of what is near in a depth map: points with their outward normals, in groups of one tile and one direction.
///
/// Where the coverage, the share of a cell that is nearer than the cutoff, passes 1/2, and 2.5 cells outward lies something 8 %
/// farther, or a hole. A hole between the last measured sample of a row or column and the border, in the outer tenth, is the
/// map's end and no outline.
final class SyncOutline {
    /// The number of the frame whose map it is of; 0 for none.
    private(set) var frame = 0
    /// True where its motion was found.
    private(set) var isComplete = false
    private(set) var count = 0
    private(set) var groups = 0
    private var found = Scratch<Point>()
    private var pointMemory = Scratch<Point>()
    private var normalMemory = Scratch<Float>()
    private var indexMemory = Scratch<Int32>()
    private var endMemory = Scratch<Int32>()
    private var groupMemory = Scratch<Group>()
    private var startMemory = Scratch<Int32>()

    struct Point: BitwiseCopyable {
        var x: Float
        var y: Float
        var nx: Float
        var ny: Float
        /// Tile · 8 + direction.
        var cell: Int32
    }

    struct Group: BitwiseCopyable {
        let cell: Int
        let count: Float
        var isMoving: Bool
        var direction: Int { cell & 7 }
    }

    /// The coverage of a cell of which all is near.
    private static let whole: UInt16 = 1024
    /// Points that are found at most, of which `Sync.points` stay.
    private static let mostFound = 4096
    private static let cells = Sync.tiles * Sync.tiles * Sync.directions

    /// x and y of each point's normal.
    var normals: UnsafeMutablePointer<Float> { unsafe normalMemory.reserve(2 * Sync.points) }
    /// The cell of each point at each shift.
    var indices: UnsafeMutablePointer<Int32> { unsafe indexMemory.reserve(Sync.row * Sync.points) }
    /// Of the groups, the first point that is not in them.
    var ends: UnsafeMutablePointer<Int32> { unsafe endMemory.reserve(Sync.points) }
    /// At most as many as points.
    var madeGroups: UnsafeMutablePointer<Group> { unsafe groupMemory.reserve(Sync.points) }

    func forget() { frame = 0 }

    // MARK: Find

    /// - Parameters:
    ///   - cover: the coverage of the grid's cells, smoothed, in parts of 1024.
    func find(_ cover: UnsafePointer<UInt16>, _ field: DepthField, on grid: SyncGrid, frame: Int) {
        (self.frame, isComplete) = (frame, false)
        let list = unsafe found.reserve(SyncOutline.mostFound)
        var all = 0
        let half = SyncOutline.whole / 2
        for pass in 0..<2 {
            let isAcross = pass == 0
            let step = isAcross ? 1 : grid.width
            for y in 2..<(grid.height &- 2) {
                let row = unsafe cover + y &* grid.width
                for x in 2..<(grid.width &- 2) {
                    let (a, b) = unsafe (row[x], row[x &+ step])
                    guard (a >= half) != (b >= half), all < SyncOutline.mostFound else { continue }
                    let share = (Float(half) - Float(a)) / (Float(b) - Float(a))
                    let (one, other) = unsafe (
                        SyncOutline.gradient(row + x, grid), SyncOutline.gradient(row + (x &+ step), grid)
                    )
                    let normal = -(one * (1 - share) + other * share)
                    guard (abs(normal.x) > abs(normal.y)) == isAcross else { continue }
                    let size = (normal * normal).sum().squareRoot()
                    let place = SIMD2(Float(x), Float(y)) + (isAcross ? SIMD2(share, 0) : SIMD2(0, share))
                    let end = SIMD2(Float(grid.width &- 3), Float(grid.height &- 3))
                    guard size > 0.08, place.x > 2, place.y > 2, place.x < end.x, place.y < end.y else { continue }
                    let unit = normal / (size + 1e-9)
                    guard SyncOutline.isOutline(place, unit, field, grid) else { continue }
                    unsafe list[all] = Point(
                        x: place.x, y: place.y, nx: unit.x, ny: unit.y, cell: SyncOutline.cell(place, unit, grid))
                    all &+= 1
                }
            }
        }
        let every = max(DepthKernels.groups(of: Sync.points, in: all), 1)
        count = DepthKernels.groups(of: every, in: all)
        for index in 0..<count { unsafe list[index] = list[index &* every] }
        unsafe sort(list)
        index(on: grid)
    }

    /// Half the difference of the neighbours along each axis.
    @inline(__always)
    private static func gradient(_ cell: UnsafePointer<UInt16>, _ grid: SyncGrid) -> SIMD2<Float> {
        let after = unsafe SIMD2(Float(cell[1]), Float(cell[grid.width]))
        let before = unsafe SIMD2(Float(cell[-1]), Float(cell[0 &- grid.width]))
        return (after - before) * (0.5 / Float(whole))
    }

    /// True where something farther begins outside, or nothing is measured there.
    private static func isOutline(_ place: SIMD2<Float>, _ normal: SIMD2<Float>, _ field: DepthField, _ grid: SyncGrid)
        -> Bool
    {
        let size = (width: grid.samples.width, height: grid.samples.height)
        func sample(_ distance: Float) -> (x: Int, y: Int) {
            let point = (place + normal * distance + 0.5) * Float(grid.side)
            return (
                floorIndex(Double(point.x), in: 0...(size.width - 1)),
                floorIndex(Double(point.y), in: 0...(size.height - 1))
            )
        }
        let (inside, outside) = (sample(-2), sample(2.5))
        let near = unsafe field.metres[inside.y &* field.rowLength &+ inside.x]
        let far = unsafe field.metres[outside.y &* field.rowLength &+ outside.x]
        if near <= 0 { return false }
        if far > 0 { return far > Sync.jump * near }
        let row = unsafe field.metres + outside.y &* field.rowLength
        let column = unsafe field.metres + outside.x
        return unsafe !isEnd(row, 1, outside.x, of: size.width)
            && !isEnd(column, field.rowLength, outside.y, of: size.height)
    }

    /// True for a sample between the border, in the outer tenth, and the first measured sample of its row or column.
    private static func isEnd(_ line: UnsafePointer<Float>, _ step: Int, _ place: Int, of count: Int) -> Bool {
        let rim = Sync.rim * Double(count)
        let (fromStart, fromEnd) = (Double(place) < rim, Double(count &- 1 &- place) < rim - 1)
        guard fromStart || fromEnd else { return false }
        var (first, last) = (count, -1)
        for index in 0..<count where unsafe line[index &* step] > 0 {
            first = min(first, index)
            last = index
        }
        guard last >= 0 else { return false }
        return fromStart && place < first || fromEnd && place > last
    }

    /// The tile and the direction, to the nearest eighth of a turn.
    private static func cell(_ place: SIMD2<Float>, _ normal: SIMD2<Float>, _ grid: SyncGrid) -> Int32 {
        let column = floorIndex(Double(place.x) * Double(Sync.tiles) / Double(grid.width), in: 0...(Sync.tiles - 1))
        let row = floorIndex(Double(place.y) * Double(Sync.tiles) / Double(grid.height), in: 0...(Sync.tiles - 1))
        let eighth: Float = 0.41421356  // tan 22.5°
        let direction: Int
        if abs(normal.y) <= eighth * abs(normal.x) {
            direction = normal.x > 0 ? 0 : 4
        } else if abs(normal.x) <= eighth * abs(normal.y) {
            direction = normal.y > 0 ? 2 : 6
        } else {
            direction = normal.y > 0 ? (normal.x > 0 ? 1 : 3) : (normal.x > 0 ? 7 : 5)
        }
        return Int32(truncatingIfNeeded: (row &* Sync.tiles &+ column) &* Sync.directions &+ direction)
    }

    // MARK: Sort and index

    /// Sorts the points by their cells, and finds the groups.
    private func sort(_ list: UnsafePointer<Point>) {
        let starts = unsafe startMemory.reserve(SyncOutline.cells + 1)
        unsafe starts.update(repeating: 0, count: SyncOutline.cells + 1)
        for index in 0..<count { unsafe starts[Int(list[index].cell) &+ 1] &+= 1 }
        groups = 0
        var sum: Int32 = 0
        for cell in 0..<SyncOutline.cells {
            let size = unsafe starts[cell &+ 1]
            unsafe starts[cell] = sum
            sum &+= size
            guard size > 0 else { continue }
            unsafe (ends[groups], madeGroups[groups]) = (
                sum, Group(cell: cell, count: Float(size), isMoving: false)
            )
            groups &+= 1
        }
        let points = unsafe pointMemory.reserve(Sync.points)
        for index in 0..<count {
            let point = unsafe list[index]
            let cell = Int(point.cell)
            unsafe points[Int(starts[cell])] = point
            unsafe starts[cell] &+= 1
        }
    }

    /// Finds the cell that each point is in at each shift along its normal; the border's where it lies outside.
    private func index(on grid: SyncGrid) {
        let (points, normals, indices) = unsafe (pointMemory.reserve(Sync.points), normals, indices)
        let (right, bottom) = (Float(grid.width &- 1), Float(grid.height &- 1))
        for number in 0..<count {
            let point = unsafe points[number]
            unsafe (normals[2 &* number], normals[2 &* number &+ 1]) = (point.nx, point.ny)
            for shift in 0..<Sync.row {
                let distance = Float(shift &- Sync.reach)
                let x = nearestWhole(min(max(point.x + distance * point.nx, 0), right))
                let y = nearestWhole(min(max(point.y + distance * point.ny, 0), bottom))
                unsafe indices[number &* Sync.row &+ shift] = Int32(
                    bitPattern: y &* UInt32(truncatingIfNeeded: grid.width) &+ x)
            }
        }
    }

    /// Finds which groups move: the area that they win along their normals, from the map before to the map after.
    ///
    /// - Parameter frames: between the two maps.
    func findMotion(from before: UnsafePointer<UInt16>, to after: UnsafePointer<UInt16>, frames: Int) {
        isComplete = true
        let (indices, ends, made) = unsafe (indices, ends, madeGroups)
        var point = 0
        for group in 0..<groups {
            let end = unsafe Int(ends[group])
            var won: Int32 = 0
            while point < end {
                for shift in (Sync.reach - 5)...(Sync.reach + 5) {
                    let cell = unsafe Int(indices[point &* Sync.row &+ shift])
                    unsafe won &+= Int32(after[cell]) &- Int32(before[cell])
                }
                point &+= 1
            }
            let area = Float(won.magnitude) / Float(SyncOutline.whole)
            unsafe made[group].isMoving = area >= Sync.still * made[group].count * Float(frames)
        }
    }
}
