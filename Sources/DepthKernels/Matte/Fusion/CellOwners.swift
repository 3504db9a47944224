/// The stage that says whose the surfaces of the depth map are, the person's or the room's, on `SurfaceCells`.
///
/// Big planes are the room's (`RoomPlanes`), heads and trunks the person's. Between them the shorter way decides (`CellWays`):
/// what floor, wall, seat or table reach more easily than head and trunk do is theirs. A body has limits too: how far it reaches
/// from head and trunk, and its area. What was on a plane, and on whose side a cell was, is remembered while its depth stays.
///
/// The person's cells count as before the cutoff, where they hang on nearer ones without a steep link: legs of who stands
/// before a camera that looks down. What reaches the sides or the top of the picture there is a wall.
///
/// Source: the project's own method.
struct CellOwners: ~Copyable {
    /// Metres behind the farthest head that the person's body reaches.
    private static let behind: Float = 1.2
    /// Metres beside a head's axis where planes are not searched, and where the person's way is cheap; up to `above` metres above
    /// the chin.
    private static let (column, zone, above) = (0.33, 0.35, 0.4)
    /// Metres of a trunk's middle: beside the axis, below the chin, before or behind the head, and about its median depth.
    private static let trunk = (beside: 0.12, below: 0.03...0.40, apart: Float(0.5), deep: Float(0.15))
    /// Of the face's width: its middle beside the axis and above the chin; and metres before and behind the head.
    private static let face = (beside: 0.3, above: 0.3...0.85, deep: Float(0.12))
    /// Of the memory of planes, the share that stays from frame to frame, and what is enough for a plane.
    private static let (fade, enough): (Float, Float) = (0.75, 0.35)
    /// How many times shorter the other's way is where a cell changes sides; of it what counts for the person's limits.
    private static let (loyal, mostLoyal): (Float, Float) = (1.5, 1.2)
    /// Metres of the person's ways, in the zone and elsewhere; the share of the room's way beyond which they end, but no
    /// earlier than `sure` metres; and metres from what was theirs in a frame without a head.
    private static let (farInZone, far, doubt, sure, creep): (Float, Float, Float, Float, Float) = (
        1.5, 1.4, 0.45, 0.9, 0.1
    )
    /// Square metres of a person that a camera sees.
    private static let mostArea: Float = 1.3
    /// Metres of the room's way beyond which a cell beside the person's is left to the samples.
    private static let rim: Float = 0.15
    /// Metres, constant + square·z² + slope, from cell to cell of a body behind the cutoff.
    private static let gentle: (constant: Float, square: Float, slope: Float) = (0.004, 0.003, 0.7)
    /// Metres before the cutoff from which a body goes on behind it.
    private static let overlap: Float = 0.05
    /// Metres of the person's way in a bucket of their area.
    private static let (step, steps): (Float, Int) = (0.01, 512)

    private var surface = SurfaceCells()
    private var planes = RoomPlanes()
    private var ways = CellWays()
    private var memory = Scratch<Float>()
    private var past = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var line = Scratch<Float>()
    private var places = ScratchList<Int32>()
    /// Cells and heads of the last frame; 0 for none.
    private var (pastSize, pastHeads) = (0, 0)

    /// Arrays of numbers by the cells' index, which the stages of a frame read and write.
    @safe
    struct Marks {
        private let memory: UnsafeMutablePointer<Float>
        private let size: Int

        fileprivate init(_ memory: inout Scratch<Float>, _ cells: SurfaceCells.Map) {
            size = cells.arraySize
            let first = unsafe memory.reserve(9 * size, filler: 0)
            unsafe self.memory = first - cells.start
            // From `column` to `height`: the others are written before they are read.
            unsafe first.update(repeating: 0, count: 5 * size)
        }

