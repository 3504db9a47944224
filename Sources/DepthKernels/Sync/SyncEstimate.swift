/// Measures from the pictures by how much depth is late, and how far it lies beside the video.
///
/// The outline of the depth map of a frame, moved along its outward normal n by n · d + f, lies on an edge of the video of another
/// frame: d is the offset of the map, f by how much its person is too thin, and the distance of the frames the lag. A point p matches
/// at the shift s by |∇I(p + s n) · n| / (|∇I(p + s n) · n| + g0), where g0 is twice the median gradient of the frame. `SyncSums` keeps
/// sums of that and finds the best (lag, d, f).
///
/// Changes no matte. Sources: search along normals: Harris, RAPiD, 1990; edges of range on gradients of pictures: Levinson and
/// Thrun, RSS 2013; lag and offset together: Albl et al., CVPR 2017. `Tests/quality/sync_estimate.py` is its reference.
struct SyncEstimate: ~Copyable {
    /// The last report; nothing is known before the first.
    private(set) var report = SyncReport()

    /// Gradients of the last frames, and g0 of each.
    private var pictures = Scratch<Int32>()
    private var dampings = InlineArray<17, Float>(repeating: 1)
    /// The smoothed coverages of the last two maps that were of use.
    private var covers = Scratch<UInt16>()
    private var lines = Scratch<UInt16>()
    private var histogram = Scratch<Int32>()
    private var spare: [SyncOutline] = (0..<4).map { _ in SyncOutline() }
    private var sums = SyncSums()

    private var key: Key?
    /// Frames since the reset.
    private var number = 0
    /// The last of them that followed each other at the usual interval.
    private var regular = 0
    /// The last frame's time, and the usual time between two, in nanoseconds.
    private var lastTime: Int64?
    private var interval = 0.0
    /// The time of the last map, and the number of those of which the coverage was found.
    private var lastMap: Int64?
    private var mapCount = 0
    /// Maps since the last outline.
    private var mapsSince = 0
    /// Frames since the last rest, and the reports among them that knew all.
    private var awake = (frames: 0, reports: 0)
    private var restEnd: Int64?

    /// A measurement begins anew where one of these changes.
    struct Key: Equatable {
        let grid: SyncGrid
        let anchor: AnchorMode
        /// Metres, where nothing sets the cutoff.
        let cutoff: Double
    }

    /// The least number of frames before a rest, and the nanoseconds of one.
    private static let (leastAwake, rest): (Int, Int64) = (90, 15_000_000_000)
    /// Nanoseconds after which a frame does not continue the one before.
    private static let longestGap = 1e9
    /// Gradients are kept in units of 1/96 of a level of 256: 3060 / 255 of a cell (`shadeCells`), 16 cells of a sum, half of a
    /// difference, and a quarter of that.
    private static let unit: Float = 96
    private static let bins = 3072

    /// Forgets what was measured: the next frame does not continue the last.
    mutating func reset() {
        (number, regular, lastTime, lastMap, restEnd, awake) = (0, 0, nil, nil, nil, (0, 0))
        for outline in spare { outline.forget() }
        sums.reset()
        report = SyncReport(number: report.number)
    }

    /// Takes a frame.
    ///
    /// - Parameters:
    ///   - luma: of the samples, 0…1, row by row.
    ///   - cutoff: metres.
    ///   - time, depthTime: running times of the frame and of its map, in nanoseconds.
    mutating func advance(
        _ luma: UnsafePointer<Float>, _ field: DepthField, cutoff: Double, settings: MatteSettings, time: Int64,
        depthTime: Int64, _ loops: Loops
    ) {
        guard let grid = SyncGrid(field.grid) else { return reset() }
        let key = Key(grid: grid, anchor: settings.anchor.mode, cutoff: settings.cutoff)
        let step = lastTime.map { Double(time &- $0) } ?? 0
        if key != self.key || step < 0 || step > SyncEstimate.longestGap { reset() }
        self.key = key
        followTime(time, step: step)
        if let restEnd {
            if time < restEnd { return }
            (self.restEnd, regular, awake) = (nil, 1, (0, 0))
            for outline in spare { outline.forget() }
            sums.forgetOld()
        }
        number &+= 1
        awake.frames &+= 1
        unsafe takePicture(luma, grid, loops)
        if depthTime != lastMap {
            lastMap = depthTime
            takeMap(field, cutoff: largestFloat(atMost: cutoff), grid, loops)
            sums.note(skew: Double(depthTime &- time))
        }
        look(grid, loops)
        if number % Sync.reportInterval == 0, let found = sums.report(grid) {
            let count = report.number &+ 1
            report = found
            report.number = count
            noteReport(time)
        }
    }

    /// Rests where enough is known.
    private mutating func noteReport(_ time: Int64) {
        awake.reports = report.isLagKnown && report.x.isKnown ? awake.reports &+ 1 : 0
        if awake.reports >= 2, awake.frames >= SyncEstimate.leastAwake { restEnd = time &+ SyncEstimate.rest }
    }

    /// Counts the frames that follow each other at the usual interval.
    private mutating func followTime(_ time: Int64, step: Double) {
        defer { lastTime = time }
        guard lastTime != nil else { return regular = 1 }
        if interval > 0, abs(step - interval) < min(step, interval) / 2 {
            interval += (step - interval) / 32
            regular &+= 1
        } else {
            (interval, regular) = (step, interval > 0 ? 1 : regular &+ 1)
        }
    }

    // MARK: Picture and map

    /// A ring of four rows of cells, three of them in use; each has one readable number before it and one after it.
    @safe
    private struct Rows {
        let memory: UnsafeMutablePointer<UInt16>
        let height: Int
        let length: Int

