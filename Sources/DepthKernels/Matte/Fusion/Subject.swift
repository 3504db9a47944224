/// The stage that selects the anchored person among the objects in front of the cutoff.
///
/// Samples in front of the cutoff that lie on horizontal planes (`FloorPlanes`) are removed; the others form pieces
/// that are connected in depth (`DepthPieces`). A piece belongs to the person
///
/// - if it has a tenth of the samples in the middle of the anchored face, at its depth;
/// - if it touches a piece of the person in the picture, lies up to 0.8 m in front of it and is at most 1 m wide: a
///   hand held out, and an object in it;
/// - if it touches a piece of the person, lies behind it, and most of it lies within 0.17 m of the face's axis to either
///   side, and below the chin or down to the lower border: parts that an arm, an object in the hands or the chin
///   separates from the head;
/// - if it comes in through the lower border, as the person does, no more than 0.7 m below the chin, no wider than an
///   arm and no farther away than the face: an arm whose elbow is outside the picture;
/// - if it is a speck, lies at the person's depth, and most of it lies below the chin within 0.17 m of the face's
///   axis to either side: from far away, specks are all that a sensor sees of dark trousers.
///
/// Pieces with another measured face are never added. A piece of the person and a neighbour is split halfway between
/// their faces. Samples more than 1.2 m to the left or right of the face are never the person's.
///
/// Limits of the method: an object within arm's length in front of the person that touches them in the picture counts
/// as one in their hands; a neighbour without a face of their own who leans on the person is kept.
///
/// In frames without a face, the person is the pieces that overlap the person of the frame before. Until a face has
/// been seen, everything in front of the cutoff is the person. Limits are wider by half for pieces of the last frame's
/// person.
struct Subject: ~Copyable {
    /// Metres; of trunk and shoulders half the width.
    private static let reachSideways = 1.2
    private static let (trunk, shoulders) = (0.17, 0.21)
    private static let armLength: Float = 0.8
    private static let widestThing = 1.0
    private static let arm = (width: 0.25, wholeWidth: 0.45, sideways: 0.6, behind: 0.05, below: 0.7)
    /// The shortest contact of two pieces: in samples (of a grid of 640), or in metres with a number of samples.
    private static let leastContact = (samples: 6.0, metres: 0.03, least: 3)
    private static let leastSeeds = 0.1
    /// Square metres.
    private static let largestSpeck = 0.01
    private static let slack = 1.5
    private static let passes = 4
    /// Samples (of a grid of 640).
    private static let gap = 8.0
    /// Metres that may be missing above the floor, and by which a foot is before its leg.
    private static let shank = 0.5
    private static let foot: Float = 0.3
    /// Metres by which a head may be farther away than the followed one, and be the person's too.
    private static let sameRange = 0.3
    /// Metres between the faces of two people.
    private static let leastApart = 0.35

    private var memory = Scratch<UInt64>()
    private var memoryOfPast = Scratch<UInt64>()
    private var pieces = DepthPieces()
    private var planes = FloorPlanes()
    private var found: [Piece] = []
    /// The faces of the last frame that had any.
    private var seen: [SeenFace] = []
    /// The same on the grid.
    private var faces: [Face] = []
    private var pastCount = 0

    private struct SeenFace {
        /// In video pixels.
        let box: Rectangle<Double>
        /// Metres.
        let distance: Double
        /// True for a face of the anchored person.
        let isSubject: Bool
    }

    /// A face in samples of the grid.
    private struct Face {
        let left: Double
        let right: Double
        let top: Double
        let bottom: Double
        /// Metres.
        let distance: Double
        /// Half the width of a trunk at its distance, and half that of shoulders.
        let trunk: Double
        let shoulders: Double
        /// True for a face of the anchored person.
        let isSubject: Bool

        init(_ face: SeenFace, on grid: WorkGrid) {
            let box = face.box
            (left, top) = grid.point(videoX: box.x, videoY: box.y)
            (right, bottom) = grid.point(videoX: box.x + box.width, videoY: box.y + box.height)
            distance = face.distance
            let perMetre = grid.samplesPerMetre(at: distance)
            (trunk, shoulders) = (Subject.trunk * perMetre, Subject.shoulders * perMetre)
            isSubject = face.isSubject
        }

        var axis: Double { (left + right) / 2 }
        var width: Double { right - left }
    }