        private func array(_ index: Int) -> UnsafeMutablePointer<Float> { unsafe memory + index &* size }
        /// 1 beside a head's axis, where planes are not searched, and where the person's way is cheap; else 0.
        var column: UnsafeMutablePointer<Float> { unsafe array(0) }
        var zone: UnsafeMutablePointer<Float> { unsafe array(1) }
        /// 1 for the person's surely: their ways start there. Else 0.
        var seed: UnsafeMutablePointer<Float> { unsafe array(2) }
        /// 1 on a plane, else 0: the room's ways start there, and the person's do not cross it.
        var room: UnsafeMutablePointer<Float> { unsafe array(3) }
        /// Metres above the floor: 0 within twice its noise, `CellWays.foot` at most.
        var height: UnsafeMutablePointer<Float> { unsafe array(4) }
        /// Of the plane that is looked at: tolerances that a cell is away from it, and the cosine of the angle between its normal and
        /// a cell's.
        var away: UnsafeMutablePointer<Float> { unsafe array(5) }
        var cosine: UnsafeMutablePointer<Float> { unsafe array(6) }
        /// 1 for cells that are on no plane so far.
        var left: UnsafeMutablePointer<Float> { unsafe array(7) }
        /// 1 for the person, −1 for the room, 0 where neither is sure.
        var owner: UnsafeMutablePointer<Float> { unsafe array(8) }
        /// 1 for the person behind the cutoff. It takes the place of `left`.
        var beyond: UnsafeMutablePointer<Float> { unsafe left }
    }

    mutating func reset() {
        (pastSize, pastHeads) = (0, 0)
        planes.reset()
    }

    /// - Parameters:
    ///   - faces: in a frame without a face those of the last frame that had any.
    ///   - lost: in such a frame the samples that were the person's, where their depth goes on.
    ///   - point: samples and metres; the floor is far below it.
    /// - Returns: samples on surfaces of the room, and those of the person behind the cutoff; valid until the next call.
    mutating func find(
        _ colors: UnsafePointer<Float>, _ faces: borrowing SubjectFaces, lost: SampleSet?,
        above point: (x: Double, y: Double, metres: Double), cutoff: Double, _ context: FusionContext
    ) -> (room: SampleSet, beyond: SampleSet) {
        let (field, grid, loops) = (context.field, context.grid, context.loops)
        let sets: InlineArray<3, SampleSet> = bits.sets(like: field.near)
        let (room, beyond, spare) = (sets[0], sets[1], sets[2])
        room.removeAll()
        beyond.removeAll()
        guard min(grid.width, grid.height) >= blockWidth else { return (room, beyond) }
        let farthest = Float(faces.distance ?? point.metres) + CellOwners.behind
        let cells = surface.read(field, farthest: farthest, loops)
        // As much memory as any frame needs.
        places.removeAll(most: cells.count)
        _ = unsafe line.reserve(max(2 * field.rowLength, cells.count, CellOwners.steps), filler: 0)
        let marks = Marks(&memory, cells)
        let isAny = markHeads(faces, lost: lost, on: grid, cells, marks)
        let headCount = faces.subjects.count
        let isNew = headCount != pastHeads
        planes.find(cells, marks, isNew: isNew || pastSize == 0, loops)
        let hasFloor = measureHeights(above: point, on: grid, cells, marks)
        guard isAny else {
            pastSize = 0
            guard headCount == 0, hasFloor else { return (room, beyond) }
            write(cells, context, into: room, spare) {
                unsafe marks.room[$0] > 0 && marks.height[$0] < SurfaceCells.layer.constant
            }
            return (room, beyond)
        }
        remember(cells, marks, isNew: isNew)
        context.bands.finish()
        unsafe cells.readColors(colors, grid, loops)
        unsafe decide(cells, ways.find(cells, marks, context.bands), marks, heads: headCount, isLost: lost != nil)
        (pastSize, pastHeads) = (cells.count, headCount)
        findBeyond(cells, marks, Float(cutoff))
        write(cells, context, into: room, spare) { unsafe marks.owner[$0] < 0 }
        write(cells, context, into: beyond, spare) { unsafe marks.beyond[$0] > 0 }
        beyond.fill { beyond[$0] & field.far[$0] }
        return (room, beyond)
    }

    // MARK: Heads

    /// Marks the heads' surroundings, and where the person's ways start.
    ///
    /// - Returns: false where they start nowhere.
    private mutating func markHeads(
        _ faces: borrowing SubjectFaces, lost: SampleSet?, on grid: WorkGrid, _ cells: SurfaceCells.Map, _ marks: Marks
    ) -> Bool {
        var isAny = lost.map { CellOwners.mark($0, cells, marks) } ?? false
        for head in faces.subjects {
            mark(head, on: grid, cells, marks)
            if lost == nil { isAny = markBody(of: head, on: grid, cells, marks) || isAny }
        }
        return isAny
    }

