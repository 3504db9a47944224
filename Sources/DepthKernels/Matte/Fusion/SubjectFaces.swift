/// The faces that tell whose a body is: those of the anchored person, and others'.
struct SubjectFaces: ~Copyable {
    /// As many as a body's bits for faces of others.
    private static let most = UInt64.bitWidth
    /// Metres by which an anchored thing may be behind its owner's face.
    private static let behindFace = 0.3
    /// Metres by which a head may be farther away than the followed one, and be the person's too.
    private static let sameRange = 0.3
    /// Frames for which a face of the person that is missed is kept; and, in sides of its box, how far off one that is found is the
    /// same.
    private static let (longestMissed, sameFace) = (30, 0.8)
    /// Metres between the faces of two people.
    private static let leastApart = 0.35

    /// Those of the last frame that had any.
    private(set) var all: [Face] = []
    private var last: [Face] = []
    /// Of `all`, the first ones, whose the anchored thing may be.
    private(set) var ownerCount = 0

    init() {
        // So that no frame takes memory.
        all.reserveCapacity(SubjectFaces.most)
        last.reserveCapacity(SubjectFaces.most)
    }

    struct Face {
        /// Metres: half the width of a trunk.
        private static let trunk = 0.17

        /// In video pixels.
        let box: Rectangle<Double>
        /// Metres.
        let distance: Double
        /// True for a face of the anchored person.
        var isSubject: Bool
        /// Frames for which it was not found.
        fileprivate var missed = 0
        /// In samples of the grid, once it is placed there; the bottom is the chin.
        private(set) var (left, right, top, bottom) = (0.0, 0.0, 0.0, 0.0)
        /// Half the width of a trunk at its distance.
        private(set) var trunk = 0.0

        fileprivate init(box: Rectangle<Double>, distance: Double, isSubject: Bool) {
            (self.box, self.distance, self.isSubject) = (box, distance, isSubject)
        }

        fileprivate mutating func place(on grid: WorkGrid) {
            (left, right, top, bottom) = grid.edges(box)
            trunk = Face.trunk * grid.samplesPerMetre(at: distance)
        }

        var axis: Double { (left + right) / 2 }
        var width: Double { right - left }
        var height: Double { bottom - top }
    }

    /// The person's.
    var subjects: some Collection<Face> { all.lazy.filter(\.isSubject) }

    /// Metres, of the farthest face of the person; nil without one.
    var distance: Double? { all.reduce(nil) { $1.isSubject ? max($0 ?? 0, $1.distance) : $0 } }

    /// Metres, of the nearest of those, not behind a distance: what is before the person is measured from it.
    func nearest(to distance: Double) -> Double {
        all.reduce(distance) { $1.isSubject ? min($0, $1.distance) : $0 }
    }

    /// The part of a run that is nearer to the person's face than to those of neighbours.
    ///
    /// - Parameter rivals: a bit for each of those.
    func share(of columns: Range<Int>, rivals: UInt64) -> Range<Int> {
        var (start, end) = (columns.lowerBound, columns.upperBound)
        for index in all.indices where rivals &>> UInt64(index) & 1 != 0 {
            let rival = all[index]
            guard let nearest = subjects.min(by: { abs($0.axis - rival.axis) < abs($1.axis - rival.axis) }) else {
                continue
            }
            let middle = floorIndex((nearest.axis + rival.axis) / 2, in: columns.lowerBound...columns.upperBound)
            if rival.axis > nearest.axis { end = min(end, middle) } else { start = max(start, middle) }
        }
        return start..<max(end, start)
    }

    mutating func removeAll() {
        all.removeAll(keepingCapacity: true)
        last.removeAll(keepingCapacity: true)
        ownerCount = 0
    }

    mutating func place(on grid: WorkGrid) {
        for index in all.indices { all[index].place(on: grid) }
    }

    /// Calls `body` for each face that detectors found, or where heads count for each head.
    private static func forEach(
        of frame: MatteFrame, _ field: DepthField, _ settings: AnchorSettings, most: Int,
        _ body: (_ box: Rectangle<Double>, _ distance: Double, _ head: Head?) -> Void
    ) {
        if settings.usesHeads(of: frame) {
            for head in frame.heads { body(head.box, head.distance, head) }
        } else {
            for box in frame.anchors.prefix(most) {
                if let face = frame.face(box, in: field) { body(face.box, face.distance, nil) }
            }
        }
    }

    // MARK: Of a person

