import CDepthKernels

/// The stage that draws the matte's edge along the edges of the video.
///
///     q = a · color + b           at every video pixel, a and b from the guided filter
///     alpha = clip(1.8 (q − ½) + ½) of q smoothed over 3x3 pixels (σ = 0.6)
///
/// In a noisy video q has the video's noise, and is smoothed more: σ = 0.6 + 0.2 · (255 · noise − 1.5), up to the
/// limit of a kernel of three pixels.
///
/// Alpha is exactly 0 or 1 away from edges, where samples are *plain*: their whole neighbourhood is certainly the person, or
/// certainly the room. It is blended with that of the last frame with the weight of `Settle`. Only pixels near an edge are drawn,
/// and those that have not reached their final value yet.
///
/// The state is the last frame's alpha. Source: stage 5 of the method (`Fusion`).
struct Drawing: ~Copyable {
    fileprivate static let slope: Float = 1.8
    /// The weight of each neighbour of a pixel in a normalised kernel of three: a Gaussian of 0.6 pixels.
    private static let quietSide: Float = 0.166_37
    private static let quietSigma: Float = 0.6

    /// - Parameter noise: standard deviation of luma, for luma of 0…1.
    private static func side(noise: Float) -> Float {
        let sigma = quietSigma + min(max(0.2 * (255 * noise - 1.5), 0), 0.4)
        return min(quietSide * sigma * sigma / (quietSigma * quietSigma), 1 / 3)
    }

    /// Rows of samples in a strip.
    static let stripRows = 8
    /// Gaps between two runs of a strip that are shorter than this, in samples, are drawn too.
    fileprivate static let shortestGap = 8

    private var dilation = Dilation()
    private var plainMemory = Scratch<UInt64>()
    private var alpha = Scratch<UInt8>()
    private var bits = Scratch<UInt64>()
    private var arrivedColumns = Scratch<UInt64>()
    private var segments = Scratch<Cover>()
    private var geometry: DrawingGeometry?
    private var hasPast = false
    /// The opaque and the clear parts of the alpha that was drawn last.
    private(set) var covers: AlphaCovers?

    /// The parts of a frame that are to be drawn.
    @safe
    struct Plan {
        /// Samples that are all person, or all room, with their neighbourhood.
        fileprivate let plain: (person: SampleSet, room: SampleSet)
        /// Columns of samples whose pixels in a strip are all person, or all room; a row for each strip.
        fileprivate let person: SampleSet
        fileprivate let room: SampleSet
        /// Of these columns those whose stored pixels are so.
        fileprivate let arrivedPerson: SampleSet
        fileprivate let arrivedRoom: SampleSet
        /// Columns of samples to draw.
        let columns: SampleSet
        /// The weight of the last frame's alpha for every sample; nil for none.
        fileprivate let keep: UnsafePointer<Float>?

        var isEmpty: Bool { columns.isEmpty }
    }

    /// Finds the parts of a frame that are to be drawn.
    ///
    /// - Returns: a plan that is valid until the next call.
    mutating func plan(
        _ guide: Guide, _ odds: LogOdds.Result, cells: GuidedFilter.Cells, _ context: FusionContext
    ) -> Plan {
        let grid = context.grid
        if geometry?.fits(guide, cells) != true {
            geometry = DrawingGeometry(guide, cells)
            hasPast = false
        }
        let plain = findPlain(odds, on: grid, context.loops)
        let (arrivedPerson, arrivedRoom) = arrived(on: grid)
        let sets: InlineArray<3, SampleSet> = bits.sets(like: arrivedPerson)
        let (person, room, columns) = (sets[0], sets[1], sets[2])
        for strip in 0..<columns.height {
            let rows = Drawing.rows(ofStrip: strip, on: grid)
            let around = max(rows.lowerBound - 1, 0)..<min(rows.upperBound + 1, grid.height)
            unsafe plain.person.findCommon(of: around, into: person.row(strip))
            unsafe plain.room.findCommon(of: around, into: room.row(strip))
        }
        columns.fill { ~(person[$0] & arrivedPerson[$0] | room[$0] & arrivedRoom[$0]) }
        columns.trim()
        return unsafe Plan(
            plain: plain, person: person, room: room, arrivedPerson: arrivedPerson, arrivedRoom: arrivedRoom,
            columns: columns, keep: odds.keep)
    }

