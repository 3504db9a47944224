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
        var limits = InlineArray<count, Int>(repeating: 0)
        for index in 0..<count {
            limits[index] = floorIndex(radii[index] * 65536, in: 0...(max(set.width, set.height) &+ 1) &* 65536)
        }
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
        let (stride, height) = (set.stride &+ 1, set.height)
        let size = stride &* height
        // One word of padding before the first and after the last.
        let memory = unsafe memory.reserve((2 + count) * (size + 2), filler: 0)
        var widened = unsafe memory + 1
        var other = unsafe widened + size + 2
        let sums = unsafe other + size + 2
        unsafe (widened[-1], widened[size], other[-1], other[size]) = (0, 0, 0, 0)
        for y in 0..<height {
            unsafe (widened + y &* stride).update(from: set.row(y), count: set.stride)
            unsafe widened[y &* stride &+ set.stride] = 0
        }
        unsafe sums.update(repeating: 0, count: count &* size)
        // Starts with the farthest rows, which are the narrowest.
        var next = rows
        var width = 0
        while true {
            var half = Int.max
            for disc in 0..<count where next[disc] >= 0 { half = min(half, halfWidth(disc, next[disc])) }
            guard half < Int.max else { break }
            while width < half {
                // A run of 2 · width + 1 samples, shifted by at most that many, leaves no gap.
                let step = min(half &- width, 2 &* width &+ 1, 63)
                unsafe loops.dilateWords(widened, count: size, by: step, into: other)
                for y in 0..<height { unsafe other[y &* stride &+ set.stride] = 0 }
                unsafe swap(&widened, &other)
                width &+= step
            }
            for disc in 0..<count {
                let sum = unsafe sums + disc &* size
                while next[disc] >= 0, halfWidth(disc, next[disc]) <= width {
                    let offset = next[disc] &* stride
                    next[disc] &-= 1
                    guard offset < size else { continue }
                    unsafe loops.orWords(widened + offset, count: size &- offset, into: sum)
                    if offset > 0 { unsafe loops.orWords(widened, count: size &- offset, into: sum + offset) }
                }
            }
        }
        for disc in 0..<count {
            let (target, sum) = unsafe (targets[disc], sums + disc &* size)
            for y in 0..<height { unsafe target.row(y).update(from: sum + y &* stride, count: set.stride) }
            target.trim()
        }
    }

    /// Dilates a set by a distance in samples; a far one reaches up to three rows farther than it should.
    mutating func dilateFar(_ set: SampleSet, radius: Double, into target: SampleSet, _ loops: Loops) {
        let (stride, height) = (set.stride, groups(of: Dilation.rows, in: set.height))
        // Also where it is not needed: how near the person is must not take memory.
        let memory = unsafe groupMemory.reserve(2 * stride * height, filler: 0)
        guard radius > Dilation.far else { return dilate(set, radii: [radius], into: [target], loops) }
        func small(_ index: Int) -> SampleSet {
            unsafe SampleSet(
                words: memory + index &* stride &* height, stride: stride, width: set.width, height: height)
        }
        let (source, dilated) = (small(0), small(1))
        source.removeAll()
        for y in 0..<set.height {
            let line = unsafe source.row(y / Dilation.rows)
            for index in 0..<stride { unsafe line[index] |= set.row(y)[index] }
        }
        let limit = floorIndex(radius * 65536, in: 0...(max(set.width, set.height) &+ 1) &* 65536)
        dilate(source, rows: [limit / (Dilation.rows &* Dilation.axis)], into: [dilated], loops) {
            Dilation.halfWidth(row: Dilation.rows &* $1, limit: limit)
        }
        for y in 0..<set.height { unsafe target.row(y).update(from: dilated.row(y / Dilation.rows), count: stride) }
    }

    private static let axis = 62587
    private static let diagonal = 89738

    /// Half the width of a row of the ball of the chamfer distance.
    private static func halfWidth(row: Int, limit: Int) -> Int {
        // Up to the diagonal each column costs the difference between a diagonal and an axial step.
        let steep = (limit &- row &* axis) / (diagonal &- axis)
        if steep < row { return max(steep, 0) }
        return max((limit &- row &* (diagonal &- axis)) / axis, 0)
    }
}
