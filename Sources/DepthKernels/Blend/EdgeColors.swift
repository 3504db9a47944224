import CDepthKernels

/// Settings of the color correction at the person's edge.
package struct EdgeSettings: Equatable, Sendable {
    /// Strength of the removal of the room's color from mixed pixels, 0…1.
    package var decontaminate: Double
    /// Strength of the background's light on the person's edge, 0…1.
    package var lightWrap: Double

    /// All colors stay as they are.
    package static let none = EdgeSettings(decontaminate: 0, lightWrap: 0)

    package init(decontaminate: Double = 1, lightWrap: Double = 0) {
        self.decontaminate = decontaminate
        self.lightWrap = lightWrap
    }

    /// The settings to use with a matte: clamped, and without decontamination unless the matte follows the video's edges.
    func suited(to matte: FinishedMatte) -> EdgeSettings {
        let settings = clamped
        return matte.followsVideo ? settings : EdgeSettings(decontaminate: 0, lightWrap: settings.lightWrap)
    }

    /// The same with every number in its range; NaN = 0.
    var clamped: EdgeSettings {
        EdgeSettings(
            decontaminate: DepthKernels.clamped(decontaminate, to: 0...1, orIfNaN: 0),
            lightWrap: DepthKernels.clamped(lightWrap, to: 0...1, orIfNaN: 0))
    }
}