    /// Finds the samples whose whole neighbourhood is certainly the person, or certainly the room.
    private mutating func findPlain(
        _ odds: LogOdds.Result, on grid: WorkGrid, _ loops: Loops
    ) -> (person: SampleSet, room: SampleSet) {
        let sets: InlineArray<3, SampleSet> = plainMemory.sets(like: odds.person)
        let (plainPerson, plainRoom, spare) = (sets[0], sets[1], sets[2])
        let radius = max(1, floorIndex(grid.samples(GuidedFilter.radius), in: 0...65_536) / 2)
        /// Half the width of the disc's row, as `cv2.getStructuringElement(cv2.MORPH_ELLIPSE)` has it.
        func halfWidth(_ row: Int) -> Int {
            nearestIndex(Double(radius * radius - row * row).squareRoot(), in: 0...radius)
        }
        dilation.erode(odds.person, rows: radius, into: plainPerson, spare, loops, halfWidth: halfWidth)
        dilation.erode(odds.room, rows: radius, into: plainRoom, spare, loops, halfWidth: halfWidth)
        return (plainPerson, plainRoom)
    }

    /// Draws the parts of a plan.
    ///
    /// - Parameters:
    ///   - model: a and b of cells (`GuidedFilter`), for the bytes of the video; nil where nothing is to be drawn.
    ///   - noise: standard deviation of luma, for luma of 0…1; 0 while unknown.
    /// - Returns: alpha of every pixel of the video, valid until the next call.
    mutating func draw(
        _ plan: Plan, _ guide: Guide, model: UnsafePointer<Float>?, noise: Float, _ context: FusionContext
    ) -> MutablePlane {
        let size = guide.width * guide.height
        let alpha = unsafe alpha.reserve(size, filler: 0)
        if !hasPast { unsafe alpha.update(repeating: 0, count: size) }
        hasPast = true
        let plane = unsafe MutablePlane(packed: alpha, width: guide.width, height: guide.height)
        guard let geometry else { return plane }
        defer { findCovers(plan.arrivedPerson, plan.arrivedRoom, geometry) }
        guard let model = unsafe model else { return plane }
        let work = unsafe DrawStrips(
            guide: guide, geometry: geometry, plan: plan, model: model, side: Drawing.side(noise: noise),
            alpha: plane, loops: context.loops)
        context.bands.share(work, rows: plan.columns.height, width: guide.width * geometry.pixelRowsOfStrip)
        return plane
    }

    /// Forgets the last frame's alpha.
    mutating func reset() { hasPast = false }

    /// Finds the segments of alpha that are opaque or clear.
    private mutating func findCovers(_ person: SampleSet, _ room: SampleSet, _ geometry: DrawingGeometry) {
        // Rows of pixels above and below the grid are in strips of their own, which are clear.
        let count = (person.height + 2) * geometry.segments.count
        let segments = unsafe segments.reserve(count, filler: .clear)
        unsafe segments.update(repeating: .clear, count: count)
        let covers = unsafe AlphaCovers(segments, width: geometry.width, stripOfRow: geometry.stripOfRow)
        for strip in 0..<person.height {
            for (segment, (samples, isInside)) in geometry.segments.enumerated() where !samples.isEmpty {
                if room.bits(strip).containsAll(samples) { continue }
                let isOpaque = isInside && person.bits(strip).containsAll(samples)
                unsafe covers.strip(strip &+ 1)[segment] = isOpaque ? .opaque : .mixed
            }
        }
        self.covers = covers
    }

    /// Columns of samples whose stored pixels in a strip are all opaque, and those whose pixels are all clear.
    private mutating func arrived(on grid: WorkGrid) -> (person: SampleSet, room: SampleSet) {
        let (stride, height) = (SampleSet.stride(width: grid.width), groups(of: Drawing.stripRows, in: grid.height))
        let words = unsafe arrivedColumns.reserve(2 * stride * height, filler: 0)
        let person = unsafe SampleSet(words: words, stride: stride, width: grid.width, height: height)
        let room = unsafe person.placed(in: words, 1)
        if !hasPast {
            person.removeAll()
            room.fill { _ in .max }
            room.trim()
        }
        return (person, room)
    }

