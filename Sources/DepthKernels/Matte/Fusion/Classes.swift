/// Facts about one sample of the grid.
struct SampleFlags: OptionSet, BitwiseCopyable {
    let rawValue: UInt8

    /// Measured, and not behind the cutoff.
    static let near = SampleFlags(rawValue: 1)
    /// Measured, and behind the cutoff.
    static let far = SampleFlags(rawValue: 2)
    /// Not measured, in a hole of 3x3 samples at least; smaller ones are dots.
    static let wide = SampleFlags(rawValue: 4)
    /// Middle of 3x3 samples none of which was measured.
    static let inside = SampleFlags(rawValue: 8)
    /// In the ellipse of a face's head and hair.
    static let head = SampleFlags(rawValue: 16)
    /// In a hole behind which the room is out of the sensor's reach.
    static let endless = SampleFlags(rawValue: 32)
    /// Certainly the person.
    static let person = SampleFlags(rawValue: 64)
    /// Certainly the room. Samples that are neither are open: the edge is there.
    static let room = SampleFlags(rawValue: 128)

    var isHole: Bool { isDisjoint(with: [.near, .far]) }
    var isOpen: Bool { isDisjoint(with: [.person, .room]) }
}

/// The stage that parts what depth settles from what it leaves open.
///
/// - person: measured before the cutoff, farther than `edge` from the room and `edgeAtHole` from a hole.
/// - room: measured behind the cutoff and farther than `edge` from the person, or a hole farther from it than the person
///   reaches into holes (`reach`).
/// - open: the rest.
///
/// A hole whose measured surroundings are far away, and which goes on beyond the person's reach, is one because the room is
/// out of range: there the person is believed to reach much less far (`reachEndless`), but for the head's hair.
///
/// Source: stage 1 of the method (`Fusion`). Sensors lose or invent depth within a few samples of an edge: Khoshelham and
/// Elberink, "Accuracy and resolution of Kinect depth data", Sensors 2012.
struct Classes: ~Copyable {
    /// Samples (of a grid of 640).
    private static let edge = 3.0
    private static let edgeAtHole = 2.0
    /// Samples (of a grid of 640) from measured room beyond which a hole may be endless.
    private static let gap: Float = 10
    /// Metres.
    private static let reach = 0.10
    private static let reachEndless = 0.03
    /// Width of the picture by its distance, for a lens of 60 degrees; turns metres into samples.
    private static let view = 1.15

    private var metres = DepthMetres()
    private var flags = Scratch<SampleFlags>()
    private var fromPerson = Distance()
    private var fromRoom = Distance()
    private var fromInside = Distance()
    private var parts = ConnectedRuns()

    /// - Parameters:
    ///   - cutoff: metres.
    ///   - near: metres; a sample at or below is room.
    ///   - faces: in video pixels.
    /// - Returns: the flags of all samples, row by row, valid until the next call.
    mutating func classify(
        _ depth: DepthImage, scale: DepthScale, near: Double, cutoff: Double, faces: [Box], on grid: WorkGrid,
        _ loops: Loops
    ) -> UnsafeMutablePointer<SampleFlags> {
        let flags = unsafe flags.reserve(grid.count, filler: [])
        let distance = unsafe compare(depth, scale: scale, near: near, cutoff: cutoff, on: grid, flags, loops)
        unsafe markHeads(faces, on: grid, flags)
        unsafe findInsides(on: grid, flags)
        unsafe fromPerson.measure(to: .near, in: flags, on: grid)
        unsafe fromRoom.measure(to: .far, in: flags, on: grid)
        unsafe fromInside.measure(to: .inside, in: flags, on: grid)

        let samplesPerMetre = Double(grid.width) / (Classes.view * max(distance ?? cutoff, 1e-3))
        let reach = Float(Classes.reach * samplesPerMetre)
        unsafe findEndless(reach: reach, on: grid, flags)
        unsafe settle(
            reach: max(2, reach), reachEndless: Float(max(3, Classes.reachEndless * samplesPerMetre)), on: grid, flags)
        return unsafe flags
    }

    /// - Returns: the mean distance of what lies before the cutoff, in metres; nil where nothing does.
    private mutating func compare(
        _ depth: DepthImage, scale: DepthScale, near: Double, cutoff: Double, on grid: WorkGrid,
        _ flags: UnsafeMutablePointer<SampleFlags>, _ loops: Loops
    ) -> Double? {
        let (low, high) = (largestFloat(atMost: near), largestFloat(atMost: cutoff))
        var (sum, count) = (0.0, 0)
        for y in 0..<grid.height {
            let metres = unsafe metres.row(grid.depthIndex(y), of: depth, scale: scale, loops)
            let row = unsafe flags + y &* grid.width
            var (rowSum, rowCount): (Float, Int32) = (0, 0)
            for x in 0..<grid.width {
                let z = unsafe metres[grid.depthIndex(x)]
                let isNear = z > low && z <= high
                rowSum += isNear ? z : 0
                rowCount &+= isNear ? 1 : 0
                unsafe row[x] = isNear ? .near : z > 0 && z < .infinity ? .far : []
            }
            sum += Double(rowSum)
            count &+= Int(rowCount)
        }
        return count > 0 ? sum / Double(count) : nil
    }

