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

        /// Holes that are no part of a wide one or of a head.
        fileprivate let dots: SampleSet
        /// Continued over a band.
        fileprivate let band: SampleSet
        /// Within `edgeAtHole` of a wide hole, and within `gap` of the room.
        fileprivate let atHole: SampleSet
        fileprivate let aboutRoom: SampleSet
        /// Memory for what one step needs.
        fileprivate let spare: (SampleSet, SampleSet, SampleSet, SampleSet)

        fileprivate init(_ memory: inout Scratch<UInt64>, _ field: DepthField, isDivided: Bool) {
            let sets: InlineArray<20, SampleSet> = memory.sets(like: field.hole)
            var count = 0
            func next() -> SampleSet {
                count += 1
                return sets[count - 1]
            }
            (near, far, hole) = isDivided ? (next(), next(), next()) : (field.near, field.far, field.hole)
            (measuredNear, measuredFar) = field.band.isEmpty ? (near, far) : (next(), next())
            (wide, head, endless, body) = (next(), next(), next(), next())
            (doubtful, person, room) = (next(), next(), next())
            (dots, band, atHole, aboutRoom) = (next(), next(), next(), next())
            spare = (next(), next(), next(), next())
        }

        /// Calls `body` for each open sample of a row: those that are neither `person` nor `room`.
        @inline(__always)
        func forEachOpen(row y: Int, _ columns: Range<Int>, _ body: (_ x: Int) -> Void) {
            for index in (columns.lowerBound &>> 6)..<groups(of: 64, in: columns.upperBound) {
                let open = ~(person[index, y] | room[index, y]) & BitRow.word(index, of: columns)
                open.forEachBit { body(index &* 64 &+ $0) }
            }
        }
    }

    /// - Parameters:
    ///   - distance: metres, of what is in front of the cutoff.
    ///   - subject: whose the samples in front of the cutoff are; nil where all are the person's.
    ///   - faces: in video pixels.
    /// - Returns: the classes of all samples, valid until the next call.
    mutating func classify(
        distance: Double, subject: Subject.Result?, faces: [Rectangle<Double>], _ context: FusionContext
    ) -> Sets {
        let (field, grid, loops) = (context.field, context.grid, context.loops)
        let sets = Sets(&memory, field, isDivided: subject != nil)
        if let subject {
            sets.far.fill { field.far[$0] | subject.others[$0] }
            sets.near.fill { subject.person[$0] & ~sets.far[$0] }
            sets.hole.fill { ~(sets.near[$0] | sets.far[$0]) }
            sets.hole.trim()
        }
        setBandApart(field, sets)
        markHeads(faces, on: grid, sets.head)
        findWideHoles(sets, on: grid, loops)
        findPerson(sets, on: grid, loops)
        if let subject {
            // Colors of neighbours that the evidence takes for the room's may be the person's too: skin before skin.
            let atOthers = sets.spare.0
            dilation.dilateFar(subject.others, radius: grid.samples(Classes.besideOthers), into: atOthers, loops)
            sets.doubtful.fill { sets.doubtful[$0] | sets.measuredNear[$0] & atOthers[$0] }
        }
        findRoom(sets, field, samplesPerMetre: grid.samplesPerMetre(at: distance), loops)
        let edge = grid.wholeSamples(Classes.edge)
        field.band.forEachLine(width: grid.width, height: grid.height) { into, count, place in
            Classes.open(sets.room, near: sets.near, by: edge + into, count, place)
        }
        return sets
    }

    /// Finds the samples that are continued over a band.
    private func setBandApart(_ field: DepthField, _ sets: Sets) {
        sets.band.removeAll()
        guard !field.band.isEmpty else { return }
        field.band.forEachLine(width: field.grid.width, height: field.grid.height) { _, count, place in
            for index in 0..<count {
                let (x, y) = place(index)
                sets.band.bits(y).insert(x..<(x &+ 1))
            }
        }
        sets.measuredNear.fill { sets.near[$0] & ~sets.band[$0] }
        sets.measuredFar.fill { sets.far[$0] & ~sets.band[$0] }
    }

    /// Finds the samples of wide holes, and those about them.
    private mutating func findWideHoles(_ sets: Sets, on grid: WorkGrid, _ loops: Loops) {
        let (inside, dotted, _, _) = sets.spare
        findInsides(sets, into: inside)
        dilation.dilate(
            inside, radii: [1.5, Double(grid.wholeSamples(Classes.edgeAtHole) + 1)], into: [dotted, sets.atHole], loops)
        sets.wide.fill { dotted[$0] & sets.hole[$0] }
    }

    /// Finds the person's samples, certain and doubtful, by how far they are from room and holes.
    private mutating func findPerson(_ sets: Sets, on grid: WorkGrid, _ loops: Loops) {
        let (atRoom, nearRoom, _, _) = sets.spare
        let edge = Double(grid.wholeSamples(Classes.edge))
        dilation.dilate(
            sets.far, radii: [edge, Classes.doubt * edge, grid.samples(Classes.gap)],
            into: [atRoom, nearRoom, sets.aboutRoom], loops)
        sets.body.fill { sets.measuredNear[$0] & ~(atRoom[$0] | sets.atHole[$0]) }
        sets.doubtful.fill { sets.body[$0] & nearRoom[$0] }
        sets.dots.fill { sets.hole[$0] & ~(sets.wide[$0] | sets.head[$0]) }
        sets.person.fill { (sets.body[$0] | sets.dots[$0] & ~sets.atHole[$0]) & ~nearRoom[$0] }
    }

    /// Finds the samples of the room: by how far they are from the person, and of holes those beyond the person's reach.
    private mutating func findRoom(_ sets: Sets, _ field: DepthField, samplesPerMetre: Double, _ loops: Loops) {
        let (atPerson, reachedEndless, reached, reachedMeasured) = sets.spare
        let grid = field.grid
        let reach = Classes.reach * samplesPerMetre
        dilation.dilate(
            sets.near,
            radii: [Double(grid.wholeSamples(Classes.edge)), max(3, Classes.reachEndless * samplesPerMetre)],
            into: [atPerson, reachedEndless], loops)
        dilation.dilateFar(sets.near, radius: reach, into: reached, loops)
        if field.band.isEmpty {
            findEndless(notReached: reached, sets)
        } else {
            dilation.dilate(sets.measuredFar, radii: [grid.samples(Classes.gap)], into: [sets.aboutRoom], loops)
            dilation.dilateFar(sets.measuredNear, radius: reach, into: reachedMeasured, loops)
            findEndless(notReached: reachedMeasured, sets)
        }
        if reach < 2 { dilation.dilate(sets.near, radii: [2], into: [reached], loops) }
        sets.room.fill { index in
            let endless = sets.endless[index] & ~sets.head[index]
            let isReached = endless & reachedEndless[index] | ~endless & reached[index]
            let isFar = (sets.far[index] | sets.dots[index]) & ~atPerson[index]
            return isFar | sets.hole[index] & ~isReached
        }
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
            let box = grid.edges(face)
            let (width, height) = (box.right - box.left, box.bottom - box.top)
            guard width > 0, height > 0 else { continue }
            let (middleX, middleY) = (box.left + 0.5 * width, box.top + 0.35 * height)
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
        for y in 0..<inside.height {
            let (above, below) = (max(y &- 1, 0), min(y &+ 1, inside.height &- 1))
            func measured(_ index: Int) -> UInt64 {
                guard index >= 0, index < inside.stride else { return 0 }
                return sets.near[index, above] | sets.far[index, above] | sets.near[index, y] | sets.far[index, y]
                    | sets.near[index, below] | sets.far[index, below]
            }
            var (before, word) = (UInt64(0), measured(0))
            for index in 0..<inside.stride {
                let next = measured(index &+ 1)
                inside[index, y] = ~(word | word &<< 1 | before &>> 63 | word &>> 1 | next &<< 63)
                (before, word) = (word, next)
            }
        }
        inside.trim()
    }

    /// Marks the endless parts of wide holes and bands: components away from measured room that extend beyond the person's reach.
    private mutating func findEndless(notReached reached: SampleSet, _ sets: Sets) {
        let loose = sets.endless
        loose.fill { (sets.wide[$0] | sets.band[$0]) & ~sets.aboutRoom[$0] }
        parts.find(in: loose) { y, columns in
            reached.bits(y).firstMissing(from: columns.lowerBound, to: columns.upperBound) < columns.upperBound
        }
        sets.endless.removeAll()
        parts.forEachRun { y, columns, part in
            if part.hasSeed { sets.endless.bits(y).insert(columns) }
        }
    }
}
