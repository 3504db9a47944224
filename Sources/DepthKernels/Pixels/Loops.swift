import CDepthKernels
import DepthLoops
import DepthLoopsV3

/// Dispatch table of the innermost loops, which are compiled from the same source (`Sources/DepthLoops`) once for each
/// instruction set; a value selects one. All give the same bits: no operation is reordered or fused.
package enum Loops: Sendable {
    /// For every processor that the library is compiled for.
    case baseline
    /// For x86-64-v3: AVX2, in nearly every processor since 2015. On other architectures the same as `baseline`.
    case v3

    /// The instruction sets that this processor has, slowest first.
    package static var usable: [Loops] { dm_has_x86_64_v3() ? [.baseline, .v3] : [.baseline] }

    /// The fastest one that this processor has.
    package static var best: Loops { dm_has_x86_64_v3() ? .v3 : .baseline }

    typealias MutableWords = UnsafeMutablePointer<UInt64>
    typealias Floats = UnsafePointer<Float>
    typealias MutableFloats = UnsafeMutablePointer<Float>
    typealias MutableShorts = UnsafeMutablePointer<Int16>
    typealias Shorts = UnsafePointer<Int16>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableDoubles = UnsafeMutablePointer<Double>
    typealias MutableInts = UnsafeMutablePointer<Int32>
    typealias Doubles = UnsafePointer<Double>
    typealias Ints = UnsafePointer<Int32>
}

// MARK: - Matte and blend

extension Loops {
    @inline(__always)
    func compare(_ counts: UnsafeRawPointer, words: Int, first: UInt16, span: UInt16, into mask: MutableWords) {
        self == .v3
            ? unsafe DepthLoopsV3.compare(counts, words: words, first: first, span: span, into: mask)
            : unsafe DepthLoops.compare(counts, words: words, first: first, span: span, into: mask)
    }

    @inline(__always)
    func countInside(_ counts: UnsafeRawPointer, count: Int, first: UInt16, span: UInt16, hole: Int32) -> Int {
        self == .v3
            ? unsafe DepthLoopsV3.countInside(counts, count: count, first: first, span: span, hole: hole)
            : unsafe DepthLoops.countInside(counts, count: count, first: first, span: span, hole: hole)
    }

    @inline(__always)
    func classify(
        _ opacities: Floats, blocks: Range<Int>, clear: Float, opaque: Float, clearBits: MutableWords,
        opaqueBits:
            MutableWords
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.classify(
                opacities, blocks: blocks, clear: clear, opaque: opaque, clearBits: clearBits, opaqueBits: opaqueBits
            )
            : unsafe DepthLoops.classify(
                opacities, blocks: blocks, clear: clear, opaque: opaque, clearBits: clearBits, opaqueBits: opaqueBits
            )
    }

    @inline(__always)
    func expand(_ bits: MutableWords, blocks: Range<Int>, into row: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.expand(bits, blocks: blocks, into: row)
            : unsafe DepthLoops.expand(bits, blocks: blocks, into: row)
    }

    @inline(__always)
    func decimate(_ line: Floats, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.decimate(line, count: count, into: target)
            : unsafe DepthLoops.decimate(line, count: count, into: target)
    }

    @inline(__always)
    func convolve(_ middle: Floats, blocks: Int, step: Int, weights: Floats, radius: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.convolve(
                middle, blocks: blocks, step: step, weights: weights, radius: radius, into: target
            )
            : unsafe DepthLoops.convolve(
                middle, blocks: blocks, step: step, weights: weights, radius: radius, into: target
            )
    }

    @inline(__always)
    func raise(_ numbers: MutableFloats, count: Int, to exponent: Float) {
        self == .v3
            ? unsafe DepthLoopsV3.raise(numbers, count: count, to: exponent)
            : unsafe DepthLoops.raise(numbers, count: count, to: exponent)
    }

