import CDepthKernels

/// The mapping of distances to positions in the palette.
package enum DepthColorRange: Equatable, Sendable {
    /// Histogram equalisation: each color has about as many samples as any other, of those between 0 and `max` metres.
    /// Samples at `max` and beyond have the farthest color.
    case equalize(max: Double)
    /// A linear ramp from `min` (nearest color) to `max` metres (farthest color), clamped beyond both. Where `max` is
    /// not above `min`, distances up to `min` have the nearest color and others the farthest.
    case fixed(min: Double, max: Double)
}

/// The palette and the pixel format of a color map.
package struct DepthColors: Equatable, Sendable {
    package var palette: DepthPalette
    package var order: PixelOrder
    /// Alpha of samples that were not measured, which are black.
    package var unmeasuredAlpha: UInt8

    package init(palette: DepthPalette = .jet, order: PixelOrder = .rgba, unmeasuredAlpha: UInt8 = 255) {
        self.palette = palette
        self.order = order
        self.unmeasuredAlpha = unmeasuredAlpha
    }
}

/// Paints a depth map in colors, one table lookup a sample.
///
/// The equalisation is the one of textbooks (Gonzalez and Woods, Digital Image Processing, §3.3), over 65536 bins of
/// 0…max as in Apple's sample "Streaming depth data from the TrueDepth camera":
///
///     position = 1 − (samples in this or a nearer bin − samples in the nearest bin) / (all − samples in the nearest bin)
///
/// so that the nearest bin has the nearest color and the farthest bin the farthest; in a map of one distance all is
/// near. The color is number round(511 · position) of 512. Holes: black.
///
/// Keeps its memory between frames and allocates none in the steady state. Not for two threads at once.
package final class DepthColorMap {
    private var histogram = DepthHistogram()
    /// The bin of each code, or `beyond`, or `unmeasured`.
    private var codeBins = Scratch<Int32>()
    private var codeBinsKey: CodeKey?
    /// The number of samples in each bin; `rank` replaces it by the index of the bin's color.
    private var bins = Scratch<UInt32>()
    /// The pixel of each code or bin.
    private var table = Scratch<UInt32>()
    private var tableKey: TableKey?
    /// The palette's pixels, far to near, then the one of samples that were not measured.
    private var pixels = Scratch<UInt32>()
    private var pixelsKey: DepthColors?
    /// Table indices of a run of samples.
    private var line = Scratch<Int32>()
    private let loops: Loops

    private struct CodeKey: Equatable {
        var scale: DepthScale
        var encoding: DepthEncoding
        var limit: Double
    }

    /// The parameters that the table of a fixed range depends on.
    private struct TableKey: Equatable {
        var scale: DepthScale
        var encoding: DepthEncoding
        var near: Double
        var far: Double
        var colors: DepthColors
    }

    package init(loops: Loops = bestLoops) { self.loops = loops }

    /// Fills `target` with a pixel for each sample; a map larger than `target` is cropped.
    ///
    /// - Parameter bytesPerPixel: 4, or 3 for the first three bytes of each color.
    package func paint(
        _ depth: DepthImage, scale: DepthScale, range: DepthColorRange, colors: DepthColors, into target: MutablePlane,
        bytesPerPixel: Int = 4
    ) {
        if bytesPerPixel == 3 {
            paint(depth, scale: scale, range: range, colors: colors, PixelRows<ThreeBytes>(target))
        } else {
            paint(depth, scale: scale, range: range, colors: colors, PixelRows<FourBytes>(target))
        }
    }

    private func paint<Pixel>(
        _ depth: DepthImage, scale: DepthScale, range: DepthColorRange, colors: DepthColors, _ target: PixelRows<Pixel>
    ) {
        let pixels = unsafe palettePixels(colors)
        switch (range, depth.encoding) {
        case (.equalize(let max), .float32LE):
            let bins = MetreBins(limit: max)
            let counts = histogram.countMetres(of: depth, bins: bins, loops: loops)
            let table = unsafe equalizedBins(counts, pixels)
            unsafe paintMetres(depth, into: target, table, numbers: bins.fill)
        case (.fixed(let near, let far), .float32LE):
            let ramp = FixedRamp(near: near, far: far)
            unsafe paintMetres(depth, into: target, pixels, numbers: ramp.fill)
        case (.equalize(let max), _):
            let counts = histogram.countCodes(of: depth)
            let key = CodeKey(scale: scale, encoding: depth.encoding, limit: max)
            unsafe paintCodes(depth, into: target, equalizedCodes(counts, key, pixels))
        case (.fixed(let near, let far), _):
            let key = TableKey(scale: scale, encoding: depth.encoding, near: near, far: far, colors: colors)
            unsafe paintCodes(depth, into: target, fixedCodes(key, pixels))
        }
    }

    private func palettePixels(_ colors: DepthColors) -> UnsafePointer<UInt32> {
        let pixels = unsafe pixels.reserve(DepthPalette.size + 1, filler: 0)
        if colors != pixelsKey {
            for index in 0..<DepthPalette.size {
                let pixel = colors.order.pixel(colors.palette.color(index: index))
                unsafe pixels[index] = unsafeBitCast(pixel, to: UInt32.self)
            }
            let hole = colors.order.pixel(SIMD3(), alpha: colors.unmeasuredAlpha)
            unsafe pixels[DepthPalette.size] = unsafeBitCast(hole, to: UInt32.self)
            pixelsKey = colors
        }
        return unsafe UnsafePointer(pixels)
    }

    // MARK: Tables

    /// Room for every code, and for the two indices after the bins.
    private func reserveTable() -> UnsafeMutablePointer<UInt32> {
        unsafe table.reserve(MetreBins.unmeasured + 1, filler: 0)
    }

    /// The pixel of every code for a fixed range; computed once for each key.
    private func fixedCodes(_ key: TableKey, _ pixels: UnsafePointer<UInt32>) -> UnsafePointer<UInt32> {
        let table = unsafe reserveTable()
        if key != tableKey {
            let ramp = FixedRamp(near: key.near, far: key.far)
            for code in 0..<key.encoding.codeCount {
                let metres = key.encoding.metres(code: code, scale: key.scale)
                unsafe table[code] = pixels[metres.map(ramp.color) ?? DepthPalette.size]
            }
            tableKey = key
        }
        return unsafe UnsafePointer(table)
    }

    /// The pixel of every code that occurs.
    private func equalizedCodes(
        _ counts: DepthHistogram.Counts, _ key: CodeKey, _ pixels: UnsafePointer<UInt32>
    ) -> UnsafePointer<UInt32> {
        let binOfCode = unsafe bins(of: key)
        let bins = unsafe bins.reserve(DepthHistogram.binCount, filler: 0)
        unsafe bins.update(repeating: 0, count: DepthHistogram.binCount)
        var end = 0
        for code in 0..<counts.end where counts[code] > 0 {
            let bin = unsafe Int(binOfCode[code])
            if bin < 0 { continue }
            unsafe bins[bin] &+= UInt32(truncatingIfNeeded: counts[code])
            end = max(end, bin &+ 1)
        }
        unsafe rank(bins, below: end)
        let table = unsafe reserveTable()
        tableKey = nil
        for code in 0..<counts.end where counts[code] > 0 {
            let bin = unsafe Int(binOfCode[code])
            unsafe table[code] = pixels[bin >= 0 ? Int(bins[bin]) : bin == beyond ? 0 : DepthPalette.size]
        }
        return unsafe UnsafePointer(table)
    }

    /// The pixel of every bin that occurs.
    private func equalizedBins(
        _ counts: DepthHistogram.Counts, _ pixels: UnsafePointer<UInt32>
    ) -> UnsafePointer<UInt32> {
        let bins = unsafe bins.reserve(DepthHistogram.binCount, filler: 0)
        for bin in 0..<counts.end { unsafe bins[bin] = UInt32(truncatingIfNeeded: counts[bin]) }
        unsafe rank(bins, below: counts.end)
        let table = unsafe reserveTable()
        tableKey = nil
        for bin in 0..<counts.end { unsafe table[bin] = pixels[Int(bins[bin])] }
        unsafe table[MetreBins.beyond] = pixels[0]
        unsafe table[MetreBins.unmeasured] = pixels[DepthPalette.size]
        return unsafe UnsafePointer(table)
    }

    /// Replaces the number of samples in each bin by the index of its color.
    private func rank(_ bins: UnsafeMutablePointer<UInt32>, below end: Int) {
        var all = 0
        for bin in 0..<end { unsafe all &+= Int(bins[bin]) }
        var ranks = ColorRanks(all: all)
        for bin in 0..<end {
            let samples = unsafe Int(bins[bin])
            if samples > 0 { unsafe bins[bin] = UInt32(truncatingIfNeeded: ranks.color(ofNext: samples)) }
        }
    }

    /// The bin of each code, or `beyond`, or `unmeasured`; computed once for each key.
    private func bins(of key: CodeKey) -> UnsafePointer<Int32> {
        let result = unsafe codeBins.reserve(DepthHistogram.binCount, filler: 0)
        if key != codeBinsKey {
            let bins = MetreBins(limit: key.limit)
            for code in 0..<key.encoding.codeCount {
                let metres = key.encoding.metres(code: code, scale: key.scale)
                let bin = metres.map { bins.bin(of: $0) ?? beyond } ?? unmeasured
                unsafe result[code] = Int32(truncatingIfNeeded: bin)
            }
            codeBinsKey = key
        }
        return unsafe UnsafePointer(result)
    }

    // MARK: Pictures

    private func paintCodes<Pixel>(
        _ depth: DepthImage, into target: PixelRows<Pixel>, _ table: UnsafePointer<UInt32>
    ) {
        switch depth.encoding {
        case .gray8: unsafe paintRows(depth, into: target, table) { unsafe $0.smallCode($1) }
        case .gray16BE: unsafe paintRows(depth, into: target, table) { unsafe $0.bigEndianCode($1) }
        case .gray16LE, .float16LE, .float32LE: unsafe paintRows(depth, into: target, table) { unsafe $0.code($1) }
        }
    }

    @inline(__always)
    private func paintRows<Pixel>(
        _ depth: DepthImage, into target: PixelRows<Pixel>, _ table: UnsafePointer<UInt32>,
        code: (UnsafeRawPointer, Int) -> Int
    ) {
        for y in 0..<depth.height {
            unsafe target.fill(y, count: depth.width, with: depth.plane.row(y), table, number: code)
        }
    }

    /// - Parameter numbers: fills a run with the samples' indices in `table`.
    private func paintMetres<Pixel>(
        _ depth: DepthImage, into target: PixelRows<Pixel>, _ table: UnsafePointer<UInt32>,
        numbers: (UnsafeMutablePointer<Int32>, UnsafeRawPointer, Int, Loops) -> Void
    ) {
        let line = unsafe line.reserve(MetreBins.runLength, filler: 0)
        for y in 0..<depth.height {
            for start in stride(from: 0, to: depth.width, by: MetreBins.runLength) {
                let count = min(MetreBins.runLength, depth.width &- start)
                unsafe numbers(line, depth.plane.row(y) + start &* 4, count, loops)
                unsafe target.fill(y, from: start, count: count, with: UnsafeRawPointer(line), table) { run, x in
                    unsafe Int(run.load(fromByteOffset: x &* 4, as: Int32.self))
                }
            }
        }
    }
}