    /// Statistics of a piece.
    private struct Piece {
        var count = 0
        var past = 0
        /// Samples close to the face's axis.
        var central = 0
        /// Of these, samples below the chin.
        var below = 0
        /// The share of the middle of the anchored face that it covers, 0…1.
        var seeds = 0.0
        /// A bit for each face of another person that it contains.
        var rivals: UInt64 = 0
        var left = Int.max
        var right = 0
        /// Columns in which it touches the lower border.
        var borderLeft = Int.max
        var borderRight = 0
        var sum = 0.0
        var isSubject = false
        // Contacts with the person.
        var nearer = 0
        var nearerMetres = 0.0
        var farther = 0

        var distance: Double { sum / Double(max(count, 1)) }
        var slack: Double { past * 2 >= count ? Subject.slack : 1 }
    }

    /// The result for a frame.
    struct Result {
        /// The person's samples; some of them were not measured.
        let person: SampleSet
        /// Samples in front of the cutoff that are not the person's.
        let others: SampleSet
        /// Mean distance of the person, in metres; nil where no sample of them was measured.
        let distance: Double?
    }

    /// - Parameters:
    ///   - anchored: the face that set the cutoff.
    ///   - cutoff: metres.
    /// - Returns: nil where everything in front of the cutoff is the person; valid until the next call.
    mutating func find(
        _ frame: MatteFrame, _ field: DepthField, anchored: Anchor.Face?, cutoff: Double, _ settings: MatteSettings,
        _ loops: Loops
    ) -> Result? {
        let grid = field.grid
        guard settings.subject == .anchored, settings.anchor.followsPerson, !field.scale.kind.isRelative else {
            reset()
            return nil
        }
        if let anchored { readFaces(frame, field, anchored: anchored, settings.anchor) }
        guard !seen.isEmpty else { return nil }
        faces.removeAll(keepingCapacity: true)
        for face in seen { faces.append(Face(face, on: grid)) }

        let (near, far) = (field.near, field.far)
        let (stride, size) = (near.stride, near.wordCount)
        let memory = unsafe memory.reserve(5 * size, filler: 0)
        func set(_ index: Int) -> SampleSet {
            unsafe SampleSet(words: memory + index &* size, stride: stride, width: grid.width, height: grid.height)
        }
        let (others, floor, members, person, spare) = (set(0), set(1), set(2), set(3), set(4))
        let past = unsafe SampleSet(
            words: memoryOfPast.reserve(size, filler: 0), stride: stride, width: grid.width, height: grid.height)
        if pastCount == 0 { past.removeAll() }

        markShoulders(spare)
        planes.find(field, farthest: 1.5 * cutoff, past: past, sparing: spare, into: floor, loops)
        members.fill { unsafe near.words[$0] & ~floor.words[$0] }
        limitSideways(members, sparing: spare, on: grid)
        let distance = faces.reduce(0) { $1.isSubject ? max($0, $1.distance) : $0 }
        let map = unsafe DepthPieces.Map(
            depth: field.metres, members: members, barrier: far, past: past, spacing: grid.metresPerSample(at: 1),
            distance: distance)
        pieces.find(in: map, loops)
        let border = Subject.lastMeasuredRow(near, far)
        describe(map, border: border - grid.wholeSamples(Subject.gap))
        // Without samples of the past only the last faces identify the person.
        choose(hasFaces: anchored != nil || pastCount == 0)
        if Double(border) < arms(on: grid) { addArms(map) }
        addPieces(map, on: grid)
        addSpecks(map)
        let mean = write(into: person)
        addFeet(to: person, floor: floor, map)
        fillGaps(person, near: near, reach: grid.wholeSamples(Subject.gap), spare: spare)

        pastCount = 0
        for index in 0..<size {
            let word = unsafe person.words[index]
            unsafe past.words[index] = word
            pastCount &+= word.nonzeroBitCount
            unsafe others.words[index] = near.words[index] & ~word
        }
        return Result(person: person, others: others, distance: mean)
    }

    /// Forgets the person's samples, but not their face: in the next frame they may be elsewhere.
    mutating func forgetSamples() { pastCount = 0 }

    /// Forgets the person.
    mutating func reset() {
        seen.removeAll(keepingCapacity: true)
        pastCount = 0
    }

    // MARK: Input

