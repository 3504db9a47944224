#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// e to the power of x.
func exponential(_ x: Double) -> Double { exp(x) }

/// The natural logarithm of x.
func logarithm(_ x: Double) -> Double { log(x) }

// Trigonometry in degrees, the unit of every angle that a property holds.

func sine(degrees angle: Double) -> Double { sin(angle * .pi / 180) }

func cosine(degrees angle: Double) -> Double { cos(angle * .pi / 180) }

func tangent(degrees angle: Double) -> Double { tan(angle * .pi / 180) }

/// The direction of (x, y) in degrees, from the x axis towards the y axis: -180…180.
func direction(x: Double, y: Double) -> Double { atan2(y, x) * 180 / .pi }

/// The same angle in -180 (excluded) to 180 degrees; 0 for NaN and infinite angles.
package func wrapped(degrees angle: Double) -> Double {
    let rest = angle.remainder(dividingBy: 360)  // -180…180
    if rest.isNaN { return 0 }
    return rest == -180 ? 180 : rest
}