    @inline(__always)
    func evidence(
        _ colors: Floats, stride: Int, count: Int, person: Floats, personColors: Int, room: Floats, roomColors: Int,
        factor: Float, outlier: Float, memory: MutableFloats, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.evidence(
                colors, stride: stride, count: count, person: person, personColors: personColors, room: room,
                roomColors: roomColors, factor: factor, outlier: outlier, memory: memory, into: target)
            : unsafe DepthLoops.evidence(
                colors, stride: stride, count: count, person: person, personColors: personColors, room: room,
                roomColors: roomColors, factor: factor, outlier: outlier, memory: memory, into: target)
    }

    @inline(__always)
    func probability(_ logOdds: Floats, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.probability(logOdds, count: count, into: target)
            : unsafe DepthLoops.probability(logOdds, count: count, into: target)
    }

    @inline(__always)
    func toFixed(_ opacities: Floats, count: Int, into target: MutableShorts) {
        self == .v3
            ? unsafe DepthLoopsV3.toFixed(opacities, count: count, into: target)
            : unsafe DepthLoops.toFixed(opacities, count: count, into: target)
    }

    @inline(__always)
    func resample(_ line: Shorts, _ taps: dm_column_taps, columns: Range<Int>, into target: MutableShorts) {
        self == .v3
            ? unsafe DepthLoopsV3.resample(line, taps, columns: columns, into: target)
            : unsafe DepthLoops.resample(line, taps, columns: columns, into: target)
    }

    @inline(__always)
    func filterVertically(
        _ taps: UnsafePointer<dm_row_taps>, rows: Int, columns: Range<Int>, into alpha: MutableBytes, stride: Int
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.filterVertically(taps, rows: rows, columns: columns, into: alpha, stride: stride)
            : unsafe DepthLoops.filterVertically(taps, rows: rows, columns: columns, into: alpha, stride: stride)
    }

    @inline(__always)
    func blend(_ part: dm_blend_part, start: Int, count: Int, alpha: Bytes, alphaStride: Int) {
        self == .v3
            ? unsafe DepthLoopsV3.blend(part, start: start, count: count, alpha: alpha, alphaStride: alphaStride)
            : unsafe DepthLoops.blend(part, start: start, count: count, alpha: alpha, alphaStride: alphaStride)
    }

    @inline(__always)
    func copyPastCache(_ source: Bytes, count: Int, ahead: Int, into target: MutableBytes) {
        self == .v3
            ? unsafe DepthLoopsV3.copyPastCache(source, count: count, ahead: ahead, into: target)
            : unsafe DepthLoops.copyPastCache(source, count: count, ahead: ahead, into: target)
    }

    @inline(__always)
    func expandAlpha(_ alpha: Bytes, stride: Int, _ pixels: dm_alpha_run, into target: MutableBytes) {
        self == .v3
            ? unsafe DepthLoopsV3.expandAlpha(alpha, stride: stride, pixels, into: target)
            : unsafe DepthLoops.expandAlpha(alpha, stride: stride, pixels, into: target)
    }

    @inline(__always)
    func expandAlphaPacked422(_ source: Bytes, count: Int, lumaFirst: Bool, into target: MutableBytes) {
        self == .v3
            ? unsafe DepthLoopsV3.expandAlphaPacked422(source, count: count, lumaFirst: lumaFirst, into: target)
            : unsafe DepthLoops.expandAlphaPacked422(source, count: count, lumaFirst: lumaFirst, into: target)
    }
}

// MARK: - Fusion

extension Loops {
    @inline(__always)
    func sumRows(
        _ rows: (Bytes, Bytes, Bytes, Bytes), weights: SIMD4<UInt16>, rowCount: Int, count: Int, isFirst: Bool,
        into sums: UnsafeMutablePointer<UInt16>
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.sumRows(
                rows, weights: weights, rowCount: rowCount, count: count, isFirst: isFirst, into: sums)
            : unsafe DepthLoops.sumRows(
                rows, weights: weights, rowCount: rowCount, count: count, isFirst: isFirst, into: sums)
    }

