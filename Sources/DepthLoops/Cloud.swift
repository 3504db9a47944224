/// Turns a row of 16-bit counts, in the machine's order of bytes, aligned or not, into metres; 0 where a sample is not measured.
///
///     metres = count · unit + bias, or the inverse of that
///
/// - parameter invalid: the count that means "not measured", or -1.
package func metresOfCounts(
    _ counts: UnsafeRawPointer, count: Int, unit: Float, bias: Float, invalid: Int32, isInverse: Bool,
    into metres: UnsafeMutablePointer<Float>
) {
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

/// Finds for each sample of a row the place in the key buffer that it shows at, and its key there.
///
/// A sample of m metres in column i is the point
///
///     (x, y, z) = m · (start + i · step) + shift
///
/// where x and y have been multiplied by the viewer's focal length. It shows at
///
///     column = x / z + centre.x,  row = y / z + centre.y
///
/// rounded to nearest, halves to even. The key holds z as a `Float` in its upper half and the colour in its lower half;
/// as whole numbers, and as `Double`s as well, such keys are in the order of the distances. Columns and rows that there
/// are not become -1 or `size`: the buffer has them, and nobody looks there.
///
/// - parameter colors: 4 bytes for each sample, aligned or not.
/// - parameter opaque: is joined to each colour.
/// - parameter size: columns and rows; below 2^22.
/// - parameter origin: where in the buffer column 0 of row 0 is; a row is `size.x + 2` places long.
/// - parameter nearest: samples and points nearer than that are put at one of the buffer's first `count` places
///   instead, as are those that are no number.
/// - Precondition: all rows hold a multiple of 8, and at least `count`.
package func projectRow(
    metres: UnsafePointer<Float>, colors: UnsafeRawPointer, opaque: UInt32, count: Int, start: SIMD3<Float>,
    step: SIMD3<Float>, shift: SIMD3<Float>, centre: SIMD2<Float>, size: SIMD2<Int32>, origin: Int32, nearest: Float,
    keys: UnsafeMutablePointer<UInt64>, places: UnsafeMutablePointer<Int32>
) {
    let (startX, startY, startZ) = (all(start.x), all(start.y), all(start.z))
    let (stepX, stepY, stepZ) = (all(step.x), all(step.y), all(step.z))
    let (shiftX, shiftY, shiftZ) = (all(shift.x), all(shift.y), all(shift.z))
    let (centreX, centreY) = (all(centre.x), all(centre.y))
    let (lastColumn, lastRow) = (all(Float(size.x)), all(Float(size.y)))
    let (nearest, farthest) = (all(nearest), all(.greatestFiniteMagnitude))
    let (one, lanes) = (all(1), all(8))
    let opaque = SIMD8<UInt32>(repeating: opaque)
    let stride = SIMD8<Int32>(repeating: size.x &+ 2)
    let bias = SIMD8<Int32>(repeating: origin &- wholeNumberBias &* (size.x &+ 3))
    var column = SIMD8<Float>(0, 1, 2, 3, 4, 5, 6, 7)
    var spare = SIMD8<Int32>(0, 1, 2, 3, 4, 5, 6, 7)
    var index = 0
    while index < count {
        let m = unsafe UnsafeRawPointer(metres + index).loadUnaligned(as: SIMD8<Float>.self)
        let x = m * (startX + column * stepX) + shiftX
        let y = m * (startY + column * stepY) + shiftY
        let z = m * (startZ + column * stepZ) + shiftZ
        let inverse = one / z
        let atX = nearestWhole(x * inverse + centreX, atMost: lastColumn)
        let atY = nearestWhole(y * inverse + centreY, atMost: lastRow)
        let isSeen = (m .>= nearest) .& (m .<= farthest) .& (z .>= nearest)
        let place = spare.replacing(with: atY &* stride &+ atX &+ bias, where: isSeen)
        unsafe UnsafeMutableRawPointer(places + index).storeBytes(of: place, as: SIMD8<Int32>.self)
        var pairs = SIMD16<UInt32>()
        unsafe pairs.evenHalf = colors.loadUnaligned(fromByteOffset: index &* 4, as: SIMD8<UInt32>.self) | opaque
        unsafe pairs.oddHalf = unsafeBitCast(z, to: SIMD8<UInt32>.self)
        unsafe UnsafeMutableRawPointer(keys + index).storeBytes(of: littleEndianPairs(pairs), as: SIMD16<UInt32>.self)
        index &+= 8
        column += lanes
        spare &+= SIMD8(repeating: 8)
    }
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

/// What `nearestWhole` adds to its result: the bits of 1.5 · 2^23.
private let wholeNumberBias: Int32 = 0x4b40_0000

/// The whole number nearest to `value` (halves to even), moved to -1…`limit`, plus `wholeNumberBias`; -1 for what is no
/// number.
///
/// Numbers below 2^22 in size plus 1.5 · 2^23 have their whole part in the lowest bits.
@inline(__always)
private func nearestWhole(_ value: SIMD8<Float>, atMost limit: SIMD8<Float>) -> SIMD8<Int32> {
    let least = SIMD8<Float>(repeating: -1)
    let raised = least.replacing(with: value, where: value .> least)
    let moved = raised.replacing(with: limit, where: limit .< raised)
    return unsafe unsafeBitCast(moved + SIMD8(repeating: 12_582_912), to: SIMD8<Int32>.self)
}

/// Leaves at each place of the buffer the least of the keys that came there.
///
/// Neighbours often come to one place, and a processor has to wait before it reads what it has just written: so four
/// parts of the row take turns.
///
/// - Precondition: every place is in the buffer.
package func keepNearest(
    keys: UnsafePointer<Double>, places: UnsafePointer<Int32>, count: Int, in buffer: UnsafeMutablePointer<Double>
) {
    let part = count / 4
    for index in 0..<part {
        unsafe keep(keys[index], at: places[index], in: buffer)
        unsafe keep(keys[index &+ part], at: places[index &+ part], in: buffer)
        unsafe keep(keys[index &+ 2 &* part], at: places[index &+ 2 &* part], in: buffer)
        unsafe keep(keys[index &+ 3 &* part], at: places[index &+ 3 &* part], in: buffer)
    }
    for index in (4 &* part)..<count { unsafe keep(keys[index], at: places[index], in: buffer) }
}

@inline(__always)
private func keep(_ key: Double, at place: Int32, in buffer: UnsafeMutablePointer<Double>) {
    let place = unsafe buffer + Int(place)
    let old = unsafe place.pointee
    unsafe place.pointee = key < old ? key : old
}
