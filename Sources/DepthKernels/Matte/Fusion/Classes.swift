/// The stage that classifies samples by depth: person, room, or open.
///
/// - person: measured in front of the cutoff, farther than `edgeAtHole` from the border of a hole of 3x3 samples or
///   more, and than three `edge` from the room.
/// - doubtful: the same, but only farther than one `edge` from the room. Its colors are the person's, but it is open:
///   the foreground in the depth of stereo cameras and phones is too wide by more than `edge`, and fills the gaps
///   between fingers.
/// - room: measured behind the cutoff and farther than `edge` from the person, or a hole farther from it than the
///   person reaches into holes (`reach`).
/// - A single hole inside of one class, a *dot*, is of that class: sensor noise makes thousands of them.
/// - open: all others, such as what is continued over a band (`DepthBand`): nobody measured that it is the person.
///
/// A hole without measured room nearby that extends beyond the person's reach is *endless*: the room there is out of
/// range. In it the person reaches much less far (`reachEndless`), except for the hair of a head.
///
/// Doubtful samples are not in the published method: they reduce the error by a fifth with stereo cameras and by half
/// with a phone, without loss elsewhere (`Tests/quality`).
///
/// Source: stage 1 of the method (`Fusion`). Sensors lose or invent depth within a few samples of an edge: Khoshelham
/// and Elberink, "Accuracy and resolution of Kinect depth data", Sensors 2012.
struct Classes: ~Copyable {
    /// Samples (of a grid of 640).
    private static let edge = 3.0
    /// Times `edge`.
    private static let doubt = 3.0
    /// Samples (of a grid of 640) about a wide hole, from measured room beyond which a hole may be endless, and about other people.
    private static let (edgeAtHole, gap, besideOthers) = (2.0, 10.0, 48.0)
    /// Metres.
    private static let reach = 0.10
    private static let reachEndless = 0.03

    private var memory = Scratch<UInt64>()
    private var parts = ConnectedRuns()
    private var dilation = Dilation()

    /// The classes of the samples, and sets that they depend on.
    struct Sets {
        /// Measured, and not behind the cutoff; with a subject the person's samples, some of which were not measured.
        let near: SampleSet
        /// Measured, and behind the cutoff; with a subject also `Subject.Result.others`, which may be before it.
        let far: SampleSet
        /// Of both, what is not continued over a band (`DepthBand`): what closes a hole.
        let measuredNear: SampleSet
        let measuredFar: SampleSet
        /// In neither of them: not measured; with a subject also what is nobody's.
        let hole: SampleSet
        /// Not measured, in a hole of 3x3 samples at least; smaller ones are dots.
        let wide: SampleSet
        /// In the ellipse of a face's head and hair.
        let head: SampleSet
        /// In a hole behind which the room is out of the sensor's reach.
        let endless: SampleSet
        /// The person by its depth: certainly, or doubtfully.
        let body: SampleSet
        /// Open samples that are the person by their depth, near the room.
        let doubtful: SampleSet
        /// Certainly the person.
        let person: SampleSet
        /// Certainly the room.
        let room: SampleSet

        /// Calls `body` for each open sample of a row: those that are neither `person` nor `room`.
        @inline(__always)
        func forEachOpen(row y: Int, _ columns: Range<Int>, _ body: (_ x: Int) -> Void) {
            let (person, room) = (person.bits(y), room.bits(y))
            for index in (columns.lowerBound &>> 6)..<groups(of: 64, in: columns.upperBound) {
                var open = unsafe ~(person.words[index] | room.words[index]) & BitRow.word(index, of: columns)
                while open != 0 {
                    body(index &* 64 &+ open.trailingZeroBitCount)
                    open &= open &- 1
                }
            }
        }
    }