    /// Marks the column of a head and the zone about it, with what is below it.
    private func mark(_ head: SubjectFaces.Face, on grid: WorkGrid, _ cells: SurfaceCells.Map, _ marks: Marks) {
        let scale = grid.samplesPerMetre(at: head.distance)
        func mark(_ target: UnsafeMutablePointer<Float>, beside: Double) {
            let columns = cells.columns(head.axis, beside * scale)
            for y in cells.rows(from: head.bottom - CellOwners.above * scale, to: .infinity) {
                unsafe (target + y &* cells.stride + columns.lowerBound).update(repeating: 1, count: columns.count)
            }
        }
        unsafe mark(marks.column, beside: CellOwners.column)
        unsafe mark(marks.zone, beside: CellOwners.zone)
    }

    /// Marks the middle of a face and of the trunk below it.
    ///
    /// - Returns: false where neither was measured.
    private mutating func markBody(
        of head: SubjectFaces.Face, on grid: WorkGrid, _ cells: SurfaceCells.Map, _ marks: Marks
    ) -> Bool {
        let (scale, z) = (grid.samplesPerMetre(at: head.distance), Float(head.distance))
        var isAny = false
        func mark(_ columns: Range<Int>, _ rows: Range<Int>, about middle: Float, _ reach: Float) {
            for y in rows {
                for index in (y &* cells.stride &+ columns.lowerBound)..<(y &* cells.stride &+ columns.upperBound)
                where unsafe cells.depth[index] > 0 && abs(cells.depth[index] - middle) < reach {
                    unsafe marks.seed[index] = 1
                    isAny = true
                }
            }
        }
        let face = CellOwners.face
        mark(
            cells.columns(head.axis, face.beside * head.width),
            cells.rows(
                from: head.bottom - face.above.upperBound * head.width,
                to: head.bottom - face.above.lowerBound * head.width), about: z, face.deep)
        let trunk = CellOwners.trunk
        let columns = cells.columns(head.axis, trunk.beside * scale)
        let rows = cells.rows(
            from: head.bottom + trunk.below.lowerBound * scale, to: head.bottom + trunk.below.upperBound * scale)
        let depths = unsafe line.reserve(max(columns.count * rows.count, 1), filler: 0)
        var count = 0
        for y in rows {
            for x in columns {
                let depth = unsafe cells.depth[y &* cells.stride &+ x]
                guard depth > 0, abs(depth - z) < trunk.apart else { continue }
                unsafe depths[count] = depth
                count &+= 1
            }
        }
        if count > 0 { unsafe mark(columns, rows, about: Float(median(of: depths, count: count)), trunk.deep) }
        return isAny
    }

    /// Marks the cells of which more than half of the samples are in a set.
    ///
    /// - Returns: true where there are any.
    private static func mark(_ samples: SampleSet, _ cells: SurfaceCells.Map, _ marks: Marks) -> Bool {
        let side = cells.side
        var isAny = false
        for y in 0..<cells.height {
            for x in 0..<cells.width {
                let columns = (x &* side)..<((x &+ 1) &* side)
                let count = (0..<side).reduce(0) { $0 &+ samples.bits(y &* side &+ $1).count(in: columns) }
                let index = y &* cells.stride &+ x
                guard 2 * count > side * side, unsafe cells.depth[index] > 0 else { continue }
                unsafe marks.seed[index] = 1
                isAny = true
            }
        }
        return isAny
    }

    /// Measures how far the cells are above the floor and its noise, in metres, up to a foot's height; of no floor, that everywhere.
    ///
    /// - Returns: false where there is no floor.
    private func measureHeights(
        above point: (x: Double, y: Double, metres: Double), on grid: WorkGrid, _ cells: SurfaceCells.Map,
        _ marks: Marks
    ) -> Bool {
        let x = Float((point.x - Double(grid.width) / 2) / grid.focal)
        let y = Float((point.y - Double(grid.height) / 2) / grid.focal)
        guard let floor = planes.floor(below: (x, y, Float(point.metres))) else {
            unsafe marks.height.update(repeating: CellWays.foot, count: cells.count)
            return false
        }
        cells.forEachVector { index, x, y in
            let up = floor.metres(to: cells, x, y)
            let isOn = unsafe up .< floor.noise(at: loadLanes(cells.depth + index)) * 2
            unsafe storeLanes(
                smaller(up, Lanes(repeating: CellWays.foot)).replacing(with: 0, where: isOn), to: marks.height + index)
        }
        return true
    }

