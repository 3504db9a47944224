/// The planes of a room on `SurfaceCells`: floor, walls, seats, table tops, back rests.
///
/// A plane is bigger than any flat part of a body: the proposal of a flat cell on which most area lies is fitted to it, and is
/// the room's where it is large, long, wide and filled. Only cells outside of the heads' columns propose and vote, since a trunk
/// is flat too; then all cells on the plane are the room's, wherever it shows between the limbs.
///
/// A cell is on a plane P·q = 1 where |P·q − 1| / |q|, its distance in metres, is within noise, and the normals agree.
///
/// Source: Schnabel, Wahl, Klein, "Efficient RANSAC for point-cloud shape detection", Computer Graphics Forum 26(2), 2007,
/// with proposals of single cells, whose normals are known, and without random numbers.
struct RoomPlanes: ~Copyable {
    /// Metres from a plane, constant + square·z², and the cosine of the angle between its normal and a cell's.
    private static let (near, nearSquare, alike): (Float, Float, Float) = (0.012, 0.004, 0.87)
    private static let (most, proposals) = (10, 40)
    /// Square metres of a plane, and metres of its longer and shorter side; the share of the rectangle that is seen, unless the
    /// plane is as large as `sure`.
    private static let (area, long, wide, filled, sure): (Float, Double, Double, Double, Double) = (
        0.12, 0.5, 0.25, 0.42, 0.5
    )
    /// Square metres of a plane's part that is the room's: one that reaches between the limbs, of it outside; and
    /// one that only shows between them.
    private static let (outside, island): (Float, Float) = (0.05, 0.015)

    /// Of a floor's normal, the part that points down: a camera may look down by 45 degrees. And metres from a face to it, where it
    /// is as far away: laps, seats and desks are no floor.
    private static let (leastSlope, leastDrop): (Float, Float) = (0.7, 0.85)

    /// Frames from one search to the next; and how many times the votes of a plane count that is known.
    private static let (interval, loyal): (Int, Float) = (4, 1.2)
    /// Flat cells that propose, at least; and of the area of a room's plane the share that must vote for it.
    private static let (leastFlat, leastVotes): (Int, Float) = (8, 0.7)
    /// Fits of a proposal, and cells of a fit at least.
    private static let (fits, leastCells) = (2, 12.0)
    /// Tolerances from a plane, and the least cosine, of cells that are part of it: all of them; those beside heads where it only
    /// shows between limbs; and those that propose no other plane.
    private static let part: (away: Float, cosine: Float) = (1.3, 0.8)
    private static let tight: (away: Float, cosine: Float) = (0.6, 0.9)
    private static let taken: Float = 1.5
    /// Tolerances from a plane of cells beside heads, in standard deviations of its noise, and their range.
    private static let beside: (noise: Float, range: ClosedRange<Float>) = (4, 0.25...0.9)

    private var list = Scratch<Float>()
    private var places = ScratchList<Int32>()
    private var bits = Scratch<UInt64>()
    private var line = Scratch<Float>()
    private var parts = ConnectedRuns()
    /// Square metres of each part, beside heads and elsewhere.
    private var areas = ScratchList<SIMD2<Float>>()
    private var known: [Plane] = []
    private var frame = 0

    init() { known.reserveCapacity(2 * RoomPlanes.most) }

    /// (a, b, c) of 1/z = a·X + b·Y + c.
    struct Plane {
        var a: Float
        var b: Float
        var c: Float
        /// The standard deviation of its cells, in tolerances.
        var noise: Float = 0

        /// The same in metres, at depths.
        func noise(at z: Lanes) -> Lanes { RoomPlanes.tolerance(at: z) * noise }

        var length: Float { (a * a + b * b + c * c).squareRoot() }

        /// Metres from the plane to a vector of cells, above 0 on the camera's side.
        @inline(__always)
        func metres(to cells: SurfaceCells.Map, _ x: Int, _ y: Int) -> Lanes {
            let (inverse, z) = unsafe (1 / length, loadLanes(cells.depth + (y &* cells.stride &+ x)))
            return inverse - (cells.xs(from: x) * (a * inverse) + (b * inverse * cells.y(y) + c * inverse)) * z
        }