/// Corrects the colors at the person's edge, where pixels show both person and room.
///
/// A mixed pixel is I = α F + (1 − α) B, person F and room B. Blended over another background as it is, it leaves a
/// fringe of the room around the person. The person's color alone is estimated from colors nearby:
///
///     F = F̂ + α (I − α F̂ − (1 − α) B̂),   clipped to 0…255
///
/// Source: Forte, "Approximate Fast Foreground Color Estimation", ICIP 2021, arXiv 2006.14970. There F̂ and B̂ are
/// blurs of the picture weighted by α and 1 − α; here only pixels that are all person, and all room, count, which
/// leaves three quarters of that error. They are averaged in square cells of 8…32 pixels and then over 5x5 cells with
/// weights of e^(−2 (|dx| + |dy|)), and interpolated linearly. Where one of the two is unknown within the kernel,
/// pixels are not changed.
///
/// Light wrap mixes the background's light with the person's edge:
///
///     F' = F + w (1 − ᾱ) (N̄ − F),   ᾱ and N̄ the means of alpha and of the background in the same cells
///
/// Every component is worked on by itself, whatever it means. A sample that pixels share takes the mean of their
/// alphas. Clear pixels keep their bytes; so do opaque ones without light wrap. Only cells near the edge are processed.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class EdgeColors {
    private let colors: VideoColors
    private let cells: PictureCells
    private let groups: [SampleGroup]
    private let loops: Loops
    private var covers = Scratch<Cover>()
    private var roles = Scratch<CellRole>()
    private var sums = Scratch<Float>()
    private var means = Scratch<Float>()
    private var line = Scratch<Float>()
    private let bands = MatteBands(leastPixels: 1 << 16)

    /// The threads that share large frames; nil for the calling thread alone. The result does not depend on them.
    package var pool: (any WorkerPool)? {
        get { bands.pool }
        set { bands.pool = newValue }
    }

    /// Cells on each side of an edge that light wraps.
    private static let lightReach = 2

    /// - Precondition: `width` and `height` are above 0.
    package init(_ colors: VideoColors, width: Int, height: Int, loops: Loops = bestLoops) {
        self.colors = colors
        self.loops = loops
        cells = PictureCells(width: width, height: height)
        groups = SampleGroup.groups(of: colors, cells)
    }

    /// Changes the video in place; leaves it as it is where planes are missing or smaller than the picture.
    ///
    /// - Parameters:
    ///   - alpha: the person's share of each pixel.
    ///   - known: the parts of alpha that are known to be opaque or clear; nil where nothing is known.
    ///   - background: the background that the video will be blended over; nil for none, and no light wrap.
    package func change(
        _ video: Planes<MutablePlane>, alpha: Plane, _ known: AlphaCovers? = nil, background: Planes<Plane>?,
        _ settings: EdgeSettings
    ) {
        let settings = settings.clamped
        let light = background == nil ? 0 : Float(settings.lightWrap)
        guard settings.decontaminate > 0 || light > 0, alpha.rowBytes >= cells.width, alpha.rows >= cells.height,
            colors.fits(video.readOnly, width: cells.width, height: cells.height),
            background.map({ colors.fits($0, width: cells.width, height: cells.height) }) ?? true
        else { return }
        let covers = unsafe covers.reserve(cells.count, filler: .clear)
        unsafe share(CoverCells(alpha: alpha, known: known, cells: cells, covers: covers, loops: loops))
        let roles = unsafe roles.reserve(cells.count, filler: .far)
        guard unsafe assign(roles, covers, hasLight: light > 0) else { return }

        let picture = unsafe EdgePicture(
            video: video, background: light > 0 ? background : nil, alpha: alpha, cells: cells, roles: roles,
            loops: loops)
        let planes = groups.reduce(0) { $0 &+ $1.planes(hasLight: light > 0) }
        let sums = unsafe sums.reserve(planes * cells.count, filler: 0)
        unsafe sums.update(repeating: 0, count: planes &* cells.count)
        unsafe share(SumCells(picture: picture, groups: groups, sums: sums))
        let means = unsafe means.reserve(planes * cells.paddedCount, filler: 0)
        let line = unsafe line.reserve(cells.lineCount, filler: 0)
        for plane in 0..<planes {
            unsafe cells.convolve(
                sums + plane &* cells.count, into: means + plane &* cells.paddedCount, line: line, loops)
        }
        let strength = Float(settings.decontaminate)
        unsafe share(
            DrawCells(picture: picture, groups: groups, means: means, strength: strength, light: light))
    }

    private func share(_ work: some BandWork<MatteMemory>) {
        bands.share(work, rows: cells.rows, width: cells.width &* cells.size)
    }

    /// Assigns a role to every cell.
    ///
    /// - Returns: false where no cell is at an edge.
    private func assign(
        _ roles: UnsafeMutablePointer<CellRole>, _ covers: UnsafePointer<Cover>, hasLight: Bool
    ) -> Bool {
        unsafe roles.update(repeating: .far, count: cells.count)
        let drawn = hasLight ? EdgeColors.lightReach : 0
        var isAnyMixed = false
        for y in 0..<cells.rows {
            for x in 0..<cells.columns where unsafe covers[y &* cells.columns &+ x] == .mixed {
                isAnyMixed = true
                unsafe mark(.near, around: (x, y), distance: drawn &+ PictureCells.reach, roles)
            }
        }
        guard isAnyMixed else { return false }
        for y in 0..<cells.rows {
            for x in 0..<cells.columns where unsafe covers[y &* cells.columns &+ x] == .mixed {
                unsafe mark(.edge, around: (x, y), distance: drawn, roles)
            }
        }
        return true
    }

    private func mark(
        _ role: CellRole, around cell: (x: Int, y: Int), distance: Int, _ roles: UnsafeMutablePointer<CellRole>
    ) {
        let (left, right) = (max(cell.x &- distance, 0), min(cell.x &+ distance, cells.columns &- 1))
        for y in max(cell.y &- distance, 0)...min(cell.y &+ distance, cells.rows &- 1) {
            unsafe (roles + (y &* cells.columns &+ left)).update(repeating: role, count: right &- left &+ 1)
        }
    }
}

/// The role of a cell.
private enum CellRole: UInt8, BitwiseCopyable {
    /// Not processed.
    case far
    /// Its colors are summed, for its neighbours.
    case near
    /// The same, and its own samples are changed.
    case edge
}

/// Components whose samples are shared by the same pixels.
private struct SampleGroup {
    let components: [VideoColors.Component]
    let shiftX: Int
    let shiftY: Int
    /// Samples in a row, and rows of them.
    let columns: Int
    let rows: Int
    /// Samples along the sides of a cell.
    let cellWidth: Int
    let cellHeight: Int

    static func groups(of colors: VideoColors, _ cells: PictureCells) -> [SampleGroup] {
        var groups: [SampleGroup] = []
        for component in colors.components {
            if let last = groups.last, last.shiftX == component.shiftX, last.shiftY == component.shiftY {
                groups[groups.count - 1] = SampleGroup(last.components + [component], cells)
            } else {
                groups.append(SampleGroup([component], cells))
            }
        }
        return groups
    }

