/// 1.5 · 2²³. A number between −2²² and 2²² that is added to it is rounded to a whole number (halves to even), which
/// stands in the low bits of the sum: a conversion that cannot trap, so that loops over it become vector code.
@inline(__always)
var roundingBias: Float { 0x1.8p23 }

/// The whole number nearest to `value`, halves to even.
///
/// - Precondition: `value` is between −2²² and 2²². Other numbers give any result, but no trap.
@inline(__always)
func nearestWhole(_ value: Float) -> Int32 {
    Int32(bitPattern: (value + roundingBias).bitPattern) &- Int32(bitPattern: roundingBias.bitPattern)
}

/// The whole number at or below `value`.
///
/// - Precondition: as for `nearestWhole`.
@inline(__always)
func floorWhole(_ value: Float) -> Int32 {
    let nearest = nearestWhole(value)
    return Float(nearest) > value ? nearest &- 1 : nearest
}

/// The byte nearest to a number of 0 to 255, halves to even.
@inline(__always)
func nearestByte(_ value: Float) -> UInt8 { UInt8(truncatingIfNeeded: nearestWhole(value)) }
