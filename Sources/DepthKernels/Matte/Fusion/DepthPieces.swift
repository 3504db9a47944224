/// Pieces of a depth map: smooth surfaces, and the borders at which they meet.
///
/// A step in depth all along a border parts two things, however many single samples, slanted rims and small holes seem to join
/// them. So pieces are made of samples without a step about them, and no bridge narrower than 12 mm, or nine samples, joins them. Of each
/// border is counted how long it is, and how much of it has no step.
///
/// Source: the project's own method.
struct DepthPieces: ~Copyable {
    /// Metres: the largest range of depths about a sample of a surface, constant + square·z² + slope·(distance of two samples).
    private static let (roughness, roughnessSquare, slope): (Float, Float, Float) = (0.012, 0.006, 6)
    /// Metres.
    private static let bridge = 0.012
    /// Metres from one piece to another at a border.
    private static let gap = 0.05
    /// Samples.
    private static let smallest: Int32 = 12
    /// Metres: a border sample with a larger difference of depths is a step: constant + square·z².
    private static let (step, stepSquare): (Float, Float) = (0.02, 0.008)

    struct Piece: BitwiseCopyable {
        var count = 0
        /// Sum of the depths, in metres.
        var sum = 0.0
        /// Metres that are no step at a border.
        var limit: Float = 0

        var distance: Double { sum / Double(max(count, 1)) }
    }

    /// Where two pieces meet.
    struct Border: BitwiseCopyable {
        let one: Int32
        let other: Int32
        /// Samples along it.
        var length = 0
        /// Of these, samples without a step.
        var smooth = 0
        /// The sum of the differences in metres: above 0 where the second is farther away.
        var steps: Float = 0
    }

    /// By their labels, from 1 on; the first element is none.
    private(set) var pieces = ScratchList<Piece>()
    /// Fewer than six for each piece: those along rows do not cross each other, nor do those along columns, so that each are the
    /// edges of a planar graph.
    private(set) var borders = ScratchList<Border>()
    private var labels = Scratch<Int32>()
    private var table = Scratch<Int32>()
    private var numbers = Scratch<Int32>()
    private var lines = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var parts = ConnectedRuns()
    private var dilation = Dilation()

    /// A map and sets of its samples.
    @safe
    struct Map {
        /// Metres; one row of padding lies before the first.
        let depth: UnsafePointer<Float>
        /// The samples that belong to pieces.
        let members: SampleSet
        /// Measured samples that no border crosses.
        let barrier: SampleSet
        /// Distance of two samples, as a share of the depth.
        let spacing: Double
        /// Metres, of the person.
        var distance: Double

        init(_ field: DepthField, _ members: SampleSet, distance: Double) {
            unsafe depth = field.metres
            (self.members, barrier, self.distance) = (members, field.far, distance)
            spacing = field.grid.metresPerSample(at: 1)
        }

        var rowLength: Int { members.stride &* 64 }
        var samplesPerMetre: Double { 1 / (spacing * max(distance, 1e-3)) }

        /// Square metres of samples at a distance.
        func area(of count: Int, at distance: Double) -> Double {
            let side = distance * spacing
            return Double(count) * side * side
        }

        @inline(__always)
        func depth(_ x: Int, _ y: Int) -> Float { unsafe depth[y &* rowLength &+ x] }
    }

    /// The samples of the pieces, valid until the next search.
    @safe
    struct Labels {
        var map: Map
        /// A label for each sample of `samples`; others are undefined.
        fileprivate let values: UnsafePointer<Int32>
        let samples: SampleSet

        @inline(__always)
        subscript(x: Int, y: Int) -> Int { unsafe Int(values[y &* samples.stride &* 64 &+ x]) }

        /// Calls `body` for each stretch of one piece in a row.
        @inline(__always)
        func forEachRun(_ y: Int, _ body: (_ piece: Int, _ columns: Range<Int>) -> Void) {
            samples.bits(y).forEachRun(upTo: samples.width) { columns in
                var start = columns.lowerBound
                while start < columns.upperBound {
                    let piece = self[start, y]
                    var end = start &+ 1
                    while end < columns.upperBound, self[end, y] == piece { end &+= 1 }
                    body(piece, start..<end)
                    start = end
                }
            }
        }
    }