    private init(_ components: [VideoColors.Component], _ cells: PictureCells) {
        self.components = components
        shiftX = components[0].shiftX
        shiftY = components[0].shiftY
        columns = DepthKernels.groups(of: 1 << shiftX, in: cells.width)
        rows = DepthKernels.groups(of: 1 << shiftY, in: cells.height)
        cellWidth = max(cells.size >> shiftX, 1)
        cellHeight = max(cells.size >> shiftY, 1)
    }

    // Grids of cells: the weight of the person, that of the room, and the colors of both for each component; with light
    // then alpha, its weight, and the colors of the background.
    static let (person, room) = (0, 1)
    func personColor(_ component: Int) -> Int { 2 &+ 2 &* component }
    func roomColor(_ component: Int) -> Int { 3 &+ 2 &* component }
    var alpha: Int { 2 &+ 2 &* components.count }
    var weight: Int { alpha &+ 1 }
    func light(_ component: Int) -> Int { alpha &+ 2 &+ component }
    func planes(hasLight: Bool) -> Int { hasLight ? alpha &+ 2 &+ components.count : alpha }
}

/// One frame.
@safe
private struct EdgePicture {
    let video: Planes<MutablePlane>
    /// Nil without light.
    let background: Planes<Plane>?
    let alpha: Plane
    let cells: PictureCells
    let roles: UnsafeMutablePointer<CellRole>
    let loops: Loops

    /// Calls `body` for each run of cells of a row whose role is `least` or above.
    func forEachRun(ofRow y: Int, _ least: CellRole, _ body: (Range<Int>) -> Void) {
        let row = unsafe roles + y &* cells.columns
        var x = 0
        while x < cells.columns {
            guard unsafe row[x].rawValue >= least.rawValue else {
                x &+= 1
                continue
            }
            let start = x
            while x < cells.columns, unsafe row[x].rawValue >= least.rawValue { x &+= 1 }
            body(start..<x)
        }
    }

    /// The alpha of some samples of some rows, and the bytes from one row to the next.
    ///
    /// - Parameter memory: room for as many bytes.
    func alpha(
        of group: SampleGroup, _ rows: Range<Int>, from start: Int, count: Int, _ memory: UnsafeMutablePointer<UInt8>
    ) -> (first: UnsafePointer<UInt8>, stride: Int) {
        let x = start &<< group.shiftX
        func bytes(_ y: Int) -> UnsafePointer<UInt8> {
            unsafe alpha.row(y &<< group.shiftY).assumingMemoryBound(to: UInt8.self) + x
        }
        if group.shiftX == 0, group.shiftY == 0 { return unsafe (bytes(rows.lowerBound), alpha.stride) }
        let across = 1 << group.shiftX
        for y in rows {
            let down = min(1 << group.shiftY, cells.height &- y &<< group.shiftY)
            unsafe loops.expandAlpha(
                bytes(y), stride: alpha.stride,
                dm_alpha_run(pixels: min(count &* across, cells.width &- x), rows: down, columns: across, bytes: 1),
                into: memory + (y &- rows.lowerBound) &* count)
        }
        return unsafe (UnsafePointer(memory), count)
    }

    func prefetch(_ group: SampleGroup, row y: Int, from start: Int, count: Int) {
        for component in group.components {
            video[component.plane]?.readOnly.prefetch(
                row: y, from: component.offset &+ start &* component.step, count: count &* component.step)
        }
        alpha.prefetch(row: y &<< group.shiftY, from: start &<< group.shiftX, count: count &<< group.shiftX)
    }

    /// The byte of a component at a sample of the video, or of the background.
    func bytes(_ component: VideoColors.Component, row y: Int, from start: Int) -> UnsafeMutablePointer<UInt8>? {
        guard let plane = video[component.plane] else { return nil }
        return unsafe plane.row(y).assumingMemoryBound(to: UInt8.self) + (component.offset &+ start &* component.step)
    }

    func backgroundBytes(_ component: VideoColors.Component, row y: Int, from start: Int) -> UnsafePointer<UInt8>? {
        guard let plane = background?[component.plane] else { return nil }
        return unsafe plane.row(y).assumingMemoryBound(to: UInt8.self) + (component.offset &+ start &* component.step)
    }
}

/// Scratch memory of one worker.
private final class EdgeMemory: MatteMemoryPart {
    var bytes = Scratch<UInt8>()
    var runs = Scratch<AlphaRun>()
    var columns = Scratch<UInt16>()
    var numbers = Scratch<Float>()
}