    /// Marks the ellipse of head and hair about each face: 1.7 boxes wide, 2.1 high, its middle 0.35 below the box's top.
    private func markHeads(_ faces: [Box], on grid: WorkGrid, _ flags: UnsafeMutablePointer<SampleFlags>) {
        for face in faces {
            let corner = grid.point(videoX: Double(face.x), videoY: Double(face.y))
            let end = grid.point(videoX: Double(face.x + face.width), videoY: Double(face.y + face.height))
            let (width, height) = (end.x - corner.x, end.y - corner.y)
            guard width > 0, height > 0 else { continue }
            let (middleX, middleY) = (corner.x + 0.5 * width, corner.y + 0.35 * height)
            let (radiusX, radiusY) = (0.85 * width, 1.05 * height)
            let rows = ceilIndex(middleY - radiusY, in: 0...grid.height)..<grid.height
            for y in rows {
                let dy = (Double(y) - middleY) / radiusY
                guard dy * dy < 1 else { if dy > 0 { break } else { continue } }
                let half = (1 - dy * dy).squareRoot() * radiusX
                let columns = floorIndex(middleX - half, in: 0...grid.width)..<grid.width
                for x in columns {
                    let dx = (Double(x) - middleX) / radiusX
                    if dx * dx + dy * dy < 1 {
                        unsafe flags[y &* grid.width &+ x].insert(.head)
                    } else if dx > 0 {
                        break
                    }
                }
            }
        }
    }

    /// Marks the middles of 3x3 holes; beyond the grid nothing is measured.
    private func findInsides(on grid: WorkGrid, _ flags: UnsafeMutablePointer<SampleFlags>) {
        let measured: SampleFlags = [.near, .far]
        for y in 0..<grid.height {
            let row = unsafe flags + y &* grid.width
            let above = unsafe y > 0 ? row - grid.width : row
            let below = unsafe y < grid.height &- 1 ? row + grid.width : row
            var (before, this): (UInt8, UInt8) = (0, unsafe above[0].union(row[0]).union(below[0]).rawValue)
            for x in 0..<grid.width {
                let next =
                    x < grid.width &- 1
                    ? unsafe above[x &+ 1].union(row[x &+ 1]).union(below[x &+ 1]).rawValue : 0
                if (before | this | next) & measured.rawValue == 0 { unsafe row[x].insert(.inside) }
                (before, this) = (this, next)
            }
        }
    }

    /// Marks wide holes, and those of them that are endless: parts of them, away from measured room, that go on farther
    /// than the person reaches.
    private mutating func findEndless(reach: Float, on grid: WorkGrid, _ flags: UnsafeMutablePointer<SampleFlags>) {
        let (gap, reach) = (Distance.steps(Float(grid.samples(Double(Classes.gap)))), Distance.steps(reach))
        let besideInside = Distance.steps(1.5)
        parts.begin()
        for y in 0..<grid.height {
            let row = unsafe flags + y &* grid.width
            let (person, room, inside) = unsafe (fromPerson.row(y), fromRoom.row(y), fromInside.row(y))
            for x in 0..<grid.width {
                if unsafe row[x].isHole && inside[x] <= besideInside { unsafe row[x].insert(.wide) }
            }
            parts.addRow(y, width: grid.width) { x in
                unsafe row[x].contains(.wide) && room[x] > gap
            } isSeed: { x in
                unsafe person[x] > reach
            }
        }
        parts.forEachSeededRun { y, columns in
            let row = unsafe flags + y &* grid.width
            for x in columns { unsafe row[x].insert(.endless) }
        }
    }

    private mutating func settle(
        reach: Float, reachEndless: Float, on grid: WorkGrid, _ flags: UnsafeMutablePointer<SampleFlags>
    ) {
        let edge = Distance.steps(Float(grid.wholeSamples(Classes.edge)))
        let edgeAtHole = Distance.steps(Float(grid.wholeSamples(Classes.edgeAtHole) + 1))
        let (reach, reachEndless) = (Distance.steps(reach), Distance.steps(reachEndless))
        for y in 0..<grid.height {
            let row = unsafe flags + y &* grid.width
            let (person, room, inside) = unsafe (fromPerson.row(y), fromRoom.row(y), fromInside.row(y))
            for x in 0..<grid.width {
                let sample = unsafe row[x]
                if sample.contains(.near) {
                    if unsafe room[x] > edge && inside[x] > edgeAtHole { unsafe row[x].insert(.person) }
                } else if sample.contains(.far) {
                    if unsafe person[x] > edge { unsafe row[x].insert(.room) }
                } else {
                    let isEndless = sample.contains(.endless) && !sample.contains(.head)
                    if unsafe person[x] > (isEndless ? reachEndless : reach) { unsafe row[x].insert(.room) }
                }
            }
        }
    }
}
