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

    /// Adds to each row of `target` the samples that lie `reach` left and right of those of this set's row.
    func spread(by reach: Int, into target: SampleSet) {
        let (whole, part) = (reach &>> 6, UInt64(truncatingIfNeeded: reach & 63))
        for y in 0..<height {
            let (source, target) = unsafe (row(y), target.row(y))
            if whole == 0 && part > 0 {
                var before: UInt64 = 0
                var word = unsafe source[0]
                for index in 0..<stride {
                    let next = unsafe index &+ 1 < stride ? source[index &+ 1] : 0
                    if before | word | next != 0 {
                        let left = word &<< part | before &>> (64 &- part)
                        unsafe target[index] |= left | word &>> part | next &<< (64 &- part)
                    }
                    (before, word) = (word, next)
                }
                continue
            }
            for index in 0..<stride {
                var word: UInt64 = 0
                let (low, high) = (index &- whole, index &+ whole)
                if low >= 0 { unsafe word |= source[low] &<< part }
                if high < stride { unsafe word |= source[high] &>> part }
                if part > 0 {
                    if low > 0 { unsafe word |= source[low &- 1] &>> (64 &- part) }
                    if high &+ 1 < stride { unsafe word |= source[high &+ 1] &<< (64 &- part) }
                }
                unsafe target[index] |= word
            }
        }
        target.trim()
    }

    /// Makes `target` the samples that lie within a distance of one of this set.
    ///
    /// The distance goes by steps of 0.955 along an axis and 1.3693 along a diagonal, which is within 4.5 % of the Euclidean
    /// one. Its ball is cut into rows: all rows are widened step by step, and at each width added to those that lie so far
    /// above and below.
    ///
    /// Source: Borgefors, "Distance transformations in digital images", CVGIP 34, 1986; the numbers are those of
    /// `cv2.distanceTransform` with a mask of 3.
    ///
    /// - Parameters:
    ///   - radius: in samples.
    ///   - widened: memory of the same size.
    ///   - wanted: the samples of which it is to be known; those outside mean nothing. Nil for all.
    func grow(by radius: Double, into target: SampleSet, widened: SampleSet, wanted: SampleSet? = nil) {
        let limit = floorIndex(radius * 65536, in: 0...(max(width, height) &+ 1) &* 65536)
        grow(rows: limit / SampleSet.axis, into: target, widened: widened, wanted: wanted) { row in
            SampleSet.halfWidth(row: row, limit: limit)
        }
    }

    /// Makes `target` the samples that have one of this set in a disc about them.
    ///
    /// - Parameters:
    ///   - rows: of the disc, above its middle.
    ///   - halfWidth: samples of a row of the disc left of its middle; no larger farther from it.
    ///   - widened: memory of the same size.
    func grow(
        rows: Int, into target: SampleSet, widened: SampleSet, wanted: SampleSet? = nil,
        halfWidth: (_ row: Int) -> Int
    ) {
        target.removeAll()
        unsafe widened.words.update(from: words, count: wordCount)
        var width = 0
        // From the rows farthest above and below, which are the narrowest.
        for distance in Swift.stride(from: rows, through: 0, by: -1) {
            let half = halfWidth(distance)
            if half > width {
                spread(from: width, to: half, widened)
                width = half
            }
            if let wanted {
                addRows(of: widened, distance, into: target, wanted)
            } else {
                addRows(of: widened, distance, into: target)
            }
        }
    }

    /// Widens rows that are widened already.
    private func spread(from width: Int, to half: Int, _ widened: SampleSet) {
        var reach = width
        while reach < half {
            reach &+= 1
            spread(by: reach, into: widened)
        }
    }

    private func addRows(of source: SampleSet, _ distance: Int, into target: SampleSet) {
        let count = wordCount &- distance &* stride
        guard count > 0 else { return }
        let offset = distance &* stride
        for index in 0..<count { unsafe target.words[index] |= source.words[index &+ offset] }
        if distance == 0 { return }
        for index in 0..<count { unsafe target.words[index &+ offset] |= source.words[index] }
    }

    /// The same for rows that hold a wanted sample, from the word of the first one to that of the last.
    private func addRows(of source: SampleSet, _ distance: Int, into target: SampleSet, _ wanted: SampleSet) {
        for y in 0..<height {
            let words = wanted.wordsInUse(row: y)
            if words.isEmpty { continue }
            let target = unsafe target.row(y)
            if y >= distance {
                let above = unsafe source.row(y &- distance)
                for index in words { unsafe target[index] |= above[index] }
            }
            if y &+ distance < height {
                let below = unsafe source.row(y &+ distance)
                for index in words { unsafe target[index] |= below[index] }
            }
        }
    }

    /// The words of a row from the first to the last that holds a member.
    @inline(__always)
    private func wordsInUse(row y: Int) -> Range<Int> {
        let row = unsafe row(y)
        var (first, end) = (0, stride)
        while first < end, unsafe row[first] == 0 { first &+= 1 }
        while end > first, unsafe row[end &- 1] == 0 { end &-= 1 }
        return first..<end
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
