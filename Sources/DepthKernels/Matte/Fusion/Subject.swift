/// The stage that decides whose the samples in front of the cutoff are: the anchored person's, others', or nobody's.
///
/// Surfaces of the room (`CellOwners`) are in `Result.others`. Pieces of the depth map (`DepthPieces`) are one body where most of their
/// border has no step. Bodies are the person's
///
/// - if they have a tenth of the samples in the middle of the anchored face, at its depth, or three tenths of the chest below;
/// - *joined*: if half of their border with the person's bodies has no step, and more of it than with others;
/// - if they touch the person's, most of them is below the chin and as wide as a trunk, and they are not behind the face: what a
///   thing in the hands parts from the head;
/// - *small*: if they touch the person's and are not far behind the face, the bigger the less, and less above the chin: what is
///   left over belongs to the person unless it is big and behind. Strips of shoulder behind long hair, ears, fingers and a mug are
///   small or near; the back of a chair and its headrest are neither;
/// - *loose*: if they come in from the lower border or a side of the picture, are as small as an arm, not behind the face, and
///   nearer to it than to a neighbour's.
///
/// Bodies with another measured face are never added, and nothing that is 0.8 m or more in front of the face. A body of the
/// person and a neighbour is split halfway between their faces. Samples beside steps go with the side whose depth is more alike
/// (`RoughSamples`); nobody's samples count as holes.
///
/// A thing that is anchored (`anchor=nearest` and `point`) is a person's if it is part of what the rules above add to one of the
/// faces within arm's reach of it: then all of that person is kept. Else its own bodies are, and what the rules add to them.
///
/// In a frame without a face, a body is the person's if a quarter of its samples was theirs in the last frame, at the depth that
/// they have now or somewhat farther. What was others', and what the person uncovers, is not. Where less than two
/// fifths of the person's area go on like that, and after ten seconds, nobody is there until a face is seen. If no face has ever
/// been seen, everything in front of the cutoff is the person.
///
/// Limits of the method: a thing at the person's depth that touches them counts as the person; an arm that the lower border
/// parts from them counts only in front of the face.
///
/// Source: the project's own method.
struct Subject: ~Copyable {
    static let armLength = 0.8
    /// Of an anchored thing: the largest quotient of its distance and a sample's.
    private static let objectDepth: Float = 1.14
    /// Metres: of legs that the sensor does not see above the floor, and of a foot before them.
    private static let (shank, foot): (Double, Float) = (0.5, 0.3)
    /// Metres, constant + square·z²: the floor's noise.
    private static let (floorNoise, floorNoiseSquare): (Float, Float) = (0.01, 0.003)
    /// Seconds for which the past alone identifies the person: longer, and a thing that was taken for part of them would stay for good.
    private static let longestLost = 10.0

    private var faces = SubjectFaces()
    private var bodies = SubjectBodies()
    private var owners = CellOwners()
    private var rough = RoughSamples()
    private var memoryOfSides = SideMemory()
    private var memory = Scratch<UInt64>()
    /// Seconds since a face was seen.
    private var sinceFace = 0.0
    /// True where samples were the person's in the last frame.
    private var hasPast = false

    /// The samples of the anchored thing: those at the distance of the nearest, or those under a point.
    struct Thing {
        /// Metres.
        private var depths: ClosedRange<Float> = 0...(.infinity)
        private var columns: Range<Int>
        private var rows: Range<Int>

        fileprivate init(_ object: Anchor.Object, on grid: WorkGrid) {
            (columns, rows) = (0..<grid.width, 0..<grid.height)
            guard let point = object.point else {
                let distance = Float(object.distance)
                depths = (distance / Subject.objectDepth)...(distance * Subject.objectDepth)
                return
            }
            let (x, y) = grid.point(videoX: point.x, videoY: point.y)
            let (column, row) = (floorIndex(x, in: 0...(grid.width - 1)), floorIndex(y, in: 0...(grid.height - 1)))
            columns = ((column - 2)..<(column + 3)).clamped(to: columns)
            rows = ((row - 2)..<(row + 3)).clamped(to: rows)
        }

        /// The number of its samples in a run.
        func count(_ run: Range<Int>, row y: Int, _ map: DepthPieces.Map) -> Int {
            guard rows.contains(y) else { return 0 }
            return run.clamped(to: columns).count { depths.contains(map.depth($0, y)) }
        }
    }

    enum Finding {
        /// No face was ever looked for or seen: what is in front of the cutoff is the person.
        case everything
        /// The person has left.
        case nobody
        /// Valid until the next call.
        case person(Result)
    }