/// The stored form of a pixel of four bytes.
private protocol StoredPixel {
    static var size: Int { get }
    /// The number of a row's pixels that may be stored four at a time.
    static func fours(in count: Int) -> Int
    /// Stores four neighbouring pixels.
    static func store(_ pixels: SIMD4<UInt32>, at place: UnsafeMutableRawPointer)
    static func store(_ pixel: UInt32, at place: UnsafeMutableRawPointer)
}

private enum FourBytes: StoredPixel {
    static let size = 4

    @inline(__always)
    static func fours(in count: Int) -> Int { count & ~3 }

    @inline(__always)
    static func store(_ pixels: SIMD4<UInt32>, at place: UnsafeMutableRawPointer) {
        unsafe place.storeBytes(of: pixels, as: SIMD4<UInt32>.self)
    }

    @inline(__always)
    static func store(_ pixel: UInt32, at place: UnsafeMutableRawPointer) {
        unsafe place.storeBytes(of: pixel, as: UInt32.self)
    }
}

/// The first three of the four bytes.
private enum ThreeBytes: StoredPixel {
    static let size = 3

    /// The store of a pixel spills its fourth byte, which the next pixel overwrites; so the last pixel is excluded.
    @inline(__always)
    static func fours(in count: Int) -> Int { (count &- 1) & ~3 }