    mutating func find(in map: Map, _ loops: Loops) -> Labels {
        let sets: InlineArray<3, SampleSet> = bits.sets(like: map.members)
        let (smooth, labeled, spare) = (sets[0], sets[1], sets[2])
        findSmooth(map, into: smooth, spare, loops)
        let radius = nearestIndex(DepthPieces.bridge / 2 * map.samplesPerMetre, in: 1...4)
        dilation.erode(smooth, rows: radius, into: labeled, spare, loops) { _ in radius }
        let labels = unsafe labels.reserve(map.members.height * map.rowLength, filler: 0)
        var count = unsafe label(labeled, from: 0, labels)
        for _ in 0..<(2 * radius + 2) { unsafe DepthPieces.grow(labeled, within: smooth, spare, labels) }
        // Parts that the erosion removed entirely have no label yet: they become pieces of their own.
        spare.fill { smooth[$0] & ~labeled[$0] }
        unsafe count = label(spare, from: count, labels)
        let result = unsafe Labels(map: map, values: UnsafePointer(labels), samples: smooth)
        unsafe number(result, count, labels)
        findBorders(result)
        return result
    }

    // MARK: Surfaces

    /// Finds the members about which the depths of all members differ by no more than noise and slope explain.
    private mutating func findSmooth(_ map: Map, into smooth: SampleSet, _ spare: SampleSet, _ loops: Loops) {
        let (members, length) = (map.members, map.rowLength)
        let room = length + 2 * blockWidth
        let memory = unsafe lines.reserve(9 * room, filler: 0) + blockWidth
        func line(_ index: Int) -> UnsafeMutablePointer<Float> { unsafe memory + index &* room }
        // The largest and the smallest of three columns for each of three rows; the members' own depths in the last row.
        func bounds(_ y: Int) -> Bounds { unsafe (line(2 &* (y % 3)), line(2 &* (y % 3) &+ 1)) }
        let (own, range) = unsafe ((line(6), line(7)), line(8))
        for y in 0..<3 { unsafe DepthPieces.clear(bounds(y), count: length) }
        for y in 0...members.height {
            unsafe DepthPieces.clear((own.0 - blockWidth, own.1 - blockWidth), count: room)
            if y < members.height { unsafe DepthPieces.copy(map, row: y, into: own) }
            unsafe DepthPieces.boundColumns(of: own, count: length, into: bounds(y))
            guard y > 0 else { continue }
            unsafe DepthPieces.findRange(map, row: y &- 1, (bounds(0), bounds(1), bounds(2)), into: range)
            unsafe loops.classify(
                range, blocks: 0..<(length / blockWidth), clear: -.leastNormalMagnitude, opaque: .infinity,
                into: (clear: smooth.row(y &- 1), opaque: spare.words))
            for index in 0..<smooth.stride { smooth[index, y &- 1] &= members[index, y &- 1] }
        }
    }

    /// Lines of the largest and the smallest depths.
    private typealias Bounds = (high: UnsafeMutablePointer<Float>, low: UnsafeMutablePointer<Float>)

    /// Bounds of no depths.
    private static func clear(_ bounds: Bounds, count: Int) {
        unsafe bounds.high.update(repeating: 0, count: count)
        unsafe bounds.low.update(repeating: 1e6, count: count)
    }

    private static func copy(_ map: Map, row y: Int, into bounds: Bounds) {
        let row = unsafe map.depth + y &* map.rowLength
        map.members.bits(y).forEachRun(upTo: map.members.width) { columns in
            let first = columns.lowerBound
            unsafe (bounds.high + first).update(from: row + first, count: columns.count)
            unsafe (bounds.low + first).update(from: row + first, count: columns.count)
        }
    }

    private static func boundColumns(of own: Bounds, count: Int, into bounds: Bounds) {
        for x in stride(from: 0, to: count, by: blockWidth) {
            let (high, low) = unsafe (own.high + x, own.low + x)
            unsafe storeLanes(
                larger(loadLanes(high), larger(loadLanes(high - 1), loadLanes(high + 1))), to: bounds.high + x)
            unsafe storeLanes(
                smaller(loadLanes(low), smaller(loadLanes(low - 1), loadLanes(low + 1))), to: bounds.low + x)
        }
    }

