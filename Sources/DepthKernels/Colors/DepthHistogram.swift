import CDepthKernels

/// Histogram of a depth map, with 65536 counters that are kept from frame to frame.
///
/// Samples of 16 bits or less are counted by their bits (their *code*), 32-bit floats in bins of equal width.
@safe
struct DepthHistogram: ~Copyable {
    static let binCount = 1 << 16

    private var memory = Scratch<UInt32>()
    /// The number of counters that may not be 0.
    private var used = 0
    /// The bins of a run of samples.
    private var line = Scratch<Int32>()

    /// The counters of one map.
    @safe
    struct Counts {
        fileprivate let base: UnsafeMutablePointer<UInt32>
        /// Counters at this index and above are 0.
        let end: Int

        @inline(__always)
        subscript(index: Int) -> Int {
            assert(index >= 0 && index < end, "no such counter")
            return unsafe Int(base[index])
        }
    }

    /// Counts by code: the bits of a sample as an integer.
    ///
    /// - Precondition: the samples have 16 bits or less.
    mutating func countCodes(of depth: DepthImage) -> Counts {
        let banks = unsafe CounterBanks(counters: cleared())
        switch depth.encoding {
        case .gray8:
            unsafe banks.countRows(of: depth) { unsafe $0.smallCode($1) }
            return finish(banks.join(below: 1 << 8))
        case .gray16BE:
            unsafe banks.countRows(of: depth) { unsafe $0.bigEndianCode($1) }
            return finish(banks.join(below: DepthHistogram.binCount))
        case .gray16LE, .float16LE, .float32LE:
            let highest = banks.countRowsOfFours(of: depth)
            return finish(banks.join(below: highest &+ 1))
        }
    }

    /// Counts the metres that are above 0 and below a limit, in bins of equal width.
    ///
    /// - Precondition: the samples are 32-bit floats.
    mutating func countMetres(of depth: DepthImage, bins: MetreBins, loops: Loops) -> Counts {
        let banks = unsafe CounterBanks(counters: cleared())
        let line = unsafe line.reserve(MetreBins.runLength, filler: 0)
        for y in 0..<depth.height {
            for start in stride(from: 0, to: depth.width, by: MetreBins.runLength) {
                let count = min(MetreBins.runLength, depth.width &- start)
                unsafe bins.fill(line, from: depth.plane.row(y) + start &* 4, count: count, loops: loops)
                for x in 0..<count { unsafe banks.count(Int(line[x]), bank: x & 1) }
            }
        }
        banks.forget(from: MetreBins.beyond, through: MetreBins.unmeasured)
        return finish(banks.join(below: DepthHistogram.binCount))
    }

    private mutating func cleared() -> UnsafeMutablePointer<UInt32> {
        let counters = unsafe memory.reserve(CounterBanks.bankCount * CounterBanks.bankStride, filler: 0)
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

    /// floor(metres · 65536 / limit); nil for distances not above 0 or not below the limit.
    func bin(of metres: Double) -> Int? {
        guard metres > 0, metres < limit else { return nil }
        return floorIndex(metres * Double(DepthHistogram.binCount) / limit, in: 0...(DepthHistogram.binCount - 1))
    }

    /// Indices after the bins: samples at or beyond the limit, and samples that were not measured.
    static let beyond = DepthHistogram.binCount
    static let unmeasured = DepthHistogram.binCount + 1

    /// Samples that are binned at a time: few enough for the processor to overlap the binning of one run with the use
    /// of the previous one.
    static let runLength = 64

    /// The bins of a run of 32-bit floats, in single precision, or one of the two above.
    func fill(
        _ line: UnsafeMutablePointer<Int32>, from row: UnsafeRawPointer, count: Int, loops: Loops
    ) {
        unsafe loops.binsOfMetres(
            row, count: count,
            dm_bins(count: Int32(DepthHistogram.binCount), limit: floatLimit, scale: binsPerMetre), into: line)
    }
}

/// Two banks of counters, used alternately: neighbouring samples are often equal, and to increment the counter that was
/// written last stalls the processor.
@safe
private struct CounterBanks {
    static let bankCount = 2
    /// Counters from one bank to the next. Not a multiple of 4096 bytes: processors take two addresses with equal lower
    /// twelve bits for the same one (4K aliasing).
    static let bankStride = DepthHistogram.binCount + 528
    private let counters: UnsafeMutablePointer<UInt32>

    init(counters: UnsafeMutablePointer<UInt32>) {
        unsafe self.counters = counters
    }

    @inline(__always)
    func countRows(of depth: DepthImage, code: (UnsafeRawPointer, Int) -> Int) {
        for y in 0..<depth.height {
            let row = unsafe depth.plane.row(y)
            for x in 0..<depth.width { unsafe count(code(row, x), bank: x & 1) }
        }
    }

    /// The same for little-endian samples of 16 bits, four at a time.
    ///
    /// - Returns: an upper bound of the codes.
    @inline(__always)
    func countRowsOfFours(of depth: DepthImage) -> Int {
        var bits = 0
        for y in 0..<depth.height {
            let row = unsafe depth.plane.row(y)
            for x in stride(from: 0, to: depth.width & ~3, by: 4) {
                let codes = unsafe row.fourCodes(x)
                count(codes.0, bank: 0)
                count(codes.1, bank: 1)
                count(codes.2, bank: 0)
                count(codes.3, bank: 1)
                bits |= codes.0 | codes.1 | codes.2 | codes.3
            }
            for x in (depth.width & ~3)..<depth.width {
                let code = unsafe row.code(x)
                count(code, bank: x & 1)
                bits |= code
            }
        }
        return bits
    }

    /// Sets some counters to 0.
    func forget(from first: Int, through last: Int) {
        for index in first...last {
            for bank in 0..<CounterBanks.bankCount { unsafe counters[bank &* CounterBanks.bankStride &+ index] = 0 }
        }
    }

    @inline(__always)
    func count(_ index: Int, bank: Int) { unsafe counters[bank &* CounterBanks.bankStride &+ index] &+= 1 }

    /// Adds the second bank to the first and clears it.
    ///
    /// - Parameter limit: above every index that was counted.
    func join(below limit: Int) -> DepthHistogram.Counts {
        let second = unsafe counters + CounterBanks.bankStride
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
    /// The code of a sample of 8 bits.
    @inline(__always)
    func smallCode(_ index: Int) -> Int { unsafe Int(load(fromByteOffset: index, as: UInt8.self)) }

    @inline(__always)
    func bigEndianCode(_ index: Int) -> Int {
        unsafe Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    }

    /// The code of a little-endian sample of 16 bits.
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
