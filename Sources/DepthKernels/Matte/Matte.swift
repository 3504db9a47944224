/// The matte: computes one byte of alpha for each video pixel from a depth map.
///
/// Each frame's map is read (`DepthField`), heads are looked for and followed in it (`HeadTracker`), an anchor sets the cutoff
/// (`Anchor`), and one of two methods decides what is the person: `ThresholdMatte` or `Fusion`.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class Matte {
    private var reader = DepthFieldReader()
    private var heads = HeadTracker()
    private var anchor = Anchor()
    private var threshold = ThresholdMatte()
    private var fusion = Fusion()
    private var clear = ClearMatte()
    /// The last frame's alpha; nil before the first frame.
    private var last: FinishedMatte?

    /// The time of the last frame.
    private var lastTime: Int64?
    private let loops: Loops
    private let bands = MatteBands(leastPixels: Matte.leastPixels)

    package private(set) var report = Report()

    /// Figures of the last frame.
    package struct Report: Equatable, Sendable {
        /// Metres; 0 without a cutoff.
        package var cutoff = 0.0
        /// Metres; 0 without an anchor.
        package var anchorDistance = 0.0
        /// The face or head that set the cutoff, in video pixels.
        package var face: Rectangle<Double>?
        /// The head that is followed, if the depth map shows it or what hides it.
        package var head: Head?
        /// False before a face, head or thing set the anchor, and while the person who did has left.
        package var isPresent = false
        /// Mean opacity, 0…1, after smoothing and gamma.
        package var coverage = 0.0
        /// The resolution of a fused matte; nil for other methods.
        package var detail: MatteDetail?
        /// The share of the depth samples, 0…1, that were not measured.
        package var unmeasured = 0.0
        /// The room that is remembered.
        package var room = RoomReport()
        /// By how much the map is late, and how far beside the video; nothing is known where that is not measured.
        package var sync = SyncReport()
        /// True where a capture of the room ended because somebody is there.
        package var isCaptureRefused = false

        package init() {}
    }

    package init(loops: Loops = bestLoops) { self.loops = loops }

    /// Renders one frame. Every number in `settings` is allowed, NaN included: numbers are clamped to their ranges
    /// first.
    ///
    /// - Returns: false where all is background because the requested anchor was never seen.
    @discardableResult
    package func render(_ frame: MatteFrame, _ settings: MatteSettings) -> Bool {
        var frame = frame
        frame.elapsed = lastTime.flatMap { last in frame.time.map { Double($0 &- last) / 1e9 } }
        lastTime = frame.time
        let settings = settings.clamped
        let placement = settings.depth.placement(
            depthWidth: frame.depth.width, depthHeight: frame.depth.height, videoWidth: frame.width,
            videoHeight: frame.height)
        report = Report()
        // Where the person was is known in pixels of the video.
        if let last, (last.width, last.height) != (frame.width, frame.height) {
            heads.reset()
            fusion.reset()
        }
        let field = read(frame.depth, placement, settings)
        report.unmeasured = field.unmeasured
        if field.cells.width > 0 { heads.advance(to: field, bands) } else { heads.reset() }
        (frame.shownHeads, frame.isHeadChosen) = (heads.heads, heads.isChosen)
        captureRoom(frame, field, settings)
        let cutoff = findCutoff(of: frame, field, placement, settings)
        var matte: FinishedMatte?
        if let cutoff, settings.showsAnything(cutoff: cutoff) {
            matte = decide(frame, field, placement, cutoff: cutoff, settings)
        }
        // A fused frame continues the frame before; after a frame of another method it starts afresh.
        if matte?.followsVideo != true { fusion.reset() }
        last = matte ?? clear.matte(width: frame.width, height: frame.height, bands)
        report.room = fusion.room.report
        if isFused(settings), frame.depthTime != nil { report.sync = fusion.syncReport }
        return cutoff != nil
    }

    /// Adds a frame to the memory of the room, if it is asked to be remembered, or a picture; refuses a frame with somebody in it.
    private func captureRoom(_ frame: MatteFrame, _ field: DepthField, _ settings: MatteSettings) {
        let isWanted = settings.room != .off && isFused(settings)
        let context = FusionContext(field: field, settings: settings, bands: bands, loops: loops)
        if isWanted, frame.room != nil, !fusion.room.isCapturing { fusion.takeRoom(frame, context) }
        guard fusion.room.isCapturing else { return }
        var head = 0.0
        for found in frame.heads where isWanted && !RoomMemory.isPartOfRoom(found, in: field) {
            head = max(head, found.logOdds)
        }
        let isEmpty = isWanted && frame.anchors.isEmpty && fusion.mayCaptureRoom(head: head)
        report.isCaptureRefused = !fusion.captureRoom(frame, isEmpty: isEmpty, context)
    }

    /// Looks for the anchor.
    ///
    /// - Returns: metres; nil where the requested anchor was never seen.
    private func findCutoff(
        of frame: MatteFrame, _ field: DepthField, _ placement: DepthPlacement, _ settings: MatteSettings
    ) -> Double? {
        guard let cutoff = anchor.cutoff(of: frame, field, settings) else { return nil }
        if let face = anchor.face, !frame.anchors.isEmpty {
            heads.follow(face.box, distance: face.distance, placement)
        }
        report.cutoff = cutoff
        report.anchorDistance = anchor.distance ?? 0
        report.face = anchor.face?.detected ?? anchor.face?.box
        report.head = heads.heads.first { $0.isFollowed }
        report.isPresent = anchor.distance != nil
        return cutoff
    }

    /// Decides what is the person.
    ///
    /// - Returns: nil where that is nobody.
    private func decide(
        _ frame: MatteFrame, _ field: DepthField, _ placement: DepthPlacement, cutoff: Double, _ settings: MatteSettings
    ) -> FinishedMatte? {
        if isFused(settings) {
            let matte = fusion.render(frame, field, anchor, cutoff: cutoff, settings, bands, loops)
            report.isPresent = report.isPresent && !fusion.isDeserted
            if matte != nil || fusion.isDeserted {
                (report.cutoff, report.coverage) = (fusion.cutoff, fusion.coverage)
                report.detail = settings.detail == .half ? .half : .full
                return matte
            }
        }
        let matte = threshold.render(frame.depth, placement, cutoff: cutoff, settings, bands, loops)
        report.coverage = threshold.coverage
        return matte
    }

    private func isFused(_ settings: MatteSettings) -> Bool { settings.method == .fusion && settings.mask == .cutoff }

    /// Reads what the stages need of the depth map: the fusion all of it, heads every second row.
    private func read(_ depth: DepthImage, _ placement: DepthPlacement, _ settings: MatteSettings) -> DepthField {
        let isFused = isFused(settings)
        let searches =
            settings.keepsWholeObject || fusion.room.isCapturing && !settings.depth.scale.kind.isRelative
            || settings.anchor.searchesHeads && settings.mask == .cutoff && !settings.depth.scale.kind.isRelative
        let grid = WorkGrid(
            placement, longest: (isFused ? settings.detail : .full).longest, settings.depth)
        return reader.read(
            depth, settings.depth, on: grid, isWhole: isFused, hasCells: searches, loops)
    }

    /// Remembers the room that the next frames show; `Report.isCaptureRefused` says where somebody is in it.
    package func captureRoom() { fusion.captureRoom() }

    /// Forgets the room. `reset` keeps it. It is also forgotten when the size or format changes, at a new capture, and when it no
    /// longer matches what is seen.
    package func forgetRoom() { fusion.forgetRoom() }

    /// Forgets earlier frames, as after a flush: the next frame does not continue them.
    package func reset() {
        lastTime = nil
        heads.reset()
        anchor.reset()
        fusion.reset()
        fusion.forgetSync()
        last = nil
    }

    /// Forgets earlier frames, but not the anchor: the next frame begins another segment of the stream.
    package func forgetPast() {
        fusion.forgetPast()
        fusion.forgetSync()
    }

    /// Forgets what was measured of lag and offset: other maps belong to the frames from now on.
    package func forgetSync() { fusion.forgetSync() }

    /// The intermediate results of the last frame's fused matte; nil for other methods.
    package var stages: MatteStages? { last?.followsVideo == true ? fusion.stages : nil }

    /// The heads that the last frame's depth map showed, in video pixels, the followed one first.
    package var lastHeads: [Head] { heads.heads.filter(\.isKnown) }

    /// The last frame's alpha, valid until the next call; all 0 before the first frame.
    package var finished: FinishedMatte {
        last ?? clear.matte(width: 1, height: 1, bands)
    }

    // MARK: Threads

    /// The number of threads that pictures of so many pixels can occupy.
    package static func usefulThreads(pixels: Int) -> Int { max(pixels / leastPixels, 1) }

    /// The smallest band of rows, in pixels: it takes about as long as a thread takes to wake.
    private static let leastPixels = 1 << 16

    /// The threads that share large frames; nil for the calling thread alone. The result does not depend on them.
    package var pool: (any WorkerPool)? {
        get { bands.pool }
        set { bands.pool = newValue }
    }
}