    @inline(__always)
    func averageGroups(
        _ line: UnsafePointer<UInt16>, step: Int, pixels: Int, intervals: Int, weights: SIMD16<Float>, offset: Float,
        groups: Int, into target: MutableFloats
    ) -> Bool {
        self == .v3
            ? unsafe DepthLoopsV3.averageGroups(
                line, step: step, pixels: pixels, intervals: intervals, weights: weights, offset: offset,
                groups: groups, into: target)
            : unsafe DepthLoops.averageGroups(
                line, step: step, pixels: pixels, intervals: intervals, weights: weights, offset: offset,
                groups: groups, into: target)
    }

    @inline(__always)
    func averageSquares(_ rows: Floats, stride: Int, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.averageSquares(rows, stride: stride, count: count, into: target)
            : unsafe DepthLoops.averageSquares(rows, stride: stride, count: count, into: target)
    }

    @inline(__always)
    func averageIntervals(
        _ line: Floats, step: Int, first: Ints, weights: Floats, taps: Int, count: Int, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.averageIntervals(
                line, step: step, first: first, weights: weights, taps: taps, count: count, into: target)
            : unsafe DepthLoops.averageIntervals(
                line, step: step, first: first, weights: weights, taps: taps, count: count, into: target)
    }

    @inline(__always)
    func interpolate(_ upper: Floats, _ lower: Floats, share: Float, columns: Range<Int>, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.interpolate(upper, lower, share: share, columns: columns, into: target)
            : unsafe DepthLoops.interpolate(upper, lower, share: share, columns: columns, into: target)
    }

    @inline(__always)
    func enlarge(
        _ line: Floats, starts: Ints, share: Floats, samples: Range<Int>, step: Int, columns: Range<Int>,
        into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.enlarge(
                line, starts: starts, share: share, samples: samples, step: step, columns: columns, into: target)
            : unsafe DepthLoops.enlarge(
                line, starts: starts, share: share, samples: samples, step: step, columns: columns, into: target)
    }

    @inline(__always)
    func evaluate(
        model: Floats, modelStride: Int, starts: Ints, share: Floats, samples: Range<Int>, step: Int, channels: Floats,
        stride: Int, columns: Range<Int>, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.evaluate(
                model: model, modelStride: modelStride, starts: starts, share: share, samples: samples, step: step,
                channels: channels, stride: stride, columns: columns, into: target)
            : unsafe DepthLoops.evaluate(
                model: model, modelStride: modelStride, starts: starts, share: share, samples: samples, step: step,
                channels: channels, stride: stride, columns: columns, into: target)
    }

    @inline(__always)
    func widen(_ bytes: Bytes, step: Int, shift: Int, columns: Range<Int>, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.widen(bytes, step: step, shift: shift, columns: columns, into: target)
            : unsafe DepthLoops.widen(bytes, step: step, shift: shift, columns: columns, into: target)
    }

    @inline(__always)
    func smooth(_ line: Floats, columns: Range<Int>, middle: Float, side: Float, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.smooth(line, columns: columns, middle: middle, side: side, into: target)
            : unsafe DepthLoops.smooth(line, columns: columns, middle: middle, side: side, into: target)
    }

    @inline(__always)
    func finishAlpha(
        _ line: Floats, above: Floats, below: Floats, middle: Float, side: Float, slope: Float, plain: Floats,
        keep: Floats, columns: Range<Int>, into alpha: MutableBytes
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.finishAlpha(
                line, above: above, below: below, middle: middle, side: side, slope: slope, plain: plain, keep: keep,
                columns: columns, into: alpha)
            : unsafe DepthLoops.finishAlpha(
                line, above: above, below: below, middle: middle, side: side, slope: slope, plain: plain, keep: keep,
                columns: columns, into: alpha)
    }

