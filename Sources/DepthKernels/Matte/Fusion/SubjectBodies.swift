/// The bodies of a depth map, and those of them that are the anchored person's (`Subject` says by which rules).
///
/// Pieces are one body where most of their border has no step. A body is at the place of its first piece.
struct SubjectBodies: ~Copyable {
    /// Square metres: of a piece that may join others.
    private static let solid = 0.002
    /// Of a border, without a step: the share that joins, and samples, in roots of those of the smaller body (4 at least).
    private static let (share, joiningLength) = (0.5, 0.15)
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
    /// Of the person's area: less of it, in a frame without a face, is nobody. And of the area, the share that a frame with a face
    /// keeps where less is measured.
    private static let (left, keptArea) = (0.4, 0.9)
    /// Of a body, in a frame without a face: the share that goes on from the person's in the last frame. A walking person's other
    /// samples part from the room, or went back with a side that turns away.
    private static let same = 0.25
    /// Of a body's samples, those whose side in the last frame is known, so that it has one.
    private static let known = 0.3
    /// Of the samples of an anchored thing in a body, of those in the body with most of them: from there on it is the thing's.
    private static let objectShare = 0.25
    /// Tenths of the samples in the middle of the person's faces, from which a body is theirs, and beyond which that is sure.
    private static let (faceTenths, sureTenths) = (1, 3)
    /// Of the chest's samples, those of a body that is the person's; and metres that it is before the nearest face, and behind the
    /// farthest, at most.
    private static let chest = (share: 0.3, before: 0.5, behind: 0.15)
    /// Samples from a side or the lower border of the picture.
    private static let border = 4

    private var pieces = DepthPieces()
    /// By the labels of the pieces.
    private var bodies = ScratchList<Body>()
    /// Borders that may join: the number in the low half, `Int32.max` less the length without a step in the high half, so that the
    /// longest sorts first.
    private var joints = ScratchList<UInt64>()
    /// Square metres of the person's bodies while a face was seen.
    private var area = 0.0

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
        var joiningLength: Double { Swift.max(4, SubjectBodies.joiningLength * Double(count).squareRoot()) }

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

    mutating func reset() { area = 0 }

    /// Finds the pieces of a map.
    mutating func findPieces(of map: DepthPieces.Map, _ loops: Loops) -> DepthPieces.Labels {
        pieces.find(in: map, loops)
    }

    /// Finds the bodies, and those of them that are the person's.
    ///
    /// - Parameter isLost: true in a frame without a face.
    /// - Returns: false where the person has left.
    @discardableResult
    mutating func find(
        _ labels: DepthPieces.Labels, _ faces: borrowing SubjectFaces, _ thing: Subject.Thing?,
        _ sides: SideMemory.Past,
        isLost: Bool
    ) -> Bool {
        let map = labels.map
        describe(labels, faces, thing, sides)
        join(map)
        choose(faces, isLost: isLost, distance: map.distance)
        if isLost, subjectArea(map) < SubjectBodies.left * area { return false }
        for _ in 0..<SubjectBodies.rounds where !addBodies(map, faces) { break }
        if !isLost { area = max(subjectArea(map), SubjectBodies.keptArea * area) }
        return true
    }

    /// False where the anchored thing was found, but no part of it is the person's.
    var isThingOwned: Bool {
        !bodies.elements.contains { $0.isThing } || bodies.elements.contains { $0.isThing && $0.isSubject }
    }

    /// Square metres of the person's bodies.
    private func subjectArea(_ map: DepthPieces.Map) -> Double {
        bodies.indices.reduce(0) { sum, index in
            isBody(index) && bodies[index].isSubject ? sum + SubjectBodies.area(bodies[index], map) : sum
        }
    }

    /// Square metres.
    private static func area(_ body: Body, _ map: DepthPieces.Map) -> Double {
        map.area(of: body.count, at: body.distance)
    }

