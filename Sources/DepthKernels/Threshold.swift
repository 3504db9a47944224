/// Turns rows of depth into rows of opacity.
///
/// `OpacityCurve.opacity(metres:)` is the rule; what is here gives the same answers faster. Counts are compared with
/// the ends of one range where the rule is a step, and looked up in a table where it is not. Metres are compared as
/// floats, or put through the rule one by one.
struct Threshold: ~Copyable {
    private var table = Scratch<Float>()
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
    mutating func fill(_ map: OpacityMap, from depth: DepthImage, scale: DepthScale, settings: MatteSettings) {
        if let fullScale = depth.encoding.fullScale {
            if let counts = opaqueCounts(scale: scale, settings: settings, fullScale: fullScale) {
                fillStep(map, from: depth, opaque: counts)
            } else {
                let table = unsafe lookup(OpacityCurve(settings), scale: scale, fullScale: fullScale)
                unsafe fillByTable(map, from: depth, table: table)
            }
        } else if settings.hasFeather || settings.invert {
            fillByRule(map, from: depth, curve: OpacityCurve(settings))
        } else {
            fillStep(map, from: depth, near: settings.near, cutoff: settings.cutoff)
        }
        for y in 0..<map.height { map.finishRow(y) }
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

private func fillStep(_ map: OpacityMap, from depth: DepthImage, opaque counts: Range<Int>) {
    guard let last = counts.last else { return fillEvenly(map, with: 0) }
    let first = UInt16(truncatingIfNeeded: counts.lowerBound)
    let span = UInt16(truncatingIfNeeded: last &- counts.lowerBound)
    // One comparison for both ends: counts below the first wrap around to large numbers.
    forEachCount(of: depth, into: map) { count in count &- first <= span ? 1 : 0 }
}

private func fillByTable(_ map: OpacityMap, from depth: DepthImage, table: UnsafePointer<Float>) {
    forEachCount(of: depth, into: map) { count in unsafe table[Int(count)] }
}

private func fillEvenly(_ map: OpacityMap, with opacity: Float) {
    for y in 0..<map.height { unsafe map.row(y).update(repeating: opacity, count: map.width) }
}

/// A step between two distances; both limits are moved to the next `Float` below, where they part the floats alike.
private func fillStep(_ map: OpacityMap, from depth: DepthImage, near: Double, cutoff: Double) {
    let low = largestFloat(atMost: near)
    let high = min(largestFloat(atMost: cutoff), .greatestFiniteMagnitude)
    forEachMetres(of: depth, into: map) { metres in metres > low && metres <= high ? 1 : 0 }
}

private func fillByRule(_ map: OpacityMap, from depth: DepthImage, curve: OpacityCurve) {
    forEachMetres(of: depth, into: map) { metres in curve.opacity(metres: Double(metres)) }
}

/// One loop for each way that counts are stored.
@inline(__always)
private func forEachCount(of depth: DepthImage, into map: OpacityMap, _ opacity: (UInt16) -> Float) {
    for y in 0..<map.height {
        let source = unsafe depth.plane.row(y)
        let target = unsafe map.row(y)
        switch depth.encoding {
        case .gray8:
            for x in 0..<map.width {
                unsafe target[x] = opacity(UInt16(source.load(fromByteOffset: x, as: UInt8.self)))
            }
        case .gray16BE:
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe target[x] = opacity(UInt16(bigEndian: bits))
            }
        case .gray16LE, .float32LE, .float16LE:
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe target[x] = opacity(UInt16(littleEndian: bits))
            }
        }
    }
}

/// One loop for each way that metres are stored.
@inline(__always)
private func forEachMetres(of depth: DepthImage, into map: OpacityMap, _ opacity: (Float) -> Float) {
    for y in 0..<map.height {
        let source = unsafe depth.plane.row(y)
        let target = unsafe map.row(y)
        if depth.encoding == .float32LE {
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 4, as: UInt32.self)
                unsafe target[x] = opacity(Float(bitPattern: UInt32(littleEndian: bits)))
            }
        } else {
            for x in 0..<map.width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                unsafe target[x] = opacity(widened(half: UInt16(littleEndian: bits)))
            }
        }
    }
}
