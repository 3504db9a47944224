/// Turns depth into opacity.
///
/// `OpacityCurve.opacity(metres:)` is the rule; what is here gives the same answers faster. Where the rule is a step
/// the answer is one bit for each sample: counts are compared with the ends of one range, metres as floats. Where it is
/// not, counts are looked up in a table, and metres put through the rule one by one.
struct Threshold: ~Copyable {
    private var table = Scratch<Float>()
    private var tableKey: TableKey?

    /// What the table was made for.
    private struct TableKey: Equatable {
        var curve: OpacityCurve
        var scale: DepthScale
        var fullScale: Int
    }

    /// How the samples of one image are told apart by a step.
    @safe
    enum Step {
        /// By counts: these are opaque, all others clear.
        case counts(Range<Int>)
        /// By counts that are not neighbours.
        case table(UnsafePointer<Float>)
        /// By metres: opaque are those above the first and not above the second.
        case metres(Float, Float)
        /// By metres, inverted.
        case rule(OpacityCurve)
    }

    /// - parameter settings: clamped ones, without a feather.
    mutating func step(for depth: DepthImage, scale: DepthScale, settings: MatteSettings) -> Step {
        guard let fullScale = depth.encoding.fullScale else {
            if settings.invert { return .rule(OpacityCurve(settings)) }
            // Both limits are moved to the next `Float` below, where they part the floats alike.
            return .metres(
                largestFloat(atMost: settings.near),
                min(largestFloat(atMost: settings.cutoff), .greatestFiniteMagnitude))
        }
        if let counts = opaqueCounts(scale: scale, settings: settings, fullScale: fullScale) { return .counts(counts) }
        return unsafe .table(lookup(OpacityCurve(settings), scale: scale, fullScale: fullScale))
    }

    /// How the samples of one image are turned into opacities by a curve.
    @safe
    enum Curve {
        case table(UnsafePointer<Float>)
        case rule(OpacityCurve)
    }

