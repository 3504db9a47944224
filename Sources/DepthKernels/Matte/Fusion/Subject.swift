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
    /// As many as a body's bits for faces of others.
    private static let mostFaces = UInt64.bitWidth
    /// Metres: half the width of a trunk.
    private static let trunk = 0.17
    static let armLength = 0.8
    /// Of an anchored thing: how far behind its owner's face it may be, in metres; the largest quotient of its distance and a
    /// sample's; and the share of its samples in a body, of those in the body with most of them, from which the body is its.
    private static let (behindFace, objectDepth, objectShare): (Double, Float, Double) = (0.3, 1.14, 0.25)
    /// Square metres: of a piece that may join others.
    private static let solid = 0.002
    /// Of a border, without a step: the share that joins, and samples, in roots of those of the smaller body (4 at least).
    private static let (share, long) = (0.5, 0.15)
    /// Metres behind the face, constant + square·z², by which a body of no size may be the person's; less by `bulk` metres for
    /// each square metre.
    private static let (behind, behindSquare, bulk) = (0.20, 0.01, 4.0)
    /// Metres that it may be less far behind above the chin: a head is not as deep as shoulders.
    private static let headrest = 0.05
    /// Metres before the face, and square metres, of what is held.
    private static let held = (before: 0.08, area: 0.35)
    /// Square metres of an arm that comes in from the picture's border, and metres that it is behind the face, beside its axis and
    /// below the chin at most.
    private static let arm = (area: 0.06, behind: 0.1, sideways: 0.6, below: 0.7)
    /// Square metres of a speck, and of one that is no body if it touches nothing.
    private static let (speck, stray) = (0.01, 0.001)
    private static let rounds = 5
    /// Metres: of legs that the sensor does not see above the floor, and of a foot before them.
    private static let shank = 0.5
    private static let foot: Float = 0.3
    /// Metres by which a head may be farther away than the followed one, and be the person's too.
    private static let sameRange = 0.3
    /// Frames for which a face of the person that is missed is kept; and, in sides of its box, how far off one that is found is the
    /// same.
    private static let longestMissed = 30
    private static let sameFace = 0.8
    /// Metres between the faces of two people.
    private static let leastApart = 0.35
    /// Of the person's area: less of it, in a frame without a face, is nobody. And of the area, the share that a frame with a face
    /// keeps where less is measured.
    private static let (left, keptArea) = (0.4, 0.9)
    /// Seconds for which the past alone identifies the person: longer, and a thing that was taken for part of them would stay for good.
    private static let longestLost = 10.0
    /// Of a body, in a frame without a face: the share that goes on from the person's in the last frame. A walking person's other
    /// samples part from the room, or went back with a side that turns away.
    private static let same = 0.25

    private var memory = Scratch<UInt64>()
    private var pieces = DepthPieces()
    private var owners = CellOwners()
    private var rough = RoughSamples()
    private var memoryOfSides = SideMemory()
    /// By the labels of the pieces; a body is at the place of its first piece.
    private var bodies = ScratchList<Body>()
    /// Borders that may join: the number in the low half, `Int32.max` less the length without a step in the high half, so that the
    /// longest sorts first.
    private var joints = ScratchList<UInt64>()
    /// The faces of the last frame that had any.
    private var seen: [SeenFace] = []
    private var lastSeen: [SeenFace] = []
    /// The same on the grid.
    private var faces: [Face] = []
    /// Of `seen`, the first ones, whose the anchored thing may be.
    private var ownerCount = 0
    private var thing: Thing?
    /// Square metres of the person's bodies while a face was seen, and seconds since then.
    private var (area, sinceFace) = (0.0, 0.0)
    /// True where samples were the person's in the last frame.
    private var hasPast = false

    init() {
        // So that no frame takes memory.
        seen.reserveCapacity(Subject.mostFaces)
        lastSeen.reserveCapacity(Subject.mostFaces)
        faces.reserveCapacity(Subject.mostFaces)
    }

    fileprivate struct SeenFace {
        /// In video pixels.
        let box: Rectangle<Double>
        /// Metres.
        let distance: Double
        /// True for a face of the anchored person.
        var isSubject: Bool
        /// Frames for which it was not found.
        var missed = 0
    }

    /// A face in samples of the grid.
    struct Face {
        let left: Double
        let right: Double
        let top: Double
        /// The chin.
        let bottom: Double
        /// Metres.
        let distance: Double
        /// Half the width of a trunk at its distance.
        let trunk: Double
        /// True for a face of the anchored person.
        let isSubject: Bool

        fileprivate init(_ face: SeenFace, on grid: WorkGrid) {
            let box = face.box
            (left, top) = grid.point(videoX: box.x, videoY: box.y)
            (right, bottom) = grid.point(videoX: box.x + box.width, videoY: box.y + box.height)
            distance = face.distance
            trunk = Subject.trunk * grid.samplesPerMetre(at: distance)
            isSubject = face.isSubject
        }

        var axis: Double { (left + right) / 2 }
        var width: Double { right - left }
    }

    /// The samples of the anchored thing: those at the distance of the nearest, or those under a point.
    private struct Thing {
        /// Metres.
        var depths: ClosedRange<Float> = 0...(.infinity)
        var columns: Range<Int>
        var rows: Range<Int>

        init(_ object: Anchor.Object, on grid: WorkGrid) {
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
    }

    /// A body, or the part of one that is a piece.
    private struct Body {
        /// The piece whose body it is part of; of a body the first of its pieces.
        var parent: Int
        var count = 0
        /// Of the depths, in metres.
        var sum = 0.0
        /// Samples that were the person's and others', as they are now.
        var was = (person: 0, others: 0)
        /// 1 where it was the person's, −1 where it was others', 0 where that is not known.
        var side = 0
        /// Frames for which it has been kept on its side; before `keepSides` their sum over the samples.
        var doubt = 0.0
        var left = Int.max
        var right = 0
        var isAtBottom = false
        /// Samples in the middle of faces of the person, in the chest, and in the trunk below a chin.
        var seeds = 0
        var chest = 0
        var trunk = 0
        /// Samples of the anchored thing.
        var thing = 0
        /// A bit for each face of another person that it contains.
        var rivals: UInt64 = 0
        var isSubject = false
        /// True where it is the anchored thing, or part of it.
        var isThing = false
        /// Samples above the chin.
        var above = 0
        // Samples of its borders: with the person's; of these without a step; without a step with other large bodies.
        var touching = 0
        var joined = 0
        var elsewhere = 0

        var distance: Double { sum / Double(max(count, 1)) }
        /// The samples of a border without a step that join it.
        var long: Double { Swift.max(4, Subject.long * Double(count).squareRoot()) }

        mutating func add(_ other: Body) {
            (count, sum) = (count + other.count, sum + other.sum)
            (left, right) = (min(left, other.left), Swift.max(right, other.right))
            (seeds, chest, trunk) = (seeds + other.seeds, chest + other.chest, trunk + other.trunk)
            above += other.above
            thing += other.thing
            rivals |= other.rivals
            (was.person, was.others) = (was.person + other.was.person, was.others + other.was.others)
            doubt += other.doubt
            isAtBottom = isAtBottom || other.isAtBottom
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
    ///   - colors: of the grid's samples, three planes.
    ///   - found: the face that set the cutoff.
    ///   - object: the thing whose whole is kept; nil for a person.
    ///   - isAnchored: true where a face or thing was seen since the start.
    ///   - cutoff: metres; with a thing, behind all that it may hang on.
    mutating func find(
        _ frame: MatteFrame, _ field: DepthField, _ colors: UnsafePointer<Float>, face found: Anchor.Face?,
        _ object: Anchor.Object?, isAnchored: Bool, cutoff: Double, _ settings: MatteSettings, _ context: FusionContext
    ) -> Finding {
        let (grid, loops) = (field.grid, context.loops)
        guard settings.subject == .anchored, settings.anchor.followsPerson || object != nil,
            !field.scale.kind.isRelative
        else {
            reset()
            return .everything
        }
        let hasFaces: Bool
        if let object {
            hasFaces = readOwners(frame, field, of: object, settings.anchor)
        } else {
            hasFaces = readFaces(frame, field, anchored: found, settings.anchor)
        }
        // A thing needs no face.
        let isLost = !hasFaces && object == nil
        sinceFace = isLost ? sinceFace + (frame.elapsed ?? Fusion.usualInterval) : 0
        // Without samples of the past nothing identifies the person but a face.
        if isLost, !hasPast || sinceFace > Subject.longestLost { reset() }
        guard !seen.isEmpty || object != nil else { return isAnchored ? .nobody : .everything }
        placeFaces(on: grid)
        thing = object.map { Thing($0, on: grid) }

        let (near, far) = (field.near, field.far)
        let memory = unsafe memory.reserve(5 * near.wordCount, filler: 0)
        func set(_ index: Int) -> SampleSet { unsafe near.placed(in: memory, index) }
        let (others, members, person, spare, loose) = (set(0), set(1), set(2), set(3), set(4))
        let sides = memoryOfSides.recall(field, isLost: isLost, loops)
        let face = faces.first { $0.isSubject }
        // The floor is below the camera's axis where no face is known.
        let middle =
            face.map { ($0.axis, ($0.top + $0.bottom) / 2, $0.distance) }
            ?? (Double(grid.width) / 2, Double(grid.height) / 2, object?.distance ?? cutoff)
        let (room, beyond) = unsafe owners.find(
            field, colors, faces, lost: isLost ? sides.person : nil, above: middle, cutoff: cutoff, context)
        near.fill { unsafe near.words[$0] | beyond.words[$0] }
        far.fill { unsafe far.words[$0] & ~beyond.words[$0] }
        // In a frame without a face what was others', and what the person uncovered, is not theirs.
        if let uncovered = sides.uncovered {
            room.fill { unsafe room.words[$0] | uncovered.words[$0] | sides.others.words[$0] }
        }
        members.fill { unsafe near.words[$0] & ~room.words[$0] }
        var map = unsafe DepthPieces.Map(
            depth: field.metres, members: members, barrier: far, spacing: grid.metresPerSample(at: 1),
            distance: distance ?? object?.distance ?? 0)
        let labels = pieces.find(in: map, loops)
        guard grow(labels, map, sides, isLost: isLost) else {
            reset()
            return .nobody
        }
        if let object {
            for owner in 1..<(ownerCount + 1) where !ownsThing {
                nameOwner(owner < ownerCount ? owner : nil)
                placeFaces(on: grid)
                map.distance = distance ?? object.distance
                grow(labels, map, sides, isLost: false)
            }
        }

        if hasFaces { keepSides(labels) }
        let mean = write(labels, map, person: person, others: others)
        let behind = object.map { object in
            let behind = max((distance ?? object.distance) + settings.anchor.margin, Subject.farthest(person, map))
            field.split(nearest: settings.near, cutoff: behind, loops)
            members.fill { unsafe members.words[$0] & near.words[$0] }
            return behind
        }
        loose.fill { unsafe members.words[$0] & ~(person.words[$0] | others.words[$0]) }
        others.fill { unsafe others.words[$0] | room.words[$0] }
        rough.divide(loose, map, person: person, others: others, spare: spare)
        spare.fill { unsafe members.words[$0] & ~(person.words[$0] | others.words[$0]) }
        if isLost { spare.fill { unsafe spare.words[$0] & sides.person.words[$0] } }
        addSpecks(spare, map, to: person)
        addFeet(to: person, floor: room, map)
        memoryOfSides.remember(field, person: person, others: others)

        hasPast = false
        for index in 0..<near.wordCount {
            let word = unsafe person.words[index]
            hasPast = hasPast || word != 0
            unsafe others.words[index] &= ~word
        }
        return .person(Result(person: person, others: others, distance: mean, cutoff: behind))
    }

    /// Forgets the person's samples, but not their face: in the next frame they may be elsewhere.
    mutating func forgetSamples() {
        hasPast = false
        memoryOfSides.forget()
        owners.reset()
    }

    /// Forgets the person.
    mutating func reset() {
        seen.removeAll(keepingCapacity: true)
        lastSeen.removeAll(keepingCapacity: true)
        (ownerCount, area) = (0, 0)
        forgetSamples()
    }

    // MARK: Input

    /// Reads the faces of a frame, or, where it does not show the followed head, the person's other heads.
    ///
    /// - Returns: false where there are none; then the faces of the last frame stay.
    private mutating func readFaces(
        _ frame: MatteFrame, _ field: DepthField, anchored: Anchor.Face?, _ settings: AnchorSettings
    ) -> Bool {
        let (grid, usesHeads) = (field.grid, settings.usesHeads(of: frame))
        let showsOthers =
            usesHeads && !frame.isHeadChosen
            && frame.heads.contains { head in
                seen.contains { $0.isSubject && $0.box.isAt(head.box, within: Subject.sameFace) }
            }
        guard anchored != nil || showsOthers else { return false }
        let farthest = anchored?.distance ?? seen.reduce(0) { $1.isSubject ? max($0, $1.distance) : $0 }
        swap(&seen, &lastSeen)
        seen.removeAll(keepingCapacity: true)
        if let anchored { seen.append(SeenFace(box: anchored.box, distance: anchored.distance, isSubject: true)) }
        func add(_ box: Rectangle<Double>, _ distance: Double, isSubject: Bool) {
            guard box != anchored?.box, isSubject || anchored != nil else { return }
            // Detectors may report a face twice, or one on a shirt; two heads are farther apart.
            let apart =
                anchored.map { abs($0.box.centerX - box.centerX) * grid.metresPerPixel(at: $0.distance) } ?? 0
            if isSubject || apart > Subject.leastApart {
                seen.append(SeenFace(box: box, distance: distance, isSubject: isSubject))
            }
        }
        if usesHeads {
            // Where no face chose one of the heads, those at the same distance are the person too.
            for head in frame.heads {
                let isNear = !frame.isHeadChosen && head.isSure && head.distance <= farthest + Subject.sameRange
                add(head.box, head.distance, isSubject: isNear || anchored != nil && settings.faceSelect == .all)
            }
        } else {
            for box in frame.anchors.prefix(Subject.mostFaces - 1) {
                guard let face = frame.face(box, in: field) else { continue }
                add(face.box, face.distance, isSubject: settings.faceSelect == .all)
            }
        }
        // The face that is anchored now is the first of the last frame, unless it is another of the person's: then that one is
        // missed, and kept.
        let isAnother = lastSeen.dropFirst().contains { face in
            face.isSubject && anchored?.box.isAt(face.box, within: Subject.sameFace) == true
        }
        keepOwners(of: lastSeen.dropFirst(anchored == nil || isAnother ? 0 : 1), field)
        return !seen.isEmpty
    }

    /// Keeps faces of the person that are not found any more, for some frames while something is where they were.
    private mutating func keepOwners(of last: ArraySlice<SeenFace>, _ field: DepthField) {
        for var face in last where face.isSubject && face.missed < Subject.longestMissed {
            guard !seen.contains(where: { face.box.isAt($0.box, within: Subject.sameFace) }),
                seen.count < Subject.mostFaces
            else { continue }
            guard field.hides(field.placement.depthBox(face.box), at: face.distance) > 0 else { continue }
            face.missed += 1
            seen.append(face)
        }
    }

    /// Reads the faces of a frame, first those within arm's reach of a thing: of these first the one whose it was, then the others
    /// by how near they are, to the point or else to the camera.
    ///
    /// - Returns: false where there are none; then those of the last frame stay.
    private mutating func readOwners(
        _ frame: MatteFrame, _ field: DepthField, of object: Anchor.Object, _ settings: AnchorSettings
    ) -> Bool {
        let last = seen.first.flatMap { $0.isSubject ? $0.box : nil }
        func rank(_ face: SeenFace) -> Double? { Subject.rank(face, of: object, last, on: field.grid) }
        var isNone = true
        func add(_ box: Rectangle<Double>, _ distance: Double) {
            if isNone {
                seen.removeAll(keepingCapacity: true)
                (ownerCount, isNone) = (0, false)
            }
            let face = SeenFace(box: box, distance: distance, isSubject: false)
            guard let mine = rank(face) else { return seen.append(face) }
            var place = ownerCount
            while place > 0, let before = rank(seen[place - 1]), before > mine { place -= 1 }
            seen.insert(face, at: place)
            ownerCount += 1
        }
        if settings.usesHeads(of: frame) {
            for head in frame.heads { add(head.box, head.distance) }
        } else {
            for box in frame.anchors.prefix(Subject.mostFaces) {
                if let face = frame.face(box, in: field) { add(face.box, face.distance) }
            }
        }
        if isNone { ownerCount = last == nil ? 0 : 1 } else { nameOwner(ownerCount > 0 ? 0 : nil) }
        return !isNone
    }

    /// Lower for a face whose thing it is more likely; nil where it is not.
    private static func rank(
        _ face: SeenFace, of object: Anchor.Object, _ last: Rectangle<Double>?, on grid: WorkGrid
    ) -> Double? {
        let behind = object.distance - face.distance
        let beside = object.point.map { abs(face.box.centerX - $0.x) * grid.metresPerPixel(at: face.distance) }
        guard behind > -armLength, behind < behindFace, beside ?? 0 < armLength else { return nil }
        if let last, last.isAt(face.box, within: 0.5) { return -1 }
        return beside ?? face.distance
    }

    /// Makes a face that of the anchored person, and the first.
    private mutating func nameOwner(_ owner: Int?) {
        for index in seen.indices { seen[index].isSubject = index == owner }
        if let owner { seen.swapAt(0, owner) }
    }

    private mutating func placeFaces(on grid: WorkGrid) {
        faces.removeAll(keepingCapacity: true)
        for face in seen { faces.append(Face(face, on: grid)) }
    }

    /// Metres, of the farthest face of the person; nil without one.
    private var distance: Double? {
        faces.reduce(nil) { $1.isSubject ? max($0 ?? 0, $1.distance) : $0 }
    }

    /// Metres, of the nearest of those, not behind a distance: what is before the person is measured from it.
    private func nearest(to distance: Double) -> Double {
        faces.reduce(distance) { $1.isSubject ? min($0, $1.distance) : $0 }
    }

    // MARK: Bodies

    /// Finds the bodies, and those of them that are the person's.
    ///
    /// - Parameter isLost: true in a frame without a face.
    /// - Returns: false where the person has left.
    @discardableResult
    private mutating func grow(
        _ labels: DepthPieces.Labels, _ map: DepthPieces.Map, _ sides: SideMemory.Past, isLost: Bool
    ) -> Bool {
        describe(labels, map, sides)
        join(map)
        choose(isLost: isLost, distance: map.distance)
        if isLost, subjectArea(map) < Subject.left * area { return false }
        for _ in 0..<Subject.rounds where !addBodies(map) { break }
        if !isLost { area = max(subjectArea(map), Subject.keptArea * area) }
        return true
    }

    /// Square metres of the person's bodies.
    private func subjectArea(_ map: DepthPieces.Map) -> Double {
        bodies.indices.reduce(0) { sum, index in
            isBody(index) && bodies[index].isSubject ? sum + Subject.area(bodies[index], map) : sum
        }
    }

    /// False where the anchored thing was found, but no part of it is the person's.
    private var ownsThing: Bool {
        !bodies.elements.contains { $0.isThing } || bodies.elements.contains { $0.isThing && $0.isSubject }
    }

    /// Computes the statistics of all pieces.
    private mutating func describe(
        _ labels: DepthPieces.Labels, _ map: DepthPieces.Map, _ sides: SideMemory.Past
    ) {
        bodies.removeAll(most: pieces.pieces.most)
        for index in pieces.pieces.indices {
            var body = Body(parent: index)
            (body.count, body.sum) = (pieces.pieces[index].count, pieces.pieces[index].sum)
            bodies.append(body)
        }
        for y in 0..<labels.samples.height {
            labels.forEachRun(y) { piece, columns in
                bodies[piece].left = min(bodies[piece].left, columns.lowerBound)
                bodies[piece].right = max(bodies[piece].right, columns.upperBound)
                if y + 4 >= labels.samples.height { bodies[piece].isAtBottom = true }
                if !memoryOfSides.isEmpty {
                    bodies[piece].was.person += sides.person.bits(y).count(in: columns)
                    bodies[piece].was.others += sides.others.bits(y).count(in: columns)
                    bodies[piece].doubt += sides.doubt(columns, row: y)
                }
                if let thing, thing.rows.contains(y) {
                    for x in columns.clamped(to: thing.columns) where thing.depths.contains(map.depth(x, y)) {
                        bodies[piece].thing &+= 1
                    }
                }
                count(columns, row: y, map, in: piece)
            }
        }
        for index in bodies.indices {
            let (person, others) = bodies[index].was
            guard Double(person + others) >= 0.3 * Double(bodies[index].count) else { continue }
            bodies[index].side = person > 2 * others ? 1 : others > 2 * person ? -1 : 0
        }
    }

    /// Counts the samples of a run that lie in faces or in the chest below one.
    private mutating func count(_ columns: Range<Int>, row y: Int, _ map: DepthPieces.Map, in piece: Int) {
        let middle = Double(y) + 0.5
        for index in faces.indices {
            let face = faces[index]
            let height = face.bottom - face.top
            if face.isSubject, middle > face.bottom {
                bodies[piece].trunk +=
                    Subject.overlap(columns, face.axis - face.trunk, face.axis + face.trunk).count
            } else if face.isSubject {
                bodies[piece].above += columns.count
            }
            if face.isSubject, middle > face.bottom + 0.3 * height, middle < face.bottom + 2 * height {
                bodies[piece].chest +=
                    Subject.overlap(columns, face.axis - 0.6 * face.width, face.axis + 0.6 * face.width).count
            }
            guard middle > face.top + height / 4, middle < face.bottom - height / 4 else { continue }
            let inside = Subject.overlap(columns, face.axis - face.width / 4, face.axis + face.width / 4)
            guard !inside.isEmpty else { continue }
            let z = Double(map.depth((inside.lowerBound + inside.upperBound) / 2, y))
            guard Subject.isSameDistance(z, face.distance) else { continue }
            if face.isSubject {
                bodies[piece].seeds += inside.count
            } else {
                bodies[piece].rivals |= 1 << UInt64(index)
            }
        }
    }

    private static func overlap(_ columns: Range<Int>, _ left: Double, _ right: Double) -> Range<Int> {
        let start = floorIndex(left + 0.5, in: columns.lowerBound...columns.upperBound)
        return start..<max(floorIndex(right + 0.5, in: columns.lowerBound...columns.upperBound), start)
    }

    /// True where two distances in metres differ by no more than a head is deep, or the sensor's noise.
    private static func isSameDistance(_ one: Double, _ other: Double) -> Bool {
        abs(one - other) <= 0.1 + 0.02 * other * other
    }

    private mutating func body(of piece: Int) -> Int {
        var piece = piece
        while bodies[piece].parent != piece {
            bodies[piece].parent = bodies[bodies[piece].parent].parent
            piece = bodies[piece].parent
        }
        return piece
    }

    /// Square metres.
    private static func area(_ body: Body, _ map: DepthPieces.Map) -> Double {
        map.area(of: body.count, at: body.distance)
    }

    /// True for a piece that is no speck.
    private func isSolid(_ piece: Int, _ map: DepthPieces.Map) -> Bool {
        map.area(of: pieces.pieces[piece].count, at: pieces.pieces[piece].distance) >= Subject.solid
    }

    private func isBody(_ index: Int) -> Bool { index > 0 && bodies[index].parent == index }

    /// Joins pieces to bodies, those with the longest border without a step first.
    private mutating func join(_ map: DepthPieces.Map) {
        joints.removeAll(most: pieces.borders.most)
        for (index, border) in pieces.borders.elements.enumerated() where border.smooth >= 4 {
            let (one, other) = (Int(border.one), Int(border.other))
            if Double(border.smooth) >= Subject.share * Double(border.length),
                Double(border.smooth) >= min(bodies[one].long, bodies[other].long), isSolid(one, map),
                isSolid(other, map)
            {
                joints.append(UInt64(truncatingIfNeeded: (Int(Int32.max) &- border.smooth) &<< 32 | index))
            }
        }
        joints.sort()
        for joint in joints.elements {
            let border = pieces.borders[Int(UInt32(truncatingIfNeeded: joint))]
            let (one, other) = (body(of: Int(border.one)), body(of: Int(border.other)))
            guard one != other, bodies[one].side * bodies[other].side >= 0 else { continue }
            let side = bodies[one].side != 0 ? bodies[one].side : bodies[other].side
            bodies[max(one, other)].parent = min(one, other)
            bodies[min(one, other)].side = side
        }
        for piece in bodies.indices {
            let body = body(of: piece)
            bodies[piece].parent = body
            if body != piece { bodies[body].add(bodies[piece]) }
        }
    }

    /// Marks the bodies that are the person for themselves.
    private mutating func choose(isLost: Bool, distance: Double) {
        var (most, hasSubject) = (0, faces.contains { $0.isSubject })
        for index in bodies.indices where isBody(index) { most = max(most, bodies[index].thing) }
        for index in bodies.indices where isBody(index) && most > 0 {
            bodies[index].isThing = Double(bodies[index].thing) >= Subject.objectShare * Double(most)
            if !hasSubject { bodies[index].isSubject = bodies[index].isThing }
        }
        if most > 0, !hasSubject { return }
        if !isLost {
            var (seeds, chest, isAny) = (0, 0, false)
            for index in bodies.indices where isBody(index) {
                (seeds, chest) = (seeds + bodies[index].seeds, chest + bodies[index].chest)
            }
            for index in bodies.indices where isBody(index) {
                let body = bodies[index]
                let isFace = body.seeds > 0 && body.seeds * 10 >= seeds
                let isChest =
                    Double(body.chest) > 0.3 * Double(max(chest, 1)) && body.distance > nearest(to: distance) - 0.5
                    && body.distance < distance + 0.15
                bodies[index].isSubject = isFace || isChest
                isAny = isAny || bodies[index].isSubject
            }
            if isAny { return }
        }
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            bodies[index].isSubject =
                Double(body.was.person) > Subject.same * Double(body.count) && body.was.person > body.was.others
        }
    }

    /// Adds bodies that belong to the person by where they touch.
    ///
    /// - Returns: false where there are none.
    private mutating func addBodies(_ map: DepthPieces.Map) -> Bool {
        let distance = map.distance
        let farthest = Subject.behind + Subject.behindSquare * distance * distance
        func isSmall(_ body: Body) -> Bool {
            let farthest = body.above * 2 > body.count ? farthest - Subject.headrest : farthest
            let area = Subject.area(body, map)
            let isHeld = body.distance < distance - Subject.held.before && area < Subject.held.area
            return isHeld || body.distance - distance < farthest - Subject.bulk * area
        }
        for index in bodies.indices {
            (bodies[index].touching, bodies[index].joined, bodies[index].elsewhere) = (0, 0, 0)
        }
        for border in pieces.borders.elements {
            let (piece, otherPiece) = (Int(border.one), Int(border.other))
            let (one, other) = (bodies[piece].parent, bodies[otherPiece].parent)
            guard one != other else { continue }
            if bodies[one].isSubject != bodies[other].isSubject {
                guard abs(Double(border.steps)) <= Subject.armLength * Double(border.length) else { continue }
                let index = bodies[one].isSubject ? other : one
                bodies[index].touching += border.length
                bodies[index].joined += border.smooth
            } else if !bodies[one].isSubject {
                if isSolid(piece, map), !isSmall(bodies[one]) { bodies[other].elsewhere += border.smooth }
                if isSolid(otherPiece, map), !isSmall(bodies[other]) { bodies[one].elsewhere += border.smooth }
            }
        }
        let nearest = nearest(to: distance)
        var isChanged = false
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            guard !body.isSubject, body.rivals == 0, body.distance > nearest - Subject.armLength else { continue }
            let joined = Double(body.joined)
            let isJoined =
                body.touching > 0 && joined >= Subject.share * Double(body.touching) && joined >= body.long
                && body.joined >= body.elsewhere
            let isLoose = isLoose(body, map) && body.distance < distance + Subject.arm.behind
            let isBelow = body.trunk * 2 > body.count
            let isSpeck =
                isBelow && Subject.area(body, map) < Subject.speck && Subject.isSameDistance(body.distance, distance)
            let isTrunk = isBelow && body.touching > 0 && body.distance < distance + Subject.arm.behind
            let isFree = Double(body.elsewhere) < body.long
            if isJoined || isTrunk || isSpeck || isFree && (isLoose || body.touching > 0 && isSmall(body)) {
                bodies[index].isSubject = true
                isChanged = true
            }
        }
        return isChanged
    }

    /// True for a body that is as small as an arm, and comes in where an arm does: from the picture's border beside the person.
    private func isLoose(_ body: Body, _ map: DepthPieces.Map) -> Bool {
        let isAtSide = body.left < 4 || body.right > map.members.width - 4
        guard isAtSide || body.isAtBottom, Subject.area(body, map) < Subject.arm.area else { return false }
        let samplesPerMetre = 1 / (map.spacing * body.distance)
        let middle = Double(body.left + body.right) / 2
        let toNeighbour = faces.reduce(Double.infinity) { $1.isSubject ? $0 : min($0, abs(middle - $1.axis)) }
        return faces.contains { face in
            face.isSubject && abs(middle - face.axis) <= min(Subject.arm.sideways * samplesPerMetre, toNeighbour)
                && (isAtSide || Double(map.members.height) < face.bottom + Subject.arm.below * samplesPerMetre)
        }
    }

    /// Keeps bodies on the side where they were, until some frames in a row say otherwise.
    private mutating func keepSides(_ labels: DepthPieces.Labels) {
        var (seeds, hasDoubts) = (0, false)
        for index in bodies.indices where isBody(index) { seeds += bodies[index].seeds }
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            let isSure = body.isSubject && (body.isThing || body.seeds * 10 > seeds * 3)
            let doubt = body.doubt / Double(max(body.count, 1))
            bodies[index].doubt = 0
            guard body.side != 0, body.isSubject != (body.side > 0), !isSure, SideMemory.keeps(doubt: doubt) else {
                continue
            }
            bodies[index].isSubject.toggle()
            bodies[index].doubt = doubt + 1
            hasDoubts = true
        }
        let bodies = bodies.elements
        memoryOfSides.remember(labels, isAny: hasDoubts) { bodies[bodies[$0].parent].doubt }
    }

    // MARK: Output

    /// - Returns: the mean distance.
    private func write(
        _ labels: DepthPieces.Labels, _ map: DepthPieces.Map, person: SampleSet, others: SampleSet
    ) -> Double? {
        person.removeAll()
        others.removeAll()
        var (sum, count, rivals) = (0.0, 0, UInt64(0))
        for body in bodies.elements where body.isSubject {
            (sum, count, rivals) = (sum + body.sum, count + body.count, rivals | body.rivals)
        }
        for y in 0..<labels.samples.height {
            labels.forEachRun(y) { piece, columns in
                let body = bodies[bodies[piece].parent]
                guard body.isSubject else {
                    let isStray = body.touching == 0 && Subject.area(body, map) < Subject.stray
                    if !isStray { others.bits(y).insert(columns) }
                    return
                }
                others.bits(y).insert(columns)
                person.bits(y).insert(rivals == 0 ? columns : share(of: columns, rivals: rivals))
            }
        }
        others.fill { unsafe others.words[$0] & ~person.words[$0] }
        return count > 0 && sum > 0 ? sum / Double(count) : nil
    }

    /// The largest depth of samples, in metres; 0 of none.
    private static func farthest(_ samples: SampleSet, _ map: DepthPieces.Map) -> Double {
        var farthest: Float = 0
        for y in 0..<samples.height {
            samples.bits(y).forEachRun(upTo: samples.width) { columns in
                for x in columns { farthest = max(farthest, map.depth(x, y)) }
            }
        }
        return Double(farthest)
    }

    /// The part of a run that is nearer to the person's face than to those of neighbours.
    private func share(of columns: Range<Int>, rivals: UInt64) -> Range<Int> {
        var (start, end) = (columns.lowerBound, columns.upperBound)
        for index in faces.indices where rivals &>> UInt64(index) & 1 != 0 {
            let rival = faces[index]
            var nearest: Face?
            for face in faces where face.isSubject {
                if nearest.map({ abs(face.axis - rival.axis) < abs($0.axis - rival.axis) }) ?? true { nearest = face }
            }
            guard let nearest else { continue }
            let middle = floorIndex((nearest.axis + rival.axis) / 2, in: columns.lowerBound...columns.upperBound)
            if rival.axis > nearest.axis { end = min(end, middle) } else { start = max(start, middle) }
        }
        return start..<max(end, start)
    }

    /// Adds samples below the chin at the person's distance: from far away, specks are all that a sensor sees of dark trousers.
    private func addSpecks(_ rough: SampleSet, _ map: DepthPieces.Map, to person: SampleSet) {
        for face in faces where face.isSubject {
            let columns = Subject.overlap(0..<rough.width, face.axis - face.trunk, face.axis + face.trunk)
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
                    let noise = 0.01 + 0.003 * z * z
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
