/// Turns rows of depth into rows of opacity.
///
/// `OpacityCurve.opacity(metres:)` is the rule; what is here gives the same answers faster. Counts are compared with
/// the ends of one range where the rule is a step, and looked up in a table where it is not. Metres are compared as
/// floats, or put through the rule one by one.
struct Threshold: ~Copyable {
    private var table = Scratch<Float>()
    private var line = Scratch<Float>()
    private var tableKey: TableKey?

    /// What the table was made for.
    private struct TableKey: Equatable {
        var curve: OpacityCurve
        var scale: DepthScale
        var fullScale: Int
    }

    /// Fills the map and says what is in its blocks.
    ///
    /// - parameter settings: clamped ones.
    mutating func fill(
        _ map: OpacityMap, from depth: DepthImage, scale: DepthScale, settings: MatteSettings, _ loops: Loops
    ) {
        let line = unsafe line.reserve(map.paddedWidth, filler: 0)
        let rows = unsafe MapRows(map: map, depth: depth, line: line, loops: loops)
        if let fullScale = depth.encoding.fullScale {
            if let counts = opaqueCounts(scale: scale, settings: settings, fullScale: fullScale) {
                rows.cut(opaque: counts)
            } else {
                let table = unsafe lookup(OpacityCurve(settings), scale: scale, fullScale: fullScale)
                rows.fillCounts { count in unsafe table[Int(count)] }
            }
        } else if settings.hasFeather || settings.invert {
            let curve = OpacityCurve(settings)
            rows.fillMetres { metres in curve.opacity(metres: Double(metres)) }
        } else {
            // Both limits are moved to the next `Float` below, where they part the floats alike.
            let low = largestFloat(atMost: settings.near)
            let high = min(largestFloat(atMost: settings.cutoff), .greatestFiniteMagnitude)
            rows.fillMetres { metres in metres > low && metres <= high ? 1 : 0 }
        }
    }

    private mutating func lookup(_ curve: OpacityCurve, scale: DepthScale, fullScale: Int) -> UnsafePointer<Float> {
        let entries = unsafe table.reserve(1 << 16, filler: 0)
        let key = TableKey(curve: curve, scale: scale, fullScale: fullScale)
        if key != tableKey {
            for count in 0...fullScale {
                let metres = scale.metres(count: count, fullScale: fullScale)
                unsafe entries[count] = metres.map(curve.opacity) ?? 0
            }
            tableKey = key
        }
        return unsafe UnsafePointer(entries)
    }
}

/// The counts that are opaque, where all others are clear and the opaque ones are neighbours; nil otherwise.
private func opaqueCounts(scale: DepthScale, settings: MatteSettings, fullScale: Int) -> Range<Int>? {
    guard !settings.hasFeather else { return nil }
    let inside = CountRange(near: settings.near, cutoff: settings.cutoff, scale: scale, fullScale: fullScale)
    guard settings.invert else { return inside.withoutHole }
    let measured = CountRange(measuredBy: scale, fullScale: fullScale)
    return measured.removing(inside)?.withoutHole
}

extension CountRange {
    /// The same counts as a plain range; nil where the hole parts them.
    fileprivate var withoutHole: Range<Int>? {
        if start >= end || hole < start || hole >= end { return start..<end }
        if hole == start { return (start + 1)..<end }
        return hole == end - 1 ? start..<hole : nil
    }

    /// The counts that are not in `other`, which is a part of this range; nil where it parts them.
    fileprivate func removing(_ other: CountRange) -> CountRange? {
        var result = self
        if other.start == other.end { return result }
        if other.start <= start {
            result.start = max(start, other.end)
        } else if other.end >= end {
            result.end = min(end, other.start)
        } else {
            return nil
        }
        result.end = max(result.start, result.end)
        return result
    }
}

// MARK: - Rows

/// The rows of a map, filled from those of a depth image.
@safe
private struct MapRows {
    let map: OpacityMap
    let depth: DepthImage
    private let line: UnsafeMutablePointer<Float>
    private let loops: Loops

    /// - parameter line: room for a padded row.
    init(map: OpacityMap, depth: DepthImage, line: UnsafeMutablePointer<Float>, loops: Loops) {
        self.map = map
        self.depth = depth
        unsafe self.line = line
        self.loops = loops
    }

    /// A step: these counts are opaque, all others clear.
    func cut(opaque counts: Range<Int>) {
        guard let last = counts.last else {
            for y in 0..<map.height { unsafe map.coverRow(y).update(repeating: .clear, count: map.blocks) }
            return
        }
        let first = UInt16(truncatingIfNeeded: counts.lowerBound)
        let span = UInt16(truncatingIfNeeded: last &- counts.lowerBound)
        guard depth.encoding == .gray16LE else {
            return fillCounts { count in count &- first <= span ? 1 : 0 }
        }
        let whole = map.width / blockWidth
        for y in 0..<map.height {
            unsafe loops.cutRow(depth.plane.row(y), whole, first, span, map.coverBytes(y), map.row(y))
            if whole < map.blocks {
                fillCounts(row: y, from: whole &* blockWidth) { count in count &- first <= span ? 1 : 0 }
                sort(row: y, from: whole)
            }
        }
    }

    @inline(__always)
    func fillCounts(_ opacity: (UInt16) -> Float) {
        for y in 0..<map.height {
            fillCounts(row: y, from: 0, opacity)
            sort(row: y, from: 0)
        }
    }

    @inline(__always)
    func fillMetres(_ opacity: (Float) -> Float) {
        for y in 0..<map.height {
            fillMetres(row: y, opacity)
            sort(row: y, from: 0)
        }
    }

    /// Repeats the last opacity in the padding of the line, and puts its blocks into the map, from a first one on.
    private func sort(row y: Int, from block: Int) {
        for x in map.width..<map.paddedWidth { unsafe line[x] = line[map.width &- 1] }
        let start = block &* blockWidth
        unsafe loops.sortRow(line + start, map.blocks &- block, map.coverBytes(y) + block, map.row(y) + start)
    }

    /// One loop for each way that counts are stored.
    @inline(__always)
    private func fillCounts(row y: Int, from start: Int, _ opacity: (UInt16) -> Float) {
        let source = unsafe depth.plane.row(y)
        switch depth.encoding {
        case .gray8:
            for x in start..<map.width {
                unsafe line[x] = opacity(UInt16(source.load(fromByteOffset: x, as: UInt8.self)))
            }
        case .gray16BE:
            for x in start..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe line[x] = opacity(UInt16(bigEndian: bits))
            }
        case .gray16LE, .float32LE, .float16LE:
            for x in start..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe line[x] = opacity(UInt16(littleEndian: bits))
            }
        }
    }

    /// One loop for each way that metres are stored.
    @inline(__always)
    private func fillMetres(row y: Int, _ opacity: (Float) -> Float) {
        let source = unsafe depth.plane.row(y)
        if depth.encoding == .float32LE {
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
                unsafe line[x] = opacity(Float(bitPattern: UInt32(littleEndian: bits)))
            }
        } else {
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe line[x] = opacity(widened(half: UInt16(littleEndian: bits)))
            }
        }
    }
}
