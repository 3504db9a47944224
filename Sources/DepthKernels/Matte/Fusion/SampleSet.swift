/// A set of samples of the grid: a bit for each, 64 in a word, rows in whole words. Bits behind a row's last sample are 0.
@safe
struct SampleSet {
    let words: UnsafeMutablePointer<UInt64>
    /// Words of a row.
    let stride: Int
    let width: Int
    let height: Int

    static func stride(width: Int) -> Int { groups(of: 64, in: width) }

    var wordCount: Int { stride &* height }

    /// - Precondition: the row is inside the grid.
    @inline(__always)
    func row(_ y: Int) -> UnsafeMutablePointer<UInt64> { unsafe words + y &* stride }

    @inline(__always)
    func bits(_ y: Int) -> BitRow { unsafe BitRow(row(y)) }

    /// Puts every word of the set together from those of others at its place.
    @inline(__always)
    func fill(_ word: (Int) -> UInt64) { for index in 0..<wordCount { unsafe words[index] = word(index) } }

    func removeAll() { unsafe words.update(repeating: 0, count: wordCount) }

    /// Takes out what lies behind the rows' last samples.
    func trim() { for y in 0..<height { trim(row: y) } }

    @inline(__always)
    func trim(row y: Int) {
        guard width & 63 != 0 else { return }
        unsafe row(y)[stride &- 1] &= UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- width & 63)
    }
}

/// Grows sets of samples.
///
/// A disc is cut into rows: all rows of the set are widened step by step, and at each width added to those that lie so far above
/// and below. Rows are kept with an empty word between them, so that one loop does all of them.
struct Growth: ~Copyable {
    private var memory = Scratch<UInt64>()

    /// Makes `target` the samples that lie within a distance of one of a set.
    ///
    /// The distance goes by steps of 0.955 along an axis and 1.3693 along a diagonal, which is within 4.5 % of the Euclidean
    /// one.
    ///
    /// Source: Borgefors, "Distance transformations in digital images", CVGIP 34, 1986; the numbers are those of
    /// `cv2.distanceTransform` with a mask of 3.
    ///
    /// - Parameter radius: in samples.
    mutating func grow(_ set: SampleSet, by radius: Double, into target: SampleSet, _ loops: Loops) {
        let limit = floorIndex(radius * 65536, in: 0...(max(set.width, set.height) &+ 1) &* 65536)
        grow(set, rows: limit / Growth.axis, into: target, loops) { row in Growth.halfWidth(row: row, limit: limit) }
    }

    /// Makes `target` the samples that have one of a set in a disc about them.
    ///
    /// - Parameters:
    ///   - rows: of the disc, above its middle.
    ///   - halfWidth: samples of a row of the disc left of its middle; no larger farther from it.
    mutating func grow(
        _ set: SampleSet, rows: Int, into target: SampleSet, _ loops: Loops, halfWidth: (_ row: Int) -> Int
    ) {
        let (stride, height) = (set.stride &+ 1, set.height)
        let count = stride &* height
        // A word lies before the first, and behind the last.
        let memory = unsafe memory.reserve(3 * (count + 2), filler: 0)
        var widened = unsafe memory + 1
        var other = unsafe widened + count + 2
        let sum = unsafe other + count + 2
        unsafe (widened[-1], widened[count], other[-1], other[count]) = (0, 0, 0, 0)
        for y in 0..<height {
            unsafe (widened + y &* stride).update(from: set.row(y), count: set.stride)
            unsafe widened[y &* stride &+ set.stride] = 0
        }
        unsafe sum.update(repeating: 0, count: count)
        var width = 0
        // From the rows farthest above and below, which are the narrowest.
        for distance in Swift.stride(from: rows, through: 0, by: -1) {
            let half = halfWidth(distance)
            while width < half {
                // What is widened by so much has no gaps when it is moved by one more than twice that.
                let step = min(half &- width, 2 &* width &+ 1, 63)
                unsafe loops.spreadWords(widened, count: count, by: step, into: other)
                for y in 0..<height { unsafe other[y &* stride &+ set.stride] = 0 }
                unsafe swap(&widened, &other)
                width &+= step
            }
            let offset = distance &* stride
            guard offset < count else { continue }
            unsafe loops.orWords(widened + offset, count: count &- offset, into: sum)
            if distance > 0 { unsafe loops.orWords(widened, count: count &- offset, into: sum + offset) }
        }
        for y in 0..<height { unsafe target.row(y).update(from: sum + y &* stride, count: set.stride) }
        target.trim()
    }

    private static let axis = 62587
    private static let diagonal = 89738

    /// Half the width of a ball's row.
    private static func halfWidth(row: Int, limit: Int) -> Int {
        // Up to the diagonal each column costs what a diagonal step costs more than one along the axis.
        let steep = (limit &- row &* axis) / (diagonal &- axis)
        if steep < row { return max(steep, 0) }
        return max((limit &- row &* (diagonal &- axis)) / axis, 0)
    }
}