    fileprivate static func rows(ofStrip strip: Int, on grid: WorkGrid) -> Range<Int> {
        (strip * stripRows)..<min((strip + 1) * stripRows, grid.height)
    }
}

extension SampleSet {
    /// Finds the columns that are members in some rows, and so are their neighbours; beyond the grid all are.
    fileprivate func findCommon(of rows: Range<Int>, into target: UnsafeMutablePointer<UInt64>) {
        unsafe intersect(rows: rows, into: target)
        let beyond = width & 63 == 0 ? 0 : UInt64.max &<< UInt64(truncatingIfNeeded: width & 63)
        unsafe target[stride &- 1] |= beyond
        var before = UInt64.max
        for index in 0..<stride {
            let word = unsafe target[index]
            let next = unsafe index &+ 1 < stride ? target[index &+ 1] : .max
            unsafe target[index] = word & (word &<< 1 | before &>> 63) & (word &>> 1 | next &<< 63)
            before = word
        }
        unsafe target[stride &- 1] &= ~beyond
    }
}

/// The part of the drawing that does not depend on the frame's contents.
private final class DrawingGeometry {
    let cells: GuidedFilter.Cells
    let grid: WorkGrid
    let width: Int
    let height: Int
    let cellColumns: LinearTaps
    let cellRows: LinearTaps
    let sampleColumns: LinearTaps
    let sampleRows: LinearTaps
    /// For every segment of a row of alpha, the samples that its pixels lie in; `isInside` is true where all pixels lie
    /// in samples.
    let segments: [(samples: Range<Int>, isInside: Bool)]
    /// The strip of each row of pixels, from 1 on; 0 above the grid, and the last number below it.
    let stripOfRow: [Int32]

    init(_ guide: Guide, _ cells: GuidedFilter.Cells) {
        self.cells = cells
        grid = cells.grid
        width = guide.width
        height = guide.height
        let placement = grid.placement
        func columns(_ samples: Int) -> LinearTaps {
            LinearTaps(pixels: guide.width, samples: samples, first: placement.left, size: placement.width)
        }
        func rows(_ samples: Int) -> LinearTaps {
            LinearTaps(pixels: guide.height, samples: samples, first: placement.top, size: placement.height)
        }
        (cellColumns, cellRows) = (columns(cells.width), rows(cells.height))
        (sampleColumns, sampleRows) = (columns(grid.width), rows(grid.height))
        let (taps, gridWidth) = (sampleColumns, grid.width)
        let inside = taps.pixels(of: 0..<grid.width)
        segments = stride(from: 0, to: guide.width, by: AlphaCovers.segmentWidth).map { start in
            let pixels = start..<min(start + AlphaCovers.segmentWidth, guide.width)
            let mine = pixels.clamped(to: inside)
            if mine.isEmpty { return (0..<0, false) }
            let first = partitionPoint(gridWidth) { taps.pixels(of: $0..<($0 + 1)).upperBound > mine.lowerBound }
            let end = partitionPoint(gridWidth) { taps.pixels(of: $0..<($0 + 1)).lowerBound >= mine.upperBound }
            return (first..<max(first, end), mine == pixels)
        }
        let stripCount = groups(of: Drawing.stripRows, in: grid.height)
        let covered = sampleRows.pixels(of: 0..<grid.height)
        var strips = (0..<guide.height).map { y in
            y < covered.lowerBound ? 0 : Int32(truncatingIfNeeded: stripCount + 1)
        }
        for strip in 0..<stripCount {
            for y in sampleRows.pixels(of: Drawing.rows(ofStrip: strip, on: grid)) {
                strips[y] = Int32(truncatingIfNeeded: strip + 1)
            }
        }
        stripOfRow = strips
    }

    func fits(_ guide: Guide, _ cells: GuidedFilter.Cells) -> Bool {
        self.cells === cells && width == guide.width && height == guide.height
    }

