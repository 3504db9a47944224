/// The stage that finds the person's distance and, from it, the cutoff.
///
///     cutoff = anchor + margin, of relative depth anchor · (1 + margin)
///     anchor += (measured − anchor) · (1 − exp(−Δt / τ))
///
/// The low-pass works in time, not in frames, so that the result does not depend on the frame rate. The state is the
/// anchor's distance, the time since its last measurement, and the face or object that was measured last: among several
/// the one that was followed is preferred, so that the anchor does not flicker between two of similar size or distance.
///
/// Source: step 1 of Apple's sample, which reads the depth at the face's center and adds 0.25 m. The median of a region
/// and the low-pass are additions.
struct Anchor {
    /// A face that was measured in the last frame.
    struct Face {
        let box: Rectangle<Double>
        /// Metres.
        let distance: Double
        /// The detector's box where `box` is that of the head at its place.
        var detected: Rectangle<Double>?
        fileprivate var size: Double { (detected ?? box).width * (detected ?? box).height }
    }

    /// A thing that was measured in the last frame, or in one before.
    struct Object {
        /// Metres.
        let distance: Double
        /// In video pixels; nil for the nearest thing.
        let point: (x: Double, y: Double)?
    }

    /// Metres; nil until the first measurement.
    private(set) var distance: Double?
    /// The face that set the cutoff in the last frame.
    private(set) var face: Face?
    /// The thing that set it, with the modes `nearest` and `point`.
    private(set) var object: Object?
    /// The last face that set the cutoff; kept over frames without a face.
    private var followedFace: Face?
    /// The last distance that the mode `nearest` measured, in metres.
    private var followedSubject: Double?
    /// Seconds since the last measurement; nil where unknown.
    private var sinceMeasured: Double?
    /// The mode of the last frame: a change of mode discards the distance.
    private var mode = AnchorMode.auto

    /// The distance beyond which everything is background, in metres.
    ///
    /// - Returns: nil where the requested anchor was never seen; 0 for a mask about a focus, which has no cutoff.
    mutating func cutoff(of frame: MatteFrame, _ field: DepthField, _ settings: MatteSettings) -> Double? {
        (face, object) = (nil, nil)
        sinceMeasured = sinceMeasured.flatMap { since in frame.elapsed.map { since + $0 } }
        if settings.mask != .cutoff { return 0 }
        let mode = settings.anchor.followsPerson ? AnchorMode.auto : settings.anchor.mode
        if mode != self.mode {
            self = Anchor()
            self.mode = mode
        }
        if mode == .fixed { return settings.cutoff }
        let measured = measure(frame, field, settings.anchor)
        if let measured { follow(measured, timeConstant: settings.anchor.smoothing) }
        if settings.anchor.followsThing, let distance = measured ?? distance {
            let point = (settings.anchor.x * Double(frame.width), settings.anchor.y * Double(frame.height))
            object = Object(distance: distance, point: mode == .point ? point : nil)
        }
        if let distance { return settings.cutoff(behind: distance) }
        return settings.anchor.mode == .auto ? settings.cutoff : nil
    }

    /// Forgets the time of the last measurement, so that the next one takes effect at once. The distance is kept: after
    /// a flush the person is most likely still there.
    mutating func reset() {
        sinceMeasured = nil
        followedFace = nil
        followedSubject = nil
    }

    // MARK: Measuring

    private mutating func measure(_ frame: MatteFrame, _ field: DepthField, _ anchor: AnchorSettings) -> Double? {
        switch anchor.mode {
        case .auto, .face, .head:
            var highest = -Double.infinity
            for box in frame.anchors where anchor.mode != .head {
                guard let found = frame.face(box, in: field) else { continue }
                let rank = anchor.faceSelect.rank(
                    of: found, isFollowed: followedFace?.box.isAt(found.box, within: 0.5) ?? false)
                if rank > highest { (face, highest) = (found, rank) }
            }
            followedFace = face ?? followedFace
            if face == nil { face = head(of: frame, anchor.faceSelect) }
            // Without metres there are neither heads nor a cutoff that suits every map.
            let showsNearest = anchor.mode == .auto && followedFace == nil && field.scale.kind.isRelative
            return showsNearest ? nearest(field) : face?.distance
        case .nearest: return nearest(field)
        case .point:
            return pointDepth(
                in: field.image, scale: field.scale, placement: field.placement, x: anchor.x, y: anchor.y)
        case .fixed: return nil
        }
    }

    private mutating func nearest(_ field: DepthField) -> Double? {
        let measured = nearestSubjectDepth(in: field.image, scale: field.scale, followed: followedSubject)
        followedSubject = measured ?? followedSubject
        return measured
    }

    /// The head that sets the cutoff: the followed one; for `nearest` and `all` the one of highest rank among it and the
    /// sure ones.
    private func head(of frame: MatteFrame, _ select: FaceSelect) -> Face? {
        guard let followed = frame.heads.first, followed.isFollowed else { return nil }
        var best = Face(box: followed.box, distance: followed.distance)
        guard select == .nearest || select == .all else { return best }
        for head in frame.heads where head.isSure {
            let face = Face(box: head.box, distance: head.distance)
            if select.rank(of: face, isFollowed: false) > select.rank(of: best, isFollowed: false) { best = face }
        }
        return best
    }

    private mutating func follow(_ measured: Double, timeConstant: Double) {
        defer { sinceMeasured = 0 }
        guard let previous = distance, timeConstant > 0, let elapsed = sinceMeasured, elapsed >= 0 else {
            // The first measurement, no smoothing, or an unknown time step: no low-pass.
            distance = measured
            return
        }
        distance = previous + (measured - previous) * (1 - exponential(-elapsed / timeConstant))
    }
}

extension FaceSelect {
    /// The face of the highest rank sets the cutoff; of equal ranks, the first in the list.
    ///
    /// - Parameter isFollowed: true for the face that set the last cutoff. Its rank is raised by more than the jitter
    ///   of a detector's boxes (a tenth of their sides) and the noise of the distance.
    fileprivate func rank(of face: Anchor.Face, isFollowed: Bool) -> Double {
        switch self {
        case .largest: face.size * (isFollowed ? 1.3 : 1)
        case .nearest: (isFollowed ? 1.05 : 1) / face.distance
        case .first: 0
        case .all: face.distance
        }
    }
}
