import CVectors
import DepthLoops

/// From opacities at a matte's grid to bytes of alpha at the video's size, a few rows at a time. What is called a sample here
/// is one of the map of opacities, be it a sample of the depth map or a cell of several (`MatteGrid`).
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In whole numbers of 16 bits, which is half the work of single precision and wrong by less than a quarter of a byte's
/// step (`fixOpacities`, `stretchEvenly`, `mixRows`). Where cells are large, most rows lie on lines between others
/// (`RowLines`).
///
/// Separable: rows of the map are stretched to the video's width first, the last few of them are kept, and each video row
/// is a weighted sum of up to four, or lies between two that are. All of that is done only where the alpha changes; of the
/// rest it is known that it is 0 or 255, and no byte of it is written. Video pixels whose centre lies outside the map are 0.
struct AlphaRows: ~Copyable {
    private var stretchedRows = Scratch<Int16>()
    private var line = Scratch<Float>()
    private var fixedLine = Scratch<Int16>()
    private var sets = Scratch<UInt64>()
    private var groupSets = Scratch<UInt64>()
    private var runs = Scratch<AlphaRun>()
    private var fours = Scratch<FourRows>()

    /// Rows of the map that a video row is a sum of, at most.
    static let taps = 4

    /// Rows of the map that are kept stretched: more than one video row depends on, a power of two, and as many as
    /// `AlphaReader.stretched` has.
    static let rowsKept = 8

    /// Runs start and end at multiples of this many pixels, which suit the vectors of the loops and every chroma sample.
    static let grain = 16

    /// Video rows that are made together, at most.
    static let largestStrip = 32

    /// Samples that are stretched together.
    static let groupWidth = 8

    /// Lends the rows of one frame to `body`, which reads them from top to bottom.
    ///
    /// - Returns: false, without a call, where there are none.
    ///
    /// - Precondition: the map has the size of the geometry's grid.
    mutating func withRows(
        of map: OpacityMap, _ geometry: UpscaleGeometry, _ loops: Loops, _ body: (inout AlphaReader) -> Void
    ) -> Bool {
        let placement = geometry.placement
        return unsafe geometry.columnTaps.first.withUnsafeBufferPointer { first in
            unsafe geometry.columnTaps.weights.withUnsafeBufferPointer { weights in
                unsafe geometry.even.weights.withUnsafeBufferPointer { evenWeights in
                    guard let first = first.baseAddress, let weights = weights.baseAddress,
                        let evenWeights = evenWeights.baseAddress
                    else { return false }
                    let groupWords = groups(of: 64 * AlphaRows.groupWidth, in: map.width)
                    var reader = unsafe AlphaReader(
                        map: map, geometry: geometry, first: first, weights: weights, evenWeights: evenWeights,
                        kept: stretchedRows.reserve(placement.videoWidth * AlphaRows.rowsKept, filler: 0),
                        groupSets: groupSets.reserve(groupWords * (AlphaRows.rowsKept + 2), filler: 0),
                        groupWords: groupWords,
                        line: line.reserve(map.paddedWidth, filler: 0),
                        fixedLine: fixedLine.reserve(map.paddedWidth + 4, filler: 0),
                        sets: sets.reserve(map.sampleWords * 3, filler: 0),
                        runs: runs.reserve(map.width * 2 + 8, filler: AlphaRun(cover: .mixed, start: 0, end: 0)),
                        fours: fours.reserve(AlphaRows.largestStrip, filler: FourRows()), loops: loops)
                    body(&reader)
                    return true
                }
            }
        }
    }
}