    /// How far the range of depths about the samples of a row is beyond what noise and slope explain.
    private static func findRange(
        _ map: Map, row y: Int, _ rows: (Bounds, Bounds, Bounds), into range: UnsafeMutablePointer<Float>
    ) {
        let slope = slope * Float(map.spacing)
        for x in stride(from: 0, to: map.rowLength, by: blockWidth) {
            let z = unsafe loadLanes(map.depth + (y &* map.rowLength &+ x))
            let high = unsafe larger(
                loadLanes(rows.0.high + x), larger(loadLanes(rows.1.high + x), loadLanes(rows.2.high + x)))
            let low = unsafe smaller(
                loadLanes(rows.0.low + x), smaller(loadLanes(rows.1.low + x), loadLanes(rows.2.low + x)))
            unsafe storeLanes(high - low - (z * (z * roughnessSquare + slope) + roughness), to: range + x)
        }
    }

    // MARK: Labels

    /// Labels the connected parts of a set, from the label after the last one on.
    ///
    /// - Returns: the last label that is in use.
    private mutating func label(_ set: SampleSet, from last: Int32, _ labels: UnsafeMutablePointer<Int32>) -> Int32 {
        parts.find(in: set)
        var most = last
        parts.forEachRun { y, columns, part in
            let label = last &+ 1 &+ part.number
            most = max(most, label)
            let row = unsafe labels + y &* (set.stride &* 64)
            unsafe (row + columns.lowerBound).update(repeating: label, count: columns.count)
        }
        return most
    }

    /// Labels the samples next to labeled ones.
    private static func grow(
        _ labeled: SampleSet, within smooth: SampleSet, _ fresh: SampleSet, _ labels: UnsafeMutablePointer<Int32>
    ) {
        let (stride, rowLength) = (labeled.stride, labeled.stride &* 64)
        for y in 0..<labeled.height {
            for index in 0..<stride {
                let (word, open) = (labeled[index, y], smooth[index, y] & ~labeled[index, y])
                fresh[index, y] = 0
                guard open != 0 else { continue }
                let left = word &<< 1 | (index > 0 ? labeled[index &- 1, y] : 0) &>> 63
                let right = word &>> 1 | (index &+ 1 < stride ? labeled[index &+ 1, y] : 0) &<< 63
                let above = y > 0 ? labeled[index, y &- 1] : 0
                let below = y &+ 1 < labeled.height ? labeled[index, y &+ 1] : 0
                fresh[index, y] = open & (left | right | above | below)
                let place = unsafe labels + (y &* stride &+ index) &* 64
                fresh[index, y].forEachBit { bit in
                    func label(_ side: UInt64, _ offset: Int) -> Int32 {
                        unsafe side &>> UInt64(truncatingIfNeeded: bit) & 1 != 0 ? place[bit &+ offset] : 0
                    }
                    unsafe place[bit] = max(
                        max(label(left, -1), label(right, 1)), max(label(above, -rowLength), label(below, rowLength)))
                }
            }
        }
        labeled.fill { labeled[$0] | fresh[$0] }
    }

    /// Numbers the pieces that are not too small, removes the others, and sums up their depths.
    private mutating func number(_ labeled: Labels, _ count: Int32, _ labels: UnsafeMutablePointer<Int32>) {
        let map = labeled.map
        let samples = map.members.width * map.members.height
        let numbers = unsafe numbers.reserve(samples + 1)
        unsafe numbers.update(repeating: 0, count: Int(count) + 1)
        for y in 0..<labeled.samples.height {
            labeled.forEachRun(y) { label, columns in
                unsafe numbers[label] &+= Int32(truncatingIfNeeded: columns.count)
            }
        }
        pieces.removeAll(most: samples / Int(DepthPieces.smallest) + 1)
        pieces.append(Piece())
        for label in 0...Int(count) {
            guard unsafe label > 0 && numbers[label] >= DepthPieces.smallest else {
                unsafe numbers[label] = 0
                continue
            }
            unsafe numbers[label] = Int32(truncatingIfNeeded: pieces.count)
            pieces.append(Piece())
        }
        for y in 0..<labeled.samples.height {
            let (row, bits) = unsafe (labels + y &* map.rowLength, labeled.samples.bits(y))
            labeled.forEachRun(y) { label, columns in
                let piece = unsafe numbers[label]
                if piece == 0 { return bits.remove(columns) }
                unsafe (row + columns.lowerBound).update(repeating: piece, count: columns.count)
                var sum: Float = 0
                for x in columns { sum += map.depth(x, y) }
                pieces[Int(piece)].count &+= columns.count
                pieces[Int(piece)].sum += Double(sum)
            }
        }
        for index in pieces.indices {
            let z = Float(pieces[index].distance)
            pieces[index].limit = DepthPieces.step + DepthPieces.stepSquare * z * z
        }
    }

