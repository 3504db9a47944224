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

    /// Pixels whose work in other stages is as much as that of a cell here, about.
    private static let work = 8

    private var links = Scratch<Float>()
    private var ways = Scratch<Float>()
    private var queues = Scratch<Int32>()

    /// Metres of the shortest way to each cell.
    typealias Ways = (person: UnsafePointer<Float>, room: UnsafePointer<Float>)

    mutating func find(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, _ bands: MatteBands) -> Ways {
        let size = cells.arraySize
        let memory = unsafe self.links.reserve(8 * size, filler: 0) - cells.start
        let (across, down) = unsafe (
            Links(offset: 1, memory, size), Links(offset: cells.stride, memory + 4 &* size, size)
        )
        let measuring = Measuring(cells: cells, marks: marks, across: across, down: down)
        bands.share(measuring, rows: cells.height + 1, width: cells.stride * CellWays.work)
        let ways = unsafe self.ways.reserve(2 * size, filler: 0) - cells.start
        let spreading = unsafe Spreading(
            measured: measuring, person: ways, room: ways + size,
            queues: queues.reserve(2 * BucketQueue.size(for: cells), filler: 0))
        bands.share(spreading, rows: 2, width: size * CellWays.work)
        return unsafe (UnsafePointer(ways), UnsafePointer(ways + size))
    }

    // MARK: Links

    /// The cost of links from a cell to the next one along an axis, and back.
    @safe
    private struct Links {
        typealias Costs = (there: UnsafeMutablePointer<Float>, back: UnsafeMutablePointer<Float>)
        /// Cells to the next one.
        let offset: Int
        let person: Costs
        let room: Costs

        init(offset: Int, _ memory: UnsafeMutablePointer<Float>, _ size: Int) {
            self.offset = offset
            unsafe person = (memory, memory + size)
            unsafe room = (memory + 2 &* size, memory + 3 &* size)
        }
    }

    /// Measures the links of rows of cells; the first row is the one above the cells.
    @safe
    private struct Measuring: BandWork {
        let cells: SurfaceCells.Map
        let marks: CellOwners.Marks
        let across: Links
        let down: Links

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            for y in rows {
                measure(row: y &- 1, across)
                measure(row: y &- 1, down)
            }
        }

        private func measure(row y: Int, _ links: Links) {
            let none = Lanes(repeating: unreached)
            for x in stride(from: 0, to: cells.stride, by: blockWidth) {
                let index = y &* cells.stride &+ x
                func both(_ array: UnsafePointer<Float>) -> (Lanes, Lanes) {
                    unsafe (loadLanes(array + index), loadLanes(array + (index &+ links.offset)))
                }
                let (z, next) = unsafe both(cells.depth)
                let (xs, ys, dz) = (cells.xs(from: x), cells.y(y), next - z)
                let dx = xs * dz + (links.offset == 1 ? next * cells.pitch : .zero)
                let dy = dz * ys + (links.offset == 1 ? .zero : next * cells.pitch)
                let length = squareRoots(dx * dx + dy * dy + dz * dz)
                let ((nx, mx), (ny, my), (nz, mz)) = unsafe (
                    both(cells.normal.x), both(cells.normal.y), both(cells.normal.z)
                )
                let bend = dx * (mx - nx) + dy * (my - ny) + dz * (mz - nz)
                let turning = larger((-bend / larger(length, Lanes(repeating: 1e-6)) - dead) * crease, .zero)
                let (y1, u, v) = unsafe (both(cells.color(0)), both(cells.color(1)), both(cells.color(2)))
                let way = length + CellWays.costOfColor(y1, u, v)
                let (there, back, isTorn) = CellWays.costOfStep(from: z, to: next, cells.pitch)
                let (low, high) = unsafe both(marks.height)
                let (up, down) = (larger(high - low, .zero) * climb, larger(low - high, .zero) * climb)
                let ((zone, nextZone), (room, nextRoom)) = unsafe (both(marks.zone), both(marks.room))
                let own = (way + turning * creaseOfPerson).replacing(
                    with: way * lengthInZone, where: zone * nextZone .> 0)
                let isClosed = isTorn .| (room + nextRoom .> 0)
                func store(_ cost: Lanes, _ isClosed: SIMDMask<SIMD16<Int32>>, to target: UnsafeMutablePointer<Float>) {
                    unsafe storeLanes(cost.replacing(with: none, where: isClosed), to: target + index)
                }
                unsafe store(own + there, isClosed, to: links.person.there)
                unsafe store(own + back, isClosed, to: links.person.back)
                unsafe store(way + turning + back + up, isTorn, to: links.room.there)
                unsafe store(way + turning + there + down, isTorn, to: links.room.back)
            }
        }
    }

    /// What a change of color costs; Y'UV of a cell and of the next one.
    @inline(__always)
    private static func costOfColor(_ y: (Lanes, Lanes), _ u: (Lanes, Lanes), _ v: (Lanes, Lanes)) -> Lanes {
        let (dy, du, dv) = (y.1 - y.0, u.1 - u.0, v.1 - v.0)
        let change = squareRoots(dy * dy + du * du + dv * dv) / (smaller(y.0, y.1) + dark)
        return smaller(larger(change - alike, .zero), Lanes(repeating: mostColor))
    }

    /// What a step in depth costs the person there and back, and where it parts cells.
    @inline(__always)
    private static func costOfStep(
        from z: Lanes, to next: Lanes, _ pitch: Float
    ) -> (there: Lanes, back: Lanes, isTorn: SIMDMask<SIMD16<Int32>>) {
        let (near, dz) = (smaller(z, next), next - z)
        let rise = larger(dz, -dz)
        let full = larger((rise - near * (slope * pitch)) * step, .zero)
        let isAway = dz .> 0
        let limit = near * (near * torn.square + torn.slope * pitch) + torn.constant
        return (
            (full * otherStep).replacing(with: full, where: isAway),
            full.replacing(with: full * otherStep, where: isAway), (near .<= 0) .| (rise .> limit)
        )
    }

    // MARK: Ways

    /// Finds the ways of the person, in row 0, and those of the room, in row 1.
    @safe
    private struct Spreading: BandWork {
        let measured: Measuring
        let person: UnsafeMutablePointer<Float>
        let room: UnsafeMutablePointer<Float>
        let queues: UnsafeMutablePointer<Int32>

        func work(_ rows: Range<Int>, _ memory: MatteMemory) {
            let (cells, marks, across, down) = (measured.cells, measured.marks, measured.across, measured.down)
            for row in rows {
                let queue = unsafe BucketQueue(queues + row &* BucketQueue.size(for: cells), cells)
                if row == 0 {
                    unsafe spread(from: marks.seed, across.person, down.person, queue, into: person)
                } else {
                    unsafe spread(from: marks.room, across.room, down.room, queue, into: room)
                }
            }
        }

        /// Finds the shortest ways from the seeds, as far as the queue reaches.
        private func spread(
            from seeds: UnsafePointer<Float>, _ across: Links.Costs, _ down: Links.Costs, _ queue: BucketQueue,
            into ways: UnsafeMutablePointer<Float>
        ) {
            let cells = measured.cells
            let (count, stride) = (cells.count, cells.stride)
            unsafe (ways + cells.start).update(repeating: CellWays.unreached, count: cells.arraySize)
            func reach(_ index: Int, _ way: Float) {
                let known = unsafe ways[index]
                guard way < known, queue.put(index, way, insteadOf: known) else { return }
                unsafe ways[index] = way
            }
            for index in 0..<count where unsafe seeds[index] > 0 { unsafe ways[index] = 0 }
            // From a seed among seeds nothing is reached.
            for index in 0..<count where unsafe seeds[index] > 0 {
                let beside = unsafe min(seeds[index &- 1], seeds[index &+ 1])
                if unsafe min(beside, seeds[index &- stride], seeds[index &+ stride]) == 0 {
                    queue.insert(index, into: 0)
                }
            }
            for bucket in 0..<BucketQueue.buckets {
                while let index = queue.takeFirst(of: bucket) {
                    let way = unsafe ways[index]
                    unsafe reach(index &+ 1, way + across.there[index])
                    unsafe reach(index &- 1, way + across.back[index &- 1])
                    unsafe reach(index &+ stride, way + down.there[index])
                    unsafe reach(index &- stride, way + down.back[index &- stride])
                }
            }
        }
    }

    /// Cells in the order of their ways: a list for each bucket.
    @safe
    private struct BucketQueue {
        /// Metres of way for a bucket, and the number of them.
        private static let width: Float = 0.01
        static let buckets = 512
        /// For the end of a list, and for a cell in no list.
        private static let (end, none): (Int32, Int32) = (.min, -1)

        /// By the cells' index, and by the buckets.
        private let next: UnsafeMutablePointer<Int32>
        private let last: UnsafeMutablePointer<Int32>
        private let first: UnsafeMutablePointer<Int32>

        /// Numbers of a queue.
        static func size(for cells: SurfaceCells.Map) -> Int { 2 * cells.arraySize + buckets }

        init(_ memory: UnsafeMutablePointer<Int32>, _ cells: SurfaceCells.Map) {
            let size = cells.arraySize
            unsafe (next, last, first) = (memory - cells.start, memory - cells.start + size, memory + 2 &* size)
            unsafe first.update(repeating: BucketQueue.end, count: BucketQueue.buckets)
            unsafe (last + cells.start).update(repeating: BucketQueue.none, count: size)
        }

        @inline(__always)
        private func bucket(_ way: Float) -> Int { Int(min(way / BucketQueue.width, Float(BucketQueue.buckets))) }

        /// - Returns: false for a way that is too long.
        @inline(__always)
        func put(_ index: Int, _ way: Float, insteadOf known: Float) -> Bool {
            let place = bucket(way)
            guard place < BucketQueue.buckets else { return false }
            if unsafe last[index] != BucketQueue.none { remove(index, from: bucket(known)) }
            insert(index, into: place)
            return true
        }

        @inline(__always)
        func takeFirst(of bucket: Int) -> Int? {
            let index = unsafe first[bucket]
            guard index != BucketQueue.end else { return nil }
            remove(Int(index), from: bucket)
            return Int(index)
        }

        @inline(__always)
        private func remove(_ index: Int, from bucket: Int) {
            let (before, after) = unsafe (last[index], next[index])
            if before == BucketQueue.end { unsafe first[bucket] = after } else { unsafe next[Int(before)] = after }
            if after != BucketQueue.end { unsafe last[Int(after)] = before }
            unsafe last[index] = BucketQueue.none
        }

        @inline(__always)
        func insert(_ index: Int, into bucket: Int) {
            let after = unsafe first[bucket]
            unsafe (next[index], last[index]) = (after, BucketQueue.end)
            if after != BucketQueue.end { unsafe last[Int(after)] = Int32(truncatingIfNeeded: index) }
            unsafe first[bucket] = Int32(truncatingIfNeeded: index)
        }
    }
}
