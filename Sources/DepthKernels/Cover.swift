/// What is known of several neighbouring opacities without looking at each.
///
/// Most of a matte is plainly background or plainly person; the arithmetic is for the rest.
enum Cover: UInt8, BitwiseCopyable {
    /// Every opacity is exactly 0.
    case clear
    /// Every opacity is exactly 1 (255 as a byte).
    case opaque
    /// Anything else.
    case mixed

    /// What is known of both together.
    @inline(__always)
    func joined(with other: Cover) -> Cover { self == other ? self : .mixed }
}

/// Looks at `count` bytes of alpha.
///
/// - Precondition: `count > 0`.
@inline(__always)
func cover(of alpha: UnsafeRawPointer, count: Int) -> Cover {
    var all = UInt64.max
    var any: UInt64 = 0
    var offset = 0
    while offset &+ 8 <= count {
        let eight = unsafe alpha.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        all &= eight
        any |= eight
        offset &+= 8
    }
    while offset < count {
        let one = unsafe alpha.load(fromByteOffset: offset, as: UInt8.self)
        all &= UInt64(one) &* 0x0101_0101_0101_0101
        any |= UInt64(one)
        offset &+= 1
    }
    if any == 0 { return .clear }
    return all == .max ? .opaque : .mixed
}

/// A stretch of pixels, `start..<end`, that one way of blending does for.
struct AlphaRun {
    var cover: Cover
    var start: Int
    var end: Int
}

/// Pixels that are looked at together. A multiple of every horizontal subsampling, so that a run never starts inside
/// a chroma sample.
let alphaRunGrain = 32

/// Calls `body` for stretches that are alike in all of `rows`, from left to right, each as long as it can be.
///
/// - Precondition: `rows` lies inside the plane, is not empty, and the plane has `width` bytes in a row.
@inline(__always)
func forEachRun(in alpha: Plane, rows: Range<Int>, width: Int, _ body: (AlphaRun) -> Void) {
    var run = AlphaRun(cover: .mixed, start: 0, end: 0)
    var start = 0
    while start < width {
        let count = min(alphaRunGrain, width &- start)
        let here = cover(of: alpha, rows: rows, start: start, count: count)
        if here != run.cover {
            if run.end > run.start { body(run) }
            run = AlphaRun(cover: here, start: start, end: start)
        }
        start &+= count
        run.end = start
    }
    if run.end > run.start { body(run) }
}

@inline(__always)
private func cover(of alpha: Plane, rows: Range<Int>, start: Int, count: Int) -> Cover {
    var result = unsafe cover(of: alpha.row(rows.lowerBound) + start, count: count)
    var y = rows.lowerBound &+ 1
    while y < rows.upperBound {
        result = unsafe result.joined(with: cover(of: alpha.row(y) + start, count: count))
        y &+= 1
    }
    return result
}
