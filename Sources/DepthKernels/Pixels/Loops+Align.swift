import DepthLoops
import DepthLoopsV3

// MARK: - Alignment

extension Loops {
    @inline(__always)
    func alignProject(
        metres: Floats, count: Int, rays: Floats, shift: SIMD3<Float>, focus: SIMD4<Float>, radial: SIMD8<Float>?,
        tangential: SIMD2<Float>, isInverse: Bool, columns: MutableFloats, rows: MutableFloats, distances: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.alignProject(
                metres: metres, count: count, rays: rays, shift: shift, focus: focus, radial: radial,
                tangential: tangential, isInverse: isInverse, columns: columns, rows: rows, distances: distances)
            : unsafe DepthLoops.alignProject(
                metres: metres, count: count, rays: rays, shift: shift, focus: focus, radial: radial,
                tangential: tangential, isInverse: isInverse, columns: columns, rows: rows, distances: distances)
    }

    @inline(__always)
    func alignEdges(
        _ places: Floats, _ distances: Floats, _ neighbors: Floats, _ neighborDistances: Floats, count: Int,
        step: Float,
        half: Float, into edges: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.alignEdges(
                places, distances, neighbors, neighborDistances, count: count, step: step, half: half, into: edges)
            : unsafe DepthLoops.alignEdges(
                places, distances, neighbors, neighborDistances, count: count, step: step, half: half, into: edges)
    }

    @inline(__always)
    func alignBounds(
        _ one: Floats, _ other: Floats, count: Int, overlap: Float, size: Int32, first: MutableInts, last: MutableInts
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.alignBounds(
                one, other, count: count, overlap: overlap, size: size, first: first, last: last)
            : unsafe DepthLoops.alignBounds(
                one, other, count: count, overlap: overlap, size: size, first: first, last: last)
    }

    @inline(__always)
    func alignFill(
        _ distances: UnsafePointer<UInt16>, count: Int, firstColumns: Ints, lastColumns: Ints, firstRows: Ints,
        lastRows: Ints, width: Int, into output: UnsafeMutablePointer<UInt16>
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.alignFill(
                distances, count: count, firstColumns: firstColumns, lastColumns: lastColumns, firstRows: firstRows,
                lastRows: lastRows, width: width, into: output)
            : unsafe DepthLoops.alignFill(
                distances, count: count, firstColumns: firstColumns, lastColumns: lastColumns, firstRows: firstRows,
                lastRows: lastRows, width: width, into: output)
    }

    @inline(__always)
    func alignFill(
        _ distances: UnsafePointer<Float>, count: Int, firstColumns: Ints, lastColumns: Ints, firstRows: Ints,
        lastRows: Ints, width: Int, into output: UnsafeMutablePointer<Float>
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.alignFill(
                distances, count: count, firstColumns: firstColumns, lastColumns: lastColumns, firstRows: firstRows,
                lastRows: lastRows, width: width, into: output)
            : unsafe DepthLoops.alignFill(
                distances, count: count, firstColumns: firstColumns, lastColumns: lastColumns, firstRows: firstRows,
                lastRows: lastRows, width: width, into: output)
    }

    @inline(__always)
    func alignCounts(_ distances: Floats, count: Int, scale: Float, into counts: UnsafeMutablePointer<UInt16>) {
        self == .v3
            ? unsafe DepthLoopsV3.alignCounts(distances, count: count, scale: scale, into: counts)
            : unsafe DepthLoops.alignCounts(distances, count: count, scale: scale, into: counts)
    }
}
