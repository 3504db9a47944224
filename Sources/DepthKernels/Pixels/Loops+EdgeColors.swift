import DepthLoops
import DepthLoopsV3

// MARK: - Colors at the edge

extension Loops {
    typealias MutableWords16 = UnsafeMutablePointer<UInt16>

    @inline(__always)
    func accumulateBits(
        _ row: Bytes, count: Int, all: MutableBytes, any: MutableBytes
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.accumulateBits(row, count: count, all: all, any: any)
            : unsafe DepthLoops.accumulateBits(row, count: count, all: all, any: any)
    }

    @inline(__always)
    func addSamples(
        _ bytes: Bytes, step: Int, count: Int, into sums: MutableWords16
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.addSamples(bytes, step: step, count: count, into: sums)
            : unsafe DepthLoops.addSamples(bytes, step: step, count: count, into: sums)
    }

    @inline(__always)
    func addSamples(
        _ bytes: Bytes, step: Int, alpha: Bytes, cover: UInt8, count: Int, into sums: MutableWords16
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.addSamples(bytes, step: step, alpha: alpha, cover: cover, count: count, into: sums)
            : unsafe DepthLoops.addSamples(bytes, step: step, alpha: alpha, cover: cover, count: count, into: sums)
    }

    @inline(__always)
    func countSamples(
        _ alpha: Bytes, cover: UInt8, count: Int, into sums: MutableWords16
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.countSamples(alpha, cover: cover, count: count, into: sums)
            : unsafe DepthLoops.countSamples(alpha, cover: cover, count: count, into: sums)
    }

    @inline(__always)
    func sumCells(
        _ columns: UnsafePointer<UInt16>, count: Int, cellWidth: Int, into cells: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.sumCells(columns, count: count, cellWidth: cellWidth, into: cells)
            : unsafe DepthLoops.sumCells(columns, count: count, cellWidth: cellWidth, into: cells)
    }

    @inline(__always)
    func convolveVertically(
        _ middle: Floats, _ near: (Floats, Floats), _ far: (Floats, Floats), nearWeight: Float, farWeight: Float,
        count: Int, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.convolveVertically(
                middle, near, far, nearWeight: nearWeight, farWeight: farWeight, count: count, into: target)
            : unsafe DepthLoops.convolveVertically(
                middle, near, far, nearWeight: nearWeight, farWeight: farWeight, count: count, into: target)
    }

    @inline(__always)
    func convolveHorizontally(
        _ row: Floats, nearWeight: Float, farWeight: Float, count: Int, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.convolveHorizontally(
                row, nearWeight: nearWeight, farWeight: farWeight, count: count, into: target)
            : unsafe DepthLoops.convolveHorizontally(
                row, nearWeight: nearWeight, farWeight: farWeight, count: count, into: target)
    }

    @inline(__always)
    func enlargeCells(
        _ cells: Floats, intervals: Int, size: Int, into target: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.enlargeCells(cells, intervals: intervals, size: size, into: target)
            : unsafe DepthLoops.enlargeCells(cells, intervals: intervals, size: size, into: target)
    }

    @inline(__always)
    func prepareEdge(
        person: MutableFloats, room: MutableFloats, alpha: Floats, count: Int, strength: Float, little: Float,
        into gain: MutableFloats
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.prepareEdge(
                person: person, room: room, alpha: alpha, count: count, strength: strength, little: little, into: gain)
            : unsafe DepthLoops.prepareEdge(
                person: person, room: room, alpha: alpha, count: count, strength: strength, little: little, into: gain)
    }

    @inline(__always)
    func decontaminate(
        _ samples: MutableFloats, alpha: Floats, person: Floats, personShare: Floats, room: Floats, roomShare: Floats,
        gain: Floats, count: Int
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.decontaminate(
                samples, alpha: alpha, person: person, personShare: personShare, room: room, roomShare: roomShare,
                gain: gain, count: count)
            : unsafe DepthLoops.decontaminate(
                samples, alpha: alpha, person: person, personShare: personShare, room: room, roomShare: roomShare,
                gain: gain, count: count)
    }

    @inline(__always)
    func wrapLight(
        _ samples: MutableFloats, alpha: Floats, light: Floats, cover: Floats, weight: Floats, count: Int,
        strength: Float
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.wrapLight(
                samples, alpha: alpha, light: light, cover: cover, weight: weight, count: count, strength: strength)
            : unsafe DepthLoops.wrapLight(
                samples, alpha: alpha, light: light, cover: cover, weight: weight, count: count, strength: strength)
    }

    @inline(__always)
    func splitShares(_ shares: Floats, count: Int, first: MutableBytes, second: MutableBytes) {
        self == .v3
            ? unsafe DepthLoopsV3.splitShares(shares, count: count, first: first, second: second)
            : unsafe DepthLoops.splitShares(shares, count: count, first: first, second: second)
    }

    @inline(__always)
    func storeSamples(
        _ samples: Floats, count: Int, into bytes: MutableBytes, step: Int
    ) {
        self == .v3
            ? unsafe DepthLoopsV3.storeSamples(samples, count: count, into: bytes, step: step)
            : unsafe DepthLoops.storeSamples(samples, count: count, into: bytes, step: step)
    }
}