    // MARK: Memory

    /// Depth, planes and owners of the last frame.
    private mutating func pastPlanes(_ size: Int) -> (
        depth: UnsafeMutablePointer<Float>, votes: UnsafeMutablePointer<Float>, owner: UnsafeMutablePointer<Float>
    ) {
        let memory = unsafe past.reserve(3 * size, filler: 0)
        return unsafe (memory, memory + size, memory + 2 &* size)
    }

    /// Lets cells be on a plane as long as most of the last frames said so.
    ///
    /// - Parameter isNew: true where a head came or went: then no owner is remembered, and no plane in the heads' columns.
    private mutating func remember(_ cells: SurfaceCells.Map, _ marks: Marks, isNew: Bool) {
        let (depth, votes, owner) = unsafe pastPlanes(cells.count)
        for index in 0..<cells.count {
            let z = unsafe cells.depth[index]
            let change = unsafe abs(z - depth[index])
            let isSame = unsafe pastSize == cells.count && z > 0 && depth[index] > 0 && change < SideMemory.limit(z)
            let room = unsafe marks.room[index]
            let isKept = unsafe isSame && !(isNew && marks.column[index] > 0)
            unsafe votes[index] = isKept ? CellOwners.fade * votes[index] + (1 - CellOwners.fade) * room : room
            unsafe marks.room[index] = votes[index] > CellOwners.enough && z > 0 && marks.seed[index] == 0 ? 1 : 0
            if !isSame || isNew { unsafe owner[index] = 0 }
            unsafe depth[index] = z
        }
    }

    // MARK: Decision

    /// Writes the owner of each cell.
    private mutating func decide(
        _ cells: SurfaceCells.Map, _ ways: CellWays.Ways, _ marks: Marks, heads: Int, isLost: Bool
    ) {
        let (owner, past) = unsafe (marks.owner, pastPlanes(cells.count).owner)
        unsafe (owner + cells.start).update(repeating: 0, count: cells.arraySize)
        for index in 0..<cells.count where unsafe ways.person[index] < CellWays.unreached {
            let (person, room) = unsafe (ways.person[index], ways.room[index])
            let far = unsafe marks.zone[index] > 0 ? CellOwners.farInZone : CellOwners.far
            let limit = isLost ? CellOwners.creep : min(max(CellOwners.doubt * room, CellOwners.sure), far)
            let bias = unsafe past[index] > 0 ? CellOwners.loyal : past[index] < 0 ? 1 / CellOwners.loyal : 1
            let isOwn = person < bias * room && person < min(bias, CellOwners.mostLoyal) * limit
            if isOwn, unsafe marks.room[index] == 0 { unsafe owner[index] = 1 }
        }
        unsafe limitArea(cells, ways, marks, heads: heads)
        for index in 0..<cells.count where unsafe cells.depth[index] > 0 && owner[index] <= 0 {
            guard unsafe owner[index] < -1 || ways.room[index] < CellWays.unreached else { continue }
            // A rim of one cell above the floor is left to the samples.
            let mayBeRim = unsafe ways.room[index] > CellOwners.rim && marks.height[index] > 0
            unsafe owner[index] = mayBeRim && isBesidePerson(index, cells, owner) ? 0 : -1
        }
        unsafe past.update(from: owner, count: cells.count)
    }

    /// Takes from the person the cells that are farthest on their way, beyond what a camera sees of a body: -2 is their owner.
    private mutating func limitArea(_ cells: SurfaceCells.Map, _ ways: CellWays.Ways, _ marks: Marks, heads: Int) {
        let (owner, areas) = unsafe (marks.owner, line.reserve(CellOwners.steps, filler: 0))
        unsafe areas.update(repeating: 0, count: CellOwners.steps)
        func bucket(_ index: Int) -> Int {
            unsafe Int(min(ways.person[index] / CellOwners.step, Float(CellOwners.steps - 1)))
        }
        for index in 0..<cells.count where unsafe owner[index] > 0 {
            let edge = unsafe cells.depth[index] * cells.pitch
            unsafe areas[bucket(index)] += edge * edge
        }
        var (last, area) = (0, Float(0))
        while last < CellOwners.steps - 1, unsafe area + areas[last] <= CellOwners.mostArea * Float(heads) {
            unsafe area += areas[last]
            last += 1
        }
        for index in 0..<cells.count where unsafe owner[index] > 0 && bucket(index) > last { unsafe owner[index] = -2 }
    }