    @inline(__always)
    func addSquaredMeans(_ sums: Floats, count: Int, factor: Float, isFirst: Bool, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.addSquaredMeans(sums, count: count, factor: factor, isFirst: isFirst, into: target)
            : unsafe DepthLoops.addSquaredMeans(sums, count: count, factor: factor, isFirst: isFirst, into: target)
    }

    @inline(__always)
    func subtractRows(_ a: Floats, _ b: Floats, _ c: Floats, less offset: Int, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.subtractRows(a, b, c, less: offset, count: count, into: target)
            : unsafe DepthLoops.subtractRows(a, b, c, less: offset, count: count, into: target)
    }

    @inline(__always)
    func dilateWords(
        _ words: UnsafePointer<UInt64>, count: Int, by distance: Int, into target: UnsafeMutablePointer<UInt64>
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.dilateWords(words, count: count, by: distance, into: target)
            : unsafe DepthLoops.dilateWords(words, count: count, by: distance, into: target)
    }

    @inline(__always)
    func orWords(_ words: UnsafePointer<UInt64>, count: Int, into target: UnsafeMutablePointer<UInt64>) {
        self == .v3
            ? unsafe DepthLoopsV3.orWords(words, count: count, into: target)
            : unsafe DepthLoops.orWords(words, count: count, into: target)
    }

    @inline(__always)
    func addRow(_ row: Floats, weight: Float, isFirst: Bool, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.addRow(row, weight: weight, isFirst: isFirst, count: count, into: target)
            : unsafe DepthLoops.addRow(row, weight: weight, isFirst: isFirst, count: count, into: target)
    }

    @inline(__always)
    func multiply(_ one: Floats, _ other: Floats, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.multiply(one, other, count: count, into: target)
            : unsafe DepthLoops.multiply(one, other, count: count, into: target)
    }

    @inline(__always)
    func sumNeighbours(_ line: Floats, radius: Int, count: Int, into target: MutableFloats) {
        self == .v3
            ? unsafe DepthLoopsV3.sumNeighbours(line, radius: radius, count: count, into: target)
            : unsafe DepthLoops.sumNeighbours(line, radius: radius, count: count, into: target)
    }

    @inline(__always)
    func solveModel(_ lines: MutableFloats, stride: Int, count: Int, epsilon: Float) {
        self == .v3
            ? unsafe DepthLoopsV3.solveModel(lines, stride: stride, count: count, epsilon: epsilon)
            : unsafe DepthLoops.solveModel(lines, stride: stride, count: count, epsilon: epsilon)
    }

    @inline(__always)
    func sumTile(
        _ colors: Floats, stride: Int, width: Int, columns: Int, rows: Int, bits: UnsafePointer<UInt64>,
        bitsStride: Int, shift: UInt64, into sums: inout dm_tile_sums
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.sumTile(
                colors, stride: stride, width: width, columns: columns, rows: rows, bits: bits,
                bitsStride: bitsStride, shift: shift, into: &sums)
            : unsafe DepthLoops.sumTile(
                colors, stride: stride, width: width, columns: columns, rows: rows, bits: bits,
                bitsStride: bitsStride, shift: shift, into: &sums)
    }

    @inline(__always)
    func settle(
        _ current: MutableFloats, past: Floats, share: MutableFloats, count: Int, factor: Float, settle: Float,
        sure: Float
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.settle(
                current, past: past, share: share, count: count, factor: factor, settle: settle, sure: sure)
            : unsafe DepthLoops.settle(
                current, past: past, share: share, count: count, factor: factor, settle: settle, sure: sure)
    }
}

// MARK: - Point cloud

extension Loops {
    @inline(__always)
    func metresOfCounts(
        _ counts: UnsafeRawPointer, count: Int, unit: Float, bias: Float, first: Int32, end: Int32, hole: Int32,
        isInverse: Bool, into metres: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.metresOfCounts(
                counts, count: count, unit: unit, bias: bias, first: first, end: end, hole: hole, isInverse: isInverse,
                into: metres)
            : unsafe DepthLoops.metresOfCounts(
                counts, count: count, unit: unit, bias: bias, first: first, end: end, hole: hole, isInverse: isInverse,
                into: metres)
    }

