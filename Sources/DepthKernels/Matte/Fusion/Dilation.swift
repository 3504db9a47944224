/// Dilates sets of samples with discs.
///
/// A disc is decomposed into rows: the rows of the set are widened step by step, and the result of each width is added
/// to the rows at the distance at which the disc has that width. Rows are stored with an empty word between them, so
/// that one loop processes all of them.
struct Dilation: ~Copyable {
    private var memory = Scratch<UInt64>()

    /// Dilates a set by a distance.
    ///
    /// The distance is a chamfer distance, with steps of 0.955 along an axis and 1.3693 along a diagonal: within 4.5 %
    /// of the Euclidean one.
    ///
    /// Source: Borgefors, "Distance transformations in digital images", CVGIP 34, 1986; the numbers are those of
    /// `cv2.distanceTransform` with a mask of 3.
    ///
    /// - Parameter radius: in samples.
    mutating func dilate(_ set: SampleSet, by radius: Double, into target: SampleSet, _ loops: Loops) {
        let limit = floorIndex(radius * 65536, in: 0...(max(set.width, set.height) &+ 1) &* 65536)
        dilate(set, rows: limit / Dilation.axis, into: target, loops) { row in
            Dilation.halfWidth(row: row, limit: limit)
        }
    }

    /// Dilates a set with a disc.
    ///
    /// - Parameters:
    ///   - rows: rows of the disc above its middle.
    ///   - halfWidth: half the width of the disc in a row, by the row's distance from the middle; never increasing.
    mutating func dilate(
        _ set: SampleSet, rows: Int, into target: SampleSet, _ loops: Loops, halfWidth: (_ row: Int) -> Int
    ) {
        let (stride, height) = (set.stride &+ 1, set.height)
        let count = stride &* height
        // One word of padding before the first and after the last.
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
        // Starts with the farthest rows, which are the narrowest.
        for distance in Swift.stride(from: rows, through: 0, by: -1) {
            let half = halfWidth(distance)
            while width < half {
                // A run of 2 · width + 1 samples, shifted by at most that many, leaves no gap.
                let step = min(half &- width, 2 &* width &+ 1, 63)
                unsafe loops.dilateWords(widened, count: count, by: step, into: other)
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

    /// Half the width of a row of the ball of the chamfer distance.
    private static func halfWidth(row: Int, limit: Int) -> Int {
        // Up to the diagonal each column costs the difference between a diagonal and an axial step.
        let steep = (limit &- row &* axis) / (diagonal &- axis)
        if steep < row { return max(steep, 0) }
        return max((limit &- row &* (diagonal &- axis)) / axis, 0)
    }
}
