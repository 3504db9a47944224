/// The stage that draws the matte's edge as the video has it.
///
///     q = a · colour + b           at every video pixel, a and b from the guided filter
///     alpha = clip(1.8 (q − ½) + ½) of q smoothed over 3x3 pixels (σ = 0.6)
///
/// Alpha is exactly 0 or 1 where nothing is left to draw (`Plainness`), and mixed with the last frame's by the share that
/// `Settle` found. Only tiles that hold an edge, or held one in the last frame, are drawn.
///
/// The state is the last frame's alpha. Source: stage 5 of the method (`Fusion`).
struct Drawing: ~Copyable {
    fileprivate static let slope: Float = 1.8
    /// Weights of a Gaussian of 0.6 pixels over three, whose sum is 1.
    fileprivate static let side: Float = 0.166_37
    fileprivate static let middle: Float = 0.667_26

    private var plainness = Plainness()
    private var alpha = Scratch<UInt8>()
    private var covers = Scratch<TileCover>()
    private var keep = Scratch<Float>()
    private var geometry: DrawingGeometry?
    private var hasPast = false

    /// A tile's alpha in the last frame.
    fileprivate enum TileCover: UInt8, BitwiseCopyable {
        case clear, opaque, mixed
    }

    /// - Parameters:
    ///   - model: a and b of cells (`GuidedFilter`), for the bytes of the video.
    ///   - matte: P of every sample.
    ///   - keep: the share of the last frame's alpha for every sample; nil for none.
    /// - Returns: alpha of every pixel of the video, valid until the next call.
    mutating func draw(
        _ guide: Guide, model: UnsafePointer<Float>, cells: (width: Int, height: Int), matte: UnsafePointer<Float>,
        keep: UnsafePointer<Float>?, on grid: WorkGrid, _ bands: MatteBands, _ loops: Loops
    ) -> MutablePlane {
        let size = guide.width * guide.height
        if geometry?.fits(grid, guide, cells) != true {
            geometry = DrawingGeometry(grid, guide, cells)
            hasPast = false
        }
        let alpha = unsafe alpha.reserve(size, filler: 0)
        let plane = unsafe MutablePlane(packed: alpha, width: guide.width, height: guide.height)
        guard let geometry else { return plane }
        let covers = unsafe covers.reserve(geometry.tileColumns.count * geometry.tileRows.count, filler: .clear)
        if !hasPast {
            unsafe alpha.update(repeating: 0, count: size)
            unsafe covers.update(repeating: .clear, count: geometry.tileColumns.count * geometry.tileRows.count)
        }
        hasPast = true
        let radius = max(1, Int(grid.samples(GuidedFilter.radius)) / 2)
        let plain = unsafe plainness.find(in: matte, radius: radius, on: grid)
        let calm = unsafe keep.map { keep in unsafe least(of: keep, on: grid) }
        let work = unsafe DrawRows(
            guide: guide, geometry: geometry, model: model, plain: plain, keep: calm, alpha: plane, covers: covers,
            loops: loops)
        bands.share(work, rows: geometry.tileRows.count, width: guide.width * WorkGrid.tile)
        return plane
    }

    /// Forgets the last frame's alpha.
    mutating func reset() { hasPast = false }

    /// The smallest share within 3x3 samples.
    private mutating func least(of share: UnsafePointer<Float>, on grid: WorkGrid) -> UnsafePointer<Float> {
        let (width, height) = (grid.width, grid.height)
        let memory = unsafe keep.reserve(grid.count + width + 2, filler: 0)
        let column = unsafe memory + grid.count + 1
        for y in 0..<height {
            let row = unsafe share + y &* width
            let above = unsafe y > 0 ? row - width : row
            let below = unsafe y < height &- 1 ? row + width : row
            for x in 0..<width { unsafe column[x] = min(row[x], min(above[x], below[x])) }
            unsafe column[-1] = column[0]
            unsafe column[width] = column[width &- 1]
            let target = unsafe memory + y &* width
            for x in 0..<width { unsafe target[x] = min(column[x], min(column[x &- 1], column[x &+ 1])) }
        }
        return unsafe UnsafePointer(memory)
    }
}