    @inline(__always)
    func projectRow(
        metres: Floats, colors: UnsafeRawPointer, opaque: UInt32, count: Int, rays: Floats, raysStride: Int,
        start:
            SIMD3<Float>, shift: SIMD3<Float>, size: SIMD2<Float>, origin: Int32, stride: Int32, nearest: Float,
        keys:
            MutableDoubles, places: MutableInts, keysBefore: Doubles, placesBefore: Ints, in buffer: MutableDoubles
    ) -> SIMD2<Int32> {
        self == .v3
            ? unsafe DepthLoopsV3.projectRow(
                metres: metres, colors: colors, opaque: opaque, count: count, rays: rays, raysStride: raysStride,
                start:
                    start, shift: shift, size: size, origin: origin, stride: stride, nearest: nearest, keys: keys,
                places:
                    places, keysBefore: keysBefore, placesBefore: placesBefore, in: buffer
            )
            : unsafe DepthLoops.projectRow(
                metres: metres, colors: colors, opaque: opaque, count: count, rays: rays, raysStride: raysStride,
                start:
                    start, shift: shift, size: size, origin: origin, stride: stride, nearest: nearest, keys: keys,
                places:
                    places, keysBefore: keysBefore, placesBefore: placesBefore, in: buffer
            )
    }

    @inline(__always)
    func keepNearest(keys: Doubles, places: Ints, count: Int, in buffer: MutableDoubles) {
        self == .v3
            ? unsafe DepthLoopsV3.keepNearest(keys: keys, places: places, count: count, in: buffer)
            : unsafe DepthLoops.keepNearest(keys: keys, places: places, count: count, in: buffer)
    }

    @inline(__always)
    func moveNearest(from source: MutableDoubles, count: Int, empty: Double, into target: MutableDoubles) {
        self == .v3
            ? unsafe DepthLoopsV3.moveNearest(from: source, count: count, empty: empty, into: target)
            : unsafe DepthLoops.moveNearest(from: source, count: count, empty: empty, into: target)
    }

    @inline(__always)
    func drawDiscs(
        rows: UnsafePointer<UnsafeMutablePointer<Double>>, lines: Int, emptied: MutableDoubles,
        alsoEmptied:
            MutableDoubles, empty: Double, radius: Int, heights: UnsafePointer<Int>, width: Int,
        scratch: MutableDoubles,
        into target: UnsafeMutableRawPointer, stride: Int
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.drawDiscs(
                rows: rows, lines: lines, emptied: emptied, alsoEmptied: alsoEmptied, empty: empty, radius: radius,
                heights: heights, width: width, scratch: scratch, into: target, stride: stride
            )
            : unsafe DepthLoops.drawDiscs(
                rows: rows, lines: lines, emptied: emptied, alsoEmptied: alsoEmptied, empty: empty, radius: radius,
                heights: heights, width: width, scratch: scratch, into: target, stride: stride
            )
    }
}

// MARK: - Colors of metres

extension Loops {
    @inline(__always)
    func binsOfMetres(
        _ row: UnsafeRawPointer, count: Int, bins: Int32, limit: Float, scale: Float, into numbers: MutableInts
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.binsOfMetres(row, count: count, bins: bins, limit: limit, scale: scale, into: numbers)
            : unsafe DepthLoops.binsOfMetres(row, count: count, bins: bins, limit: limit, scale: scale, into: numbers)
    }

    @inline(__always)
    func placesOfMetres(
        _ row: UnsafeRawPointer, count: Int, last: Int32, near: Float, far: Float, scale: Float,
        into numbers:
            MutableInts
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.placesOfMetres(
                row, count: count, last: last, near: near, far: far, scale: scale, into: numbers
            )
            : unsafe DepthLoops.placesOfMetres(
                row, count: count, last: last, near: near, far: far, scale: scale, into: numbers
            )
    }
}