/// Reads the alpha of one frame.
@safe
struct AlphaReader {
    let map: OpacityMap
    let geometry: UpscaleGeometry
    fileprivate let first: UnsafePointer<Int>
    fileprivate let weights: UnsafePointer<Int16>
    fileprivate let evenWeights: UnsafePointer<Int16>
    /// A ring of `rowsKept` rows of video width.
    fileprivate let kept: UnsafeMutablePointer<Int16>
    /// The rows of the map that are kept; -1 for none.
    fileprivate var stretched = InlineArray<8, Int>(repeating: -1)
    /// Sets of groups, of `groupWords` words each: those that are asked for, those that are missing, and for each row that
    /// is kept those that are stretched.
    fileprivate let groupSets: UnsafeMutablePointer<UInt64>
    fileprivate let groupWords: Int
    /// Room for a row of the map…
    fileprivate let line: UnsafeMutablePointer<Float>
    /// …and for one in whole numbers with two samples on either side.
    fileprivate let fixedLine: UnsafeMutablePointer<Int16>
    /// Room for three sets of samples.
    fileprivate let sets: UnsafeMutablePointer<UInt64>
    fileprivate let runs: UnsafeMutablePointer<AlphaRun>
    /// Room for what each row of a strip is made of, or the knots that it lies between.
    fileprivate let fours: UnsafeMutablePointer<FourRows>
    fileprivate let loops: Loops

    var width: Int { geometry.placement.videoWidth }
    var height: Int { geometry.placement.videoHeight }

    /// Says what the alpha of some neighbouring rows is, all of them taken together, in runs from left to right that
    /// start and end at multiples of the grain; and writes the bytes of the mixed ones, each row `stride` after the one
    /// before.
    ///
    /// - parameter meanwhile: is told, while there is much to compute, the runs of which rows on the map come next; not
    ///   where none of them is mixed.
    /// - Precondition: the rows are inside the video and not above those read before; `alpha` has room for them.
    mutating func read(
        _ rows: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>, stride: Int,
        meanwhile: (AlphaRuns, Range<Int>) -> Void = { _, _ in }
    ) -> AlphaRuns {
        let found = findRuns(rows)
        if found.isAnyMixed {
            let onMap = rows.clamped(to: geometry.rows)
            for y in rows where !onMap.contains(y) {
                for index in 0..<found.count where found[index].cover == .mixed {
                    let columns = found[index].start..<found[index].end
                    unsafe clear(columns, of: 1, in: alpha + (y &- rows.lowerBound) &* stride, stride: stride)
                }
            }
            if !onMap.isEmpty {
                unsafe write(
                    onMap, found, to: alpha + (onMap.lowerBound &- rows.lowerBound) &* stride, stride: stride, meanwhile
                )
            }
        }
        return found
    }

    // MARK: Runs

    private func findRuns(_ rows: Range<Int>) -> AlphaRuns {
        var list = unsafe RunList(runs: runs, width: width)
        let onMap = rows.clamped(to: geometry.rows)
        if onMap.isEmpty {
            list.append(.clear, to: width)
        } else {
            let sources =
                geometry.sourceRows(of: onMap.lowerBound)
                .lowerBound..<geometry.sourceRows(of: onMap.upperBound &- 1).upperBound
            list.append(.clear, to: geometry.columns.lowerBound)
            appendRuns(sources, isWhole: onMap == rows, to: &list)
            list.append(.clear, to: width)
        }
        return unsafe AlphaRuns(first: runs, count: list.count)
    }

    /// - parameter isWhole: whether all rows that are asked for are on the map; beside one that is not, nothing is
    ///   opaque in all of them.
    private func appendRuns(_ sources: Range<Int>, isWhole: Bool, to list: inout RunList) {
        join(sources)
        let count = map.width
        var sample = 0
        while sample < count {
            let start = sample
            if mixed.contains(start) {
                sample = mixed.firstMissing(from: start, to: count)
                continue
            }
            let isOpaque = opaque.contains(start)
            sample = isOpaque ? opaque.firstMissing(from: start, to: count) : touched.first(from: start, to: count)
            if isOpaque && !isWhole { continue }
            let first = geometry.firstBehind[start]
            let end = geometry.firstAcross[sample]
            guard end > first else { continue }
            list.append(.mixed, to: first)
            list.append(isOpaque ? .opaque : .clear, to: end)
        }
        list.append(.mixed, to: geometry.columns.upperBound)
    }

