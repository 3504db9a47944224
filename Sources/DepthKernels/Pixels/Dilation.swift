/// Dilates sets of samples with discs.
///
/// A disc is decomposed into rows: the rows of the set are widened step by step, and the result of each width is added
/// to the rows at the distance at which the disc has that width. Rows are stored with an empty word between them, so
/// that one loop processes all of them.
struct Dilation: ~Copyable {
    private var memory = Scratch<UInt64>()
    private var groupMemory = Scratch<UInt64>()
    /// Samples: a larger distance is that of groups of `rows` rows.
    private static let (far, rows) = (12.0, 4)

    /// Dilates a set by distances, into a set for each: the rows are widened once for all of them.
    ///
    /// The distance is a chamfer distance, with steps of 0.955 along an axis and 1.3693 along a diagonal: within 4.5 %
    /// of the Euclidean one.
    ///
    /// Source: Borgefors, "Distance transformations in digital images", CVGIP 34, 1986; the numbers are those of
    /// `cv2.distanceTransform` with a mask of 3.
    ///
    /// - Parameter radii: in samples.
    mutating func dilate<let count: Int>(
        _ set: SampleSet, radii: InlineArray<count, Double>, into targets: InlineArray<count, SampleSet>, _ loops: Loops
    ) {
        let limits = InlineArray<count, Int> { Dilation.limit(radii[$0], set) }
        dilate(set, rows: InlineArray { limits[$0] / Dilation.axis }, into: targets, loops) { disc, row in
            Dilation.halfWidth(row: row, limit: limits[disc])
        }
    }

    /// Dilates a set with discs.
    ///
    /// - Parameters:
    ///   - rows: rows of each disc above its middle.
    ///   - halfWidth: half the width of a disc in a row, by the row's distance from the middle; never increasing.
    mutating func dilate<let count: Int>(
        _ set: SampleSet, rows: InlineArray<count, Int>, into targets: InlineArray<count, SampleSet>, _ loops: Loops,
        halfWidth: (_ disc: Int, _ row: Int) -> Int
    ) {
        let size = (set.stride &+ 1) &* set.height
        // One word of padding before the first and after the last.
        let memory = unsafe memory.reserve((2 + count) * (size + 2), filler: 0)
        var spaced = unsafe SpacedRows(of: set, memory + 1, memory + size + 3)
        let sums = unsafe memory + (2 &* size &+ 5)
        unsafe sums.update(repeating: 0, count: count &* size)
        // Starts with the farthest rows, which are the narrowest.
        var next = rows
        while true {
            var half = Int.max
            for disc in 0..<count where next[disc] >= 0 { half = min(half, halfWidth(disc, next[disc])) }
            guard half < Int.max else { break }
            spaced.widen(to: half, loops)
            for disc in 0..<count {
                while next[disc] >= 0, halfWidth(disc, next[disc]) <= spaced.width {
                    unsafe spaced.add(to: sums + disc &* size, above: next[disc], loops)
                    next[disc] &-= 1
                }
            }
        }
        for disc in 0..<count {
            for y in 0..<set.height {
                let row = unsafe sums + (disc &* size &+ y &* (set.stride &+ 1))
                unsafe targets[disc].row(y).update(from: row, count: set.stride)
            }
            targets[disc].trim()
        }
    }

    /// Rows of words with an empty word after each, which are widened.
    @safe
    private struct SpacedRows {
        private var words: UnsafeMutablePointer<UInt64>
        private var other: UnsafeMutablePointer<UInt64>
        private let stride: Int
        private let height: Int
        /// Samples by which they were widened to each side.
        private(set) var width = 0
        private var size: Int { stride &* height }

        init(of set: SampleSet, _ words: UnsafeMutablePointer<UInt64>, _ other: UnsafeMutablePointer<UInt64>) {
            unsafe (self.words, self.other) = (words, other)
            (stride, height) = (set.stride &+ 1, set.height)
            unsafe (words[-1], words[size], other[-1], other[size]) = (0, 0, 0, 0)
            for y in 0..<height {
                unsafe (words + y &* stride).update(from: set.row(y), count: set.stride)
                unsafe words[y &* stride &+ set.stride] = 0
            }
        }

        mutating func widen(to half: Int, _ loops: Loops) {
            while width < half {
                // A run of 2 · width + 1 samples, shifted by at most that many, leaves no gap.
                let step = min(half &- width, 2 &* width &+ 1, 63)
                unsafe loops.dilateWords(words, count: size, by: step, into: other)
                for y in 0..<height { unsafe other[(y &+ 1) &* stride &- 1] = 0 }
                unsafe swap(&words, &other)
                width &+= step
            }
        }

        /// Adds the rows to those so many rows above and below them.
        func add(to sums: UnsafeMutablePointer<UInt64>, above rows: Int, _ loops: Loops) {
            let offset = rows &* stride
            guard offset < size else { return }
            unsafe loops.orWords(words + offset, count: size &- offset, into: sums)
            if offset > 0 { unsafe loops.orWords(words, count: size &- offset, into: sums + offset) }
        }
    }

    /// Erodes a set with a disc, whose rows are as for `dilate`; what is beyond the grid counts as of the set.
    mutating func erode(
        _ set: SampleSet, rows: Int, into target: SampleSet, _ spare: SampleSet, _ loops: Loops,
        halfWidth: (_ row: Int) -> Int
    ) {
        spare.fill { ~set[$0] }
        spare.trim()
        dilate(spare, rows: [rows], into: [target], loops) { halfWidth($1) }
        target.fill { set[$0] & ~target[$0] }
    }

    /// Dilates a set by a distance in samples; a far one reaches up to three rows farther than it should.
    mutating func dilateFar(_ set: SampleSet, radius: Double, into target: SampleSet, _ loops: Loops) {
        let (stride, height) = (set.stride, groups(of: Dilation.rows, in: set.height))
        // Also where it is not needed: how near the person is must not take memory.
        let memory = unsafe groupMemory.reserve(2 * stride * height, filler: 0)
        guard radius > Dilation.far else { return dilate(set, radii: [radius], into: [target], loops) }
        let source = unsafe SampleSet(words: memory, stride: stride, width: set.width, height: height)
        let dilated = unsafe source.placed(in: memory, 1)
        source.removeAll()
        for y in 0..<set.height {
            for index in 0..<stride { source[index, y / Dilation.rows] |= set[index, y] }
        }
        let limit = Dilation.limit(radius, set)
        dilate(source, rows: [limit / (Dilation.rows &* Dilation.axis)], into: [dilated], loops) {
            Dilation.halfWidth(row: Dilation.rows &* $1, limit: limit)
        }
        for y in 0..<set.height { unsafe target.row(y).update(from: dilated.row(y / Dilation.rows), count: stride) }
    }

    /// A distance in units of 2⁻¹⁶ samples, as the chamfer distance has it.
    private static func limit(_ radius: Double, _ set: SampleSet) -> Int {
        floorIndex(radius * 65536, in: 0...(max(set.width, set.height) &+ 1) &* 65536)
    }

    /// Steps of the chamfer distance, in units of 2⁻¹⁶ samples.
    private static let (axis, diagonal) = (62587, 89738)

    /// Half the width of a row of the ball of the chamfer distance.
    private static func halfWidth(row: Int, limit: Int) -> Int {
        // Up to the diagonal each column costs the difference between a diagonal and an axial step.
        let steep = (limit &- row &* axis) / (diagonal &- axis)
        if steep < row { return max(steep, 0) }
        return max((limit &- row &* (diagonal &- axis)) / axis, 0)
    }
}