    /// - Parameters:
    ///   - distance: metres, of what is in front of the cutoff.
    ///   - subject: whose the samples in front of the cutoff are; nil where all are the person's.
    ///   - faces: in video pixels.
    /// - Returns: the classes of all samples, valid until the next call.
    mutating func classify(
        _ field: DepthField, distance: Double, subject: Subject.Result?, faces: [Rectangle<Double>], _ loops: Loops
    ) -> Sets {
        let grid = field.grid
        let size = field.hole.wordCount
        let memory = unsafe memory.reserve(20 * size, filler: 0)
        func set(_ index: Int) -> SampleSet { unsafe field.hole.placed(in: memory, index) }
        let sets = Sets(
            near: subject == nil ? field.near : set(0), far: subject == nil ? field.far : set(1),
            measuredNear: field.band.isEmpty ? subject == nil ? field.near : set(0) : set(15),
            measuredFar: field.band.isEmpty ? subject == nil ? field.far : set(1) : set(16),
            hole: subject == nil ? field.hole : set(2), wide: set(3), head: set(4), endless: set(5), body: set(6),
            doubtful: set(7), person: set(8), room: set(9))
        let inside = set(10)
        if let subject {
            sets.far.fill { unsafe field.far.words[$0] | subject.others.words[$0] }
            sets.near.fill { unsafe subject.person.words[$0] & ~sets.far.words[$0] }
            sets.hole.fill { unsafe ~(sets.near.words[$0] | sets.far.words[$0]) }
            sets.hole.trim()
        }
        let (band, reachedMeasured) = (set(17), set(18))
        band.removeAll()
        if !field.band.isEmpty {
            field.band.forEachLine(width: grid.width, height: grid.height) { _, count, place in
                for index in 0..<count {
                    let (x, y) = place(index)
                    band.bits(y).insert(x..<(x &+ 1))
                }
            }
            sets.measuredNear.fill { unsafe sets.near.words[$0] & ~band.words[$0] }
            sets.measuredFar.fill { unsafe sets.far.words[$0] & ~band.words[$0] }
        }
        markHeads(faces, on: grid, sets.head)

        findInsides(sets, into: inside)
        let edge = Double(grid.wholeSamples(Classes.edge))
        let (dotted, atHole) = (set(11), set(12))
        dilation.dilate(
            inside, radii: [1.5, Double(grid.wholeSamples(Classes.edgeAtHole) + 1)], into: [dotted, atHole], loops)
        sets.wide.fill { unsafe dotted.words[$0] & sets.hole.words[$0] }

        let (atRoom, nearRoom, aboutRoom) = (set(11), set(13), set(14))
        dilation.dilate(
            sets.far, radii: [edge, Classes.doubt * edge, grid.samples(Classes.gap)],
            into: [atRoom, nearRoom, aboutRoom],
            loops)
        sets.body.fill { unsafe sets.measuredNear.words[$0] & ~(atRoom.words[$0] | atHole.words[$0]) }
        sets.doubtful.fill { unsafe sets.body.words[$0] & nearRoom.words[$0] }
        sets.person.fill { unsafe sets.body.words[$0] & ~nearRoom.words[$0] }
        let dots = set(19)
        dots.fill { unsafe sets.hole.words[$0] & ~(sets.wide.words[$0] | sets.head.words[$0]) }
        sets.person.fill { unsafe sets.person.words[$0] | dots.words[$0] & ~(nearRoom.words[$0] | atHole.words[$0]) }
        if let subject {
            // Colors of neighbours that the evidence takes for the room's may be the person's too: skin before skin.
            let atOthers = inside
            dilation.dilateFar(subject.others, radius: grid.samples(Classes.besideOthers), into: atOthers, loops)
            sets.doubtful.fill { unsafe sets.doubtful.words[$0] | sets.measuredNear.words[$0] & atOthers.words[$0] }
        }

        let samplesPerMetre = grid.samplesPerMetre(at: distance)
        let reach = Classes.reach * samplesPerMetre
        let (atPerson, reached, reachedEndless) = (set(10), set(12), set(13))
        dilation.dilate(
            sets.near, radii: [edge, max(3, Classes.reachEndless * samplesPerMetre)],
            into: [atPerson, reachedEndless], loops)
        dilation.dilateFar(sets.near, radius: reach, into: reached, loops)
        if field.band.isEmpty {
            findEndless(notNearRoom: aboutRoom, notReached: reached, band: band, sets)
        } else {
            dilation.dilate(sets.measuredFar, radii: [grid.samples(Classes.gap)], into: [aboutRoom], loops)
            dilation.dilateFar(sets.measuredNear, radius: reach, into: reachedMeasured, loops)
            findEndless(notNearRoom: aboutRoom, notReached: reachedMeasured, band: band, sets)
        }
        if reach < 2 { dilation.dilate(sets.near, radii: [2], into: [reached], loops) }
        sets.room.fill { index in
            let endless = unsafe sets.endless.words[index] & ~sets.head.words[index]
            let isReached = unsafe endless & reachedEndless.words[index] | ~endless & reached.words[index]
            let isFar = unsafe (sets.far.words[index] | dots.words[index]) & ~atPerson.words[index]
            return unsafe isFar | sets.hole.words[index] & ~isReached
        }
        let edges = Int(edge)
        field.band.forEachLine(width: grid.width, height: grid.height) { into, count, place in
            Classes.open(sets.room, near: sets.near, by: edges + into, count, place)
        }
        return sets
    }