    /// The parts of a frame.
    struct Result {
        /// The person's samples; some of them were not measured.
        let person: SampleSet
        /// Samples of others, and of the room's surfaces; what is in neither set is nobody's, and counts as a hole.
        let others: SampleSet
        /// Mean distance of the person, in metres; nil where no sample of them was measured.
        let distance: Double?
        /// Metres behind which nothing is kept, where a thing set the cutoff by itself.
        let cutoff: Double?
    }

    /// - Parameters:
    ///   - anchor: of the frame. With `MatteSettings.keepsWholeObject` the whole of its thing is kept.
    ///   - colors: of the grid's samples, three planes.
    ///   - cutoff: metres; with a thing, behind all that it may hang on.
    mutating func find(
        _ frame: MatteFrame, _ anchor: Anchor, _ colors: UnsafePointer<Float>, cutoff: Double, _ context: FusionContext
    ) -> Finding {
        let (field, settings, loops) = (context.field, context.settings, context.loops)
        let object = settings.keepsWholeObject ? anchor.object : nil
        guard settings.subject == .anchored, settings.anchor.followsPerson || object != nil,
            !field.scale.kind.isRelative
        else {
            reset()
            return .everything
        }
        let hasFaces =
            object.map { faces.readOwners(frame, field, of: $0, settings.anchor) }
            ?? faces.read(frame, field, anchored: anchor.face, settings.anchor)
        // A thing needs no face.
        let isLost = !hasFaces && object == nil
        sinceFace = isLost ? sinceFace + (frame.elapsed ?? Fusion.usualInterval) : 0
        // Without samples of the past nothing identifies the person but a face.
        if isLost, !hasPast || sinceFace > Subject.longestLost { reset() }
        guard !faces.all.isEmpty || object != nil else { return anchor.distance != nil ? .nobody : .everything }
        faces.place(on: field.grid)

        let distance = faces.distance ?? object?.distance
        let sides = memoryOfSides.recall(field, isLost: isLost, loops)
        let room = unsafe findRoom(colors, sides, cutoff: cutoff, distance ?? cutoff, context)
        let sets = sets(of: field)
        sets.members.fill { field.near[$0] & ~room[$0] }
        var labels = bodies.findPieces(of: DepthPieces.Map(field, sets.members, distance: distance ?? 0), loops)
        guard findBodies(&labels, of: object, sides, isLost: isLost, on: field.grid) else {
            reset()
            return .nobody
        }
        if hasFaces { keepSides(labels) }
        let mean = bodies.write(labels, faces, person: sets.person, others: sets.others)
        let behind = object.map { splitBehind($0, labels.map, context) }
        shareRest(labels.map, room: room, sides, of: field)
        hasPast = !sets.person.isEmpty
        return .person(Result(person: sets.person, others: sets.others, distance: mean, cutoff: behind))
    }

    /// Forgets the person's samples, but not their face: in the next frame they may be elsewhere.
    mutating func forgetSamples() {
        hasPast = false
        memoryOfSides.forget()
        owners.reset()
    }

    /// Forgets the person.
    mutating func reset() {
        faces.removeAll()
        bodies.reset()
        forgetSamples()
    }

    // MARK: Steps

    private mutating func sets(
        of field: DepthField
    ) -> (members: SampleSet, person: SampleSet, others: SampleSet, loose: SampleSet, spare: SampleSet) {
        let sets: InlineArray<5, SampleSet> = memory.sets(like: field.near)
        return (sets[0], sets[1], sets[2], sets[3], sets[4])
    }

    /// Finds the samples that are the room's, and moves those of the person from behind the cutoff before it.
    ///
    /// - Parameter distance: metres, of the person or thing.
    private mutating func findRoom(
        _ colors: UnsafePointer<Float>, _ sides: SideMemory.Past, cutoff: Double, _ distance: Double,
        _ context: FusionContext
    ) -> SampleSet {
        let (field, grid) = (context.field, context.grid)
        // The floor is below the camera's axis where no face is known.
        let middle =
            faces.subjects.first.map { ($0.axis, ($0.top + $0.bottom) / 2, $0.distance) }
            ?? (Double(grid.width) / 2, Double(grid.height) / 2, distance)
        let (room, beyond) = unsafe owners.find(
            colors, faces, lost: sides.uncovered.map { _ in sides.person }, above: middle, cutoff: cutoff, context)
        field.near.fill { field.near[$0] | beyond[$0] }
        field.far.fill { field.far[$0] & ~beyond[$0] }
        // In a frame without a face what was others', and what the person uncovered, is not theirs.
        if let uncovered = sides.uncovered { room.fill { room[$0] | uncovered[$0] | sides.others[$0] } }
        return room
    }

