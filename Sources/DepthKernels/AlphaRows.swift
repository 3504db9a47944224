/// From opacities at the depth map's size to bytes of alpha at the video's, a few rows at a time.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest (halves to even)
///
/// Separable: depth rows are stretched to the video's width first, the last four of them are kept, and each video row
/// is a weighted sum of up to four. All of that is done only where the alpha changes; of the rest it is known that it is
/// 0 or 255, and no byte of it is written. Video pixels whose centre lies outside the map are 0.
struct AlphaRows: ~Copyable {
    private var geometry: UpscaleGeometry?
    private var stretchedRows = Scratch<Float>()
    private var line = Scratch<Float>()
    private var sets = Scratch<UInt64>()
    private var runs = Scratch<AlphaRun>()

    /// Rows of the depth map that a video row can depend on.
    fileprivate static let rowsKept = 4

    /// Runs start and end at multiples of this many pixels, which suit the vectors of the loops and every chroma sample.
    static let grain = 16

    /// Lends the rows of one frame to `body`, which reads them from top to bottom.
    ///
    /// - Returns: false, without a call, where there are none.
    ///
    /// - Precondition: the map has the size that the placement says.
    mutating func withRows(
        of map: OpacityMap, placement: DepthPlacement, upscale: Upscale, _ loops: Loops,
        _ body: (inout AlphaReader) -> Void
    ) -> Bool {
        if geometry?.placement != placement || geometry?.upscale != upscale {
            geometry = UpscaleGeometry(placement: placement, upscale: upscale)
        }
        guard let geometry else { return false }
        return unsafe geometry.horizontal.first.withUnsafeBufferPointer { first in
            unsafe geometry.horizontal.weights.withUnsafeBufferPointer { weights in
                unsafe (geometry.even?.weights ?? [0]).withUnsafeBufferPointer { evenWeights in
                    guard let first = first.baseAddress, let weights = weights.baseAddress,
                        let evenWeights = evenWeights.baseAddress
                    else { return false }
                    var reader = unsafe AlphaReader(
                        map: map, geometry: geometry, first: first, weights: weights, evenWeights: evenWeights,
                        kept: stretchedRows.reserve(placement.videoWidth * AlphaRows.rowsKept, filler: 0),
                        line: line.reserve(map.paddedWidth + 4, filler: 0),
                        sets: sets.reserve(map.sampleWords * 3, filler: 0),
                        runs: runs.reserve(map.width * 2 + 8, filler: AlphaRun(cover: .mixed, start: 0, end: 0)),
                        loops: loops)
                    body(&reader)
                    return true
                }
            }
        }
    }
}

/// What depends on the sizes and the placement only.
struct UpscaleGeometry {
    let placement: DepthPlacement
    let upscale: Upscale
    /// Video pixels whose centre lies on the map.
    let columns: Range<Int>
    let rows: Range<Int>
    let horizontal: AxisWeights
    let vertical: AxisWeights
    /// For each edge between samples of the map, the first video column that needs nothing on its left…
    let firstBehind: [Int]
    /// …and the first one that needs something on its right.
    let firstAcross: [Int]
    /// How far from a row of the map the other rows are that pixels read together depend on.
    let rowReach: Int
    /// How many blocks beside a mixed one hold samples that mixed pixels depend on.
    let blockReach: Int
    /// For each block, the first of the pixels that are stretched with it.
    let firstOwned: [Int]
    /// Pixels for each sample where that is a whole number for all of them, and the weights of those pixels.
    let even: (ratio: Int, weights: [Float])?