    private func isBody(_ index: Int) -> Bool { index > 0 && bodies[index].parent == index }

    private func sum(_ number: (Body) -> Int) -> Int {
        bodies.indices.reduce(0) { isBody($1) ? $0 + number(bodies[$1]) : $0 }
    }

    // MARK: Description

    /// Computes the statistics of all pieces.
    private mutating func describe(
        _ labels: DepthPieces.Labels, _ faces: borrowing SubjectFaces, _ thing: Subject.Thing?, _ sides: SideMemory.Past
    ) {
        let (map, samples) = (labels.map, labels.samples)
        bodies.removeAll(most: pieces.pieces.most)
        for index in pieces.pieces.indices {
            bodies.append(Body(parent: index, count: pieces.pieces[index].count, sum: pieces.pieces[index].sum))
        }
        for y in 0..<samples.height {
            labels.forEachRun(y) { piece, columns in
                bodies[piece].left = min(bodies[piece].left, columns.lowerBound)
                bodies[piece].right = max(bodies[piece].right, columns.upperBound)
                if y + SubjectBodies.border >= samples.height { bodies[piece].isAtBottom = true }
                if !sides.isEmpty {
                    bodies[piece].was.person += sides.person.bits(y).count(in: columns)
                    bodies[piece].was.others += sides.others.bits(y).count(in: columns)
                    bodies[piece].doubt += sides.doubt(columns, row: y)
                }
                if let thing { bodies[piece].thing += thing.count(columns, row: y, map) }
                count(columns, row: y, faces, map, in: piece)
            }
        }
        for index in bodies.indices {
            let (person, others) = bodies[index].was
            guard Double(person + others) >= SubjectBodies.known * Double(bodies[index].count) else { continue }
            bodies[index].side = person > 2 * others ? 1 : others > 2 * person ? -1 : 0
        }
    }

