package import CDepthKernels

extension LoopSet {
    /// Converts a row of 16-bit counts, in native byte order, aligned or not, to metres; 0 where a sample is not measured.
    ///
    ///     metres = count · unit + bias, or the inverse of that
    ///
    /// Prefetches the memory after the row, which usually holds the next one.
    ///
    /// Fields and parameters:
    ///   - first: the counts from this one, up to `end`, are measured, except `hole`.
    package static func metresOfCounts(
        _ counts: UnsafeRawPointer, count: Int, _ scale: dm_count_scale, into metres: UnsafeMutablePointer<Float>
    ) {
        prefetch(UInt(bitPattern: counts) &+ UInt(bitPattern: count &* 2), count &* 2)
        for index in upTo(count) {
            let sample = unsafe Int32(counts.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
            let value = Float(sample) * scale.unit + scale.bias
            let inside = sample >= scale.first ? sample < scale.end ? value : 0 : 0
            unsafe metres[index] = sample == scale.hole ? 0 : inside
        }
        guard scale.is_inverse else { return }
        for index in upTo(count) {
            let value = unsafe metres[index]
            unsafe metres[index] = value > 0 ? 1 / value : 0
        }
    }
}

/// Prefetches bytes: the hardware prefetcher stops at the end of a page.
@inline(__always)
private func prefetch(_ first: UInt, _ count: Int) {
    for address in stride(from: first, to: first &+ UInt(bitPattern: count), by: 64) {
        dm_prefetch_for_reading(address)
    }
}

extension LoopSet {
    /// Computes the key of each sample of a row and its place in the key buffer; and stores the keys of the row before
    /// (`keepNearest`). The two are interleaved, as one is bound by arithmetic and the other by memory.
    ///
    /// A sample of m metres in column i is the point
    ///
    ///     (x, y, z) = m · (start + rays[i]) + shift
    ///
    /// in homogeneous coordinates of the picture: it is seen at column x / z and row y / z, rounded to nearest, halves to
    /// even. The upper half of a key is z as a `Float`, its lower half the color; such keys are ordered by distance, both
    /// as integers and as `Double`s. Columns and rows are clamped to -1…`columns` and -1…`rows`, and NaN, which an infinite distance gives,
    /// to -1: the buffer has places there, which are never read.
    ///
    /// Fields and parameters:
    ///   - colors: 4 bytes for each sample, aligned or not. The memory after the row, which usually holds the next one, is
    ///     prefetched.
    ///   - opaque: bits that are set in each color.
    ///   - rays: x, y and z of all columns, in three rows `rays_stride` numbers apart.
    ///   - columns, rows: of the buffer; below 2^22.
    ///   - origin: the place of column 0 of row 0 in the buffer.
    ///   - stride: places from one row of the buffer to the next.
    ///   - nearest: above 0; samples and points nearer than this, and NaN, are stored at the buffer's first `count` places
    ///     instead.
    ///   - keys_before: the keys of the row before; any keys where there is none.
    ///   - places_before: their places; spare places where there is no row before.
    /// - Returns: the least and the greatest place of points inside the rows; where there is none, the greatest is less
    ///   than any place in the rows.
    /// - Precondition: all rows have room for `count` rounded up to a multiple of 8, and that many are written.
    package static func projectRow(
        _ row: dm_point_row, _ grid: dm_point_grid, start: SIMD3<Float>, shift: SIMD3<Float>,
        in buffer: UnsafeMutablePointer<Double>
    ) -> SIMD2<Int32> {
        let (metres, colors, count) = unsafe (row.metres, row.colors, row.count)
        let (keys, places) = unsafe (row.keys, row.places)
        let (keysBefore, placesBefore) = unsafe (row.keys_before, row.places_before)
        let (origin, stride) = unsafe (grid.origin, grid.stride)
        let raysX = unsafe grid.rays
        let (raysY, raysZ) = unsafe (raysX + grid.rays_stride, raysX + 2 &* grid.rays_stride)
        let (startX, startY, startZ) = (all(start.x), all(start.y), all(start.z))
        let (shiftX, shiftY, shiftZ) = (all(shift.x), all(shift.y), all(shift.z))
        let (lastColumn, lastRow) = unsafe (all(grid.columns), all(grid.rows))
        let (one, nearest) = unsafe (all(1), all(grid.nearest))
        let opaque = unsafe SIMD8<UInt32>(repeating: grid.opaque)
        let rowLength = SIMD8<Int32>(repeating: stride)
        let bias = SIMD8<Int32>(repeating: origin &- wholeNumberBias &* (stride &+ 1))
        var spare = SIMD8<Int32>(0, 1, 2, 3, 4, 5, 6, 7)
        // Relative to the buffer's first row: spare places before it become the largest unsigned numbers.
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
            unsafe UnsafeMutableRawPointer(keys + index).storeBytes(
                of: littleEndianPairs(pairs), as: SIMD16<UInt32>.self)
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
}

@inline(__always)
private func all(_ value: Float) -> SIMD8<Float> { SIMD8(repeating: value) }

/// Orders pairs as the lower and the upper half of 64-bit integers in native byte order.
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

/// The lesser of each pair; the first where one of them is NaN.
@inline(__always)
func least(_ one: SIMD8<Float>, _ other: SIMD8<Float>) -> SIMD8<Float> {
    var least = one
    for lane in 0..<8 { least[lane] = other[lane] < one[lane] ? other[lane] : one[lane] }
    return least
}

/// The greater of each pair; the first where one of them is NaN.
@inline(__always)
func greatest(_ one: SIMD8<Float>, _ other: SIMD8<Float>) -> SIMD8<Float> {
    var greatest = one
    for lane in 0..<8 { greatest[lane] = other[lane] > one[lane] ? other[lane] : one[lane] }
    return greatest
}

extension LoopSet {
    /// Stores keys at their places in the buffer where they are less than the key there (a depth test).
    ///
    /// - Precondition: every place is in the buffer, and the rows have `count` elements, rounded up to a multiple of 8.
    package static func keepNearest(
        keys: UnsafePointer<Double>, places: UnsafePointer<Int32>, count: Int, in buffer: UnsafeMutablePointer<Double>
    ) {
        for index in upTo((count &+ 7) / 8) { unsafe keepEight(keys, places, index, count, buffer) }
    }
}

/// Stores the keys of sample `index` of each eighth of a row. Neighbours often have the same place, and a load after a
/// store to the same address stalls; so eight distant samples are interleaved.
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

extension LoopSet {
    /// Keeps the lesser of two keys at each place of a row, and clears the source.
    package static func moveNearest(
        from source: UnsafeMutablePointer<Double>, count: Int, empty: Double, into target: UnsafeMutablePointer<Double>
    ) {
        for index in upTo(count) {
            let (key, old) = unsafe (source[index], target[index])
            unsafe target[index] = key < old ? key : old
            unsafe source[index] = empty
        }
    }
}
