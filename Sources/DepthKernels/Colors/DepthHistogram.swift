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
    /// The bins of a run of samples.
    private var line = Scratch<Int32>()

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
            unsafe tally.countRows(of: depth) { unsafe $0.smallCode($1) }
            return finish(tally.join(below: 1 << 8))
        case .gray16BE:
            unsafe tally.countRows(of: depth) { unsafe $0.bigEndianCode($1) }
            return finish(tally.join(below: DepthHistogram.binCount))
        case .gray16LE, .float16LE, .float32LE:
            let highest = tally.countRowsOfFours(of: depth)
            return finish(tally.join(below: highest &+ 1))
        }
    }

    /// Counts the metres that are above 0 and below a limit, in bins of equal width.
    ///
    /// - Precondition: the samples are 32-bit floats.
    mutating func countMetres(of depth: DepthImage, bins: MetreBins, loops: Loops) -> Counts {
        let tally = unsafe Tally(counters: cleared())
        let line = unsafe line.reserve(MetreBins.runLength, filler: 0)
        for y in 0..<depth.height {
            for start in stride(from: 0, to: depth.width, by: MetreBins.runLength) {
                let count = min(MetreBins.runLength, depth.width &- start)
                unsafe bins.fill(line, from: depth.plane.row(y) + start &* 4, count: count, loops: loops)
                for x in 0..<count { unsafe tally.count(Int(line[x]), turn: x & 1) }
            }
        }
        tally.forget(from: MetreBins.beyond, through: MetreBins.unmeasured)
        return finish(tally.join(below: DepthHistogram.binCount))
    }

    private mutating func cleared() -> UnsafeMutablePointer<UInt32> {
        let counters = unsafe memory.reserve(Tally.turns * Tally.distance, filler: 0)
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

    /// - Parameter limit: metres, 1e6 at most; no bins where it is not above 0.
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

    /// Behind the bins: what is measured but not below the limit, and what is not measured.
    static let beyond = DepthHistogram.binCount
    static let unmeasured = DepthHistogram.binCount + 1

    /// Samples to find numbers for at a time: so few that the processor fetches the next ones while it works on what these
    /// lead to.
    static let runLength = 64

    /// The bins of a run of 32-bit floats, in single precision, or one of the two above.
    func fill(
        _ line: UnsafeMutablePointer<Int32>, from row: UnsafeRawPointer, count: Int, loops: Loops
    ) {
        unsafe loops.binsOfMetres(
            row, count: count, bins: Int32(DepthHistogram.binCount), limit: floatLimit, scale: binsPerMetre, into: line)
    }
}

/// Two sets of counters that take turns: neighbouring samples are mostly alike, and a counter that was written just now
/// is slow to read.
@safe
private struct Tally {
    static let turns = 2
    /// From one set to the next. No multiple of 4096 bytes: processors take a load for one of what was just stored where
    /// the lower twelve bits of the two addresses agree.
    static let distance = DepthHistogram.binCount + 528
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

    /// The same for little-endian samples of 16 bits, four at a time; returns a code that is not below any of them.
    @inline(__always)
    func countRowsOfFours(of depth: DepthImage) -> Int {
        var bits = 0
        for y in 0..<depth.height {
            let row = unsafe depth.plane.row(y)
            for x in stride(from: 0, to: depth.width & ~3, by: 4) {
                let codes = unsafe row.fourCodes(x)
                count(codes.0, turn: 0)
                count(codes.1, turn: 1)
                count(codes.2, turn: 0)
                count(codes.3, turn: 1)
                bits |= codes.0 | codes.1 | codes.2 | codes.3
            }
            for x in (depth.width & ~3)..<depth.width {
                let code = unsafe row.code(x)
                count(code, turn: x & 1)
                bits |= code
            }
        }
        return bits
    }

    /// Leaves counters as if nothing had been counted there.
    func forget(from first: Int, through last: Int) {
        for index in first...last {
            for turn in 0..<Tally.turns { unsafe counters[turn &* Tally.distance &+ index] = 0 }
        }
    }

    @inline(__always)
    func count(_ index: Int, turn: Int) { unsafe counters[turn &* Tally.distance &+ index] &+= 1 }

    /// Adds the second set to the first and leaves it empty.
    ///
    /// - Parameter limit: no index was as high.
    func join(below limit: Int) -> DepthHistogram.Counts {
        let second = unsafe counters + Tally.distance
        var end = 0
        for block in 0..<min(groups(of: 16, in: limit), DepthHistogram.binCount / 16) {
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

/// The codes of a row's samples, aligned or not.
extension UnsafeRawPointer {
    /// Of a sample of 8 bits.
    @inline(__always)
    func smallCode(_ index: Int) -> Int { unsafe Int(load(fromByteOffset: index, as: UInt8.self)) }

    @inline(__always)
    func bigEndianCode(_ index: Int) -> Int {
        unsafe Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    }

    /// Of a little-endian sample of 16 bits.
    @inline(__always)
    func code(_ index: Int) -> Int {
        unsafe Int(UInt16(littleEndian: loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    }

    /// Samples `index` to `index + 3` of a row of little-endian 16-bit samples, aligned or not.
    @inline(__always)
    func fourCodes(_ index: Int) -> (Int, Int, Int, Int) {
        let bits = unsafe UInt64(littleEndian: loadUnaligned(fromByteOffset: index &* 2, as: UInt64.self))
        return (
            Int(truncatingIfNeeded: bits & 0xffff), Int(truncatingIfNeeded: bits >> 16 & 0xffff),
            Int(truncatingIfNeeded: bits >> 32 & 0xffff), Int(truncatingIfNeeded: bits >> 48)
        )
    }
}
