import CGStreamer
import DepthKernels
import GstBridge

/// Turns a depth buffer into the matte of one video frame: anchor, threshold, smooth, scale.
///
/// Streaming thread only.
final class MatteMaker {
    private var anchor = AnchorTracker()
    /// Who set the anchor last: what one has measured means nothing to another.
    private var anchoredBy = AnchorMode.auto
    private let renderer = MatteRenderer()
    private var workers = Workers()
    /// What the matte that the renderer holds was made for; nil where it is of no further use.
    private var made: Made?

    /// What a matte was made for, and by what.
    private struct Made {
        /// Of the video frame.
        let number: UInt64
        let time: RunningTime?
        let depthTime: RunningTime?
        let settings: DepthMatteSettings
    }

    /// What the last matte was, for those who watch.
    struct Report {
        /// Metres; 0 while there is none.
        var cutoff = 0.0
        var anchorDepth = 0.0
        /// The face that set the cutoff in this frame, in video pixels.
        var face: Box?
        /// Mean of the matte, 0…1.
        var coverage = 0.0
        /// Share of the depth samples that were not measured, 0…1.
        var invalidShare = 0.0
    }

    private(set) var report = Report()
    /// The face that was measured last, if it was in this frame.
    private var face: Box?

    /// What one matte is made from.
    struct Scene {
        let depth: BufferPointer
        let depthTime: RunningTime?
        let format: DepthFormat
        /// In video pixels.
        let faces: [Box]
        let videoWidth: Int
        let videoHeight: Int
        let time: RunningTime?
        /// Of the video frame.
        let number: UInt64
    }

    /// Makes the matte.
    ///
    /// - Returns: the matte, valid until the next call; nil where everything is background because the anchor that was
    ///   asked for was never seen.
    func matte(_ scene: Scene, _ settings: DepthMatteSettings) throws(FrameFault) -> MatteRenderer? {
        let placement = settings.depth.placement(
            depthWidth: scene.format.layout.width, depthHeight: scene.format.layout.height,
            videoWidth: scene.videoWidth, videoHeight: scene.videoHeight)
        made = nil
        return try withFrame(reading: scene.depth, scene.format.layout) { planes -> MatteRenderer? in
            guard let plane = planes[0],
                let image = DepthImage(
                    plane: plane, width: placement.depthWidth, height: placement.depthHeight,
                    encoding: scene.format.encoding)
            else { return nil }
            let map = DepthMap(image: image, scale: settings.depth.scale, placement: placement)
            report = Report()
            face = nil
            // At last, when the matte's work has brought the map into the cache.
            defer { report.invalidShare = unmeasuredShare(of: image, scale: settings.depth.scale) }
            guard let cutoff = cutoff(map, scene, settings) else { return nil }
            var matte = settings.matte
            matte.cutoff = cutoff
            let pixels = max(scene.videoWidth * scene.videoHeight, image.width * image.height)
            renderer.crew = workers.crew(
                of: settings.maxThreads, mostByDefault: MatteMaker.mostThreads,
                useful: MatteRenderer.usefulThreads(pixels: pixels))
            renderer.prepare(
                depth: image, scale: settings.depth.scale, placement: placement, videoWidth: scene.videoWidth,
                videoHeight: scene.videoHeight, settings: matte)
            made = Made(
                number: scene.number, time: scene.time, depthTime: scene.depthTime, settings: settings)
            report.cutoff = cutoff
            report.face = face
            report.anchorDepth = anchor.distance ?? 0
            report.coverage = renderer.coverage
            return renderer
        }
    }

    /// A matte that was made for another frame.
    struct Earlier {
        let matte: MatteRenderer
        /// Nanoseconds by which its depth is later than the frame that it is to serve; 0 where either has no time.
        let skew: RunningTime
    }

    /// The matte of the frame before that moment, where it may serve this one too: made by the same settings, and for a
    /// time from which depth would count as made for this frame.
    func matteBefore(_ moment: Moment, _ settings: DepthMatteSettings) -> Earlier? {
        guard let made, made.number &+ 1 == moment.number, made.settings.makesSameMatte(as: settings) else {
            return nil
        }
        guard let time = moment.time, let madeFor = made.time else {
            return moment.time == nil && made.time == nil ? Earlier(matte: renderer, skew: 0) : nil
        }
        guard distance(madeFor, time) <= settings.maxSkew else { return nil }
        return Earlier(matte: renderer, skew: made.depthTime.map { $0 &- time } ?? 0)
    }

    /// What comes next does not continue what came: it is of another stream, or lies or means otherwise.
    func forgetMatte() { made = nil }

    /// Forgets every anchor and matte, and lets the threads go.
    func reset() {
        made = nil
        anchor = AnchorTracker()
        report = Report()
        renderer.crew = nil
        workers = Workers()
    }

    /// More would do no more by themselves: they wait for memory.
    private static let mostThreads = 16

    // MARK: Anchor

    /// A depth image, what its counts mean and where it lies on the video.
    private struct DepthMap {
        let image: DepthImage
        let scale: DepthScale
        let placement: DepthPlacement
    }

    /// Metres beyond which all is background; nil where the anchor asked for was never seen. A mask about a focus has
    /// no cutoff, and needs no anchor.
    private func cutoff(_ map: DepthMap, _ scene: Scene, _ settings: DepthMatteSettings) -> Double? {
        if settings.matte.mask != .cutoff { return 0 }
        let mode = settings.anchor == .face ? AnchorMode.auto : settings.anchor
        if mode != anchoredBy {
            anchor = AnchorTracker()
            anchoredBy = mode
        }
        if mode == .fixed { return settings.matte.cutoff }
        anchor.follow(measure(map, scene, settings), at: scene.time, timeConstant: settings.anchorSmoothing)
        if let distance = anchor.distance { return distance + settings.margin }
        return settings.anchor == .auto ? settings.matte.cutoff : nil
    }

    /// The anchor's distance in this frame, in metres; nil where it is not to be seen.
    private func measure(_ map: DepthMap, _ scene: Scene, _ settings: DepthMatteSettings) -> Double? {
        switch settings.anchor {
        case .auto, .face:
            faceDistance(map, scene.faces, settings.faceSelect)
        case .nearest: nearestSubjectDepth(in: map.image, scale: map.scale)
        case .point:
            pointDepth(
                in: map.image, scale: map.scale, placement: map.placement, x: settings.anchorX, y: settings.anchorY)
        case .fixed: nil
        }
    }

    private func faceDistance(_ map: DepthMap, _ boxes: [Box], _ select: FaceSelect) -> Double? {
        let chosen = chosenFace(map, boxes, select)
        face = chosen?.box
        return chosen?.distance
    }

    /// The face that sets the cutoff, of those that lie wholly in the frame over something measured.
    private func chosenFace(_ map: DepthMap, _ boxes: [Box], _ select: FaceSelect) -> MeasuredFace? {
        var chosen: MeasuredFace?
        for box in boxes {
            guard let distance = faceDepth(in: map.image, scale: map.scale, placement: map.placement, box: box) else {
                continue
            }
            let face = MeasuredFace(box: box, distance: distance)
            if chosen.map({ select.prefers(face, to: $0) }) ?? true { chosen = face }
        }
        return chosen
    }
}
