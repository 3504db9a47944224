/// Adds up four rows of opacities to a row of bytes.
///
///     alpha = Σ weight · opacity, clipped to 0…255, rounded to nearest (halves to even)
///
/// - parameter weights: each already times 255.
package func mixRows(
    _ row0: UnsafePointer<Float>, _ row1: UnsafePointer<Float>, _ row2: UnsafePointer<Float>,
    _ row3: UnsafePointer<Float>, weights: SIMD4<Float>, count: Int, into alpha: UnsafeMutablePointer<UInt8>
) {
    let (weight0, weight1, weight2, weight3) = (weights[0], weights[1], weights[2], weights[3])
    for x in 0..<count {
        let sum = unsafe row0[x] * weight0 + row1[x] * weight1 + row2[x] * weight2 + row3[x] * weight3
        unsafe alpha[x] = roundedByte(sum)
    }
}

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