    /// Finds the person's bodies. Of a thing, each of the faces that may be its owner's is tried, and at last none.
    ///
    /// - Returns: false where the person has left.
    private mutating func findBodies(
        _ labels: inout DepthPieces.Labels, of object: Anchor.Object?, _ sides: SideMemory.Past, isLost: Bool,
        on grid: WorkGrid
    ) -> Bool {
        let thing = object.map { Thing($0, on: grid) }
        guard bodies.find(labels, faces, thing, sides, isLost: isLost) else { return false }
        guard let object else { return true }
        for owner in 1..<(faces.ownerCount + 1) where !bodies.isThingOwned {
            faces.nameOwner(owner < faces.ownerCount ? owner : nil)
            labels.map.distance = faces.distance ?? object.distance
            bodies.find(labels, faces, thing, sides, isLost: false)
        }
        return true
    }

    private mutating func keepSides(_ labels: DepthPieces.Labels) {
        let hasDoubts = bodies.keepSides()
        memoryOfSides.remember(labels, isAny: hasDoubts) { bodies.doubt(of: $0) }
    }

    /// Leaves out what is behind a thing and its owner.
    ///
    /// - Returns: the cutoff, in metres.
    private mutating func splitBehind(
        _ object: Anchor.Object, _ map: DepthPieces.Map, _ context: FusionContext
    ) -> Double {
        let (field, settings, sets) = (context.field, context.settings, sets(of: context.field))
        var farthest: Float = 0
        for y in 0..<sets.person.height {
            sets.person.bits(y).forEachRun(upTo: sets.person.width) { columns in
                for x in columns { farthest = max(farthest, map.depth(x, y)) }
            }
        }
        let cutoff = max((faces.distance ?? object.distance) + settings.anchor.margin, Double(farthest))
        field.split(nearest: settings.near, cutoff: cutoff, context.loops)
        sets.members.fill { sets.members[$0] & field.near[$0] }
        return cutoff
    }

    /// Shares what is in no body among the person and others.
    private mutating func shareRest(
        _ map: DepthPieces.Map, room: SampleSet, _ sides: SideMemory.Past, of field: DepthField
    ) {
        let (members, person, others, loose, spare) = sets(of: field)
        loose.fill { members[$0] & ~(person[$0] | others[$0]) }
        others.fill { others[$0] | room[$0] }
        rough.divide(loose, map, person: person, others: others, spare: spare)
        spare.fill { members[$0] & ~(person[$0] | others[$0]) }
        if sides.uncovered != nil { spare.fill { spare[$0] & sides.person[$0] } }
        addSpecks(spare, map, to: person)
        addFeet(to: person, floor: room, map)
        memoryOfSides.remember(field, person: person, others: others)
        others.fill { others[$0] & ~person[$0] }
    }

    /// True where two distances in metres differ by no more than a head is deep, or the sensor's noise.
    static func isSameDistance(_ one: Double, _ other: Double) -> Bool {
        abs(one - other) <= 0.1 + 0.02 * other * other
    }

    /// Adds samples below the chin at the person's distance: from far away, specks are all that a sensor sees of dark trousers.
    private func addSpecks(_ rough: SampleSet, _ map: DepthPieces.Map, to person: SampleSet) {
        for face in faces.subjects {
            let columns = (0..<rough.width).overlap(face.axis - face.trunk, face.axis + face.trunk)
            for y in floorIndex(face.bottom, in: 0...rough.height)..<rough.height {
                rough.bits(y).forEachRun(upTo: rough.width) { run in
                    for x in run.clamped(to: columns)
                    where Subject.isSameDistance(Double(map.depth(x, y)), face.distance) {
                        person.bits(y).insert(x..<(x + 1))
                    }
                }
            }
        }
    }

    /// Adds what is between the person and the floor below them, at the same distance: shoes and trousers that the sensor
    /// does not see, and what is as low as the floor's noise.
    private func addFeet(to person: SampleSet, floor: SampleSet, _ map: DepthPieces.Map) {
        // Upwards, so that none begins at what was added.
        for y in stride(from: person.height - 2, through: 0, by: -1) {
            person.bits(y).forEachRun(upTo: person.width) { columns in
                for x in columns where !person.bits(y + 1).contains(x) {
                    let z = map.depth(x, y)
                    let reach = floorIndex(Subject.shank / (map.spacing * Double(z)), in: 0...(person.height - 2 - y))
                    let noise = Subject.floorNoise + Subject.floorNoiseSquare * z * z
                    var (row, below) = (y + 1, map.depth(x, y + 1))
                    while row < y + 1 + reach, !(below > 0) || abs(below - z) <= noise && floor.bits(row).contains(x) {
                        row += 1
                        below = map.depth(x, row)
                    }
                    guard floor.bits(row).contains(x), below > z - Subject.foot, below < z + noise else { continue }
                    for row in (y + 1)..<row { person.bits(row).insert(x..<(x + 1)) }
                }
            }
        }
    }
}