        /// How many tolerances a vector of cells is away from the plane, and the cosines of the angles between its normal and theirs.
        @inline(__always)
        fileprivate func compare(_ cells: SurfaceCells.Map, _ x: Int, _ y: Int) -> (away: Lanes, cosine: Lanes) {
            let (inverse, index) = (-1 / length, y &* cells.stride &+ x)
            let (z, metres) = unsafe (loadLanes(cells.depth + index), metres(to: cells, x, y))
            let cosine =
                unsafe loadLanes(cells.normal.x + index) * (a * inverse) + loadLanes(cells.normal.y + index)
                * (b * inverse)
                + loadLanes(cells.normal.z + index) * (c * inverse)
            return (larger(metres, -metres) / RoomPlanes.tolerance(at: z), cosine)
        }
    }

    /// Metres by which a cell on a plane is away from it at most.
    @inline(__always)
    private static func tolerance(at z: Lanes) -> Lanes { z * z * nearSquare + near }

    mutating func reset() {
        known.removeAll(keepingCapacity: true)
        frame = 0
    }

    /// Marks the cells on planes.
    ///
    /// - Parameter isNew: true where planes are searched in any case; else those of the last frame are followed now and then.
    mutating func find(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, isNew: Bool, _ loops: Loops) {
        RoomPlanes.markLeft(cells, marks)
        unsafe marks.room.update(repeating: 0, count: cells.count)
        reserve(for: cells)
        let isSearch = isNew || known.isEmpty || frame % RoomPlanes.interval == 0
        frame &+= 1
        let before = known.count
        for round in 0..<(isSearch ? RoomPlanes.most : before) {
            guard let plane = isSearch ? propose(cells, marks, known: before) : known[round] else { break }
            take(plane, isSearch: isSearch, cells, marks, loops)
            RoomPlanes.removeTaken(cells, marks)
        }
        known.removeFirst(min(before, known.count))
    }

    /// Marks the cells that may be on planes: not those of the person and beside heads.
    private static func markLeft(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) {
        for first in Swift.stride(from: 0, to: cells.count, by: blockWidth) {
            let isTaken = unsafe loadLanes(marks.seed + first) + loadLanes(marks.column + first) .> 0
            let isLeft = unsafe (loadLanes(cells.depth + first) .> 0) .& .!isTaken
            unsafe storeLanes(Lanes.zero.replacing(with: 1, where: isLeft), to: marks.left + first)
        }
    }

    /// Takes as much memory as any frame needs.
    private mutating func reserve(for cells: SurfaceCells.Map) {
        parts.reserve(width: cells.width, height: cells.height)
        areas.removeAll(most: parts.most)
        places.removeAll(most: cells.count)
        _ = unsafe list.reserve(Voters.size(of: cells), filler: 0)
        _ = unsafe line.reserve(cells.stride, filler: 0)
        _ = unsafe bits.reserve((cells.height + 1) * SampleSet.stride(width: cells.stride), filler: 0)
    }

    /// Fits a plane, and marks the cells on it if it is the room's.
    ///
    /// - Parameter isSearch: true for a proposal, false for a plane that was the room's in the last frame.
    private mutating func take(
        _ plane: Plane, isSearch: Bool, _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, _ loops: Loops
    ) {
        var plane = plane
        for _ in 0..<(isSearch ? RoomPlanes.fits : 0) {
            RoomPlanes.measure(plane, cells, marks)
            plane = RoomPlanes.fitted(cells, marks) ?? plane
        }
        RoomPlanes.measure(plane, cells, marks)
        guard !isSearch || RoomPlanes.isLarge(plane, cells, marks) else { return }
        let (noise, (factor, range)) = (RoomPlanes.noise(cells, marks), RoomPlanes.beside)
        markParts(cells, marks, beside: min(max(factor * noise, range.lowerBound), range.upperBound), loops)
        if !isSearch { plane = RoomPlanes.fitted(cells, marks) ?? plane }
        plane.noise = noise
        known.append(plane)
    }

    /// Lets the cells on the measured plane propose no other.
    private static func removeTaken(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) {
        for first in Swift.stride(from: 0, to: cells.count, by: blockWidth) {
            let isOn = unsafe (loadLanes(marks.away + first) .< taken) .& (loadLanes(marks.cosine + first) .> alike)
            unsafe storeLanes(loadLanes(marks.left + first).replacing(with: 0, where: isOn), to: marks.left + first)
        }
    }

