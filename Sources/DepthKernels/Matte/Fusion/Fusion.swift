/// The matte with the video's own edges: depth says where to look, colour says where the edge is, a linear model of the video's
/// colours draws it.
///
/// Evidence is added as log odds T (0: nothing is known, above 0: person), so every stage is one term. Without a person in
/// the depth map the matte is empty; what nothing explains is room. The stages, in the order of `render`, are files of
/// their own with formula, source and state.
struct Fusion: ~Copyable {
    private var colors = SampleColors()
    private var subject = Subject()
    private var classes = Classes()
    private var evidence = ColorEvidence()
    private var expectation = Expectation()
    private var settle = Settle()
    private var model = GuidedFilter()
    private var drawing = Drawing()
    private var logOdds = Scratch<Float>()
    private var matte = Scratch<Float>()
    private var lastGrid: WorkGrid?
    /// Mean probability of the last frame, 0…1.
    private(set) var coverage = 0.0

    /// Seconds after which a frame no longer continues the one before.
    private static let longestGap = 1.0

    /// Makes the alpha of a frame.
    ///
    /// - Parameters:
    ///   - anchored: the face that set the cutoff.
    ///   - cutoff: metres.
    ///   - settings: clamped ones.
    /// - Returns: one byte for every pixel, valid until the next call; nil where the video's colours are not known.
    mutating func render(
        _ frame: MatteFrame, anchored: Anchor.Face?, cutoff: Double, _ placement: DepthPlacement,
        _ settings: MatteSettings, _ bands: MatteBands, _ loops: Loops
    ) -> Plane? {
        guard let video = frame.video, let guide = Guide(video, width: frame.width, height: frame.height) else {
            return nil
        }
        let grid = WorkGrid(placement, longest: settings.detail.longest)
        let isContinued = frame.elapsed.map { $0 >= 0 && $0 <= Fusion.longestGap } ?? true
        if grid != lastGrid || !isContinued { reset() }
        lastGrid = grid

        let colors = unsafe settle.nextColors(on: grid)
        unsafe self.colors.average(guide, on: grid, into: colors, bands, loops)
        let subject = subject.find(frame, anchored: anchored, cutoff: cutoff, placement, settings, on: grid, loops)
        let sets = classes.classify(
            frame.depth, scale: settings.depth.scale, near: settings.near, cutoff: cutoff, subject: subject,
            faces: frame.faces, on: grid, loops)
        let evidence = unsafe evidence.evidence(colors, sets, last: settle.past(on: grid), on: grid, bands, loops)
        let logOdds = unsafe logOdds.reserve(grid.count, filler: 0)
        unsafe expectation.add(evidence, sets, on: grid, into: logOdds)
        let keep = unsafe settle.settle(logOdds, settle: Float(settings.settle), on: grid, loops)
        let matte = unsafe matte.reserve(grid.count, filler: 0)
        unsafe loops.probability(logOdds, count: grid.count, into: matte)
        coverage = unsafe Fusion.mean(of: matte, count: grid.count)
        let model = unsafe model.fit(colors, matte, on: grid, loops)
        unsafe guide.map.pullBack(model, count: self.model.width * self.model.height)
        return unsafe drawing.draw(
            guide, model: model, cells: (self.model.width, self.model.height), matte: matte, keep: keep, on: grid,
            bands, loops
        ).readOnly
    }

    private static func mean(of numbers: UnsafePointer<Float>, count: Int) -> Double {
        let blocks = count / blockWidth
        var sum = Lanes(repeating: 0)
        for block in 0..<blocks { unsafe sum += loadLanes(numbers + block &* blockWidth) }
        var total = Double(sum.sum())
        for index in (blocks &* blockWidth)..<count { unsafe total += Double(numbers[index]) }
        return total / Double(count)
    }

    /// Forgets the past: the next frame does not continue it.
    mutating func reset() {
        subject.reset()
        expectation.reset()
        settle.reset()
        drawing.reset()
    }
}

/// How fine the grid is that a fused matte is worked out on.
package enum MatteDetail: Int, Sendable, CaseIterable {
    /// The depth map as measured, up to 768 samples.
    case full
    /// At most 320 samples: half the time.
    case half

    /// Samples of the longer side, at most.
    var longest: Int {
        switch self {
        case .full: 768
        case .half: 320
        }
    }

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .full: "The depth map as measured, up to 768 samples wide"
        case .half: "320 samples at most: less time, softer detail"
        }
    }
}

/// The way a matte is made.
package enum MatteMethod: Int, Sendable, CaseIterable {
    /// The stages of Apple's sample: depth alone.
    case threshold
    /// Depth and colour together.
    case fusion

    /// The meaning of the choice, for users.
    package var blurb: String {
        switch self {
        case .threshold: "Depth alone: a threshold, softened, as in Apple's sample"
        case .fusion: "Depth says where to look, the video's colours where the edge is"
        }
    }
}
