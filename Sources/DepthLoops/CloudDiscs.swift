/// Makes a row of the picture: each pixel gets the lower half, the colour, of the least key in a disc about it.
///
/// - parameter first: the key `radius` columns left of the row's first pixel.
/// - parameter stride: keys from one row to the next.
/// - parameter heights: for 0…`radius` columns beside the middle the half height of the disc there; `radius` in the
///   middle, and never more than one column nearer to it.
/// - parameter scratch: room for `(radius + 2) · (width + 2 · radius + 8)` keys.
/// - parameter target: `width` pixels of 4 bytes, aligned or not.
/// - Precondition: `radius` rows above and below, and `width + 2 · radius + 4` keys in each may be read; those behind
///   the first `width + 2 · radius` do not count.
package func drawDiscs(
    first: UnsafePointer<Double>, stride: Int, radius: Int, heights: UnsafePointer<Int>, width: Int,
    scratch: UnsafeMutablePointer<Double>, into target: UnsafeMutableRawPointer
) {
    if radius == 0 {
        unsafe drawPixels(width, target) { unsafe four(first, $0) }
    } else if unsafe radius == 2 && heights[1] == 2 && heights[2] == 1 {
        unsafe drawDiscsOfFive(first, stride, width, scratch, target)
    } else {
        unsafe drawAnyDiscs(first, stride, radius, heights, width, scratch, target)
    }
}

/// The disc that is five pixels wide: three columns of five rows, and one of three on each side.
@inline(__always)
private func drawDiscsOfFive(
    _ first: UnsafePointer<Double>, _ stride: Int, _ width: Int, _ scratch: UnsafeMutablePointer<Double>,
    _ target: UnsafeMutableRawPointer
) {
    let columns = width &+ 4
    let (tall, low) = unsafe (scratch, scratch + (columns &+ 4))
    let (above, below) = unsafe (first - stride, first + stride)
    let (top, bottom) = unsafe (above - stride, below + stride)
    var x = 0
    while x < columns {
        let three = unsafe least(least(four(above, x), four(first, x)), four(below, x))
        unsafe keep(three, low, x)
        unsafe keep(least(least(four(top, x), three), four(bottom, x)), tall, x)
        x &+= 4
    }
    unsafe drawPixels(width, target) { x in
        let middle = unsafe least(least(four(tall, x &+ 1), four(tall, x &+ 2)), four(tall, x &+ 3))
        return unsafe least(least(four(low, x), middle), four(low, x &+ 4))
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

/// Writes the colours of keys, four at a time; the last four of a row overlap those before where they must.
@inline(__always)
private func drawPixels(_ width: Int, _ target: UnsafeMutableRawPointer, _ keys: (_ x: Int) -> SIMD4<Double>) {
    var x = 0
    while x < width {
        if x &+ 4 > width {
            guard width >= 4 else {
                let colors = colors(keys(x))
                for lane in 0..<width {
                    unsafe target.storeBytes(of: colors[lane], toByteOffset: lane &* 4, as: UInt32.self)
                }
                return
            }
            x = width &- 4
        }
        unsafe target.storeBytes(of: colors(keys(x)), toByteOffset: x &* 4, as: SIMD4<UInt32>.self)
        x &+= 4
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
