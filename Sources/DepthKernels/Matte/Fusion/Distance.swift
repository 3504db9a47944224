/// The distance of every sample to the nearest one of a set, in samples.
///
/// Two passes over the grid with steps of 0.955 along an axis and 1.3693 along a diagonal, which are within 4.5 % of the
/// Euclidean distance.
///
/// Source: Borgefors, "Distance transformations in digital images", CVGIP 34, 1986; the numbers are those of
/// `cv2.distanceTransform` with a mask of 3.
struct Distance: ~Copyable {
    private static let unit: Float = 65536
    private static let axis: Int32 = 62587
    private static let diagonal: Int32 = 89738
    private static let far = Int32.max / 4

    private var steps = Scratch<Int32>()
    private var width = 0

    /// Measures the distance to the samples that have a flag.
    mutating func measure(to flag: SampleFlags, in flags: UnsafePointer<SampleFlags>, on grid: WorkGrid) {
        width = grid.width
        // A border of one sample, so that no sample needs a check.
        let stride = width &+ 2
        let memory = unsafe steps.reserve(stride * (grid.height + 2), filler: 0)
        unsafe memory.update(repeating: Distance.far, count: stride)
        unsafe (memory + (grid.height &+ 1) &* stride).update(repeating: Distance.far, count: stride)
        for y in 0..<grid.height {
            let line = unsafe memory + (y &+ 1) &* stride + 1
            let row = unsafe flags + y &* width
            let above = unsafe UnsafePointer(line - stride)
            unsafe line[-1] = Distance.far
            unsafe line[width] = Distance.far
            for x in 0..<width {
                let best = unsafe min(
                    above[x] &+ Distance.axis, min(above[x &- 1], above[x &+ 1]) &+ Distance.diagonal)
                unsafe line[x] = row[x].contains(flag) ? 0 : best
            }
            var left = Distance.far
            for x in 0..<width {
                unsafe left = min(line[x], left &+ Distance.axis)
                unsafe line[x] = left
            }
        }
        for y in (0..<grid.height).reversed() {
            let line = unsafe memory + (y &+ 1) &* stride + 1
            let below = unsafe UnsafePointer(line + stride)
            for x in 0..<width {
                let best = unsafe min(
                    below[x] &+ Distance.axis, min(below[x &- 1], below[x &+ 1]) &+ Distance.diagonal)
                unsafe line[x] = min(line[x], best)
            }
            var right = Distance.far
            for x in (0..<width).reversed() {
                unsafe right = min(line[x], right &+ Distance.axis)
                unsafe line[x] = min(right, Distance.far)
            }
        }
    }

    /// A row of the distances last measured. They are multiples of 1/65536 sample: compare them with `steps`.
    ///
    /// - Precondition: the row is inside the grid.
    mutating func row(_ y: Int) -> UnsafePointer<Int32> {
        let offset = (y &+ 1) &* (width &+ 2) &+ 1
        return unsafe UnsafePointer(steps.reserve(0, filler: 0) + offset)
    }

    /// A distance in samples as rows hold it.
    static func steps(_ samples: Float) -> Int32 {
        samples < 8000 ? Int32(max(samples, 0) * unit) : far - 1
    }
}
