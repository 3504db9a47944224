/// The bytes of one execution, read as the numbers and choices that a target needs. What lies beyond the end is zero.
struct FuzzInput {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = Array(bytes) }

    var isEmpty: Bool { index >= bytes.count }

    mutating func byte() -> UInt8 {
        guard index < bytes.count else { return 0 }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// A number of so many bytes, the least first.
    mutating func word(_ count: Int = 8) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) }
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        let span = UInt64(range.upperBound - range.lowerBound)
        let count = span < 1 << 8 ? 1 : span < 1 << 16 ? 2 : 4
        return range.lowerBound + Int(word(count) % (span + 1))
    }

    mutating func choice<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }

    /// True once in about 2^`bits` times where the bytes are random.
    mutating func seldom(bits: UInt8 = 4) -> Bool { byte() >> (8 - bits) == 1 }

    /// Any number: the odd ones, any bit pattern, or a plain one.
    mutating func double() -> Double {
        let odd = [
            0, -0.0, .nan, .signalingNaN, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
            .leastNonzeroMagnitude, 1, -1, 0.5, 9.3e18, -9.3e18, 1e300,
        ]
        switch byte() & 3 {
        case 0: return choice(odd)
        case 1: return Double(bitPattern: word())
        default: return Double(Int16(truncatingIfNeeded: word(2))) / 64
        }
    }

    /// So many bytes: those of a short piece of the input, again and again.
    mutating func pattern(_ count: Int) -> [UInt8] {
        let length = number(1...32)
        let piece = (0..<length).map { _ in byte() }
        return (0..<count).map { piece[$0 % length] }
    }

    mutating func text(atMost count: Int = 32) -> String {
        let length = number(0...count)
        return String(decoding: (0..<length).map { _ in byte() }, as: UTF8.self)
    }

    mutating func rest() -> [UInt8] {
        defer { index = bytes.count }
        return Array(bytes[min(index, bytes.count)...])
    }
}
