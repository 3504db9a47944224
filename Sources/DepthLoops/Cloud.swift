import CDepthKernels

/// Turns a row of 16-bit counts, in the machine's order of bytes, aligned or not, into metres; 0 where a sample is not measured.
///
///     metres = count · unit + bias, or the inverse of that
///
/// Asks for what follows in memory, which most often is the next row.
///
/// - Parameter invalid: the count that means "not measured", or -1.
package func metresOfCounts(
    _ counts: UnsafeRawPointer, count: Int, unit: Float, bias: Float, invalid: Int32, isInverse: Bool,
    into metres: UnsafeMutablePointer<Float>
) {
    prefetch(UInt(bitPattern: counts) &+ UInt(bitPattern: count &* 2), count &* 2)
    for index in 0..<count {
        let sample = unsafe counts.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
        let value = Float(sample) * unit + bias
        unsafe metres[index] = Int32(sample) == invalid ? 0 : value
    }
    guard isInverse else { return }
    for index in 0..<count {
        let value = unsafe metres[index]
        unsafe metres[index] = value > 0 ? 1 / value : 0
    }
}

/// Asks for bytes that will be wanted soon: a processor that looks ahead by itself stops where a page of memory ends.
@inline(__always)
private func prefetch(_ first: UInt, _ count: Int) {
    for address in stride(from: first, to: first &+ UInt(bitPattern: count), by: 64) {
        dm_prefetch_for_reading(address)
    }
}

/// Finds for each sample of a row the place in the key buffer that it shows at, and its key there; and does for the row
/// before it what `keepNearest` does.
///
/// Both at once, since the one keeps the arithmetic of a processor busy and the other its memory.
///
/// A sample of m metres in column i is the point
///
///     (x, y, z) = m · (start + rays[i]) + shift
///
/// where x and y are what the lens makes of them: the point shows at column x / z and row y / z, rounded to nearest,
/// halves to even. The key holds z as a `Float` in its upper half and the color in its lower half; as whole numbers,
/// and as `Double`s as well, such keys are in the order of the distances. Columns and rows that there are not become -1
/// or `size`: the buffer has them, and nobody looks there. So does what is infinitely far, as its column is no number.
///
/// - Parameter colors: 4 bytes for each sample, aligned or not. What follows in memory is asked for: most often it is
///   the next row.
/// - Parameter opaque: is joined to each color.
/// - Parameter rays: x, y and z of all columns, each `raysStride` numbers after the one before.
/// - Parameter size: columns and rows; below 2^22.
/// - Parameter origin: where in the buffer column 0 of row 0 is.
/// - Parameter stride: places from one row of the buffer to the next.
/// - Parameter nearest: above 0; samples and points nearer than that are put at one of the buffer's first `count` places
///   instead, as are those that are no number.
/// - Parameter keysBefore: those of the row before, and `placesBefore` likewise, for the same `count`; where no row was
///   before, any keys, and places at which nobody looks.
/// - Returns: the least and the greatest place that points got in the rows; where none did, the greatest is less than any
///   place in the rows.
/// - Precondition: all rows hold `count` rounded up to a multiple of 8, and so many are written.
package func projectRow(
    metres: UnsafePointer<Float>, colors: UnsafeRawPointer, opaque: UInt32, count: Int, rays: UnsafePointer<Float>,
    raysStride: Int, start: SIMD3<Float>, shift: SIMD3<Float>, size: SIMD2<Float>, origin: Int32, stride: Int32,
    nearest: Float, keys: UnsafeMutablePointer<Double>, places: UnsafeMutablePointer<Int32>,
    keysBefore: UnsafePointer<Double>, placesBefore: UnsafePointer<Int32>, in buffer: UnsafeMutablePointer<Double>
) -> SIMD2<Int32> {
    let (raysX, raysY, raysZ) = unsafe (rays, rays + raysStride, rays + 2 &* raysStride)
    let (startX, startY, startZ) = (all(start.x), all(start.y), all(start.z))
    let (shiftX, shiftY, shiftZ) = (all(shift.x), all(shift.y), all(shift.z))
    let (lastColumn, lastRow) = (all(size.x), all(size.y))
    let (one, nearest) = (all(1), all(nearest))
    let opaque = SIMD8<UInt32>(repeating: opaque)
    let rowLength = SIMD8<Int32>(repeating: stride)
    let bias = SIMD8<Int32>(repeating: origin &- wholeNumberBias &* (stride &+ 1))
    var spare = SIMD8<Int32>(0, 1, 2, 3, 4, 5, 6, 7)
    // Places count from the buffer's first row here, so that those before it are the largest numbers without a sign.
    let rowsStart = SIMD8<Int32>(repeating: origin &- stride &- 1)
    var first = SIMD8<UInt32>(repeating: .max)
    var last = SIMD8<Int32>(repeating: -1)
    var index = 0
    while index < count {
        dm_prefetch_for_reading(UInt(bitPattern: colors) &+ UInt(bitPattern: (index &+ count) &* 4))
        let m = unsafe eight(metres, index)
        let x = unsafe m * (startX + eight(raysX, index)) + shiftX
        let y = unsafe m * (startY + eight(raysY, index)) + shiftY
        let z = unsafe m * (startZ + eight(raysZ, index)) + shiftZ
        let inverse = one / z
        let atX = biasedNearestWhole(x * inverse, atMost: lastColumn)
        let atY = biasedNearestWhole(y * inverse, atMost: lastRow)
        let place = spare.replacing(with: atY &* rowLength &+ atX &+ bias, where: least(z, m) .>= nearest)
        unsafe UnsafeMutableRawPointer(places + index).storeBytes(of: place, as: SIMD8<Int32>.self)
        let fromRows = place &- rowsStart
        last.replace(with: fromRows, where: fromRows .> last)
        let unsigned = SIMD8<UInt32>(truncatingIfNeeded: fromRows)
        first.replace(with: unsigned, where: unsigned .< first)
        var pairs = SIMD16<UInt32>()
        unsafe pairs.evenHalf = colors.loadUnaligned(fromByteOffset: index &* 4, as: SIMD8<UInt32>.self) | opaque
        unsafe pairs.oddHalf = unsafeBitCast(z, to: SIMD8<UInt32>.self)
        unsafe UnsafeMutableRawPointer(keys + index).storeBytes(of: littleEndianPairs(pairs), as: SIMD16<UInt32>.self)
        unsafe keepEight(keysBefore, placesBefore, index &>> 3, count, buffer)
        index &+= 8
        spare &+= SIMD8(repeating: 8)
    }
    var (least, greatest) = (first[0], last[0])
    for lane in 1..<8 {
        if first[lane] < least { least = first[lane] }
        if last[lane] > greatest { greatest = last[lane] }
    }
    return SIMD2(Int32(truncatingIfNeeded: least), greatest) &+ SIMD2(repeating: origin &- stride &- 1)
}