extension WorkGrid {
    /// Samples along each side of a tile.
    static let tile = 16
}

/// Everything about the drawing that does not depend on the frame's contents.
private final class DrawingGeometry {
    let grid: WorkGrid
    let width: Int
    let height: Int
    /// Video pixels whose centre lies in each column, and row, of tiles.
    let tileColumns: [Range<Int>]
    let tileRows: [Range<Int>]
    let cellColumns: LinearTaps
    let cellRows: LinearTaps
    let sampleColumns: LinearTaps
    let sampleRows: LinearTaps

    init(_ grid: WorkGrid, _ guide: Guide, _ cells: (width: Int, height: Int)) {
        self.grid = grid
        width = guide.width
        height = guide.height
        let placement = grid.placement
        func tiles(_ samples: Int, pixels: Int, first: Double, size: Double) -> [Range<Int>] {
            let count = groups(of: WorkGrid.tile, in: samples)
            let edges = (0...count).map { tile in
                let sample = Double(min(tile * WorkGrid.tile, samples))
                // The first pixel whose centre is not before the edge.
                return ceilIndex(first + sample * size / Double(samples) - 0.5, in: 0...pixels)
            }
            return (0..<count).map { edges[$0]..<max(edges[$0], edges[$0 + 1]) }
        }
        tileColumns = tiles(grid.width, pixels: guide.width, first: placement.left, size: placement.width)
        tileRows = tiles(grid.height, pixels: guide.height, first: placement.top, size: placement.height)
        func taps(_ samples: Int, pixels: Int, first: Double, size: Double) -> LinearTaps {
            LinearTaps(pixels: pixels, samples: samples, first: first, size: size)
        }
        cellColumns = taps(cells.width, pixels: guide.width, first: placement.left, size: placement.width)
        cellRows = taps(cells.height, pixels: guide.height, first: placement.top, size: placement.height)
        sampleColumns = taps(grid.width, pixels: guide.width, first: placement.left, size: placement.width)
        sampleRows = taps(grid.height, pixels: guide.height, first: placement.top, size: placement.height)
    }

    func fits(_ grid: WorkGrid, _ guide: Guide, _ cells: (width: Int, height: Int)) -> Bool {
        self.grid == grid && width == guide.width && height == guide.height
            && cellColumns.samples == cells.width && cellRows.samples == cells.height
    }

    /// The samples that the pixels of a tile lie between.
    func samples(ofTile tile: Int, count: Int) -> Range<Int> {
        max(tile * WorkGrid.tile - 1, 0)..<min((tile + 1) * WorkGrid.tile + 1, count)
    }
}

/// Linear interpolation along one axis: pixels between samples, the outermost samples repeated.
private struct LinearTaps {
    let samples: Int
    /// The sample before each pixel.
    private let first: [Int32]
    /// The share of the sample behind it; some zeros follow.
    private let share: [Float]
    /// For each sample the first pixel that it is before, and the number of pixels.
    private let starts: [Int32]

    init(pixels: Int, samples: Int, first: Double, size: Double) {
        self.samples = samples
        let positions = (0..<pixels).map { (Double($0) + 0.5 - first) * Double(samples) / size - 0.5 }
        let before = positions.map { floorIndex($0, in: 0...max(samples - 2, 0)) }
        self.first = before.map { Int32(truncatingIfNeeded: $0) }
        share =
            zip(positions, before).map { position, sample in
                samples < 2 ? 0 : Float(min(max(position - Double(sample), 0), 1))
            } + [Float](repeating: 0, count: LinearTaps.overrun)
        starts = (0...samples).map { sample in
            Int32(truncatingIfNeeded: partitionPoint(pixels) { before[$0] >= sample })
        }
    }

    /// Numbers that are read and written beyond the end of a line.
    static let overrun = 8

    /// 1, or 0 where there is but one sample.
    private var step: Int { samples < 2 ? 0 : 1 }

    /// A row between two rows of samples.
    func blendRows(
        _ plane: UnsafePointer<Float>, width: Int, y: Int, columns: Range<Int>, into line: UnsafeMutablePointer<Float>,
        _ loops: Loops
    ) {
        let upper = unsafe plane + Int(first[y]) &* width
        unsafe loops.interpolate(upper, upper + step &* width, share: share[y], columns: columns, into: line)
    }