    /// - parameter settings: clamped ones.
    mutating func curve(for depth: DepthImage, scale: DepthScale, settings: MatteSettings) -> Curve {
        let curve = OpacityCurve(settings)
        guard let fullScale = depth.encoding.fullScale else { return .rule(curve) }
        return unsafe .table(lookup(curve, scale: scale, fullScale: fullScale))
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

extension BinaryMask {
    /// Fills some rows by a step.
    ///
    /// - Precondition: the mask has the image's size.
    func fill(rows: Range<Int>, from depth: DepthImage, by step: Threshold.Step, _ loops: Loops) {
        switch step {
        case .counts(let counts): cut(rows, depth, counts, loops)
        case .table(let table): fillCounts(rows, depth) { count in unsafe table[Int(count)] != 0 }
        case .metres(let low, let high): fillMetres(rows, depth) { metres in metres > low && metres <= high }
        case .rule(let curve): fillMetres(rows, depth) { metres in curve.opacity(metres: Double(metres)) != 0 }
        }
    }

    private func cut(_ rows: Range<Int>, _ depth: DepthImage, _ counts: Range<Int>, _ loops: Loops) {
        guard let last = counts.last else {
            for y in rows { unsafe row(y).update(repeating: 0, count: wordsPerRow) }
            return
        }
        let first = UInt16(truncatingIfNeeded: counts.lowerBound)
        let span = UInt16(truncatingIfNeeded: last &- counts.lowerBound)
        guard depth.encoding == .gray16LE else {
            return fillCounts(rows, depth) { count in count &- first <= span }
        }
        let whole = width / 64
        for y in rows {
            unsafe loops.cutRow(depth.plane.row(y), whole, first, span, row(y))
            if whole < wordsPerRow {
                depth.forEachCount(row: y, from: whole &* 64) { x, count in put(count &- first <= span, x: x, row: y) }
                pad(row: y)
            }
        }
    }

    @inline(__always)
    private func fillCounts(_ rows: Range<Int>, _ depth: DepthImage, _ isOpaque: (UInt16) -> Bool) {
        for y in rows {
            depth.forEachCount(row: y, from: 0) { x, count in put(isOpaque(count), x: x, row: y) }
            pad(row: y)
        }
    }

    @inline(__always)
    private func fillMetres(_ rows: Range<Int>, _ depth: DepthImage, _ isOpaque: (Float) -> Bool) {
        for y in rows {
            depth.forEachMetres(row: y) { x, metres in put(isOpaque(metres), x: x, row: y) }
            pad(row: y)
        }
    }

    /// Sets one sample; those of a row are set from left to right.
    @inline(__always)
    private func put(_ isOpaque: Bool, x: Int, row y: Int) {
        let word = unsafe row(y) + x &>> 6
        let bit = UInt64(isOpaque ? 1 : 0) &<< UInt64(truncatingIfNeeded: x)
        unsafe word.pointee = x & 63 == 0 ? bit : word.pointee | bit
    }
}

extension OpacityMap {
    /// Fills some rows by a curve.
    ///
    /// - parameter line: room for a padded row.
    /// - Precondition: the map has the image's size.
    func fill(
        rows: Range<Int>, from depth: DepthImage, by curve: Threshold.Curve, line: UnsafeMutablePointer<Float>,
        sorting: Sorting, _ loops: Loops
    ) {
        for y in rows {
            switch curve {
            case .table(let table):
                depth.forEachCount(row: y, from: 0) { x, count in unsafe line[x] = table[Int(count)] }
            case .rule(let curve):
                depth.forEachMetres(row: y) { x, metres in unsafe line[x] = curve.opacity(metres: Double(metres)) }
            }
            unsafe put(line, row: y, sorting: sorting, loops)
        }
    }

    /// Puts a row of opacities into the map.
    ///
    /// - parameter line: room for a padded row; the padding is made here.
    func put(_ line: UnsafeMutablePointer<Float>, row y: Int, sorting: Sorting, _ loops: Loops) {
        for x in width..<paddedWidth { unsafe line[x] = line[width &- 1] }
        clear(row: y)
        mixed(y).insert(0..<blocks)
        unsafe loops.sortSamples(line, blocks, blockWidth, 0, 1, sorting.clear, sorting.opaque)
        for block in 0..<blocks
        where unsafe note(clear: sorting.clear[block], opaque: sorting.opaque[block], block: block, row: y) {
            let start = block &* blockWidth
            unsafe storeLanes(loadLanes(line + start), to: row(y) + start)
        }
    }

    /// Finishes a row whose mixed blocks hold all their opacities.
    ///
    /// - parameter low: what is at most that counts as 0…
    /// - parameter high: …and what is at least that as 1.
    func finish(row y: Int, low: Float, high: Float, sorting: Sorting, _ loops: Loops) {
        spreadToSamples(row: y)
        mixed(y).forEachRun(upTo: blocks) { run in
            let first = unsafe row(y) + run.lowerBound &* blockWidth
            unsafe loops.sortSamples(first, run.count, blockWidth, low, high, sorting.clear, sorting.opaque)
            for block in run {
                let (clear, opaque) = unsafe (
                    sorting.clear[block &- run.lowerBound], sorting.opaque[block &- run.lowerBound]
                )
                noteSamples(clear: clear, opaque: opaque, block: block, row: y)
                _ = note(clear: clear, opaque: opaque, block: block, row: y)
            }
        }
    }
}

/// Room for what `Loops.sortSamples` says of some blocks.
@safe
struct Sorting {
    let clear: UnsafeMutablePointer<UInt16>
    let opaque: UnsafeMutablePointer<UInt16>

    /// - parameter blocks: how many at most.
    init(_ memory: inout Scratch<UInt16>, blocks: Int) {
        unsafe clear = memory.reserve(2 * blocks, filler: 0)
        unsafe opaque = clear + blocks
    }
}

extension DepthImage {
    /// One loop for each way that counts are stored.
    @inline(__always)
    fileprivate func forEachCount(row y: Int, from start: Int, _ body: (_ x: Int, UInt16) -> Void) {
        let source = unsafe plane.row(y)
        switch encoding {
        case .gray8:
            for x in start..<width { body(x, unsafe UInt16(source.load(fromByteOffset: x, as: UInt8.self))) }
        case .gray16BE:
            for x in start..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                body(x, UInt16(bigEndian: bits))
            }
        case .gray16LE, .float32LE, .float16LE:
            for x in start..<width {
                let bits = unsafe source.loadUnaligned(fromByteOffset: x &* 2, as: UInt16.self)
                body(x, UInt16(littleEndian: bits))
            }
        }
    }

    /// One loop for each way that metres are stored.
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