    /// The approximate number of pixels in a strip.
    var pixelRowsOfStrip: Int { max(height * Drawing.stripRows / max(grid.height, 1), 1) }
}

/// Linear interpolation from samples to pixels along one axis; the outermost samples are replicated.
private struct LinearTaps {
    let samples: Int
    /// The sample before each pixel.
    private let first: [Int32]
    /// The weight of the next sample, 0…1; some zeros of padding follow.
    private let share: [Float]
    /// For each sample, the first pixel between it and the next one; then the number of pixels.
    private let starts: [Int32]
    /// For each sample, the first pixel whose center lies in it; then the end of the last one's.
    private let stretches: [Int32]
    /// For each sample, the first pixel that depends on it and later samples only, and the first that depends on later
    /// samples only.
    private let spans: [(first: Int32, end: Int32)]

    /// Weights below this are neglected.
    private static let noWeight: Float = 0.01

    init(pixels: Int, samples: Int, first: Double, size: Double) {
        self.samples = samples
        let positions = (0..<pixels).map { (Double($0) + 0.5 - first) * Double(samples) / size - 0.5 }
        let before = positions.map { floorIndex($0, in: 0...max(samples - 2, 0)) }
        self.first = before.map { Int32(truncatingIfNeeded: $0) }
        share =
            zip(positions, before).map { position, sample in
                samples < 2 ? 0 : Float(min(max(position - Double(sample), 0), 1))
            } + [Float](repeating: 0, count: loopOverrun)
        func firstPixel(_ isBehind: (Int) -> Bool) -> Int32 {
            Int32(truncatingIfNeeded: partitionPoint(pixels, where: isBehind))
        }
        starts = (0...samples).map { sample in firstPixel { before[$0] >= sample } }
        stretches = (0...samples).map { sample in firstPixel { positions[$0] >= Double(sample) - 0.5 } }
        let margin = Double(LinearTaps.noWeight)
        spans = (0..<samples).map { sample in
            let isFirst = sample == 0
            let isLast = sample == samples - 1
            let first = isFirst ? 0 : firstPixel { positions[$0] >= Double(sample) - margin }
            let end =
                isLast ? Int32(truncatingIfNeeded: pixels) : firstPixel { positions[$0] > Double(sample) + margin }
            return (first, end)
        }
    }

    /// The pixels whose centers lie in a range of samples.
    func pixels(of samples: Range<Int>) -> Range<Int> {
        let first = Int(stretches[samples.lowerBound])
        return first..<max(first, Int(stretches[samples.upperBound]))
    }

    /// The pixels that depend on a range of samples only.
    func pixelsBetween(_ samples: Range<Int>) -> Range<Int> {
        let first = Int(spans[samples.lowerBound].first)
        return first..<max(first, Int(spans[samples.upperBound - 1].end))
    }

    /// The samples that a pixel depends on.
    func samples(ofPixel pixel: Int) -> Range<Int> {
        let (sample, share) = (Int(first[pixel]), share[pixel])
        if samples < 2 || share < LinearTaps.noWeight { return sample..<(sample + 1) }
        return share > 1 - LinearTaps.noWeight ? (sample + 1)..<(sample + 2) : sample..<(sample + 2)
    }

    /// The sample before a pixel, the next one, and the weight of the latter.
    func neighbours(ofPixel pixel: Int) -> (first: Int, second: Int, share: Float) {
        (Int(first[pixel]), Int(first[pixel]) + step, share[pixel])
    }

    /// 1; 0 for a single sample.
    private var step: Int { samples < 2 ? 0 : 1 }

    /// Interpolates a row between two rows of samples.
    func blendRows(
        _ plane: UnsafePointer<Float>, width: Int, y: Int, columns: Range<Int>, into line: UnsafeMutablePointer<Float>,
        _ loops: Loops
    ) {
        let upper = unsafe plane + Int(first[y]) &* width
        unsafe loops.interpolate(upper, upper + step &* width, share: share[y], columns: columns, into: line)
    }

    /// Interpolates the pixels of some columns from a line of samples.
    func enlarge(
        _ line: UnsafePointer<Float>, columns: Range<Int>, into target: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        unsafe withTaps(of: columns) { unsafe loops.enlarge(line, $0, columns: columns, into: target) }
    }

