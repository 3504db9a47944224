/// The depth map of a frame, read once for all stages: metres on a grid, sets of its samples, and a coarse map.
///
/// A sample that was not measured is 0.
@safe
struct DepthField {
    /// The map itself, for medians of all of its samples.
    let image: DepthImage
    let reading: DepthReading
    let grid: WorkGrid
    /// Metres of the grid's samples, in rows of `rowLength`; a row of zeros lies before the first one and after the last one.
    let metres: UnsafePointer<Float>
    /// Samples that were not measured.
    let hole: SampleSet
    /// Measured samples in front of the cutoff and behind it, which `split` finds.
    let near: SampleSet
    let far: SampleSet
    let cells: Cells
    /// Where the depth is continued; of a field that is read as a whole.
    let band: DepthBand
    /// The share of the samples, 0…1, that were not measured.
    let unmeasured: Double

    /// The coarse map in which heads are searched: a cell for each block of samples, at most 160 along the longer side.
    ///
    /// A cell holds the second smallest of four samples of its block, or the smallest where fewer than three were measured, in
    /// metres: the surface in front, but not a single flying sample. 0 = not measured.
    @safe
    struct Cells {
        static let longest = 160

        let values: UnsafePointer<Float>
        let width: Int
        let height: Int
        /// Depth pixels along a side.
        let step: Int
        /// Focal length in cells.
        let focal: Double

        @inline(__always)
        subscript(x: Int, y: Int) -> Float { unsafe values[y &* width &+ x] }
    }

    var placement: DepthPlacement { grid.placement }
    var scale: DepthScale { reading.scale }
    var rowLength: Int { hole.stride &* 64 }

    /// Splits the measured samples into `near`, above `nearest` and up to the cutoff, and `far`; both in metres.
    func split(nearest: Double, cutoff: Double, _ loops: Loops) {
        let (low, high) = (max(largestFloat(atMost: nearest), 0), largestFloat(atMost: cutoff))
        for y in 0..<grid.height {
            let (nearRow, farRow, holeRow) = unsafe (near.row(y), far.row(y), hole.row(y))
            unsafe loops.classify(
                metres + y &* rowLength, blocks: 0..<(rowLength / blockWidth), clear: high, opaque: low.nextUp,
                into: (clear: nearRow, opaque: farRow))
            for index in 0..<near.stride {
                let isNear = unsafe nearRow[index] & farRow[index] & ~holeRow[index]
                unsafe (nearRow[index], farRow[index]) = (isNear, ~(isNear | holeRow[index]))
            }
        }
        far.trim()
    }

    /// Finds the measured samples of a row whose depths are as given ones, but for a tolerance of constant + square·z² and
    /// for metres beyond it that they may be nearer.
    ///
    /// - Parameters:
    ///   - depths: of the row.
    ///   - line: memory for a row of numbers.
    func findAlike(
        row y: Int, to depths: UnsafePointer<Float>,
        _ tolerance: (constant: Float, square: Float), nearer: Float = 0, line: UnsafeMutablePointer<Float>,
        into sets: (alike: SampleSet, spare: SampleSet), _ loops: Loops
    ) {
        for x in stride(from: 0, to: rowLength, by: blockWidth) {
            let z = unsafe loadLanes(metres + y &* rowLength + x)
            let step = unsafe z - loadLanes(depths + x)
            let limit = z * z * tolerance.square + tolerance.constant
            unsafe storeLanes(larger(step, -step - nearer) - limit, to: line + x)
        }
        unsafe loops.classify(
            line, blocks: 0..<(rowLength / blockWidth), clear: 0, opaque: .infinity,
            into: (clear: sets.alike.row(y), opaque: sets.spare.row(y)))
        for index in 0..<hole.stride { sets.alike[index, y] &= ~hole[index, y] }
    }

    /// The mean distance of the samples in front of the cutoff, in metres; nil where there are none.
    var meanDistance: Double? {
        var (sum, count) = (0.0, 0)
        for y in 0..<grid.height {
            near.bits(y).forEachRun(upTo: grid.width) { columns in
                for x in columns { unsafe sum += Double(metres[y &* rowLength &+ x]) }
                count &+= columns.count
            }
        }
        return count > 0 && sum > 0 ? sum / Double(count) : nil
    }
}

