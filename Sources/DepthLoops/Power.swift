import CDepthKernels

extension LoopSet {
    /// Raises numbers from 0 to slightly above 1 to a power, in place. Square root, fourth root and square are computed
    /// directly.
    ///
    /// - Precondition: the exponent is finite and above 0.
    package static func raise(_ numbers: UnsafeMutablePointer<Float>, count: Int, to exponent: Float) {
        switch exponent {
        case 1: break
        case 0.5: for index in upTo(count) { unsafe numbers[index] = dm_square_root(numbers[index]) }
        case 0.25: for index in upTo(count) { unsafe numbers[index] = dm_square_root(dm_square_root(numbers[index])) }
        case 2: for index in upTo(count) { unsafe numbers[index] *= numbers[index] }
        default: for index in upTo(count) { unsafe numbers[index] = power(numbers[index], exponent) }
        }
    }
}

/// `value ^ exponent`, with a relative error below 1e-5 over the whole range of normal floats, most of it from the
/// rounding of the product of logarithm and exponent; 0 stays 0.
///
/// Source: own derivation; logarithm by the series of the inverse hyperbolic tangent, exponential by its Taylor
/// series, both on a reduced range (Muller, *Elementary Functions*, 3rd ed., ch. 11).
///
/// - Precondition: the value is from 0 to slightly above 1, and the exponent above 0. No branches and no traps, so that
///   a loop over it compiles to vector code.
@inline(__always)
package func power(_ value: Float, _ exponent: Float) -> Float {
    let result = exponential2(max(exponent * logarithm2(value), -126))
    return value >= .leastNormalMagnitude ? result : 0
}

/// The logarithm to the base 2 of a normal positive number.
@inline(__always)
private func logarithm2(_ value: Float) -> Float {
    // value = 2^whole · fraction, with the fraction between √½ and √2, where the series is short.
    let bits = Int32(bitPattern: value.bitPattern)
    let whole = (bits &- 0x3f35_04f3) &>> 23
    let fraction = Float(bitPattern: UInt32(bitPattern: bits &- whole &<< 23))
    // ln f = 2 artanh((f − 1)/(f + 1)) = 2 (s + s³/3 + s⁵/5 + …), and |s| < 0.172.
    let s = (fraction - 1) / (fraction + 1)
    let q = s * s
    let series = 1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9))))
    return Float(whole) + 2.885_390_1 * s * series
}

/// 2 to a power from −126 to slightly above 0.
@inline(__always)
private func exponential2(_ power: Float) -> Float {
    let whole = nearestWhole(power)
    let t = (power - Float(whole)) * 0.693_147_2
    let high = 1 / 24 + t * (1 / 120 + t * (1 / 720 + t * (1 / 5040)))
    let series = 1 + t * (1 + t * (1 / 2 + t * (1 / 6 + t * high)))
    return series * Float(bitPattern: UInt32(bitPattern: (whole &+ 127) &<< 23))
}

/// The natural logarithm of a normal positive number.
@inline(__always)
func naturalLogarithm(_ value: Float) -> Float { logarithm2(value) * 0.693_147_2 }

/// e to a power from −87 to slightly above 0; smaller powers give e^−87.
@inline(__always)
func naturalExponential(_ power: Float) -> Float { exponential2(max(power * 1.442_695, -126)) }