    // MARK: Borders

    /// Finds the borders along rows and columns, across gaps of up to `gap` metres.
    private mutating func findBorders(_ labels: Labels) {
        let (map, samples) = (labels.map, labels.samples)
        let width = samples.width
        let reach = floorIndex(DepthPieces.gap * map.samplesPerMetre, in: 3...64)
        borders.removeAll(most: 6 * pieces.most)
        var slots = 1024
        while slots < 16 &* pieces.count { slots *= 2 }
        let table = unsafe table.reserve(max(1024, 32 * pieces.most) + width)
        unsafe table.update(repeating: -1, count: slots + width)
        let above = unsafe table + slots  // the last row of each column that has a label
        for y in 0..<samples.height {
            if y > 0 { unsafe DepthPieces.cut(above, map.barrier, row: y) }
            var last: (x: Int, label: Int)?
            let bits = samples.bits(y)
            bits.forEachRun(upTo: width) { columns in
                if let end = last?.x,
                    columns.lowerBound - end > reach
                        || map.barrier.bits(y).first(from: end, to: columns.lowerBound) < columns.lowerBound
                {
                    last = nil
                }
                for x in columns {
                    let label = labels[x, y]
                    if let last, last.label != label {
                        unsafe meet(last.label, label, map.depth(x, y) - map.depth(last.x, y), table, slots)
                    }
                    last = (x, label)
                    let row = unsafe Int(above[x])
                    if row >= 0, labels[x, row] != label, y &- row <= reach {
                        unsafe meet(labels[x, row], label, map.depth(x, y) - map.depth(x, row), table, slots)
                    }
                    unsafe above[x] = Int32(truncatingIfNeeded: y)
                }
            }
        }
    }

    /// Forgets the labels of columns in which a barrier begins.
    private static func cut(_ above: UnsafeMutablePointer<Int32>, _ barrier: SampleSet, row y: Int) {
        for index in 0..<barrier.stride {
            let begun = barrier[index, y] & ~barrier[index, y &- 1]
            begun.forEachBit { unsafe above[index &* 64 &+ $0] = -1 }
        }
    }

    /// Adds a sample to the border of two pieces.
    private mutating func meet(
        _ first: Int, _ second: Int, _ step: Float, _ table: UnsafeMutablePointer<Int32>, _ slots: Int
    ) {
        let (one, other) = (min(first, second), max(first, second))
        let hash = UInt32(truncatingIfNeeded: one) &* 0x9e37_79b1 ^ UInt32(truncatingIfNeeded: other) &* 0x85eb_ca6b
        var slot = Int(hash >> 7) & (slots &- 1)
        while unsafe table[slot] >= 0 {
            let border = unsafe borders[Int(table[slot])]
            if border.one == one, border.other == other { break }
            slot = (slot &+ 1) & (slots &- 1)
        }
        if unsafe table[slot] < 0 {
            guard borders.count < borders.most else { return }
            unsafe table[slot] = Int32(truncatingIfNeeded: borders.count)
            borders.append(Border(one: Int32(truncatingIfNeeded: one), other: Int32(truncatingIfNeeded: other)))
        }
        let index = unsafe Int(table[slot])
        borders[index].length &+= 1
        borders[index].steps += first < second ? step : -step
        if abs(step) <= min(pieces[one].limit, pieces[other].limit) { borders[index].smooth &+= 1 }
    }
}
