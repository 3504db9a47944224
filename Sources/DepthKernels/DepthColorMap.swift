/// Which distances get which colours.
package enum DepthColorRange: Equatable, Sendable {
    /// Each colour for about as many samples as any other, of those between 0 and `max` metres: what is in view takes up
    /// all of the palette. What is not nearer than `max` has the farthest colour.
    case equalize(max: Double)
    /// The palette from `min` (nearest colour) to `max` metres (farthest colour), so that one distance keeps one colour;
    /// beyond them their colours. Where `max` is not above `min`, all up to `min` is near and the rest far.
    case fixed(min: Double, max: Double)
}

/// How a colour is stored in four bytes: the index of each of its bytes.
package struct PixelOrder: Equatable, Sendable {
    package let red: Int
    package let green: Int
    package let blue: Int
    package let alpha: Int

    /// Returns nil unless the four are 0, 1, 2 and 3 in some order.
    package init?(red: Int, green: Int, blue: Int, alpha: Int) {
        guard Set([red, green, blue, alpha]) == [0, 1, 2, 3] else { return nil }
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    private init(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }

    package static let rgba = PixelOrder(0, 1, 2, 3)
    package static let bgra = PixelOrder(2, 1, 0, 3)
    package static let argb = PixelOrder(1, 2, 3, 0)
    package static let abgr = PixelOrder(3, 2, 1, 0)

    package func pixel(_ color: SIMD3<UInt8>, alpha opacity: UInt8 = 255) -> SIMD4<UInt8> {
        var pixel = SIMD4<UInt8>()
        pixel[red] = color.x
        pixel[green] = color.y
        pixel[blue] = color.z
        pixel[alpha] = opacity
        return pixel
    }
}

/// What a colour map paints with.
package struct DepthColors: Equatable, Sendable {
    package var palette: DepthPalette
    package var order: PixelOrder
    /// What was not measured is black; this is its alpha.
    package var unmeasuredAlpha: UInt8

    package init(palette: DepthPalette = .jet, order: PixelOrder = .rgba, unmeasuredAlpha: UInt8 = 255) {
        self.palette = palette
        self.order = order
        self.unmeasuredAlpha = unmeasuredAlpha
    }
}

/// Paints a depth map in colours, one table lookup a sample.
///
/// The equalisation is the one of textbooks (Gonzalez and Woods, Digital Image Processing, §3.3), over 65536 bins of
/// 0…max as in Apple's sample "Streaming depth data from the TrueDepth camera":
///
///     position = 1 − (samples in this or a nearer bin − samples in the nearest bin) / (all − samples in the nearest bin)
///
/// so that the nearest bin has the nearest colour and the farthest bin the farthest; a map at one distance is near. The
/// colour is number round(511 · position) of 512. Holes are black.
///
/// Keeps its memory between frames and takes none in the steady state. Not for two threads at once.
package final class DepthColorMap {
    private var histogram = DepthHistogram()
    /// For each code: its bin, `beyond` or `unmeasured`.
    private var codeBins = Scratch<Int32>()
    private var codeBinsKey: CodeKey?
    /// For each bin: how many samples are in it or nearer; later the number of its colour.
    private var bins = Scratch<UInt32>()
    /// For each code or bin: the pixel.
    private var table = Scratch<UInt32>()
    private var tableKey: TableKey?
    /// The palette's pixels, far to near, then the one for what was not measured.
    private var pixels = Scratch<UInt32>()
    private var pixelsKey: DepthColors?

    private struct CodeKey: Equatable {
        var scale: DepthScale
        var encoding: DepthEncoding
        var limit: Double
    }

    /// What a table of fixed range was made for.
    private struct TableKey: Equatable {
        var scale: DepthScale
        var encoding: DepthEncoding
        var near: Double
        var far: Double
        var colors: DepthColors
    }

    package init() {}

    /// Fills `target` with a pixel of four bytes for each sample; what of the map is outside of `target` is not painted.
    package func paint(
        _ depth: DepthImage, scale: DepthScale, range: DepthColorRange, colors: DepthColors, into target: MutablePlane
    ) {
        let pixels = unsafe palettePixels(colors)
        switch (range, depth.encoding) {
        case (.equalize(let max), .float32LE):
            let bins = MetreBins(limit: max)
            let counts = histogram.countMetres(of: depth, bins: bins)
            let table = unsafe equalizedBins(counts, pixels)
            unsafe paintMetres(depth, into: target, pixels) { metres in
                guard let bin = bins.bin(of: metres) else { return unsafe pixels[0] }
                return unsafe table[bin]
            }
        case (.fixed(let near, let far), .float32LE):
            let ramp = FixedRamp(near: near, far: far)
            unsafe paintMetres(depth, into: target, pixels) { metres in
                unsafe pixels[ramp.color(metres: metres)]
            }
        case (.equalize(let max), _):
            let counts = histogram.countCodes(of: depth)
            unsafe paintCodes(
                depth, into: target, equalizedCodes(counts, scale: scale, encoding: depth.encoding, max: max, pixels))
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

    /// A pixel for every code, by distance alone; made once for each key.
    private func fixedCodes(_ key: TableKey, _ pixels: UnsafePointer<UInt32>) -> UnsafePointer<UInt32> {
        let table = unsafe table.reserve(DepthHistogram.binCount, filler: 0)
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

    /// A pixel for every code that was counted.
    private func equalizedCodes(
        _ counts: DepthHistogram.Counts, scale: DepthScale, encoding: DepthEncoding, max: Double,
        _ pixels: UnsafePointer<UInt32>
    ) -> UnsafePointer<UInt32> {
        let codeBins = unsafe bins(of: CodeKey(scale: scale, encoding: encoding, limit: max))
        let bins = unsafe bins.reserve(DepthHistogram.binCount, filler: 0)
        var (nearest, farthest) = (DepthHistogram.binCount, -1)
        for code in 0..<counts.end where counts[code] > 0 {
            let bin = unsafe Int(codeBins[code])
            guard bin >= 0 else { continue }
            (nearest, farthest) = (min(nearest, bin), Swift.max(farthest, bin))
        }
        if nearest <= farthest { unsafe (bins + nearest).update(repeating: 0, count: farthest &- nearest &+ 1) }
        for code in 0..<counts.end {
            let bin = unsafe Int(codeBins[code])
            if bin >= 0, counts[code] > 0 { unsafe bins[bin] &+= UInt32(truncatingIfNeeded: counts[code]) }
        }
        unsafe rank(bins, from: nearest, through: farthest)

        let table = unsafe table.reserve(DepthHistogram.binCount, filler: 0)
        tableKey = nil
        for code in 0..<counts.end where counts[code] > 0 {
            let bin = unsafe Int(codeBins[code])
            let color = unsafe bin >= 0 ? Int(bins[bin]) : (bin == beyond ? 0 : DepthPalette.size)
            unsafe table[code] = pixels[color]
        }
        return unsafe UnsafePointer(table)
    }

    /// A pixel for every bin that was counted.
    private func equalizedBins(
        _ counts: DepthHistogram.Counts, _ pixels: UnsafePointer<UInt32>
    ) -> UnsafePointer<UInt32> {
        let bins = unsafe bins.reserve(DepthHistogram.binCount, filler: 0)
        for bin in 0..<counts.end { unsafe bins[bin] = UInt32(truncatingIfNeeded: counts[bin]) }
        unsafe rank(bins, from: 0, through: counts.end - 1)
        let table = unsafe table.reserve(DepthHistogram.binCount, filler: 0)
        tableKey = nil
        for bin in 0..<counts.end { unsafe table[bin] = pixels[Int(bins[bin])] }
        return unsafe UnsafePointer(table)
    }

    /// Turns the numbers of samples in neighbouring bins into the numbers of their colours.
    private func rank(_ bins: UnsafeMutablePointer<UInt32>, from nearest: Int, through farthest: Int) {
        guard nearest <= farthest else { return }
        var all: UInt32 = 0
        var first: UInt32 = 0
        for bin in nearest...farthest {
            unsafe all &+= bins[bin]
            if first == 0 { first = all }
        }
        let last = Double(DepthPalette.size - 1)
        let others = Double(max(all &- first, 1))
        var sum: UInt32 = 0
        for bin in nearest...farthest {
            let samples = unsafe bins[bin]
            guard samples > 0 else { continue }
            sum &+= samples
            let color = last * (1 - Double(sum &- first) / others)
            unsafe bins[bin] = UInt32(truncatingIfNeeded: nearestIndex(color, in: 0...(DepthPalette.size - 1)))
        }
    }

    /// For each code its bin, or why it has none; made once for each key.
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

    private func paintCodes(_ depth: DepthImage, into target: MutablePlane, _ table: UnsafePointer<UInt32>) {
        let columns = min(depth.width, target.rowBytes / 4)
        for y in 0..<min(depth.height, target.rows) {
            let source = unsafe depth.plane.row(y)
            let row = unsafe target.row(y)
            switch depth.encoding {
            case .gray8:
                for x in 0..<columns {
                    let code = unsafe source.load(fromByteOffset: x, as: UInt8.self)
                    unsafe row.storeBytes(of: table[Int(code)], toByteOffset: x &* 4, as: UInt32.self)
                }
            case .gray16BE:
                for x in 0..<columns {
                    let code = unsafe UInt16(bigEndian: source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self))
                    unsafe row.storeBytes(of: table[Int(code)], toByteOffset: x &* 4, as: UInt32.self)
                }
            case .gray16LE, .float16LE, .float32LE:
                for x in 0..<columns {
                    let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                    unsafe row.storeBytes(
                        of: table[Int(UInt16(littleEndian: bits))], toByteOffset: x &* 4, as: UInt32.self)
                }
            }
        }
    }

    @inline(__always)
    private func paintMetres(
        _ depth: DepthImage, into target: MutablePlane, _ pixels: UnsafePointer<UInt32>, pixel: (Float) -> UInt32
    ) {
        let hole = unsafe pixels[DepthPalette.size]
        let columns = min(depth.width, target.rowBytes / 4)
        for y in 0..<min(depth.height, target.rows) {
            let source = unsafe depth.plane.row(y)
            let row = unsafe target.row(y)
            for x in 0..<columns {
                let metres = unsafe source.storedFloat(x)
                let isMeasured = metres > 0 && metres.isFinite
                unsafe row.storeBytes(
                    of: isMeasured ? pixel(metres) : hole, toByteOffset: x &* 4, as: UInt32.self)
            }
        }
    }
}

private let unmeasured = -1
/// Measured, but not within the range of the histogram.
private let beyond = -2

/// The number of a distance's colour where the range is fixed.
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

    /// The same in single precision, halves upwards.
    @inline(__always)
    func color(metres: Float) -> Int {
        guard metres > Float(near) else { return DepthPalette.size - 1 }
        guard metres < Float(far) else { return 0 }
        let place = (Float(far) - metres) * Float(colorsPerMetre) + 0.5
        return Int(max(min(place, Float(DepthPalette.size - 1)), 0))
    }
}

extension DepthEncoding {
    /// How many codes a sample can have; 0 where it has more than 16 bits.
    fileprivate var codeCount: Int {
        switch self {
        case .gray8: return 256
        case .gray16LE, .gray16BE, .float16LE: return 1 << 16
        case .float32LE: return 0
        }
    }

    /// What the bits of a sample stand for; nil where it was not measured.
    fileprivate func metres(code: Int, scale: DepthScale) -> Double? {
        if let fullScale { return scale.metres(count: code, fullScale: fullScale) }
        let metres = widened(half: UInt16(truncatingIfNeeded: code))
        return metres > 0 && metres.isFinite ? Double(metres) : nil
    }
}