    private func isBesidePerson(_ index: Int, _ cells: SurfaceCells.Map, _ owner: UnsafeMutablePointer<Float>) -> Bool {
        (-1...1).contains { row in
            let place = index &+ row &* cells.stride
            return unsafe owner[place &- 1] > 0 || owner[place] > 0 || owner[place &+ 1] > 0
        }
    }

    // MARK: Samples

    /// Writes the samples of cells on their surface.
    private mutating func write(
        _ cells: SurfaceCells.Map, _ context: FusionContext, into set: SampleSet, _ spare: SampleSet,
        where isOf: (Int) -> Bool
    ) {
        let (field, length) = (context.field, context.field.rowLength)
        let line = unsafe line.reserve(2 * length, filler: 0)
        let edge = cells.width &* cells.side
        for row in 0..<cells.height {
            var isAny = false
            for x in 0..<cells.width {
                let index = row &* cells.stride &+ x
                let isMember = isOf(index)
                isAny = isAny || isMember
                let z = unsafe isMember ? cells.depth[index] : -1e3
                for lane in 0..<cells.side { unsafe line[x &* cells.side &+ lane] = z }
            }
            guard isAny else { continue }
            for x in edge..<length { unsafe line[x] = line[edge &- 1] }
            for y in (row &* cells.side)..<(row == cells.height &- 1 ? set.height : (row &+ 1) &* cells.side) {
                unsafe field.findAlike(
                    row: y, to: line, SurfaceCells.layer, line: line + length, into: (set, spare), context.loops)
            }
        }
        set.trim()
    }

    /// Finds the person's cells behind the cutoff.
    private mutating func findBeyond(_ cells: SurfaceCells.Map, _ marks: Marks, _ cutoff: Float) {
        let (count, owner, beyond) = unsafe (cells.count, marks.owner, marks.beyond)
        unsafe (beyond + cells.start).update(repeating: 0, count: cells.arraySize)
        // Where no plane is seen nothing says where the room begins.
        guard (0..<count).contains(where: { unsafe marks.room[$0] > 0 }) else { return }
        places.removeAll()
        for index in 0..<count where unsafe owner[index] > 0 && cells.depth[index] <= cutoff {
            unsafe beyond[index] = 1
            places.append(Int32(truncatingIfNeeded: index))
        }
        places.grow(over: cells, isDiagonal: false) { from, other in
            guard unsafe owner[other] > 0, unsafe beyond[other] == 0 else { return false }
            let near = unsafe min(cells.depth[from], cells.depth[other])
            let limit =
                CellOwners.gentle.constant
                + near * (near * CellOwners.gentle.square + CellOwners.gentle.slope * cells.pitch)
            guard unsafe abs(cells.depth[from] - cells.depth[other]) < limit else { return false }
            unsafe beyond[other] = 1
            return true
        }
        for index in 0..<count where unsafe cells.depth[index] <= cutoff - CellOwners.overlap {
            unsafe beyond[index] = 0
        }
        // What reaches the top or the sides of the picture is a wall.
        for x in 0..<cells.width { unsafe removePart(of: x, cells, beyond) }
        for y in 0..<cells.height {
            unsafe removePart(of: y &* cells.stride, cells, beyond)
            unsafe removePart(of: y &* cells.stride &+ cells.width &- 1, cells, beyond)
        }
    }

    /// Removes the connected part of a cell from marked ones.
    private mutating func removePart(of first: Int, _ cells: SurfaceCells.Map, _ marks: UnsafeMutablePointer<Float>) {
        func take(_ index: Int) -> Bool {
            defer { unsafe marks[index] = 0 }
            return unsafe marks[index] > 0
        }
        places.removeAll()
        guard take(first) else { return }
        places.append(Int32(truncatingIfNeeded: first))
        places.grow(over: cells, isDiagonal: true) { _, other in take(other) }
    }
}