@inline(__always)
private func eight(_ numbers: UnsafePointer<Float>, _ index: Int) -> SIMD8<Float> {
    unsafe UnsafeRawPointer(numbers + index).loadUnaligned(as: SIMD8<Float>.self)
}

@inline(__always)
private func all(_ value: Float) -> SIMD8<Float> { SIMD8(repeating: value) }

/// Pairs with their lower half first, as the two halves of 64-bit numbers.
@inline(__always)
private func littleEndianPairs(_ pairs: SIMD16<UInt32>) -> SIMD16<UInt32> {
    #if _endian(big)
        var swapped = SIMD16<UInt32>()
        swapped.evenHalf = pairs.oddHalf
        swapped.oddHalf = pairs.evenHalf
        return swapped
    #else
        return pairs
    #endif
}

/// The bits of `roundingBias`, which `biasedNearestWhole` leaves in its result.
@inline(__always)
private var wholeNumberBias: Int32 { Int32(bitPattern: roundingBias.bitPattern) }

/// The whole number nearest to `value` (halves to even), clamped to -1…`limit`, plus `wholeNumberBias`; -1 for NaN.
@inline(__always)
private func biasedNearestWhole(_ value: SIMD8<Float>, atMost limit: SIMD8<Float>) -> SIMD8<Int32> {
    let clamped = least(limit, greatest(SIMD8(repeating: -1), value))
    return unsafe unsafeBitCast(clamped + SIMD8(repeating: roundingBias), to: SIMD8<Int32>.self)
}

/// The lesser of each pair; the first where there is none, as with what is no number.
@inline(__always)
private func least(_ one: SIMD8<Float>, _ other: SIMD8<Float>) -> SIMD8<Float> {
    var least = one
    for lane in 0..<8 { least[lane] = other[lane] < one[lane] ? other[lane] : one[lane] }
    return least
}

/// The greater of each pair; the first where there is none, as with what is no number.
@inline(__always)
private func greatest(_ one: SIMD8<Float>, _ other: SIMD8<Float>) -> SIMD8<Float> {
    var greatest = one
    for lane in 0..<8 { greatest[lane] = other[lane] > one[lane] ? other[lane] : one[lane] }
    return greatest
}

/// Leaves at each place of the buffer the least of the keys that came there.
///
/// - Precondition: every place is in the buffer, and the rows hold `count` rounded up to a multiple of 8.
package func keepNearest(
    keys: UnsafePointer<Double>, places: UnsafePointer<Int32>, count: Int, in buffer: UnsafeMutablePointer<Double>
) {
    for index in 0..<((count &+ 7) / 8) { unsafe keepEight(keys, places, index, count, buffer) }
}

/// Does it for sample number `index` of each eighth of a row: neighbours often come to one place, and a processor has to
/// wait before it reads what it has just written.
@inline(__always)
private func keepEight(
    _ keys: UnsafePointer<Double>, _ places: UnsafePointer<Int32>, _ index: Int, _ count: Int,
    _ buffer: UnsafeMutablePointer<Double>
) {
    let length = (count &+ 7) / 8
    for part in 0..<8 {
        let sample = index &+ part &* length
        unsafe keep(keys[sample], at: places[sample], in: buffer)
    }
}

@inline(__always)
private func keep(_ key: Double, at place: Int32, in buffer: UnsafeMutablePointer<Double>) {
    let place = unsafe buffer + Int(place)
    let old = unsafe place.pointee
    unsafe place.pointee = key < old ? key : old
}

/// Leaves in each place of a row the lesser of two keys, and empties the places that the others came from.
package func moveNearest(
    from source: UnsafeMutablePointer<Double>, count: Int, empty: Double, into target: UnsafeMutablePointer<Double>
) {
    for index in 0..<count {
        let (key, old) = unsafe (source[index], target[index])
        unsafe target[index] = key < old ? key : old
        unsafe source[index] = empty
    }
}