    /// The samples that are opaque in all rows that were joined last.
    private var opaque: BitRow { unsafe BitRow(sets) }
    /// Those that are not clear in all of them.
    private var touched: BitRow { unsafe BitRow(sets + map.sampleWords) }
    /// Those that are neither.
    private var mixed: BitRow { unsafe BitRow(sets + 2 &* map.sampleWords) }

    /// Finds what these rows of the map have in common.
    private func join(_ rows: Range<Int>) {
        var word = 0
        while word < map.sampleWords {
            var every = SampleWords(repeating: .max)
            var some = SampleWords(repeating: 0)
            for y in rows {
                let bits = load(map.opaqueSamples(y), word)
                every &= bits
                some |= bits | load(map.mixedSamples(y), word)
            }
            store(every, opaque, word)
            store(some, touched, word)
            store(some & ~every, mixed, word)
            word &+= SampleWords.scalarCount
        }
    }

    private func load(_ row: BitRow, _ word: Int) -> SampleWords {
        unsafe UnsafeRawPointer(row.words + word).loadUnaligned(as: SampleWords.self)
    }

    private func store(_ words: SampleWords, _ row: BitRow, _ word: Int) {
        unsafe UnsafeMutableRawPointer(row.words + word).storeBytes(of: words, as: SampleWords.self)
    }

    // MARK: Bytes

    /// Writes the mixed runs of rows that are on the map.
    private mutating func write(
        _ rows: Range<Int>, _ found: AlphaRuns, to alpha: UnsafeMutablePointer<UInt8>, stride: Int,
        _ meanwhile: (AlphaRuns, Range<Int>) -> Void
    ) {
        ask(for: found)
        var (y, target) = unsafe (rows.lowerBound, alpha)
        while y < rows.upperBound {
            let sources = geometry.sourceRows(of: y)
            var (end, endOfSources) = (y &+ 1, sources.upperBound)
            while end < rows.upperBound && end &- y < AlphaRows.largestStrip {
                let next = geometry.sourceRows(of: end)
                // Rows of the map that none of these depends on are left out.
                if next.upperBound &- sources.lowerBound > AlphaRows.rowsKept || next.lowerBound > endOfSources {
                    break
                }
                (end, endOfSources) = (end &+ 1, next.upperBound)
            }
            let (count, parts) = (end &- y, endOfSources &- sources.lowerBound)
            for part in 0..<parts {
                meanwhile(found, (y &+ count &* part / parts)..<(y &+ count &* (part &+ 1) / parts))
                stretch(row: sources.lowerBound &+ part)
            }
            unsafe mix(y..<end, found, into: target, stride: stride)
            unsafe target += (end &- y) &* stride
            y = end
        }
    }

    /// Writes the mixed runs of rows whose sources are stretched.
    private func mix(
        _ rows: Range<Int>, _ found: AlphaRuns, into target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        for index in 0..<found.count where found[index].cover == .mixed {
            let run = found[index]
            let columns = columns(of: run)
            unsafe clear(run.start..<columns.lowerBound, of: rows.count, in: target, stride: stride)
            unsafe clear(columns.upperBound..<run.end, of: rows.count, in: target, stride: stride)
        }
        let lines = rows.clamped(to: geometry.lines.rows)
        if lines.isEmpty { return unsafe mixEach(rows, found, into: target, stride: stride) }
        let (above, below) = (rows.lowerBound..<lines.lowerBound, lines.upperBound..<rows.upperBound)
        unsafe mixEach(above, found, into: target, stride: stride)
        unsafe mixLines(lines, found, into: target + above.count &* stride, stride: stride)
        unsafe mixEach(below, found, into: target + (above.count &+ lines.count) &* stride, stride: stride)
    }

    /// The columns of a run that are on the map.
    private func columns(of run: AlphaRun) -> Range<Int> {
        let start = min(max(run.start, geometry.columns.lowerBound), run.end)
        return start..<max(min(run.end, geometry.columns.upperBound), start)
    }