    /// The largest plane of the last search that lies as a floor does, far below a point.
    ///
    /// - Parameter point: X and Y, and metres.
    func floor(below point: (x: Float, y: Float, metres: Float)) -> Plane? {
        known.first { plane in
            let length = plane.length
            let drop = ((1 / point.metres - plane.c - plane.a * point.x) / plane.b - point.y) * point.metres
            return plane.b > RoomPlanes.leastSlope * length && drop >= RoomPlanes.leastDrop
        }
    }

    // MARK: Planes

    /// The plane of a flat cell on which most of the area left lies.
    ///
    /// - Parameter known: the number of planes of the last frame, which are proposals too.
    private mutating func propose(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, known: Int) -> Plane? {
        var voters = unsafe Voters(list.reserve(Voters.size(of: cells), filler: 0), cells)
        places.removeAll()
        for y in Swift.stride(from: 0, to: cells.height, by: 2) {
            for x in Swift.stride(from: 0, to: cells.width, by: 2) {
                let index = y &* cells.stride &+ x
                guard unsafe marks.left[index] > 0 else { continue }
                voters.append(x, y, of: cells)
                if unsafe cells.flat[index] > 0 { places.append(Int32(truncatingIfNeeded: index)) }
            }
        }
        guard places.count >= RoomPlanes.leastFlat else { return nil }
        voters.finish()
        var (best, most): (Plane?, Float) = (nil, 0)
        for plane in self.known.prefix(known) {
            let sum = voters.votes(for: plane) * RoomPlanes.loyal
            if sum > most { (best, most) = (plane, sum) }
        }
        for number in Swift.stride(from: 0, to: places.count, by: groups(of: RoomPlanes.proposals, in: places.count)) {
            let index = Int(places[number])
            let length = unsafe -cells.length[index]
            let plane = unsafe Plane(
                a: cells.normal.x[index] * length, b: cells.normal.y[index] * length, c: cells.normal.z[index] * length)
            let sum = voters.votes(for: plane)
            if sum > most { (best, most) = (plane, sum) }
        }
        // One of four cells votes.
        return most * 4 >= RoomPlanes.leastVotes * RoomPlanes.area ? best : nil
    }

    /// Cells that vote for planes with their area, one of four: a line for each of their numbers.
    @safe
    private struct Voters {
        /// Metres.
        private let (x, y, z): Line3
        private let normal: Line3
        private let tolerance: UnsafeMutablePointer<Float>
        private let area: UnsafeMutablePointer<Float>
        private var count = 0

        private typealias Line3 = (
            UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>
        )

        private static func room(_ cells: SurfaceCells.Map) -> Int {
            cells.width / 2 &* (cells.height / 2) &+ cells.width &+ cells.height &+ 2 &* blockWidth
        }

        static func size(of cells: SurfaceCells.Map) -> Int { 8 * room(cells) }

        init(_ memory: UnsafeMutablePointer<Float>, _ cells: SurfaceCells.Map) {
            let room = Voters.room(cells)
            func line(_ index: Int) -> UnsafeMutablePointer<Float> { unsafe memory + index &* room }
            unsafe (x, y, z) = (line(0), line(1), line(2))
            unsafe normal = (line(3), line(4), line(5))
            unsafe (tolerance, area) = (line(6), line(7))
        }

        mutating func append(_ column: Int, _ row: Int, of cells: SurfaceCells.Map) {
            let index = row &* cells.stride &+ column
            let depth = unsafe cells.depth[index]
            unsafe (x[count], y[count], z[count]) = (depth * cells.x(column), depth * cells.y(row), depth)
            unsafe (normal.0[count], normal.1[count], normal.2[count]) = (
                cells.normal.x[index], cells.normal.y[index], cells.normal.z[index]
            )
            unsafe tolerance[count] = RoomPlanes.near + RoomPlanes.nearSquare * depth * depth
            unsafe area[count] = cells.area[index]
            count &+= 1
        }

        /// Fills the last vector.
        func finish() { unsafe (area + count).update(repeating: 0, count: blockWidth) }

