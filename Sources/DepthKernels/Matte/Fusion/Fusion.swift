/// The matte with the video's own edges: depth classifies most samples, color decides the others, and a linear model of
/// the video's colors gives the alpha of each pixel.
///
/// Decides by log odds (0: undecided, above 0: person): T = L + H, where L is the evidence of the colors, to which further
/// terms such as the segmentation are added, and H is the prior (`Expectation`). Without a person in the depth map the
/// matte is empty; samples without any evidence are room.
///
/// The stages are files of their own with formula, source and state. Their numbers, in the order of `render`: 0 grid and
/// colors, 1 classes, 2 evidence, 3 prior, 4 time, 5 drawing. Source: the project's own method, with the sources that
/// each stage names; `Tests/quality/quality_matte.py` is its reference.
struct Fusion: ~Copyable {
    private var colors = SampleColors()
    private var subject = Subject()
    private var classes = Classes()
    private var evidence = ColorEvidence()
    private var segmentation = SegmentationEvidence()
    private var expectation = Expectation()
    private var connection = Connection()
    private var settle = Settle()
    private var logOdds = LogOdds()
    private var model = GuidedFilter()
    private var drawing = Drawing()
    /// Survives a reset: a flush does not change the room.
    private(set) var room = RoomMemory()
    /// Survives a reset: who leaves does not change the camera.
    private var sync = SyncEstimate()
    private var lastGrid: WorkGrid?
    private var last: (sets: Classes.Sets, result: LogOdds.Result)?
    /// The last faces, in video pixels, and their age in seconds.
    private var faces: [Rectangle<Double>] = []
    private var facesAge = 0.0
    /// True for faces of a detector, false for heads that the depth map shows.
    private var areDetected = false
    /// Metres behind which nothing of the last frame was kept.
    private(set) var cutoff = 0.0
    /// Mean probability of the last frame, 0…1.
    private(set) var coverage = 0.0
    /// True where the person of an earlier frame has left, so that the last frame shows nobody.
    private(set) var isDeserted = false

    /// Seconds after which a frame no longer continues the one before.
    private static let longestGap = 1.0
    /// Seconds for which a face counts that was not detected again: many detectors run on every third frame only.
    private static let longestFace = 0.5
    /// Seconds assumed between frames without time stamps.
    static let usualInterval = 1 / 30.0
    /// The largest weight of the last frame: with 1, errors of the first frame would never decay.
    private static let mostSettled = 0.95

    /// Computes the alpha of a frame.
    ///
    /// - Parameters:
    ///   - anchor: of the frame.
    ///   - cutoff: metres.
    ///   - settings: clamped.
    /// - Returns: nil where the video's colors are not known, and where nobody is there (`isDeserted`).
    mutating func render(
        _ frame: MatteFrame, _ field: DepthField, _ anchor: Anchor, cutoff: Double, _ settings: MatteSettings,
        _ bands: MatteBands, _ loops: Loops
    ) -> FinishedMatte? {
        isDeserted = false
        guard let video = frame.video, let guide = Guide(video, width: frame.width, height: frame.height) else {
            return nil
        }
        let context = FusionContext(field: field, settings: settings, bands: bands, loops: loops)
        let grid = field.grid
        let isContinued = frame.elapsed.map { $0 >= 0 && $0 <= Fusion.longestGap } ?? true
        let isSamePlace = lastGrid.map(grid.continues) ?? false
        if !isSamePlace || !isContinued { forgetPast() }
        lastGrid = grid
        rememberFaces(of: frame)

        let object = settings.keepsWholeObject ? anchor.object : nil
        let searched = object.map { max(cutoff, $0.distance + Subject.armLength + settings.anchor.margin) } ?? cutoff
        field.split(nearest: settings.near, cutoff: searched, loops)
        if settings.room == .off { room.end() }
        let memory = settings.room == .off ? nil : RoomMemory.Key(field, guide)
        if let memory { room.turn(to: memory) }
        let surfaces = memory.flatMap { room.separate(field, $0) }
        let colors = unsafe settle.nextColors(on: grid)
        // Beside the stages that need depth alone.
        unsafe self.colors.begin(guide, into: colors, context)
        let finding = unsafe subject.find(frame, anchor, colors, cutoff: searched, context)
        bands.finish()
        if let time = frame.time, let depthTime = frame.depthTime {
            unsafe sync.advance(
                colors, field, cutoff: cutoff, settings: settings, time: time, depthTime: depthTime, loops)
        }
        if let surfaces { RoomMemory.moveBehind(field, surfaces, finding) }
        let subject: Subject.Result?
        switch finding {
        case .everything: subject = nil
        case .person(let result): subject = result
        case .nobody:
            if let memory {
                unsafe room.compare(colors, field, memory, distance: cutoff, context)
                unsafe room.learn(colors, room: nil, settings.room, memory, loops)
            }
            (isDeserted, self.cutoff, coverage) = (true, cutoff, 0)
            return nil
        }
        self.cutoff = subject?.cutoff ?? cutoff
        let distance =
            if let subject { subject.distance } else { field.meanDistance }
        let sets = classes.classify(distance: distance ?? cutoff, subject: subject, faces: faces, context)
        unsafe evidence.sum(colors, of: sets, context)
        if !settle.measureNoise(on: grid) { logOdds.reset() }
        let evidence = unsafe evidence.evidence(colors, sets, last: logOdds.past(on: grid), context)
        if let memory {
            unsafe room.compare(colors, field, memory, distance: distance ?? cutoff, context)
            unsafe room.decide(evidence, colors, sets, memory, person: self.evidence.personColors, context)
        }
        if let picture = frame.segmentation, settings.segmentationWeight > 0 {
            unsafe segmentation.add(
                picture, weight: Float(settings.segmentationWeight), to: evidence, sets, context)
        }
        let prior = unsafe expectation.prior(sets, field, distance: distance ?? cutoff)
        // The last: it sets the sum of the evidence and the prior.
        unsafe connection.correct(evidence, sets, prior, knowsFace: !faces.isEmpty, on: grid)
        let change = settle.findChange(settle: Float(min(settings.settle, Fusion.mostSettled)), on: grid)
        let result = unsafe logOdds.update(evidence, sets, prior: prior, change: change, context)
        if let memory { unsafe room.learn(colors, room: result.room, settings.room, memory, loops) }
        coverage = result.mean
        last = (sets, result)

        let cells = model.cells(of: grid)
        let plan = drawing.plan(guide, result, cells: cells, context)
        let fitted =
            unsafe plan.isEmpty
            ? nil : model.fit(colors, result.matte, for: plan.columns, guide.map, context)
        let alpha = unsafe drawing.draw(plan, guide, model: fitted, noise: settle.noise, context)
        return FinishedMatte(alpha: alpha.readOnly, covers: drawing.covers, followsVideo: true, bands: bands)
    }

