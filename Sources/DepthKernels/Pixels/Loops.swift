package import CDepthKernels
import DepthLoops
import DepthLoopsV3

/// The innermost loops, which are compiled from the same source (`Sources/DepthLoops`, where they are described) once for each
/// instruction set. All give the same bits: no operation is reordered or fused.
package protocol LoopTable: SendableMetatype {
    typealias Bytes = UnsafePointer<UInt8>
    typealias MutableBytes = UnsafeMutablePointer<UInt8>
    typealias Ints = UnsafePointer<Int32>
    typealias MutableInts = UnsafeMutablePointer<Int32>
    typealias Floats = UnsafePointer<Float>
    typealias MutableFloats = UnsafeMutablePointer<Float>
    typealias Doubles = UnsafePointer<Double>
    typealias MutableDoubles = UnsafeMutablePointer<Double>
    typealias MutableWords = UnsafeMutablePointer<UInt64>
    typealias Words16 = UnsafePointer<UInt16>
    typealias MutableWords16 = UnsafeMutablePointer<UInt16>

    // MARK: Matte and blend

    static func compare(
        _ counts: UnsafeRawPointer, count: Int, first: UInt16, below: UInt32, into opacities: MutableFloats)
    static func classify(
        _ opacities: Floats, blocks: Range<Int>, clear: Float, opaque: Float,
        into bits: (clear: MutableWords, opaque: MutableWords))
    static func decimate(_ line: Floats, weights: Floats, step: Int, count: Int, into target: MutableFloats)
    static func convolve(_ middle: Floats, blocks: Int, _ kernel: dm_symmetric_kernel, into target: MutableFloats)
    static func raise(_ numbers: MutableFloats, count: Int, to exponent: Float)
    static func evidence(_ part: dm_color_evidence, count: Int, memory: MutableFloats, into target: MutableFloats)
    static func resample(_ line: Floats, _ taps: dm_resample_taps, columns: Range<Int>, into target: MutableFloats)
    static func filterVertically(
        _ rows: (Floats, Floats, Floats, Floats), weights: SIMD4<Float>, columns: Range<Int>, into alpha: MutableBytes)
    static func blend(_ part: dm_blend_part, start: Int, count: Int, alpha: Bytes, alphaStride: Int)
    static func copyPastCache(_ source: Bytes, count: Int, ahead: Int, into target: MutableBytes)
    static func expandAlpha(_ alpha: Bytes, stride: Int, _ pixels: dm_alpha_run, into target: MutableBytes)
    static func expandAlphaPacked422(_ source: Bytes, count: Int, lumaFirst: Bool, into target: MutableBytes)

    // MARK: Fusion

    static func sumRows(
        _ rows: (Bytes, Bytes, Bytes, Bytes), weights: SIMD4<UInt16>, count: (rows: Int, bytes: Int), isFirst: Bool,
        into sums: MutableWords16)
    static func averageGroups(
        _ line: Words16, _ groups: dm_interval_groups, weights: SIMD16<Float>, into target: MutableFloats
    ) -> Bool
    static func averageSquares(_ rows: Floats, stride: Int, side: Int, count: Int, into target: MutableFloats)
    static func boundSquares(
        _ rows: Floats, stride: Int, side: Int, count: Int, into bounds: (low: MutableFloats, high: MutableFloats))
    static func frontOfFour(
        _ rows: (upper: Floats, lower: Floats), columns: (Int, Int), step: Int, count: Int, into target: MutableFloats)
    static func averageIntervals(_ line: Floats, _ taps: dm_interval_taps, into target: MutableFloats)
    static func interpolate(
        _ upper: Floats, _ lower: Floats, share: Float, columns: Range<Int>, into target: MutableFloats)
    static func enlarge(_ line: Floats, _ taps: dm_linear_taps, columns: Range<Int>, into target: MutableFloats)
    static func evaluate(
        _ model: dm_linear_model, _ taps: dm_linear_taps, columns: Range<Int>, into target: MutableFloats)
    static func widen(_ bytes: Bytes, step: Int, shift: Int, columns: Range<Int>, into target: MutableFloats)
    static func smooth(_ line: Floats, columns: Range<Int>, middle: Float, side: Float, into target: MutableFloats)
    static func finishAlpha(_ lines: dm_alpha_lines, columns: Range<Int>, into alpha: MutableBytes)
    static func dilateWords(
        _ words: UnsafePointer<UInt64>, count: Int, by distance: Int, into target: UnsafeMutablePointer<UInt64>)
    static func orWords(_ words: UnsafePointer<UInt64>, count: Int, into target: UnsafeMutablePointer<UInt64>)
    static func addRow(_ row: Floats, weight: Float, isFirst: Bool, count: Int, into target: MutableFloats)
    static func sumProducts(_ lines: MutableFloats, _ run: dm_cell_run, into target: MutableFloats)
    static func solveModels(
        _ sums: Floats, _ run: dm_cell_run, epsilon: Float, lines: MutableFloats, into target: MutableFloats)
    static func averageModels(_ sums: Floats, _ run: dm_cell_run, into target: MutableFloats)
    static func sumTile(_ part: dm_tile, into sums: inout dm_tile_sums)
    static func updateLogOdds(_ part: dm_log_odds, lines: MutableFloats) -> dm_log_odds_sums

    // MARK: Sync estimate

    static func coverCells(
        _ metres: Floats, stride: Int, side: Int, cutoff: Float, count: Int, into target: MutableWords16)
    static func shadeCells(_ samples: Floats, stride: Int, side: Int, count: Int, into target: MutableWords16)
    static func sumNeighbors(
        _ rows: (upper: Words16, middle: Words16, lower: Words16), count: Int, line: MutableWords16,
        into target: MutableWords16)
    static func gradientCells(
        _ rows: (upper: Words16, middle: Words16, lower: Words16), count: Int, into target: MutableInts)
    static func countLengths(
        _ gradients: Ints, count: Int, lengths: MutableInts, bins: Int, into histogram: MutableInts)
    static func gatherCells(_ picture: Ints, _ indices: Ints, count: Int, into target: MutableInts)
    static func sumMatches(
        _ gradients: Ints, normals: Floats, ends: Ints, groups: Int, damping: Float, into sums: MutableFloats)

    // MARK: The room remembered

    static func sumRoom(_ part: dm_room_cells, lines: MutableFloats, into sums: MutableFloats)
    static func roomEvidence(_ part: dm_room_evidence, memory: MutableFloats, into target: MutableFloats)

    // MARK: Point cloud

    static func metresOfCounts(
        _ counts: UnsafeRawPointer, count: Int, _ scale: dm_count_scale, into metres: MutableFloats)
    static func projectRow(
        _ row: dm_point_row, _ grid: dm_point_grid, start: SIMD3<Float>, shift: SIMD3<Float>, in buffer: MutableDoubles
    ) -> SIMD2<Int32>
    static func keepNearest(keys: Doubles, places: Ints, count: Int, in buffer: MutableDoubles)
    static func moveNearest(from source: MutableDoubles, count: Int, empty: Double, into target: MutableDoubles)
    static func drawDiscs(_ lines: dm_disc_lines, into target: UnsafeMutableRawPointer)

    // MARK: Colors of metres

    static func binsOfMetres(_ row: UnsafeRawPointer, count: Int, _ bins: dm_bins, into numbers: MutableInts)
    static func placesOfMetres(_ row: UnsafeRawPointer, count: Int, _ ramp: dm_ramp, into numbers: MutableInts)

    // MARK: Alignment

    static func alignProject(_ row: dm_lens_row, _ lens: dm_lens)
    static func alignEdges(_ row: dm_edge_row, count: Int, into edges: MutableFloats)
    static func alignCoveredPixels(_ edges: dm_edge_pair, count: Int, first: MutableInts, last: MutableInts)
    static func alignFill(_ distances: UnsafePointer<UInt16>, _ rectangles: dm_rectangles, into output: MutableWords16)
    static func alignFill(_ distances: Floats, _ rectangles: dm_rectangles, into output: MutableFloats)
    static func alignCounts(_ distances: Floats, count: Int, scale: Float, into counts: MutableWords16)

    // MARK: Colors at the edge

    static func accumulateBits(_ row: Bytes, count: Int, all: MutableBytes, any: MutableBytes)
    static func addSamples(_ bytes: Bytes, step: Int, count: Int, into sums: MutableWords16)
    static func addSamples(
        _ bytes: Bytes, step: Int, of cover: (alpha: Bytes, value: UInt8), count: Int, into sums: MutableWords16)
    static func countSamples(_ alpha: Bytes, cover: UInt8, count: Int, into sums: MutableWords16)
    static func sumCells(_ columns: UnsafePointer<UInt16>, count: Int, cellWidth: Int, into cells: MutableFloats)
    static func convolveVertically(
        _ row: (Int) -> Floats, nearWeight: Float, farWeight: Float, count: Int, into target: MutableFloats)
    static func convolveHorizontally(
        _ row: Floats, nearWeight: Float, farWeight: Float, count: Int, into target: MutableFloats)
    static func enlargeCells(_ cells: Floats, intervals: Int, size: Int, into target: MutableFloats)
    static func drawEdge(_ bytes: MutableBytes, _ block: dm_edge_block)
    static func splitShares(_ shares: Floats, count: Int, first: MutableBytes, second: MutableBytes)
}

extension DepthLoops.LoopSet: LoopTable {}
extension DepthLoopsV3.LoopSet: LoopTable {}

package typealias Loops = any LoopTable.Type

/// Padding after a line of numbers, for loads and stores of whole vectors.
let loopOverrun = 8

/// For every processor that the library is compiled for.
package let baselineLoops: Loops = DepthLoops.LoopSet.self

/// The instruction sets that this processor has, slowest first. The second is x86-64-v3: AVX2, in nearly every processor since 2015.
package let usableLoops: [Loops] = [baselineLoops] + (dm_has_x86_64_v3() ? [DepthLoopsV3.LoopSet.self] : [])

/// The fastest that this processor has.
package let bestLoops: Loops = dm_has_x86_64_v3() ? DepthLoopsV3.LoopSet.self : baselineLoops
