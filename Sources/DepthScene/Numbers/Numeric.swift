/// Small arithmetic that gives the same bits on every platform: nothing here calls the C library.
enum Numeric {
    /// The sine of an angle in turns (1 is a full circle), to 1e-7; any argument is allowed, and 0 stands in for
    /// those that are not finite.
    ///
    /// Source: the Taylor series of sin(2πx) to the eleventh power, on the quarter turn either side of zero.
    static func sine(turns: Double) -> Float {
        guard turns.isFinite else { return 0 }
        var x = turns - turns.rounded()
        if x > 0.25 { x = 0.5 - x }
        if x < -0.25 { x = -0.5 - x }
        let angle = x * 2 * Double.pi
        let square = angle * angle
        let series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
        return Float(angle * series)
    }

    /// The nearest number within `low ... high`; `low` for NaN.
    @inline(__always)
    static func clamp(_ value: Float, _ low: Float = 0, _ high: Float = 1) -> Float {
        guard value > low else { return low }
        return value < high ? value : high
    }

    /// Converts to an integer: truncates towards zero and clamps to `low ... high`; NaN gives `low`. `Int(_:)` traps on NaN and
    /// on values out of range.
    @inline(__always)
    static func integer(_ value: Float, _ low: Int, _ high: Int) -> Int {
        guard value > Float(low) else { return low }
        return value < Float(high) ? Int(value) : high
    }

    /// 0 up to `start`, 1 from `end` on, and a smooth S between: 3t² − 2t³.
    static func smoothStep(_ value: Float, from start: Float = 0, to end: Float = 1) -> Float {
        let t = clamp((value - start) / (end - start))
        return t * t * (3 - 2 * t)
    }
}

/// Numbers that look random, from whole numbers alone.
enum Hash {
    /// Scrambles 32 bits, one to one.
    ///
    /// Source: `lowbias32` by Chris Wellons (Prospecting for Hash Functions, 2018; public domain).
    @inline(__always)
    static func mix(_ value: UInt32) -> UInt32 {
        var x = value
        x ^= x >> 16
        x = x &* 0x7feb_352d
        x ^= x >> 15
        x = x &* 0x846c_a68b
        x ^= x >> 16
        return x
    }

    @inline(__always)
    static func mix(_ a: UInt32, _ b: UInt32) -> UInt32 { mix(a &* 0x9e37_79b9 ^ mix(b)) }

    /// 0 ..< 1, in steps of 2⁻²⁴.
    @inline(__always)
    static func unit(_ hash: UInt32) -> Float { Float(hash >> 8) * (1 / 16_777_216) }

    /// A number of mean 0 and standard deviation 1, approximately normal, within ±3.5.
    ///
    /// Source: the sum of four uniform numbers (Irwin–Hall), here the 16-bit halves of two hashes; each has a variance
    /// of (2³² − 1) / 12.
    @inline(__always)
    static func normal(_ first: UInt32, _ second: UInt32) -> Float {
        let sum = (first & 0xffff) &+ (first >> 16) &+ (second & 0xffff) &+ (second >> 16)
        return (Float(sum) - 131_070) * (1 / 37_837.227)
    }
}