    init(placement: DepthPlacement, upscale: Upscale) {
        self.placement = placement
        self.upscale = upscale
        let kernel: ResampleKernel = upscale == .bicubic ? .cubic : .linear
        let scaleX = Double(placement.depthWidth) / placement.width
        let scaleY = Double(placement.depthHeight) / placement.height
        horizontal = AxisWeights(
            kernel, count: placement.videoWidth, sourceCount: placement.depthWidth, scale: scaleX,
            origin: -placement.left * scaleX)
        vertical = AxisWeights(
            kernel, count: placement.videoHeight, sourceCount: placement.depthHeight, scale: scaleY,
            origin: -placement.top * scaleY)
        columns = UpscaleGeometry.pixels(placement.videoWidth, onMapOf: Double(placement.depthWidth)) {
            placement.depthPoint(videoX: $0, videoY: 0).x
        }
        rows = UpscaleGeometry.pixels(placement.videoHeight, onMapOf: Double(placement.depthHeight)) {
            placement.depthPoint(videoX: 0, videoY: $0).y
        }
        let edges = (0...groups(of: blockWidth, in: placement.depthWidth)).map { $0 * blockWidth }
        (firstBehind, firstAcross) = UpscaleGeometry.crossings(
            Array(0...placement.depthWidth), weights: horizontal, columns: columns)
        // Two neighbouring rows are read together, and runs end at multiples of the grain.
        rowReach = vertical.taps + ceilIndex(scaleY, in: 0...placement.depthHeight)
        blockReach = 1 + ceilIndex(
                (Double(AlphaRows.grain - 1) * scaleX + 2) / Double(blockWidth), in: 0...placement.depthWidth)
        even = UpscaleGeometry.evenWeights(placement, kernel)
        if let ratio = even?.ratio {
            firstOwned = edges.map { min($0 * ratio, placement.videoWidth) }
        } else {
            // A pixel goes with the block of its second tap, so that all its taps are within two samples of it.
            let (columns, horizontal) = (columns, horizontal)
            firstOwned = edges.map { edge in
                edge == 0
                    ? columns.lowerBound
                    : columns.lowerBound
                        + partitionPoint(columns.count) { horizontal.first[columns.lowerBound + $0] + 1 >= edge }
            }
        }
    }

    /// The pixels whose centre `position` puts into 0..<`extent`.
    private static func pixels(
        _ count: Int, onMapOf extent: Double, position: (Double) -> Double
    ) -> Range<Int> {
        let start = partitionPoint(count) { position(Double($0) + 0.5) >= 0 }
        return start..<max(start, partitionPoint(count) { position(Double($0) + 0.5) >= extent })
    }

    private static func crossings(
        _ edges: [Int], weights: AxisWeights, columns: Range<Int>
    ) -> (behind: [Int], across: [Int]) {
        func first(where predicate: (Int) -> Bool) -> Int {
            columns.lowerBound + partitionPoint(columns.count) { predicate(columns.lowerBound + $0) }
        }
        let behind = edges.map { edge in first { weights.first[$0] >= edge } }
        let across = edges.map { edge in first { weights.first[$0] + weights.taps > edge } }
        return (behind, across)
    }

    /// The whole number of pixels that every sample is stretched to, and four weights for each of them.
    private static func evenWeights(_ placement: DepthPlacement, _ kernel: ResampleKernel) -> (Int, [Float])? {
        let ratio = placement.videoWidth / placement.depthWidth
        guard kernel == .cubic, ratio >= 1, ratio <= 16, ratio * placement.depthWidth == placement.videoWidth,
            placement.left == 0, placement.width == Double(placement.videoWidth)
        else { return nil }
        let weights = (0..<ratio).flatMap { phase in
            let point = (Double(phase) + 0.5) / Double(ratio) - 0.5
            return keysWeights(point - point.rounded(.down)).map { Float($0) }
        }
        return (ratio, weights)
    }

    func sourceRows(of y: Int) -> Range<Int> {
        vertical.first[y]..<(vertical.first[y] &+ vertical.taps)
    }
}

/// Reads the alpha of one frame.
@safe
struct AlphaReader {
    let map: OpacityMap
    let geometry: UpscaleGeometry
    fileprivate let first: UnsafePointer<Int>
    fileprivate let weights: UnsafePointer<Float>
    fileprivate let evenWeights: UnsafePointer<Float>
    /// A ring of `rowsKept` rows of video width.
    fileprivate let kept: UnsafeMutablePointer<Float>
    /// The rows of the map that were stretched last; -1 for none.
    fileprivate var stretched = InlineArray<4, Int>(repeating: -1)
    /// Room for a row of the map and two samples on either side.
    fileprivate let line: UnsafeMutablePointer<Float>
    /// Room for three sets of blocks.
    fileprivate let sets: UnsafeMutablePointer<UInt64>
    fileprivate let runs: UnsafeMutablePointer<AlphaRun>
    fileprivate let loops: Loops

