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

    /// Planes of numbers by the cells' index, which the stages of a frame read and write.
    @safe
    struct Marks {
        fileprivate static let (count, cleared) = (9, 5)

        fileprivate let memory: UnsafeMutablePointer<Float>
        fileprivate let size: Int

        private func plane(_ index: Int) -> UnsafeMutablePointer<Float> { unsafe memory + index &* size }
        /// 1 beside a head's axis, where planes are not searched, and where the person's way is cheap; else 0.
        var column: UnsafeMutablePointer<Float> { unsafe plane(0) }
        var zone: UnsafeMutablePointer<Float> { unsafe plane(1) }
        /// 1 for the person's surely: their ways start there. Else 0.
        var seed: UnsafeMutablePointer<Float> { unsafe plane(2) }
        /// 1 on a plane, else 0: the room's ways start there, and the person's do not cross it.
        var room: UnsafeMutablePointer<Float> { unsafe plane(3) }
        /// Metres above the floor: 0 within twice its noise, `CellWays.foot` at most.
        var height: UnsafeMutablePointer<Float> { unsafe plane(4) }
        /// Of the plane that is looked at: tolerances that a cell is away from it, and the cosine of the angle between its normal and
        /// a cell's.
        var away: UnsafeMutablePointer<Float> { unsafe plane(5) }
        var cosine: UnsafeMutablePointer<Float> { unsafe plane(6) }
        /// 1 for cells that are on no plane so far.
        var left: UnsafeMutablePointer<Float> { unsafe plane(7) }
        /// 1 for the person, −1 for the room, 0 where neither is sure.
        var owner: UnsafeMutablePointer<Float> { unsafe plane(8) }
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
        _ field: DepthField, _ colors: UnsafePointer<Float>, _ faces: [Subject.Face], lost: SampleSet?,
        above point: (x: Double, y: Double, metres: Double), cutoff: Double, _ context: FusionContext
    ) -> (room: SampleSet, beyond: SampleSet) {
        let near = field.near
        let bits = unsafe bits.reserve(3 * near.wordCount, filler: 0)
        let result = unsafe (room: near.placed(in: bits), beyond: near.placed(in: bits, 1))
        let spare = unsafe bits + 2 &* near.wordCount
        result.room.removeAll()
        result.beyond.removeAll()
        guard min(field.grid.width, field.grid.height) >= blockWidth else { return result }
        let heads = faces.lazy.filter(\.isSubject)
        let farthest = Float(heads.map(\.distance).max() ?? point.metres) + CellOwners.behind
        let loops = context.loops
        let cells = surface.read(field, farthest: farthest, loops)
        let (size, count) = (cells.planeSize, cells.height &* cells.stride)
        // As much as any frame needs of them.
        places.removeAll(most: count)
        _ = unsafe line.reserve(max(2 * field.rowLength, count, CellOwners.steps), filler: 0)
        let memory = unsafe memory.reserve(Marks.count * size, filler: 0)
        unsafe memory.update(repeating: 0, count: Marks.cleared * size)
        let marks = unsafe Marks(memory: memory - cells.start, size: size)
        var (isAny, headCount) = (false, 0)
        for head in heads {
            unsafe CellOwners.mark(head, beside: CellOwners.column, cells, marks.column)
            unsafe CellOwners.mark(head, beside: CellOwners.zone, cells, marks.zone)
            if lost == nil { isAny = unsafe markBody(of: head, cells, marks.seed) || isAny }
            headCount += 1
        }
        if let lost { isAny = unsafe CellOwners.mark(lost, cells, marks.seed) }
        planes.find(cells, marks, isNew: headCount != pastHeads || pastSize == 0, loops)
        let place = (
            Float((point.x - Double(field.grid.width) / 2) / field.grid.focal),
            Float((point.y - Double(field.grid.height) / 2) / field.grid.focal), Float(point.metres)
        )
        let floor = planes.floor(below: place)
        if let floor {
            unsafe CellOwners.measure(marks.height, above: floor, cells)
        } else {
            unsafe marks.height.update(repeating: CellWays.foot, count: count)
        }
        guard isAny else {
            pastSize = 0
            guard headCount == 0, floor != nil else { return result }
            unsafe write(field, cells, loops, into: result.room, spare: spare) {
                unsafe marks.room[$0] > 0 && marks.height[$0] < SurfaceCells.layer.constant
            }
            return result
        }
        remember(cells, marks, isNew: headCount != pastHeads)
        context.bands.finish()
        unsafe cells.readColors(colors, field.grid, loops)
        decide(cells, ways.find(cells, marks, context.bands), marks, heads: headCount, isLost: lost != nil)
        (pastSize, pastHeads) = (count, headCount)
        findBeyond(cells, marks, Float(cutoff))
        unsafe write(field, cells, loops, into: result.room, spare: spare) {
            unsafe marks.owner[$0] < 0
        }
        unsafe write(field, cells, loops, into: result.beyond, spare: spare) {
            unsafe marks.beyond[$0] > 0
        }
        result.beyond.fill { unsafe result.beyond.words[$0] & field.far.words[$0] }
        return result
    }

    // MARK: Heads

    /// Samples of the grid for a metre at a head.
    private static func samples(_ head: Subject.Face, _ cells: SurfaceCells.Map) -> Double {
        Double(cells.side) / (Double(cells.pitch) * max(head.distance, 1e-3))
    }

    /// Marks the column of a head and of what is below it.
    private static func mark(
        _ head: Subject.Face, beside: Double, _ cells: SurfaceCells.Map, _ target: UnsafeMutablePointer<Float>
    ) {
        let scale = samples(head, cells)
        let columns = cells.columns(head.axis, beside * scale)
        for y in cells.rows(from: head.bottom - above * scale, to: .infinity) {
            unsafe (target + y &* cells.stride + columns.lowerBound).update(repeating: 1, count: columns.count)
        }
    }

    /// Marks the middle of a face and of the trunk below it.
    ///
    /// - Returns: false where neither was measured.
    private mutating func markBody(
        of head: Subject.Face, _ cells: SurfaceCells.Map, _ seed: UnsafeMutablePointer<Float>
    ) -> Bool {
        let (scale, z) = (CellOwners.samples(head, cells), Float(head.distance))
        var isAny = false
        func mark(_ columns: Range<Int>, _ rows: Range<Int>, about middle: Float, _ reach: Float) {
            for y in rows {
                for index in (y &* cells.stride &+ columns.lowerBound)..<(y &* cells.stride &+ columns.upperBound)
                where unsafe cells.depth[index] > 0 && abs(cells.depth[index] - middle) < reach {
                    unsafe seed[index] = 1
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
    private static func mark(
        _ samples: SampleSet, _ cells: SurfaceCells.Map, _ target: UnsafeMutablePointer<Float>
    ) -> Bool {
        let side = cells.side
        var isAny = false
        for y in 0..<cells.height {
            for x in 0..<cells.width {
                let columns = (x &* side)..<((x &+ 1) &* side)
                let count = (0..<side).reduce(0) { $0 &+ samples.bits(y &* side &+ $1).count(in: columns) }
                let index = y &* cells.stride &+ x
                guard 2 * count > side * side, unsafe cells.depth[index] > 0 else { continue }
                unsafe target[index] = 1
                isAny = true
            }
        }
        return isAny
    }

    /// Measures how far the cells are above a floor and its noise, in metres, up to a foot's height.
    private static func measure(
        _ height: UnsafeMutablePointer<Float>, above floor: RoomPlanes.Plane, _ cells: SurfaceCells.Map
    ) {
        for y in 0..<cells.height {
            for x in stride(from: 0, to: cells.stride, by: blockWidth) {
                let index = y &* cells.stride &+ x
                let up = floor.metres(to: cells, x, y)
                let isOn = unsafe up .< floor.noise(at: loadLanes(cells.depth + index)) * 2
                unsafe storeLanes(
                    smaller(up, Lanes(repeating: CellWays.foot)).replacing(with: 0, where: isOn), to: height + index)
            }
        }
    }

    // MARK: Memory

    /// Depth, planes and owners of the last frame.
    private func pastPlanes(_ size: Int, _ memory: UnsafeMutablePointer<Float>) -> (
        depth: UnsafeMutablePointer<Float>, votes: UnsafeMutablePointer<Float>, owner: UnsafeMutablePointer<Float>
    ) { unsafe (memory, memory + size, memory + 2 &* size) }

    /// Lets cells be on a plane as long as most of the last frames said so.
    ///
    /// - Parameter isNew: true where a head came or went: then no owner is remembered, and no plane in the heads' columns.
    private mutating func remember(_ cells: SurfaceCells.Map, _ marks: Marks, isNew: Bool) {
        let count = cells.height &* cells.stride
        let (depth, votes, owner) = unsafe pastPlanes(count, past.reserve(3 * count, filler: 0))
        for index in 0..<count {
            let z = unsafe cells.depth[index]
            let change = unsafe abs(z - depth[index])
            let isSame = unsafe pastSize == count && z > 0 && depth[index] > 0 && change < SideMemory.limit(z)
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
        let (count, owner) = unsafe (cells.height &* cells.stride, marks.owner)
        let past = unsafe pastPlanes(count, past.reserve(3 * count, filler: 0)).owner
        let areas = unsafe line.reserve(CellOwners.steps, filler: 0)
        unsafe areas.update(repeating: 0, count: CellOwners.steps)
        func bucket(_ way: Float) -> Int { Int(min(way / CellOwners.step, Float(CellOwners.steps - 1))) }
        unsafe (owner + cells.start).update(repeating: 0, count: cells.planeSize)
        for index in 0..<count where unsafe ways.person[index] < CellWays.unreached {
            let (person, room) = unsafe (ways.person[index], ways.room[index])
            let far = unsafe marks.zone[index] > 0 ? CellOwners.farInZone : CellOwners.far
            let limit = isLost ? CellOwners.creep : min(max(CellOwners.doubt * room, CellOwners.sure), far)
            let bias = unsafe past[index] > 0 ? CellOwners.loyal : past[index] < 0 ? 1 / CellOwners.loyal : 1
            guard person < bias * room, person < min(bias, CellOwners.mostLoyal) * limit,
                unsafe marks.room[index] == 0
            else { continue }
            unsafe owner[index] = 1
            let edge = unsafe cells.depth[index] * cells.pitch
            unsafe areas[bucket(person)] += edge * edge
        }
        var (last, area) = (0, Float(0))
        while last < CellOwners.steps - 1, unsafe area + areas[last] <= CellOwners.mostArea * Float(heads) {
            unsafe area += areas[last]
            last += 1
        }
        for index in 0..<count where unsafe owner[index] > 0 && bucket(ways.person[index]) > last {
            unsafe owner[index] = -2
        }
        for index in 0..<count where unsafe cells.depth[index] > 0 && owner[index] <= 0 {
            guard unsafe owner[index] < -1 || ways.room[index] < CellWays.unreached else { continue }
            // A rim of one cell above the floor is left to the samples.
            var isRim = false
            if unsafe ways.room[index] > CellOwners.rim, unsafe marks.height[index] > 0 {
                for row in -1...1 {
                    let place = index &+ row &* cells.stride
                    unsafe isRim = isRim || owner[place &- 1] > 0 || owner[place] > 0 || owner[place &+ 1] > 0
                }
            }
            unsafe owner[index] = isRim ? 0 : -1
        }
        unsafe past.update(from: owner, count: count)
    }

    // MARK: Samples

    /// Writes the samples of cells on their surface.
    private mutating func write(
        _ field: DepthField, _ cells: SurfaceCells.Map, _ loops: Loops, into set: SampleSet,
        spare: UnsafeMutablePointer<UInt64>, where isOf: (Int) -> Bool
    ) {
        let length = field.rowLength
        let line = unsafe line.reserve(2 * length, filler: 0)
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
            let edge = cells.width &* cells.side
            for x in edge..<length { unsafe line[x] = line[edge &- 1] }
            for y in (row &* cells.side)..<(row == cells.height &- 1 ? set.height : (row &+ 1) &* cells.side) {
                unsafe field.findAlike(
                    row: y, to: line, SurfaceCells.layer, line: line + length,
                    into: (set.row(y), spare), loops)
                for index in 0..<set.stride { unsafe set.row(y)[index] &= ~field.hole.row(y)[index] }
            }
        }
        set.trim()
    }

    /// Finds the person's cells behind the cutoff.
    private mutating func findBeyond(_ cells: SurfaceCells.Map, _ marks: Marks, _ cutoff: Float) {
        let (count, owner, beyond) = unsafe (cells.height &* cells.stride, marks.owner, marks.beyond)
        unsafe (beyond + cells.start).update(repeating: 0, count: cells.planeSize)
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
