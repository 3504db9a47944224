/// Connected pieces of a depth map: neighbours are linked where their depths differ by no more than noise and slope
/// explain.
///
/// Runs of linked samples of a row are joined with those of the row above, across small holes too. Where two pieces
/// touch without a link, at a step in depth, a contact is noted.
///
/// Source: He, Chao, Suzuki, "A run-based two-scan labeling algorithm", IEEE TIP 17(5), 2008, with links in place of
/// membership.
struct DepthPieces: ~Copyable {
    /// The difference in metres up to which neighbours are linked: constant + square·z² + slope·(distance of the
    /// samples).
    ///
    /// Disparity sensors' noise grows with z²: that of Kinect is quantised in steps of 0.0028·z², 45 mm at 4 m, and
    /// jumps by two or three of them (Khoshelham and Elberink, Sensors 2012); four are linked. The slope is that of a
    /// surface turned away by 76 degrees, as a forearm held out or the side of a leg is.
    private static let constant: Float = 0.02
    private static let square: Float = 0.01
    private static let slope: Float = 4
    /// Of the difference, between samples that were the person's in the last frame: links do not come and go with
    /// noise.
    private static let loyalty: Float = 1.5
    /// Metres across a hole, between linked samples and between those in contact.
    private static let gap = (link: 0.03, contact: 0.05)

    struct Run: BitwiseCopyable {
        let row: Int32
        let start: Int32
        let end: Int32
        /// The parent in the union–find forest; a root is its own parent.
        var parent: Int32
        /// The number of the piece, in its root.
        var piece: Int32 = -1

        var columns: Range<Int> { Int(start)..<Int(end) }
    }

    /// A border between two runs that are not linked.
    struct Contact: BitwiseCopyable {
        let one: Int32
        let other: Int32
        let length: Int32
        /// Metres from the second to the first: above 0 where the second is nearer.
        let step: Float
    }

    private(set) var runs: [Run] = []
    private(set) var contacts: [Contact] = []
    private var previous = 0..<0
    private var ended = Scratch<Int32>()
    private var line = Scratch<Float>()
    private var words = Scratch<UInt64>()

    /// A map and sets of its samples.
    @safe
    struct Map {
        /// Metres; one row and one sample of padding lie before the first.
        let depth: UnsafePointer<Float>
        /// The samples that belong to pieces.
        let members: SampleSet
        /// Measured samples that no link may cross.
        let barrier: SampleSet
        /// The person in the last frame.
        let past: SampleSet
        /// Distance of two samples, as a share of the depth.
        let spacing: Double
        /// Metres, of the person.
        let distance: Double

        var rowLength: Int { members.stride &* 64 }

        @inline(__always)
        func depth(_ x: Int, _ y: Int) -> Float { unsafe depth[y &* rowLength &+ x] }
    }

    mutating func find(in map: Map, _ loops: Loops) {
        runs.removeAll(keepingCapacity: true)
        contacts.removeAll(keepingCapacity: true)
        previous = 0..<0
        let (stride, width) = (map.members.stride, map.members.width)
        let ended = unsafe ended.reserve(2 * width, filler: -1)
        for index in 0..<(2 * width) { unsafe ended[index] = -1 }
        let words = unsafe words.reserve(6 * stride, filler: 0)
        for y in 0..<map.members.height {
            unsafe link(y, map, words, loops)
            unsafe addRow(y, map, words, ended)
        }
    }

    /// The root of a run's piece.
    mutating func root(_ index: Int) -> Int {
        var index = index
        while Int(runs[index].parent) != index {
            runs[index].parent = runs[Int(runs[index].parent)].parent
            index = Int(runs[index].parent)
        }
        return index
    }

    mutating func setPiece(_ piece: Int, ofRoot root: Int) { runs[root].piece = Int32(truncatingIfNeeded: piece) }

    // MARK: Links