/// Classifies every cell as opaque, clear or mixed.
@safe
private struct CoverCells: BandWork {
    let alpha: Plane
    let known: AlphaCovers?
    let cells: PictureCells
    let covers: UnsafeMutablePointer<Cover>
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let (size, width, memory) = (cells.size, cells.width, memory.part(EdgeMemory.self))
        let all = unsafe memory.bytes.reserve(2 * width, filler: 0)
        let any = unsafe all + width
        let whole = AlphaRun(cover: .mixed, start: 0, end: width)
        let room = unsafe memory.runs.reserve(AlphaCovers.segments(width: width), filler: whole)
        for row in rows {
            let lines = (row &* size)..<min((row &+ 1) &* size, cells.height)
            let runs = unsafe AlphaCovers.findRuns(of: lines, in: known, orAll: whole, into: room)
            for index in 0..<runs.count {
                let (run, first) = (runs[index], row &* cells.columns)
                let inRun = (run.start / size)..<groups(of: size, in: run.end)
                unsafe (covers + (first &+ inRun.lowerBound)).update(repeating: run.cover, count: inRun.count)
                if run.cover != .mixed { continue }
                unsafe (all + run.start).update(repeating: 255, count: run.end &- run.start)
                unsafe (any + run.start).update(repeating: 0, count: run.end &- run.start)
                for y in lines {
                    unsafe loops.accumulateBits(
                        alpha.row(y).assumingMemoryBound(to: UInt8.self) + run.start, count: run.end &- run.start,
                        all: all + run.start, any: any + run.start)
                }
                for cell in inRun {
                    var (least, most) = (UInt8.max, UInt8.min)
                    for x in (cell &* size)..<min((cell &+ 1) &* size, width) {
                        unsafe least &= all[x]
                        unsafe most |= any[x]
                    }
                    unsafe covers[first &+ cell] = most == 0 ? .clear : least == .max ? .opaque : .mixed
                }
            }
        }
    }
}

/// Sums the known colors in the cells near the edge.
@safe
private struct SumCells: BandWork {
    let picture: EdgePicture
    let groups: [SampleGroup]
    let sums: UnsafeMutablePointer<Float>
    /// Of a cell, those that are summed.
    private static let rows = 4

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let part = memory.part(EdgeMemory.self)
        for row in rows {
            picture.forEachRun(ofRow: row, .near) { run in
                var first = 0
                for group in groups {
                    unsafe add(run, row, group, into: sums + first &* picture.cells.count, part)
                    first &+= group.planes(hasLight: picture.background != nil)
                }
            }
        }
    }

    private func add(
        _ run: Range<Int>, _ row: Int, _ group: SampleGroup, into grids: UnsafeMutablePointer<Float>,
        _ memory: EdgeMemory
    ) {
        let (cells, loops, hasLight) = (picture.cells, picture.loops, picture.background != nil)
        let start = run.lowerBound &* group.cellWidth
        let count = min(run.upperBound &* group.cellWidth, group.columns) &- start
        let planes = group.planes(hasLight: hasLight)
        let columns = unsafe memory.columns.reserve(planes * count, filler: 0)
        unsafe columns.update(repeating: 0, count: planes &* count)
        let bytes = unsafe memory.bytes.reserve(count, filler: 0)
        func plane(_ index: Int) -> UnsafeMutablePointer<UInt16> { unsafe columns + index &* count }

        // Some rows are enough for a mean.
        let step = max(group.cellHeight / SumCells.rows, 1)
        for y in stride(
            from: row &* group.cellHeight, to: min((row &+ 1) &* group.cellHeight, group.rows), by: step)
        {
            picture.prefetch(group, row: y &+ 4 &* step, from: start, count: count)
            let alpha = unsafe picture.alpha(of: group, y..<(y &+ 1), from: start, count: count, bytes).first
            unsafe loops.countSamples(alpha, cover: 255, count: count, into: plane(SampleGroup.person))
            unsafe loops.countSamples(alpha, cover: 0, count: count, into: plane(SampleGroup.room))
            if hasLight {
                unsafe loops.addSamples(alpha, step: 1, count: count, into: plane(group.alpha))
                for x in 0..<count { unsafe plane(group.weight)[x] &+= 1 }
            }
            for (index, component) in group.components.enumerated() {
                guard let samples = unsafe picture.bytes(component, row: y, from: start) else { continue }
                unsafe loops.addSamples(
                    samples, step: component.step, of: (alpha, 255), count: count,
                    into: plane(group.personColor(index)))
                unsafe loops.addSamples(
                    samples, step: component.step, of: (alpha, 0), count: count,
                    into: plane(group.roomColor(index)))
                guard let light = unsafe picture.backgroundBytes(component, row: y, from: start) else { continue }
                unsafe loops.addSamples(light, step: component.step, count: count, into: plane(group.light(index)))
            }
        }
        for index in 0..<planes {
            let target = unsafe grids + (index &* cells.count &+ row &* cells.columns &+ run.lowerBound)
            unsafe loops.sumCells(plane(index), count: count, cellWidth: group.cellWidth, into: target)
        }
    }
}