        func votes(for plane: Plane) -> Float {
            let length = plane.length
            let (a, b, c) = (plane.a / length, plane.b / length, plane.c / length)
            var sum = Lanes()
            for first in Swift.stride(from: 0, to: count, by: blockWidth) {
                func lanes(_ line: UnsafeMutablePointer<Float>) -> Lanes { unsafe loadLanes(line + first) }
                let distance = unsafe lanes(x) * a + lanes(y) * b + lanes(z) * c - 1 / length
                let cosine = unsafe lanes(normal.0) * a + lanes(normal.1) * b + lanes(normal.2) * c
                let limit = unsafe lanes(tolerance)
                let isOn = (distance .< limit) .& (distance .> -limit) .& (cosine .< -RoomPlanes.alike)
                unsafe sum += Lanes.zero.replacing(with: lanes(area), where: isOn)
            }
            return sum.sum()
        }
    }

    /// How far the cells are from a plane.
    private static func measure(_ plane: Plane, _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) {
        cells.forEachVector { index, x, y in
            let (away, cosine) = plane.compare(cells, x, y)
            unsafe storeLanes(away, to: marks.away + index)
            unsafe storeLanes(cosine, to: marks.cosine + index)
        }
    }

    /// Calls `body` for the cells that are left on the measured plane, with their X and Y.
    @inline(__always)
    private static func forEachLeft(
        _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, _ body: (_ index: Int, _ x: Double, _ y: Double) -> Void
    ) {
        cells.forEachVector { place, x, y in
            var isOn = unsafe (loadLanes(marks.left + place) .> 0) .& (loadLanes(marks.away + place) .< 1)
            unsafe isOn = isOn .& (loadLanes(marks.cosine + place) .> alike)
            guard any(isOn) else { return }
            for lane in 0..<blockWidth where isOn[lane] {
                body(place &+ lane, Double(cells.x(x &+ lane)), Double(cells.y(y)))
            }
        }
    }

    /// The plane through the cells that are left on the measured one, by least squares; nil where they are few.
    private static func fitted(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) -> Plane? {
        var (xx, xy, x1, yy, y1, n) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        var (xv, yv, v1) = (0.0, 0.0, 0.0)
        forEachLeft(cells, marks) { index, x, y in
            let v = unsafe Double(cells.inverse[index])
            (xx, xy, x1) = (xx + x * x, xy + x * y, x1 + x)
            (yy, y1, n) = (yy + y * y, y1 + y, n + 1)
            (xv, yv, v1) = (xv + x * v, yv + y * v, v1 + v)
        }
        let (k0, k1, k2) = (yy * n - y1 * y1, x1 * y1 - xy * n, xy * y1 - x1 * yy)
        let determinant = xx * k0 + xy * k1 + x1 * k2
        guard n >= leastCells, determinant > 1e-9 * xx * yy * n else { return nil }
        let (k11, k12, k22) = (xx * n - x1 * x1, xy * x1 - xx * y1, xx * yy - xy * xy)
        return Plane(
            a: Float((k0 * xv + k1 * yv + k2 * v1) / determinant),
            b: Float((k1 * xv + k11 * yv + k12 * v1) / determinant),
            c: Float((k2 * xv + k12 * yv + k22 * v1) / determinant))
    }

    /// True for a plane that is larger than what a person has.
    private static func isLarge(_ plane: Plane, _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) -> Bool {
        let length = Double(plane.length)
        let (nx, ny, nz) = (Double(plane.a) / length, Double(plane.b) / length, Double(plane.c) / length)
        // Two axes along the plane: n × z, or n × y where it faces the camera; and n × the first.
        var (ux, uy, uz) = abs(nz) < 0.98 ? (-ny, nx, 0.0) : (nz, 0.0, -nx)
        let norm = (ux * ux + uy * uy + uz * uz).squareRoot()
        (ux, uy, uz) = (ux / norm, uy / norm, uz / norm)
        let (vx, vy, vz) = (ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux)
        var (n, size, u, v, uu, uv, vv) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        forEachLeft(cells, marks) { index, x, y in
            let z = unsafe Double(cells.depth[index])
            let (s, t) = ((x * ux + y * uy + uz) * z, (x * vx + y * vy + vz) * z)
            unsafe (n, size) = (n + 1, size + Double(cells.area[index]))
            (u, v, uu, uv, vv) = (u + s, v + t, uu + s * s, uv + s * t, vv + t * t)
        }
        guard n >= leastCells else { return false }
        (uu, uv, vv) = (uu - u * u / n, uv - u * v / n, vv - v * v / n)
        // The variance of what is spread evenly is a twelfth of the squared side.
        let (half, root) = ((uu + vv) / 2, (((uu - vv) / 2) * ((uu - vv) / 2) + uv * uv).squareRoot())
        let long = (12 * (half + root) / (n - 1)).squareRoot()
        let wide = (12 * max(half - root, 0) / (n - 1)).squareRoot()
        return size >= Double(area) && long >= RoomPlanes.long && wide >= RoomPlanes.wide
            && size >= min(filled * long * wide, sure)
    }