    /// The pixels of some columns, between the samples of a line.
    func enlarge(
        _ line: UnsafePointer<Float>, columns: Range<Int>, into target: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        unsafe withTables { starts, share in
            unsafe loops.enlarge(
                line, starts: starts, share: share, samples: intervals(of: columns), step: step, columns: columns,
                into: target)
        }
    }

    /// The model of a row, whose coefficients are four lines of samples, at some columns.
    func evaluate(
        _ model: UnsafePointer<Float>, modelStride: Int, channels: UnsafePointer<Float>, stride: Int,
        columns: Range<Int>, into target: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        unsafe withTables { starts, share in
            unsafe loops.evaluate(
                model: model, modelStride: modelStride, starts: starts, share: share, samples: intervals(of: columns),
                step: step, channels: channels, stride: stride, columns: columns, into: target)
        }
    }

    /// The samples that pixels lie between.
    func sources(of pixels: Range<Int>) -> Range<Int> {
        let intervals = intervals(of: pixels)
        return intervals.lowerBound..<min(intervals.upperBound + 1, samples)
    }

    /// The samples that pixels lie behind.
    private func intervals(of pixels: Range<Int>) -> Range<Int> {
        Int(first[pixels.lowerBound])..<(Int(first[pixels.upperBound - 1]) + 1)
    }

    private func withTables(_ body: (_ starts: UnsafePointer<Int32>, _ share: UnsafePointer<Float>) -> Void) {
        unsafe starts.withUnsafeBufferPointer { starts in
            unsafe share.withUnsafeBufferPointer { share in
                guard let starts = starts.baseAddress, let share = share.baseAddress else { return }
                unsafe body(starts, share)
            }
        }
    }
}

/// Scratch memory of one worker for drawing.
private final class DrawingMemory: MatteMemoryPart {
    var numbers = Scratch<Float>()
    /// The tiles of a row, as they are to be at last.
    var covers = Scratch<Drawing.TileCover>()
}