/// Changes the colors of the cells at the edge.
@safe
private struct DrawCells: BandWork {
    let picture: EdgePicture
    let groups: [SampleGroup]
    let means: UnsafeMutablePointer<Float>
    let strength: Float
    let light: Float

    /// The weight of a known color, in cells, at which the correction has half of its strength.
    private static let little: Float = 1e-5

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let part = memory.part(EdgeMemory.self)
        for row in rows {
            picture.forEachRun(ofRow: row, .edge) { run in
                var first = 0
                for group in groups {
                    let (grids, height) = unsafe (means + first &* picture.cells.paddedCount, group.cellHeight)
                    // The centers of a row of cells divide its rows of samples.
                    let top = row &* height
                    unsafe draw(run, top..<(top &+ height / 2), group, grids, part)
                    unsafe draw(run, (top &+ height / 2)..<(top &+ height), group, grids, part)
                    first &+= group.planes(hasLight: light > 0)
                }
            }
        }
    }

    /// Changes the colors of a run of edge cells, in rows that lie between the same two rows of cell centers.
    private func draw(
        _ run: Range<Int>, _ rows: Range<Int>, _ group: SampleGroup, _ grids: UnsafePointer<Float>,
        _ memory: EdgeMemory
    ) {
        let rows = rows.clamped(to: 0..<group.rows)
        if rows.isEmpty { return }
        let (cells, loops, planes) = (picture.cells, picture.loops, group.planes(hasLight: light > 0))
        let (width, height) = (group.cellWidth, group.cellHeight)
        let start = run.lowerBound &* width
        let count = min(run.upperBound &* width, group.columns) &- start
        // Intervals between the centers of cells: the first begins half a cell before the run.
        let intervals = run.count &+ 1
        let length = intervals &* width
        let numbers = unsafe memory.numbers.reserve(2 * planes * length + 8, filler: 0)
        let (above, below, share) = cells.rows(around: rows.lowerBound, cellHeight: height)
        for line in 0..<(2 &* planes) {
            let (plane, row) = line < planes ? (line, above) : (line &- planes, below)
            unsafe loops.enlargeCells(
                grids + (plane &* cells.paddedCount &+ row &* cells.paddedColumns &+ run.lowerBound),
                intervals: intervals, size: width, into: numbers + line &* length)
        }
        func plane(_ index: Int) -> UnsafePointer<Float> {
            unsafe UnsafePointer(numbers + (index &* length &+ width / 2))
        }
        let opacities = unsafe memory.bytes.reserve(rows.count * count, filler: 0)
        let alpha = unsafe picture.alpha(of: group, rows, from: start, count: count, opacities)
        for (index, component) in group.components.enumerated() {
            guard let target = unsafe picture.bytes(component, row: rows.lowerBound, from: start),
                let stride = picture.video[component.plane]?.stride
            else { continue }
            unsafe loops.drawEdge(
                target,
                .init(
                    columns: count, rows: rows.count, step: component.step, stride: stride, alpha: alpha.first,
                    alpha_stride: alpha.stride, person: plane(SampleGroup.person),
                    person_color: plane(group.personColor(index)), room: plane(SampleGroup.room),
                    room_color: plane(group.roomColor(index)), light: plane(group.light(index)),
                    cover: plane(group.alpha), weight: plane(group.weight), below: planes &* length, first_share: share,
                    share_step: 1 / Float(height), little: DrawCells.little * Float(width &* height),
                    strength: strength, wrap: light))
        }
    }
}