    /// Evaluates the model of a row, whose coefficients are four lines of samples, at some columns.
    func evaluate(
        _ model: dm_linear_model, columns: Range<Int>, into target: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        unsafe withTaps(of: columns) { unsafe loops.evaluate(model, $0, columns: columns, into: target) }
    }

    /// The samples that a range of pixels depends on.
    func sources(of pixels: Range<Int>) -> Range<Int> {
        let intervals = intervals(of: pixels)
        return intervals.lowerBound..<min(intervals.upperBound + 1, samples)
    }

    /// The samples that are the first neighbours of a range of pixels.
    private func intervals(of pixels: Range<Int>) -> Range<Int> {
        Int(first[pixels.lowerBound])..<(Int(first[pixels.upperBound - 1]) + 1)
    }

    private func withTaps(of columns: Range<Int>, _ body: (dm_linear_taps) -> Void) {
        let samples = intervals(of: columns)
        unsafe starts.withUnsafeBufferPointer { starts in
            unsafe share.withUnsafeBufferPointer { share in
                guard let starts = starts.baseAddress, let share = share.baseAddress else { return }
                unsafe body(
                    .init(
                        starts: starts, share: share, first: samples.lowerBound, end: samples.upperBound, step: step))
            }
        }
    }
}

/// Scratch memory of one worker for drawing.
private final class DrawingMemory: MatteMemoryPart {
    var numbers = Scratch<Float>()
    var keep = Scratch<Float>()
    var bits = Scratch<UInt64>()
    /// For each column, the AND and the OR of its bytes.
    var bytes = Scratch<UInt8>()
}

/// Draws strips of rows.
@safe
private struct DrawStrips: BandWork {
    let guide: Guide
    let geometry: DrawingGeometry
    let plan: Drawing.Plan
    let model: UnsafePointer<Float>
    /// The weight of a neighbour where q is smoothed.
    let side: Float
    let alpha: MutablePlane
    let loops: Loops

    func work(_ strips: Range<Int>, _ memory: MatteMemory) {
        let part = memory.part(DrawingMemory.self)
        let width = geometry.grid.width
        for strip in strips {
            let columns = plan.columns.bits(strip)
            var start = columns.first(from: 0, to: width)
            while start < width {
                var end = columns.firstMissing(from: start, to: width)
                var next = columns.first(from: end, to: width)
                while next < width, next &- end < Drawing.shortestGap {
                    end = columns.firstMissing(from: next, to: width)
                    next = columns.first(from: end, to: width)
                }
                draw(start..<end, strip, part)
                start = next
            }
        }
    }

    private func row(_ y: Int) -> UnsafeMutablePointer<UInt8> {
        unsafe alpha.row(y).assumingMemoryBound(to: UInt8.self)
    }

    private func draw(_ samples: Range<Int>, _ strip: Int, _ memory: DrawingMemory) {
        let part = Part(samples, strip, geometry, memory)
        if !part.rows.isEmpty, !part.columns.isEmpty { draw(part) }
        findArrived(samples, strip, part)
    }

    /// A run of columns of a strip, and lines of memory for it.
    @safe
    private struct Part {
        let sampleRows: Range<Int>
        /// Of pixels; `wide` has a column more on each side.
        let (rows, columns, wide): (Range<Int>, Range<Int>, Range<Int>)
        let memory: DrawingMemory
        /// Numbers of a line, which has one pixel of padding before it, for the smoothing, and some after it.
        let stride: Int
        private let lines: UnsafeMutablePointer<Float>

        init(_ samples: Range<Int>, _ strip: Int, _ geometry: DrawingGeometry, _ memory: DrawingMemory) {
            self.memory = memory
            sampleRows = Drawing.rows(ofStrip: strip, on: geometry.grid)
            rows = geometry.sampleRows.pixels(of: sampleRows)
            columns = geometry.sampleColumns.pixels(of: samples)
            wide = max(columns.lowerBound - 1, 0)..<min(columns.upperBound + 1, geometry.width)
            stride = max(geometry.width, geometry.grid.width) + 1 + loopOverrun
            unsafe lines = memory.numbers.reserve(13 * stride, filler: 0) + 1
        }