    /// Removes the samples of a line from a set that are near one of the other side.
    private static func open(
        _ set: SampleSet, near other: SampleSet, by reach: Int, _ count: Int, _ place: (Int) -> (x: Int, y: Int)
    ) {
        for isForward in [true, false] {
            var since = reach
            for index in 0..<count {
                let (x, y) = place(isForward ? index : count &- 1 &- index)
                since = other.bits(y).contains(x) ? 0 : since &+ 1
                if since <= reach { set.bits(y).remove(x..<(x &+ 1)) }
            }
        }
    }

    /// Marks the ellipse of head and hair about each face: 1.7 boxes wide, 2.1 high, its middle 0.35 below the box's
    /// top.
    private func markHeads(_ faces: [Rectangle<Double>], on grid: WorkGrid, _ heads: SampleSet) {
        heads.removeAll()
        for face in faces {
            let corner = grid.point(videoX: Double(face.x), videoY: Double(face.y))
            let end = grid.point(videoX: Double(face.x + face.width), videoY: Double(face.y + face.height))
            let (width, height) = (end.x - corner.x, end.y - corner.y)
            guard width > 0, height > 0 else { continue }
            let (middleX, middleY) = (corner.x + 0.5 * width, corner.y + 0.35 * height)
            let (radiusX, radiusY) = (0.85 * width, 1.05 * height)
            for y in 0..<grid.height {
                let dy = (Double(y) - middleY) / radiusY
                guard dy * dy < 1 else { continue }
                let half = (1 - dy * dy).squareRoot() * radiusX
                let start = ceilIndex(middleX - half, in: 0...grid.width)
                let end = floorIndex(middleX + half, in: -1...(grid.width - 1)) + 1
                if start < end { heads.bits(y).insert(start..<end) }
            }
        }
    }

    /// Marks the middles of 3x3 samples none of which was measured; beyond the grid nothing is measured.
    private func findInsides(_ sets: Sets, into inside: SampleSet) {
        let stride = inside.stride
        for y in 0..<inside.height {
            let above = max(y &- 1, 0) &* stride
            let below = min(y &+ 1, inside.height &- 1) &* stride
            let this = y &* stride
            func measured(_ index: Int) -> UInt64 {
                guard index >= 0, index < stride else { return 0 }
                let upper = unsafe sets.near.words[above &+ index] | sets.far.words[above &+ index]
                let middle = unsafe sets.near.words[this &+ index] | sets.far.words[this &+ index]
                let lower = unsafe sets.near.words[below &+ index] | sets.far.words[below &+ index]
                return upper | middle | lower
            }
            var (before, word) = (UInt64(0), measured(0))
            for index in 0..<stride {
                let next = measured(index &+ 1)
                unsafe inside.words[this &+ index] =
                    ~(word | word &<< 1 | before &>> 63 | word &>> 1 | next &<< 63)
                (before, word) = (word, next)
            }
        }
        inside.trim()
    }

    /// Marks the endless parts of wide holes: components away from measured room that extend beyond the person's reach.
    ///
    /// - Parameter band: samples that are holes in fact.
    private mutating func findEndless(
        notNearRoom nearRoom: SampleSet, notReached reached: SampleSet, band: SampleSet, _ sets: Sets
    ) {
        let loose = sets.endless
        loose.fill { unsafe (sets.wide.words[$0] | band.words[$0]) & ~nearRoom.words[$0] }
        parts.find(in: loose) { y, columns in
            reached.bits(y).firstMissing(from: columns.lowerBound, to: columns.upperBound) < columns.upperBound
        }
        sets.endless.removeAll()
        parts.forEachRun { y, columns, hasSeed in
            if hasSeed { sets.endless.bits(y).insert(columns) }
        }
    }
}
