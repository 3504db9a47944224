/// The ways of the person and of the room over `SurfaceCells`, in metres: a cell belongs to that whose way to it is shorter.
///
///     way = length + color + 2 · concave turning + 12 · step + 12 · rise above the floor,   in metres and radian
///
/// A step in depth beyond a slope is expensive for the person away from the camera, and for the room towards it: what lies before
/// a thing is seldom a part of it. The turn from one surface to another, as from a seat to a back, parts things, but not the parts
/// of a body: in the person's zone turning costs them nothing, and length and color a quarter.
///
/// Source: geodesic distances as in Bai and Sapiro, "Geodesic matting", IJCV 82, 2009, by Dial's algorithm, CACM 12(11), 1969.
struct CellWays: ~Copyable {
    /// A cell that no way reaches.
    static let unreached: Float = 1e3
    /// Metres for a radian of concave turning beyond `dead` radian; the share of it that the person pays outside of the zone.
    private static let (crease, dead, creaseOfPerson): (Float, Float, Float) = (2, 0.04, 0.2)
    /// Metres for a metre of depth beyond a slope; the share of it in the other direction.
    private static let (step, slope, otherStep): (Float, Float, Float) = (12, 0.7, 0.1)
    /// Relative change of color that costs nothing, the largest that counts, and what is added to the darker luma.
    private static let (alike, mostColor, dark): (Float, Float, Float) = (0.05, 0.15, 0.1)
    /// Metres that the room's way pays for each metre that it rises, up to `foot` metres above the floor.
    private static let climb: Float = 12
    static let foot: Float = 0.15
    /// Metres, constant + square·z² + slope: a larger step parts cells.
    private static let torn: (constant: Float, square: Float, slope: Float) = (0.03, 0.008, 2.5)
    /// The share of a way's length and color that the person pays in the zone.
    private static let lengthInZone: Float = 0.25
    /// Metres of way for a bucket of the queue, and the number of them.
    private static let (bucket, buckets): (Float, Int) = (0.01, 512)

    private var links = Scratch<Float>()
    private var ways = Scratch<Float>()
    private var queues = Scratch<Int32>()

    /// Metres of the shortest way to each cell.
    @safe
    struct Ways {
        let person: UnsafePointer<Float>
        let room: UnsafePointer<Float>
    }

    /// The cost of links from a cell to the next one along an axis, and back.
    @safe
    private struct Links {
        let there: UnsafeMutablePointer<Float>
        let back: UnsafeMutablePointer<Float>
    }

    mutating func find(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, _ bands: MatteBands) -> Ways {
        let size = cells.planeSize
        let memory = unsafe self.links.reserve(8 * size, filler: 0) - cells.start
        func links(_ index: Int) -> Links {
            unsafe Links(there: memory + 2 &* index &* size, back: memory + (2 &* index &+ 1) &* size)
        }
        let measuring = Measuring(
            cells: cells, marks: marks, person: (links(0), links(1)), room: (links(2), links(3)))
        bands.share(measuring, rows: cells.height + 1, width: cells.stride * CellWays.work)
        let ways = unsafe self.ways.reserve(2 * size, filler: 0) - cells.start
        let queues = unsafe queues.reserve(2 * Spreading.queue(of: cells), filler: 0)
        let spreading = unsafe Spreading(
            cells: cells, seeds: (marks.seed, marks.room), links: (measuring.person, measuring.room),
            ways: (ways, ways + size), queues: queues)
        bands.share(spreading, rows: 2, width: size * CellWays.work)
        return unsafe Ways(person: UnsafePointer(ways), room: UnsafePointer(ways + size))
    }

    /// Pixels whose work in other stages is as much as that of a cell here, about.
    private static let work = 8