    /// Finds the samples linked to their left neighbour (`words`), and to the one above (`words + stride`).
    private mutating func link(_ y: Int, _ map: Map, _ words: UnsafeMutablePointer<UInt64>, _ loops: Loops) {
        let stride = map.members.stride
        let line = unsafe line.reserve(128, filler: 0)
        let row = unsafe map.depth + y &* map.rowLength
        let above = unsafe row - map.rowLength
        let (members, past) = unsafe (map.members.row(y), map.past.row(y))
        let slope = DepthPieces.slope * Float(map.spacing)
        var carry: UInt64 = 0
        for index in 0..<stride {
            unsafe (words[index], words[stride &+ index]) = (0, 0)
            let before = carry
            unsafe carry = past[index] &>> 63
            if unsafe members[index] == 0 { continue }
            let start = index &* 64
            for block in 0..<4 {
                let x = start &+ block &* blockWidth
                let here = unsafe loadLanes(row + x)
                unsafe storeLanes(
                    DepthPieces.difference(here, loadLanes(row + x - 1), slope: slope), to: line + block &* blockWidth)
                unsafe storeLanes(
                    DepthPieces.difference(here, loadLanes(above + x), slope: slope),
                    to: line + 64 + block &* blockWidth)
            }
            for side in 0..<2 {
                let (surely, beyond) = unsafe (words + 4 &* stride, words + (4 &* stride &+ 1))
                unsafe loops.classify(
                    line + side &* 64, blocks: 0..<4, clear: 1, opaque: DepthPieces.loyalty, clearBits: surely,
                    opaqueBits: beyond)
                let other =
                    side == 0
                    ? unsafe past[index] &<< 1 | before
                    : y > 0 ? unsafe map.past.row(y &- 1)[index] : 0
                unsafe words[side &* stride &+ index] = surely[0] | ~beyond[0] & past[index] & other
            }
        }
    }

    /// The difference of two depths, relative to the largest that is linked.
    @inline(__always)
    private static func difference(_ one: Lanes, _ other: Lanes, slope: Float) -> Lanes {
        let step = one - other
        let nearer = one.replacing(with: other, where: step .> 0)
        return step.replacing(with: -step, where: step .< 0) / (nearer * (nearer * square + slope) + constant)
    }

    private static func areLinked(_ one: Float, _ other: Float, apart: Int, _ map: Map) -> Bool {
        let nearer = min(one, other)
        let limit = nearer * (nearer * square + slope * Float(map.spacing) * Float(apart)) + constant
        return abs(one - other) <= limit
    }

    // MARK: Runs

    private mutating func addRow(
        _ y: Int, _ map: Map, _ words: UnsafeMutablePointer<UInt64>, _ ended: UnsafeMutablePointer<Int32>
    ) {
        let (stride, width) = (map.members.stride, map.members.width)
        let members = unsafe map.members.row(y)
        let (starts, breaks) = unsafe (BitRow(words + 2 &* stride), BitRow(words + 3 &* stride))
        var carry: UInt64 = 0
        for index in 0..<stride {
            let linked = unsafe (members[index] &<< 1 | carry) & words[index]
            unsafe carry = members[index] &>> 63
            unsafe starts.words[index] = members[index] & ~linked
            unsafe breaks.words[index] = starts.words[index] | ~members[index]
        }
        unsafe endColumns(y, map, ended)
        let reach = DepthPieces.samples(DepthPieces.gap.contact, map)
        let vertical = unsafe BitRow(words + stride)
        let first = runs.count
        var above = previous.lowerBound
        var start = starts.first(from: 0, to: width)
        while start < width {
            let end = breaks.first(from: start &+ 1, to: width)
            let index = runs.count
            runs.append(
                Run(
                    row: Int32(truncatingIfNeeded: y), start: Int32(truncatingIfNeeded: start),
                    end: Int32(truncatingIfNeeded: end), parent: Int32(truncatingIfNeeded: index)))
            while above < previous.upperBound, Int(runs[above].end) <= start { above &+= 1 }
            var other = above
            while other < previous.upperBound, Int(runs[other].start) < end {
                let (low, high) = (max(Int(runs[other].start), start), min(Int(runs[other].end), end))
                if vertical.first(from: low, to: high) < high {
                    join(index, other)
                } else {
                    let x = (low &+ high) / 2
                    touch(index, other, length: high &- low, step: map.depth(x, y) - map.depth(x, y &- 1))
                }
                other &+= 1
            }
            if index > first { bridge(index, to: index &- 1, y, map, reach) }
            if y > 0 { unsafe bridgeUp(index, start..<end, y, map, ended, reach) }
            start = starts.first(from: end, to: width)
        }
        previous = first..<runs.count
    }

