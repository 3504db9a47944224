/// The stage that finds the person's distance and, from it, the cutoff.
///
///     cutoff = anchor + margin
///     anchor += (measured − anchor) · (1 − exp(−Δt / τ))
///
/// The low-pass is one of time, not of frames, so that the frame rate does not change how it looks. The state is the
/// anchor's distance and the time since its last measurement, and what was measured last: among several faces or things
/// the one that was followed is preferred, so that two that are much alike do not take turns.
///
/// Source: step 1 of Apple's sample, which reads the depth at the face's centre and adds 0.25 m. The median of a region
/// and the low-pass are additions.
struct Anchor {
    /// A face that was measured in the last frame.
    struct Face {
        let box: Rectangle<Double>
        /// Metres.
        let distance: Double
    }

    /// Metres; nil while nothing was ever measured.
    private(set) var distance: Double?
    /// The face that set the cutoff in the last frame.
    private(set) var face: Face?
    /// The last face that set the cutoff, which later frames may lack.
    private var followedFace: Face?
    /// What the mode `nearest` measured last, in metres.
    private var followedSubject: Double?
    /// Seconds since the last measurement; nil where that is not known.
    private var sinceMeasured: Double?
    /// The mode of the last frame: a distance measured in one mode means nothing to another.
    private var mode = AnchorMode.auto

    /// The distance beyond which all is background, in metres.
    ///
    /// - Returns: nil where the anchor that was asked for was never seen. 0 for a mask about a focus, which has no cutoff.
    mutating func cutoff(of frame: MatteFrame, _ placement: DepthPlacement, _ settings: MatteSettings) -> Double? {
        face = nil
        sinceMeasured = sinceMeasured.flatMap { since in frame.elapsed.map { since + $0 } }
        if settings.mask != .cutoff { return 0 }
        let mode = settings.anchor.mode == .face ? AnchorMode.auto : settings.anchor.mode
        if mode != self.mode {
            self = Anchor()
            self.mode = mode
        }
        if mode == .fixed { return settings.cutoff }
        if let measured = measure(frame, placement, settings) {
            follow(measured, timeConstant: settings.anchor.smoothing)
        }
        if let distance { return distance + settings.anchor.margin }
        return settings.anchor.mode == .auto ? settings.cutoff : nil
    }

    /// Forgets the time of the last measurement: the next one counts at once. The distance stays, as the person does.
    mutating func reset() {
        sinceMeasured = nil
        followedFace = nil
        followedSubject = nil
    }

    // MARK: Measuring

    private mutating func measure(
        _ frame: MatteFrame, _ placement: DepthPlacement, _ settings: MatteSettings
    ) -> Double? {
        let (depth, scale, anchor) = (frame.depth, settings.depth.scale, settings.anchor)
        switch anchor.mode {
        case .auto, .face:
            var highest = -Double.infinity
            for box in frame.faces {
                guard let distance = faceDepth(in: depth, scale: scale, placement: placement, box: box) else {
                    continue
                }
                let found = Face(box: box, distance: distance)
                let rank = anchor.faceSelect.rank(of: found, isFollowed: followedFace?.box.isAt(box) ?? false)
                if rank > highest { (face, highest) = (found, rank) }
            }
            followedFace = face ?? followedFace
            return face?.distance
        case .nearest:
            let measured = nearestSubjectDepth(in: depth, scale: scale, followed: followedSubject)
            followedSubject = measured ?? followedSubject
            return measured
        case .point: return pointDepth(in: depth, scale: scale, placement: placement, x: anchor.x, y: anchor.y)
        case .fixed: return nil
        }
    }

    private mutating func follow(_ measured: Double, timeConstant: Double) {
        defer { sinceMeasured = 0 }
        guard let previous = distance, timeConstant > 0, let elapsed = sinceMeasured, elapsed >= 0 else {
            // The first measurement, no smoothing, or no telling how much time has passed: jump.
            distance = measured
            return
        }
        distance = previous + (measured - previous) * (1 - exponential(-elapsed / timeConstant))
    }
}

extension FaceSelect {
    /// The face of the highest rank sets the cutoff; of equals, the one named first.
    ///
    /// - Parameter isFollowed: The face set the last cutoff. Boxes of a detector jitter by a tenth of their sides, and
    ///   distances by their noise: another face must be larger or nearer by more than that.
    fileprivate func rank(of face: Anchor.Face, isFollowed: Bool) -> Double {
        switch self {
        case .largest: face.box.width * face.box.height * (isFollowed ? 1.3 : 1)
        case .nearest: (isFollowed ? 1.05 : 1) / face.distance
        case .first: 0
        case .all: face.distance
        }
    }
}

extension Rectangle<Double> {
    /// Whether the middle of another box lies in this one.
    fileprivate func isAt(_ other: Rectangle<Double>) -> Bool {
        abs(other.x + other.width / 2 - x - width / 2) < width / 2
            && abs(other.y + other.height / 2 - y - height / 2) < height / 2
    }
}