    private mutating func readFaces(
        _ frame: MatteFrame, _ field: DepthField, anchored: Anchor.Face, _ settings: AnchorSettings
    ) {
        let grid = field.grid
        let first = SeenFace(box: anchored.box, distance: anchored.distance, isSubject: true)
        let axis = Face(first, on: grid).axis
        seen.removeAll(keepingCapacity: true)
        seen.append(first)
        let metresPerSample = grid.metresPerSample(at: anchored.distance)
        func add(_ box: Rectangle<Double>, _ distance: Double, isSubject: Bool) {
            let face = SeenFace(box: box, distance: distance, isSubject: isSubject)
            // Detectors may report a face twice, or one on a shirt; two heads are farther apart.
            let apart = abs(Face(face, on: grid).axis - axis) * metresPerSample
            if isSubject || apart > Subject.leastApart { seen.append(face) }
        }
        let wantsAll = settings.faceSelect == .all
        guard !settings.usesHeads(of: frame) else {
            // Where no face chose one of the heads, those at the same distance are the person too.
            for head in frame.heads where head.box != anchored.box {
                let isNear =
                    !frame.isHeadChosen && head.isSure && head.distance <= anchored.distance + Subject.sameRange
                add(head.box, head.distance, isSubject: wantsAll || isNear)
            }
            return
        }
        for box in frame.anchors.prefix(UInt64.bitWidth - 1) where box != anchored.box {
            guard let distance = field.faceDepth(box, among: frame.anchors.count) else { continue }
            add(box, distance, isSubject: wantsAll)
        }
    }

    /// Removes samples farther to the side of every face of the person than arms reach.
    private func limitSideways(_ members: SampleSet, sparing: SampleSet, on grid: WorkGrid) {
        let allowed = sparing.bits(0)
        for index in 0..<members.stride { unsafe allowed.words[index] = 0 }
        for face in faces where face.isSubject {
            let reach = Subject.reachSideways * grid.samplesPerMetre(at: face.distance)
            let start = floorIndex(face.axis - reach, in: 0...grid.width)
            let end = ceilIndex(face.axis + reach, in: 0...grid.width)
            if start < end { allowed.insert(start..<end) }
        }
        for y in 0..<members.height {
            let row = unsafe members.row(y)
            for index in 0..<members.stride { unsafe row[index] &= allowed.words[index] }
        }
    }

    /// Marks head and shoulders, and the samples above them: shoulders seen from above slope as a floor does.
    private func markShoulders(_ shoulders: SampleSet) {
        shoulders.removeAll()
        for face in faces where face.isSubject {
            let start = floorIndex(face.axis - face.shoulders, in: 0...shoulders.width)
            let end = ceilIndex(face.axis + face.shoulders, in: 0...shoulders.width)
            guard start < end else { continue }
            let bottom = ceilIndex(face.bottom + 1.5 * (face.bottom - face.top), in: 0...shoulders.height)
            for y in 0..<bottom { shoulders.bits(y).insert(start..<end) }
        }
    }

    // MARK: Pieces

    /// Computes the statistics of all pieces.
    ///
    /// - Parameter border: the first row that counts as the lower border, where sensors lose some rows.
    private mutating func describe(_ map: DepthPieces.Map, border: Int) {
        found.removeAll(keepingCapacity: true)
        for index in pieces.runs.indices {
            let root = pieces.root(index)
            if pieces.runs[root].piece < 0 {
                pieces.setPiece(found.count, ofRoot: root)
                found.append(Piece())
            }
            let (run, number) = (pieces.runs[index], Int(pieces.runs[root].piece))
            let (y, columns) = (Int(run.row), run.columns)
            var piece = found[number]
            piece.count += columns.count
            piece.sum += Double(map.depth((columns.lowerBound + columns.upperBound) / 2, y)) * Double(columns.count)
            piece.past += unsafe Subject.count(map.past.row(y), in: columns)
            piece.left = min(piece.left, columns.lowerBound)
            piece.right = max(piece.right, columns.upperBound)
            if y >= border {
                piece.borderLeft = min(piece.borderLeft, columns.lowerBound)
                piece.borderRight = max(piece.borderRight, columns.upperBound)
            }
            count(columns, row: y, map, in: &piece)
            found[number] = piece
        }
    }