    @inline(__always)
    static func store(_ pixels: SIMD4<UInt32>, at place: UnsafeMutableRawPointer) {
        for index in 0..<4 { unsafe place.storeBytes(of: pixels[index], toByteOffset: index &* 3, as: UInt32.self) }
    }

    @inline(__always)
    static func store(_ pixel: UInt32, at place: UnsafeMutableRawPointer) {
        unsafe withUnsafeBytes(of: pixel) { bytes in
            for index in 0..<3 { unsafe place.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self) }
        }
    }
}

/// The rows of a plane of pixels.
private struct PixelRows<Pixel: StoredPixel> {
    private let plane: MutablePlane

    init(_ plane: MutablePlane) { self.plane = plane }

    /// Fills row `y` from column `start` on with the pixels of `count` samples, as far as the row goes.
    ///
    /// - Parameter number: gives a sample's index in `table`.
    @inline(__always)
    func fill(
        _ y: Int, from start: Int = 0, count: Int, with samples: UnsafeRawPointer, _ table: UnsafePointer<UInt32>,
        number: (UnsafeRawPointer, Int) -> Int
    ) {
        let count = min(count, plane.rowBytes / Pixel.size &- start)
        guard y < plane.rows, count > 0 else { return }
        let row = unsafe plane.row(y) + start &* Pixel.size
        let fours = Pixel.fours(in: count)
        // Four at a time, to save loads and stores.
        for x in stride(from: 0, to: fours, by: 4) {
            let one = unsafe table[number(samples, x)]
            let two = unsafe table[number(samples, x &+ 1)]
            let three = unsafe table[number(samples, x &+ 2)]
            let four = unsafe table[number(samples, x &+ 3)]
            unsafe Pixel.store(SIMD4(one, two, three, four), at: row + x &* Pixel.size)
        }
        for x in fours..<count { unsafe Pixel.store(table[number(samples, x)], at: row + x &* Pixel.size) }
    }
}