    /// Measures the links of rows of cells; the first row is the one above the cells.
    @safe
    private struct Measuring: BandWork {
        let cells: SurfaceCells.Map
        let marks: CellOwners.Marks
        /// To the next column, and to the next row.
        let person: (Links, Links)
        let room: (Links, Links)

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            for y in rows {
                CellWays.measure(row: y &- 1, 1, cells, marks, person: person.0, room: room.0)
                CellWays.measure(row: y &- 1, cells.stride, cells, marks, person: person.1, room: room.1)
            }
        }
    }

    /// Measures the links of a row of cells to those at an offset.
    private static func measure(
        row y: Int, _ offset: Int, _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, person: Links, room: Links
    ) {
        let none = Lanes(repeating: unreached)
        let pitch = cells.pitch
        let isAcross = offset == 1
        for x in stride(from: 0, to: cells.stride, by: blockWidth) {
            let index = y &* cells.stride &+ x
            func both(_ plane: UnsafePointer<Float>) -> (Lanes, Lanes) {
                unsafe (loadLanes(plane + index), loadLanes(plane + (index &+ offset)))
            }
            let (z, next) = unsafe both(cells.depth)
            let (xs, ys) = (cells.xs(from: x), cells.y(y))
            let dz = next - z
            let dx = xs * dz + (isAcross ? next * pitch : .zero)
            let dy = dz * ys + (isAcross ? .zero : next * pitch)
            let length = squareRoots(dx * dx + dy * dy + dz * dz)
            let ((nx, mx), (ny, my), (nz, mz)) = unsafe (
                both(cells.normal.x), both(cells.normal.y), both(cells.normal.z)
            )
            let turn = -(dx * (mx - nx) + dy * (my - ny) + dz * (mz - nz)) / larger(length, Lanes(repeating: 1e-6))
            let turning = larger((turn - dead) * crease, .zero)
            let near = smaller(z, next)
            let rise = larger(dz, -dz)
            let ((l, k), (u, s), (v, t)) = unsafe (both(cells.color(0)), both(cells.color(1)), both(cells.color(2)))
            let color =
                squareRoots((k - l) * (k - l) + (s - u) * (s - u) + (t - v) * (t - v)) / (smaller(l, k) + dark)
            let way = length + smaller(larger(color - alike, .zero), Lanes(repeating: mostColor))
            let full = larger((rise - near * (slope * pitch)) * step, .zero)
            let isAway = dz .> 0
            let there = (full * otherStep).replacing(with: full, where: isAway)
            let back = full.replacing(with: full * otherStep, where: isAway)
            let limit = near * (near * torn.square + torn.slope * pitch) + torn.constant
            let isTorn = (near .<= 0) .| (rise .> limit)
            let (low, high) = unsafe both(marks.height)
            let (up, down) = (larger(high - low, .zero) * climb, larger(low - high, .zero) * climb)
            let ((zoneHere, zoneNext), (roomHere, roomNext)) = unsafe (both(marks.zone), both(marks.room))
            let own = (way + turning * creaseOfPerson).replacing(
                with: way * lengthInZone, where: zoneHere * zoneNext .> 0)
            let isClosed = isTorn .| (roomHere + roomNext .> 0)
            unsafe storeLanes((own + there).replacing(with: none, where: isClosed), to: person.there + index)
            unsafe storeLanes((own + back).replacing(with: none, where: isClosed), to: person.back + index)
            unsafe storeLanes(
                (way + turning + back + up).replacing(with: none, where: isTorn), to: room.there + index)
            unsafe storeLanes(
                (way + turning + there + down).replacing(with: none, where: isTorn), to: room.back + index)
        }
    }

    /// Finds the ways of the person, in row 0, and those of the room, in row 1.
    @safe
    private struct Spreading: BandWork {
        let cells: SurfaceCells.Map
        let seeds: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
        let links: ((Links, Links), (Links, Links))
        let ways: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
        let queues: UnsafeMutablePointer<Int32>

        /// Numbers of a queue.
        static func queue(of cells: SurfaceCells.Map) -> Int { 2 * cells.planeSize + CellWays.buckets }

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            for row in rows {
                let (across, down) = row == 0 ? links.0 : links.1
                unsafe CellWays.spread(
                    from: row == 0 ? seeds.0 : seeds.1, across, down, cells,
                    queue: queues + row &* Spreading.queue(of: cells), into: row == 0 ? ways.0 : ways.1)
            }
        }
    }

    /// Finds the shortest ways from the seeds, as far as the queue reaches.
    private static func spread(
        from seeds: UnsafePointer<Float>, _ across: Links, _ down: Links, _ cells: SurfaceCells.Map,
        queue memory: UnsafeMutablePointer<Int32>, into ways: UnsafeMutablePointer<Float>
    ) {
        let size = cells.planeSize
        // A list for each bucket, whose first cells stand behind the cells' own links.
        let (next, last, first) = unsafe (memory - cells.start, memory - cells.start + size, memory + 2 &* size)
        unsafe (ways + cells.start).update(repeating: CellWays.unreached, count: size)
        unsafe first.update(repeating: .min, count: CellWays.buckets)
        unsafe (last + cells.start).update(repeating: -1, count: size)  // in no list
        func bucket(_ way: Float) -> Int { Int(min(way / CellWays.bucket, Float(CellWays.buckets))) }
        func remove(_ index: Int, from bucket: Int) {
            let (before, after) = unsafe (last[index], next[index])
            if before == .min { unsafe first[bucket] = after } else { unsafe next[Int(before)] = after }
            if after != .min { unsafe last[Int(after)] = before }
            unsafe last[index] = -1
        }
        func insert(_ index: Int, into bucket: Int) {
            let after = unsafe first[bucket]
            unsafe (next[index], last[index]) = (after, .min)
            if after != .min { unsafe last[Int(after)] = Int32(truncatingIfNeeded: index) }
            unsafe first[bucket] = Int32(truncatingIfNeeded: index)
        }
        func reach(_ index: Int, _ way: Float) {
            let known = unsafe ways[index]
            guard way < known else { return }
            let place = bucket(way)
            guard place < CellWays.buckets else { return }
            unsafe ways[index] = way
            if unsafe last[index] != -1 { remove(index, from: bucket(known)) }
            insert(index, into: place)
        }
        let count = cells.height &* cells.stride
        for index in 0..<count where unsafe seeds[index] > 0 { unsafe ways[index] = 0 }
        // From a seed among seeds nothing is reached.
        for index in 0..<count where unsafe seeds[index] > 0 {
            let beside = unsafe min(seeds[index &- 1], seeds[index &+ 1])
            if unsafe min(beside, seeds[index &- cells.stride], seeds[index &+ cells.stride]) == 0 {
                insert(index, into: 0)
            }
        }
        for place in 0..<CellWays.buckets {
            while true {
                let index = unsafe Int(first[place])
                guard index != Int(Int32.min) else { break }
                remove(index, from: place)
                let way = unsafe ways[index]
                unsafe reach(index &+ 1, way + across.there[index])
                unsafe reach(index &- 1, way + across.back[index &- 1])
                unsafe reach(index &+ cells.stride, way + down.there[index])
                unsafe reach(index &- cells.stride, way + down.back[index &- cells.stride])
            }
        }
    }
}