        /// q of a row, smoothed along the row; three rows are kept.
        func smooth(_ y: Int) -> UnsafeMutablePointer<Float> { unsafe lines + y % 3 &* stride }
        /// Three lines of color, and four of the model.
        var channels: UnsafeMutablePointer<Float> { unsafe lines + 3 &* stride }
        var coefficients: UnsafeMutablePointer<Float> { unsafe lines + 6 &* stride }
        /// q; the weights of the last frame; and 1 for plain person, −1 for plain room, 0 for the rest.
        var q: UnsafeMutablePointer<Float> { unsafe lines + 10 &* stride }
        var keep: UnsafeMutablePointer<Float> { unsafe lines + 11 &* stride }
        var plain: UnsafeMutablePointer<Float> { unsafe lines + 12 &* stride }
    }

    // MARK: Pixels

    private func draw(_ part: Part) {
        let (rows, columns, last) = (part.rows, part.columns, guide.height - 1)
        if rows.lowerBound > 0 { evaluate(rows.lowerBound - 1, part) }
        evaluate(rows.lowerBound, part)
        let sources = geometry.sampleColumns.sources(of: columns)
        let kept = max(part.sampleRows.lowerBound - 1, 0)..<min(part.sampleRows.upperBound + 1, geometry.grid.height)
        let calm = unsafe findLeastKept(kept, sources, part.memory)
        if unsafe calm == nil { unsafe (part.keep + columns.lowerBound).update(repeating: 0, count: columns.count) }
        var marked = 0..<0
        for y in rows {
            if y < last { evaluate(y + 1, part) }
            let sampleRows = geometry.sampleRows.samples(ofPixel: y)
            if sampleRows != marked { markPlain(sampleRows, sources, part) }
            marked = sampleRows
            if let calm = unsafe calm {
                let (upper, lower, share) = geometry.sampleRows.neighbours(ofPixel: y)
                let width = geometry.grid.width
                unsafe loops.interpolate(
                    calm + (upper &- kept.lowerBound) &* width, calm + (lower &- kept.lowerBound) &* width,
                    share: share, columns: sources, into: part.coefficients)
                unsafe geometry.sampleColumns.enlarge(part.coefficients, columns: columns, into: part.keep, loops)
            }
            unsafe loops.finishAlpha(
                .init(
                    line: part.smooth(y), above: part.smooth(y > 0 ? y - 1 : min(1, last)),
                    below: part.smooth(y < last ? y + 1 : max(y - 1, 0)), middle: (1 - 2 * side), side: side,
                    slope: Drawing.slope, plain: part.plain, keep: part.keep), columns: columns, into: row(y))
        }
    }

    /// Computes q of a row, smoothed along the row.
    private func evaluate(_ y: Int, _ part: Part) {
        let (columns, wide, width, stride) = (part.columns, part.wide, guide.width, part.stride)
        guide.prefetch(row: y &+ 8, columns: wide)
        alpha.readOnly.prefetch(row: y &+ 8, from: columns.lowerBound, count: columns.count)
        unsafe guide.read(row: y, columns: wide, into: part.channels, stride: stride, loops)
        let (sources, modelStride) = (geometry.cellColumns.sources(of: wide), geometry.cells.stride)
        for plane in 0..<GuidedFilter.modelPlanes {
            unsafe geometry.cellRows.blendRows(
                model + plane &* modelStride, width: GuidedFilter.modelPlanes &* modelStride, y: y, columns: sources,
                into: part.coefficients + plane &* stride, loops)
        }
        let q = unsafe part.q
        unsafe geometry.cellColumns.evaluate(
            .init(model: part.coefficients, model_stride: stride, channels: part.channels, stride: stride),
            columns: wide, into: q, loops)
        if wide.lowerBound == 0 { unsafe q[-1] = q[min(1, width - 1)] }
        if wide.upperBound == width { unsafe q[width] = q[max(width - 2, 0)] }
        unsafe loops.smooth(q, columns: columns, middle: (1 - 2 * side), side: side, into: part.smooth(y))
    }

