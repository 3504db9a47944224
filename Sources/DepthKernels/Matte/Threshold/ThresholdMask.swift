/// The stage that maps depth to opacity, sample by sample.
///
/// `OpacityCurve.opacity(metres:)` is the formula; the rules here give the same results faster. The stage keeps no
/// state from frame to frame: its table depends on the settings alone.
///
/// Source: step 2 of Apple's sample, `CIColorClamp` of depth at the face's depth plus a margin.
struct ThresholdMask: ~Copyable {
    private var mask = OpacityStorage()
    private var table = Scratch<Float>()
    private var tableKey: TableKey?

    /// The parameters that the table depends on.
    private struct TableKey: Equatable {
        var curve: OpacityCurve
        var scale: DepthScale
        var fullScale: Int
    }

    /// Computes the mask of a depth map.
    ///
    /// - Parameters:
    ///   - cutoff: metres; replaces that of the settings.
    ///   - settings: clamped.
    /// - Returns: opacities at the map's size, valid until the next call.
    mutating func make(
        of depth: DepthImage, cutoff: Double, _ settings: MatteSettings, _ bands: MatteBands, _ loops: Loops
    ) -> OpacityMap {
        var settings = settings
        settings.cutoff = cutoff
        let mask = mask.reserve(width: depth.width, height: depth.height)
        let work = ThresholdRows(depth: depth, rule: rule(for: depth, settings), mask: mask, loops: loops)
        bands.share(work, rows: mask.height, width: mask.width)
        return mask
    }

    /// The fastest rule that is equivalent to the curve.
    private mutating func rule(for depth: DepthImage, _ settings: MatteSettings) -> ThresholdRows.Rule {
        let curve = OpacityCurve(settings)
        guard let fullScale = depth.encoding.fullScale else {
            if settings.hasFeather || settings.invert { return .curve(curve) }
            // Both limits are rounded down to a `Float`, which does not change the result of any comparison with a
            // `Float`.
            return .metres(
                above: largestFloat(atMost: settings.near),
                upTo: min(largestFloat(atMost: settings.cutoff), .greatestFiniteMagnitude))
        }
        let scale = settings.depth.scale
        let counts = CountRange(near: settings.near, cutoff: settings.cutoff, scale: scale, fullScale: fullScale)
        if depth.encoding == .gray16LE, !settings.hasFeather, !settings.invert, let counts = counts.withoutHole {
            return .counts(counts)
        }
        return unsafe .table(lookup(TableKey(curve: curve, scale: scale, fullScale: fullScale)))
    }

    private mutating func lookup(_ key: TableKey) -> UnsafePointer<Float> {
        let entries = unsafe table.reserve(1 << 16, filler: 0)
        if key != tableKey {
            for count in 0...key.fullScale {
                let metres = key.scale.metres(count: count, fullScale: key.fullScale)
                unsafe entries[count] = metres.map(key.curve.opacity) ?? 0
            }
            tableKey = key
        }
        return unsafe UnsafePointer(entries)
    }
}

extension CountRange {
    /// The same counts as a plain range; nil where the hole splits them.
    fileprivate var withoutHole: Range<Int>? {
        if start >= end || hole < start || hole >= end { return start..<end }
        if hole == start { return (start + 1)..<end }
        return hole == end - 1 ? start..<hole : nil
    }
}

/// Fills rows of the mask.
private struct ThresholdRows: BandWork {
    @safe
    enum Rule {
        /// 16-bit little-endian counts in the range are opaque, all others clear.
        case counts(Range<Int>)
        /// The opacity of each count.
        case table(UnsafePointer<Float>)
        /// Metres above the first and not above the second are opaque, all others clear.
        case metres(above: Float, upTo: Float)
        /// The formula, evaluated for each sample in metres.
        case curve(OpacityCurve)
    }

    let depth: DepthImage
    let rule: Rule
    let mask: OpacityMap
    let loops: Loops

    func work(_ rows: Range<Int>, _ memory: MatteMemory) {
        for y in rows {
            let row = unsafe mask.row(y)
            switch rule {
            case .counts(let counts):
                unsafe loops.compare(
                    depth.plane.row(y), count: depth.width, first: UInt16(truncatingIfNeeded: counts.lowerBound),
                    below: UInt32(truncatingIfNeeded: counts.count), into: row)
            case .table(let table): depth.forEachCount(row: y) { x, count in unsafe row[x] = table[Int(count)] }
            case .metres(let low, let high):
                depth.forEachMetres(row: y) { x, metres in unsafe row[x] = metres > low && metres <= high ? 1 : 0 }
            case .curve(let curve):
                depth.forEachMetres(row: y) { x, metres in unsafe row[x] = curve.opacity(metres: Double(metres)) }
            }
            mask.finish(row: y, loops)
        }
    }
}

extension DepthImage {
    /// One loop for each storage format of counts.
    @inline(__always)
    fileprivate func forEachCount(row y: Int, _ body: (_ x: Int, UInt16) -> Void) {
        let source = unsafe plane.row(y)
        switch encoding {
        case .gray8:
            for x in 0..<width { body(x, unsafe UInt16(source.load(fromByteOffset: x, as: UInt8.self))) }
        case .gray16BE:
            for x in 0..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                body(x, UInt16(bigEndian: bits))
            }
        case .gray16LE, .float32LE, .float16LE:
            for x in 0..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                body(x, UInt16(littleEndian: bits))
            }
        }
    }

    /// One loop for each storage format of metres.
    @inline(__always)
    fileprivate func forEachMetres(row y: Int, _ body: (_ x: Int, Float) -> Void) {
        let source = unsafe plane.row(y)
        if encoding == .float32LE {
            for x in 0..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
                body(x, Float(bitPattern: UInt32(littleEndian: bits)))
            }
        } else {
            for x in 0..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                body(x, widened(half: UInt16(littleEndian: bits)))
            }
        }
    }
}
