#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The exponential function: the one thing that this module asks of the platform's mathematics.
func exponential(_ x: Double) -> Double { exp(x) }