    /// Records the columns whose members ended in the row above, and removes those that end at a barrier.
    private func endColumns(_ y: Int, _ map: Map, _ ended: UnsafeMutablePointer<Int32>) {
        guard y > 0 else { return }
        let width = map.members.width
        for set in 0..<2 {
            let (here, above) =
                set == 0
                ? unsafe (map.members.row(y), map.members.row(y &- 1))
                : unsafe (map.barrier.row(y), map.barrier.row(y &- 1))
            var run = previous.lowerBound
            for index in 0..<map.members.stride {
                var changed = set == 0 ? unsafe above[index] & ~here[index] : unsafe here[index] & ~above[index]
                while changed != 0 {
                    let x = index &* 64 &+ changed.trailingZeroBitCount
                    changed &= changed &- 1
                    if set == 1 {
                        unsafe ended[x] = -1
                        continue
                    }
                    while run < previous.upperBound, Int(runs[run].end) <= x { run &+= 1 }
                    unsafe ended[x] = Int32(truncatingIfNeeded: run)
                    unsafe ended[width &+ x] = Int32(truncatingIfNeeded: y &- 1)
                }
            }
        }
    }

    /// Links a run to the one left of it, or records their contact.
    private mutating func bridge(_ index: Int, to left: Int, _ y: Int, _ map: Map, _ reach: Int) {
        let (end, start) = (Int(runs[left].end), Int(runs[index].start))
        let apart = start &- end &+ 1
        guard apart <= reach, map.barrier.bits(y).first(from: end, to: start) >= start else { return }
        meet(index, left, map.depth(start, y), map.depth(end &- 1, y), apart: apart, map)
    }

    /// Links a run to those that ended above its first samples, or records the contacts.
    private mutating func bridgeUp(
        _ index: Int, _ columns: Range<Int>, _ y: Int, _ map: Map, _ ended: UnsafeMutablePointer<Int32>, _ reach: Int
    ) {
        let (here, above) = unsafe (map.members.row(y), map.members.row(y &- 1))
        let width = map.members.width
        for word in (columns.lowerBound &>> 6)...((columns.upperBound &- 1) &>> 6) {
            var fresh = unsafe here[word] & ~above[word]
            while fresh != 0 {
                let x = word &* 64 &+ fresh.trailingZeroBitCount
                fresh &= fresh &- 1
                guard columns.contains(x), unsafe ended[x] >= 0 else { continue }
                let (other, row) = unsafe (Int(ended[x]), Int(ended[width &+ x]))
                guard y &- row <= reach else { continue }
                meet(index, other, map.depth(x, y), map.depth(x, row), apart: y &- row, map)
            }
        }
    }

    private mutating func meet(_ one: Int, _ other: Int, _ z: Float, _ otherZ: Float, apart: Int, _ map: Map) {
        if apart <= DepthPieces.samples(DepthPieces.gap.link, map),
            DepthPieces.areLinked(z, otherZ, apart: apart, map)
        {
            join(one, other)
        } else {
            touch(one, other, length: 1, step: z - otherZ)
        }
    }

    private static func samples(_ metres: Double, _ map: Map) -> Int {
        floorIndex(metres / (map.spacing * max(map.distance, 1e-3)), in: 3...32)
    }

    private mutating func touch(_ one: Int, _ other: Int, length: Int, step: Float) {
        contacts.append(
            Contact(
                one: Int32(truncatingIfNeeded: one), other: Int32(truncatingIfNeeded: other),
                length: Int32(truncatingIfNeeded: length), step: step))
    }

    private mutating func join(_ one: Int, _ other: Int) {
        let (one, other) = (root(one), root(other))
        guard one != other else { return }
        runs[max(one, other)].parent = Int32(truncatingIfNeeded: min(one, other))
    }
}