    /// Counts the samples of a run that lie in faces or below one.
    private func count(_ columns: Range<Int>, row y: Int, _ map: DepthPieces.Map, in piece: inout Piece) {
        let middle = Double(y) + 0.5
        var (central, below) = (0, 0)
        for index in faces.indices {
            let face = faces[index]
            if face.isSubject {
                let count = Subject.overlap(columns, face.axis - face.trunk, face.axis + face.trunk).count
                central = max(central, count)
                if middle > face.bottom { below = max(below, count) }
            }
            let height = (face.bottom - face.top) / 4
            guard middle > face.top + height, middle < face.bottom - height else { continue }
            let inside = Subject.overlap(columns, face.axis - face.width / 4, face.axis + face.width / 4)
            guard !inside.isEmpty else { continue }
            let z = Double(map.depth((inside.lowerBound + inside.upperBound) / 2, y))
            guard Subject.isSameDistance(z, face.distance) else { continue }
            let share = Double(inside.count) / max(face.width * height, 1)
            if face.isSubject { piece.seeds += share } else { piece.rivals |= 1 << UInt64(index) }
        }
        piece.central += central
        piece.below += below
    }

    private static func overlap(_ columns: Range<Int>, _ left: Double, _ right: Double) -> Range<Int> {
        let start = floorIndex(left + 0.5, in: columns.lowerBound...columns.upperBound)
        return start..<max(floorIndex(right + 0.5, in: columns.lowerBound...columns.upperBound), start)
    }

