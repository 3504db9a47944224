import CProcessor

/// Makes a row of the picture, in which each pixel gets the lower half, the colour, of the least key in a disc about it;
/// and empties the topmost row of keys that the discs reach, which no lower row of the picture needs.
///
/// - parameter first: the key `radius` columns left of the row's first pixel.
/// - parameter empty: what an empty key is.
/// - parameter stride: keys from one row to the next; at least `width + 2 · radius + 3`.
/// - parameter heights: for 0…`radius` columns beside the middle the half height of the disc there; `radius` in the
///   middle, and never more than one column nearer to it.
/// - parameter scratch: room for `(radius + 2) · (width + 2 · radius + 8)` keys.
/// - parameter target: `width` pixels of 4 bytes, aligned or not. What follows in memory is asked for: most often it is
///   the next row.
/// - Precondition: `radius` rows above and below, and `width + 2 · radius + 4` keys in each may be read; those behind
///   the first `width + 2 · radius` do not count, and of those the three next in the topmost row may become empty.
package func drawDiscs(
    first: UnsafeMutablePointer<Double>, empty: Double, stride: Int, radius: Int, heights: UnsafePointer<Int>,
    width: Int, scratch: UnsafeMutablePointer<Double>, into target: UnsafeMutableRawPointer
) {
    if unsafe radius == 2 && heights[1] == 2 && heights[2] == 1 {
        return unsafe drawDiscsOfFive(first, empty, stride, width, target)
    }
    if radius == 0 {
        unsafe drawPixels(width, target) { unsafe four(first, $0) }
    } else {
        unsafe drawAnyDiscs(first, stride, radius, heights, width, scratch, target)
    }
    unsafe (first - radius &* stride).update(repeating: empty, count: width &+ 2 &* radius)
}

/// The disc that is five pixels wide: three columns of five rows, and one of three on each side.
///
/// Columns are taken four at a time, and each four of them once: a pixel's disc is in its own four and the next.
@inline(__always)
private func drawDiscsOfFive(
    _ first: UnsafeMutablePointer<Double>, _ empty: Double, _ stride: Int, _ width: Int,
    _ target: UnsafeMutableRawPointer
) {
    let (above, below) = unsafe (first - stride, first + stride)
    let (top, bottom) = unsafe (above - stride, below + stride)
    func columns(_ x: Int) -> (low: SIMD4<Double>, tall: SIMD4<Double>) {
        let low = unsafe least(least(four(above, x), four(first, x)), four(below, x))
        let tall = unsafe least(least(four(top, x), low), four(bottom, x))
        unsafe keep(SIMD4(repeating: empty), top, x)
        return (low, tall)
    }
    var left = columns(0)
    unsafe drawPixels(width, target) { x in
        let right = columns(x &+ 4)
        let (a, b) = (left.tall, right.tall)
        let middle = least(
            least(SIMD4(a[1], a[2], a[3], b[0]), SIMD4(a[2], a[3], b[0], b[1])), SIMD4(a[3], b[0], b[1], b[2]))
        let key = least(least(left.low, middle), right.low)
        left = right
        return key
    }
}

@inline(__always)
private func drawAnyDiscs(
    _ first: UnsafePointer<Double>, _ stride: Int, _ radius: Int, _ heights: UnsafePointer<Int>, _ width: Int,
    _ scratch: UnsafeMutablePointer<Double>, _ target: UnsafeMutableRawPointer
) {
    let columns = width &+ 2 &* radius
    let room = columns &+ 4
    // For each half height, from none upwards, the least key of the column.
    unsafe scratch.update(from: first, count: room)
    for height in 0..<radius {
        let (from, to) = unsafe (scratch + height &* room, scratch + (height &+ 1) &* room)
        let offset = (height &+ 1) &* stride
        let (above, below) = unsafe (first - offset, first + offset)
        var x = 0
        while x < columns {
            unsafe keep(least(least(four(above, x), four(from, x)), four(below, x)), to, x)
            x &+= 4
        }
    }
    unsafe drawPixels(width, target) { x in
        var key = unsafe four(scratch + radius &* room, x &+ radius)
        for beside in 1...radius {
            let strip = unsafe scratch + heights[beside] &* room
            key = unsafe least(least(four(strip, x &+ radius &- beside), key), four(strip, x &+ radius &+ beside))
        }
        return key
    }
}

/// Writes the colours of keys, which it asks for four at a time, from left to right.
@inline(__always)
private func drawPixels(_ width: Int, _ target: UnsafeMutableRawPointer, _ keys: (_ x: Int) -> SIMD4<Double>) {
    var x = 0
    while x &+ 4 <= width {
        processor_prefetch_for_change(UInt(bitPattern: target) &+ UInt(bitPattern: (x &+ width) &* 4))
        unsafe target.storeBytes(of: colors(keys(x)), toByteOffset: x &* 4, as: SIMD4<UInt32>.self)
        x &+= 4
    }
    guard x < width else { return }
    let last = colors(keys(x))
    for lane in 0..<(width &- x) {
        unsafe target.storeBytes(of: last[lane], toByteOffset: (x &+ lane) &* 4, as: UInt32.self)
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