    private func mixEach(
        _ rows: Range<Int>, _ found: AlphaRuns, into target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        if rows.isEmpty { return }
        for y in rows { unsafe fours[y &- rows.lowerBound] = four(of: y) }
        for index in 0..<found.count where found[index].cover == .mixed {
            let columns = columns(of: found[index])
            if !columns.isEmpty { unsafe loops.mixRows(fours, rows.count, columns, target, stride) }
        }
    }

    /// The same for rows that lie between knots.
    private func mixLines(
        _ rows: Range<Int>, _ found: AlphaRuns, into target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        let first = knot(above: rows.lowerBound)
        var (next, count) = (first, 0)
        while next < rows.upperBound &+ rowsPerKnot {
            unsafe fours[count] = four(of: next)
            (next, count) = (next &+ rowsPerKnot, count &+ 1)
        }
        for index in 0..<found.count where found[index].cover == .mixed {
            let columns = columns(of: found[index])
            if columns.isEmpty { continue }
            unsafe loops.mixLines(fours, rows.lowerBound &- first, rows.count, columns, target, stride)
        }
    }

    /// What a row of the video is made of.
    private func four(of y: Int) -> FourRows {
        let (sources, weights) = (geometry.rowSources[y], geometry.rowTaps.weights(of: y))
        func row(_ tap: Int) -> UnsafePointer<Int16> { unsafe UnsafePointer(keptRow(sources[tap])) }
        return unsafe FourRows(
            rows: (row(0), row(1), row(2), row(3)), weights: (weights[0], weights[1], weights[2], weights[3]))
    }

    private func clear(
        _ columns: Range<Int>, of rows: Int, in target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        if columns.isEmpty { return }
        for row in 0..<rows {
            unsafe (target + row &* stride + columns.lowerBound).update(repeating: 0, count: columns.count)
        }
    }

    // MARK: Stretching

    @inline(__always)
    private func keptRow(_ y: Int) -> UnsafeMutablePointer<Int16> {
        unsafe kept + (y & (AlphaRows.rowsKept &- 1)) &* width
    }

    /// The groups that the mixed runs lie on.
    private var asked: BitRow { unsafe BitRow(groupSets) }
    /// Those of them that are to be stretched in some row.
    private var missing: BitRow { unsafe BitRow(groupSets + groupWords) }

    /// The groups of a kept row that are stretched.
    private func done(row y: Int) -> BitRow {
        unsafe BitRow(groupSets + (2 &+ y & (AlphaRows.rowsKept &- 1)) &* groupWords)
    }

    private func ask(for found: AlphaRuns) {
        let columns = geometry.columns
        unsafe asked.words.update(repeating: 0, count: groupWords)
        for index in 0..<found.count where found[index].cover == .mixed {
            let start = max(found[index].start, columns.lowerBound)
            let end = min(found[index].end, columns.upperBound)
            if start < end { asked.insert(geometry.owner[start]..<(geometry.owner[end &- 1] &+ 1)) }
        }
    }

    /// Stretches what is asked for of a row of the map, unless that is done; the row takes the place of an earlier one.
    private mutating func stretch(row y: Int) {
        let (place, done) = (y & (AlphaRows.rowsKept &- 1), done(row: y))
        if stretched[place] != y {
            stretched[place] = y
            unsafe done.words.update(repeating: 0, count: groupWords)
        }
        var isAnyMissing = false
        for word in 0..<groupWords {
            let missing = unsafe asked.words[word] & ~done.words[word]
            unsafe self.missing.words[word] = missing
            unsafe done.words[word] |= missing
            isAnyMissing = isAnyMissing || missing != 0
        }
        if isAnyMissing { missing.forEachRun(upTo: 64 &* groupWords) { stretchAnew($0, row: y) } }
    }

    private func stretchAnew(_ groups: Range<Int>, row y: Int) {
        let even = geometry.even.groups
        let start = min(max(even.lowerBound, groups.lowerBound), groups.upperBound)
        let end = max(min(even.upperBound, groups.upperBound), start)
        if groups.lowerBound < start { stretchAnyhow(groups.lowerBound..<start, row: y) }
        if start < end { stretchEvenly(start..<end, row: y) }
        if end < groups.upperBound { stretchAnyhow(end..<groups.upperBound, row: y) }
    }

