/// The matte: computes one byte of alpha for each video pixel from a depth map.
///
/// The stages of `method=threshold` are those of Apple's sample "Enhancing live video by leveraging TrueDepth camera data",
/// in the order of `render`; those of `method=fusion` are in `Fusion`. Each has a file of its own with its formula, its
/// source and its state.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class Matte {
    private var reader = DepthFieldReader()
    private var heads = HeadTracker()
    private var anchor = Anchor()
    private var threshold = Threshold()
    private var smooth = Smooth()
    private var upscaler = Upscaler()
    private var coverage = Coverage()
    private var fusion = Fusion()
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
        let (depth, settings) = (frame.depth, settings.clamped)
        let placement = settings.depth.placement(
            depthWidth: depth.width, depthHeight: depth.height, videoWidth: frame.width, videoHeight: frame.height)
        report = Report()
        last = nil

        // A fused frame continues the frame before; after a frame of another method it starts afresh.
        defer {
            if last?.followsVideo != true { fusion.reset() }
            if last == nil { last = upscaler.clear(width: frame.width, height: frame.height, bands) }
        }
        let field = read(depth, placement, settings)
        report.unmeasured = field.unmeasured
        if field.cells.width > 0 { heads.advance(to: field, bands) } else { heads.reset() }
        (frame.shownHeads, frame.isHeadChosen) = (heads.heads, heads.isChosen)
        if fusion.room.isCapturing {
            let isEmpty = settings.room != .off && isFused(settings) && frame.heads.isEmpty && frame.anchors.isEmpty
            report.isCaptureRefused = !fusion.captureRoom(frame, field, isEmpty: isEmpty, bands, loops)
        }
        defer { report.room = fusion.room.report }
        guard let cutoff = anchor.cutoff(of: frame, field, settings) else { return false }
        if let face = anchor.face, !frame.anchors.isEmpty {
            heads.follow(face.box, distance: face.distance, placement)
        }
        report.cutoff = cutoff
        report.anchorDistance = anchor.distance ?? 0
        report.face = anchor.face?.detected ?? anchor.face?.box
        report.head = heads.heads.first { $0.isFollowed }
        report.isPresent = anchor.distance != nil
        guard settings.showsAnything(cutoff: cutoff) else { return true }

        if isFused(settings) {
            last = fusion.render(frame, field, anchor, cutoff: cutoff, settings, bands, loops)
            report.isPresent = report.isPresent && !fusion.isDeserted
            if last != nil || fusion.isDeserted {
                report.cutoff = fusion.cutoff
                report.coverage = fusion.coverage
                report.detail = settings.detail == .half ? .half : .full
                return true
            }
        }
        let grid = CellGrid(
            depthWidth: depth.width, depthHeight: depth.height, sigma: settings.blurRadius, gamma: settings.gamma)
        let thresholded = threshold.mask(of: depth, cutoff: cutoff, settings, bands, loops)
        let opacities = smooth.smooth(
            thresholded, sigma: settings.blurRadius, gamma: settings.gamma, on: grid, bands, loops)
        last = upscaler.upscale(opacities, on: grid, placement, settings.upscale, bands, loops)
        report.coverage = coverage.mean(of: opacities, on: grid)
        return true
    }

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

    private func isFused(_ settings: MatteSettings) -> Bool { settings.method == .fusion && settings.mask == .cutoff }

    /// Remembers the room that the next frames show; `Report.isCaptureRefused` says where somebody is in it.
    package func captureRoom() { fusion.captureRoom() }

    /// Forgets the room. No reset does: only another size or format, a capture, and a memory that no longer holds.
    package func forgetRoom() { fusion.forgetRoom() }

    /// Forgets earlier frames, as after a flush: the next frame does not continue them.
    package func reset() {
        lastTime = nil
        heads.reset()
        anchor.reset()
        fusion.reset()
        last = nil
    }

    /// Forgets earlier frames, but not the anchor: the next frame begins another segment of the stream.
    package func forgetPast() { fusion.forgetPast() }

    /// The intermediate results of the last frame's fused matte; nil for other methods.
    package var stages: MatteStages? { last?.followsVideo == true ? fusion.stages : nil }

    /// The heads that the last frame's depth map showed, in video pixels, the followed one first.
    package var lastHeads: [Head] { heads.heads.filter(\.isKnown) }

    /// The last frame's alpha, valid until the next call; all 0 before the first frame.
    package var finished: FinishedMatte {
        if let last { return last }
        let empty = upscaler.clear(width: 1, height: 1, bands)
        last = empty
        return empty
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

/// The mean opacity of a frame.
private struct Coverage: ~Copyable {
    private var weights = Scratch<Float>()

    /// - Returns: the mean of all opacities, 0…1, weighted by the share of each cell that lies on the depth map.
    mutating func mean(of map: OpacityMap, on grid: CellGrid) -> Double {
        let weights = unsafe weights.reserve(map.blocks * blockWidth, filler: 0)
        for x in 0..<map.blocks * blockWidth {
            unsafe weights[x] = x < map.width ? Float(grid.share(of: x, samples: grid.depthWidth)) : 0
        }
        var sum = 0.0
        for y in 0..<map.height {
            let share = grid.share(of: y, samples: grid.depthHeight)
            if share == 0 { continue }
            var lanes = Lanes(repeating: 0)
            for x in stride(from: 0, to: map.blocks * blockWidth, by: blockWidth)
            where map.cover(x / blockWidth, row: y) != .clear {
                unsafe lanes += loadLanes(map.row(y) + x) * loadLanes(weights + x)
            }
            sum += share * Double(lanes.sum())
        }
        let cells = Double(grid.depthWidth * grid.depthHeight) / Double(grid.cellSize * grid.cellSize)
        return min(max(sum / cells, 0), 1)
    }
}
