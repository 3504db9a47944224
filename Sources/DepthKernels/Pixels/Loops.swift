package import CDepthKernels
import DepthLoops
import DepthLoopsV3

/// The innermost loops, which are compiled from the same source (`Sources/DepthLoops`, where they are described) once for each
/// instruction set. All give the same bits: no operation is reordered or fused.
package protocol LoopTable: SendableMetatype {
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>
    typealias Shorts = UnsafePointer<Int16>
    typealias MutableShorts = UnsafeMutablePointer<Int16>
    typealias Ints = UnsafePointer<Int32>
    typealias MutableInts = UnsafeMutablePointer<Int32>
    typealias Floats = UnsafePointer<Float>
    typealias MutableFloats = UnsafeMutablePointer<Float>
    typealias Doubles = UnsafePointer<Double>
    typealias MutableDoubles = UnsafeMutablePointer<Double>
    typealias MutableWords = UnsafeMutablePointer<UInt64>
    typealias MutableWords16 = UnsafeMutablePointer<UInt16>

    // MARK: Matte and blend

    static func compare(
        _ counts: UnsafeRawPointer, count: Int, first: UInt16, below: UInt32, into opacities: MutableFloats)
    static func classify(
        _ opacities: Floats, blocks: Range<Int>, clear: Float, opaque: Float, clearBits: MutableWords,
        opaqueBits: MutableWords)
    static func findCovers(
        _ opacities: MutableFloats, blocks: Int, clear: Float, opaque: Float, into covers: MutableBytes)
    static func decimate(_ line: Floats, count: Int, into target: MutableFloats)
    static func convolve(
        _ middle: Floats, blocks: Int, step: Int, weights: Floats, radius: Int, into target: MutableFloats)
    static func raise(_ numbers: MutableFloats, count: Int, to exponent: Float)
    static func evidence(
        _ colors: Floats, stride: Int, count: Int, person: Floats, personColors: Int, room: Floats, roomColors: Int,
        factor: Float, outlier: Float, memory: MutableFloats, into target: MutableFloats)
    static func probability(_ logOdds: Floats, count: Int, into target: MutableFloats)
    static func toFixed(_ opacities: Floats, count: Int, into target: MutableShorts)
    static func resample(_ line: Shorts, _ taps: dm_column_taps, columns: Range<Int>, into target: MutableShorts)
    static func filterVertically(_ taps: dm_row_taps, columns: Range<Int>, into alpha: MutableBytes)
    static func blend(_ part: dm_blend_part, start: Int, count: Int, alpha: Bytes, alphaStride: Int)
    static func copyPastCache(_ source: Bytes, count: Int, ahead: Int, into target: MutableBytes)
    static func expandAlpha(_ alpha: Bytes, stride: Int, _ pixels: dm_alpha_run, into target: MutableBytes)
    static func expandAlphaPacked422(_ source: Bytes, count: Int, lumaFirst: Bool, into target: MutableBytes)

    // MARK: Fusion

    static func sumRows(
        _ rows: (Bytes, Bytes, Bytes, Bytes), weights: SIMD4<UInt16>, rowCount: Int, count: Int, isFirst: Bool,
        into sums: MutableWords16)
    static func averageGroups(
        _ line: UnsafePointer<UInt16>, step: Int, pixels: Int, intervals: Int, weights: SIMD16<Float>, offset: Float,
        groups: Int, into target: MutableFloats
    ) -> Bool
    static func averageSquares(_ rows: Floats, stride: Int, count: Int, into target: MutableFloats)
    static func frontOfFour(
        _ upper: Floats, _ lower: Floats, first: Int, second: Int, step: Int, count: Int, into target: MutableFloats)
    static func averageIntervals(
        _ line: Floats, step: Int, first: Ints, weights: Floats, taps: Int, count: Int, into target: MutableFloats)
    static func interpolate(
        _ upper: Floats, _ lower: Floats, share: Float, columns: Range<Int>, into target: MutableFloats)
    static func enlarge(
        _ line: Floats, starts: Ints, share: Floats, samples: Range<Int>, step: Int, columns: Range<Int>,
        into target: MutableFloats)
    static func evaluate(
        model: Floats, modelStride: Int, starts: Ints, share: Floats, samples: Range<Int>, step: Int, channels: Floats,
        stride: Int, columns: Range<Int>, into target: MutableFloats)
    static func widen(_ bytes: Bytes, step: Int, shift: Int, columns: Range<Int>, into target: MutableFloats)
    static func smooth(_ line: Floats, columns: Range<Int>, middle: Float, side: Float, into target: MutableFloats)
    static func finishAlpha(
        _ line: Floats, above: Floats, below: Floats, middle: Float, side: Float, slope: Float, plain: Floats,
        keep: Floats, columns: Range<Int>, into alpha: MutableBytes)
    static func addSquaredMeans(_ sums: Floats, count: Int, factor: Float, isFirst: Bool, into target: MutableFloats)
    static func subtractRows(
        _ a: Floats, _ b: Floats, _ c: Floats, less offset: Int, count: Int, into target: MutableFloats)
    static func dilateWords(
        _ words: UnsafePointer<UInt64>, count: Int, by distance: Int, into target: UnsafeMutablePointer<UInt64>)
    static func orWords(_ words: UnsafePointer<UInt64>, count: Int, into target: UnsafeMutablePointer<UInt64>)
    static func addRow(_ row: Floats, weight: Float, isFirst: Bool, count: Int, into target: MutableFloats)
    static func multiply(_ one: Floats, _ other: Floats, count: Int, into target: MutableFloats)
    static func sumNeighbours(_ line: Floats, radius: Int, count: Int, into target: MutableFloats)
    static func solveModel(_ lines: MutableFloats, stride: Int, count: Int, epsilon: Float)
    static func sumTile(
        _ colors: Floats, stride: Int, width: Int, columns: Int, rows: Int, bits: UnsafePointer<UInt64>,
        bitsStride: Int, shift: UInt64, into sums: inout dm_tile_sums)
    static func settle(
        _ current: MutableFloats, past: Floats, share: MutableFloats, count: Int, factor: Float, settle: Float,
        sure: Float)

    // MARK: Point cloud

    static func metresOfCounts(
        _ counts: UnsafeRawPointer, count: Int, unit: Float, bias: Float, first: Int32, end: Int32, hole: Int32,
        isInverse: Bool, into metres: MutableFloats)
    static func projectRow(
        metres: Floats, colors: UnsafeRawPointer, opaque: UInt32, count: Int, rays: Floats, raysStride: Int,
        start: SIMD3<Float>, shift: SIMD3<Float>, size: SIMD2<Float>, origin: Int32, stride: Int32, nearest: Float,
        keys: MutableDoubles, places: MutableInts, keysBefore: Doubles, placesBefore: Ints, in buffer: MutableDoubles
    ) -> SIMD2<Int32>
    static func keepNearest(keys: Doubles, places: Ints, count: Int, in buffer: MutableDoubles)
    static func moveNearest(from source: MutableDoubles, count: Int, empty: Double, into target: MutableDoubles)
    static func drawDiscs(
        rows: UnsafePointer<UnsafeMutablePointer<Double>>, lines: Int, emptied: MutableDoubles,
        alsoEmptied: MutableDoubles, empty: Double, radius: Int, heights: UnsafePointer<Int>, width: Int,
        scratch: MutableDoubles, into target: UnsafeMutableRawPointer, stride: Int)

    // MARK: Colors of metres

    static func binsOfMetres(
        _ row: UnsafeRawPointer, count: Int, bins: Int32, limit: Float, scale: Float, into numbers: MutableInts)
    static func placesOfMetres(
        _ row: UnsafeRawPointer, count: Int, last: Int32, near: Float, far: Float, scale: Float,
        into numbers: MutableInts)

    // MARK: Alignment

    static func alignProject(
        metres: Floats, count: Int, rays: Floats, shift: SIMD3<Float>, focus: SIMD4<Float>, radial: SIMD8<Float>?,
        tangential: SIMD2<Float>, isInverse: Bool, columns: MutableFloats, rows: MutableFloats, distances: MutableFloats
    )
    static func alignEdges(
        _ places: Floats, _ distances: Floats, _ neighbors: Floats, _ neighborDistances: Floats, count: Int,
        step: Float, half: Float, into edges: MutableFloats)
    static func alignBounds(
        _ one: Floats, _ other: Floats, count: Int, overlap: Float, size: Int32, first: MutableInts, last: MutableInts)
    static func alignFill(
        _ distances: UnsafePointer<UInt16>, count: Int, firstColumns: Ints, lastColumns: Ints, firstRows: Ints,
        lastRows: Ints, width: Int, into output: MutableWords16)
    static func alignFill(
        _ distances: UnsafePointer<Float>, count: Int, firstColumns: Ints, lastColumns: Ints, firstRows: Ints,
        lastRows: Ints, width: Int, into output: UnsafeMutablePointer<Float>)
    static func alignCounts(_ distances: Floats, count: Int, scale: Float, into counts: MutableWords16)

    // MARK: Colors at the edge

    static func accumulateBits(_ row: Bytes, count: Int, all: MutableBytes, any: MutableBytes)
    static func addSamples(_ bytes: Bytes, step: Int, count: Int, into sums: MutableWords16)
    static func addSamples(_ bytes: Bytes, step: Int, alpha: Bytes, cover: UInt8, count: Int, into sums: MutableWords16)
    static func countSamples(_ alpha: Bytes, cover: UInt8, count: Int, into sums: MutableWords16)
    static func sumCells(_ columns: UnsafePointer<UInt16>, count: Int, cellWidth: Int, into cells: MutableFloats)
    static func convolveVertically(
        _ middle: Floats, _ near: (Floats, Floats), _ far: (Floats, Floats), nearWeight: Float, farWeight: Float,
        count: Int, into target: MutableFloats)
    static func convolveHorizontally(
        _ row: Floats, nearWeight: Float, farWeight: Float, count: Int, into target: MutableFloats)
    static func enlargeCells(_ cells: Floats, intervals: Int, size: Int, into target: MutableFloats)
    static func prepareEdge(
        person: MutableFloats, room: MutableFloats, alpha: Floats, count: Int, strength: Float, little: Float,
        into gain: MutableFloats)
    static func decontaminate(
        _ samples: MutableFloats, alpha: Floats, person: Floats, personShare: Floats, room: Floats, roomShare: Floats,
        gain: Floats, count: Int)
    static func wrapLight(
        _ samples: MutableFloats, alpha: Floats, light: Floats, cover: Floats, weight: Floats, count: Int,
        strength: Float)
    static func splitShares(_ shares: Floats, count: Int, first: MutableBytes, second: MutableBytes)
    static func storeSamples(_ samples: Floats, count: Int, into bytes: MutableBytes, step: Int)
}

extension DepthLoops.LoopSet: LoopTable {}
extension DepthLoopsV3.LoopSet: LoopTable {}

package typealias Loops = any LoopTable.Type

/// For every processor that the library is compiled for.
package let baselineLoops: Loops = DepthLoops.LoopSet.self

/// The instruction sets that this processor has, slowest first. The second is x86-64-v3: AVX2, in nearly every processor since 2015.
package let usableLoops: [Loops] = [baselineLoops] + (dm_has_x86_64_v3() ? [DepthLoopsV3.LoopSet.self] : [])

/// The fastest that this processor has.
package let bestLoops: Loops = dm_has_x86_64_v3() ? DepthLoopsV3.LoopSet.self : baselineLoops