    var width: Int { geometry.placement.videoWidth }
    var height: Int { geometry.placement.videoHeight }

    /// Says what the alpha of some neighbouring rows is, all of them taken together, in runs from left to right that
    /// start and end at multiples of the grain; and writes the bytes of the mixed ones, each row `stride` after the one
    /// before.
    ///
    /// - Precondition: the rows are inside the video and not above those read before; `alpha` has room for them.
    mutating func read(_ rows: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>, stride: Int) -> AlphaRuns {
        let found = findRuns(rows)
        // Beside a row that is not on the map, opaque runs count as mixed.
        if rows.clamped(to: geometry.rows) != rows {
            for y in rows.clamped(to: geometry.rows) {
                for row in geometry.sourceRows(of: y) { stretchWhole(row: row) }
            }
        }
        if found.isAnyMixed {
            for y in rows { unsafe write(row: y, found, to: alpha + (y &- rows.lowerBound) &* stride) }
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
        join(sources, of: map.sampleWords) { y in (map.mixedSamples(y), map.opaqueSamples(y)) }
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
            let first = start == 0 ? geometry.columns.lowerBound : geometry.firstBehind[start]
            let end = sample == count ? geometry.columns.upperBound : geometry.firstAcross[sample]
            guard end > first else { continue }
            list.append(.mixed, to: first)
            list.append(isOpaque ? .opaque : .clear, to: end)
        }
        list.append(.mixed, to: geometry.columns.upperBound)
    }

    /// What is opaque in all rows that were joined last, of their blocks or of their samples.
    private var opaque: BitRow { unsafe BitRow(sets) }
    /// What is not clear in all of them.
    private var touched: BitRow { unsafe BitRow(sets + map.sampleWords) }
    /// What is neither.
    private var mixed: BitRow { unsafe BitRow(sets + 2 &* map.sampleWords) }

    /// Finds what these rows of the map have in common.
    ///
    /// - parameter sets: what is mixed and what is opaque in a row, in so many words each.
    @inline(__always)
    private func join(_ rows: Range<Int>, of words: Int, _ sets: (Int) -> (mixed: BitRow, opaque: BitRow)) {
        for word in 0..<words {
            var every = UInt64.max
            var some: UInt64 = 0
            for y in rows {
                let (mixed, opaque) = sets(y)
                unsafe every &= opaque.words[word]
                unsafe some |= opaque.words[word] | mixed.words[word]
            }
            unsafe opaque.words[word] = every
            unsafe touched.words[word] = some
            unsafe mixed.words[word] = some & ~every
        }
    }

    // MARK: Bytes

    private mutating func write(row y: Int, _ found: AlphaRuns, to target: UnsafeMutablePointer<UInt8>) {
        guard geometry.rows.contains(y) else {
            for index in 0..<found.count where found[index].cover == .mixed {
                let run = found[index]
                unsafe (target + run.start).update(repeating: 0, count: run.end &- run.start)
            }
            return
        }
        let rows = geometry.sourceRows(of: y)
        var taps = SIMD4<Float>(repeating: 0)
        for tap in 0..<rows.count {
            stretch(row: rows.lowerBound &+ tap)
            taps[tap] = 255 * geometry.vertical.weights[y &* rows.count &+ tap]
        }
        // Maps of fewer than four rows, and two-tap weights, fill the rest with nothing of a row that exists.
        func row(_ tap: Int) -> UnsafePointer<Float> {
            unsafe UnsafePointer(keptRow(rows.lowerBound &+ (tap < rows.count ? tap : 0)))
        }
        let (row0, row1, row2, row3) = unsafe (row(0), row(1), row(2), row(3))
        for index in 0..<found.count where found[index].cover == .mixed {
            let run = found[index]
            let start = max(run.start, geometry.columns.lowerBound)
            let end = max(min(run.end, geometry.columns.upperBound), start)
            if run.start < start { unsafe (target + run.start).update(repeating: 0, count: start &- run.start) }
            if end < run.end { unsafe (target + end).update(repeating: 0, count: run.end &- end) }
            unsafe loops.mixRows(row0 + start, row1 + start, row2 + start, row3 + start, taps, end &- start, target + start)
        }
    }