private let unmeasured = -1
/// Measured, but beyond the range of the histogram.
private let beyond = -2

/// The color indices of bins, computed from the nearest bin to the farthest.
private struct ColorRanks {
    private let all: Int
    /// Samples in the nearest bin; 0 before the first bin.
    private var first = 0
    private var sum = 0

    init(all: Int) { self.all = all }

    /// round(511 · (1 − (sum − first) / (all − first))), with the bin's own samples included in the sum.
    @inline(__always)
    mutating func color(ofNext samples: Int) -> Int {
        if first == 0 { first = samples }
        sum &+= samples
        let last = Double(DepthPalette.size - 1)
        let share = Double(sum &- first) / Double(max(all &- first, 1))
        // 0…511; adding 2⁵² leaves the nearest whole number in the low bits, without a call for each bin.
        return Int(truncatingIfNeeded: (last * (1 - share) + 0x1p52).bitPattern) & (DepthPalette.size - 1)
    }
}

/// The color index of a distance in a fixed range.
private struct FixedRamp {
    private let far: Double
    private let near: Double
    private let colorsPerMetre: Double

    init(near: Double, far: Double) {
        self.near = clamped(near, to: -1e6...1e6, orIfNaN: 0)
        self.far = clamped(far, to: -1e6...1e6, orIfNaN: 0)
        let colors = Double(DepthPalette.size - 1)
        colorsPerMetre = self.far > self.near ? min(colors / (self.far - self.near), 1e30) : 0
    }

    /// round(511 · (far − metres) / (far − near)), within 0…511.
    @inline(__always)
    func color(metres: Double) -> Int {
        guard metres > near else { return DepthPalette.size - 1 }
        guard metres < far else { return 0 }
        return nearestIndex((far - metres) * colorsPerMetre, in: 0...(DepthPalette.size - 1))
    }

    /// The same for a run of 32-bit floats, in single precision, halves rounded up; the palette's size where nothing
    /// was measured.
    func fill(
        _ line: UnsafeMutablePointer<Int32>, from row: UnsafeRawPointer, count: Int, loops: Loops
    ) {
        unsafe loops.placesOfMetres(
            row, count: count,
            .init(
                last: Int32(DepthPalette.size - 1), near: Float(near), far: Float(far), scale: Float(colorsPerMetre)),
            into: line)
    }
}

extension DepthEncoding {
    /// The number of codes of a sample; 0 where it has more than 16 bits.
    fileprivate var codeCount: Int {
        switch self {
        case .gray8: return 256
        case .gray16LE, .gray16BE, .float16LE: return 1 << 16
        case .float32LE: return 0
        }
    }

    /// The distance that a code stands for; nil where it was not measured.
    fileprivate func metres(code: Int, scale: DepthScale) -> Double? {
        if let fullScale { return scale.metres(count: code, fullScale: fullScale) }
        let metres = widened(half: UInt16(truncatingIfNeeded: code))
        return metres > 0 && metres.isFinite ? Double(metres) : nil
    }
}