/// Draws rows of tiles.
@safe
private struct DrawRows: BandWork {
    let guide: Guide
    let geometry: DrawingGeometry
    let model: UnsafePointer<Float>
    /// 1, −1 or 0 for every sample.
    let plain: UnsafePointer<Float>
    let keep: UnsafePointer<Float>?
    let alpha: MutablePlane
    let covers: UnsafeMutablePointer<Drawing.TileCover>
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        let part = memory.part(DrawingMemory.self)
        let columns = geometry.tileColumns.count
        let now = unsafe part.covers.reserve(columns, filler: .mixed)
        for tileY in rows where !geometry.tileRows[tileY].isEmpty {
            for tile in 0..<columns { unsafe now[tile] = plainCover(tile, tileY) }
            var tileX = 0
            while tileX < columns {
                guard unsafe isToDraw(tileX, tileY, now) else {
                    tileX += 1
                    continue
                }
                let start = tileX
                while tileX < columns, unsafe isToDraw(tileX, tileY, now) { tileX += 1 }
                draw(tiles: start..<tileX, tileY, part)
                for tile in start..<tileX {
                    unsafe covers[tileY &* columns &+ tile] = coverDrawn(tile, tileY, now[tile])
                }
            }
        }
    }

    // MARK: Tiles

    private func isToDraw(
        _ tileX: Int, _ tileY: Int, _ now: UnsafePointer<Drawing.TileCover>
    ) -> Bool {
        if geometry.tileColumns[tileX].isEmpty { return false }
        let cover = unsafe now[tileX]
        return unsafe cover == .mixed || cover != covers[tileY &* geometry.tileColumns.count &+ tileX]
    }

    /// The alpha that the tile will have at last, if all of it is plain.
    private func plainCover(_ tileX: Int, _ tileY: Int) -> Drawing.TileCover {
        let grid = geometry.grid
        let columns = geometry.samples(ofTile: tileX, count: grid.width)
        let rows = geometry.samples(ofTile: tileY, count: grid.height)
        let first = unsafe plain[rows.lowerBound &* grid.width &+ columns.lowerBound]
        if first == 0 { return .mixed }
        for y in rows {
            let row = unsafe plain + y &* grid.width
            var isAlike = true
            for x in columns { unsafe isAlike = isAlike && row[x] == first }
            if !isAlike { return .mixed }
        }
        return first > 0 ? .opaque : .clear
    }

    private func coverDrawn(_ tileX: Int, _ tileY: Int, _ cover: Drawing.TileCover) -> Drawing.TileCover {
        if cover == .mixed { return .mixed }
        let wanted: UInt8 = cover == .opaque ? 255 : 0
        for y in geometry.tileRows[tileY] {
            let row = unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
            for x in geometry.tileColumns[tileX] where unsafe row[x] != wanted { return .mixed }
        }
        return cover
    }

    // MARK: Pixels

    private func draw(tiles: Range<Int>, _ tileY: Int, _ memory: DrawingMemory) {
        let rows = geometry.tileRows[tileY]
        let columns =
            geometry.tileColumns[tiles.lowerBound].lowerBound..<geometry.tileColumns[tiles.upperBound - 1].upperBound
        let (width, grid) = (guide.width, geometry.grid)
        // A line has room for one pixel before it, for the smoothing, and for what overruns its end.
        let stride = max(width, grid.width) + 1 + LinearTaps.overrun
        let lines = unsafe memory.numbers.reserve(13 * stride, filler: 0) + 1
        let (channels, samples) = unsafe (lines + 3 &* stride, lines + 6 &* stride)
        let (first, second) = unsafe (lines + 10 &* stride, lines + 11 &* stride)
        let wide = max(columns.lowerBound - 1, 0)..<min(columns.upperBound + 1, width)

        /// q of a row, smoothed along it; three are kept.
        func line(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe lines + y % 3 &* stride }
        func make(_ y: Int) {
            unsafe guide.read(row: y, columns: wide, into: channels, stride: stride, loops)
            let cells = geometry.cellColumns.samples
            let sources = geometry.cellColumns.sources(of: wide)
            for plane in 0..<4 {
                let coefficient = unsafe model + plane &* cells &* geometry.cellRows.samples
                unsafe geometry.cellRows.blendRows(
                    coefficient, width: cells, y: y, columns: sources, into: samples + plane &* stride, loops)
            }
            unsafe geometry.cellColumns.evaluate(
                samples, modelStride: stride, channels: channels, stride: stride, columns: wide, into: first, loops)
            if wide.lowerBound == 0 { unsafe first[-1] = first[min(1, width - 1)] }
            if wide.upperBound == width { unsafe first[width] = first[max(width - 2, 0)] }
            unsafe loops.smooth(first, columns: columns, middle: Drawing.middle, side: Drawing.side, into: line(y))
        }

        if rows.lowerBound > 0 { make(rows.lowerBound - 1) }
        make(rows.lowerBound)
        let sources = geometry.sampleColumns.sources(of: columns)
        for y in rows {
            if y + 1 < guide.height { make(y + 1) }
            unsafe geometry.sampleRows.blendRows(
                plain, width: grid.width, y: y, columns: sources, into: samples, loops)
            unsafe geometry.sampleColumns.enlarge(samples, columns: columns, into: first, loops)
            if let keep = unsafe keep {
                unsafe geometry.sampleRows.blendRows(
                    keep, width: grid.width, y: y, columns: sources, into: samples, loops)
                unsafe geometry.sampleColumns.enlarge(samples, columns: columns, into: second, loops)
            } else {
                unsafe (second + columns.lowerBound).update(repeating: 0, count: columns.count)
            }
            unsafe loops.finishAlpha(
                line(y), above: line(y > 0 ? y - 1 : min(1, guide.height - 1)),
                below: line(y + 1 < guide.height ? y + 1 : max(y - 1, 0)), middle: Drawing.middle, side: Drawing.side,
                slope: Drawing.slope, plain: first, keep: second, columns: columns,
                into: alpha.row(y).assumingMemoryBound(to: UInt8.self))
        }
    }
}
