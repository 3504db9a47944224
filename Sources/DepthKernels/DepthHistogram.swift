/// Counts the samples of a depth map, 65536 kinds of them, and keeps the memory for that.
///
/// Samples that are stored in 16 bits or less are told apart by their bits (their *code*), 32-bit floats by the bin of
/// equal width that they fall into.
@safe
struct DepthHistogram: ~Copyable {
    static let binCount = 1 << 16

    private var memory = Scratch<UInt32>()
    /// How many counters may hold something.
    private var used = 0

    /// The counters of one map.
    @safe
    struct Counts {
        fileprivate let base: UnsafeMutablePointer<UInt32>
        /// All that are not 0 are below this index.
        let end: Int

        @inline(__always)
        subscript(index: Int) -> Int {
            assert(index >= 0 && index < end, "no such counter")
            return unsafe Int(base[index])
        }
    }

    /// Counts by code: the bits of a sample as an integer, whatever they mean.
    ///
    /// - Precondition: the samples have 16 bits or less.
    mutating func countCodes(of depth: DepthImage) -> Counts {
        let tally = unsafe Tally(counters: cleared())
        switch depth.encoding {
        case .gray8:
            unsafe tally.countRows(of: depth) { row, x in unsafe Int(row.load(fromByteOffset: x, as: UInt8.self)) }
        case .gray16BE:
            unsafe tally.countRows(of: depth) { row, x in
                unsafe Int(UInt16(bigEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)))
            }
        case .gray16LE, .float16LE, .float32LE:
            unsafe tally.countRows(of: depth) { row, x in
                unsafe Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)))
            }
        }
        return finish(tally.join())
    }

    /// Counts the metres that are above 0 and below a limit, in bins of equal width.
    ///
    /// - Precondition: the samples are 32-bit floats.
    mutating func countMetres(of depth: DepthImage, bins: MetreBins) -> Counts {
        let tally = unsafe Tally(counters: cleared())
        for y in 0..<depth.height {
            let row = unsafe depth.plane.row(y)
            for x in 0..<depth.width {
                if let bin = unsafe bins.bin(of: row.storedFloat(x)) { tally.count(bin, turn: x & 1) }
            }
        }
        return finish(tally.join())
    }

    private mutating func cleared() -> UnsafeMutablePointer<UInt32> {
        let counters = unsafe memory.reserve(Tally.turns * DepthHistogram.binCount, filler: 0)
        unsafe counters.update(repeating: 0, count: used)
        return unsafe counters
    }

    private mutating func finish(_ counts: Counts) -> Counts {
        used = counts.end
        return counts
    }
}

/// Equal bins from 0 to a limit.
struct MetreBins {
    private let limit: Double
    private let floatLimit: Float
    private let binsPerMetre: Float

    /// - parameter limit: metres, 1e6 at most; no bins where it is not above 0.
    init(limit: Double) {
        self.limit = limit > 0 ? min(limit, 1e6) : 0
        floatLimit = Float(self.limit)
        binsPerMetre = floatLimit > 0 ? min(Float(DepthHistogram.binCount) / floatLimit, 1e30) : 0
    }

    /// floor(metres · 65536 / limit); nil for what is not above 0 or not below the limit.
    func bin(of metres: Double) -> Int? {
        guard metres > 0, metres < limit else { return nil }
        return floorIndex(metres * Double(DepthHistogram.binCount) / limit, in: 0...(DepthHistogram.binCount - 1))
    }

    /// The same in single precision.
    @inline(__always)
    func bin(of metres: Float) -> Int? {
        guard metres > 0, metres < floatLimit else { return nil }
        return Int(min(metres * binsPerMetre, Float(DepthHistogram.binCount - 1)))
    }
}

/// Two sets of counters that take turns: neighbouring samples are mostly alike, and a counter that was written just now
/// is slow to read.
@safe
private struct Tally {
    static let turns = 2
    private let counters: UnsafeMutablePointer<UInt32>

    init(counters: UnsafeMutablePointer<UInt32>) {
        unsafe self.counters = counters
    }

    @inline(__always)
    func countRows(of depth: DepthImage, code: (UnsafeRawPointer, Int) -> Int) {
        for y in 0..<depth.height {
            let row = unsafe depth.plane.row(y)
            for x in 0..<depth.width { unsafe count(code(row, x), turn: x & 1) }
        }
    }

    @inline(__always)
    func count(_ index: Int, turn: Int) { unsafe counters[turn &* DepthHistogram.binCount &+ index] &+= 1 }

    /// Adds the second set to the first and leaves it empty.
    func join() -> DepthHistogram.Counts {
        let second = unsafe counters + DepthHistogram.binCount
        var end = 0
        for block in 0..<(DepthHistogram.binCount / 16) {
            let start = block &* 16
            var any: UInt32 = 0
            for index in start..<(start &+ 16) {
                let sum = unsafe counters[index] &+ second[index]
                unsafe counters[index] = sum
                unsafe second[index] = 0
                any |= sum
            }
            if any != 0 { end = start &+ 16 }
        }
        return unsafe DepthHistogram.Counts(base: counters, end: end)
    }
}

extension UnsafeRawPointer {
    /// Number `index` of a row of little-endian 32-bit floats, aligned or not.
    @inline(__always)
    func storedFloat(_ index: Int) -> Float {
        unsafe Float(bitPattern: UInt32(littleEndian: loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)))
    }
}