/// Reads depth maps as fields.
struct DepthFieldReader: ~Copyable {
    private var rows = DepthMetres()
    private var metres = Scratch<Float>()
    private var bits = Scratch<UInt64>()
    private var cells = Scratch<Float>()

    /// - Parameters:
    ///   - isWhole: false where only the rows are read that the cells have, and every eighth, so that what was not
    ///     measured is counted; then the other samples are undefined.
    ///   - hasCells: false for no coarse map.
    /// - Returns: a field that is valid until the next call.
    mutating func read(
        _ image: DepthImage, _ reading: DepthReading, on grid: WorkGrid, isWhole: Bool, hasCells: Bool, _ loops: Loops
    ) -> DepthField {
        let (stride, height) = (SampleSet.stride(width: grid.width), grid.height)
        let rowLength = stride * 64
        let memory = unsafe metres.reserve((height + 2) * rowLength, filler: 0) + rowLength
        unsafe (memory - rowLength).update(repeating: 0, count: rowLength)
        unsafe (memory + height &* rowLength).update(repeating: 0, count: rowLength)
        let words = unsafe bits.reserve(3 * stride * height, filler: 0)
        let hole = unsafe SampleSet(words: words, stride: stride, width: grid.width, height: height)
        let (near, far) = unsafe (hole.placed(in: words, 1), hole.placed(in: words, 2))
        let block = groups(of: DepthField.Cells.longest, in: max(grid.width, height))
        let (first, last) = (block / 4, block &- 1 &- block / 4)
        var (read, unmeasured) = (0, 0)
        for y in 0..<height where isWhole || y & 7 == 0 || hasCells && (y % block == first || y % block == last) {
            let line = unsafe memory + y &* rowLength
            unsafe readRow(y, of: image, reading, on: grid, into: line, loops)
            unsafe loops.classify(
                line, blocks: 0..<(rowLength / blockWidth), clear: 0, opaque: .infinity,
                into: (clear: hole.row(y), opaque: near.row(y)))
            hole.trim(row: y)
            for index in 0..<stride { unmeasured &+= hole[index, y].nonzeroBitCount }
            read &+= grid.width
        }
        let (columns, rows) = hasCells ? (grid.width / block, height / block) : (0, 0)
        let cells = unsafe cells.reserve(columns * rows, filler: 0)
        for y in 0..<rows {
            let row = unsafe memory + y &* block &* rowLength
            let pair = unsafe (UnsafePointer(row + first &* rowLength), UnsafePointer(row + last &* rowLength))
            unsafe loops.frontOfFour(
                pair, columns: (first, last), step: block, count: columns, into: cells + y &* columns)
        }
        let band = isWhole ? unsafe DepthBand(continuing: memory, hole: hole) : DepthBand()
        return unsafe DepthField(
            image: image, reading: reading, grid: grid, metres: UnsafePointer(memory), hole: hole, near: near, far: far,
            cells: DepthField.Cells(
                values: UnsafePointer(cells), width: columns, height: rows, step: block * grid.step,
                focal: grid.focal / Double(block)),
            band: band, unmeasured: Double(unmeasured) / Double(max(read, 1)))
    }

    /// Reads a row of the grid in metres, 0 where nothing was measured.
    private mutating func readRow(
        _ y: Int, of image: DepthImage, _ reading: DepthReading, on grid: WorkGrid,
        into line: UnsafeMutablePointer<Float>, _ loops: Loops
    ) {
        if grid.step == 1 {
            unsafe rows.read(y, of: image, scale: reading.scale, into: line, loops)
        } else {
            let samples = unsafe rows.row(grid.depthRow(y), of: image, scale: reading.scale, loops)
            for x in 0..<grid.width { unsafe line[x] = samples[grid.depthColumn(x)] }
        }
        let length = SampleSet.stride(width: grid.width) * 64
        for x in grid.width..<length { unsafe line[x] = 0 }
        for x in stride(from: 0, to: length, by: blockWidth) {
            let z = unsafe loadLanes(line + x)
            let isMeasured = (z .> 0) .& (z .<= Float.greatestFiniteMagnitude)
            unsafe storeLanes(Lanes.zero.replacing(with: z, where: isMeasured), to: line + x)
        }
    }
}