    // MARK: The room

    /// The next frames show the empty room (`RoomMemory`).
    mutating func captureRoom() { room.beginCapture() }

    mutating func forgetRoom() { room.forget() }

    /// - Parameter head: the log odds of the likeliest head that a frame of a capture shows; 0 for none.
    mutating func mayCaptureRoom(head: Double) -> Bool { room.mayCapture(head: head) }

    /// Takes a frame of the empty room, where a capture has begun.
    ///
    /// - Parameter isEmpty: false where somebody is seen, which ends the capture.
    /// - Returns: false where it ended without a room.
    mutating func captureRoom(_ frame: MatteFrame, isEmpty: Bool, _ context: FusionContext) -> Bool {
        if isEmpty, remember(frame.video, frame, context) { return true }
        room.endCapture()
        return false
    }

    /// Takes a frame's picture of the empty room.
    mutating func takeRoom(_ frame: MatteFrame, _ context: FusionContext) {
        room.forget()
        _ = remember(frame.room, frame, context)
    }

    /// - Returns: false where the picture's colors are not known.
    private mutating func remember(
        _ picture: VideoPicture?, _ frame: MatteFrame, _ context: FusionContext
    ) -> Bool {
        guard let picture, let guide = Guide(picture, width: frame.width, height: frame.height) else { return false }
        let colors = unsafe settle.nextColors(on: context.grid)
        unsafe self.colors.begin(guide, into: colors, context)
        context.bands.finish()
        let key = RoomMemory.Key(context.field, guide)
        if room.isCapturing {
            unsafe room.capture(key, colors, context.field)
        } else {
            unsafe room.take(key, colors)
        }
        settle.giveBackColors()
        return true
    }

    // MARK: Sync

    var syncReport: SyncReport { sync.report }

    mutating func forgetSync() { sync.reset() }

    /// The intermediate results of the last frame; nil before the first one.
    var stages: MatteStages? {
        guard let (sets, result) = last, let grid = lastGrid else { return nil }
        var stages = MatteStages(width: grid.width, height: grid.height)
        for y in 0..<grid.height {
            for x in 0..<grid.width {
                let isPerson = sets.person.bits(y).contains(x)
                stages.classes.append(isPerson ? .person : sets.room.bits(y).contains(x) ? .room : .open)
                unsafe stages.logOdds.append(result.logOdds[y &* grid.width &+ x])
                unsafe stages.probabilities.append(result.matte[y &* grid.width &+ x])
            }
        }
        return stages
    }

    private mutating func rememberFaces(of frame: MatteFrame) {
        facesAge += frame.elapsed.map { abs($0) } ?? Fusion.usualInterval
        guard !frame.faces.isEmpty || facesAge > Fusion.longestFace || !areDetected else { return }
        areDetected = !frame.faces.isEmpty
        faces.removeAll(keepingCapacity: true)
        for face in frame.faces { faces.append(frame.head(at: face)?.box ?? face) }
        if !areDetected { faces.append(contentsOf: frame.heads.lazy.map(\.box)) }
        facesAge = 0
    }

    /// Forgets the person too: the next frame may show anyone.
    mutating func reset() {
        forgetPast()
        subject.reset()
        faces.removeAll(keepingCapacity: true)
    }

    /// Forgets the past: the next frame does not continue it, though it may show the same person.
    mutating func forgetPast() {
        last = nil
        subject.forgetSamples()
        expectation.reset()
        settle.reset()
        logOdds.reset()
        drawing.reset()
    }
}

/// Intermediate results of a fused matte, for the samples of its grid, row by row.
package struct MatteStages {
    /// The class of a sample by its depth.
    package enum SampleClass: UInt8, Sendable {
        case room, open, person
    }

    package let width: Int
    package let height: Int
    package fileprivate(set) var classes: [SampleClass] = []
    /// T, the sum of the evidence as log odds, blended with that of the last frame.
    package fileprivate(set) var logOdds: [Float] = []
    /// P, 0…1.
    package fileprivate(set) var probabilities: [Float] = []
}
