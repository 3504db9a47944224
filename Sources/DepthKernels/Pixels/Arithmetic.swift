// Conversions that cannot trap.
//
// `Int(someDouble)` ends the host program for NaN and for values too large, so every conversion from floating point to
// an index in this module is one of these.

/// The whole number at or below `value`, clamped to `range`; NaN gives the lower end.
package func floorIndex(_ value: Double, in range: ClosedRange<Int>) -> Int {
    index(value.rounded(.down), in: range)
}

/// The whole number at or above `value`, clamped to `range`; NaN gives the lower end.
func ceilIndex(_ value: Double, in range: ClosedRange<Int>) -> Int {
    index(value.rounded(.up), in: range)
}

/// The whole number nearest to `value` (halves to even), clamped to `range`; NaN gives the lower end.
func nearestIndex(_ value: Double, in range: ClosedRange<Int>) -> Int {
    index(value.rounded(.toNearestOrEven), in: range)
}

private func index(_ whole: Double, in range: ClosedRange<Int>) -> Int {
    guard whole > Double(range.lowerBound) else { return range.lowerBound }
    guard whole < Double(range.upperBound) else { return range.upperBound }
    return Int(exactly: whole) ?? range.upperBound
}

/// The whole number nearest to one of 0 to 2²², halves to even. Other numbers give any result, but no trap: for loops over pixels.
@inline(__always)
func nearestWhole(_ value: Float) -> UInt32 {
    let bias: Float = 0x1p23
    return (value + bias).bitPattern &- bias.bitPattern
}

/// The byte nearest to a number, halves to even.
@inline(__always)
func nearestByte(_ value: Float) -> UInt8 { UInt8(truncatingIfNeeded: nearestWhole(min(max(value, 0), 255))) }

/// The whole number at or below one of 0 to 2²². Other numbers give any result, but no trap: for loops over pixels.
@inline(__always)
func floorWhole(_ value: Float) -> UInt32 {
    let nearest = nearestWhole(value)
    return Float(nearest) > value ? nearest &- 1 : nearest
}

/// `value` clamped to `range`; `fallback` for NaN.
func clamped(_ value: Double, to range: ClosedRange<Double>, orIfNaN fallback: Double) -> Double {
    value.isNaN ? fallback : min(max(value, range.lowerBound), range.upperBound)
}

/// The number of groups of `size` that hold `count` items: `count / size`, rounded up.
///
/// - Precondition: `count >= 0` and `size > 0`; a size below 1 counts as 1.
@inline(__always)
func groups(of size: Int, in count: Int) -> Int {
    let size = max(size, 1)
    return count / size &+ (count % size == 0 ? 0 : 1)
}

/// The largest `Float` that is not above `value`; NaN stays NaN.
///
/// For every `Float` f, `Double(f) <= value` is equivalent to `f <= largestFloat(atMost: value)`, which a vector loop
/// computes without widening its samples.
func largestFloat(atMost value: Double) -> Float {
    let nearest = Float(value)
    return Double(nearest) > value ? nearest.nextDown : nearest
}

/// The first of 0..<`count` for which `predicate` holds, or `count`; it must hold for all that follow as well.
func partitionPoint(_ count: Int, where predicate: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
        let middle = (low + high) / 2
        if predicate(middle) { high = middle } else { low = middle + 1 }
    }
    return low
}
