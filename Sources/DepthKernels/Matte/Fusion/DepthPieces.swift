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
        let members = map.members
        let memory = unsafe bits.reserve(3 * members.wordCount, filler: 0)
        func set(_ index: Int) -> SampleSet { unsafe members.placed(in: memory, index) }
        let (smooth, labeled, spare) = (set(0), set(1), set(2))
        unsafe findSmooth(map, into: smooth, spare.words, loops)
        let radius = nearestIndex(DepthPieces.bridge / 2 * map.samplesPerMetre, in: 1...4)
        // An erosion: what is beyond the map counts as of the set.
        spare.fill { unsafe ~smooth.words[$0] }
        spare.trim()
        dilation.dilate(spare, rows: [radius], into: [labeled], loops) { _, _ in radius }
        labeled.fill { unsafe smooth.words[$0] & ~labeled.words[$0] }
        let labels = unsafe labels.reserve(members.height * map.rowLength, filler: 0)
        var count = unsafe label(labeled, from: 0, labels)
        for _ in 0..<(2 * radius + 2) { unsafe DepthPieces.grow(labeled, within: smooth, spare, labels) }
        // What the erosion took whole is pieces of its own.
        spare.fill { unsafe smooth.words[$0] & ~labeled.words[$0] }
        unsafe count = label(spare, from: count, labels)
        let result = unsafe Labels(values: UnsafePointer(labels), samples: smooth)
        unsafe number(result, count, map, labels)
        findBorders(result, map)
        return result
    }

    // MARK: Surfaces

    /// Finds the members about which the depths of all members differ by no more than noise and slope explain.
    private mutating func findSmooth(
        _ map: Map, into smooth: SampleSet, _ words: UnsafeMutablePointer<UInt64>, _ loops: Loops
    ) {
        let (members, length) = (map.members, map.rowLength)
        let line = length + 2 * blockWidth
        let memory = unsafe lines.reserve(9 * line, filler: 0) + blockWidth
        let slope = DepthPieces.slope * Float(map.spacing)
        let none: Float = 1e6
        for y in 0...members.height {
            let (highs, lows) = unsafe (memory + (y % 3) &* 2 &* line, memory + (y % 3 &* 2 &+ 1) &* line)
            let (high, low) = unsafe (memory + 6 &* line, memory + 7 &* line)
            unsafe (high - blockWidth).update(repeating: 0, count: line)
            unsafe (low - blockWidth).update(repeating: none, count: line)
            if y < members.height {
                let row = unsafe map.depth + y &* length
                members.bits(y).forEachRun(upTo: members.width) { columns in
                    unsafe (high + columns.lowerBound).update(from: row + columns.lowerBound, count: columns.count)
                    unsafe (low + columns.lowerBound).update(from: row + columns.lowerBound, count: columns.count)
                }
            }
            for x in stride(from: 0, to: length, by: blockWidth) {
                unsafe storeLanes(
                    larger(loadLanes(high + x), larger(loadLanes(high + x - 1), loadLanes(high + x + 1))),
                    to: highs + x)
                unsafe storeLanes(
                    smaller(loadLanes(low + x), smaller(loadLanes(low + x - 1), loadLanes(low + x + 1))), to: lows + x)
            }
            guard y > 0 else {
                for other in 1...2 {
                    unsafe (memory + other &* 2 &* line).update(repeating: 0, count: length)
                    unsafe (memory + (other &* 2 &+ 1) &* line).update(repeating: none, count: length)
                }
                continue
            }
            let (row, range) = unsafe (map.depth + (y &- 1) &* length, memory + 8 &* line)
            for x in stride(from: 0, to: length, by: blockWidth) {
                let z = unsafe loadLanes(row + x)
                let high = unsafe larger(
                    loadLanes(memory + x), larger(loadLanes(memory + 2 &* line + x), loadLanes(memory + 4 &* line + x)))
                let low = unsafe smaller(
                    loadLanes(memory + line + x),
                    smaller(loadLanes(memory + 3 &* line + x), loadLanes(memory + 5 &* line + x)))
                let limit = z * (z * DepthPieces.roughnessSquare + slope) + DepthPieces.roughness
                unsafe storeLanes(high - low - limit, to: range + x)
            }
            unsafe loops.classify(
                range, blocks: 0..<(length / blockWidth), clear: -.leastNormalMagnitude, opaque: .infinity,
                into: (clear: smooth.row(y &- 1), opaque: words))
            for index in 0..<smooth.stride { unsafe smooth.row(y &- 1)[index] &= members.row(y &- 1)[index] }
        }
    }

    // MARK: Labels

    /// Labels the connected parts of a set, from the label after the last one on.
    ///
    /// - Returns: the last label that is in use.
    private mutating func label(_ set: SampleSet, from last: Int32, _ labels: UnsafeMutablePointer<Int32>) -> Int32 {
        parts.find(in: set) { _, _ in false }
        var most = last
        parts.forEachNumberedRun { y, columns, number in
            let label = last &+ 1 &+ number
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
        let (stride, height) = (labeled.stride, labeled.height)
        let rowLength = stride &* 64
        for y in 0..<height {
            let row = unsafe labeled.row(y)
            for index in 0..<stride {
                let open = unsafe smooth.row(y)[index] & ~row[index]
                unsafe fresh.row(y)[index] = 0
                guard open != 0 else { continue }
                let (before, after) = unsafe (
                    index > 0 ? row[index &- 1] : 0, index &+ 1 < stride ? row[index &+ 1] : 0
                )
                let left = unsafe row[index] &<< 1 | before &>> 63
                let right = unsafe row[index] &>> 1 | after &<< 63
                let above = y > 0 ? unsafe labeled.row(y &- 1)[index] : 0
                let below = y &+ 1 < height ? unsafe labeled.row(y &+ 1)[index] : 0
                var word = open & (left | right | above | below)
                unsafe fresh.row(y)[index] = word
                let first: Int = (y &* stride &+ index) &* 64
                while word != 0 {
                    let bit: UInt64 = word & (0 &- word)
                    let index: Int = first &+ word.trailingZeroBitCount
                    let place = unsafe labels + index
                    var label: Int32 = 0
                    if left & bit != 0 { unsafe label = max(label, place[-1]) }
                    if right & bit != 0 { unsafe label = max(label, place[1]) }
                    if above & bit != 0 { unsafe label = max(label, place[-rowLength]) }
                    if below & bit != 0 { unsafe label = max(label, place[rowLength]) }
                    unsafe place.pointee = label
                    word &= word &- 1
                }
            }
        }
        labeled.fill { unsafe labeled.words[$0] | fresh.words[$0] }
    }

    /// Numbers the pieces that are not too small, removes the others, and sums up their depths.
    private mutating func number(
        _ labeled: Labels, _ count: Int32, _ map: Map, _ labels: UnsafeMutablePointer<Int32>
    ) {
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
    private mutating func findBorders(_ labels: Labels, _ map: Map) {
        let (width, samples) = (map.members.width, labels.samples)
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
            var begun = unsafe barrier.row(y)[index] & ~barrier.row(y &- 1)[index]
            while begun != 0 {
                unsafe above[index &* 64 &+ begun.trailingZeroBitCount] = -1
                begun &= begun &- 1
            }
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
