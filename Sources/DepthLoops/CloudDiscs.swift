package import CDepthKernels

extension LoopSet {
    /// Draws one or two lines of the picture: each pixel gets the color (the lower half) of the least key in a disc about
    /// it. Clears as many rows of keys: usually the topmost ones that the discs reach, which no lower line needs.
    ///
    /// Fields and parameters:
    ///   - rows: the `2 · radius + lines` rows of keys that the discs reach, from the topmost down; each begins `radius`
    ///     columns left of the line's first pixel.
    ///   - lines: 1 or 2.
    ///   - emptied: the row that is cleared after the first line.
    ///   - also_emptied: the row that is cleared after the second line.
    ///   - empty: the key of an empty place.
    ///   - heights: half the height of the disc at a distance of 0…`radius` columns from its middle: `radius` in the
    ///     middle, and never increasing with the distance.
    ///   - scratch: room for `(radius + 2) · (width + 2 · radius + 8)` keys.
    ///   - target: `width` pixels of 4 bytes, aligned or not; the next line begins `stride` bytes later. The memory after
    ///     the line, which usually holds the next ones, is prefetched.
    /// - Precondition: `width + 2 · radius + 4` keys of each row may be read; those after the first `width + 2 · radius` do
    ///   not matter, and the first three of them may be cleared in the rows that are cleared.
    package static func drawDiscs(
        _ lines: dm_disc_lines, into target: UnsafeMutableRawPointer
    ) {
        let (radius, width, empty, heights) = unsafe (lines.radius, lines.width, lines.empty, lines.heights)
        let isOfFive = unsafe radius == 2 && heights[1] == 2 && heights[2] == 1
        if isOfFive, unsafe lines.lines == 2 { return unsafe drawTwoLinesOfFive(lines, target) }
        for line in unsafe upTo(lines.lines) {
            let (rows, target) = unsafe (lines.rows + line, target + line &* lines.stride)
            let emptied = unsafe line == 0 ? lines.emptied : lines.also_emptied
            if isOfFive {
                unsafe drawLineOfFive(rows, emptied, empty, width, target)
                continue
            }
            if radius == 0 {
                unsafe drawPixels(width, target) { unsafe four(rows[0], $0) }
            } else {
                unsafe drawAnyDiscs(lines, rows, target)
            }
            for x in upTo(width &+ 2 &* radius) { unsafe emptied[x] = empty }
        }
    }
}

/// The least keys of each of four columns: in the three rows about the middle (`low`), and in all five (`tall`).
private typealias Columns = (low: SIMD4<Double>, tall: SIMD4<Double>)

/// Draws discs that are five pixels wide: three columns of five rows, and one of three on each side.
///
/// Four columns at a time, each of which is reduced once: the discs of four pixels lie within these columns and the
/// next four.
@inline(__always)
private func drawLineOfFive(
    _ rows: UnsafePointer<UnsafeMutablePointer<Double>>, _ emptied: UnsafeMutablePointer<Double>, _ empty: Double,
    _ width: Int, _ target: UnsafeMutableRawPointer
) {
    let (row0, row1, row2, row3, row4) = unsafe (rows[0], rows[1], rows[2], rows[3], rows[4])
    func columns(_ x: Int) -> Columns {
        let low = unsafe least(least(four(row1, x), four(row2, x)), four(row3, x))
        let tall = unsafe least(least(four(row0, x), low), four(row4, x))
        unsafe keep(SIMD4(repeating: empty), emptied, x)
        return (low, tall)
    }
    var left = columns(0)
    unsafe drawPixels(width, target) { x in
        let right = columns(x &+ 4)
        defer { left = right }
        return discs(left, right)
    }
}

/// The same for two lines, which share four of their rows.
@inline(__always)
private func drawTwoLinesOfFive(
    _ lines: dm_disc_lines, _ target: UnsafeMutableRawPointer
) {
    let (rows, empty) = unsafe (lines.rows, lines.empty)
    let (emptied, alsoEmptied) = unsafe (lines.emptied, lines.also_emptied)
    let (row0, row1, row2) = unsafe (rows[0], rows[1], rows[2])
    let (row3, row4, row5) = unsafe (rows[3], rows[4], rows[5])
    func columns(_ x: Int) -> (upper: Columns, lower: Columns) {
        let middle = unsafe least(four(row2, x), four(row3, x))
        let (above, below) = unsafe (four(row1, x), four(row4, x))
        let (upper, lower) = (least(above, middle), least(middle, below))
        let shared = least(upper, below)
        let tall = unsafe (least(four(row0, x), shared), least(shared, four(row5, x)))
        unsafe keep(SIMD4(repeating: empty), emptied, x)
        unsafe keep(SIMD4(repeating: empty), alsoEmptied, x)
        return ((upper, tall.0), (lower, tall.1))
    }
    var left = columns(0)
    unsafe drawPixels(lines.width, target, target + lines.stride) { x in
        let right = columns(x &+ 4)
        defer { left = right }
        return (discs(left.upper, right.upper), discs(left.lower, right.lower))
    }
}

