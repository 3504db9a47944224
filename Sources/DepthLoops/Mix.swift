import CVectors

/// Adds up four rows of opacities to a row of bytes.
///
///     alpha = 255 · Σ weight · opacity, clipped to 0…255, rounded to nearest
///
/// In whole numbers: opacities of 2^14, weights of 255 · 2^7, sums of 255 · 2^5; wrong by less than an eighth of a byte's
/// step.
package func mixRows(
    _ row0: UnsafePointer<Int16>, _ row1: UnsafePointer<Int16>, _ row2: UnsafePointer<Int16>,
    _ row3: UnsafePointer<Int16>, weights: SIMD4<Int16>, count: Int, into alpha: UnsafeMutablePointer<UInt8>
) {
    let bias = lostByFour &+ 16
    var x = 0
    while count >= 32 && x < count {
        // The last 32 may begin inside those before, which come out the same again.
        x = min(x, count &- 32)
        unsafe add_four_rows(
            row0 + x, row1 + x, row2 + x, row3 + x, weights[0], weights[1], weights[2], weights[3], bias, 5, alpha + x)
        x &+= 32
    }
    while x < count {
        let sum =
            unsafe upperHalf(row0[x], weights[0]) &+ upperHalf(row1[x], weights[1]) &+ upperHalf(row2[x], weights[2])
            &+ upperHalf(row3[x], weights[3])
        unsafe alpha[x] = UInt8(truncatingIfNeeded: min(max((sum &+ bias) &>> 5, 0), 255))
        x &+= 1
    }
}

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