    private func keptRow(_ y: Int) -> UnsafeMutablePointer<Float> {
        unsafe kept + (y & (AlphaRows.rowsKept &- 1)) &* width
    }

    /// Stretches a row of the map wherever the alpha of a pixel that depends on it may be mixed, unless that is done.
    private mutating func stretch(row y: Int) {
        let place = y & (AlphaRows.rowsKept &- 1)
        if stretched[place] == y { return }
        stretched[place] = y
        let rows = max(y &- geometry.rowReach, 0)..<min(y &+ geometry.rowReach &+ 1, map.height)
        join(rows, of: map.words) { y in (map.mixed(y), map.opaque(y)) }
        // From here on `mixed` says where pixels depend on this row: what lies beside an edge is needed too.
        markEdges()
        let reach = geometry.blockReach
        let edges = mixed
        var start = edges.first(from: 0, to: map.blocks)
        while start < map.blocks {
            var end = edges.firstMissing(from: start, to: map.blocks)
            var next = edges.first(from: end, to: map.blocks)
            while next < map.blocks, next &- end <= 2 &* reach {
                end = edges.firstMissing(from: next, to: map.blocks)
                next = edges.first(from: end, to: map.blocks)
            }
            stretch(max(start &- reach, 0)..<min(end &+ reach, map.blocks), row: y)
            start = next
        }
    }

    /// Adds to `mixed` the blocks at whose left end the alpha changes, and those at an end of the map where a run, which
    /// ends at a multiple of the grain, takes some of the map's pixels along.
    private func markEdges() {
        var before = unsafe opaque.words[0] & 1
        for word in 0..<map.words {
            // Clear and opaque blocks meet where the one is touched and the other is not, or opaque and the other not.
            let bits = unsafe opaque.words[word]
            unsafe mixed.words[word] |= (bits ^ (bits &<< 1 | before)) & map.valid(word)
            before = bits &>> 63
        }
        let columns = geometry.columns
        if columns.lowerBound % AlphaRows.grain != 0 { mixed.insert(0) }
        if columns.upperBound < width && columns.upperBound % AlphaRows.grain != 0 { mixed.insert(map.blocks &- 1) }
    }

    private mutating func stretchWhole(row y: Int) {
        stretched[y & (AlphaRows.rowsKept &- 1)] = y
        stretch(0..<map.blocks, row: y)
    }

    private func stretch(_ blocks: Range<Int>, row y: Int) {
        let start = geometry.firstOwned[blocks.lowerBound]
        let target = unsafe keptRow(y) + start
        let count = geometry.firstOwned[blocks.upperBound] &- start
        fillLine(blocks, row: y)
        if let ratio = geometry.even?.ratio {
            unsafe loops.stretchEvenly(line, count / ratio, ratio, evenWeights, target)
        } else {
            let taps = geometry.horizontal.taps
            unsafe loops.stretchAnyhow(
                line, blocks.lowerBound &* blockWidth &- 2, first + start, weights + start &* taps, taps, count, target)
        }
    }

    /// The opacities of some blocks and of two samples on either side, the map's last ones repeated.
    private func fillLine(_ blocks: Range<Int>, row y: Int) {
        let start = blocks.lowerBound &* blockWidth
        let count = min(blocks.upperBound &* blockWidth, map.width) &- start
        for block in blocks {
            unsafe map.copyBlock(block, row: y, to: line + 2 + (block &- blocks.lowerBound) &* blockWidth)
        }
        for beside in 1...2 {
            unsafe line[2 &- beside] = map.opacity(x: max(start &- beside, 0), y: y)
            unsafe line[1 &+ count &+ beside] = map.opacity(
                x: min(start &+ count &- 1 &+ beside, map.width &- 1), y: y)
        }
    }
}

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
        if end < width { end = cover == .mixed ? (end &+ AlphaRows.grain &- 1) & ~(AlphaRows.grain &- 1) : end & ~(AlphaRows.grain &- 1) }
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
