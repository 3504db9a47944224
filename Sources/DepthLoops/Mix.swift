package import CVectors

/// Makes rows of bytes, each of which is the sum of four rows of opacities.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In whole numbers: opacities of 2^14, weights of 255 · 2^7, sums of 255 · 2^5; wrong by less than an eighth of a byte's
/// step.
///
/// - parameter columns: which of the opacities are added up.
/// - parameter alpha: column 0 of the first row; only `columns` are written.
package func mixRows(
    _ fours: UnsafePointer<FourRows>, rows: Int, columns: Range<Int>, into alpha: UnsafeMutablePointer<UInt8>,
    stride: Int
) {
    for row in 0..<rows { unsafe mixRow(fours + row, columns, alpha + row &* stride) }
}

@inline(__always)
private func mixRow(_ four: UnsafePointer<FourRows>, _ columns: Range<Int>, _ alpha: UnsafeMutablePointer<UInt8>) {
    let bias = lostByFour &+ 16
    if columns.count >= 32 {
        return unsafe add_four_rows(four, columns.lowerBound, columns.upperBound, bias, 5, alpha)
    }
    for x in columns { unsafe alpha[x] = clippedByte(sum(four, x, bias)) }
}

/// From one knot to the next.
package let rowsPerKnot = Int(ROWS_PER_KNOT)

/// The same for rows that lie between others, the knots, `rowsPerKnot` of them from one to the next: of knots the sums are
/// made, and between two of them a column goes straight, but for another eighth of a byte's step at most.
///
/// - parameter knots: the one at or above the first row, and all until one below the last.
/// - parameter offset: how many rows the first one is below the first knot; less than `rowsPerKnot`.
package func mixLines(
    _ knots: UnsafePointer<FourRows>, offset: Int, rows: Int, columns: Range<Int>,
    into alpha: UnsafeMutablePointer<UInt8>, stride: Int
) {
    let bias = lostByFour &+ 16
    if columns.count >= 32 {
        return unsafe add_four_rows_in_lines(
            knots, offset, rows, columns.lowerBound, columns.upperBound, bias, 5, alpha, stride)
    }
    for row in 0..<rows {
        let (knot, distance) = (row &+ offset).quotientAndRemainder(dividingBy: rowsPerKnot)
        for x in columns {
            let (above, below) = unsafe (sum(knots + knot, x, bias), sum(knots + knot + 1, x, bias))
            let slope = (below &- above &+ Int16(ROWS_PER_KNOT / 2)) &>> Int16(ROWS_PER_KNOT_SHIFT)
            unsafe alpha[row &* stride &+ x] = clippedByte(above &+ Int16(truncatingIfNeeded: distance) &* slope)
        }
    }
}

/// One number of each of four rows, weighed.
@inline(__always)
private func sum(_ four: UnsafePointer<FourRows>, _ x: Int, _ bias: Int16) -> Int16 {
    let (rows, weights) = unsafe (four.pointee.rows, four.pointee.weights)
    guard let row0 = unsafe rows.0, let row1 = unsafe rows.1, let row2 = unsafe rows.2, let row3 = unsafe rows.3 else {
        return 0
    }
    return unsafe upperHalf(row0[x], weights.0) &+ upperHalf(row1[x], weights.1) &+ upperHalf(row2[x], weights.2)
        &+ upperHalf(row3[x], weights.3) &+ bias
}

@inline(__always)
private func clippedByte(_ sum: Int16) -> UInt8 { UInt8(truncatingIfNeeded: min(max(sum &>> 5, 0), 255)) }

/// The upper half of a product, `a · b / 2^16` rounded down: one instruction for many of them.
@inline(__always)
func upperHalf(_ a: Int16, _ b: Int16) -> Int16 { Int16(truncatingIfNeeded: (Int32(a) &* Int32(b)) &>> 16) }

/// What rounding down takes off the sum of four upper halves, on average.
let lostByFour: Int16 = 2

/// The nearest whole number, halves to even, of a number clipped to 0…255; 0 for what is no number.
///
/// - Precondition: the number lies within ±2²².
@inlinable
@inline(__always)
package func roundedByte(_ value: Float) -> UInt8 {
    // Taken off 1.5 · 2²³, a number is rounded to a whole one in the low bits. What is clipped as an integer becomes
    // instructions that pack and saturate.
    let value = value == value ? value : 0
    let magic: Float = 12_582_912
    let whole = Int32(bitPattern: magic.bitPattern) &- Int32(bitPattern: (magic - value).bitPattern)
    return UInt8(truncatingIfNeeded: min(max(whole, 0), 255))
}