    // MARK: Cells

    /// The standard deviation of the cells that are left on the measured plane, in tolerances.
    private static func noise(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks) -> Float {
        var (squares, count): (Float, Float) = (0, 0)
        forEachLeft(cells, marks) { index, _, _ in
            unsafe (squares, count) = (squares + marks.away[index] * marks.away[index], count + 1)
        }
        return (squares / max(count, 1)).squareRoot()
    }

    /// Marks the parts of the measured plane that are the room's.
    ///
    /// - Parameter beside: tolerances that cells beside heads are away from it at most: of a shoe on the floor, fewer than
    ///   the floor's noise explains are.
    private mutating func markParts(_ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, beside: Float, _ loops: Loops)
    {
        // What only shows between limbs is of the room where it is flat, and tightly on the plane.
        let (tight, part) = (RoomPlanes.tight, RoomPlanes.part)
        markParts(cells, marks, loops) { place in
            let isOn =
                unsafe (loadLanes(marks.away + place) .< tight.away)
                .& (loadLanes(marks.cosine + place) .> tight.cosine)
            return unsafe isOn .& (loadLanes(marks.column + place) + loadLanes(cells.flat + place) .> 1)
        } where: {
            $0.x > RoomPlanes.island
        }
        markParts(cells, marks, loops) { place in
            let isColumn = unsafe loadLanes(marks.column + place) .> 0
            let most = Lanes(repeating: part.away).replacing(with: beside, where: isColumn)
            return unsafe (loadLanes(marks.away + place) .< most) .& (loadLanes(marks.cosine + place) .> part.cosine)
        } where: {
            $0.y > ($0.x > 0 ? RoomPlanes.outside : RoomPlanes.area)
        }
    }

    /// Marks the connected parts of members that are large enough; what is surely the person's is no member.
    private mutating func markParts(
        _ cells: SurfaceCells.Map, _ marks: CellOwners.Marks, _ loops: Loops,
        of isMember: (Int) -> SIMDMask<SIMD16<Int32>>,
        where isRoom: (SIMD2<Float>) -> Bool
    ) {
        let words = SampleSet.stride(width: cells.stride)
        let memory = unsafe bits.reserve((cells.height + 1) * words, filler: 0)
        let members = unsafe SampleSet(words: memory, stride: words, width: cells.width, height: cells.height)
        let line = unsafe line.reserve(cells.stride, filler: 0)
        for y in 0..<cells.height {
            for x in Swift.stride(from: 0, to: cells.stride, by: blockWidth) {
                let place = y &* cells.stride &+ x
                let isPerson = unsafe (loadLanes(cells.depth + place) .<= 0) .| (loadLanes(marks.seed + place) .> 0)
                unsafe storeLanes(Lanes.zero.replacing(with: 1, where: isMember(place) .& .!isPerson), to: line + x)
            }
            unsafe loops.classify(
                line, blocks: 0..<(cells.stride / blockWidth), clear: 0, opaque: 1,
                into: (clear: memory + cells.height &* words, opaque: members.row(y)))
        }
        parts.find(in: members)
        areas.removeAll()
        parts.forEachRun { y, columns, part in
            if part.number == areas.count { areas.append(.zero) }
            for index in (y &* cells.stride &+ columns.lowerBound)..<(y &* cells.stride &+ columns.upperBound) {
                unsafe areas[Int(part.number)][marks.column[index] > 0 ? 0 : 1] += cells.area[index]
            }
        }
        parts.forEachRun { y, columns, part in
            guard isRoom(areas[Int(part.number)]) else { return }
            unsafe (marks.room + y &* cells.stride + columns.lowerBound).update(repeating: 1, count: columns.count)
        }
    }
}