        /// The row `y`, or the nearest that there is.
        subscript(y: Int) -> UnsafeMutablePointer<UInt16> {
            unsafe memory + (min(max(y, 0), height &- 1) & 3) &* length + 1
        }

        func around(_ y: Int) -> Three {
            unsafe (UnsafePointer(self[y &- 1]), UnsafePointer(self[y]), UnsafePointer(self[y &+ 1]))
        }

        typealias Three = (upper: LoopTable.Words16, middle: LoopTable.Words16, lower: LoopTable.Words16)
    }

    /// Makes the rows of a grid's cells, smooths each when those around it are made, and uses it when those around it are smooth.
    ///
    /// - Parameters:
    ///   - make: fills a row.
    ///   - use: takes a smooth row with those above and below, and memory for a row and two numbers.
    private mutating func smoothRows(
        _ grid: SyncGrid, _ loops: Loops, make: (_ y: Int, _ target: UnsafeMutablePointer<UInt16>) -> Void,
        use: (_ y: Int, _ rows: Rows.Three, _ line: UnsafeMutablePointer<UInt16>) -> Void
    ) {
        let length = grid.width &+ 2
        let memory = unsafe lines.reserve(9 &* length, filler: 0)
        let made = unsafe Rows(memory: memory, height: grid.height, length: length)
        let smooth = unsafe Rows(memory: memory + 4 &* length, height: grid.height, length: length)
        let line = unsafe memory + 8 &* length
        for step in 0..<(grid.height &+ 2) {
            if step < grid.height { unsafe make(step, made[step]) }
            if step > 0, step <= grid.height {
                unsafe loops.sumNeighbors(
                    made.around(step &- 1), count: grid.width, line: line, into: smooth[step &- 1])
            }
            if step > 1 { unsafe use(step &- 2, smooth.around(step &- 2), line) }
        }
    }

    private mutating func takePicture(_ luma: UnsafePointer<Float>, _ grid: SyncGrid, _ loops: Loops) {
        let (width, height, length) = (grid.width, grid.height, grid.samples.width)
        let slot = number % Sync.frames
        let picture = unsafe pictures.reserve(Sync.frames * grid.count, filler: 0) + slot &* grid.count
        let bins = unsafe histogram.reserve(SyncEstimate.bins + width, filler: 0)
        unsafe bins.update(repeating: 0, count: SyncEstimate.bins)
        unsafe smoothRows(grid, loops) { y, target in
            unsafe loops.shadeCells(
                luma + y &* grid.side &* length, stride: length, side: grid.side, count: width, into: target)
        } use: { y, rows, _ in
            let target = unsafe picture + y &* width
            unsafe loops.gradientCells(rows, count: width, into: target)
            // Nothing is known of the columns beyond the ends.
            unsafe (target[0], target[width &- 1]) = (target[1], target[width &- 2])
            guard y & 3 == 1 else { return }
            unsafe loops.countLengths(
                target, count: width, lengths: bins + SyncEstimate.bins, bins: SyncEstimate.bins, into: bins)
        }
        var (rest, median) = (Int32(truncatingIfNeeded: (height &+ 2) / 4 &* width / 2), 0)
        while median < SyncEstimate.bins &- 1 {
            unsafe rest &-= bins[median]
            if rest < 0 { break }
            median &+= 1
        }
        dampings[slot] = max(SyncEstimate.unit, 2 * Float(median) + 1)
    }

    /// Takes a map that is new: its outline, or the motion of the outline before.
    private mutating func takeMap(_ field: DepthField, cutoff: Float, _ grid: SyncGrid, _ loops: Loops) {
        mapsSince &+= 1
        let isWanted = Sync.isLookedAt(number &+ Sync.lags)
        // Over two maps: noise moves an outline by as much as over one.
        let before = isWanted || mapsSince == 2 ? spare.first { $0.frame > 0 && !$0.isComplete } : nil
        guard before != nil || isWanted else { return }
        mapCount &+= 1
        let covers = unsafe covers.reserve(2 * grid.count, filler: 0)
        let cover = unsafe covers + (mapCount & 1) &* grid.count
        unsafe smoothRows(grid, loops) { y, target in
            unsafe loops.coverCells(
                field.metres + y &* grid.side &* field.rowLength, stride: field.rowLength, side: grid.side,
                cutoff: cutoff, count: grid.width, into: target)
        } use: { y, rows, line in
            unsafe loops.sumNeighbors(rows, count: grid.width, line: line, into: cover + y &* grid.width)
        }
        if let before {
            unsafe before.findMotion(
                from: covers + (mapCount & 1 ^ 1) &* grid.count, to: cover, frames: number &- before.frame)
        }
        guard isWanted, let outline = spare.min(by: { $0.frame < $1.frame }) else { return }
        unsafe outline.find(cover, field, on: grid, frame: number)
        mapsSince = 0
    }

    // MARK: Look

    /// Compares the outline of the map in the middle of the last frames with each of them.
    private mutating func look(_ grid: SyncGrid, _ loops: Loops) {
        guard Sync.isLookedAt(number), regular >= Sync.frames,
            let outline = spare.first(where: { $0.frame == number &- Sync.lags }), outline.isComplete,
            outline.count >= 8
        else { return }
        sums.begin(outline, frame: number, interval: interval)
        for lag in 0..<Sync.frames {
            let slot = (number &- lag) % Sync.frames
            let picture = unsafe pictures.reserve(Sync.frames * grid.count, filler: 0) + slot &* grid.count
            unsafe sums.add(outline, picture, damping: dampings[slot], lag: lag, loops)
        }
    }
}
