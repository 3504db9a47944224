/// The depth map in which heads are searched: a cell for each block of `step` x `step` samples, at most 160 along the longer
/// side.
///
/// A cell holds the second smallest of four samples of its block, or the smallest where fewer than three were measured, in
/// metres: the surface in front, but not a single flying sample. 0 = not measured.
struct HeadGrid: ~Copyable {
    private static let longest = 160

    private var metres = DepthMetres()
    private var upper = Scratch<Float>()
    private var cells = Scratch<Float>()

    /// The cells of one map, valid until the next one is read.
    @safe
    struct Cells {
        fileprivate(set) var values: UnsafePointer<Float>
        let width: Int
        let height: Int
        /// Depth samples along a side.
        let step: Int
        /// Focal length in cells.
        let focal: Double

        @inline(__always)
        subscript(x: Int, y: Int) -> Float { unsafe values[y &* width &+ x] }
    }

    /// - Parameter focal: in depth samples.
    mutating func read(_ depth: DepthImage, scale: DepthScale, focal: Double, _ loops: Loops) -> Cells {
        let step = groups(of: HeadGrid.longest, in: max(depth.width, depth.height))
        let (width, height) = (depth.width / step, depth.height / step)
        let cells = unsafe cells.reserve(width * height, filler: 0)
        let (first, last) = (step / 4, step - 1 - step / 4)
        for y in 0..<height {
            let one = unsafe metres.row(y * step + first, of: depth, scale: scale, loops)
            let upper = unsafe upper.reserve(depth.width, filler: 0)
            unsafe upper.update(from: one, count: depth.width)
            let lower = unsafe metres.row(y * step + last, of: depth, scale: scale, loops)
            unsafe loops.frontOfFour(
                upper, lower, first: first, second: last, step: step, count: width, into: cells + y &* width)
        }
        return unsafe Cells(
            values: UnsafePointer(cells), width: width, height: height, step: step, focal: focal / Double(step))
    }
}