    /// Reads the faces of a frame, or, where it does not show the followed head, the person's other heads.
    ///
    /// - Returns: false where there are none; then the faces of the last frame stay.
    mutating func read(
        _ frame: MatteFrame, _ field: DepthField, anchored: Anchor.Face?, _ settings: AnchorSettings
    ) -> Bool {
        guard anchored != nil || showsOthers(frame, settings) else { return false }
        let farthest = anchored?.distance ?? distance ?? 0
        swap(&all, &last)
        all.removeAll(keepingCapacity: true)
        if let anchored { all.append(Face(box: anchored.box, distance: anchored.distance, isSubject: true)) }
        SubjectFaces.forEach(of: frame, field, settings, most: SubjectFaces.most - 1) { box, distance, head in
            // Where no face chose one of the heads, those at the same distance are the person too.
            let isNear = head.map { $0.isSure && !frame.isHeadChosen && distance <= farthest + SubjectFaces.sameRange }
            let isSubject = isNear ?? false || anchored != nil && settings.faceSelect == .all
            guard box != anchored?.box, isSubject || anchored != nil else { return }
            // Detectors may report a face twice, or one on a shirt; two heads are farther apart.
            let apart =
                anchored.map { abs($0.box.centerX - box.centerX) * field.grid.metresPerPixel(at: $0.distance) } ?? 0
            if isSubject || apart > SubjectFaces.leastApart {
                all.append(Face(box: box, distance: distance, isSubject: isSubject))
            }
        }
        keepMissed(anchored, field)
        return !all.isEmpty
    }

    /// True where a head of a frame is at the place of one of the person's faces.
    private func showsOthers(_ frame: MatteFrame, _ settings: AnchorSettings) -> Bool {
        guard settings.usesHeads(of: frame), !frame.isHeadChosen else { return false }
        return frame.heads.contains { head in
            subjects.contains { $0.box.isAt(head.box, within: SubjectFaces.sameFace) }
        }
    }

    /// Keeps faces of the person that are not found any more, for some frames while something is where they were.
    private mutating func keepMissed(_ anchored: Anchor.Face?, _ field: DepthField) {
        // The face that is anchored now is the first of the last frame, unless it is another of the person's: then that one is
        // missed, and kept.
        let isAnother = last.dropFirst().contains { face in
            face.isSubject && anchored?.box.isAt(face.box, within: SubjectFaces.sameFace) == true
        }
        for var face in last.dropFirst(anchored == nil || isAnother ? 0 : 1)
        where face.isSubject && face.missed < SubjectFaces.longestMissed && all.count < SubjectFaces.most {
            guard !all.contains(where: { face.box.isAt($0.box, within: SubjectFaces.sameFace) }),
                field.hides(field.placement.depthBox(face.box), at: face.distance) > 0
            else { continue }
            face.missed += 1
            all.append(face)
        }
    }

    // MARK: Of a thing

    /// Reads the faces of a frame, first those within arm's reach of a thing: of these first the one whose it was, then the others
    /// by how near they are, to the point or else to the camera.
    ///
    /// - Returns: false where there are none; then those of the last frame stay.
    mutating func readOwners(
        _ frame: MatteFrame, _ field: DepthField, of object: Anchor.Object, _ settings: AnchorSettings
    ) -> Bool {
        let last = all.first.flatMap { $0.isSubject ? $0.box : nil }
        func rank(_ face: Face) -> Double? { SubjectFaces.rank(face, of: object, last, on: field.grid) }
        var isNone = true
        SubjectFaces.forEach(of: frame, field, settings, most: SubjectFaces.most) { box, distance, _ in
            if isNone { removeAll() }
            isNone = false
            let face = Face(box: box, distance: distance, isSubject: false)
            guard let mine = rank(face) else { return all.append(face) }
            var place = ownerCount
            while place > 0, let before = rank(all[place - 1]), before > mine { place -= 1 }
            all.insert(face, at: place)
            ownerCount += 1
        }
        if isNone { ownerCount = last == nil ? 0 : 1 } else { nameOwner(ownerCount > 0 ? 0 : nil) }
        return !isNone
    }

    /// Lower for a face whose thing it is more likely; nil where it is not.
    private static func rank(
        _ face: Face, of object: Anchor.Object, _ last: Rectangle<Double>?, on grid: WorkGrid
    ) -> Double? {
        let behind = object.distance - face.distance
        let beside = object.point.map { abs(face.box.centerX - $0.x) * grid.metresPerPixel(at: face.distance) }
        guard behind > -Subject.armLength, behind < behindFace, beside ?? 0 < Subject.armLength else { return nil }
        if let last, last.isAt(face.box, within: 0.5) { return -1 }
        return beside ?? face.distance
    }

    /// Makes a face that of the anchored person, and the first.
    mutating func nameOwner(_ owner: Int?) {
        for index in all.indices { all[index].isSubject = index == owner }
        if let owner { all.swapAt(0, owner) }
    }
}