/// The least keys of four discs; the first disc begins at the first column of `left`.
@inline(__always)
private func discs(_ left: Columns, _ right: Columns) -> SIMD4<Double> {
    let (a, b) = (left.tall, right.tall)
    let middle = least(
        least(SIMD4(a[1], a[2], a[3], b[0]), SIMD4(a[2], a[3], b[0], b[1])), SIMD4(a[3], b[0], b[1], b[2]))
    return least(least(left.low, middle), right.low)
}

@inline(__always)
private func drawAnyDiscs(
    _ lines: dm_disc_lines, _ rows: UnsafePointer<UnsafeMutablePointer<Double>>, _ target: UnsafeMutableRawPointer
) {
    let (radius, width, heights, scratch) = unsafe (lines.radius, lines.width, lines.heights, lines.scratch)
    let columns = width &+ 2 &* radius
    let room = columns &+ 4
    // For each half height, from 0 upwards, the least key of each column.
    unsafe scratch.update(from: rows[radius], count: room)
    for height in upTo(radius) {
        let (from, to) = unsafe (scratch + height &* room, scratch + (height &+ 1) &* room)
        let (above, below) = unsafe (rows[radius &- height &- 1], rows[radius &+ height &+ 1])
        var x = 0
        while x < columns {
            unsafe keep(least(least(four(above, x), four(from, x)), four(below, x)), to, x)
            x &+= 4
        }
    }
    unsafe drawPixels(width, target) { x in
        var key = unsafe four(scratch + radius &* room, x &+ radius)
        for beside in upTo(radius &+ 1, from: 1) {
            let strip = unsafe scratch + heights[beside] &* room
            key = unsafe least(least(four(strip, x &+ radius &- beside), key), four(strip, x &+ radius &+ beside))
        }
        return key
    }
}

/// Writes one line of pixels, four at a time. `keys(x)` returns the keys of pixels x ..< x + 4; it may keep state, because
/// it is called from left to right.
@inline(__always)
private func drawPixels(_ width: Int, _ target: UnsafeMutableRawPointer, _ keys: (_ x: Int) -> SIMD4<Double>) {
    var x = 0
    while x < width {
        unsafe put(keys(x), target, x, width)
        x &+= 4
    }
}

/// The same for two lines at once.
@inline(__always)
private func drawPixels(
    _ width: Int, _ upper: UnsafeMutableRawPointer, _ lower: UnsafeMutableRawPointer,
    _ keys: (_ x: Int) -> (SIMD4<Double>, SIMD4<Double>)
) {
    var x = 0
    while x < width {
        let keys = keys(x)
        unsafe put(keys.0, upper, x, width)
        unsafe put(keys.1, lower, x, width)
        x &+= 4
    }
}

/// Writes the colors of four keys, or of fewer at the end of the line.
@inline(__always)
private func put(_ keys: SIMD4<Double>, _ target: UnsafeMutableRawPointer, _ x: Int, _ width: Int) {
    let colors = colors(keys)
    if x &+ 4 <= width {
        dm_prefetch_for_writing(UInt(bitPattern: target) &+ UInt(bitPattern: (x &+ width) &* 4))
        return unsafe target.storeBytes(of: colors, toByteOffset: x &* 4, as: SIMD4<UInt32>.self)
    }
    for lane in 0..<4 where lane < width &- x {
        unsafe target.storeBytes(of: colors[lane], toByteOffset: (x &+ lane) &* 4, as: UInt32.self)
    }
}

@inline(__always)
private func colors(_ keys: SIMD4<Double>) -> SIMD4<UInt32> {
    let halves = unsafe unsafeBitCast(keys, to: SIMD8<UInt32>.self)
    #if _endian(big)
        return halves.oddHalf
    #else
        return halves.evenHalf
    #endif
}

@inline(__always)
private func four(_ keys: UnsafePointer<Double>, _ x: Int) -> SIMD4<Double> {
    unsafe UnsafeRawPointer(keys + x).loadUnaligned(as: SIMD4<Double>.self)
}

@inline(__always)
private func keep(_ value: SIMD4<Double>, _ keys: UnsafeMutablePointer<Double>, _ x: Int) {
    unsafe UnsafeMutableRawPointer(keys + x).storeBytes(of: value, as: SIMD4<Double>.self)
}

@inline(__always)
private func least(_ one: SIMD4<Double>, _ other: SIMD4<Double>) -> SIMD4<Double> {
    SIMD4(least(one[0], other[0]), least(one[1], other[1]), least(one[2], other[2]), least(one[3], other[3]))
}

@inline(__always)
private func least(_ one: Double, _ other: Double) -> Double { one < other ? one : other }