    /// Marks plain pixels of a row that depends on some rows of samples.
    ///
    /// - Parameter sources: the columns of samples that the part depends on.
    private func markPlain(_ sampleRows: Range<Int>, _ sources: Range<Int>, _ part: Part) {
        let columns = part.columns
        unsafe (part.plain + columns.lowerBound).update(repeating: 0, count: columns.count)
        let bits = unsafe BitRow(part.memory.bits.reserve(plan.columns.stride, filler: 0))
        for (set, mark) in [(plan.plain.person, Float(1)), (plan.plain.room, Float(-1))] {
            for index in (sources.lowerBound &>> 6)..<groups(of: 64, in: sources.upperBound) {
                unsafe bits.words[index] = set[index, sampleRows.lowerBound] & set[index, sampleRows.upperBound &- 1]
            }
            var start = bits.first(from: sources.lowerBound, to: sources.upperBound)
            while start < sources.upperBound {
                let end = bits.firstMissing(from: start, to: sources.upperBound)
                let pixels = geometry.sampleColumns.pixelsBetween(start..<end).clamped(to: columns)
                unsafe (part.plain + pixels.lowerBound).update(repeating: mark, count: pixels.count)
                start = bits.first(from: end, to: sources.upperBound)
            }
        }
    }

    /// The smallest share of the last frame within 3x3 samples; nil where the last frame does not count.
    ///
    /// - Returns: rows of the grid's width, those of `rows`.
    private func findLeastKept(
        _ rows: Range<Int>, _ columns: Range<Int>, _ memory: DrawingMemory
    ) -> UnsafePointer<Float>? {
        guard let keep = unsafe plan.keep else { return nil }
        let (width, height) = (geometry.grid.width, geometry.grid.height)
        let lines = unsafe memory.keep.reserve((Drawing.stripRows + 2) * width + width + 2, filler: 0)
        let column = unsafe lines + ((Drawing.stripRows + 2) &* width &+ 1)
        let wide = max(columns.lowerBound - 1, 0)..<min(columns.upperBound + 1, width)
        for y in rows {
            let row = unsafe keep + y &* width
            let above = unsafe y > 0 ? row - width : row
            let below = unsafe y < height &- 1 ? row + width : row
            for x in wide { unsafe column[x] = min(row[x], min(above[x], below[x])) }
            unsafe column[-1] = column[0]
            unsafe column[width] = column[width &- 1]
            let target = unsafe lines + (y &- rows.lowerBound) &* width
            for x in columns { unsafe target[x] = min(column[x], min(column[x &- 1], column[x &+ 1])) }
        }
        return unsafe UnsafePointer(lines)
    }

    // MARK: Final values

    /// Finds the columns of samples whose pixels in a strip are all opaque, or all clear.
    private func findArrived(_ samples: Range<Int>, _ strip: Int, _ part: Part) {
        let columns = part.columns
        let bytes = unsafe part.memory.bytes.reserve(2 * guide.width, filler: 0)
        let (all, any) = unsafe (bytes - columns.lowerBound, bytes + columns.count - columns.lowerBound)
        unsafe bytes.update(repeating: 255, count: columns.count)
        unsafe (bytes + columns.count).update(repeating: 0, count: columns.count)
        for y in part.rows {
            let row = unsafe row(y)
            for x in columns {
                unsafe all[x] &= row[x]
                unsafe any[x] |= row[x]
            }
        }
        let (person, room) = (plan.arrivedPerson.bits(strip), plan.arrivedRoom.bits(strip))
        person.remove(samples)
        room.remove(samples)
        for sample in samples {
            let (isPerson, isRoom) = (plan.person.bits(strip).contains(sample), plan.room.bits(strip).contains(sample))
            guard isPerson || isRoom else { continue }
            let pixels = geometry.sampleColumns.pixels(of: sample..<(sample + 1))
            if isPerson, pixels.allSatisfy({ unsafe all[$0] == 255 }) { person.insert(sample..<(sample + 1)) }
            if isRoom, pixels.allSatisfy({ unsafe any[$0] == 0 }) { room.insert(sample..<(sample + 1)) }
        }
    }
}