    private static func count(_ words: UnsafeMutablePointer<UInt64>, in columns: Range<Int>) -> Int {
        var count = 0
        var start = columns.lowerBound
        while start < columns.upperBound {
            let end = min(columns.upperBound, (start | 63) &+ 1)
            let bits = unsafe words[start &>> 6] &>> UInt64(truncatingIfNeeded: start)
            count &+= (bits & UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- (end &- start))).nonzeroBitCount
            start = end
        }
        return count
    }

    private static func lastMeasuredRow(_ near: SampleSet, _ far: SampleSet) -> Int {
        for y in stride(from: near.height - 1, to: 0, by: -1) {
            for index in 0..<near.stride { if unsafe near.row(y)[index] | far.row(y)[index] != 0 { return y } }
        }
        return 0
    }

    /// The lowest row that elbows may be below.
    private func arms(on grid: WorkGrid) -> Double {
        faces.reduce(0) { row, face in
            guard face.isSubject else { return row }
            return max(row, face.bottom + Subject.arm.below * grid.samplesPerMetre(at: face.distance))
        }
    }

    /// Marks the pieces that are the person for themselves.
    private mutating func choose(hasFaces: Bool) {
        if hasFaces {
            let most = found.reduce(0) { max($0, $1.seeds) }
            for index in found.indices {
                let seeds = found[index].seeds
                found[index].isSubject = seeds >= Subject.leastSeeds || seeds > 0 && seeds == most
            }
            if most > 0 { return }
        }
        for index in found.indices {
            let piece = found[index]
            let isMostOfPast = piece.past * 4 >= max(pastCount, 1)
            found[index].isSubject = isMostOfPast || piece.past * 2 >= piece.count && piece.count >= 16
        }
    }

    /// Adds pieces that belong to the person by where they touch.
    private mutating func addPieces(_ map: DepthPieces.Map, on grid: WorkGrid) {
        let leastSamples = grid.wholeSamples(Subject.leastContact.samples)
        for _ in 0..<Subject.passes {
            countContacts(map)
            var isChanged = false
            for index in found.indices {
                let piece = found[index]
                guard !piece.isSubject, piece.rivals == 0 else { continue }
                let slack = piece.slack
                let width = Double(piece.right - piece.left) * map.spacing * piece.distance
                let isLong =
                    Double(piece.nearer) * slack >= Double(leastSamples)
                    || piece.nearer >= Subject.leastContact.least
                        && piece.nearerMetres * slack >= Subject.leastContact.metres
                let isHeld = isLong && width <= Subject.widestThing * slack
                let inBody = piece.borderRight > 0 ? piece.central : piece.below
                let isBehind =
                    piece.farther >= Subject.leastContact.least
                    && Double(inBody) * slack > 0.5 * Double(piece.count)
                if isHeld || isBehind {
                    found[index].isSubject = true
                    isChanged = true
                }
            }
            if !isChanged { break }
        }
    }

    private mutating func addSpecks(_ map: DepthPieces.Map) {
        let person = found.reduce(into: (sum: 0.0, count: 0)) { person, piece in
            if piece.isSubject { person = (person.sum + piece.sum, person.count + piece.count) }
        }
        guard person.count > 0 else { return }
        let distance = person.sum / Double(person.count)
        let samplesPerMetre = 1 / (map.spacing * max(distance, 1e-3))
        let most = Subject.largestSpeck * samplesPerMetre * samplesPerMetre
        for index in found.indices {
            let piece = found[index]
            guard !piece.isSubject, piece.rivals == 0, Double(piece.count) <= most, piece.below * 2 > piece.count,
                Subject.isSameDistance(piece.distance, distance)
            else { continue }
            found[index].isSubject = true
        }
    }

    /// True where two distances in metres differ by no more than a head is deep, or the sensor's noise.
    private static func isSameDistance(_ one: Double, _ other: Double) -> Bool {
        abs(one - other) <= 0.1 + 0.02 * other * other
    }

    private mutating func addArms(_ map: DepthPieces.Map) {
        guard found.contains(where: { $0.isSubject && $0.borderRight > 0 }) else { return }
        for index in found.indices {
            let piece = found[index]
            guard !piece.isSubject, piece.rivals == 0, piece.borderRight > 0 else { continue }
            let scale = map.spacing * piece.distance
            let width = Double(piece.borderRight - piece.borderLeft) * scale
            guard width <= Subject.arm.width * piece.slack,
                Double(piece.right - piece.left) * scale <= Subject.arm.wholeWidth * piece.slack,
                Double(piece.count) * scale * scale >= 0.003
            else { continue }
            let middle = Double(piece.borderLeft + piece.borderRight) / 2
            found[index].isSubject = faces.contains { face in
                face.isSubject && abs(middle - face.axis) * scale <= Subject.arm.sideways * piece.slack
                    && piece.distance <= face.distance + Subject.arm.behind
                    && piece.distance >= face.distance - Double(Subject.armLength) * piece.slack
            }
        }
    }

    /// Measures the borders of the pieces with the person.
    private mutating func countContacts(_ map: DepthPieces.Map) {
        for index in found.indices {
            found[index].nearer = 0
            found[index].nearerMetres = 0
            found[index].farther = 0
        }
        for contact in pieces.contacts {
            let one = Int(pieces.runs[pieces.root(Int(contact.one))].piece)
            let other = Int(pieces.runs[pieces.root(Int(contact.other))].piece)
            guard found[one].isSubject != found[other].isSubject else { continue }
            let number = found[one].isSubject ? other : one
            // Metres by which the piece is before the person.
            let step = found[one].isSubject ? contact.step : -contact.step
            guard abs(step) <= Subject.armLength * Float(found[number].slack) else { continue }
            if step > 0 {
                found[number].nearer &+= Int(contact.length)
                found[number].nearerMetres += Double(contact.length) * map.spacing * found[number].distance
            } else {
                found[number].farther &+= Int(contact.length)
            }
        }
    }

    // MARK: Output

    /// - Returns: the mean distance.
    private mutating func write(into person: SampleSet) -> Double? {
        person.removeAll()
        var (sum, count, rivals) = (0.0, 0, UInt64(0))
        for piece in found where piece.isSubject {
            (sum, count, rivals) = (sum + piece.sum, count + piece.count, rivals | piece.rivals)
        }
        for index in pieces.runs.indices {
            let piece = found[Int(pieces.runs[pieces.root(index)].piece)]
            guard piece.isSubject else { continue }
            let run = pieces.runs[index]
            let columns = rivals == 0 ? run.columns : share(of: run.columns, rivals: rivals)
            if !columns.isEmpty { person.bits(Int(run.row)).insert(columns) }
        }
        return count > 0 && sum > 0 ? sum / Double(count) : nil
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

    /// Fills gaps that a plane or a speck of noise has left in the person: samples between two of the person's, close
    /// above and close below.
    private func fillGaps(_ person: SampleSet, near: SampleSet, reach: Int, spare: SampleSet) {
        let (stride, height) = (person.stride, person.height)
        for index in 0..<person.wordCount {
            let missing = unsafe near.words[index] & ~person.words[index]
            unsafe spare.words[index] = 0
            guard missing != 0 else { continue }
            let y = index / stride
            var (above, below) = (UInt64(0), UInt64(0))
            for step in 1...reach {
                if y >= step { unsafe above |= person.words[index &- step &* stride] }
                if y &+ step < height { unsafe below |= person.words[index &+ step &* stride] }
            }
            unsafe spare.words[index] = missing & above & below
        }
        for index in 0..<person.wordCount { unsafe person.words[index] |= spare.words[index] }
    }
}