    /// Counts the samples of a run that lie in faces, or in the chest below one.
    private mutating func count(
        _ columns: Range<Int>, row y: Int, _ faces: borrowing SubjectFaces, _ map: DepthPieces.Map, in piece: Int
    ) {
        let middle = Double(y) + 0.5
        for index in faces.all.indices {
            let (face, height) = (faces.all[index], faces.all[index].height)
            func beside(_ half: Double) -> Range<Int> { columns.overlap(face.axis - half, face.axis + half) }
            if face.isSubject, middle > face.bottom {
                bodies[piece].trunk += beside(face.trunk).count
            } else if face.isSubject {
                bodies[piece].above += columns.count
            }
            if face.isSubject, middle > face.bottom + 0.3 * height, middle < face.bottom + 2 * height {
                bodies[piece].chest += beside(0.6 * face.width).count
            }
            guard middle > face.top + height / 4, middle < face.bottom - height / 4 else { continue }
            let inside = beside(face.width / 4)
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

    // MARK: Joining

    private mutating func body(of piece: Int) -> Int {
        var piece = piece
        while bodies[piece].parent != piece {
            bodies[piece].parent = bodies[bodies[piece].parent].parent
            piece = bodies[piece].parent
        }
        return piece
    }

    /// True for a piece that is no speck.
    private func isSolid(_ piece: Int, _ map: DepthPieces.Map) -> Bool {
        map.area(of: pieces.pieces[piece].count, at: pieces.pieces[piece].distance) >= SubjectBodies.solid
    }

    /// Joins pieces to bodies where most of their border has no step and this part is long enough (`joiningLength`), the longest first.
    /// Specks are not joined, nor what was on opposite sides.
    private mutating func join(_ map: DepthPieces.Map) {
        joints.removeAll(most: pieces.borders.most)
        for (index, border) in pieces.borders.elements.enumerated() where border.smooth >= 4 {
            let (one, other) = (Int(border.one), Int(border.other))
            if Double(border.smooth) >= SubjectBodies.share * Double(border.length),
                Double(border.smooth) >= min(bodies[one].joiningLength, bodies[other].joiningLength), isSolid(one, map),
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

    // MARK: Choice

    /// Marks the bodies that are the person for themselves.
    private mutating func choose(_ faces: borrowing SubjectFaces, isLost: Bool, distance: Double) {
        let hasSubject = faces.all.contains { $0.isSubject }
        if chooseThing(isSubject: !hasSubject), !hasSubject { return }
        if !isLost, chooseByFaces(nearest: faces.nearest(to: distance), distance) { return }
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            bodies[index].isSubject =
                Double(body.was.person) > SubjectBodies.same * Double(body.count) && body.was.person > body.was.others
        }
    }

    /// Marks the bodies that are the anchored thing, and as the person's where that has no owner.
    ///
    /// - Returns: false where there are none.
    private mutating func chooseThing(isSubject: Bool) -> Bool {
        var most = 0
        for index in bodies.indices where isBody(index) { most = max(most, bodies[index].thing) }
        for index in bodies.indices where isBody(index) && most > 0 {
            bodies[index].isThing = Double(bodies[index].thing) >= SubjectBodies.objectShare * Double(most)
            if isSubject { bodies[index].isSubject = bodies[index].isThing }
        }
        return most > 0
    }

    /// Marks the bodies that have face or chest of the person.
    ///
    /// - Returns: false where there are none.
    private mutating func chooseByFaces(nearest: Double, _ distance: Double) -> Bool {
        let (seeds, chest, limits) = (sum(\.seeds), sum(\.chest), SubjectBodies.chest)
        var isAny = false
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            let isFace = body.seeds > 0 && body.seeds * 10 >= seeds * SubjectBodies.faceTenths
            let isChest =
                Double(body.chest) > limits.share * Double(max(chest, 1)) && body.distance > nearest - limits.before
                && body.distance < distance + limits.behind
            bodies[index].isSubject = isFace || isChest
            isAny = isAny || bodies[index].isSubject
        }
        return isAny
    }

    // MARK: Addition

    /// Adds bodies that belong to the person by where they touch.
    ///
    /// - Returns: false where there are none.
    private mutating func addBodies(_ map: DepthPieces.Map, _ faces: borrowing SubjectFaces) -> Bool {
        countBorders(map)
        let nearest = faces.nearest(to: map.distance)
        var isChanged = false
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            guard !body.isSubject, body.rivals == 0, body.distance > nearest - Subject.armLength else { continue }
            if belongs(body, map, faces) {
                bodies[index].isSubject = true
                isChanged = true
            }
        }
        return isChanged
    }

    /// Counts the samples of each body's borders.
    private mutating func countBorders(_ map: DepthPieces.Map) {
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
                if isSolid(piece, map), !isSmall(bodies[one], map) { bodies[other].elsewhere += border.smooth }
                if isSolid(otherPiece, map), !isSmall(bodies[other], map) { bodies[one].elsewhere += border.smooth }
            }
        }
    }

    /// True for a body beside the person's that is theirs: joined, below the chin, small or loose.
    private func belongs(_ body: Body, _ map: DepthPieces.Map, _ faces: borrowing SubjectFaces) -> Bool {
        let (distance, joined, arm) = (map.distance, Double(body.joined), SubjectBodies.arm)
        let isJoined =
            body.touching > 0 && joined >= SubjectBodies.share * Double(body.touching) && joined >= body.joiningLength
            && body.joined >= body.elsewhere
        let isBelow = body.trunk * 2 > body.count
        let isSpeck =
            isBelow && SubjectBodies.area(body, map) < SubjectBodies.speck
            && Subject.isSameDistance(body.distance, distance)
        let isTrunk = isBelow && body.touching > 0 && body.distance < distance + arm.behind
        if isJoined || isTrunk || isSpeck { return true }
        guard Double(body.elsewhere) < body.joiningLength else { return false }
        return body.touching > 0 && isSmall(body, map)
            || body.distance < distance + arm.behind && isLoose(body, map, faces)
    }

    /// True for a body that is what the person holds, or not far behind the face for its size.
    private func isSmall(_ body: Body, _ map: DepthPieces.Map) -> Bool {
        let distance = map.distance
        var farthest = SubjectBodies.behind + SubjectBodies.behindSquare * distance * distance
        if body.above * 2 > body.count { farthest -= SubjectBodies.headrest }
        let area = SubjectBodies.area(body, map)
        let isHeld = body.distance < distance - SubjectBodies.held.before && area < SubjectBodies.held.area
        return isHeld || body.distance - distance < farthest - SubjectBodies.bulk * area
    }

    /// True for a body that is as small as an arm, and comes in where an arm does: from the picture's border beside the person.
    private func isLoose(_ body: Body, _ map: DepthPieces.Map, _ faces: borrowing SubjectFaces) -> Bool {
        let (size, arm) = (map.members, SubjectBodies.arm)
        let isAtSide = body.left < SubjectBodies.border || body.right > size.width - SubjectBodies.border
        guard isAtSide || body.isAtBottom, SubjectBodies.area(body, map) < SubjectBodies.arm.area else { return false }
        let samplesPerMetre = 1 / (map.spacing * body.distance)
        let middle = Double(body.left + body.right) / 2
        let toNeighbour = faces.all.reduce(Double.infinity) { $1.isSubject ? $0 : min($0, abs(middle - $1.axis)) }
        return faces.subjects.contains { face in
            abs(middle - face.axis) <= min(arm.sideways * samplesPerMetre, toNeighbour)
                && (isAtSide || Double(size.height) < face.bottom + arm.below * samplesPerMetre)
        }
    }

    // MARK: Memory

    /// Keeps bodies on the side where they were, until some frames in a row say otherwise.
    ///
    /// - Returns: true where one is kept against the rules.
    mutating func keepSides() -> Bool {
        let seeds = sum(\.seeds)
        var hasDoubts = false
        for index in bodies.indices where isBody(index) {
            let body = bodies[index]
            let isSure =
                body.isSubject && (body.isThing || body.seeds * 10 > seeds * SubjectBodies.sureTenths)
            let doubt = body.doubt / Double(max(body.count, 1))
            bodies[index].doubt = 0
            guard body.side != 0, body.isSubject != (body.side > 0), !isSure, SideMemory.keeps(doubt: doubt) else {
                continue
            }
            bodies[index].isSubject.toggle()
            bodies[index].doubt = doubt + 1
            hasDoubts = true
        }
        return hasDoubts
    }

    /// The frames for which a piece's body has been kept on its side.
    func doubt(of piece: Int) -> Double { bodies[bodies[piece].parent].doubt }

    // MARK: Output

    /// Writes the samples of the person's bodies and of others'.
    ///
    /// - Returns: the mean distance of the person's.
    func write(
        _ labels: DepthPieces.Labels, _ faces: borrowing SubjectFaces, person: SampleSet, others: SampleSet
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
                    let isStray = body.touching == 0 && SubjectBodies.area(body, labels.map) < SubjectBodies.stray
                    if !isStray { others.bits(y).insert(columns) }
                    return
                }
                others.bits(y).insert(columns)
                person.bits(y).insert(rivals == 0 ? columns : faces.share(of: columns, rivals: rivals))
            }
        }
        others.fill { others[$0] & ~person[$0] }
        return count > 0 && sum > 0 ? sum / Double(count) : nil
    }
}

extension Range<Int> {
    /// The numbers from one place to another, rounded to the nearest ones.
    func overlap(_ left: Double, _ right: Double) -> Range<Int> {
        let start = floorIndex(left + 0.5, in: lowerBound...upperBound)
        return start..<Swift.max(floorIndex(right + 0.5, in: lowerBound...upperBound), start)
    }
}
