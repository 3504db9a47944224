/// Random numbers, the same in every run.
///
/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
package struct RepeatableRandomNumberGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// Nearly a normal number: twelve uniform ones add up to that.
    package mutating func normal() -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + Double(next() >> 11) * 0x1p-53 }
    }

    /// That many random bytes. Drawn one by one by other modules, those of a frame take longer than most tests.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var words = [UInt64](repeating: 0, count: (count + 7) / 8)
        for index in words.indices { words[index] = next() }
        return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
    }
}