    private func stretchEvenly(_ groups: Range<Int>, row y: Int) {
        let samples = samples(of: groups)
        unsafe loops.stretchEvenly(
            fillLine(samples, row: y), samples.count, geometry.even.ratio, evenWeights,
            keptRow(y) + geometry.firstOwned[groups.lowerBound])
    }

    private func stretchAnyhow(_ groups: Range<Int>, row y: Int) {
        let samples = samples(of: groups)
        let (firstPixel, endPixel) = (geometry.firstOwned[groups.lowerBound], geometry.firstOwned[groups.upperBound])
        unsafe loops.stretchAnyhow(
            fillLine(samples, row: y), samples.lowerBound &- 2, first + firstPixel, weights + firstPixel &* 4,
            endPixel &- firstPixel, keptRow(y) + firstPixel)
    }

    private func samples(of groups: Range<Int>) -> Range<Int> {
        groups.lowerBound &* AlphaRows.groupWidth..<min(groups.upperBound &* AlphaRows.groupWidth, map.width)
    }

    /// Some opacities and two on either side of them, the map's first and last ones repeated.
    private func fillLine(_ samples: Range<Int>, row y: Int) -> UnsafePointer<Int16> {
        let firstBlock = max(samples.lowerBound &- 2, 0) / blockWidth
        let lastBlock = min(samples.upperBound &+ 1, map.width &- 1) / blockWidth
        let base = firstBlock &* blockWidth
        for block in firstBlock...lastBlock {
            unsafe map.copyBlock(block, row: y, to: line + (block &* blockWidth &- base))
        }
        let fixed = unsafe fixedLine + 2
        unsafe loops.fixOpacities(line, lastBlock &- firstBlock &+ 1, fixed)
        if samples.lowerBound == 0 { unsafe fixedLine.update(repeating: fixed[0], count: 2) }
        if samples.upperBound &+ 2 > map.width {
            let end = unsafe fixed + (map.width &- base)
            unsafe end.update(repeating: end[-1], count: 2)
        }
        return unsafe UnsafePointer(fixedLine + (samples.lowerBound &- base))
    }
}

/// Words of a set of samples that are worked on together.
typealias SampleWords = SIMD4<UInt64>

/// The runs of some rows, from left to right, until the next rows are read.
@safe
struct AlphaRuns {
    private let first: UnsafePointer<AlphaRun>
    let count: Int

    init(first: UnsafePointer<AlphaRun>, count: Int) {
        unsafe self.first = first
        self.count = count
    }

    /// - Precondition: `0 <= index < count`.
    @inline(__always)
    subscript(index: Int) -> AlphaRun { unsafe first[index] }

    var isAnyMixed: Bool {
        for index in 0..<count where self[index].cover == .mixed { return true }
        return false
    }
}

/// Runs from left to right, each starting where the one before ends.
@safe
private struct RunList {
    private let runs: UnsafeMutablePointer<AlphaRun>
    private let width: Int
    private(set) var count = 0
    private var end = 0

    init(runs: UnsafeMutablePointer<AlphaRun>, width: Int) {
        unsafe self.runs = runs
        self.width = width
    }

    /// Adds a run up to `end`. Where it meets another it ends at a multiple of the grain inside the one that is known, so
    /// that no run starts inside a sample that several pixels share.
    mutating func append(_ cover: Cover, to end: Int) {
        var end = end
        if end < width {
            end =
                cover == .mixed
                ? (end &+ AlphaRows.grain &- 1) & ~(AlphaRows.grain &- 1) : end & ~(AlphaRows.grain &- 1)
        }
        end = min(end, width)
        guard end > self.end else { return }
        if count > 0, unsafe runs[count &- 1].cover == cover {
            unsafe runs[count &- 1].end = end
        } else {
            unsafe runs[count] = AlphaRun(cover: cover, start: self.end, end: end)
            count &+= 1
        }
        self.end = end
    }
}
